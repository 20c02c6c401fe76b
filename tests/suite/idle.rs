//! Tests idle work in the event model. The cache has 4 lines in 2 sets over 2 packages, and pages 0 2 2 4 1 are
//! written.
//!
//! Page 0 is evicted when page 4 arrives. After the writes, pages 2 (written twice), 4 and 1 are dirty, in the
//! order of their last write.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_buffer::Destage;
use destage_sim::observer::Observer;
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// Time in us, cause and pages of each destage record.
#[derive(Default)]
struct Records(Vec<(u64, &'static str, Vec<u64>)>);

impl Observer for Records {
    fn wants_destages(&self) -> bool {
        true
    }
    fn destage(&mut self, now: Ticks, record: &Destage) {
        let pages = record.pages.iter().map(|dirty| dirty.page.0).collect();
        self.0
            .push((now / TICKS_PER_US, record.cause.name(), pages));
    }
}

/// Runs writes of one page each, given as time in ms and page, on `buffer`.
fn simulate(buffer: &str, writes: &[(u64, u64)]) -> (Records, RunResult) {
    let requests: Vec<_> = writes
        .iter()
        .map(|(ms, page)| Request {
            arrival: ms * TICKS_PER_MS,
            sector: 8 * page,
            sectors: 8,
            operation: Operation::Write,
            ..Request::BLANK
        })
        .collect();
    let mut settings = Settings::new();
    settings.set_kind("buffer", buffer).unwrap();
    for pair in [
        "flash.dies=2",
        "flash.blocks_per_plane=2048",
        "buffer.capacity_bytes=16KiB",
    ] {
        settings.set_pair(pair).unwrap();
    }
    let config = settings.resolve().unwrap();
    let mut records = Records::default();
    let source = Source::memory("requests", &requests);
    let (result, _) = run(&config, source, &Prepass::default(), &mut records).unwrap();
    (records, result)
}

/// One write per millisecond, then a long pause, and a much later request that ends the run.
const WRITES: [(u64, u64); 6] = [(0, 0), (1, 2), (2, 2), (3, 4), (4, 1), (1000, 0)];

fn idle_pages(buffer: &str) -> Vec<Vec<u64>> {
    let (records, _) = simulate(buffer, &WRITES);
    records
        .0
        .into_iter()
        .filter(|(_, cause, _)| *cause == "idle")
        .map(|(.., pages)| pages)
        .collect()
}

#[test]
fn dirty_lines_are_written_back_in_each_variants_order() {
    assert_eq!(idle_pages("wb:ways=2"), Vec::<Vec<u64>>::new());
    assert_eq!(idle_pages("apu-lru:ways=2"), [[2], [4], [1]]);
    assert_eq!(idle_pages("apu-lfu:ways=2"), [[4], [1], [2]]);
    assert_eq!(idle_pages("apu-lru-d:ways=2"), [vec![2, 1], vec![4]]);
    assert_eq!(idle_pages("apu-lfu-d:ways=2"), [vec![4, 1], vec![2]]);
}

#[test]
fn idle_work_begins_after_the_idle_time_and_goes_on_without_another() {
    let (records, result) = simulate("apu-lru:ways=2,idle_us=2000", &WRITES);
    let evicted: Vec<_> = records
        .0
        .iter()
        .filter(|(_, cause, _)| *cause == "evict")
        .collect();
    assert_eq!(evicted, [&(3001, "evict", vec![0])]);
    // The last of the five writes completes when its 8 sectors have crossed the host bus. A program takes 302.4
    // us.
    let times: Vec<_> = records
        .0
        .iter()
        .filter(|(_, cause, _)| *cause == "idle")
        .map(|(us, ..)| *us)
        .collect();
    assert_eq!(times, [6001, 6304, 6606]);
    let on_demand = result.metrics.get("buffer.on_demand_updates").unwrap();
    assert_eq!(on_demand.as_f64(), 1.0);
}

#[test]
fn an_idle_time_beyond_the_end_of_time_never_comes() {
    let longest = u64::MAX / TICKS_PER_US;
    for buffer in [
        format!("apu-lru:ways=2,idle_us={longest}"),
        format!("lru:bg_destage=true,bg_high=0.1,bg_low=0,bg_idle_us={longest}"),
    ] {
        assert_eq!(idle_pages(&buffer), Vec::<Vec<u64>>::new(), "{buffer}");
    }
}

#[test]
fn a_request_ends_the_idle_time() {
    // A write arrives while the first write-back is running. The next write-back begins at least 1.9 ms after
    // this write.
    let mut writes = WRITES.to_vec();
    writes.insert(5, (6, 3));
    writes[5].0 = 6;
    let (records, _) = simulate("apu-lru:ways=2,idle_us=1900", &writes);
    let idle: Vec<_> = records
        .0
        .iter()
        .filter(|(_, cause, _)| *cause == "idle")
        .collect();
    assert_eq!(idle[0], &(5901, "idle", vec![2]));
    assert!(idle[1].0 >= 7901, "{idle:?}");
}

#[test]
fn a_line_written_back_is_replaced_without_a_program() {
    // After the first round page 2 is clean, so page 6 replaces page 2 without a program. Only page 0 needs an
    // on-demand update.
    let mut writes = WRITES.to_vec();
    writes.insert(5, (500, 6));
    let (records, _) = simulate("apu-lru-d:ways=2", &writes);
    let evicted: Vec<_> = records
        .0
        .iter()
        .filter(|(_, cause, _)| *cause == "evict")
        .collect();
    assert_eq!(evicted, [&(3001, "evict", vec![0])]);
}
