//! Compares the simulator with the published results of the reference simulator, row by row and digit by digit.
//!
//! Nothing is fitted. The columns of a row are translated to parameters, and the results of the run are compared
//! with those of the row.

use std::collections::BTreeMap;
use std::path::Path;

use destage_base::parameter::Values;
use destage_base::time::to_ms;
use destage_sim::observer::Silent;
use destage_tests::{Responses, outside, root, run_reference};
use destage_trace::{ReadOptions, Request, read_all};
use destage_workload::find;

type Row = BTreeMap<String, String>;
/// Column of the table, parameter, and the conversion of the column's value to the parameter's.
type Translation = (&'static str, &'static str, fn(&str) -> String);

/// All columns that become parameters.
const PARAMETERS: [Translation; 18] = [
    ("elements", "flash.dies", same),
    ("planes_per_element", "flash.planes_per_die", same),
    ("blocks_per_plane", "flash.blocks_per_plane", same),
    ("pages_per_block", "flash.pages_per_block", same),
    ("page_sectors", "flash.page_bytes", |sectors| {
        times(sectors, 512.0)
    }),
    ("reserve_pct", "ftl.reserve_percent", same),
    ("min_free_pct", "ftl.min_free_percent", same),
    ("copy_back", "flash.copy_back", same),
    ("parallel_units", "flash.parallel_units", same),
    ("alloc_pool", "ftl.allocation_pool", |pool| {
        word(pool, &[("1", "die"), ("2", "plane")])
    }),
    ("cleaning_policy", "ftl.gc_policy", |policy| {
        word(policy, &[("2", "greedy"), ("3", "wear_aware")])
    }),
    ("background_cleaning", "ftl.background_gc", same),
    ("device_queue", "host.queue_depth", same),
    ("host_policy", "host.scheduler", |policy| {
        word(policy, &[("3", "clook"), ("1", "fifo")])
    }),
    ("read_ms", "flash.read_us", |ms| times(ms, 1e3)),
    ("write_ms", "flash.program_us", |ms| times(ms, 1e3)),
    ("erase_ms", "flash.erase_us", |ms| times(ms, 1e3)),
    ("xfer_ms_per_byte", "flash.transfer_ns_per_byte", |ms| {
        times(ms, 1e6)
    }),
];

fn same(text: &str) -> String {
    text.to_owned()
}

fn times(text: &str, factor: f64) -> String {
    // Products such as 0.000025 * 1e6 can be wrong in their last digit. Rounding to six decimals removes this
    // error.
    let product = text.parse::<f64>().expect("a number") * factor;
    ((product * 1e6).round() / 1e6).to_string()
}

fn word(text: &str, words: &[(&str, &str)]) -> String {
    let found = words.iter().find(|(number, _)| *number == text);
    found.expect("a known code").1.to_owned()
}

fn rows(table: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(table).expect("the table of results");
    let mut lines = text.lines();
    let columns: Vec<_> = lines
        .next()
        .expect("a header")
        .split(',')
        .map(str::to_owned)
        .collect();
    lines
        .map(|line| {
            columns
                .iter()
                .cloned()
                .zip(line.split(',').map(str::to_owned))
                .collect()
        })
        .collect()
}

/// The requests of `trace`: generated for a synthetic trace, and read from a file for a recorded trace.
fn requests(trace: &str) -> Vec<Request> {
    let path = match trace {
        "synth-a" => return uniform(20081, &[]),
        "synth-b" => return uniform(20082, &[("write_percent", "70"), ("max_pages", "8")]),
        "iozone" => "traces/iozone-100k.disksim.zst",
        "postmark" => "traces/postmark-62k.disksim.zst",
        other => panic!("no trace for {other}"),
    };
    let read = read_all(&outside(path), &ReadOptions::default());
    read.unwrap_or_else(|error| panic!("{error}")).requests
}

