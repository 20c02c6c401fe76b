//! All errors of the library, grouped by their subject.

use std::any::Any;

use destage_sim::contract::Breach;
use destage_sim::error::{Argument, SimError};
use destage_sim::settings::suggestion;
use destage_trace::TraceError;
use destage_workload::WorkloadError;

/// The reason why there is no result. The text of an error names the file, line or key, the text that is wrong, and
/// what was expected.
#[derive(thiserror::Error)]
pub enum Error {
    /// The arguments cannot be used: an unknown name, an empty grid, or inputs that cannot be combined.
    #[error("{0}")]
    Input(String),
    /// A single argument cannot be used. [`Argument`] has the name of the argument.
    #[error(transparent)]
    Argument(Argument),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(TraceError),
    /// A parameter is unknown, out of range, or contradicts another parameter, or a time is too large to be
    /// simulated.
    #[error(transparent)]
    Config(SimError),
    /// The device is too small for the trace.
    #[error(transparent)]
    DeviceFull(SimError),
    /// The run was ended early, because it could no longer reach the goals of [`size`](crate::size()).
    #[error("ended after {requests} requests, when the goals were out of reach")]
    OutOfReach {
        /// The number of requests that the run had received.
        requests: u64,
        /// The number of these requests that were answered.
        answered: u64,
    },
    /// The observer or the progress report asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A defect of this program.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

/// As `Display`: a program whose `main` returns `Result<(), Error>` then prints a sentence that its users understand.
impl std::fmt::Debug for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, to)
    }
}

impl Error {
    /// An [`Error::Argument`] for the argument `name`; `what` follows the name in the text.
    pub fn argument(name: &str, what: impl std::fmt::Display) -> Self {
        Self::Argument(Argument {
            name: name.to_owned(),
            what: what.to_string(),
        })
    }

    /// An [`Error::Argument`] for the argument `name`, whose value `given` is none of `names`. The error suggests the
    /// nearest name.
    pub fn unknown_argument<'a>(
        name: &str,
        what: impl std::fmt::Display,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        Self::argument(name, Self::unknown(what, given, names))
    }

    /// The error for the `payload` of a panic. If a user's scheme breaks the contract of schemes, the mistake is in
    /// that scheme. Every other panic is a defect of this program.
    pub(crate) fn of_panic(payload: Box<dyn Any + Send>) -> Self {
        let payload = match payload.downcast::<Breach>() {
            Ok(breach) => return Self::Input(breach.0),
            Err(other) => other,
        };
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Self::Internal(format!("a run panicked: {}", text.unwrap_or("no message")))
    }

    /// Whether the run of this error failed. A run that was ended early because it could not reach the goals did not
    /// fail.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::OutOfReach { .. })
    }

    /// An [`Error::Input`] for the text `given`, which is none of `names`. The error suggests the nearest name.
    pub fn unknown<'a>(
        refusal: impl std::fmt::Display,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let nearest = suggestion(given, names.clone());
        let names = names.collect::<Vec<_>>().join(", ");
        Self::Input(format!("{refusal}{nearest}; expected one of {names}"))
    }
}

impl From<SimError> for Error {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Trace(error) => Self::Trace(error),
            SimError::Interrupted => Self::Interrupted,
            SimError::DeviceFull { .. } | SimError::BeyondDevice { .. } => Self::DeviceFull(error),
            _ => Self::Config(error),
        }
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        Self::Trace(error)
    }
}

impl From<WorkloadError> for Error {
    fn from(error: WorkloadError) -> Self {
        Self::Input(error.to_string())
    }
}
