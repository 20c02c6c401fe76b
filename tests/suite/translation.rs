//! Tests of mapping units that are smaller than a page of flash, placement handles, garbage collection in steps,
//! and zones: closed forms to the nanosecond, and rules that hold for every stream.

use destage_base::time::TICKS_PER_US;
use destage_base::{Random, Ticks};
use destage_sim::metrics::Metrics;
use destage_sim::settings::Settings;
use destage_tests::{ONE_DIE, page_requests, run_timed, single_pages};
use destage_trace::{Operation, Request};

const US: Ticks = TICKS_PER_US;

/// Settings in addition to [`ONE_DIE`].
const DEVICE: &[&str] = &[
    "flash.blocks_per_plane=32",
    "flash.pages_per_block=12",
    "ftl.victim_ties=oldest",
];

/// Response times in nanoseconds, and the metrics.
fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, Metrics) {
    let device = [&ONE_DIE, DEVICE].concat().into_iter().filter(|pair| {
        let layer = pairs.iter().any(|pair| pair.starts_with("ftl.kind="));
        !(layer && pair.starts_with("ftl.victim_ties"))
    });
    let device: Vec<&str> = device.collect();
    let (responses, result) = run_timed(&device, pairs, requests);
    (responses, result.metrics)
}

fn value(metrics: &Metrics, name: &str) -> f64 {
    metrics.get(name).map_or(-1.0, |number| number.as_f64())
}

/// Pages of flash of 16 KiB with mapping units of 4 KiB.
const UNITS: [&str; 2] = ["flash.page_bytes=16KiB", "ftl.map_unit_bytes=4KiB"];

fn at_once(pages: std::ops::Range<u64>, what: Operation) -> Vec<(Ticks, u64, Operation)> {
    pages.map(|page| (0, page, what)).collect()
}

#[test]
fn units_share_a_program_and_a_read() {
    let of = |requests: &[(Ticks, u64, Operation)], pairs: &[&str]| {
        let pairs: Vec<&str> = UNITS.iter().chain(pairs).copied().collect();
        run(&pairs, &single_pages(requests))
    };
    // Four units need four transfers and one program. If only one unit is written, three fillers complete the
    // page of flash.
    let (seen, metrics) = of(&at_once(0..4, Operation::Write), &[]);
    assert_eq!(seen, [240_000; 4]);
    assert_eq!(value(&metrics, "flash.programs"), 4.0);
    let (seen, metrics) = of(&at_once(0..1, Operation::Write), &[]);
    assert_eq!(seen, [240_000]);
    assert_eq!(value(&metrics, "flash.programs.pad"), 3.0);
    // The first of four reads senses the page of flash. The other three reads find the page in the register.
    let (seen, _) = of(&at_once(0..4, Operation::Read), &[]);
    assert_eq!(seen, [50_000, 60_000, 70_000, 80_000]);
    // A read of another page of flash replaces the contents of the register.
    let apart: Vec<_> = [0, 4, 0].map(|page| (0, page, Operation::Read)).into();
    assert_eq!(of(&apart, &[]).0, [50_000, 100_000, 150_000]);
    // A program overwrites the register, so the next read must sense its page of flash again.
    let mut between = at_once(0..1, Operation::Read);
    between.extend([(0, 20, Operation::Write), (1000 * US, 1, Operation::Read)]);
    assert_eq!(of(&between, &[]).0[2], 50_000);
    // Without smaller units a page has 16 KiB, and its transfer takes four times as long.
    let whole = ["flash.page_bytes=16KiB"];
    let (seen, metrics) = run(&whole, &single_pages(&at_once(0..4, Operation::Write)));
    assert_eq!(seen, [240_000, 480_000, 720_000, 960_000]);
    assert_eq!(value(&metrics, "flash.programs"), 4.0);
    // A program unit of two pages of flash.
    let (seen, _) = of(&at_once(0..8, Operation::Write), &["flash.program_unit=2"]);
    assert_eq!(seen, [280_000; 8]);
}

#[test]
fn part_of_a_unit_is_read_before_it_is_written() {
    let mut half = page_requests(&[(0, 0, 1, Operation::Write)]);
    half[0].sectors = 4;
    let pairs = [UNITS[0], UNITS[1], "trace.align=rmw", "buffer.kind=nocache"];
    // Reading the page of flash takes 40 us, and transferring the unit 10 us. Then four transfers and a program
    // follow.
    assert_eq!(run(&pairs, &half).0, [290_000]);
}

