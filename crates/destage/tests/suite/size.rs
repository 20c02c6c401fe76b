//! Tests of devices whose size is chosen from the input, and of their results.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::sync::Mutex;

use destage::base::parameter::Value;
use destage::trace::{Operation, Request};
use destage::{
    Combination, Effort, Grid, Input, Progress, Record, Settings, Silent, Stage, compare, run,
};

/// Writes of one page each. The highest written page is the last of `pages` pages.
fn writes(pages: u64) -> Input {
    let request = |line: u32| Request {
        arrival: u64::from(line) * 10_000_000,
        sector: 8 * (pages - 1 - u64::from(line * 37) % pages.min(500)),
        sectors: 8,
        line,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let requests: Vec<_> = (0..3000).map(request).collect();
    Input::requests("writes", requests)
}

/// The settings of a device with two dies of two planes and with blocks of 8 pages, and then `pairs`.
fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    let shape = [
        "flash.dies=2",
        "flash.planes_per_die=2",
        "flash.pages_per_block=8",
        "buffer.capacity_bytes=64KiB",
    ];
    for pair in shape.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    settings
}

fn blocks(record: &Record) -> u64 {
    record.whole("flash.blocks_per_plane").unwrap()
}

fn result(settings: &Settings, input: &Input) -> destage::Outcome {
    let combination = Combination::new(settings).unwrap();
    let mut observer = destage::sim::observer::Silent;
    run(input, &combination, &Silent, &mut observer).unwrap()
}

#[test]
fn the_number_found_gives_the_same_results_when_it_is_given_back() {
    let input = writes(1500);
    let found = result(&settings(&[]), &input);
    assert_eq!(blocks(&found.record), 64);
    let sizing = found.manifest.inputs[0].sizing.unwrap();
    assert_eq!(sizing.blocks_per_plane, 64);
    assert_eq!(sizing.end_bytes, Some(1500 * 4096));
    assert_eq!(sizing.flash_bytes, 64 * 4 * 8 * 4096);

    let given = result(&settings(&["flash.blocks_per_plane=64"]), &input);
    assert_eq!(given.record.parameters, found.record.parameters);
    assert_eq!(given.record.metrics, found.record.metrics);
    assert_eq!(given.manifest.inputs[0].sizing, None);
}

#[test]
fn a_trace_is_not_folded_by_a_device_that_holds_it() {
    let input = writes(1500);
    let whole = result(&settings(&[]), &input);
    for map in ["modulo", "shrink"] {
        let folded = result(&settings(&[&format!("trace.addr_map={map}")]), &input);
        assert_eq!(folded.record.metrics, whole.record.metrics, "{map}");
    }
}

#[test]
fn combinations_on_one_input_have_one_size() {
    // Layers set different amounts of flash aside. In a single run, each layer therefore gets a different number of
    // blocks. In a comparison, all runs on one input get the largest of these numbers.
    let grid = Grid::new(settings(&[]))
        .buffers(["lru", "fifo", "belady"])
        .ftls(["page", "block", "fast"]);
    let inputs = [writes(1000), writes(3000)];
    let results = compare(&inputs, &grid.combinations().unwrap(), &Effort::default()).unwrap();
    assert_eq!(results.failed().count(), 0);
    let own = |ftl: &str, input: &Input| {
        let mut settings = settings(&[]);
        settings.set_kind("ftl", ftl).unwrap();
        blocks(&result(&settings, input).record)
    };
    for (input, runs) in inputs.iter().zip(results.runs.chunks(9)) {
        let largest = ["page", "block", "fast"].map(|ftl| own(ftl, input));
        let largest = largest.into_iter().max().unwrap();
        assert!(runs.iter().all(|run| blocks(run) == largest), "{largest}");
    }
    assert!(blocks(&results.runs[0]) < blocks(&results.runs[9]));
}

#[test]
fn a_combination_that_can_never_be_made_fails_alone() {
    let base = settings(&["flash.program_unit=2"]);
    let grid = Grid::new(base).ftls(["hybrid", "page"]);
    let results = compare(
        &[writes(1000)],
        &grid.combinations().unwrap(),
        &Effort::default(),
    )
    .unwrap();
    let failed: Vec<_> = results.runs.iter().map(|run| run.error.is_some()).collect();
    assert_eq!(failed, [true, false]);
    let word = results.runs[0].parameters.get("flash.blocks_per_plane");
    assert_eq!(word, Some(&Value::Text("auto".to_owned())));
    assert_eq!(blocks(&results.runs[1]), 64);
}

