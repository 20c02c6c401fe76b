//! The program `destage`, which only calls the library.

use std::process::ExitCode;

#[global_allocator]
static MEMORY: destage_memory::Budget = destage_memory::Budget;

fn main() -> ExitCode {
    ExitCode::from(destage_cli::main(std::env::args_os()))
}
