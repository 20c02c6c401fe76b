//! Tests that the statistics of an input, read as by a run, equal values that were counted by hand.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage::sim::metrics;
use destage::trace::statistics::StatisticRow;
use destage::trace::{Operation, Request};
use destage::{
    CurvePlan, Effort, Input, Inspection, Metrics, Number, Reading, Settings, curve, trace_metrics,
};
use destage_base::Random;

fn request(arrival: u64, operation: Operation, sector: u64, sectors: u32) -> Request {
    Request {
        arrival,
        sector,
        sectors,
        operation,
        ..Request::BLANK
    }
}

/// A write of half a page across a page boundary, a read, the first write again, and a write of one page at another
/// address.
fn requests() -> Vec<Request> {
    vec![
        request(0, Operation::Write, 6, 4),
        request(0, Operation::Read, 0, 8),
        request(10, Operation::Write, 6, 4),
        request(20, Operation::Write, 80, 8),
    ]
}

fn metrics_of(pairs: &[&str], reading: Reading) -> Metrics {
    let mut settings = Settings::new();
    for pair in ["flash.pages_per_block=4", "flash.summary_page=false"]
        .iter()
        .chain(pairs)
    {
        settings.set_pair(pair).unwrap();
    }
    let input = Input::requests("made", requests()).read(reading).unwrap();
    trace_metrics(&input, &settings.resolve().unwrap()).unwrap()
}

fn whole(metrics: &Metrics, name: &str) -> u64 {
    match metrics.get(name) {
        Some(Number::Integer(number)) => number,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn pages_are_those_of_a_run() {
    let cover = metrics_of(&[], Reading::default());
    assert_eq!(whole(&cover, "trace.requests"), 4);
    assert_eq!(whole(&cover, "trace.written_pages"), 5);
    assert_eq!(whole(&cover, "trace.unique_written_pages"), 3);
    assert_eq!(whole(&cover, "trace.written_blocks"), 2);
    assert_eq!(
        cover.get("trace.zero_gap_share"),
        Some(Number::Real(1.0 / 3.0))
    );
    assert_eq!(whole(&cover, "trace.pird.p50"), 1);
    assert_eq!(
        cover.get("trace.pird.share_within_200"),
        Some(Number::Real(1.0))
    );
    // Half a page is rounded up to one page.
    let nearest = metrics_of(&["trace.align=nearest"], Reading::default());
    assert_eq!(whole(&nearest, "trace.written_pages"), 3);
    let large = metrics_of(&["flash.page_bytes=8KiB"], Reading::default());
    assert_eq!(whole(&large, "trace.written_pages"), 3);
    let blocks = metrics_of(&["flash.pages_per_block=16"], Reading::default());
    assert_eq!(whole(&blocks, "trace.written_blocks"), 1);
}

#[test]
fn only_what_is_read_counts() {
    let writes = Reading {
        writes_only: true,
        skip: 1,
        limit: Some(2),
        ..Reading::default()
    };
    let metrics = metrics_of(&[], writes);
    assert_eq!(whole(&metrics, "trace.requests"), 1);
    assert_eq!(whole(&metrics, "trace.written_pages"), 2);
    assert_eq!(metrics.get("trace.pird.p50"), None);
    assert_eq!(metrics.get("trace.read_mean_bytes"), None);
}

#[test]
fn disks_of_an_array_share_a_workload_out() {
    let workload = "uniform:requests=3000,footprint_pages=5000";
    let metrics = |pairs: &[&str]| {
        let mut settings = Settings::new();
        for pair in ["trace.flush_every_writes=100"].iter().chain(pairs) {
            settings.set_pair(pair).unwrap();
        }
        let input = Input::workload(workload, &[]).unwrap();
        trace_metrics(&input, &settings.resolve().unwrap()).unwrap()
    };
    let whole_trace = metrics(&[]);
    let members: Vec<Metrics> = (0..3)
        .map(|member| {
            let member = format!("trace.array_member={member}");
            metrics(&["trace.array_members=3", &member])
        })
        .collect();
    for name in ["trace.bytes_written", "trace.unique_written_pages"] {
        let sum: u64 = members.iter().map(|metrics| whole(metrics, name)).sum();
        assert_eq!(sum, whole(&whole_trace, name), "{name}");
    }
    for metrics in members {
        assert_eq!(whole(&metrics, "trace.flushes"), 30);
        assert!(whole(&metrics, "trace.sector_end") < 15_000);
    }
}

#[test]
fn names_are_listed_and_are_no_metrics_of_runs() {
    let metrics = metrics_of(&[], Reading::default());
    for (name, _) in metrics.iter() {
        assert!(
            StatisticRow::all().any(|row| row.metric() == name),
            "{name}"
        );
        let refusal = metrics::require(name).unwrap_err().to_string();
        assert!(refusal.contains("describes an input"), "{refusal}");
    }
}

#[test]
fn a_block_without_a_page_is_refused() {
    let mut settings = Settings::new();
    for pair in ["flash.pages_per_block=1", "flash.summary_page=true"] {
        settings.set_pair(pair).unwrap();
    }
    let input = Input::requests("made", requests());
    let refusal = trace_metrics(&input, &settings.resolve().unwrap()).unwrap_err();
    let text = refusal.to_string();
    assert!(text.contains("pages_per_block = 1"), "{text}");
}

#[test]
fn stack_distances_are_what_lru_absorbs() {
    let mut settings = Settings::new();
    let pairs = [
        "ftl.kind=none",
        "buffer.kind=lru",
        "flash.summary_page=false",
    ];
    for pair in pairs {
        settings.set_pair(pair).unwrap();
    }
    let config = settings.resolve().unwrap();
    let mut random = Random::new(11);
    let writes: Vec<Request> = (0..4000)
        .map(|at| {
            let page = random.below(300).min(random.below(900));
            request(
                at,
                Operation::Write,
                8 * page,
                8 * (1 + random.below(6) as u32),
            )
        })
        .collect();
    let mut inspection = Inspection::new(&config).unwrap();
    inspection.add(&writes);
    let plan = CurvePlan {
        settings,
        buffers: None,
        sizes: None,
        sampling: None,
    };
    let input = Input::requests("made", writes);
    let curves = curve(&input, &plan, &Effort::default()).unwrap();
    let mut compared = 0;
    for (distance, rewrites) in inspection.shape.distances.stack.cumulative() {
        let bytes = (distance + 1) * config.typed.flash.page_bytes;
        let Some(point) = curves.curves[0].at(bytes) else {
            continue;
        };
        assert_eq!(whole(&point.metrics, "buffer.write_hits"), rewrites);
        compared += 1;
    }
    assert!(compared > 6, "{compared} sizes");
}
