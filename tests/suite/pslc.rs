//! Tests of a cache of blocks with one bit per cell: closed forms to the nanosecond, the slower writes when the
//! cache is full, and folding.

use destage_base::time::TICKS_PER_US;
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_tests::{run_timed, single_pages};
use destage_trace::Operation;

const US: Ticks = TICKS_PER_US;

/// One die of 32 blocks of 12 pages with three bits per cell. A page with one bit per cell takes 20 us to read
/// and 100 us to program. Other pages take 40 us and 600 us. The transfer of a page takes 10 us. The cache has
/// three blocks of four pages.
const DEVICE: &[&str] = &[
    "flash.dies=1",
    "flash.planes_per_die=1",
    "flash.blocks_per_plane=32",
    "flash.pages_per_block=12",
    "flash.bits_per_cell=3",
    "flash.read_us=40",
    "flash.program_us=600",
    "flash.pslc_read_us=20",
    "flash.pslc_program_us=100",
    "flash.erase_us=2000",
    "flash.transfer_ns_per_byte=2.44140625",
    "flash.spare_bytes_per_sector=0",
    "flash.summary_page=false",
    "flash.parallel_units=1",
    "flash.copy_back=false",
    "flash.wearout=ignore",
    "host.bus_ns_per_sector=0",
    "host.queue_depth=1024",
    "host.scheduler=fifo",
    "host.attribution=request",
    "ftl.kind=pslc",
    "ftl.reserve_percent=30",
    "ftl.cache_percent=10",
    "ftl.cache_fold_idle=false",
    "sim.write_order=strict",
    "sim.window=complete",
    "sim.clock=exact",
];

fn run(pairs: &[&str], of: &[(Ticks, u64, Operation)]) -> (Vec<u64>, Metrics) {
    let chosen: Vec<&str> = pairs.iter().map(|pair| key(pair)).collect();
    let device: Vec<&str> = DEVICE
        .iter()
        .copied()
        .filter(|pair| !chosen.contains(&key(pair)))
        .collect();
    let (responses, result) = run_timed(&device, pairs, &single_pages(of));
    (responses, result.metrics)
}

fn key(pair: &str) -> &str {
    pair.split_once('=').map_or(pair, |(key, _)| key)
}

fn value(metrics: &Metrics, name: &str) -> f64 {
    metrics.get(name).map_or(-1.0, |number| number.as_f64())
}

fn writes(count: u64, gap: Ticks) -> Vec<(Ticks, u64, Operation)> {
    (0..count)
        .map(|write| (write * gap, write, Operation::Write))
        .collect()
}

#[test]
fn writes_are_fast_until_the_cache_is_full_and_then_slow() {
    let mut all = writes(15, 1000 * US);
    all.push((50_000 * US, 0, Operation::Read));
    all.push((51_000 * US, 14, Operation::Read));
    let (seen, metrics) = run(&[], &all);
    assert_eq!(seen[..12], [110_000; 12]);
    // From here on the cache is full.
    assert_eq!(seen[12..15], [610_000; 3]);
    // A page in the cache is also read faster than another page.
    assert_eq!(seen[15..], [30_000, 50_000]);
    let names = [
        "ftl.cache_programs",
        "ftl.cache_bypassed",
        "ftl.cache_folded",
    ];
    assert_eq!(names.map(|name| value(&metrics, name)), [12.0, 3.0, 0.0]);
    // Without the cache all writes are slow.
    let (none, metrics) = run(&["ftl.cache_percent=0"], &all);
    assert_eq!(none[..15], [610_000; 15]);
    assert_eq!(value(&metrics, "ftl.cache_blocks"), 0.0);
}

#[test]
fn sums_of_operations_know_the_fast_cells() {
    for costing in ["sim.costing=event", "sim.costing=op_count"] {
        let sum = |cache: &str| {
            let (_, metrics) = run(&[costing, cache], &writes(12, 1000 * US));
            value(&metrics, "throughput.op_model_mb_per_s")
        };
        // Twelve pages take 110 us each in the cache, and 610 us each without one.
        assert!(
            (sum("ftl.cache_percent=10") - 4096.0 / 110.0).abs() < 1e-9,
            "{costing}"
        );
        assert!(
            (sum("ftl.cache_percent=0") - 4096.0 / 610.0).abs() < 1e-9,
            "{costing}"
        );
    }
}

#[test]
fn a_full_cache_is_folded_in_idle_time_in_steps_that_yield() {
    let mut all = writes(4, 0);
    // The block of four pages is full at 440 us. Folding a page takes: read 20 us, two transfers 20 us, program 600
    // us.
    all.push((500 * US, 30, Operation::Write));
    // This late read prevents the run from ending before the folding is done.
    all.push((20_000 * US, 31, Operation::Read));
    let idle = ["ftl.cache_fold_idle=true", "ftl.cache_fold_percent=0"];
    let (seen, metrics) = run(&idle, &all);
    assert_eq!(seen[..4], [110_000, 220_000, 330_000, 440_000]);
    // One page is folded from 440 to 1080 us. Then the write is served.
    assert_eq!(seen[4], 580_000 + 110_000);
    assert_eq!(value(&metrics, "ftl.cache_folded"), 4.0);
    assert_eq!(value(&metrics, "flash.programs.copy"), 4.0);
    // If all four pages are folded in a single step, the write waits for the whole step and the erase.
    let (seen, _) = run(&[idle[0], idle[1], "ftl.cache_fold_pages=4"], &all);
    assert_eq!(seen[4], 4 * 640_000 + 2_000_000 - 60_000 + 110_000);
    // A read is served between two commands of the step.
    all[4].2 = Operation::Read;
    let first = ["flash.scheduling=reads_first", "ftl.cache_fold_pages=4"];
    let (seen, _) = run(&[&first[..], &idle].concat(), &all);
    assert_eq!(seen[4], 580_000 + 50_000);
}

