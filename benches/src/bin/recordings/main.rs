//! The tools of `experiments/recordings.sh`. They create files for the recorded programs, run PostMark, and write the
//! tables.
//!
//! `recordings mp3|tree|sources|postmark FOLDER NUMBER...` creates files. Equal numbers give equal files. `recordings
//! table FOLDER` writes `tables.md` from the files that the script left in the folder.
#![allow(
    clippy::print_stderr,
    reason = "a program that says what is wrong with its arguments"
)]

mod files;
mod postmark;
mod tables;

use std::path::Path;
use std::process::ExitCode;

/// The error of a step, as text.
pub type Failure = Box<dyn std::error::Error>;

const USAGE: &str = "usage: recordings mp3 FOLDER FILES
       recordings tree FOLDER FILES FOLDERS
       recordings sources FOLDER FILES
       recordings postmark FOLDER FILES TRANSACTIONS READ_BIAS
       recordings table FOLDER";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("recordings: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(words: &[&str]) -> Result<(), Failure> {
    let [what, folder, numbers @ ..] = words else {
        return Err(USAGE.into());
    };
    let number = |text: &&str| {
        let parsed = text.parse::<u64>();
        parsed.map_err(|_| format!("{text}: expected a whole number"))
    };
    let numbers = numbers.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let folder = Path::new(folder);
    match (*what, &numbers[..]) {
        ("mp3", [count]) => files::mp3(folder, *count),
        ("tree", [count, folders]) => files::tree(folder, *count, *folders),
        ("sources", [count]) => files::sources(folder, *count),
        ("postmark", [count, transactions, bias]) => {
            postmark::run(folder, *count, *transactions, *bias)
        }
        ("table", []) => tables::write(folder),
        _ => Err(USAGE.into()),
    }
}