#[test]
fn a_prepared_device_has_the_size_of_its_input() {
    let grid = Grid::new(settings(&["sim.precondition=random_fill:1"])).buffers(["lru", "fifo"]);
    let inputs = [writes(1000), writes(3000), writes(1000)];
    let combinations = grid.combinations().unwrap();
    let results = compare(&inputs, &combinations, &Effort::default()).unwrap();
    assert_eq!(results.failed().count(), 0);
    for (input, runs) in inputs.iter().zip(results.runs.chunks(2)) {
        let alone = result(
            &settings(&["sim.precondition=random_fill:1", "buffer.kind=fifo"]),
            input,
        );
        assert_eq!(alone.record.metrics, runs[1].metrics);
    }
}

/// The number of requests read in each first pass. A report whose number does not exceed the last one begins a new
/// pass.
#[derive(Default)]
struct Passes(Mutex<Vec<u64>>);

impl Progress for Passes {
    fn report(&self, stage: Stage, done: u64, _: Option<u64>) -> bool {
        if stage == Stage::FirstPass {
            let mut passes = self.0.lock().unwrap();
            match passes.last_mut() {
                Some(last) if *last < done => *last = done,
                _ => passes.push(done),
            }
        }
        true
    }
}

#[test]
fn all_runs_of_an_input_share_one_first_pass() {
    let passes = Passes::default();
    let grid = Grid::new(settings(&[]))
        .buffers(["lru", "belady"])
        .ftls(["page", "fast"]);
    let effort = Effort {
        threads: 2,
        progress: &passes,
        ..Effort::default()
    };
    compare(
        &[writes(1000), writes(3000)],
        &grid.combinations().unwrap(),
        &effort,
    )
    .unwrap();
    assert_eq!(*passes.0.lock().unwrap(), [3000, 3000]);
    // If the size of the device is configured, the input is not read in advance.
    let passes = Passes::default();
    let combination = Combination::new(&settings(&["device.capacity_bytes=64MiB"])).unwrap();
    let mut observer = destage::sim::observer::Silent;
    run(&writes(1000), &combination, &passes, &mut observer).unwrap();
    assert_eq!(*passes.0.lock().unwrap(), [0_u64; 0]);
}

#[test]
fn each_layer_offers_the_capacity_that_was_asked_for() {
    let base = settings(&["device.capacity_bytes=64MiB"]);
    let grid = Grid::new(base).ftls(["page", "block", "fast", "none"]);
    let combinations = grid.combinations().unwrap();
    let results = compare(&[writes(1000)], &combinations, &Effort::default()).unwrap();
    assert_eq!(results.failed().count(), 0);
    // 64 MiB are 16384 pages. One block in each of the four planes holds 32 pages in total. Without a layer, 512
    // blocks in each plane are therefore enough. Layers need more blocks, because they set flash aside.
    let found: Vec<_> = results.runs.iter().map(blocks).collect();
    assert_eq!(found[3], 512);
    assert!(
        found.iter().all(|blocks| (512..700).contains(blocks)),
        "{found:?}"
    );
    assert!(found[0] > found[1], "{found:?}");
    for (combination, run) in combinations.iter().zip(&results.runs).take(3) {
        let blocks = blocks(run) as u32;
        let pages = |blocks| {
            let config = combination.config.with_blocks(blocks);
            let ftl = config.prepared_ftl(&mut destage::sim::observer::Silent);
            ftl.unwrap().pages()
        };
        assert!(pages(blocks) >= 16_384 && pages(blocks - 1) < 16_384);
    }
}

#[test]
fn an_input_that_can_be_read_once_gets_a_device_that_starts_at_once() {
    // The tests of the command line cover pipes. This test shows that no first pass is needed, and how many blocks
    // the device has without it.
    let combination = Combination::new(&settings(&[])).unwrap();
    let config = &combination.config;
    assert!(config.fits_input() && !config.needs_prepass());
    assert_eq!(config.lazy_blocks().unwrap(), 1 << 21);
}