#[test]
fn idle_time_folds_no_more_than_what_keeps_a_part_of_the_cache_free() {
    let folded = |pairs: &[&str], count: u64| {
        let mut all = writes(count, 0);
        all.push((100_000 * US, 31, Operation::Read));
        let pairs = [&["ftl.cache_fold_idle=true"], pairs].concat();
        value(&run(&pairs, &all).1, "ftl.cache_folded")
    };
    // After 8 writes two of the three blocks of the cache are full, and after 12 writes all three. One block of
    // four pages is folded at a time.
    assert_eq!([8, 12].map(|count| folded(&[], count)), [0.0, 4.0]);
    let half = "ftl.cache_fold_percent=50";
    assert_eq!([4, 8].map(|count| folded(&[half], count)), [0.0, 4.0]);
    assert_eq!(folded(&[half], 12), 8.0);
    assert_eq!(folded(&["ftl.cache_fold_percent=0"], 12), 12.0);
    assert_eq!(folded(&["ftl.cache_fold_percent=100"], 12), 0.0);
}

#[test]
fn a_write_may_wait_for_a_fold_instead() {
    let (seen, metrics) = run(&["ftl.cache_full=fold"], &writes(13, 1000 * US));
    assert_eq!(seen[..12], [110_000; 12]);
    // Four pages are folded and their block is erased. Then the write is programmed in the cache.
    assert_eq!(seen[12], 4 * 640_000 + 2_000_000 + 110_000);
    assert_eq!(value(&metrics, "ftl.cache_programs"), 13.0);
}

#[test]
fn what_is_written_again_in_the_cache_is_never_folded() {
    let all: Vec<_> = (0..200)
        .map(|write| (write * 20_000 * US, write % 4, Operation::Write))
        .collect();
    let (seen, metrics) = run(&["ftl.cache_full=fold"], &all);
    // A full block of the cache has no valid page, so the block is only erased.
    let waits = |write| write >= 12 && write % 4 == 0;
    let expected = (0..200).map(|write| 110_000 + if waits(write) { 2_000_000 } else { 0 });
    assert_eq!(seen, expected.collect::<Vec<u64>>());
    assert_eq!(value(&metrics, "ftl.cache_folded"), 0.0);
}

#[test]
fn a_dynamic_cache_shrinks_as_the_device_fills() {
    let cached = |pairs: &[&str]| {
        let dynamic = ["ftl.cache_size=dynamic", "ftl.cache_percent=80"];
        let pairs: Vec<&str> = dynamic.iter().chain(pairs).copied().collect();
        let (_, metrics) = run(&pairs, &writes(100, 1000 * US));
        value(&metrics, "ftl.cache_programs")
    };
    let (empty, full) = (cached(&["sim.precondition=none"]), cached(&[]));
    // An empty device can use 25 of its 32 blocks as a cache. A full device can use only a part of its reserve of
    // 9 blocks.
    assert_eq!(empty, 100.0);
    assert!(full > 0.0 && full < 30.0, "{full}");
}

#[test]
fn everything_completes_and_what_is_folded_was_cached() {
    for (seed, pairs) in [
        (1, vec!["ftl.cache_full=direct"]),
        (2, vec!["ftl.cache_full=fold", "flash.channels=1"]),
        (3, vec!["ftl.cache_size=dynamic", "ftl.cache_percent=60"]),
        (
            4,
            vec![
                "flash.program_unit=3",
                "buffer.kind=lru",
                "buffer.capacity_bytes=64KiB",
            ],
        ),
        (
            5,
            vec![
                "flash.program_unit=3",
                "flash.program_passes=2",
                "flash.first_pass_us=100",
                "flash.scheduling=reads_first",
                "flash.suspend=moves_end",
                "ftl.cache_size=dynamic",
            ],
        ),
    ] {
        let mut random = Random::new(seed);
        let mut time = 0;
        let mut all = Vec::new();
        for number in 0..3000 {
            // Every hundredth request may follow a longer pause.
            time += random.below(if number % 100 == 0 { 40_000 } else { 900 }) * US;
            let operation = match random.below(12) {
                0..4 => Operation::Read,
                4 => Operation::Flush,
                5 => Operation::Trim,
                _ => Operation::Write,
            };
            all.push((time, random.below(180), operation));
        }
        let pairs: Vec<&str> = pairs
            .into_iter()
            .chain(["ftl.cache_fold_idle=true", "ftl.cache_fold_percent=0"])
            .collect();
        let (seen, metrics) = run(&pairs, &all);
        assert_eq!(seen.len(), all.len(), "{pairs:?}");
        let count = |name| value(&metrics, name);
        assert!(count("ftl.cache_folded") > 0.0, "{pairs:?}");
        assert!(
            count("ftl.cache_folded") <= count("ftl.cache_programs"),
            "{pairs:?}"
        );
        let written = count("ftl.cache_programs") + count("ftl.cache_bypassed");
        assert_eq!(written, count("flash.programs.host"), "{pairs:?}");
    }
}