#[test]
fn a_page_type_is_that_of_the_page_of_flash() {
    let types = ["flash.read_times_us=30/40/50", UNITS[0], UNITS[1]];
    // Units 24 to 27 are page 6, which has the second type.
    let reads: Vec<_> = [0, 24, 28].map(|page| (0, page, Operation::Read)).into();
    assert_eq!(
        run(&types, &single_pages(&reads)).0,
        [40_000, 90_000, 140_000]
    );
}

#[test]
fn sums_of_operations_charge_a_program_to_the_units_that_share_it() {
    let sums = |pairs: &[&str]| {
        let pairs: Vec<&str> = UNITS.iter().chain(pairs).copied().collect();
        let (_, metrics) = run(&pairs, &single_pages(&at_once(0..40, Operation::Write)));
        value(&metrics, "throughput.op_model_mb_per_s")
    };
    // 40 units of 4096 bytes take 40 x (10 + 50) us. Each unit needs a transfer of 10 us and a quarter of a
    // program of 200 us.
    let expected = 4096.0 / 60.0;
    assert!((sums(&[]) - expected).abs() < 1e-9);
    assert!(
        (sums(&["ftl.map_unit_bytes=0", "flash.page_bytes=4KiB"]) - 4096.0 / 210.0).abs() < 1e-9
    );
}

