//! The program `destage`; everything it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(destage_cli::main(std::env::args_os()))
}
