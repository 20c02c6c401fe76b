//! Measurements from fio, in the JSON that `fio --output-format=json` writes. Each job gives one row.

use destage_workload::jobs::waits_for_each_request;
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

/// Options of jobs whose requests differ in length, or that do not always have as many requests outstanding as they may.
/// An option whose name begins with one of these names is another of them.
const UNEVEN: [&str; 5] = ["bsrange", "blocksize_range", "bssplit", "rate", "thinktime"];

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
    if let Some(error) = job["error"].as_i64().filter(|error| *error != 0) {
        return Err(format!(
            "error: {error}: expected a job that ended without an error"
        ));
    }
    let tables = [&job["job options"], global];
    let mut options = tables.into_iter().filter_map(Value::as_object).flatten();
    let is_uneven = |name: &str| UNEVEN.iter().any(|known| name.starts_with(known));
    if let Some((name, value)) = options.find(|(name, _)| is_uneven(name)) {
        return Err(format!(
            "{name}: {value}: expected a job whose requests have one length, and of which iodepth are always outstanding"
        ));
    }
    let option = |name: &str| option(global, job, name);
    let waits = waits_for_each_request(option("ioengine"));
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
        match waits {
            true => "1".to_owned(),
            false => text("iodepth", "1"),
        },
        text("numjobs", "1"),
        iops.to_string(),
        percentile("50.000000")?.to_string(),
        percentile("99.000000")?.to_string(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result with `clones` equal jobs, which have the `fields` of the result and the `options` of the job.
    fn job(clones: usize, fields: &str, options: &str) -> String {
        let result = format!(
            r#"{{"jobname": "j", "groupid": 0, {fields} "job options": {{"rw": "randwrite", {options}}},
            "write": {{"iops": 10000, "clat_ns": {{"percentile": {{"50.000000": 1000, "99.000000": 2000}}}}}}}}"#
        );
        format!("{{\"jobs\": [{}]}}", vec![result; clones].join(","))
    }

    /// Without `group_reporting`, fio writes a result for each clone, each with a part of the rate of the job.
    #[test]
    fn a_result_for_each_clone_is_refused() {
        let clones = r#""numjobs": "4""#;
        let (_, rows) = rows(&job(1, "", clones), "d").unwrap();
        assert_eq!(rows.len(), 1);
        let error = super::rows(&job(4, "", clones), "d").unwrap_err();
        assert!(error.contains("group_reporting"), "{error}");
    }

    #[test]
    fn a_job_that_is_no_full_queue_is_refused() {
        for (fields, options, expected) in [
            (r#""error": 5,"#, r#""bs": "4k""#, "job 1 (j): error: 5"),
            (
                "",
                r#""bsrange": "4k-64k""#,
                "job 1 (j): bsrange: \"4k-64k\"",
            ),
            ("", r#""rate_iops": "1000""#, "rate_iops"),
            ("", r#""thinktime": "10""#, "thinktime"),
        ] {
            let error = rows(&job(1, fields, options), "d").unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(rows(&job(1, r#""error": 0,"#, r#""bs": "4k""#), "d").is_ok());
    }

    /// An engine that waits for each request has one request outstanding. fio's default is such an engine.
    #[test]
    fn a_waiting_engine_has_one_request_outstanding() {
        for (engine, depth) in [
            (r#", "ioengine": "io_uring""#, "32"),
            (r#", "ioengine": "psync""#, "1"),
            ("", "1"),
        ] {
            let options = format!(r#""iodepth": "32"{engine}"#);
            let (columns, rows) = rows(&job(1, "", &options), "d").unwrap();
            let place = columns.iter().position(|name| name == "iodepth").unwrap();
            assert_eq!(rows[0].fields[place], depth, "{engine}");
        }
    }
}
