//! The Python functions of the commands.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use destage::drive::{CheckPlan, FitPlan, Measurements};
use destage::files::{PendingFile, storage};
use destage::sim::error::SimError;
use destage::sim::observer::{Observer, Response};
use destage::{
    Combination, CurvePlan, CutPlan, Effort, Error, Goal, Grid, Manifest, Outcome, Rate, Record,
    SIZED_SCHEMES, Sampling, SizePlan, csv, words,
};
use destage_report::Watched;
use destage_study::fleet::{Fleet, FleetPlan};
use destage_study::reproduce::{Paper, Plan, Thresholds, shipped_traces};
use destage_study::{Extra, Scale, Shard, Store, Study, Traces};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::inputs::Input;
use crate::settings::Settings;
use crate::work::{Watch, watched};

/// Runs the command line. Returns its exit status.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let status = destage_cli::main(arguments);
        // When Python ends the process, it does not flush the standard output of Rust.
        let _ = std::io::stdout().flush();
        status
    })
}

/// The responses, in the order of the requests; `None` if the caller does not want them.
#[derive(Default)]
struct Responses(Option<Columns>);

/// For each request: arrival time and response time in ms, and the number of the operation.
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

/// Arrival times and response times in ms, and the numbers of the operations, with one element for each request.
type Arrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u8>>,
);

/// The result of a run: its JSON, warnings for the user, and, if the caller wants them, the responses.
type Run<'py> = (String, Vec<String>, Option<Arrays<'py>>);

/// Carries out one run. `watch` is a file that shows the run, and whether this file is a timeline as JSON; otherwise it
/// is a page. The file is opened before the run begins. `cut` is the moment at which the power fails, such as
/// `write 300`.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    input: &Input,
    settings: &Settings,
    responses: bool,
    watch: Option<(PathBuf, bool)>,
    cut: Option<&str>,
    tell: &Bound<'py, PyAny>,
) -> PyResult<Run<'py>> {
    let combination =
        Combination::new(&settings.with_host_of(input)).map_err(|error| raised(&error))?;
    if responses && !combination.config.is_timed() {
        return Err(raised(&Error::Input(
            "responses: this run has no response times; expected sim.costing=event and an FTL other than none"
                .to_owned(),
        )));
    }
    let plan = cut.map(|text| {
        let named =
            |error: SimError| raised(&Error::from(SimError::Config(format!("cut: {error}"))));
        let at = text.parse().map_err(named)?;
        let seed = combination.config.typed.sim.seed;
        Ok::<_, PyErr>(CutPlan { at, seed })
    });
    let plan = plan.transpose()?;
    let is_timeline = watch.as_ref().is_some_and(|(_, is_timeline)| *is_timeline);
    // If the file cannot be written, the call fails before the run, as on the command line.
    let file = watch.map(|(path, _)| py.detach(|| PendingFile::create(&path)));
    let file = file.transpose().map_err(|error| raised(&error))?;
    let is_watched = file.is_some();
    let input = input.0.clone();
    let (text, warnings, page, responses) =
        watched(py, &Arc::clone(&settings.watch), tell, move |progress| {
            let mut observer = Responses(responses.then(Vec::new));
            let shown = |watched: &Watched| match is_timeline {
                true => watched.to_timeline(),
                false => watched.to_html(),
            };
            let of_run = (&input, &combination);
            let (text, warnings, page) = match plan {
                Some(plan) => cut_off(of_run, &plan, is_watched, progress, &mut observer).map(
                    |(text, warnings, watched)| (text, warnings, watched.as_ref().map(shown)),
                )?,
                None if is_watched => {
                    let watched =
                        destage_report::watch(&input, &combination, progress, &mut observer)?;
                    let Outcome { manifest, record } = &watched.outcome;
                    let warnings = warnings_of(manifest, record);
                    (watched.outcome.to_json(), warnings, Some(shown(&watched)))
                }
                None => {
                    let outcome = destage::run(&input, &combination, progress, &mut observer)?;
                    let warnings = warnings_of(&outcome.manifest, &outcome.record);
                    (outcome.to_json(), warnings, None)
                }
            };
            Ok((text, warnings, page, observer.0))
        })?;
    if let (Some(mut file), Some(page)) = (file, page) {
        let written = py.detach(move || {
            file.put(page)?;
            file.commit()
        });
        written.map_err(|error| raised(&error))?;
    }
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

/// The JSON and the warnings of a run, and the recording if it was watched.
type CutOff = (String, Vec<String>, Option<Watched>);

