//! Tests of comparisons. A comparison gives the same results as single runs, with any number of threads. A run that
//! fails does not affect other runs.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::ThreadId;

use common::{mixture, settings};
use destage::{
    Combination, Effort, Error, Grid, Input, Metrics, Progress, Reading, Results, Silent, Stage,
    Value, compare, run,
};

fn threads(threads: usize) -> Effort<'static> {
    Effort {
        threads,
        progress: &Silent,
        ..Effort::default()
    }
}

fn metrics(results: &Results) -> Vec<Metrics> {
    results.runs.iter().map(|run| run.metrics.clone()).collect()
}

/// More requests than a batch of the decoder, so that runs pause between batches.
const MANY: u64 = 50_000;

#[test]
fn results_are_those_of_single_runs_for_any_number_of_threads() {
    // The grids cover simulations of events and of operation counts, closed and open loop, runs that stop early, and
    // two kinds of runs that have to know the requests in advance.
    let grids = [
        settings(&[]),
        settings(&["sim.costing=op_count", "sim.drain=true"]),
        settings(&["host.replay=closed", "host.queue_depth=3"]),
        settings(&["host.saturation=40", "host.time_scale=0.01"]),
        settings(&["host.scheduler=fifo", "buffer.kind=belady"]),
        settings(&["trace.addr_map=shrink", "flash.blocks_per_plane=12"]),
    ];
    for (index, base) in grids.into_iter().enumerate() {
        let mut grid = Grid::new(base).sizes(["8KiB", "64KiB"]);
        if index != 4 {
            grid = grid.buffers(["fifo", "lru"]);
        }
        let combinations = grid.combinations().unwrap();
        let input = Input::requests("requests", mixture(3, MANY));
        let alone: Vec<_> = combinations
            .iter()
            .map(|each| run(&input, each, &Silent, &mut destage::sim::observer::Silent).unwrap())
            .collect();
        let inputs = [input];
        for number in [1, 2, 5] {
            let together = compare(&inputs, &combinations, &threads(number)).unwrap();
            assert_eq!(together.runs.len(), alone.len());
            for (together, alone) in together.runs.iter().zip(&alone) {
                assert_eq!(together.metrics, alone.record.metrics, "grid {index}");
                assert_eq!(together.parameters, alone.record.parameters);
                assert!(together.error.is_none());
            }
        }
    }
}

#[test]
fn results_do_not_depend_on_how_often_an_input_is_read() {
    let combinations = Grid::new(settings(&["sim.precondition=random_fill:1"]))
        .buffers(["fifo", "lru", "bplru"])
        .sizes(["8KiB", "64KiB"])
        .combinations()
        .unwrap();
    let inputs = [3, 4].map(|seed| Input::requests("requests", mixture(seed, 20_000)));
    let once = compare(&inputs, &combinations, &Effort::default()).unwrap();
    for memory in [0, 3 << 20] {
        let effort = Effort {
            memory,
            ..Effort::default()
        };
        let often = compare(&inputs, &combinations, &effort).unwrap();
        assert_eq!(metrics(&often), metrics(&once));
        assert_eq!(often.manifest.inputs.len(), 2);
    }
}

#[test]
fn inputs_are_kept_apart() {
    let combinations = Grid::new(settings(&[]))
        .buffers(["fifo", "lru"])
        .sizes(["8KiB", "64KiB"])
        .combinations()
        .unwrap();
    let inputs: Vec<_> = (1..=4)
        .map(|seed| Input::requests(&format!("input {seed}"), mixture(seed, 20_000 / seed)))
        .collect();
    let all = compare(&inputs, &combinations, &threads(3)).unwrap();
    let names: Vec<_> = all
        .manifest
        .inputs
        .iter()
        .map(|facts| &*facts.name)
        .collect();
    assert_eq!(names, ["input 1", "input 2", "input 3", "input 4"]);
    for (index, input) in inputs.iter().enumerate() {
        let one = compare(std::slice::from_ref(input), &combinations, &threads(1)).unwrap();
        assert_eq!(metrics(&all)[4 * index..][..4], metrics(&one));
    }
}

