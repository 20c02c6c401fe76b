//! Tests of pages that are programmed together as a unit: closed forms to the nanosecond, and rules that hold for
//! every stream.

use destage_base::time::TICKS_PER_US;
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_tests::{ONE_DIE, run_timed, single_pages};
use destage_trace::{Operation, Request};

const US: Ticks = TICKS_PER_US;

/// Settings in addition to [`ONE_DIE`]: program units of 3 pages.
const DEVICE: &[&str] = &[
    "flash.blocks_per_plane=32",
    "flash.pages_per_block=12",
    "flash.program_unit=3",
];

/// Response times in nanoseconds, and the metrics.
fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let (responses, result) = run_timed(&[&ONE_DIE, DEVICE].concat(), pairs, requests);
    (responses, result.metrics)
}

fn responses(pairs: &[&str], requests: &[Request]) -> Vec<u64> {
    run(pairs, requests).0
}

fn writes(pages: impl Iterator<Item = (Ticks, u64)>) -> Vec<(Ticks, u64, Operation)> {
    pages
        .map(|(time, page)| (time, page, Operation::Write))
        .collect()
}

#[test]
fn three_pages_are_programmed_at_once_and_fillers_complete_what_is_waited_for() {
    let of = |pages: u64, pairs: &[&str]| {
        responses(
            pairs,
            &single_pages(&writes((0..pages).map(|page| (0, page)))),
        )
    };
    // A unit needs three transfers and one program. If only a single page is written, two fillers complete its
    // unit.
    assert_eq!(of(3, &[]), [230_000; 3]);
    assert_eq!(of(1, &[]), [230_000]);
    assert_eq!(of(4, &[]), [230_000, 230_000, 230_000, 460_000]);
    assert_eq!(
        of(3, &["flash.program_unit=1"]),
        [210_000, 420_000, 630_000]
    );
    let (_, metrics) = run(&[], &single_pages(&writes((0..4).map(|page| (0, page)))));
    assert_eq!(
        metrics.get("flash.programs.pad").map(|n| n.as_f64()),
        Some(2.0)
    );
}

#[test]
fn a_unit_waits_for_company_as_long_as_it_may() {
    let pair = single_pages(&writes([(0, 0), (400 * US, 1)].into_iter()));
    let wait = "flash.unit_wait_us=1000";
    // The first page waits for further pages from 10 us on. At 1010 us a filler becomes the third page of the
    // unit.
    assert_eq!(responses(&[wait], &pair), [1_220_000, 820_000]);
    let full = single_pages(&writes([(0, 0), (400 * US, 1), (500 * US, 2)].into_iter()));
    assert_eq!(responses(&[wait], &full), [710_000, 310_000, 210_000]);
}

#[test]
fn slots_are_held_until_the_unit_is_programmed() {
    let buffered = ["buffer.kind=lru", "buffer.capacity_bytes=24KiB"];
    let mut all = writes((0..6).map(|page| (0, page)));
    all.extend(writes([(100 * US, 6), (100 * US, 7)].into_iter()));
    // The unit occupies three of the six slots. Pages 0 to 2 have been transferred to the unit at 30 us, and the
    // program of the unit ends at 230 us. Until then the two further pages wait for slots.
    let seen = responses(&buffered, &single_pages(&all));
    assert_eq!(seen, [0, 0, 0, 0, 0, 0, 130_000, 130_000]);
    // Without units each program frees one slot: at 210 and at 420 us.
    let alone = [
        buffered[0],
        "buffer.capacity_bytes=12KiB",
        "flash.program_unit=1",
    ];
    let alone = responses(&alone, &single_pages(&all[..5]));
    assert_eq!(alone, [0, 0, 0, 210_000, 420_000]);
}

