//! Tests what a written page waits for in a set-associative cache if two pages share a line while other lines are
//! empty.
//!
//! Pages 0 and 4 share a line of a direct-mapped cache of four lines. The 8 sectors of a written page need 1.9072
//! us on the host bus. A program takes 302.4 us.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_tests::Responses;
use destage_trace::{Operation, Request};

const BUS: Ticks = 8 * 2384 * TICKS_PER_US / 10_000;
const PROGRAM: Ticks = 3024 * TICKS_PER_US / 10;

/// Response times of writes of one page each, given as arrival and page.
fn responses(buffer: &str, writes: &[(Ticks, u64)]) -> Vec<Ticks> {
    let request = |&(arrival, page): &(Ticks, u64)| Request {
        arrival,
        sector: 8 * page,
        sectors: 8,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let requests: Vec<_> = writes.iter().map(request).collect();
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
    let mut responses = Responses::default();
    let source = Source::memory("requests", &requests);
    run(&config, source, &Prepass::default(), &mut responses).unwrap();
    responses.by_index.into_iter().map(Option::unwrap).collect()
}

#[test]
fn the_on_demand_update_of_its_own_line_is_waited_for() {
    let writes = [(0, 0), (TICKS_PER_MS, 4)];
    assert_eq!(responses("wb:ways=1,apu_room=cache", &writes), [BUS, BUS]);
    assert_eq!(responses("wb:ways=1", &writes), [BUS, BUS + PROGRAM]);
}

#[test]
fn a_write_back_that_still_runs_in_its_own_line_is_waited_for() {
    // The write-back of page 0 begins after 2 ms of idle time. The write of page 4 arrives 100 us later.
    let arrival = BUS + 2 * TICKS_PER_MS + 100 * TICKS_PER_US;
    let writes = [(0, 0), (arrival, 4)];
    assert_eq!(
        responses("apu-lru:ways=1,apu_room=cache", &writes),
        [BUS, BUS]
    );
    assert_eq!(
        responses("apu-lru:ways=1", &writes),
        [BUS, PROGRAM - 100 * TICKS_PER_US]
    );
}

#[test]
fn a_line_written_back_and_written_again_is_free_after_both_programs() {
    // Page 0 is written again while its write-back is running. Then page 4 arrives, and page 0 must be evicted.
    let idle = BUS + 2 * TICKS_PER_MS;
    let again = idle + 100 * TICKS_PER_US;
    let arrival = idle + 200 * TICKS_PER_US;
    let writes = [(0, 0), (again, 0), (arrival, 4)];
    assert_eq!(
        responses("apu-lru:ways=1", &writes),
        [BUS, BUS, 2 * PROGRAM - 200 * TICKS_PER_US]
    );
}

#[test]
fn nobody_waits_where_slots_are_free_at_issue() {
    let writes = [(0, 0), (TICKS_PER_MS, 4)];
    let buffer = "wb:ways=1,release=issue";
    assert_eq!(responses(buffer, &writes), [BUS, BUS]);
}
