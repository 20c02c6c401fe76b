//! Tests of the logs of a run, with an example that is small enough to check by hand.

use crate::common;

use common::{Place, TINY, page_writes};

/// Fourteen writes of different pages. The device has 16 blocks of 4 pages, and the buffer has 8 pages.
const PAGES: [u64; 14] = [0, 4, 8, 12, 16, 1, 5, 9, 13, 17, 2, 6, 10, 14];

fn column(log: &str, index: usize) -> Vec<String> {
    log.lines()
        .skip(1)
        .map(|line| line.split(',').nth(index).unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn lru_destages_in_the_order_of_the_last_writes() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&PAGES));
    let options = [
        "--buffer",
        "lru",
        "--set",
        "sim.drain=true",
        "--destage-log",
        "d.csv",
        "--json",
    ];
    let document = place.json(&[&["run", "t.disksim"], &TINY[..], &options].concat());
    let log = place.read("d.csv");
    assert_eq!(
        log.lines().next(),
        Some("time_ms,cause,pages,pad_reads,pad_fills")
    );
    let expected = ["evict"; 6]
        .iter()
        .chain(&["drain"; 8])
        .map(|cause| (*cause).to_owned());
    assert_eq!(column(&log, 1), expected.collect::<Vec<_>>());
    let pages: Vec<_> = column(&log, 2)
        .iter()
        .map(|page| page.parse::<u64>().unwrap())
        .collect();
    assert_eq!(pages, PAGES);
    assert!(
        log.lines().skip(1).all(|line| line.ends_with(",0,0")),
        "{log}"
    );
    let (_, decimals) = column(&log, 0)[0]
        .split_once('.')
        .map(|(a, b)| (a.to_owned(), b.len()))
        .unwrap();
    assert_eq!(decimals, 7);
    assert_eq!(document["metrics"]["buffer.evictions"], 6);
    assert_eq!(document["metrics"]["buffer.destaged_pages"], 14);
}

#[test]
fn pages_in_a_row_are_written_as_runs() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 32 0\n1.0 0 64 8 0\n");
    let options = [
        "--buffer",
        "lru:lru_unit=request",
        "--set",
        "sim.drain=true",
    ];
    let log = ["--destage-log", "d.csv"];
    place.succeed(&[&["run", "t.disksim"], &TINY[..], &options, &log].concat());
    assert_eq!(column(&place.read("d.csv"), 2), ["0-3", "8"]);
}

#[test]
fn responses_are_in_the_order_of_the_trace() {
    let place = Place::new();
    // Reads and writes of distant pages arrive at the same time. They complete in an order other than the order of the
    // trace.
    let lines: String = (0..200)
        .map(|index| {
            format!(
                "{}.0 0 {} 8 {}\n",
                index / 50,
                (index * 7919) % 4000 * 8,
                index % 2
            )
        })
        .collect();
    place.write("t.disksim", lines);
    place.succeed(&[
        "run",
        "t.disksim",
        "--size",
        "64KiB",
        "--response-log",
        "r.csv",
    ]);
    let log = place.read("r.csv");
    assert_eq!(
        log.lines().next(),
        Some("index,arrival_ms,response_ms,sector,sectors,op")
    );
    let expected: Vec<_> = (0..200).map(|index| index.to_string()).collect();
    assert_eq!(column(&log, 0), expected);
    assert_eq!(column(&log, 1)[50], "1.0000000");
    assert!(
        column(&log, 2)
            .iter()
            .all(|time| time.split_once('.').unwrap().1.len() == 7)
    );
    assert_eq!(column(&log, 3)[1], (7919 % 4000 * 8).to_string());
    assert_eq!(column(&log, 4)[0], "8");
    assert_eq!(column(&log, 5)[..2], ["write", "read"]);
}