#[test]
fn garbage_in_steps_lets_a_write_go_between_two_of_them() {
    let pairs = |more: &[&'static str]| -> Vec<&'static str> {
        let own = [
            "flash.blocks_per_plane=32",
            "flash.copy_back=false",
            "ftl.reserve_percent=30",
            "ftl.gc_low=6",
            "ftl.gc_high=6",
            "ftl.gc_hard_threshold=4",
            "ftl.separate_gc_block=true",
        ];
        own.iter().chain(more).copied().collect()
    };
    let mut random = Random::new(5);
    let all: Vec<_> = (0..2000)
        .map(|write| (write * 3000 * US, random.below(260), Operation::Write))
        .collect();
    let (whole, all_at_once) = run(&pairs(&[]), &single_pages(&all));
    let (steps, in_steps) = run(&pairs(&["ftl.gc_step_pages=2"]), &single_pages(&all));
    let copies = |metrics| value(metrics, "flash.programs.copy");
    assert!(copies(&all_at_once) > 100.0);
    // In steps, blocks are collected later, and have fewer valid pages by then.
    let ratio = copies(&in_steps) / copies(&all_at_once);
    assert!((0.5..1.0).contains(&ratio), "{ratio}");
    // The bound is the time of two copies of 40 + 20 + 200 us, an erase after the last copy, and the write
    // itself. Only writes that find too few free blocks take longer.
    let bound = 2 * 260_000 + 2_000_000 + 210_000;
    let slow = |seen: &[u64]| seen.iter().filter(|time| **time > bound).count();
    assert!(
        slow(&steps) * 3 < slow(&whole),
        "{} {}",
        slow(&steps),
        slow(&whole)
    );
    // The response times are the same if reads have priority.
    let order = ["ftl.gc_step_pages=2", "flash.scheduling=reads_first"];
    assert_eq!(run(&pairs(&order), &single_pages(&all)).0, steps);
}

#[test]
fn steps_give_way_where_no_mark_is_set() {
    // By the rule for `ftl.gc_low` = 0, garbage collection would start here at 4 free blocks or fewer. With the
    // default hard threshold it would then yield to no operation, so `ftl.gc_low` is set above this threshold.
    let own = [
        "flash.blocks_per_plane=32",
        "flash.copy_back=false",
        "ftl.reserve_percent=30",
    ];
    let mut random = Random::new(5);
    let all: Vec<_> = (0..2000)
        .map(|write| (write * 3000 * US, random.below(260), Operation::Write))
        .collect();
    let all = single_pages(&all);
    let (whole, _) = run(&own, &all);
    let (steps, _) = run(&[&own[..], &["ftl.gc_step_pages=2"]].concat(), &all);
    let bound = 2 * 260_000 + 2_000_000 + 210_000;
    let slow = |seen: &[u64]| seen.iter().filter(|time| **time > bound).count();
    assert!(
        slow(&whole) > 50 && slow(&steps) * 3 < slow(&whole),
        "{} {}",
        slow(&steps),
        slow(&whole)
    );
}

fn streamed(requests: &mut [Request], stream: impl Fn(&Request) -> u16) {
    for request in requests {
        request.stream = stream(request);
    }
}

/// Random requests of two streams: one stream rewrites a few pages again and again, the other writes all pages.
fn two_streams(count: u64, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut time = 0;
    let all: Vec<_> = (0..count)
        .map(|number| {
            time += random.below(900) * US;
            let is_hot = random.below(4) > 0;
            let page = if is_hot {
                random.below(16)
            } else {
                random.below(220)
            };
            let what = match number % 40 {
                7 => Operation::Read,
                19 => Operation::Trim,
                39 => Operation::Flush,
                _ => Operation::Write,
            };
            (time, page, what)
        })
        .collect();
    let mut all = single_pages(&all);
    streamed(&mut all, |request| u16::from(request.sector < 16 * 8));
    all
}

#[test]
fn handles_have_blocks_and_slots_of_their_own() {
    let all = two_streams(6000, 3);
    let own = [
        "buffer.kind=lru",
        "buffer.capacity_bytes=64KiB",
        "flash.copy_back=false",
    ];
    let with = |more: &[&'static str]| {
        let pairs: Vec<&str> = own.iter().chain(more).copied().collect();
        run(&pairs, &all).1
    };
    let (none, two) = (with(&[]), with(&["ftl.handles=2"]));
    assert_eq!(value(&none, "ftl.handle_0_waf"), -1.0);
    let writes = ["ftl.handle_0_writes", "ftl.handle_1_writes"];
    let written: f64 = writes.iter().map(|name| value(&two, name)).sum();
    assert_eq!(written, value(&two, "flash.programs.host"));
    assert_eq!(value(&none, "flash.programs.host"), written);
    let isolated = with(&["ftl.handles=2", "ftl.handle_isolation=persistent"]);
    let copies = |metrics| value(metrics, "flash.programs.copy");
    assert!(
        copies(&isolated) < copies(&none),
        "{} {}",
        copies(&isolated),
        copies(&none)
    );
    // If each handle has a share of the buffer, the hot stream cannot evict the pages of the other stream. So the
    // number of hits changes.
    let equal = with(&["ftl.handles=2", "buffer.by_handle=equal"]);
    assert!(value(&equal, "buffer.write_hits") != value(&two, "buffer.write_hits"));
    // Requests without a stream belong to handle 0.
    let mut alone = all.clone();
    streamed(&mut alone, |_| 0);
    let pairs: Vec<&str> = own.iter().chain(&["ftl.handles=2"]).copied().collect();
    let zero = run(&pairs, &alone).1;
    assert_eq!(value(&zero, writes[1]), 0.0);
    assert_eq!(copies(&zero), copies(&none));
}

#[test]
fn a_journal_takes_a_page_for_so_many_changes() {
    let pages = |pairs: &[&str]| {
        let (seen, metrics) = run(pairs, &single_pages(&at_once(0..20, Operation::Write)));
        (seen[19], value(&metrics, "flash.programs.map"))
    };
    assert_eq!(pages(&[]), (20 * 210_000, 0.0));
    // The pages of the journal are programmed after every fifth write, on the die that serves this write.
    let journal = [
        "ftl.journal_changes=5",
        "ftl.journal_pages=4",
        "ftl.gc_low=4",
    ];
    assert_eq!(pages(&journal), (24 * 210_000, 4.0));
}

#[test]
fn one_open_zone_keeps_writes_on_one_die() {
    let zones = |open: &'static str| {
        let pairs = [
            "ftl.kind=zns",
            "flash.dies=4",
            "flash.blocks_per_plane=32",
            "flash.pages_per_block=16",
            "ftl.zone_blocks=2",
            open,
        ];
        run(&pairs, &single_pages(&at_once(0..32, Operation::Write)))
    };
    let (one, metrics) = zones("ftl.open_zones=1");
    let in_turn: Vec<u64> = (1..=32).map(|write| write * 210_000).collect();
    assert_eq!(one, in_turn);
    assert_eq!(value(&metrics, "ftl.zones_open_max"), 1.0);
    let (four, _) = zones("ftl.open_zones=4");
    assert_eq!(four[31], 8 * 210_000);
}

