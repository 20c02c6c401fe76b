//! Tests idle time that begins while packages are still busy with the programs of an earlier request.
//!
//! Pages 0 and 4 are written at once and share a line of a direct-mapped cache whose other lines are empty. So
//! page 0 is written back to make room for page 4 (an on-demand update). With `apu_room=cache` no request waits for this update. When idle
//! time begins 0.1 ms later, the package is still busy with the update.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_buffer::Destage;
use destage_sim::observer::Observer;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
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

fn records(buffer: &str) -> Vec<(u64, &'static str, Vec<u64>)> {
    // The last request arrives much later, so that the run does not end during the idle work.
    let requests = [(0, 0), (0, 4), (1000 * TICKS_PER_MS, 4)].map(|(arrival, page)| Request {
        arrival,
        sector: 8 * page,
        sectors: 8,
        operation: Operation::Write,
        ..Request::BLANK
    });
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
    run(&config, source, &Prepass::default(), &mut records).unwrap();
    records.0
}

#[test]
fn a_package_gets_its_line_when_it_is_free() {
    // Both pages are in the cache after 3.8 us. In a pipelined round the line is chosen when the package becomes
    // free, 302.4 us after the on-demand update began. With a barrier the line is chosen as soon as idle time
    // begins, and its write-back waits at the package.
    for (round, named) in [("pipelined", 306), ("barrier", 103)] {
        let buffer = format!("apu-lru-d:ways=1,idle_us=100,apu_room=cache,apu_round={round}");
        let expected = [(3, "evict", vec![0]), (named, "idle", vec![4])];
        assert_eq!(records(&buffer), expected, "{round}");
    }
}
