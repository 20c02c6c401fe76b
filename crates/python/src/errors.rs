//! The exceptions: one for each cause that the library tells apart, with its message as it is.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(
    destage,
    Error,
    PyException,
    "What could not be done. The text names where, the offending text, and what was expected."
);
create_exception!(
    destage,
    InputError,
    Error,
    "What was asked for makes no sense: an unknown name, an empty list, inputs that do not go together."
);
create_exception!(destage, TraceError, Error, "The trace cannot be read.");
create_exception!(
    destage,
    ConfigError,
    Error,
    "A parameter is unknown, out of range, or contradicts another."
);
create_exception!(
    destage,
    DeviceFull,
    Error,
    "The device is too small for what the trace does."
);

/// Adds them to `module`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("TraceError", py.get_type::<TraceError>())?;
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("DeviceFull", py.get_type::<DeviceFull>())
}

/// The exception that `error` is.
pub(crate) fn raised(error: &destage::Error) -> PyErr {
    let text = error.to_string();
    match error {
        destage::Error::Input(_) | destage::Error::Argument(_) => InputError::new_err(text),
        destage::Error::Trace(_) => TraceError::new_err(text),
        destage::Error::Config(_) => ConfigError::new_err(text),
        destage::Error::DeviceFull(_) => DeviceFull::new_err(text),
        destage::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        destage::Error::Internal(_) | destage::Error::OutOfReach { .. } => Error::new_err(text),
    }
}
