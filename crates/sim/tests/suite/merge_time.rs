//! A test of the time that merges take if mapping units share a program.

use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::{RunResult, run};
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

/// The ticks of 1 s.
const SECOND: u64 = 10_000_000_000;

/// Random writes of single pages, each of which makes `bast` merge a block of 64 mapping units.
fn merges(pairs: &[&str]) -> RunResult {
    let one = |index: u64| Request {
        arrival: index * SECOND,
        sector: index * 997 % 4096 * 8,
        sectors: 8,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let requests: Vec<_> = (0..2000).map(one).collect();
    let device = [
        "buffer.kind=nocache",
        "ftl.kind=bast",
        "flash.dies=1",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=128",
        "flash.program_us=200",
        "flash.erase_us=0",
    ];
    let mut settings = Settings::new();
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    let config = settings.resolve().unwrap();
    let source = Source::memory("test".to_owned(), &requests);
    run(&config, source, &Prepass::default(), &mut Silent)
        .unwrap()
        .0
}

/// All mapping units that a program writes share its time: those of a page, and those of the pages of a program unit.
#[test]
fn mapping_units_share_the_program_of_a_merge_once() {
    let small = ["flash.page_bytes=4096", "flash.pages_per_block=64"];
    let large = [
        "flash.page_bytes=8192",
        "flash.pages_per_block=32",
        "ftl.map_unit_bytes=4096",
    ];
    let cases: [(&[&str], &[&str], f64); 5] = [
        (&small, &[], 1.0),
        (&large, &[], 2.0),
        (&small, &["flash.program_unit=2"], 2.0),
        (&large, &["flash.program_unit=2"], 4.0),
        (&large, &["sim.costing=op_count"], 2.0),
    ];
    for (pages, more, sharing) in cases {
        let result = merges(&[pages, more].concat());
        let of = |name: &str| {
            let value = result.metrics.get(name).expect(name);
            value.as_f64()
        };
        let (copies, time) = (of("ftl.merge_copies"), of("ftl.merge_time_ms"));
        assert!(copies > 10_000.0, "{copies}");
        let expected = copies * 0.2 / sharing;
        assert!(
            (time - expected).abs() < 1e-6 * expected,
            "{pages:?} {more:?}: {time} ms, expected {expected} ms"
        );
    }
}