/// Three devices, of which the second is too small for the requests.
fn three_devices() -> Vec<Combination> {
    ["64", "8", "32"]
        .map(|blocks| {
            let pair = format!("flash.blocks_per_plane={blocks}");
            Combination::new(&settings(&["buffer.kind=lru", &pair])).unwrap()
        })
        .into()
}

#[test]
fn a_run_that_fails_says_so_and_the_others_finish() {
    let input = [Input::requests("requests", mixture(3, MANY))];
    let results = compare(&input, &three_devices(), &threads(2)).unwrap();
    let failed: Vec<_> = results.runs.iter().map(|run| run.error.is_some()).collect();
    assert_eq!(failed, [false, true, false]);
    let run = &results.runs[1];
    let error = run.error.as_deref().unwrap();
    assert!(matches!(error, Error::DeviceFull(_)), "{error}");
    assert_eq!(run.metrics.iter().count(), 0);
    let blocks = run.parameters.get("flash.blocks_per_plane");
    assert_eq!(blocks, Some(&Value::Integer(8)));
    assert_eq!(
        results.runs[0]
            .metrics
            .get("host.requests")
            .unwrap()
            .as_f64(),
        MANY as f64
    );

    let json: serde_json::Value = serde_json::from_str(&results.to_json()).unwrap();
    assert_eq!(json["manifest"]["schema"], destage::SCHEMA);
    assert_eq!(json["runs"][1]["error"], error.to_string());
    assert!(json["runs"][0].get("error").is_none());
    let csv = results.to_csv();
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(",error"), "{csv}");
    assert!(lines.next().unwrap().ends_with(','), "{csv}");
    assert!(
        lines.next().unwrap().contains("ends beyond the device"),
        "{csv}"
    );
}

/// `last` does not fill the pages of a block in order. Preparing its device with program units would panic.
#[test]
fn a_device_whose_settings_exclude_each_other_is_not_prepared() {
    let base = settings(&["flash.program_unit=2", "sim.precondition=random_fill:1"]);
    let grid = Grid::new(base).buffers(["lru", "fifo"]);
    let combinations = grid.ftls(["last", "page"]).combinations().unwrap();
    let input = [Input::requests("requests", mixture(3, 100))];
    let results = compare(&input, &combinations, &threads(2)).unwrap();
    for run in &results.runs {
        let error = run.error.as_ref().map(ToString::to_string);
        match run.ftl.as_str() {
            "last" => assert!(
                error
                    .as_ref()
                    .unwrap()
                    .starts_with("flash.program_unit = 2"),
                "{error:?}"
            ),
            _ => assert_eq!(error, None),
        }
    }
}

#[test]
fn where_every_run_fails_nobody_reads_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.disksim");
    let beyond = "0.0 0 999999999 8 0\n";
    // The last line would be an error if it were read.
    let text = beyond.to_owned() + &"1.0 0 0 8 0\n".repeat(200_000) + "no line of a trace\n";
    std::fs::write(&path, text).unwrap();
    let results = compare(&[Input::trace(&path)], &three_devices(), &threads(2)).unwrap();
    assert_eq!(results.failed().count(), 3);
    assert_eq!(results.manifest.inputs[0].digest, None);
}

#[test]
fn a_bad_line_ends_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.disksim");
    std::fs::write(
        &path,
        "1.0 0 0 8 0\n".repeat(60_000) + "no line of a trace\n",
    )
    .unwrap();
    let combinations = Grid::new(settings(&[]))
        .buffers(["fifo", "lru"])
        .combinations()
        .unwrap();
    let error = compare(&[Input::trace(&path)], &combinations, &threads(2)).unwrap_err();
    assert!(matches!(error, Error::Trace(_)), "{error}");
    assert!(error.to_string().contains("60001"), "{error}");

    // If bad lines are skipped, this line is counted.
    let reading = Reading {
        skip_bad_lines: true,
        ..Reading::default()
    };
    let input = Input::trace(&path).read(reading).unwrap();
    let results = compare(&[input], &combinations, &threads(2)).unwrap();
    assert_eq!(results.manifest.inputs[0].skipped_lines, 1);
    assert!(results.manifest.inputs[0].digest.is_some());
}

