//! Tests that each point of a curve over the buffer size equals a run with this size.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::trace::{Operation, Request};
use destage::{CurvePlan, Effort, Grid, Input, Record, Settings, compare, curve};
use serde_json::Value;

fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    settings
}

fn workload() -> Input {
    let text =
        "zipf:requests=20000,footprint_pages=3000,cluster_pages=4,max_pages=4,write_percent=80";
    Input::workload(text, &[]).unwrap()
}

fn plan(buffers: &[&str], sizes: Option<&[&str]>, pairs: &[&str]) -> CurvePlan {
    let owned = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect();
    CurvePlan {
        settings: settings(pairs),
        buffers: Some(owned(buffers)),
        sizes: sizes.map(owned),
        sampling: None,
    }
}

/// The metrics of `record` except `buffer.oldest_dirty_ms_max`, which a run has but one pass does not compute.
fn without_age(record: &Record) -> Vec<(String, f64)> {
    let metrics = record.metrics.iter();
    metrics
        .filter(|(name, _)| *name != "buffer.oldest_dirty_ms_max")
        .map(|(name, number)| (name.to_owned(), number.as_f64()))
        .collect()
}

#[test]
fn every_point_equals_its_run() {
    let extra = ["trace.flush_every_writes=900", "trace.trim_every_writes=40"];
    let buffers = ["lru", "fab", "nocache"];
    let curves = curve(
        &workload(),
        &plan(&buffers, None, &extra),
        &Effort::default(),
    )
    .unwrap();
    assert!(curves.sizes.len() > 8, "{:?}", curves.sizes);
    assert_eq!(curves.curves.len(), 3);
    assert!(curves.curves[0].has_every_size() && !curves.curves[1].has_every_size());
    // Sizes that the curve does not show are compared as well.
    let mut sizes = curves.sizes.clone();
    sizes.extend([1, 77, 500].map(|pages| pages * 4096));
    sizes.sort_unstable();
    for of_curve in &curves.curves {
        for bytes in &sizes {
            let Some(point) = of_curve.at(*bytes) else {
                assert!(!curves.sizes.contains(bytes), "{} {bytes}", of_curve.buffer);
                continue;
            };
            let mut pairs = vec!["ftl.kind=none"];
            pairs.extend(extra);
            let grid = Grid::new(settings(&pairs)).buffers([of_curve.buffer.clone()]);
            let combinations = grid.sizes([bytes.to_string()]).combinations().unwrap();
            let runs = compare(&[workload()], &combinations, &Effort::default())
                .unwrap()
                .runs;
            assert_eq!(
                without_age(&point),
                without_age(&runs[0]),
                "{} {bytes}",
                of_curve.buffer
            );
        }
    }
}

#[test]
fn with_flash_there_are_runs_alone() {
    let sizes: &[&str] = &["256KiB..1MiB"];
    let plan = plan(&["lru", "bplru"], Some(sizes), &["ftl.kind=page"]);
    let curves = curve(&workload(), &plan, &Effort::default()).unwrap();
    assert_eq!(curves.sizes, [1 << 18, 1 << 19, 1 << 20]);
    for of_curve in &curves.curves {
        assert!(!of_curve.has_every_size());
        let points: Vec<_> = of_curve.points().collect();
        assert_eq!(points.len(), 3);
        assert!(
            points
                .iter()
                .all(|point| point.metrics.get("flash.erases").is_some())
        );
    }
}

#[test]
fn the_json_has_every_size_at_which_something_changes_if_all_are_asked_for() {
    let json = |buffers: &[&str], sizes: Option<&[&str]>| {
        let curves = curve(&workload(), &plan(buffers, sizes, &[]), &Effort::default()).unwrap();
        let json: Value = serde_json::from_str(&curves.to_json()).unwrap();
        (json, curves.sizes)
    };
    let (all, shown) = json(&["lru"], Some(&["all"]));
    let (some, sizes) = json(&["lru", "fifo"], None);
    assert_eq!(shown, sizes);
    assert!(sizes.len() <= 24, "{sizes:?}");
    for of in some["curves"].as_array().unwrap() {
        assert_eq!(of["points"].as_array().unwrap().len(), sizes.len());
    }
    let (lru, fifo) = (&all["curves"][0], &some["curves"][1]);
    assert_eq!(
        (&lru["buffer"], &lru["exact"]),
        (&"lru".into(), &true.into())
    );
    assert_eq!(
        lru["host"]["host.page_writes"],
        fifo["host"]["host.page_writes"]
    );
    let points = lru["points"].as_array().unwrap();
    assert!(points.len() > 1000, "{}", points.len());
    assert_eq!(points[0]["pages"], 1);
    assert_eq!(points[0]["bytes"], 4096);
    let hits = |point: &Value| point["buffer.write_hits"].as_u64().unwrap();
    assert!(
        points
            .windows(2)
            .all(|pair| hits(&pair[0]) <= hits(&pair[1]))
    );
    for (buffers, why) in [
        (["lru", "fab"], "fab needs a run for each size"),
        (["fifo", "lru"], "fifo"),
    ] {
        let refused = plan(&buffers, Some(&["all"]), &[]);
        let error = curve(&workload(), &refused, &Effort::default())
            .err()
            .unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
    // If the plan requests two sizes, the curve has only these two points.
    let asked = plan(&["lru"], Some(&["64KiB", "128KiB"]), &[]);
    let curves = curve(&workload(), &asked, &Effort::default()).unwrap();
    assert_eq!(curves.curves[0].points().count(), 2);
}

/// The example of docs/CURVES.md, in which a larger buffer has fewer hits than a smaller one.
#[test]
fn a_larger_buffer_may_do_worse() {
    let write = |page: u64| Request {
        sector: page * 8,
        sectors: 8,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let input = Input::requests("writes", [0, 2, 1, 3, 1].map(write));
    let geometry = ["flash.pages_per_block=2", "flash.summary_page=false"];
    let plan = plan(&["fab"], Some(&["8KiB", "12KiB"]), &geometry);
    let curves = curve(&input, &plan, &Effort::default()).unwrap();
    let points = curves.curves[0].points();
    let hits: Vec<_> = points
        .map(|point| point.metric("buffer.write_hits").unwrap())
        .collect();
    assert_eq!(hits, [Some(1.0), Some(0.0)]);
}