/// Carries out one run whose power fails as in `plan`. If `is_watched`, the run is recorded until then.
fn cut_off(
    (input, combination): (&destage::Input, &Combination),
    plan: &CutPlan,
    is_watched: bool,
    progress: &Watch,
    observer: &mut Responses,
) -> Result<CutOff, Error> {
    let (outcome, watched) = match is_watched {
        true => destage_report::watch_cut(input, combination, plan, progress, observer)
            .map(|(outcome, watched)| (outcome, Some(watched)))?,
        false => {
            let outcome = destage::cut(input, combination, plan, None, progress, observer)?;
            (outcome, None)
        }
    };
    let warnings = warnings_of(&outcome.manifest, &outcome.record);
    Ok((outcome.to_json(), warnings, watched))
}

/// The warnings about the input and the metrics of a run.
fn warnings_of(manifest: &Manifest, record: &Record) -> Vec<String> {
    let mut warnings = manifest.warnings();
    warnings.extend(words::warnings(std::slice::from_ref(record)));
    warnings
}

/// Computes the statistics of an input. Returns the statistics as JSON, and warnings for the user.
#[pyfunction]
pub(crate) fn inspect(
    py: Python<'_>,
    input: &Input,
    settings: &Settings,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let config = settings.with_host_of(input).resolve();
    let config = config.map_err(|error| raised(&Error::from(error)))?;
    let input = input.0.clone();
    watched(py, &settings.watch, tell, move |watch| {
        let (inspection, manifest) = destage::inspect(&input, &config, watch)?;
        Ok((inspection.to_json(&manifest), manifest.warnings()))
    })
}

/// The number of threads (0: one for each core), and `watch` as the receiver of progress.
pub(crate) fn effort(threads: usize, watch: &Watch) -> Effort<'_> {
    Effort {
        threads,
        progress: watch,
        ..Effort::default()
    }
}

/// Carries out a run for each combination of input, buffer, size and layer. Returns the results as JSON, warnings for
/// the user, and the columns of the table of results.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn compare(
    py: Python<'_>,
    inputs: Vec<PyRef<'_, Input>>,
    settings: &Settings,
    buffers: Option<Vec<String>>,
    sizes: Option<Vec<String>>,
    ftls: Option<Vec<String>>,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>, Vec<String>)> {
    let mut of = settings.of.clone();
    inputs.iter().for_each(|input| input.0.set_host(&mut of));
    let mut grid = Grid::new(of);
    if let Some(items) = buffers {
        grid = grid.buffers(items);
    }
    if let Some(items) = sizes {
        grid = grid.sizes(items);
    }
    if let Some(items) = ftls {
        grid = grid.ftls(items);
    }
    let combinations = grid.combinations().map_err(|error| raised(&error))?;
    let inputs: Vec<_> = inputs.iter().map(|input| input.0.clone()).collect();
    let results = watched(py, &settings.watch, tell, move |watch| {
        destage::compare(&inputs, &combinations, &effort(threads, watch))
    })?;
    // If every run failed, the call fails too, as on the command line.
    if results.runs.iter().all(|run| run.error.is_some())
        && let Some(error) = results.runs.iter().find_map(|run| run.error.as_ref())
    {
        return Err(raised(error));
    }
    let columns = csv::Columns::of(&results.runs);
    let columns = columns.names().map(|name| name.into_owned()).collect();
    let mut warnings = results.manifest.warnings();
    warnings.extend(words::warnings(&results.runs));
    Ok((results.to_json(), warnings, columns))
}

/// Computes metrics over the size of the buffer. Returns the curves as JSON, and warnings for the user.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn curve(
    py: Python<'_>,
    input: &Input,
    settings: &Settings,
    buffers: Option<Vec<String>>,
    sizes: Option<Vec<String>>,
    sample: Option<f64>,
    error: Option<(f64, String)>,
    salts: Option<u32>,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let rate = match (sample, error) {
        (Some(share), _) => Some(Rate::Share(share)),
        (None, Some((percent, metric))) => Some(Rate::Error { percent, metric }),
        (None, None) => None,
    };
    let plan = CurvePlan {
        settings: settings.with_host_of(input),
        buffers,
        sizes,
        sampling: rate.map(|rate| Sampling {
            rate,
            salts: salts.unwrap_or(destage::SALTS),
        }),
    };
    let input = input.0.clone();
    let curves = watched(py, &settings.watch, tell, move |watch| {
        destage::curve(&input, &plan, &effort(threads, watch))
    })?;
    Ok((curves.to_json(), curves.manifest.warnings()))
}

