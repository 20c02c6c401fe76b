//! Tests the parts of a response time between host and buffer, to the tick.

use destage_base::Ticks;
use destage_sim::explain::PART_NAMES;
use destage_sim::prepass::Prepass;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_tests::{Responses, page_requests};
use destage_trace::Operation;

use super::{DEVICE, NS, random_requests, run_on};

/// For each of the slowest requests, in the order of their indices: the index, and the parts of the response time
/// that are not 0, in nanoseconds.
fn explained(
    pairs: &[&str],
    of: &[(Ticks, u64, u32, Operation)],
) -> Vec<(u64, Vec<(&'static str, u64)>)> {
    let mut settings = Settings::new();
    settings.load_profile("disksim-ssd").expect("the profile");
    for pair in DEVICE.iter().chain(pairs) {
        settings.set_pair(pair).expect("a pair");
    }
    settings.explain();
    let config = settings.resolve().unwrap_or_else(|error| panic!("{error}"));
    let mut seen = Responses::default();
    let requests = page_requests(of);
    let source = Source::memory("requests", &requests);
    let result = destage_sim::run::run(&config, source, &Prepass::default(), &mut seen);
    let (result, _) = result.unwrap_or_else(|error| panic!("{error}"));
    let timed = result.explained.and_then(|explained| explained.timed);
    let mut worst = timed.expect("a run with a clock").worst;
    worst.sort_by_key(|slow| slow.index);
    let parts = worst.iter().map(|slow| {
        assert_eq!(Some(slow.response()), seen.by_index[slow.index as usize]);
        let parts = PART_NAMES.into_iter().zip(slow.split.0);
        let parts = parts.filter(|(_, ticks)| *ticks > 0);
        (
            slow.index,
            parts.map(|(name, ticks)| (name, ticks / NS)).collect(),
        )
    });
    parts.collect()
}

#[test]
fn what_a_response_waits_for_is_told_to_the_tick() {
    let pairs = [
        "device.firmware_ns=1000",
        "device.dram_access_ns=500",
        "host.link_lane_gb_per_s=1",
    ];
    let two = [(0, 0, 1, Operation::Write), (0, 9, 1, Operation::Read)];
    // Times in ns. The write needs: doorbell 8, question 8, entry 25, question 8, data 1248, core 1000, DRAM 500,
    // completion 11. The read needs: a wait of 8 for the doorbell of the write, doorbell 8, question 8, waits of
    // 17 and 8, entry 25, the core, flash, the DRAM 500, data 1248, completion 11. So the entry of the read
    // precedes the data of the write.
    let seen = explained(&pairs, &two);
    let write = seen[0].1.iter().map(|(_, time)| time).sum::<u64>();
    let read = seen[1].1.iter().map(|(_, time)| time).sum::<u64>();
    let (responses, _) = run_on(&pairs, &page_requests(&two));
    assert_eq!(responses, [write, read]);
    assert_eq!(
        seen[1].1[1..],
        [
            ("bus", 8 + 8 + 25 + 1000 + 500 + 1248 + 11),
            ("flash", 50_000)
        ]
    );
    let moves = 8 + 8 + 25 + 8 + 1248 + 1000 + 500 + 11;
    assert!(seen[0].1.contains(&("bus", moves)), "{seen:?}");
    // A single request never waits for another request.
    let alone = explained(&pairs, &two[..1]);
    assert_eq!(alone, [(0, vec![("bus", moves)])]);
    let bus = explained(&["host.bus_ns_per_sector=100"], &two);
    assert_eq!(bus[0].1, [("bus", 800)]);
}

#[test]
fn every_response_is_the_sum_of_its_parts() {
    for seed in 0..3 {
        let of: Vec<_> = random_requests(seed, 600, 9000)
            .iter()
            .map(|request| {
                let pages = request.sectors / 8;
                (
                    request.arrival,
                    request.sector / 8,
                    pages,
                    request.operation,
                )
            })
            .collect();
        for link in ["host.link_lane_gb_per_s=0", "host.link_lane_gb_per_s=0.3"] {
            let pairs = [
                link,
                "host.bus_ns_per_sector=50",
                "host.queues=2",
                "host.queue_by=round_robin",
                "device.firmware_ns=900",
                "device.firmware_cores=2",
                "device.dram_ns_per_byte=0.4",
                "buffer.capacity_bytes=64KiB",
            ];
            assert_eq!(explained(&pairs, &of).len(), 16);
        }
    }
}
