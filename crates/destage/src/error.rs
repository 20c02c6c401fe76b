//! All errors, by what they are about.

use std::any::Any;

use destage_sim::contract::Breach;
use destage_sim::error::{Argument, SimError};
use destage_sim::settings::suggestion;
use destage_trace::TraceError;
use destage_workload::WorkloadError;

/// Why there is no result. The text names the place (file, line or key), the offending text, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments make no sense: an unknown name, an empty grid, inputs that cannot be combined.
    #[error("{0}")]
    Input(String),
    /// An argument makes no sense; [`Argument`] has its name.
    #[error(transparent)]
    Argument(Argument),
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(TraceError),
    /// A parameter is unknown, out of range, or contradicts another; or a time is too large to be simulated.
    #[error(transparent)]
    Config(SimError),
    /// The device is too small for the trace.
    #[error(transparent)]
    DeviceFull(SimError),
    /// A run that was ended because the rest of it could not reach the goals of [`size`](crate::size()).
    #[error("ended after {requests} requests, when the goals were out of reach")]
    OutOfReach {
        /// How many of the input it has taken.
        requests: u64,
        /// How many of these were answered.
        answered: u64,
    },
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A mistake of this program.
    #[error("internal error: {0}; please report it")]
    Internal(String),
}

impl Error {
    /// An [`Error::Argument`] called `name`; `what` follows the name.
    pub fn argument(name: &str, what: impl std::fmt::Display) -> Self {
        Self::Argument(Argument {
            name: name.to_owned(),
            what: what.to_string(),
        })
    }

    /// An error about the argument, whose value `given` is none of `names`; it suggests the nearest of them.
    pub fn unknown_argument<'a>(
        name: &str,
        what: impl std::fmt::Display,
        given: &str,
        names: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        Self::argument(name, Self::unknown(what, given, names))
    }

    /// What a run has unwound with: a scheme from outside that broke its contract is a mistake of its author, everything else one of this
    /// program.
    pub(crate) fn of_panic(payload: Box<dyn Any + Send>) -> Self {
        let payload = match payload.downcast::<Breach>() {
            Ok(breach) => return Self::Input(breach.0),
            Err(other) => other,
        };
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        Self::Internal(format!("a run panicked: {}", text.unwrap_or("no message")))
    }

    /// Whether a run with this error has no result because of a failure, and not because the rest of it was not needed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !matches!(self, Self::OutOfReach { .. })
    }

    /// An [`Error::Input`] about `given`, which is none of `names`; the nearest is suggested.
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