/// Finds the smallest buffers that reach all goals. Returns the answers as JSON, and warnings for the user.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn size(
    py: Python<'_>,
    input: &Input,
    settings: &Settings,
    goals: Vec<String>,
    buffers: Option<Vec<String>>,
    sizes: Option<Vec<String>>,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let goals: Result<_, _> = goals.iter().map(|text| Goal::read(text)).collect();
    let plan = SizePlan {
        settings: settings.with_host_of(input),
        buffers: buffers.unwrap_or_else(|| SIZED_SCHEMES.map(str::to_owned).to_vec()),
        sizes,
        goals: goals.map_err(|error| raised(&error))?,
    };
    let input = input.0.clone();
    let answers = watched(py, &settings.watch, tell, move |watch| {
        destage::size(&input, &plan, &effort(threads, watch))
    })?;
    // If every run failed, the call fails too, as on the command line.
    if answers.answers.is_empty()
        && answers.missed.is_empty()
        && let Some(error) = answers.failed.iter().find_map(|run| run.error.as_ref())
    {
        return Err(raised(error));
    }
    Ok((answers.to_json(), answers.manifest.warnings()))
}

/// Compares a profile with the measurements in a file. Returns the comparison as JSON, and the rows that could not be
/// modelled.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn drive_check(
    py: Python<'_>,
    settings: &Settings,
    against: PathBuf,
    drive: Option<String>,
    requests: u64,
    superblocks: u32,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let plan = CheckPlan {
        requests,
        scale: destage::drive::Scale {
            superblocks,
            ..Default::default()
        },
        ..CheckPlan::new(settings.of.clone())
    };
    let checked = watched(py, &settings.watch, tell, move |watch| {
        let measurements = Measurements::read(&against, drive.as_deref())?;
        destage::drive::check(measurements, &plan, &effort(threads, watch))
    })?;
    Ok((checked.to_json(), checked.left_out))
}

/// Fits a profile to the measurements in `files`. The search starts from the profile of `settings`, which is called
/// `start`. The fitted profile is written to `output`, if `output` is given; this file is opened before the search
/// begins. Returns the results as JSON, the profile, and the rows that could not be modelled.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn drive_fit(
    py: Python<'_>,
    settings: &Settings,
    start: String,
    files: Vec<PathBuf>,
    drive: Option<String>,
    all_rows: bool,
    output: Option<PathBuf>,
    requests: u64,
    superblocks: u32,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, String, Vec<String>)> {
    if let Some(output) = &output {
        check_output_of_fit(output, &start, &files).map_err(|error| raised(&error))?;
    }
    let plan = FitPlan {
        requests,
        all_rows,
        scale: destage::drive::Scale {
            superblocks,
            ..Default::default()
        },
        ..FitPlan::new(settings.of.clone(), start)
    };
    let fitted = watched(py, &settings.watch, tell, move |watch| {
        let mut read = Vec::new();
        for path in &files {
            read.push(Measurements::read(path, drive.as_deref())?);
        }
        let file = output.as_deref().map(PendingFile::create).transpose()?;
        let fitted = destage::drive::fit(read, &plan, &effort(threads, watch))?;
        if let Some(mut file) = file {
            file.put(fitted.profile.clone().into_bytes())?;
            file.commit()?;
        }
        Ok(fitted)
    })?;
    let left_out = fitted.checks.iter().flat_map(|check| &check.left_out);
    let left_out = left_out.cloned().collect();
    Ok((fitted.to_json(), fitted.profile, left_out))
}

/// Returns an error if `output` cannot be the name of a fitted profile, or if it is one of the `files` of measurements
/// or a file of the profile `start`.
fn check_output_of_fit(output: &Path, start: &str, files: &[PathBuf]) -> Result<(), Error> {
    let refused = |what: &str| Error::argument("output", format!(" {}: {what}", output.display()));
    if output.extension().is_none_or(|ending| ending != "toml") {
        return Err(refused(
            "the name of a profile has to end in .toml; expected such a name",
        ));
    }
    let profiles = destage::sim::profiles::chain(start)?.into_iter();
    // Profiles that are part of the program have no file.
    let profiles = profiles.filter(|read| read.name.ends_with(".toml"));
    let profiles = profiles.map(|read| PathBuf::from(read.name));
    let mut inputs = files.iter().cloned().chain(profiles);
    // A path that cannot be used is refused later, when it is opened.
    let place = storage(output);
    if place.is_some() && inputs.any(|input| storage(&input) == place) {
        return Err(refused("is an input of this fit; expected another file"));
    }
    Ok(())
}

