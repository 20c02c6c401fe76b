//! Tests of results in the formats of other programs: tables for documents, fio's JSON, and timelines.

use crate::common;

use std::collections::BTreeMap;

use common::Place;
use serde_json::Value;

const WORKLOAD: &str = "zipf:requests=1000,footprint_pages=500";

#[test]
fn the_table_of_a_curve_is_that_of_its_metric() {
    let place = Place::new();
    let curve = [
        "curve",
        "-w",
        WORKLOAD,
        "-b",
        "lru,fab",
        "-s",
        "64KiB,128KiB",
        "--metric",
        "buffer.write_hits",
        "-o",
        "c.md",
    ];
    place.succeed(&curve);
    let text = place.read("c.md");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    let head = "| buffer.write_hits by size | lru | fab |";
    assert_eq!(lines[0], head, "{text}");
    assert!(lines[2].starts_with("| 64 KiB | "), "{text}");
}

#[test]
fn tables_are_written_for_a_text() {
    let place = Place::new();
    let compare = [
        "compare",
        "-w",
        WORKLOAD,
        "-b",
        "lru,lru:lru_unit=request",
        "-s",
        "64KiB,128KiB",
    ];
    for name in ["t.md", "t.tex"] {
        place.succeed(&[&compare[..], &["-o", name]].concat());
    }
    let lines: Vec<String> = place.read("t.md").lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(
        lines[0].starts_with("| buffer | size | response mean ms | response p99 ms |"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("| --- | ---: |"), "{lines:?}");
    let latex = place.read("t.tex");
    assert!(
        latex.starts_with("\\begin{tabular}{lr")
            && latex.contains("lru:lru\\_unit=request & 64 KiB & "),
        "{latex}"
    );
    // `--columns` and `--sort` determine the columns and the order of the rows in files as well as on the terminal.
    place.succeed(
        &[
            &compare[..],
            &["--columns", "waf.host", "--sort", "-waf.host", "-o", "c.md"],
        ]
        .concat(),
    );
    let chosen = place.read("c.md");
    assert!(
        chosen.starts_with("| buffer | size | waf.host |\n"),
        "{chosen}"
    );
    let values: Vec<f64> = chosen
        .lines()
        .skip(2)
        .filter_map(|line| line.split('|').nth(3)?.trim().parse().ok())
        .collect();
    assert!(
        values.len() == 4 && values.is_sorted_by(|a, b| a >= b),
        "{values:?}"
    );
    // The table of a single run has one row for each metric.
    place.succeed(&["run", "-w", WORKLOAD, "-s", "64KiB", "-o", "r.md"]);
    let run = place.read("r.md");
    assert!(
        run.starts_with("| metric | value | unit |\n")
            && run.contains("| host.requests | 1,000 |  |"),
        "{run}"
    );
    place.succeed(&[
        "curve",
        "-w",
        WORKLOAD,
        "-b",
        "lru",
        "-s",
        "64KiB,128KiB",
        "-o",
        "v.md",
    ]);
    assert!(place.read("v.md").contains("| lru |"));
}

#[test]
fn responses_are_written_as_fio_does() {
    let place = Place::new();
    let workload = "mixed:requests=2000,footprint_pages=2000,random_pages=500";
    let run = [
        "run",
        "-w",
        workload,
        "-s",
        "256KiB",
        "--json",
        "--response-log",
        "r.csv",
        "--fio-json",
        "f.json",
    ];
    let metrics = place.json(&run)["metrics"].clone();
    let fio: Value = serde_json::from_str(&place.read("f.json")).unwrap();
    let job = &fio["jobs"][0];
    let log = place.read("r.csv");
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in log.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        times
            .entry(fields[5])
            .or_default()
            .push(1e6 * fields[2].parse::<f64>().unwrap());
    }
    for (operation, times) in &times {
        let said = &job[operation]["clat_ns"];
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        assert_eq!(said["N"], times.len());
        assert!(
            (said["mean"].as_f64().unwrap() - mean).abs() < 1e-6 * mean,
            "{operation}: {said}"
        );
        let most = times.iter().copied().fold(0.0, f64::max);
        assert_eq!(said["max"].as_u64().unwrap(), most as u64);
        let bins = said["bins"].as_object().unwrap().values();
        assert_eq!(
            bins.map(|count| count.as_u64().unwrap()).sum::<u64>(),
            times.len() as u64
        );
        let named = metrics[format!("response.{operation}.p99_ms")]
            .as_f64()
            .unwrap();
        let percentile = said["percentile"]["99.000000"].as_f64().unwrap() / 1e6;
        assert!(
            (percentile - named).abs() <= 0.03 * named,
            "{operation}: {percentile} and {named}"
        );
    }
    let shares = ["latency_ns", "latency_us", "latency_ms"];
    let shares = shares
        .iter()
        .flat_map(|name| job[name].as_object().unwrap().values());
    let sum: f64 = shares.map(|share| share.as_f64().unwrap()).sum();
    assert!((sum - 100.0).abs() < 1e-6, "{sum}");
    let outcome = place.run(&[
        "run",
        "-w",
        workload,
        "--ftl",
        "none",
        "--fio-json",
        "g.json",
    ]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .errors
            .contains("--fio-json g.json: this run has no response times"),
        "{}",
        outcome.errors
    );
}

#[test]
fn a_timeline_has_what_the_page_has() {
    let place = Place::new();
    let run = [
        "run",
        "-w",
        "zipf:requests=300,footprint_pages=300",
        "-b",
        "fab",
        "-s",
        "128KiB",
        "-q",
    ];
    let first = place.succeed(&[&run[..], &["--watch", "t.json"]].concat());
    let timeline: Value = serde_json::from_str(&place.read("t.json")).unwrap();
    let rows = timeline["traceEvents"].as_array().unwrap();
    let of = |phase: &str, process: u64| -> Vec<&Value> {
        rows.iter()
            .filter(|row| row["ph"] == phase && row["pid"] == process)
            .collect()
    };
    assert_eq!(of("X", 1).len(), 300, "requests");
    let destages = of("X", 2);
    assert!(!destages.is_empty() && destages.len() == of("s", 2).len());
    // Each arrow that has an end also has a start.
    let begun: Vec<&Value> = of("s", 2).iter().map(|row| &row["id"]).collect();
    let ended = of("f", 3);
    assert!(!ended.is_empty() && ended.iter().all(|row| begun.contains(&&row["id"])));
    // Events on one lane do not overlap.
    for process in 1..=3 {
        let mut lanes: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
        for row in of("X", process) {
            let begin = row["ts"].as_f64().unwrap();
            let span = (begin, begin + row["dur"].as_f64().unwrap());
            lanes
                .entry(row["tid"].as_u64().unwrap())
                .or_default()
                .push(span);
        }
        for (lane, mut spans) in lanes {
            spans.sort_by(|a, b| a.0.total_cmp(&b.0));
            let apart = spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-9);
            assert!(apart, "process {process}, lane {lane}");
        }
    }
    // Writing the timeline does not change the results, and equal runs write equal timelines.
    let text = place.read("t.json");
    let again = place.succeed(&[&run[..], &["--watch", "t.json"]].concat());
    let without = |text: &str| {
        text.lines()
            .filter(|line| !line.starts_with("wall time"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (without(&first), text),
        (without(&again), place.read("t.json"))
    );
}