fn uniform(seed: u64, settings: &[(&str, &str)]) -> Vec<Request> {
    let workload = find("uniform").expect("the uniform workload");
    let mut values = Values::defaults(workload.parameters);
    for (name, text) in [
        ("requests", "100000"),
        ("footprint_pages", "100000"),
        ("mean_interarrival_ms", "0.5"),
    ]
    .iter()
    .chain(settings)
    {
        let row = workload
            .parameters
            .iter()
            .find(|row| row.name == *name)
            .expect("a parameter");
        values.set(row.name, row.read(text).expect("a value"));
    }
    (workload.make)(&values, seed)
        .unwrap_or_else(|error| panic!("{error}"))
        .collect()
}

/// The results that differ from the table, as text.
fn differences(row: &Row, requests: &[Request]) -> Vec<String> {
    let pairs: Vec<_> = PARAMETERS
        .iter()
        .map(|(column, key, write)| format!("{key}={}", write(&row[*column])))
        .collect();
    let metrics = run_reference(&pairs, requests, &mut Silent).metrics;
    let checks = [
        ("host.completed", "completed"),
        ("host.saturated", "saturated"),
        ("flash.erases", "erases"),
        ("flash.pages_moved", "pages_moved"),
        ("response.mean_ms", "mean_ms"),
        ("device_response.mean_ms", "device_mean_ms"),
        ("response.std_ms", "std_ms"),
        ("device_response.std_ms", "device_std_ms"),
        ("response.p50_ms", "p50_ms"),
        ("response.p99_ms", "p99_ms"),
        ("response.max_ms", "max_ms"),
        ("response.read.mean_ms", "read_mean_ms"),
        ("response.write.mean_ms", "write_mean_ms"),
        ("ftl.gc_time_ms", "clean_time_ms"),
    ];
    checks
        .iter()
        .filter_map(|(metric, column)| {
            let expected: f64 = row[*column].parse().expect("a number");
            let ours = metrics.get(metric).map_or(0.0, |number| number.as_f64());
            (printed(ours) != expected).then(|| {
                format!(
                    "{}/{} {column}: {ours} instead of {expected}",
                    row["config"], row["trace"]
                )
            })
        })
        .collect()
}

/// `number` as the reference prints it, with six decimals.
fn printed(number: f64) -> f64 {
    format!("{number:.6}").parse().expect("a number")
}

/// Compares all rows of `table` on `traces`; returns the number of rows of the table.
fn compare(table: &Path, traces: &[&str]) -> usize {
    let rows = rows(table);
    let mut wrong = Vec::new();
    for trace in traces {
        let requests = requests(trace);
        for row in rows.iter().filter(|row| row["trace"] == *trace) {
            wrong.extend(differences(row, &requests));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    rows.len()
}

#[test]
fn every_row_on_the_synthetic_traces() {
    let table = root().join("tests/golden/reference.csv");
    assert_eq!(compare(&table, &["synth-a", "synth-b"]), 26);
}

#[test]
#[ignore = "needs recorded traces"]
fn every_row_of_the_whole_table() {
    let table = outside("oracle/disksim-mean-response.csv");
    assert_eq!(
        compare(&table, &["postmark", "iozone", "synth-a", "synth-b"]),
        42
    );
}

#[test]
fn the_first_2000_response_times() {
    for trace in ["synth-a", "synth-b"] {
        let mut responses = Responses::default();
        run_reference(&[], &requests(trace), &mut responses);
        let path = root().join(format!("tests/golden/{trace}-base-e8-first2000.csv"));
        let log = std::fs::read_to_string(path).expect("the reference's log");
        let times: Vec<&str> = log.lines().skip(1).collect();
        assert_eq!(times.len(), 2000);
        for (index, (expected, ours)) in times.iter().zip(&responses.by_index).enumerate() {
            let ours = to_ms(ours.expect("a request that completed"));
            let expected: f64 = expected.parse().expect("a time");
            assert_eq!(printed(ours), expected, "{trace} request {index}");
        }
    }
}