#[test]
fn a_zone_that_is_nearly_full_is_finished_with_fillers() {
    let pairs = |finish: &'static str| {
        [
            "ftl.kind=zns",
            "flash.dies=2",
            "flash.blocks_per_plane=32",
            "flash.pages_per_block=16",
            "ftl.zone_blocks=2",
            "ftl.open_zones=1",
            finish,
        ]
    };
    // 30 of 32 pages are written one by one, all on one die. Then a write arrives while this die is reading, and
    // another read follows later.
    let mut all: Vec<_> = (0..30)
        .map(|write| (write * 1000 * US, write, Operation::Write))
        .collect();
    all.extend([
        (40_000 * US, 0, Operation::Read),
        (40_001 * US, 30, Operation::Write),
        (41_000 * US, 1, Operation::Read),
    ]);
    let of = |finish| {
        let (seen, metrics) = run(&pairs(finish), &single_pages(&all));
        let counts = ["ftl.zones_finished", "flash.programs.pad"].map(|name| value(&metrics, name));
        (seen[30..].to_vec(), counts)
    };
    // The only zone that may be open is on this die, so the write waits for the read.
    let waits = (vec![50_000, 259_000, 50_000], [0.0, 0.0]);
    assert_eq!(of("ftl.finish_percent=0"), waits);
    assert_eq!(of("ftl.finish_percent=6"), waits);
    // With two free pages left, the zone is finished by fillers. The write opens a zone on the other die, and the
    // next read waits for the fillers.
    let finished = (vec![50_000, 210_000, 470_000], [1.0, 2.0]);
    assert_eq!(of("ftl.finish_percent=50"), finished);
}

/// Program units of three pages, with layers that choose the die of each write.
#[test]
fn a_zone_is_filled_unit_by_unit() {
    let of = |pages: u64, flushed: bool, pairs: &[&str]| {
        let mut all = at_once(0..pages, Operation::Write);
        all.extend(flushed.then_some((0, 0, Operation::Flush)));
        let pairs: Vec<&str> = ["flash.program_unit=3"]
            .iter()
            .chain(pairs)
            .copied()
            .collect();
        let (seen, metrics) = run(&pairs, &single_pages(&all));
        (seen, value(&metrics, "flash.programs.pad"))
    };
    let zones = ["ftl.kind=zns", "ftl.zone_blocks=2"];
    // Each unit needs three transfers and one program. The first unit is in one block of the zone, the second in
    // the other.
    let both = [vec![230_000; 3], vec![460_000; 3]].concat();
    assert_eq!(of(6, false, &zones), (both, 0.0));
    // A single page gets two fillers.
    assert_eq!(of(1, false, &zones), (vec![230_000], 2.0));
    for pages in 1..30 {
        let of_pages = of(pages, false, &[]);
        assert_eq!(of(pages, false, &zones), of_pages, "{pages}");
        let placed = of(pages, false, &["ftl.placement=dynamic"]);
        assert_eq!(placed, of_pages, "{pages}");
    }
    // With two passes, a unit gets its second pass only after the first pass of the next unit in the same block.
    // If the zone has two blocks, a unit of the other block is programmed in between.
    let flush = |blocks: &'static str| {
        let two = [
            "ftl.kind=zns",
            blocks,
            "flash.program_passes=2",
            "flash.first_pass_us=50",
            "buffer.kind=lru",
            "buffer.capacity_bytes=256KiB",
        ];
        of(3, true, &two).0[3]
    };
    assert_eq!(flush("ftl.zone_blocks=1"), 80_000 + 80_000 + 230_000);
    assert_eq!(flush("ftl.zone_blocks=2"), 80_000 + 2 * 80_000 + 230_000);
}

#[test]
fn a_page_written_again_joins_the_unit_in_which_it_waits() {
    let writes: Vec<_> = [0, 100, 200]
        .map(|time| (time * US, 0, Operation::Write))
        .into();
    for layer in ["ftl.placement=dynamic", "ftl.kind=zns"] {
        let pairs = [
            layer,
            "flash.dies=2",
            "flash.program_unit=3",
            "flash.unit_wait_us=1000",
        ];
        let (seen, metrics) = run(&pairs, &single_pages(&writes));
        // All three writes are on one die, and the unit is full at 210 us.
        assert_eq!(seen, [410_000, 310_000, 210_000], "{layer}");
        assert_eq!(value(&metrics, "flash.programs.pad"), 0.0, "{layer}");
    }
}