#[test]
fn the_mean_of_the_log_is_the_metric() {
    let place = Place::new();
    let options = [
        "--workload",
        "mixed:requests=2000",
        "--response-log",
        "r.csv",
        "--json",
    ];
    let document = place.json(&[&["run"], &options[..]].concat());
    let times: Vec<f64> = column(&place.read("r.csv"), 2)
        .iter()
        .map(|time| time.parse().unwrap())
        .collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let metric = document["metrics"]["response.mean_ms"].as_f64().unwrap();
    assert!((mean - metric).abs() < 1e-9 * metric, "{mean} {metric}");
}

#[test]
fn a_page_to_watch_does_not_change_results_and_is_written_whole_or_not_at_all() {
    let place = Place::new();
    let options = [
        "run",
        "--workload",
        "mixed:requests=300",
        "--size",
        "256KiB",
    ];
    let without = place.json(&[&options[..], &["--json"]].concat());
    let watched = place.json(&[&options[..], &["--json", "--watch", "w.html"]].concat());
    assert_eq!(without["metrics"], watched["metrics"]);
    let page = place.read("w.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(
        page.contains("<title>lru at work on mixed:requests=300</title>"),
        "{}",
        &page[..400]
    );
    for (more, expected) in [
        (
            &["--size", "32MiB"][..],
            "a buffer of 8192 pages is too large to be drawn; expected at most 4096 pages",
        ),
        (
            &["--set", "sim.costing=op_count"],
            "sim.costing = op_count: without a clock there are no moments to watch; expected sim.costing = event",
        ),
        (&["-o", "x.html"], "x.html"),
    ] {
        let workload = [
            "run",
            "--workload",
            "mixed:requests=300",
            "--watch",
            "x.html",
        ];
        let outcome = place.run(&[&workload[..], more].concat());
        assert_eq!(outcome.status, 2, "{more:?}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
        assert!(
            !place.files().iter().any(|name| name.starts_with("x.html")),
            "{:?}",
            place.files()
        );
    }
}

#[test]
fn an_ending_that_names_no_form_of_a_watched_run_is_refused() {
    let place = Place::new();
    for file in ["w.svg", "w", "w.csv", "w.html.txt"] {
        let watch = [
            "run",
            "--workload",
            "mixed:requests=300",
            "--size",
            "256KiB",
            "--watch",
            file,
        ];
        let outcome = place.run(&watch);
        assert_eq!(outcome.status, 2, "{file}");
        let expected = format!(
            "--watch {file}: the ending names no form of a run to watch; expected .html or .json"
        );
        assert!(outcome.errors.contains(&expected), "{}", outcome.errors);
        assert_eq!(place.files(), [""; 0]);
    }
}

#[test]
fn logs_do_not_change_results() {
    let place = Place::new();
    let options = ["run", "--workload", "mixed:requests=2000", "--json"];
    let logs = ["--response-log", "r.csv", "--destage-log", "d.csv"];
    let without = place.json(&options);
    let with = place.json(&[&options[..], &logs].concat());
    assert_eq!(without["metrics"], with["metrics"]);
}

#[test]
fn erases_are_listed_for_every_block_and_add_up() {
    let place = Place::new();
    place.write(
        "t.disksim",
        page_writes(&(0..200).map(|index| index * 7 % 48).collect::<Vec<_>>()),
    );
    for ftl in ["page:reserve_percent=20", "bast:log_blocks=2"] {
        for costing in ["sim.costing=event", "sim.costing=op_count"] {
            let options = ["--ftl", ftl, "--set", costing, "--buffer", "nocache"];
            let log = ["--erase-log", "e.csv", "--json"];
            let result = place.json(&[&["run", "t.disksim"], &TINY[..], &options, &log].concat());
            let text = place.read("e.csv");
            assert!(text.starts_with("die,block,erases\n0,0,"), "{text}");
            let erases: u64 = column(&text, 2)
                .iter()
                .map(|count| count.parse::<u64>().expect("a count"))
                .sum();
            assert_eq!(text.lines().count(), 17, "{ftl}");
            assert_eq!(result["metrics"]["flash.erases"], erases, "{ftl} {costing}");
            assert!(erases > 0, "{ftl}");
        }
    }
}
