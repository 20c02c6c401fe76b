//! One function for each thing to do.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Arc;

use destage::sim::observer::{Observer, Response};
use destage::{Combination, Error, Facts, Manifest};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::inputs::Input;
use crate::settings::Settings;
use crate::work::watched;

/// The command line; its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = destage_cli::main(arguments);
        // Nobody else does that where Rust does not own the program.
        let _ = std::io::stdout().flush();
        status
    })
}

/// What the user should know of the inputs.
fn warnings(manifest: &Manifest) -> Vec<String> {
    let facts = manifest.inputs.iter();
    facts.flat_map(Facts::warnings_of_simulation).collect()
}

/// Responses by the number of their request.
#[derive(Default)]
struct Responses(Option<Columns>);

/// Arrival and response in ms, and operation.
type Columns = Vec<(f64, f64, u8)>;

impl Observer for Responses {
    fn wants_responses(&self) -> bool {
        self.0.is_some()
    }

    fn response(&mut self, response: &Response) {
        let Some(columns) = &mut self.0 else { return };
        let index = response.index as usize;
        if columns.len() <= index {
            columns.resize(index + 1, (f64::NAN, f64::NAN, u8::MAX));
        }
        let milliseconds = |ticks| ticks as f64 / destage::base::time::TICKS_PER_MS as f64;
        columns[index] = (
            milliseconds(response.arrival),
            response.response.map_or(f64::NAN, milliseconds),
            response.operation as u8,
        );
    }
}

/// Arrival, response and operation, a row a request.
type Arrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u8>>,
);

/// One run: its JSON, what the user should know, and the responses if they are wanted.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    input: &Input,
    settings: &Settings,
    responses: bool,
    tell: &Bound<'py, PyAny>,
) -> PyResult<(String, Vec<String>, Option<Arrays<'py>>)> {
    let combination = Combination::new(&settings.of).map_err(raised)?;
    if responses && !combination.config.is_timed() {
        return Err(raised(Error::Input(
            "responses: this run has no response times; expected sim.costing=event and an FTL other than none"
                .to_owned(),
        )));
    }
    let input = input.0.clone();
    let (text, warnings, responses) =
        watched(py, &Arc::clone(&settings.watch), tell, move |watch| {
            let mut observer = Responses(responses.then(Vec::new));
            let outcome = destage::run(&input, &combination, watch, &mut observer)?;
            Ok((outcome.to_json(), warnings(&outcome.manifest), observer.0))
        })?;
    let arrays = responses.map(|rows| {
        let column = |of: fn(&(f64, f64, u8)) -> f64| -> Vec<f64> { rows.iter().map(of).collect() };
        let operations: Vec<u8> = rows.iter().map(|row| row.2).collect();
        (
            column(|row| row.0).into_pyarray(py),
            column(|row| row.1).into_pyarray(py),
            operations.into_pyarray(py),
        )
    });
    Ok((text, warnings, arrays))
}
