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
        let is_clone = |other: &&Value| {
            other["jobname"] == job["jobname"] && other["groupid"] == job["groupid"]
        };
        let clones = jobs.iter().filter(is_clone).count();
        if clones > 1 && option(&document["global options"], job, "numjobs").is_some() {
            return Err(format!(
                "job {line} ({name}): has {clones} results, one for each of its clones; expected one result for all of them (fio's option group_reporting)"
            ));
        }
        let row = row(&document["global options"], job, drive);
        let fields = row.map_err(|what| format!("job {line} ({name}): {what}"))?;
        rows.push(Row { line, fields });
    }
    Ok((COLUMNS.map(str::to_owned).to_vec(), rows))
}

/// The option `name` of `job`, or of all jobs.
fn option<'a>(global: &'a Value, job: &'a Value, name: &str) -> Option<&'a str> {
    let own = job["job options"][name].as_str();
    own.or_else(|| global[name].as_str())
}

/// The fields of `job`. An option that the job does not set is taken from the `global` options, then from fio's
/// default.
fn row(global: &Value, job: &Value, drive: &str) -> Result<Vec<String>, String> {
    let option = |name: &str| option(global, job, name);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn job(clones: usize) -> String {
        let result = r#"{"jobname": "j", "groupid": 0, "job options": {"rw": "randwrite", "numjobs": "4"},
            "write": {"iops": 10000, "clat_ns": {"percentile": {"50.000000": 1000, "99.000000": 2000}}}}"#;
        format!("{{\"jobs\": [{}]}}", vec![result; clones].join(","))
    }

    /// Without `group_reporting`, fio writes a result for each clone, each with a part of the rate of the job.
    #[test]
    fn a_result_for_each_clone_is_refused() {
        let (_, rows) = rows(&job(1), "d").unwrap();
        assert_eq!(rows.len(), 1);
        let error = super::rows(&job(4), "d").unwrap_err();
        assert!(error.contains("group_reporting"), "{error}");
    }
}
