//! The memory limit of the library in a Python process. A call that exceeds the limit fails with an error, and the
//! interpreter continues.

use destage::base::parameter::read_bytes;
use destage::numbers::size;
use destage_memory::Excess;
use pyo3::prelude::*;

use crate::errors::{Error, InputError};

/// Installs the memory limit, and sets it to the default: half of the machine's memory.
pub(crate) fn install() {
    destage_memory::outlive_excess();
    let limit = destage_memory::default_limit();
    destage_memory::set_limit(limit.unwrap_or(u64::MAX));
}

/// Sets the limit. The text is a number of bytes with or without a unit; None sets the default.
#[pyfunction]
pub(crate) fn set_memory_limit(text: Option<&str>) -> PyResult<()> {
    let Some(text) = text else {
        install();
        return Ok(());
    };
    let bytes = read_bytes(text).filter(|bytes| *bytes > 0);
    destage_memory::set_limit(bytes.ok_or_else(|| {
        InputError::new_err(format!(
            "limit: {text:?}: expected a size in bytes of at least 1, such as 8GiB, 512MiB or 8388608"
        ))
    })?);
    Ok(())
}

/// Returns an error if the limit is exceeded.
pub(crate) fn check() -> PyResult<()> {
    destage_memory::exceeded().map_or(Ok(()), |excess| Err(raised(&excess)))
}

/// The exception for `excess`.
pub(crate) fn raised(excess: &Excess) -> PyErr {
    let doing = match &*excess.doing {
        "" => "requests in arrays",
        text => text,
    };
    let (asked, used) = (size(excess.asked), size(excess.used));
    let expected = "expected less to do, or a larger limit (destage.set_memory_limit)";
    Error::new_err(match (excess.limit.map(size), excess.asked) {
        (Some(limit), 0) => {
            format!("{doing}: {used} of memory in use, beyond the limit of {limit}; {expected}")
        }
        (Some(limit), _) => format!(
            "{doing}: needs {asked} of memory besides the {used} in use, beyond twice the limit of {limit}; {expected}"
        ),
        (None, _) => format!(
            "{doing}: needs {asked} of memory besides the {used} in use, which the system does not have; expected less to do"
        ),
    })
}
