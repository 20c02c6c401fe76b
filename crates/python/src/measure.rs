//! Measurements of drives.

use std::path::{Path, PathBuf};

use destage::Error;
use destage::base::parameter::read_bytes;
use destage::drive::{Cost, MeasurePlan, Modelled, SIMULATED, Scale, Target, What};
use pyo3::prelude::*;
use serde_json::json;

use crate::errors::{ConfigError, raised};
use crate::settings::Settings;
use crate::work::watched;

/// Measures `drive`: a simulated drive `model:PROFILE` with `settings`, or a real drive. The tables are written to
/// the folder `output`. If `is_dry`, nothing is measured, and the document has no tables. Returns the content of
/// `measured.json`, the cost of the measurement as JSON, and the experiments that were left out.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn drive_measure(
    py: Python<'_>,
    settings: &Settings,
    drive: String,
    output: PathBuf,
    what: Option<Vec<String>>,
    name: Option<String>,
    bytes: Option<&str>,
    passes: u64,
    seconds: f64,
    requests: Option<u64>,
    seed: u64,
    overwrite: bool,
    is_dry: bool,
    control: Option<PathBuf>,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, String, Vec<String>)> {
    let model = drive.starts_with(SIMULATED).then(|| settings.of.clone());
    let what = What::named(&what.unwrap_or_default(), |word, names| {
        let refusal = format!("what {word}: no such experiment");
        ConfigError::new_err(Error::unknown(refusal, word, names.into_iter()).to_string())
    })?;
    let plan = MeasurePlan {
        name,
        what,
        used_bytes: used_bytes(bytes).map_err(|error| raised(&error))?,
        passes,
        requests: requests.unwrap_or(MeasurePlan::of(&drive).requests),
        seconds,
        seed,
    };
    watched(py, &settings.watch, tell, move |watch| {
        let (mut target, holds) = opened(&drive, model.as_ref(), control.as_deref())?;
        let target = &mut *target;
        let cost = plan.cost(target, &output)?;
        if let (Some(holds), false, false, false) = (holds, cost.is_continued, overwrite, is_dry) {
            return Err(Error::Input(format!(
                "{drive}: {holds}, which a measurement would overwrite; expected an empty drive, or one that holds what an earlier measurement with output {} has written, or overwrite=True",
                output.display()
            )));
        }
        let cost_text = of_cost(&cost, target.is_real());
        if is_dry {
            let document = json!({
                "version": destage::version(),
                "drive": plan.name.clone().unwrap_or_else(|| target.name()),
                "used_bytes": cost.used_bytes,
                "tables": [],
                "values": {},
                "unknown": [],
                "left_out": [],
            });
            return Ok((destage::json::text(&document), cost_text, Vec::new()));
        }
        let measured = destage::drive::measure(target, &plan, &output, watch, &|_| ())?;
        let path = output.join("measured.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|cause| Error::Input(format!("{}: {cause}", path.display())))?;
        Ok((text, cost_text, measured.left_out))
    })
}

/// The number of bytes that `text` gives.
fn used_bytes(text: Option<&str>) -> Result<Option<u64>, Error> {
    let Some(text) = text else { return Ok(None) };
    let bytes = read_bytes(text).ok_or_else(|| {
        let expected = format!(" {text}: expected a size in bytes, such as 64GiB");
        Error::argument("bytes", expected)
    })?;
    Ok(Some(bytes))
}

/// A drive, and a sentence that says that the drive holds data; `None` if it holds none.
type Opened = (Box<dyn Target>, Option<String>);

/// Opens the drive: the simulated drive of the settings `model`, or without these settings a real drive.
fn opened(
    drive: &str,
    model: Option<&destage::Settings>,
    control: Option<&Path>,
) -> Result<Opened, Error> {
    let Some(settings) = model else {
        return real(drive, control);
    };
    let target: Box<dyn Target> = Box::new(Modelled::new(drive, settings, Scale::default())?);
    Ok((target, None))
}

#[cfg(unix)]
fn real(drive: &str, control: Option<&Path>) -> Result<Opened, Error> {
    let opened = destage_serve::measure::open(drive, control)?;
    Ok((opened.target, opened.holds))
}

#[cfg(not(unix))]
fn real(drive: &str, _: Option<&Path>) -> Result<Opened, Error> {
    Err(Error::Input(format!(
        "{drive}: real drives cannot be measured on this system; expected model:PROFILE"
    )))
}

/// The cost of a measurement as JSON. On a simulated drive (`is_real` is false) the time is virtual.
fn of_cost(cost: &Cost, is_real: bool) -> String {
    let document = json!({
        "used_bytes": cost.used_bytes,
        "fills": cost.fills,
        "fill_bytes": cost.used_bytes.saturating_mul(cost.fills),
        "loads": cost.loads,
        "load_bytes": cost.load_bytes,
        "load_seconds": cost.load_seconds,
        "is_real": is_real,
        "is_continued": cost.is_continued,
    });
    document.to_string()
}