#[test]
fn with_two_passes_the_next_unit_releases_the_one_before() {
    let two = [
        "buffer.kind=lru",
        "buffer.capacity_bytes=36KiB",
        "flash.program_passes=2",
        "flash.first_pass_us=50",
    ];
    // The buffer has nine slots, six of them for units. Pages 0 to 2 are evicted, and their first pass lasts from
    // 30 to 80 us.
    let mut all = writes((0..6).map(|page| (0, page)));
    // Pages 3 to 5 are evicted, too. They are loaded until 130 us, and their first pass ends at 180 us. Then the
    // data of pages 0 to 2 are loaded again, and the second pass of these pages ends at 410 us.
    all.extend(writes(
        [(100 * US, 6), (100 * US, 7), (100 * US, 8)].into_iter(),
    ));
    // The seventh eviction waits for this second pass.
    all.extend(writes([(200 * US, 9)].into_iter()));
    let seen = responses(&two, &single_pages(&all));
    assert_eq!(seen[..9], [0; 9]);
    assert_eq!(seen[9], 210_000);
}

#[test]
fn a_flush_is_answered_after_the_last_pass() {
    let flush = |pages: u64, pairs: &[&str]| {
        let mut all = writes((0..pages).map(|page| (0, page)));
        all.push((0, 0, Operation::Flush));
        let buffered = ["buffer.kind=lru", "buffer.capacity_bytes=256KiB"];
        let pairs: Vec<&str> = buffered.iter().chain(pairs).copied().collect();
        responses(&pairs, &single_pages(&all))[pages as usize]
    };
    assert_eq!(flush(3, &[]), 230_000);
    assert_eq!(flush(1, &[]), 230_000);
    let two = ["flash.program_passes=2", "flash.first_pass_us=50"];
    // The first pass ends at 80 us, and the first pass of a unit of fillers at 160 us. Then the data are
    // transferred again, and the second pass follows.
    assert_eq!(flush(3, &two), 390_000);
    assert_eq!(flush(1, &two), 390_000);
    // The last unit of a block can get its second pass without a following unit. So the four units of a block
    // need no fillers, and the last unit gets both passes.
    assert_eq!(flush(12, &two), 80_000 + 2 * 310_000 + 310_000 + 230_000);
    assert_eq!(flush(1, &["flash.unit_wait_us=700"]), 930_000);
}

#[test]
fn a_forced_write_completes_the_unit_of_its_own_page_alone() {
    // Page 0 is evicted for page 2 and waits for the rest of its unit. The FUA write of page 3 is programmed on
    // the other die, together with page 1.
    let mut all = single_pages(&writes(
        [(0, 0), (0, 1), (100 * US, 2), (1000 * US, 3)].into_iter(),
    ));
    all[3].fua = true;
    let pairs = [
        "flash.dies=2",
        "buffer.kind=lru",
        "buffer.capacity_bytes=32KiB",
        "sim.run_out=true",
    ];
    let (seen, metrics) = run(&pairs, &all);
    assert_eq!(seen[3], 230_000);
    let of = |name| metrics.get(name).map(|number| number.as_f64());
    assert_eq!(of("flash.programs.pad"), Some(1.0), "the unit of page 3");
}

/// A write of a part of a page must first read the rest of the page. This page joins its unit only after the
/// flush that waits for it has requested the completion of all units.
#[test]
fn a_page_that_is_waited_for_completes_the_unit_that_it_joins_later() {
    let at = 1000 * US;
    let mut all = single_pages(&[
        (0, 0, Operation::Write),
        (0, 0, Operation::Flush),
        (at, 0, Operation::Write),
        (at, 0, Operation::Flush),
    ]);
    // The write covers half of the page; the rest is read in 40 us and transferred in 10 us.
    all[2].sectors = 4;
    // The page is destaged as a single operation, as a record, or as a record whose die the layer chooses.
    for (scheme, placement) in [("lru", "stripe"), ("fab", "stripe"), ("fab", "dynamic")] {
        let (buffer, placement) = (
            format!("buffer.kind={scheme}"),
            format!("ftl.placement={placement}"),
        );
        let pairs = [
            &buffer,
            &placement,
            "buffer.capacity_bytes=256KiB",
            "trace.align=rmw",
        ];
        let (seen, metrics) = run(&pairs, &all);
        // After the read, the page and two fillers are transferred and programmed.
        let what = format!("{scheme} {placement}");
        assert_eq!(seen, [0, 230_000, 50_000, 50_000 + 230_000], "{what}");
        let fillers = metrics.get("flash.programs.pad");
        assert_eq!(fillers.map(|count| count.as_f64()), Some(4.0), "{what}");
        // No flush waits for the last page of the drain. Nevertheless its unit is completed.
        let drained = [&pairs[..], &["sim.drain=true"]].concat();
        let (_, metrics) = run(&drained, &all[..3]);
        let written = ["flash.programs.host", "flash.programs.pad"];
        let written = written.map(|name| metrics.get(name).map(|count| count.as_f64()));
        assert_eq!(written, [Some(2.0), Some(4.0)], "{what}");
    }
}

