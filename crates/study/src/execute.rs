//! Executes the runs that have no stored result, and stores their results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use destage_base::Ticks;
use destage_buffer::destage::Destage;
use destage_sim::observer::Observer;
use serde_json::{Value, json};

use super::cells::{Cell, Cells, Subject};
use super::drives;
use super::file::What;
use super::rows::{DESTAGES, ODDITIES, Row, Rows, identity};
use super::store::{Key, Store};
use destage::Error;
use destage::Facts;
use destage::Record;
use destage::drive;
use destage::internal::metrics_and_facts;
use destage::internal::side_by_side;
use destage::internal::unused;
use destage::run;
use destage::{Effort, compare};

/// The largest number of runs that one task simulates together. All runs of a task share one pass over their
/// input. A larger number reduces the share of the time that is spent on decoding or generating the input; a smaller
/// number reduces the work that is lost when the user interrupts the program.
const TOGETHER: usize = 16;

/// Returns the results of each of `studies`. Runs that have no result in `store` are executed first, and their
/// results are stored there.
///
/// # Errors
/// An error in an input or the store, or an interrupt if `effort.progress` asks to stop. A simulation that fails is no
/// error of this function: its result contains the error message. If a profile cannot be compared with measurements,
/// this is an error, because a claim over all measured drives must not leave one of them out.
pub(crate) fn complete(
    studies: &[Cells],
    store: &Store,
    effort: &Effort<'_>,
) -> Result<Vec<Arc<Rows>>, Error> {
    let cells: Vec<&Cell> = studies.iter().flat_map(|study| &study.cells).collect();
    let keys = cells.iter().map(|cell| Key::of(cell));
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let mut results: BTreeMap<&str, Arc<Value>> = BTreeMap::new();
    let to_do = missing(&keys, store, |key, result| {
        results.insert(key, Arc::new(result));
    });
    let tasks = tasks(&cells, &to_do);
    perform(&tasks, &cells, &keys, store, effort)?;
    for index in to_do {
        let key = &keys[index];
        let result = store.read(key).ok_or_else(|| {
            Error::Internal(format!(
                "the result {} was written, but does not exist any more",
                key.name()
            ))
        })?;
        results.insert(key.name(), Arc::new(result));
    }
    let mut keys = keys.iter();
    let rows_of = |study: &Cells| {
        let rows = study.cells.iter().zip(&mut keys).map(|(cell, key)| Row {
            labels: cell.labels.clone(),
            input: cell.input.facts.clone(),
            result: Arc::clone(&results[key.name()]),
        });
        Arc::new(Rows::of(rows, study.missing.clone()))
    };
    Ok(studies.iter().map(rows_of).collect())
}

/// The number of different runs of `studies`, and the number of those that have no result in `store`.
///
/// # Errors
/// If a run uses a scheme that is in no registry and has no version. Without a version, the result of an earlier
/// scheme of the same name could be used by mistake.
pub(crate) fn counted(studies: &[Cells], store: &Store) -> Result<(usize, usize), Error> {
    let cells = studies.iter().flat_map(|study| &study.cells);
    let keys = cells.map(Key::of).collect::<Result<Vec<_>, _>>()?;
    let mut kept = 0;
    let missing = missing(&keys, store, |_, _| kept += 1).len();
    Ok((kept + missing, missing))
}

/// Returns the indices of those `keys` that have no result in `store`. Of several equal keys, only the first one
/// is considered. For each key that has a result, `kept` is called with the name of the key and the result.
fn missing<'a>(keys: &'a [Key], store: &Store, mut kept: impl FnMut(&'a str, Value)) -> Vec<usize> {
    let mut asked = BTreeSet::new();
    let different = keys.iter().enumerate();
    let different = different.filter(|(_, key)| asked.insert(key.name()));
    different
        .filter_map(|(index, key)| match store.read(key) {
            Some(result) => {
                kept(key.name(), result);
                None
            }
            None => Some(index),
        })
        .collect()
}

/// Executes the runs of `study` with the indices `to_do`, and stores their results. `keys` has the key of every
/// run of `study`.
///
/// # Errors
/// The errors of [`complete`].
pub(super) fn make(
    study: &Cells,
    keys: &[Key],
    to_do: &[usize],
    store: &Store,
    effort: &Effort<'_>,
) -> Result<(), Error> {
    let cells: Vec<&Cell> = study.cells.iter().collect();
    perform(&tasks(&cells, to_do), &cells, keys, store, effort)
}

/// Divides the runs `to_do` into tasks. The runs of a task are simulated together. They have the same input, and
/// their number is at most [`TOGETHER`].
fn tasks(cells: &[&Cell], to_do: &[usize]) -> Vec<Vec<usize>> {
    let mut tasks: Vec<Vec<usize>> = Vec::new();
    // For each input, by the text that identifies its requests: its latest task.
    let mut latest = BTreeMap::new();
    for &index in to_do {
        let cell = cells[index];
        // If the size of the device follows from the input, a comparison gives all runs that are simulated together the
        // same size, so the result of a run would depend on the other runs of its task. In a study, such a run is
        // therefore a task of its own.
        let is_alone = cell.destages
            || cell.what == What::Trace
            || matches!(cell.input.subject, Subject::Drive(_))
            || cell.combination.config.fits_input();
        if is_alone {
            tasks.push(vec![index]);
            continue;
        }
        let of_input = latest.entry(requests(cell)).or_insert(tasks.len());
        match tasks.get_mut(*of_input) {
            Some(task) if task.len() < TOGETHER => task.push(index),
            _ => {
                *of_input = tasks.len();
                tasks.push(vec![index]);
            }
        }
    }
    tasks
}

