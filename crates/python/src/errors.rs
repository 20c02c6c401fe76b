//! The exceptions, one for each kind of error of the library. Messages name Python functions instead of commands.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};
use pyo3::prelude::*;

create_exception!(
    destage,
    Error,
    PyException,
    "The error of a failed call. The text names the place, the offending text, and what was expected."
);
create_exception!(
    destage,
    InputError,
    Error,
    "The arguments make no sense: an unknown name, an empty list, inputs that cannot be combined."
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
    "The device is too small for the trace."
);

/// Adds the exceptions to `module`.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("TraceError", py.get_type::<TraceError>())?;
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("DeviceFull", py.get_type::<DeviceFull>())
}

/// The commands in messages of the library, and the Python calls that replace them. They are replaced in this order, so
/// a text that contains another text stands before it.
const CALLS: [(&str, &str); 10] = [
    (
        "(`destage list`, `destage show`)",
        "(destage.buffers(), destage.metrics(), destage.parameters() and so on)",
    ),
    ("`destage list buffers`", "destage.buffers()"),
    ("`destage list ftls`", "destage.ftls()"),
    ("`destage list profiles`", "destage.profiles()"),
    ("`destage list formats`", "destage.formats()"),
    ("`destage list workloads`", "destage.workloads()"),
    ("`destage list metrics`", "destage.metrics()"),
    ("`destage list experiments`", "destage.experiments()"),
    ("`destage show`", "destage.parameters()"),
    ("`destage trace info`", "Trace.info()"),
];

/// Replaces the commands in `text` by Python calls.
fn in_python(text: &str) -> String {
    let mut text = text.to_owned();
    for (command, call) in CALLS {
        if text.contains(command) {
            text = text.replace(command, call);
        }
    }
    text
}

/// The exception for `error`.
pub(crate) fn raised(error: &destage::Error) -> PyErr {
    let text = in_python(&error.to_string());
    match error {
        destage::Error::Input(_) | destage::Error::Argument(_) => InputError::new_err(text),
        destage::Error::Trace(_) => TraceError::new_err(text),
        destage::Error::Config(_) => ConfigError::new_err(text),
        destage::Error::DeviceFull(_) => DeviceFull::new_err(text),
        destage::Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        destage::Error::Internal(_) | destage::Error::OutOfReach { .. } => Error::new_err(text),
    }
}