#[test]
fn a_missing_file_is_found_before_the_others_are_read() {
    let inputs = [
        Input::requests("requests", mixture(3, MANY)),
        Input::trace("there is no such file"),
    ];
    let error = compare(&inputs, &three_devices(), &Effort::default()).unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}

#[test]
fn runs_of_one_comparison_read_alike() {
    let mut combinations = three_devices();
    combinations.push(Combination::new(&settings(&["trace.time_unit=us"])).unwrap());
    let input = [Input::requests("requests", mixture(3, 10))];
    let error = compare(&input, &combinations, &Effort::default()).unwrap_err();
    assert!(matches!(error, Error::Input(_)), "{error}");
    assert!(error.to_string().contains("trace.time_unit"), "{error}");
}

/// Stops after `stop_at` simulated requests. Records the threads, the number of times that devices were filled, and
/// the expected number of requests.
#[derive(Default)]
struct Watching {
    stop_at: Option<u64>,
    threads: Mutex<HashSet<ThreadId>>,
    fillings: Mutex<u32>,
    expected: Mutex<Option<u64>>,
}

impl Progress for Watching {
    fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool {
        self.threads
            .lock()
            .unwrap()
            .insert(std::thread::current().id());
        match stage {
            Stage::Preparation if done == 0 => *self.fillings.lock().unwrap() += 1,
            Stage::Simulation => *self.expected.lock().unwrap() = expected,
            _ => {}
        }
        stage != Stage::Simulation || self.stop_at.is_none_or(|end| done < end)
    }
}

#[test]
fn whoever_watches_can_stop_it() {
    let watching = Watching {
        stop_at: Some(30_000),
        ..Watching::default()
    };
    let effort = Effort {
        threads: 2,
        progress: &watching,
        ..Effort::default()
    };
    let combinations = Grid::new(settings(&[]))
        .buffers(["fifo", "lru"])
        .combinations()
        .unwrap();
    let input = [Input::requests("requests", mixture(3, MANY))];
    let error = compare(&input, &combinations, &effort).unwrap_err();
    assert!(matches!(error, Error::Interrupted), "{error}");
    assert_eq!(*watching.expected.lock().unwrap(), Some(2 * MANY));
}

#[test]
fn no_more_threads_than_runs() {
    let watching = Watching::default();
    let effort = Effort {
        threads: 10_000,
        progress: &watching,
        ..Effort::default()
    };
    let input = [Input::requests("requests", mixture(3, MANY))];
    compare(&input, &three_devices(), &effort).unwrap();
    assert!(watching.threads.lock().unwrap().len() <= 3);
}

#[test]
fn a_device_is_filled_at_random_once_and_copied() {
    let base = settings(&["sim.precondition=random_fill:2"]);
    let combinations = Grid::new(base)
        .buffers(["nocache", "fifo", "lru"])
        .sizes(["8KiB", "64KiB"])
        .ftls(["page", "page:reserve_percent=20"])
        .combinations()
        .unwrap();
    assert_eq!(combinations.len(), 10);
    let inputs = [3, 4].map(|seed| Input::requests("requests", mixture(seed, 3000)));
    let watching = Watching::default();
    let effort = Effort {
        threads: 2,
        progress: &watching,
        ..Effort::default()
    };
    let results = compare(&inputs, &combinations, &effort).unwrap();
    // For each translation layer, one device is filled, and all runs with this layer copy it.
    assert_eq!(*watching.fillings.lock().unwrap(), 2);
    for (index, each) in combinations.iter().enumerate() {
        let alone = run(
            &inputs[1],
            each,
            &Silent,
            &mut destage::sim::observer::Silent,
        )
        .unwrap();
        assert_eq!(results.runs[10 + index].metrics, alone.record.metrics);
    }
}