/// A text that is equal for runs that read the same requests.
fn requests(cell: &Cell) -> String {
    let mut reading = cell.combination.chosen();
    reading.retain(|name, _| name.starts_with("trace.") || name == "sim.seed");
    json!([cell.input.identity, destage::json::parameters(&reading)]).to_string()
}

/// Executes `tasks` on as many threads as `effort` allows.
fn perform(
    tasks: &[Vec<usize>],
    cells: &[&Cell],
    keys: &[Key],
    store: &Store,
    effort: &Effort<'_>,
) -> Result<(), Error> {
    let runs = |task: &Vec<usize>| task.len() as u64;
    side_by_side(tasks, runs, effort, |task, effort| {
        perform_one(task, cells, keys, store, effort)
    })
}

fn perform_one(
    task: &[usize],
    cells: &[&Cell],
    keys: &[Key],
    store: &Store,
    effort: &Effort<'_>,
) -> Result<(), Error> {
    let first = cells[task[0]];
    let input = match &first.input.subject {
        Subject::Requests(input) => input,
        Subject::Drive(of) => {
            let (measurements, plan) = &**of;
            let checked = drive::check(measurements.clone(), plan, effort);
            let checked = checked.map_err(|error| match error {
                Error::Interrupted => error,
                error => Error::Input(format!("{}: {error}", identity(&first.labels))),
            })?;
            return store.write(&keys[task[0]], &drives::result(&checked)?);
        }
    };
    if first.what == What::Trace {
        let (metrics, facts) = metrics_and_facts(input, &first.combination.config)?;
        let mut result = json!({ "metrics": destage::json::metrics(&metrics) });
        add_oddities(&mut result, first, &[facts]);
        return store.write(&keys[task[0]], &result);
    }
    if first.destages {
        let mut records = Records::default();
        let outcome = run(input, &first.combination, effort.progress, &mut records)?;
        let mut result = kept(&outcome.record, first, &outcome.manifest.inputs);
        result[DESTAGES] = records.texts.into();
        return store.write(&keys[task[0]], &result);
    }
    let combinations: Vec<_> = task
        .iter()
        .map(|index| cells[*index].combination.clone())
        .collect();
    let results = compare(std::slice::from_ref(input), &combinations, effort)?;
    for (index, record) in task.iter().zip(&results.runs) {
        let result = kept(record, cells[*index], &results.manifest.inputs);
        store.write(&keys[*index], &result)?;
    }
    Ok(())
}

/// The result to store for the run `cell`: its `record`, and the warnings in `facts` about its input.
fn kept(record: &Record, cell: &Cell, facts: &[Facts]) -> Value {
    let mut result = json!(record);
    if let Some(fields) = result.as_object_mut() {
        // A study that uses this result may have another name for the input, so the name is not stored.
        fields.remove("trace");
        // These warnings follow from the rest of the result, and are computed again when the result is read.
        fields.remove("warnings");
    }
    add_oddities(&mut result, cell, facts);
    result
}

/// Adds to `result` the warnings in `facts` about the input of `cell`, and a warning for each parameter that was
/// set but has no effect on the run.
fn add_oddities(result: &mut Value, cell: &Cell, facts: &[Facts]) {
    let of_input = facts.iter().flat_map(|facts| {
        let all = match cell.what {
            What::Run => facts.warnings_of_simulation(),
            What::Trace => facts.warnings_of_reading(),
        };
        // A study that uses this result may have another name for the input, so the name is not stored.
        let name = format!("{}: ", facts.name);
        let nameless = move |text: String| match text.strip_prefix(&name) {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        all.into_iter().map(nameless)
    });
    let in_vain = match cell.what {
        // A study sets the same parameters for all of its inputs, so a parameter that only another input uses is no
        // mistake.
        What::Run => unused([&cell.combination.config], &[]),
        What::Trace => Vec::new(),
    };
    let all: Vec<String> = of_input.chain(in_vain).collect();
    if !all.is_empty() {
        result[ODDITIES] = all.into();
    }
}

/// Collects the destages of a run as texts. Each text has the cause of the destage and the numbers of its pages,
/// such as `evict 0 1 2`.
#[derive(Default)]
struct Records {
    texts: Vec<Value>,
}

impl Observer for Records {
    fn wants_destages(&self) -> bool {
        true
    }

    fn destage(&mut self, _: Ticks, record: &Destage) {
        let mut text = record.cause.name().to_owned();
        for page in &record.pages {
            text.push_str(&format!(" {}", page.page.0));
        }
        self.texts.push(text.into());
    }
}
