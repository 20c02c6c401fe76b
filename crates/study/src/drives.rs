//! Runs that compare a profile with measurements of a drive. One run repeats the experiment of a file of measurements,
//! and gives a row for each measured value.

use std::collections::BTreeMap;
use std::sync::Arc;

use destage::Error;
use destage::drive::{Check, CheckPlan, Measurements, Shape};
use destage_trace::hexadecimal;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::cells::{CellInput, InputFacts, Role, Subject};
use super::file::DriveEntry;
use super::rows::Row;

/// The field of a result with its rows.
const ROWS: &str = "rows";

/// The names of the values of a row: the measured and the modelled value, the error with its sign, the error without its
/// sign that is 0 if it is [negligible](NEGLIGIBLE), and the larger of both values divided by the smaller one.
const VALUES: [&str; 5] = [
    "drive.measured",
    "drive.modelled",
    "drive.error_percent",
    "drive.off_percent",
    "drive.factor",
];
/// The version of the rules by which rows get their labels and values. It grows whenever one of them changes, so that
/// results of earlier rules are not used.
const RULES: u32 = 2;
/// Differences of write latencies that do not count as errors, in microseconds: for each percentile, the largest such
/// difference. Only latencies over load have these names.
const NEGLIGIBLE: [(&str, f64); 2] = [("write p50", 1.0), ("write p99", 20.0)];
/// A load counts as well below saturation if its write rate is below this fraction of the highest write rate.
const WELL_BELOW: f64 = 0.75;
/// A drive stalls if writes take longer than this at the 99th percentile, in microseconds, at a load well below
/// saturation.
const STALL_US: f64 = 200.0;

/// The input of a run that compares a profile by `plan` with the measurements `entry` in the file called `file`, whose
/// content is `text`.
pub(super) fn input(
    entry: &DriveEntry,
    (file, text): &(String, Vec<u8>),
    plan: CheckPlan,
) -> Result<CellInput, Error> {
    let measurements = Measurements::parse(text, file, entry.drive.as_deref())?;
    let rows: Vec<_> = measurements.rows.iter().map(|row| &row.fields).collect();
    let lines = json!([measurements.columns, rows]).to_string();
    // A later version of the program can have values that a stored result lacks, so their names identify the result.
    let identity = json!({
        "rules": RULES,
        "values": VALUES,
        "measurements": hexadecimal(&Sha256::digest(lines.as_bytes())),
        "requests": plan.requests,
        "superblocks": plan.scale.superblocks,
    });
    let facts = InputFacts {
        name: measurements.drive().to_owned(),
        digest: None,
        role: Role::Measured,
        differs: String::new(),
    };
    Ok(CellInput {
        subject: Subject::Drive(Box::new((measurements, plan))),
        identity,
        facts,
    })
}

/// The columns that tell the rows of an experiment apart.
fn columns(shape: Shape) -> &'static [&'static str] {
    match shape {
        Shape::Latency => &["offered_writes_per_s"],
        Shape::Fill => &[
            "run",
            "started",
            "used_gib",
            "pattern",
            "detail",
            "drive_writes",
        ],
        Shape::Depth => &["block_bytes", "iodepth", "jobs"],
        Shape::Rates => &["capacity"],
    }
}

/// The axes that only rows of drives have.
pub(super) fn axes() -> Vec<&'static str> {
    let shapes = [Shape::Latency, Shape::Fill, Shape::Depth, Shape::Rates].into_iter();
    let columns = shapes.flat_map(columns).copied();
    columns.chain(["what", "use", "load", "stalls"]).collect()
}

/// The result of a run: a row for each measured value with a modelled one. Its labels are the columns that tell the
/// rows apart, `what`, and `use` (`fit`, `judge` or `show`). Rows of latencies also have `load`, which is `low` below
/// three quarters of the highest write rate and `high` otherwise, and `stalls` (`yes` or `no`).
pub(super) fn result(check: &Check) -> Result<Value, Error> {
    let measurements = &check.measurements;
    let uses = check.uses()?;
    let writes = |row: usize| measurements.number(&measurements.rows[row], "writes_per_s");
    let is_latency = measurements.shape == Shape::Latency;
    let mut most = 0.0_f64;
    for row in 0..measurements.rows.len() * usize::from(is_latency) {
        most = most.max(writes(row)?);
    }
    let mut stalls = false;
    for compared in check.rows.iter().filter(|row| row.what == "write p99") {
        stalls |= compared.measured > STALL_US && writes(compared.row)? < WELL_BELOW * most;
    }
    let mut rows = Vec::new();
    for (compared, of) in check.rows.iter().zip(uses) {
        let (Some(modelled), Some(error), Some(off)) =
            (compared.modelled, compared.error, compared.off)
        else {
            continue;
        };
        let row = &measurements.rows[compared.row];
        let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
        for column in columns(measurements.shape) {
            labels.insert(column, measurements.text(row, column));
        }
        labels.insert("what", &compared.what);
        labels.insert("use", of.word());
        if is_latency {
            let is_low = writes(compared.row)? < WELL_BELOW * most;
            labels.insert("load", if is_low { "low" } else { "high" });
            labels.insert("stalls", if stalls { "yes" } else { "no" });
        }
        let mut least = NEGLIGIBLE.iter();
        let least = least.find(|(what, _)| *what == compared.what);
        let counts = least.is_none_or(|(_, us)| off > *us);
        let measured = compared.measured;
        let factor = (modelled / measured).max(measured / modelled);
        let off = if counts { 100.0 * error.abs() } else { 0.0 };
        let values = [measured, modelled, 100.0 * error, off, factor];
        let metrics: Map<_, _> = VALUES
            .iter()
            .zip(values)
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        rows.push(json!({ "labels": labels, "metrics": metrics }));
    }
    Ok(json!({ ROWS: rows, super::rows::ODDITIES: check.left_out }))
}

/// The result of a run that was not made yet: it has no rows.
pub(super) fn no_rows() -> Value {
    json!({ ROWS: [] })
}

/// The rows of the run `row` if it compares a profile with measurements. A row of another run is returned as it is. The
/// warnings of the run are those of its first row. If the model has none of the values, the run has one row, and counts as
/// failed.
pub(super) fn compared_rows(row: Row) -> Vec<Row> {
    let Some(rows) = row.result.get(ROWS).and_then(Value::as_array) else {
        return vec![row];
    };
    let oddities = &row.result[super::rows::ODDITIES];
    if rows.is_empty() {
        let error = "the model can compute none of the measured values";
        let result = json!({ "error": error, super::rows::ODDITIES: oddities });
        return vec![Row {
            result: Arc::new(result),
            ..row
        }];
    }
    let of = |(place, one): (usize, &Value)| {
        let mut labels = row.labels.clone();
        let own = one["labels"].as_object().into_iter().flatten();
        labels.extend(
            own.map(|(axis, value)| (axis.clone(), value.as_str().unwrap_or_default().to_owned())),
        );
        let metrics: Map<_, _> = one["metrics"].as_object().cloned().unwrap_or_default();
        Row {
            labels,
            input: row.input.clone(),
            result: Arc::new(match place {
                0 => json!({ "metrics": metrics, super::rows::ODDITIES: oddities }),
                _ => json!({ "metrics": metrics }),
            }),
        }
    };
    rows.iter().enumerate().map(of).collect()
}
