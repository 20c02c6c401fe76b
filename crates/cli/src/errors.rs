//! Messages about what is wrong, and the exit status.

use std::fmt::Display;

use destage_sim::error::SimError;
use destage_sim::settings::suggestion;
use destage_trace::TraceError;
use destage_workload::WorkloadError;

use crate::output::{files, visible};

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The arguments make no sense; the reason has been printed.
    Usage,
    /// An input of the user that cannot be used. The text names it and what was expected.
    Input(String),
    /// The user asked to stop.
    Interrupted,
    /// Nobody reads standard output any more.
    BrokenPipe,
}

impl Failure {
    /// A failure about the user's input.
    pub(crate) fn input(text: impl Display) -> Self {
        Self::Input(text.to_string())
    }

    /// A failure about `given`, which is none of `names`.
    pub(crate) fn unknown<'a>(
        refusal: impl Display,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let nearest = suggestion(given, names.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        Self::input(format!("{refusal}{nearest}; expected one of {names}"))
    }

    /// Prints what there is to say, and returns the exit status.
    pub(crate) fn report(&self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Input(text) => {
                report_line(&format!("destage: error: {text}"));
                2
            }
            Self::Interrupted => {
                report_line("destage: interrupted; no output file was written");
                130
            }
            // A closed pipe is no failure: `destage list buffers | head -1` has its line.
            Self::BrokenPipe => 0,
        }
    }
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Interrupted => Self::Interrupted,
            other => Self::input(other),
        }
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

/// One line on standard error. If that is closed, the line is dropped.
pub(crate) fn report_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{}", visible(line));
}

/// Something the user should know, though the command goes on.
pub(crate) fn warn(text: impl Display) {
    report_line(&format!("destage: warning: {text}"));
}

/// Installs a panic hook. A panic is then reported as a bug, leaves no file behind, and exits with status 1.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        #[cfg(feature = "parquet")]
        if destage_trace::containment::holds() {
            return;
        }
        let command: Vec<_> = std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        report_line(&format!("destage: internal error: {panic}"));
        report_line(&format!(
            "destage: this is a bug in destage {} ({}), not in your input; please report it with the text above and the command: {}",
            env!("CARGO_PKG_VERSION"),
            env!("DESTAGE_COMMIT"),
            command.join(" ")
        ));
        files::abandon();
        std::process::exit(1);
    }));
}