/// Compares a buffer for each of many volumes with one buffer that all volumes share. The curves are stored in
/// `results`. Returns the comparison as JSON, and warnings for the user.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn fleet(
    py: Python<'_>,
    folder: PathBuf,
    settings: &Settings,
    buffers: Option<Vec<String>>,
    sizes: Option<Vec<String>>,
    results: PathBuf,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let plan = FleetPlan {
        settings: settings.of.clone(),
        buffers,
        sizes,
    };
    watched(py, &settings.watch, tell, move |watch| {
        let fleet = Fleet::open(&folder)?.prepare(&plan)?;
        let store = Store::open(&results)?;
        fleet.keep_plan(&store)?;
        let whole = Shard { index: 1, of: 1 };
        fleet.carry_out_part(&store, whole, &effort(threads, watch))?;
        Ok((fleet.report(&store)?.to_json(), store.damaged()))
    })
}

/// Adds to `known` the paths of the papers' traces: `NAME=FILE` in `pairs`, and the files in `folder`.
pub(crate) fn traces(
    mut known: Traces,
    pairs: &[String],
    folder: Option<PathBuf>,
) -> Result<Traces, Error> {
    for pair in pairs {
        known.add_pair(pair)?;
    }
    if let Some(folder) = folder {
        known.look_in(&folder)?;
    }
    Ok(known)
}

/// The scale of the runs: full or reduced.
pub(crate) fn scale(is_full: bool) -> Scale {
    match is_full {
        false => Scale::Reduced,
        true => Scale::Full,
    }
}

/// Carries out the runs of a study file. Returns the results as JSON, and warnings for the user.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn study(
    py: Python<'_>,
    path: PathBuf,
    results: PathBuf,
    pairs: Vec<String>,
    folder: Option<PathBuf>,
    is_full: bool,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    watched(py, &Arc::default(), tell, move |watch| {
        let study = Study::read(&path)?;
        let store = Store::open(&results)?;
        let traces = traces(shipped_traces()?, &pairs, folder)?;
        let report = study.carry_out(scale(is_full), &traces, &store, &effort(threads, watch))?;
        report.write(&results.join(&study.name), |document| {
            destage_report::html(document, None)
        })?;
        let mut warnings = store.damaged();
        warnings.extend(report.rows.warnings());
        Ok((report.to_json(), warnings))
    })
}

/// Runs the papers' experiments. Returns the verdicts as JSON, and warnings for the user.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python has names for them")]
pub(crate) fn reproduce(
    py: Python<'_>,
    what: Option<String>,
    results: PathBuf,
    pairs: Vec<String>,
    folder: Option<PathBuf>,
    is_full: bool,
    threads: usize,
    tell: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    watched(py, &Arc::default(), tell, move |watch| {
        let plan = Plan {
            papers: Plan::choose(Paper::shipped()?, what.as_deref())?,
            scale: scale(is_full),
            traces: traces(shipped_traces()?, &pairs, folder)?,
            thresholds: Thresholds::shipped()?,
            extra: Extra::default(),
            // Interpretations of a paper can be compared only by all claims of the paper. So they are not compared if
            // a single experiment of the paper runs.
            readings: what.is_none_or(|name| !name.contains('/')),
        };
        let store = Store::open(&results)?;
        let effort = effort(threads, watch);
        let report = plan.asked(&effort)?.carry_out(&store, &effort)?;
        report.write(&results, |document| destage_report::html(document, None))?;
        Ok((report.to_json(), store.damaged()))
    })
}

/// Writes a file with `content` at `path`. The file appears complete or not at all.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, content: &[u8]) -> PyResult<()> {
    py.detach(|| destage::files::write(&path, content))
        .map_err(|error| raised(&error))
}

/// The head and the table of the report page of a document, as JSON.
#[pyfunction]
pub(crate) fn outline(py: Python<'_>, text: &str) -> PyResult<String> {
    py.detach(|| destage_report::outline(text))
        .map_err(|error| raised(&error))
}

/// The HTML page of a document that a function of this module has returned.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, text: &str, title: Option<&str>) -> PyResult<String> {
    py.detach(|| destage_report::html(text, title))
        .map_err(|error| raised(&error))
}