#[test]
fn everything_completes_under_every_feature() {
    let sets: [&[&str]; 14] = [
        &[
            "ftl.journal_changes=7",
            "ftl.journal_pages=9",
            "ftl.gc_low=4",
            "flash.program_unit=3",
        ],
        &UNITS,
        &[
            "flash.page_bytes=8KiB",
            "ftl.map_unit_bytes=4KiB",
            "flash.program_passes=2",
        ],
        &[
            "ftl.handles=3",
            "ftl.handle_isolation=persistent",
            "ftl.gc_step_pages=1",
            "ftl.gc_hard_threshold=5",
        ],
        &[
            "ftl.hot_window=40",
            "flash.program_unit=3",
            "flash.scheduling=reads_first",
        ],
        &["ftl.gc_step_pages=3", "flash.scheduling=garbage_last"],
        &["ftl.handles=2", "buffer.by_handle=equal", "buffer.kind=fab"],
        &[
            "ftl.kind=zns",
            "ftl.zone_blocks=2",
            "ftl.open_zones=2",
            "ftl.finish_percent=30",
        ],
        &[
            "ftl.kind=dftl",
            "flash.page_bytes=8KiB",
            "ftl.map_unit_bytes=4KiB",
            "ftl.mappings_per_page=16",
        ],
        &["ftl.kind=zns", "ftl.zone_blocks=2", "flash.program_unit=3"],
        &[
            "ftl.kind=zns",
            "ftl.zone_blocks=2",
            "ftl.finish_percent=50",
            "ftl.open_zones=1",
            "flash.program_unit=2",
            "flash.program_passes=2",
            "flash.scheduling=reads_first",
        ],
        &[
            "ftl.kind=zns",
            "flash.page_bytes=16KiB",
            "ftl.map_unit_bytes=4KiB",
            "flash.program_unit=2",
        ],
        &["ftl.placement=dynamic", "flash.program_unit=3"],
        &[
            "ftl.placement=dynamic",
            "flash.page_bytes=8KiB",
            "ftl.map_unit_bytes=4KiB",
            "flash.program_passes=2",
            "flash.scheduling=garbage_last",
        ],
    ];
    for (seed, set) in (1..).zip(sets) {
        let all = two_streams(3000, seed);
        let own = [
            "flash.dies=2",
            "buffer.kind=lru",
            "buffer.capacity_bytes=512KiB",
        ];
        let pairs: Vec<&str> = own.iter().chain(set).copied().collect();
        let (seen, metrics) = run(&pairs, &all);
        assert_eq!(seen.len(), all.len(), "{set:?}");
        assert!(value(&metrics, "flash.programs.host") > 0.0, "{set:?}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_in_one_sentence() {
    for (pairs, says) in [
        ("ftl.map_unit_bytes=3KiB", "divides flash.page_bytes = 4096"),
        (
            "ftl.map_unit_bytes=1KiB ftl.kind=hybrid",
            "ftl.map_unit_bytes = 1024: the layer does not fill the pages of a block in order",
        ),
        ("ftl.map_unit_bytes=1KiB ftl.kind=pslc", "one by one"),
        (
            "ftl.map_unit_bytes=1KiB flash.scheduling=commands_arrival flash.multi_plane=any_order",
            "flash.multi_plane = any_order: the program of a unit would begin before all of its pages have arrived",
        ),
        (
            "flash.suspend=keeps_end flash.scheduling=commands_reads_first",
            "or to be without flash.scheduling = commands_arrival or commands_reads_first",
        ),
        (
            "ftl.gc_step_pages=2 ftl.gc_hard_threshold=1",
            "expected at least",
        ),
        (
            "ftl.kind=zns ftl.zone_blocks=3",
            "a number that divides the",
        ),
        (
            "ftl.kind=hybrid flash.program_unit=2",
            "flash.program_unit = 2: the layer does not fill",
        ),
    ] {
        let mut settings = Settings::new();
        settings.set_pair("flash.blocks_per_plane=2048").unwrap();
        for pair in pairs.split(' ') {
            settings.set_pair(pair).unwrap();
        }
        let error = match settings.resolve() {
            Ok(config) => config.ftl_with(false).err().expect(pairs).to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(says), "{pairs}: {error}");
        assert!(!error.contains('\n'), "{pairs}: {error}");
    }
}
