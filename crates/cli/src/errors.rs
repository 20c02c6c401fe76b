//! Error messages and the exit status.

use std::fmt::Display;

use destage_sim::error::{Argument, SimError};
use destage_trace::TraceError;
use destage_workload::WorkloadError;

use crate::output::visible;
use destage::files;

/// The reason why a command ended without doing its whole work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments are wrong. The message was printed already.
    Usage,
    /// An input of the user cannot be used. The text names the input and what was expected.
    Input(String),
    /// Some runs failed, with a sentence for each. The results of the other runs were printed.
    Runs(Vec<String>),
    /// A crash test found wrong states. The text says after how many cuts.
    Unsound(String),
    /// A bug of this program.
    Internal(String),
    /// The user has interrupted the command.
    Interrupted,
    /// The program that read standard output has closed it.
    BrokenPipe,
}

impl Failure {
    /// An error in the user's input.
    pub(crate) fn input(text: impl Display) -> Self {
        Self::Input(text.to_string())
    }

    /// An error because `given` is not one of `names`. The error suggests a similar name.
    pub(crate) fn unknown<'a>(
        refusal: impl Display,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        destage::Error::unknown(refusal, given, names).into()
    }

    /// Prints the error, and returns the exit status.
    pub(crate) fn report(&self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Input(text) => {
                report_line(&format!("destage: error: {text}"));
                2
            }
            Self::Runs(texts) => {
                for text in texts {
                    report_line(&format!("destage: error: {text}"));
                }
                2
            }
            Self::Unsound(text) => {
                report_line(&format!("destage: {text}"));
                3
            }
            Self::Internal(text) => {
                report_line(&format!("destage: {text}"));
                1
            }
            Self::Interrupted => {
                report_line("destage: interrupted; no output file was written");
                130
            }
            // A closed pipe is not a failure: in `destage list buffers | head -1`, the reader wants no more lines.
            Self::BrokenPipe => 0,
        }
    }
}

/// The first failure of `outcomes`. A closed pipe hides no other failure, because its exit status is 0.
pub(crate) fn first_of(
    outcomes: impl IntoIterator<Item = Result<(), Failure>>,
) -> Result<(), Failure> {
    let failures = outcomes.into_iter().filter_map(Result::err);
    let is_pipe = |failure: &Failure| matches!(failure, Failure::BrokenPipe);
    let first = failures.min_by_key(is_pipe);
    first.map_or(Ok(()), Err)
}

impl From<destage::Error> for Failure {
    fn from(error: destage::Error) -> Self {
        match error {
            destage::Error::Interrupted => Self::Interrupted,
            destage::Error::Internal(_) => Self::Internal(error.to_string()),
            destage::Error::Argument(argument)
            | destage::Error::Config(SimError::Argument(argument)) => {
                Self::Input(as_option(&argument))
            }
            other => Self::input(other),
        }
    }
}

/// Rewrites an error of the library about an argument so that it names the option.
fn as_option(argument: &Argument) -> String {
    let option = match &*argument.name {
        "setting" => "set",
        "skip_bad_lines" => "on-bad-line skip",
        name => name,
    };
    format!("--{option}{}", argument.what)
}

/// The failure for `error` in a command without the option `--profile`, whose users know the profile as `name`.
pub(crate) fn of_profile(name: &str, error: SimError) -> Failure {
    match error {
        SimError::Argument(argument) if argument.name == "profile" => {
            Failure::Input(format!("{name}{}", argument.what))
        }
        other => other.into(),
    }
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        destage::Error::from(error).into()
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::input(error)
    }
}

impl From<WorkloadError> for Failure {
    fn from(error: WorkloadError) -> Self {
        Self::input(error)
    }
}

/// Prints one line on standard error. Does nothing if standard error is closed.
pub(crate) fn report_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

/// Prints a warning. The command continues.
pub(crate) fn warn(text: impl Display) {
    report_line(&format!("destage: warning: {text}"));
}

/// The words of the command line, for a manifest.
pub(crate) fn command() -> Vec<String> {
    let words = std::env::args_os();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Installs a panic hook. The hook reports a panic as a bug, removes unfinished files, and exits with status 1.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        #[cfg(feature = "parquet")]
        if destage_trace::containment::holds() {
            return;
        }
        report_line(&format!("destage: internal error: {panic}"));
        report_line(&format!(
            "destage: this is a bug in destage {} ({}), not in your input; please report it with the text above and the command: {}",
            destage::version(),
            destage::commit(),
            command().join(" ")
        ));
        #[cfg(unix)]
        destage_serve::crash::abandon();
        files::abandon();
        std::process::exit(1);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_hides_no_failure() {
        let lost = || Err(Failure::input("lost"));
        let closed = || Err(Failure::BrokenPipe);
        for outcomes in [vec![closed(), lost(), Ok(())], vec![lost(), closed()]] {
            assert_eq!(first_of(outcomes).unwrap_err().report(), 2);
        }
        assert_eq!(first_of([Ok(()), closed()]).unwrap_err().report(), 0);
        assert!(first_of([Ok(())]).is_ok());
    }
}
