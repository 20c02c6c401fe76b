//! Measurements from fio, in the JSON that `fio --output-format=json` writes. Each job gives one row.

use serde_json::Value;

use super::measured::Row;

/// The columns of a job. They equal the columns of `Shape::Depth`.
const COLUMNS: [&str; 8] = [
    "drive",
    "op",
    "block_bytes",
    "iodepth",
    "jobs",
    "iops",
    "p50_us",
    "p99_us",
];

/// The columns, and a row for each job in `text`; `drive` is the name of the measured drive.
///
/// # Errors
/// If `text` is not a result of fio. The error names the job, and what was expected in the job.
pub(super) fn rows(text: &str, drive: &str) -> Result<(Vec<String>, Vec<Row>), String> {
    let document: Value = serde_json::from_str(text)
        .map_err(|error| format!("{error}; expected a result that fio wrote as JSON"))?;
    let jobs = document["jobs"].as_array();
    let jobs = jobs.ok_or("no list \"jobs\"; expected a result that fio wrote as JSON")?;
    let mut rows = Vec::new();
    for (line, job) in (1..).zip(jobs) {
        let name = job["jobname"].as_str().unwrap_or_default();
        let row = row(&document["global options"], job, drive);
        let fields = row.map_err(|what| format!("job {line} ({name}): {what}"))?;
        rows.push(Row { line, fields });
    }
    Ok((COLUMNS.map(str::to_owned).to_vec(), rows))
}

/// The fields of `job`. An option that the job does not set is taken from the `global` options, then from fio's
/// default.
fn row(global: &Value, job: &Value, drive: &str) -> Result<Vec<String>, String> {
    let option = |name: &str| {
        let own = job["job options"][name].as_str();
        own.or_else(|| global[name].as_str())
    };
    let kind = option("rw")
        .or_else(|| option("readwrite"))
        .unwrap_or("read");
    let (op, side) = match kind {
        "read" | "randread" => (kind, "read"),
        "write" | "randwrite" => (kind, "write"),
        other => {
            return Err(format!(
                "rw: {other:?}: expected read, randread, write or randwrite"
            ));
        }
    };
    let result = &job[side];
    let iops = result["iops"]
        .as_f64()
        .ok_or(format!("no number {side}.iops"))?;
    let percentile = |name: &str| {
        let times = [("clat_ns", 1000.0), ("lat_ns", 1000.0), ("clat", 1.0)];
        let found = times
            .iter()
            .find_map(|(unit, parts)| Some(result[unit]["percentile"][name].as_f64()? / parts));
        found.ok_or(format!("no percentile {name} in {side}.clat_ns"))
    };
    let text = |name: &str, default: &str| option(name).unwrap_or(default).to_owned();
    Ok(vec![
        drive.to_owned(),
        op.to_owned(),
        text("bs", "4k"),
        text("iodepth", "1"),
        text("numjobs", "1"),
        iops.to_string(),
        percentile("50.000000")?.to_string(),
        percentile("99.000000")?.to_string(),
    ])
}
