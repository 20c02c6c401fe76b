//! The inputs of simulations.

use std::path::PathBuf;

use destage::Reading;
use destage::trace::Columns;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::raised;
use crate::memory;

/// An input: a trace file, a workload, or requests in arrays.
#[pyclass(frozen, module = "destage._core")]
pub(crate) struct Input(pub(crate) destage::Input);

#[pymethods]
impl Input {
    /// The trace file at `path`.
    #[staticmethod]
    fn trace(path: PathBuf) -> Self {
        Self(destage::Input::trace(path))
    }

    /// The workload `NAME[:k=v,...]`. `pairs` are further parameters as `KEY=VALUE`.
    #[staticmethod]
    fn workload(text: &str, pairs: Vec<String>) -> PyResult<Self> {
        let input = destage::Input::workload(text, &pairs);
        input.map(Self).map_err(|error| raised(&error))
    }

    /// Requests in arrays, one for each column.
    #[staticmethod]
    fn columns(
        name: &str,
        time_ns: PyReadonlyArray1<'_, i64>,
        op: PyReadonlyArray1<'_, u8>,
        offset: PyReadonlyArray1<'_, u64>,
        bytes: PyReadonlyArray1<'_, u64>,
        volume: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Self> {
        let columns = Columns {
            time_ns: time_ns.as_slice()?,
            operation: op.as_slice()?,
            offset: offset.as_slice()?,
            bytes: bytes.as_slice()?,
            volume: volume
                .as_ref()
                .map(|volume| volume.as_slice())
                .transpose()?,
        };
        // This thread holds the lock of the interpreter while it reads the arrays. Otherwise another Python thread
        // could write to the arrays meanwhile.
        let requests = columns.requests(name);
        let requests = requests.map_err(|error| raised(&error.into()))?;
        memory::check()?;
        Ok(Self(destage::Input::requests(name, requests)))
    }

    /// A copy of this input with these reading options.
    fn read(
        &self,
        format: Option<String>,
        limit: Option<u64>,
        skip: u64,
        writes_only: bool,
        skip_bad_lines: bool,
    ) -> PyResult<Self> {
        let reading = Reading {
            format,
            limit,
            skip,
            writes_only,
            skip_bad_lines,
        };
        self.0
            .clone()
            .read(reading)
            .map(Self)
            .map_err(|error| raised(&error))
    }
}
