//! Tests of `destage curve` on the command line. Each error must be one line.

use crate::common;

use common::Place;

#[test]
fn what_is_wrong_is_said() {
    let place = Place::new();
    let workload = [
        "curve",
        "--workload",
        "zipf:requests=100,footprint_pages=50",
    ];
    for (more, text) in [
        (&["--metric", "buffer.destages"][..], "--metric: "),
        (&["--sizes", "1MiB..4KiB"], "--sizes \"1MiB..4KiB\""),
        (&["--buffers", "lrv"], "lrv"),
        (&["--size", "4MiB", "--sizes", "4MiB"], "--size"),
        (&["--size", "4MiB"], "--size \"4MiB\""),
        (&["--sample", "some"], "--sample \"some\": expected a share"),
        (&["--sample", "0"], "--sample \"0\": expected a share"),
        (&["--error", "much"], "--error \"much\": expected percent"),
        (&["--sample", "1%", "--error", "5%"], "cannot be used with"),
        (&["--sample", "1%", "--salts", "99"], "--salts 99: expected"),
        (&["--salts", "4"], "<--sample <RATE>|--error <PERCENT>>"),
        (
            &["--sample", "1%", "--metric", "response.mean_ms"],
            "cannot be sampled",
        ),
    ] {
        let arguments: Vec<&str> = workload.iter().chain(more).copied().collect();
        let outcome = place.run(&arguments);
        assert_eq!(outcome.status, 2, "{more:?}: {}", outcome.errors);
        assert!(
            outcome.errors.contains(text),
            "{more:?}: {}",
            outcome.errors
        );
    }
}

#[test]
fn a_sampled_table_has_intervals() {
    let place = Place::new();
    let outcome = place.run(&[
        "curve",
        "--workload",
        "zipf:requests=20000,footprint_pages=20000",
        "--buffers",
        "lru,fab",
        "--sizes",
        "1MiB..32MiB",
        "--sample",
        "0.125",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let lines: Vec<&str> = outcome.output.lines().collect();
    let of = |size: &str| {
        let line = lines
            .iter()
            .find(|line| line.trim_start().starts_with(size));
        (*line.unwrap()).to_owned()
    };
    assert!(of("1 MiB").trim_end().ends_with('-'), "{}", outcome.output);
    assert_eq!(
        of("32 MiB").matches(" to ").count(),
        2,
        "{}",
        outcome.output
    );
    assert!(
        outcome
            .output
            .contains("8 samples, each with 12.50 % of the addresses")
    );
}

#[test]
fn a_trace_that_can_be_read_once_needs_sizes_for_runs() {
    let place = Place::new();
    let trace = "0 0 0 8 0\n1 0 8 8 0\n2 0 0 8 0\n";
    let curve = |more: &[&str]| {
        let arguments: Vec<&str> = ["curve", "-", "--format", "disksim"]
            .iter()
            .chain(more)
            .copied()
            .collect();
        place.run_with(&arguments, trace.as_bytes())
    };
    let outcome = curve(&["--buffers", "fab"]);
    assert_eq!(outcome.status, 2, "{}", outcome.errors);
    assert!(
        outcome.errors.contains("expected a list of sizes"),
        "{}",
        outcome.errors
    );
    assert_eq!(curve(&["--buffers", "fab", "--sizes", "8KiB"]).status, 0);
    assert_eq!(curve(&["--buffers", "lru"]).status, 0);
}

#[test]
fn a_metric_that_no_size_has_is_said_to_be_missing() {
    let place = Place::new();
    let said = |more: &[&str]| {
        let workload = "zipf:requests=500,footprint_pages=50";
        let first = ["curve", "--workload", workload, "--sizes", "64KiB"];
        let text = place.succeed(&[&first, more].concat());
        assert!(!text.contains("auto"), "{text}");
        let line = text.lines().find(|line| line.starts_with("No size has "));
        line.map(str::to_owned)
    };
    for (more, because) in [
        (
            &["--metric", "response.mean_ms"][..],
            "response.mean_ms: without --ftl there is no flash, and no time passes.",
        ),
        (
            &["--metric", "buffer.oldest_dirty_ms_max"],
            "buffer.oldest_dirty_ms_max: one pass over all sizes does not give it.",
        ),
        (
            &["--metric", "ftl.merges.full", "--ftl", "page"],
            "ftl.merges.full: there is nothing to measure it on.",
        ),
    ] {
        assert_eq!(
            said(more),
            Some(format!("No size has {because}")),
            "{more:?}"
        );
    }
    assert_eq!(
        said(&["--metric", "response.mean_ms", "--ftl", "page"]),
        None
    );
    assert_eq!(
        said(&[
            "--metric",
            "buffer.oldest_dirty_ms_max",
            "--buffers",
            "lru,fab"
        ]),
        None
    );
}

/// Estimates whose intervals overlap, or that have no intervals, do not tell which scheme is better.
#[test]
fn estimates_that_overlap_are_not_ranked() {
    let place = Place::new();
    let curve = [
        "curve",
        "-w",
        "zipf:requests=10000,footprint_pages=20000",
        "-b",
        "lru,fab",
        "-s",
        "64MiB,96MiB",
        "--sample",
        "12%",
        "-m",
        "buffer.write_hits_percent",
    ];
    for salts in ["1", "2"] {
        let outcome = place.run(&[&curve[..], &["--salts", salts]].concat());
        let text = format!("{}{}", outcome.output, outcome.errors);
        assert!(
            text.contains("the samples do not tell which scheme"),
            "{text}"
        );
    }
}

/// A remainder smaller than a page is not used, but the size is the one that was asked for, as in a run.
#[test]
fn one_pass_keeps_the_sizes_that_were_asked_for() {
    let place = Place::new();
    let workload = ["-w", "zipf:requests=500,footprint_pages=50", "--json", "-q"];
    let curve = ["curve", "--sizes", "4097,4096,10000"];
    let curve = place.json(&[&curve[..], &workload].concat());
    let points = curve["curves"][0]["points"].as_array().unwrap();
    let of = |name: &str| -> Vec<u64> {
        points
            .iter()
            .map(|point| point[name].as_u64().unwrap())
            .collect()
    };
    assert_eq!(of("bytes"), [4096, 4097, 10_000]);
    assert_eq!(of("pages"), [1, 1, 2]);
    let run = ["run", "--ftl", "none", "--size", "10000"];
    let run = place.json(&[&run[..], &workload].concat());
    assert_eq!(run["parameters"]["buffer.capacity_bytes"], 10_000);
    assert_eq!(
        of("buffer.write_hits")[2],
        run["metrics"]["buffer.write_hits"]
    );
}

/// The largest default size holds all pages that may enter a buffer.
#[test]
fn default_sizes_reach_what_is_read_for_schemes_that_buffer_reads() {
    let place = Place::new();
    let last = |buffer: &str| {
        let curve = [
            "curve",
            "-w",
            "uniform:requests=3000,footprint_pages=2000,write_percent=20",
            "--json",
            "-q",
            "--buffers",
            buffer,
        ];
        let curve = place.json(&curve);
        let points = curve["curves"][0]["points"].as_array().unwrap();
        let last = points.last().unwrap();
        (
            last["pages"].as_u64().unwrap(),
            last["buffer.evictions"].as_u64().unwrap(),
        )
    };
    let (written, _) = last("fifo");
    let (all, evictions) = last("cflru");
    assert!(all > written, "{all} {written}");
    assert_eq!(evictions, 0);
}
