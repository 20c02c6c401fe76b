//! `destage curve` from the command line: what is wrong is said in one line.

mod common;

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
        outcome.errors.contains("expected --sizes"),
        "{}",
        outcome.errors
    );
    assert_eq!(curve(&["--buffers", "fab", "--sizes", "8KiB"]).status, 0);
    assert_eq!(curve(&["--buffers", "lru"]).status, 0);
}