#[test]
fn times_may_be_a_table() {
    let pairs = [
        "flash.program_unit=1",
        "flash.pages_per_block=16",
        "flash.program_times_us=100/200/400",
        "flash.read_times_us=30/40/50",
    ];
    let mut all = writes((0..14).map(|page| (page * 1000 * US, page)));
    all.push((50_000 * US, 12, Operation::Read));
    let seen = responses(&pairs, &single_pages(&all));
    let types = [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2];
    let times = types.map(|page_type| 10_000 + [100_000, 200_000, 400_000][page_type]);
    assert_eq!(seen[..14], times);
    assert_eq!(seen[14], 60_000);
}

#[test]
fn everything_ends_and_a_flush_leaves_nothing_in_ram() {
    for (passes, seed) in [(1, 1), (2, 2), (1, 3), (2, 4)] {
        let mut random = Random::new(seed);
        let mut all = Vec::new();
        let mut time = 0;
        for _ in 0..3000 {
            time += random.below(400) * US;
            let operation = match random.below(20) {
                0..4 => Operation::Read,
                4 => Operation::Flush,
                5 => Operation::Trim,
                _ => Operation::Write,
            };
            all.push((time, random.below(150), operation));
        }
        all.push((time + US, 0, Operation::Flush));
        let mut all = single_pages(&all);
        for request in &mut all {
            request.fua = request.operation == Operation::Write && random.below(15) == 0;
            if request.operation != Operation::Flush {
                request.sectors = 8 * (1 + random.below(4) as u32);
            }
        }
        let passes = format!("flash.program_passes={passes}");
        for scheme in ["nocache", "lru", "bplru", "fab", "apu-lru", "wb", "cflru"] {
            for (order, layer) in [
                ("arrival", "dftl"),
                ("commands_arrival", "dftl"),
                ("reads_first", "page"),
                ("garbage_last", "page"),
            ] {
                let pairs = [
                    format!("ftl.kind={layer}"),
                    format!("buffer.kind={scheme}"),
                    format!("flash.scheduling={order}"),
                    "buffer.capacity_bytes=128KiB".to_owned(),
                    "flash.first_pass_us=50".to_owned(),
                    "flash.channels=1".to_owned(),
                    "sim.run_out=true".to_owned(),
                    passes.clone(),
                ];
                let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
                // Each request completes, or the run panics.
                let (seen, metrics) = run(&pairs, &all);
                assert_eq!(seen.len(), all.len());
                if scheme != "nocache" {
                    // The device must be clean when the last flush is answered.
                    let after = metrics
                        .get("buffer.clean_after_ms")
                        .expect("clean")
                        .as_f64();
                    let flushed = seen[all.len() - 1] as f64 / 1e6;
                    assert!(
                        after <= flushed,
                        "{scheme} {order} {passes}: {after} {flushed}"
                    );
                }
                let count = |name: &str| metrics.get(name).map_or(0.0, |number| number.as_f64());
                let programs = count("flash.programs");
                let parts = ["host", "pad", "copy", "map", "wear"];
                let sum: f64 = parts
                    .iter()
                    .map(|part| count(&format!("flash.programs.{part}")))
                    .sum();
                assert!((programs - sum).abs() < 0.5);
            }
        }
    }
}
