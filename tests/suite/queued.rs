//! Tests of queued commands, to the nanosecond: read priority and the limit of this priority, and commands on
//! several planes.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_US;
use destage_sim::run::RunResult;
use destage_tests::{page_requests, run_timed};
use destage_trace::{Operation, Request};

const US: Ticks = TICKS_PER_US;

/// Runs one die of two planes without a buffer: 40 us to read, 200 us to program, 10 us to transfer a page on the
/// channel.
fn run(pairs: &[&str], requests: &[Request]) -> (Vec<u64>, RunResult) {
    let device = [
        "buffer.kind=nocache",
        "flash.dies=1",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=16",
        "flash.read_us=40",
        "flash.program_us=200",
        "flash.transfer_ns_per_byte=2.44140625",
        "flash.spare_bytes_per_sector=0",
        "flash.parallel_units=1",
        "host.bus_ns_per_sector=0",
        "host.queue_depth=64",
        "host.attribution=request",
        "host.scheduler=fifo",
        "sim.window=complete",
        "sim.clock=exact",
    ];
    run_timed(&device, pairs, requests)
}

/// Cache registers that take some time to load and unload.
const REGISTERS: [&str; 4] = [
    "flash.cache_program=true",
    "flash.cache_program_busy_us=5",
    "flash.cache_read=true",
    "flash.cache_read_busy_us=3",
];

fn responses(pairs: &[&str], requests: &[Request]) -> Vec<u64> {
    run(pairs, requests).0
}

#[test]
fn a_read_goes_before_a_write_that_waits() {
    let three = page_requests(&[
        (0, 0, 1, Operation::Write),
        (US, 1, 1, Operation::Write),
        (2 * US, 2, 1, Operation::Read),
    ]);
    let in_order = [210_000, 419_000, 468_000];
    assert_eq!(responses(&[], &three), in_order);
    assert_eq!(
        responses(&["flash.scheduling=commands_arrival"], &three),
        in_order
    );
    let first = responses(&["flash.scheduling=commands_reads_first"], &three);
    assert_eq!(first, [210_000, 469_000, 258_000]);
}

#[test]
fn so_many_reads_go_before_a_write_and_no_more() {
    let mut all = vec![(0, 0, 1, Operation::Write), (US, 1, 1, Operation::Write)];
    all.extend((0..5).map(|page| (2 * US, 10 + page, 1, Operation::Read)));
    let all = page_requests(&all);
    let of = |ahead: &str| responses(&["flash.scheduling=commands_reads_first", ahead], &all)[1];
    assert_eq!(of("flash.read_starvation_limit=16"), 669_000);
    assert_eq!(of("flash.read_starvation_limit=2"), 519_000);
    assert_eq!(of("flash.read_starvation_limit=1"), 469_000);
}

#[test]
fn a_read_does_not_go_before_the_write_of_its_page() {
    let three = page_requests(&[
        (0, 0, 1, Operation::Write),
        (US, 1, 1, Operation::Write),
        (2 * US, 1, 1, Operation::Read),
    ]);
    let first = responses(&["flash.scheduling=commands_reads_first"], &three);
    assert_eq!(first, [210_000, 419_000, 468_000]);
}

/// Reads interrupt programs and erases, at a cost of 5 us.
const SUSPENDS: [&str; 2] = [
    "flash.scheduling=commands_reads_first",
    "flash.suspend=moves_end",
];

#[test]
fn a_read_interrupts_a_program() {
    // The program is in the cells from 10 us on. The read runs from 55 to 95 us, and its page is transferred
    // until 105 us. Then 160 us of the program remain.
    let all = page_requests(&[
        (0, 0, 1, Operation::Write),
        (50 * US, 9, 1, Operation::Read),
        (50 * US, 1, 1, Operation::Write),
    ]);
    let waits = responses(&SUSPENDS[..1], &all);
    assert_eq!(waits, [210_000, 210_000, 420_000]);
    let seen = responses(&SUSPENDS, &all);
    assert_eq!(seen, [265_000, 55_000, 425_000]);
    // A read of the page that is being programmed waits for the program.
    let own = page_requests(&[
        (0, 0, 1, Operation::Write),
        (50 * US, 0, 1, Operation::Read),
    ]);
    assert_eq!(responses(&SUSPENDS, &own), [210_000, 210_000]);
}

#[test]
fn reads_join_a_suspension_and_their_number_is_limited() {
    let all = page_requests(&[
        (0, 0, 1, Operation::Write),
        (20 * US, 20, 1, Operation::Read),
        (30 * US, 21, 1, Operation::Read),
        (150 * US, 22, 1, Operation::Read),
    ]);
    let of = |limit| responses(&[SUSPENDS[0], SUSPENDS[1], limit], &all);
    // The first two reads last from 25 to 75 us and from 75 to 125 us. Then 190 us of the program remain, of
    // which 25 us are done at 150 us. The third read lasts from 155 to 205 us.
    let two = of("flash.suspend_limit=2");
    assert_eq!(two, [370_000, 55_000, 95_000, 55_000]);
    // The third read would be a second suspension, so it begins after the program has ended, at 315 us.
    let one = of("flash.suspend_limit=1");
    assert_eq!(one, [315_000, 55_000, 95_000, 215_000]);
}

#[test]
fn an_erase_of_a_collection_is_interrupted() {
    // Block after block is overwritten, so that a write must wait for an erase without copies.
    let device = [
        "flash.planes_per_die=1",
        "flash.pages_per_block=8",
        "flash.erase_us=2000",
        "flash.summary_page=false",
        "sim.precondition=none",
    ];
    let mut all: Vec<_> = (0..400_u64)
        .map(|write| (write * 5000 * US, write % 8, 1, Operation::Write))
        .collect();
    let plain = [&device[..], &SUSPENDS[..1]].concat();
    let plain = responses(&plain, &page_requests(&all));
    let at = (0..all.len()).find(|index| plain[*index] > 2_000_000);
    let at = at.expect("a write that waits for an erase");
    assert_eq!(plain[at], 2_000_000 + 210_000);
    let arrival = all[at].0;
    all.insert(at + 1, (arrival + 100 * US, 3, 1, Operation::Read));
    let of = |pairs: &[&str]| {
        let pairs = [&device[..], pairs].concat();
        let seen = responses(&pairs, &page_requests(&all));
        [seen[at], seen[at + 1]]
    };
    assert_eq!(of(&SUSPENDS), [2_055_000 + 210_000, 55_000]);
    // If commands have a status, the erase is complete only after its status is read.
    let status = ["flash.status_ns=1000"];
    let with_status = of(&[&SUSPENDS[..], &status].concat());
    assert_eq!(with_status, [2_056_000 + 1000 + 210_000, 56_000]);
}

#[test]
fn pages_of_two_planes_go_together() {
    let pair = page_requests(&[
        (0, 0, 2, Operation::Write),
        (1000 * US, 0, 2, Operation::Read),
    ]);
    let off = responses(&["flash.scheduling=commands_arrival"], &pair);
    assert_eq!(off, [420_000, 100_000]);
    let on = [
        "flash.scheduling=commands_arrival",
        "flash.multi_plane=in_order",
    ];
    assert_eq!(responses(&on, &pair), [220_000, 60_000]);
    // These settings add the command and the gap of each plane, and the time between cells and data.
    let mut all = on.to_vec();
    all.extend([
        "flash.command_ns=290",
        "flash.program_command_ns=361",
        "flash.plane_gap_read_ns=360",
        "flash.plane_gap_program_ns=455",
        "flash.ready_ns=20",
    ]);
    assert_eq!(responses(&all, &pair), [221_177, 60_960]);
}

#[test]
fn groups_of_planes_work_in_rounds_of_commands() {
    let two = page_requests(&[
        (0, 0, 2, Operation::Write),
        (1000 * US, 0, 2, Operation::Read),
    ]);
    let channel = "flash.channels=1";
    let alone = responses(&[channel], &two);
    assert_eq!(alone, [420_000, 100_000]);
    let groups = "flash.parallel_units=2";
    // The data of both pages are transferred one after the other, and the cells of both planes are programmed at
    // the same time. The read uses both planes in the same way.
    assert_eq!(responses(&[channel, groups], &two), [220_000, 60_000]);
    // Groups of planes work in the same way with garbage collection in steps, which batches do not support. In
    // this configuration the pages of a full device are in order, so these eight pages are on both planes.
    let eight = page_requests(&[
        (0, 59, 8, Operation::Write),
        (10_000 * US, 59, 8, Operation::Read),
    ]);
    let steps = ["ftl.gc_step_pages=2", "ftl.victim_ties=oldest"];
    assert_eq!(responses(&steps, &eight), [8 * 210_000, 400_000]);
    let of_groups = [steps[0], steps[1], groups];
    assert_eq!(responses(&of_groups, &eight), [4 * 220_000, 240_000]);
    // Here reads have priority.
    let all = with_trims(5, 1000);
    let of = |order| run(&[order, groups, "trace.addr_map=modulo"], &all).0;
    let first = of("flash.scheduling=reads_first");
    assert_eq!(first, of("flash.scheduling=commands_reads_first"));
    assert_ne!(first, of("flash.scheduling=commands_arrival"));
}

#[test]
fn queues_change_no_decision_of_a_layer() {
    let mut random = destage_base::Random::new(5);
    let all: Vec<_> = (0..6000)
        .map(|index| {
            let operation = match random.below(4) {
                0 => Operation::Read,
                _ => Operation::Write,
            };
            (index * 150 * US, random.below(1200), 1, operation)
        })
        .collect();
    let all = page_requests(&all);
    let counts = |pairs: &[&str]| {
        let (_, result) = run(pairs, &all);
        let names = ["flash.erases", "flash.programs.host", "flash.pages_moved"];
        let metrics = result.metrics;
        names.map(|name| format!("{:?}", metrics.get(name)))
    };
    let alone = counts(&[]);
    assert_eq!(counts(&["flash.scheduling=commands_arrival"]), alone);
    assert_eq!(counts(&["flash.scheduling=commands_reads_first"]), alone);
    let planes = [
        "flash.scheduling=commands_reads_first",
        "flash.multi_plane=in_order",
    ];
    assert_eq!(counts(&planes), alone);
    assert_eq!(counts(&[&planes[..], &REGISTERS].concat()), alone);
}

#[test]
fn queues_take_nothing_where_what_came_first_is_next() {
    let mut random = destage_base::Random::new(6);
    let all: Vec<_> = (0..4000)
        .map(|index| {
            let operation = match random.below(4) {
                0 => Operation::Read,
                _ => Operation::Write,
            };
            let pages = 1 + random.below(8) as u32;
            let arrival = index * 400 * US + random.below(400 * US);
            (arrival, random.below(1500), pages, operation)
        })
        .collect();
    let all = page_requests(&all);
    for layer in ["page", "bast", "dftl"] {
        for channels in ["flash.channels=4", "flash.channels=1"] {
            let kind = format!("ftl.kind={layer}");
            let device = [
                "flash.dies=4",
                "flash.planes_per_die=1",
                "flash.blocks_per_plane=64",
                "flash.pages_per_block=8",
                "flash.wearout=ignore",
                "host.queue_depth=1000000",
                channels,
                &kind,
            ];
            let mut pairs = device.to_vec();
            let alone = responses(&pairs, &all);
            pairs.push("flash.scheduling=commands_arrival");
            let queued = responses(&pairs, &all);
            let differ = alone.iter().zip(&queued).filter(|(a, b)| a != b).count();
            let shared = channels == "flash.channels=1";
            // With queued commands, the dies get a shared channel in another order than without.
            assert_eq!(differ > 0, shared, "{layer}, {channels}: {differ}");
            assert_eq!(alone.len(), queued.len());
        }
    }
}

/// Random reads, writes and trims, and some flushes, on a device that collects garbage.
fn with_trims(seed: u64, count: u64) -> Vec<Request> {
    let mut random = destage_base::Random::new(seed);
    let all: Vec<_> = (0..count)
        .map(|index| {
            let operation = match random.below(8) {
                0 | 1 => Operation::Read,
                2 => Operation::Trim,
                3 if index % 32 == 0 => Operation::Flush,
                _ => Operation::Write,
            };
            let pages = 1 + random.below(8) as u32;
            let arrival = index * 400 * US + random.below(400 * US);
            (arrival, random.below(1500), pages, operation)
        })
        .collect();
    page_requests(&all)
}

/// Every metric of a run by its name.
fn metrics_of(result: &RunResult) -> Vec<(String, f64)> {
    let numbers = result.metrics.iter();
    let numbers = numbers.map(|(name, number)| (name.to_owned(), number.as_f64()));
    numbers.collect()
}

/// Runs `all` on `device`, and on `device` with the settings `other`. Every response and metric must be equal in both
/// runs. If not, the failure message describes the device by `what`. Returns the second run.
fn equal_runs(
    device: &[&str],
    other: &[&str],
    all: &[Request],
    what: &str,
) -> (Vec<u64>, RunResult) {
    let first = run(device, all);
    let second = run(&[device, other].concat(), all);
    let differs = first.0.iter().zip(&second.0).position(|(a, b)| a != b);
    let differs = differs.map(|at| (at, all[at].operation, first.0[at], second.0[at]));
    assert_eq!(differs, None, "{what} {other:?}");
    assert_eq!(
        metrics_of(&first.1),
        metrics_of(&second.1),
        "{what} {other:?}"
    );
    second
}

/// Runs `all` on `device` with commands queued in order of arrival, and without queues: see [`equal_runs`].
fn in_both_timings(device: &[&str], all: &[Request], what: &str) -> (Vec<u64>, RunResult) {
    equal_runs(device, &["flash.scheduling=commands_arrival"], all, what)
}

/// If each die has its own channel and serves its operations in order of arrival, the time of a step is the sum of the
/// times of its operations. The sum must equal what the commands of the step take one by one, reserved in advance or
/// taken from queues.
#[test]
fn the_sum_of_a_step_equals_its_commands_one_by_one() {
    let mut collected = 0.0;
    // If a layer chooses the die of each write by the waiting operations, its choices depend on the order of events at
    // one instant, and this order is not the same in all timings.
    let layers = destage_ftl::FTLS.iter();
    let layers = layers.filter(|row| row.name != "none" && !row.places_writes);
    for (seed, layer) in layers.enumerate() {
        for depth in [
            "host.queue_depth=1",
            "host.queue_depth=20",
            "host.queue_depth=200",
        ] {
            for buffer in ["buffer.kind=nocache", "buffer.kind=lru"] {
                let mut all = with_trims(20 + seed as u64, 3000);
                // Statistics close at the last answer. A read long after all other requests makes sure that no
                // collection is in service at that moment: all of its time counts if it is a sum, and otherwise only
                // its time up to that moment.
                let long_after = all.last().map_or(0, |last| last.arrival) + 100_000_000 * US;
                all.extend(page_requests(&[(long_after, 0, 1, Operation::Read)]));
                let kind = format!("ftl.kind={}", layer.name);
                let device = [
                    "flash.dies=4",
                    "flash.planes_per_die=1",
                    "flash.blocks_per_plane=64",
                    "flash.pages_per_block=8",
                    "flash.wearout=ignore",
                    "trace.addr_map=modulo",
                    "buffer.capacity_bytes=128KiB",
                    "sim.run_out=true",
                    buffer,
                    depth,
                    &kind,
                ];
                let what = format!("{kind} {depth} {buffer}");
                let booked = ["flash.channels=4"];
                let queued = ["flash.channels=4", "flash.scheduling=commands_arrival"];
                equal_runs(&device, &booked, &all, &what);
                let same = equal_runs(&device, &queued, &all, &what);
                let gc = same.1.metrics.get("ftl.gc_time_ms");
                collected += gc.map_or(0.0, |gc| gc.as_f64());
            }
        }
    }
    assert!(collected > 1000.0, "{collected} ms of garbage collection");
}

#[test]
fn every_metric_is_the_same_in_both_timings_of_units_and_of_cells_of_one_bit() {
    let types = [
        "flash.read_times_us=25/30/42.5",
        "flash.program_times_us=200/400/800",
    ];
    let units = ["flash.program_unit=4"];
    let passes = [
        "flash.program_unit=2",
        "flash.program_passes=2",
        "flash.first_pass_us=70",
    ];
    let shared = ["flash.page_bytes=16KiB", "ftl.map_unit_bytes=4096"];
    // `flash.command_ns` stays 0, because it would lengthen copies inside a die in the timing with queues, but not in the
    // other timing.
    let status = ["flash.status_ns=3000"];
    let pslc = ["ftl.kind=pslc", "flash.bits_per_cell=3"];
    let mut ended = 0;
    for (seed, features) in [
        &units[..],
        &passes,
        &[&units[..], &types].concat(),
        &[&passes[..], &status, &types].concat(),
        &shared,
        &[&shared[..], &status].concat(),
        &status,
        &pslc,
        &[&pslc[..], &status].concat(),
    ]
    .into_iter()
    .enumerate()
    {
        for depth in ["host.queue_depth=1", "host.queue_depth=200"] {
            for buffer in ["buffer.kind=nocache", "buffer.kind=lru"] {
                let all = with_trims(40 + seed as u64, 2000);
                let device = [
                    "flash.dies=4",
                    "flash.channels=4",
                    "flash.planes_per_die=1",
                    "flash.blocks_per_plane=64",
                    "flash.pages_per_block=8",
                    "flash.wearout=ignore",
                    "flash.summary_page=false",
                    "trace.addr_map=modulo",
                    "buffer.capacity_bytes=1MiB",
                    "sim.run_out=true",
                    buffer,
                    depth,
                ];
                let device = [&device[..], features].concat();
                let what = format!("{features:?} {depth} {buffer}");
                let queued = in_both_timings(&device, &all, &what);
                ended += queued.0.len();
            }
        }
    }
    assert_eq!(ended, 9 * 4 * 2000);
}

#[test]
fn a_trim_waits_for_what_its_die_does() {
    let two = page_requests(&[
        (0, 0, 1, Operation::Write),
        (US, 1, 1, Operation::Trim),
        (2 * US, 2, 1, Operation::Write),
    ]);
    let expected = [210_000, 209_000, 418_000];
    assert_eq!(responses(&[], &two), expected);
    assert_eq!(
        responses(&["flash.scheduling=commands_arrival"], &two),
        expected
    );
    // The cache register is free for the next program long before the first program has ended. The trim is served
    // after the next program has begun.
    let expected = [215_000, 214_000, 428_000];
    assert_eq!(responses(&REGISTERS, &two), expected);
    let both = [&REGISTERS[..], &["flash.scheduling=commands_arrival"]].concat();
    assert_eq!(responses(&both, &two), expected);
}

/// With `hat`, a trim changes the map when it is served, and takes the time of the change. If another request has
/// trimmed the page meanwhile, the map does not change, and the trim takes no time.
#[test]
fn a_trim_that_waits_for_its_die_takes_the_time_of_the_map_if_it_changes_that() {
    let at = 1000 * US;
    let mut all: Vec<_> = [0, 1, 2]
        .map(|page| (page * at, page, 1, Operation::Write))
        .into();
    // The requests are a read of 50 us, then a trim, then three requests that arrive while the trim keeps the die
    // busy. Of these three, the last trims the page that the first has trimmed.
    for (page, operation) in [
        (2, Operation::Read),
        (1, Operation::Trim),
        (0, Operation::Trim),
        (2, Operation::Read),
        (0, Operation::Trim),
    ] {
        all.push((3 * at, page, 1, operation));
    }
    let all = page_requests(&all);
    let map = ["ftl.kind=hat", "ftl.hat_lookup_us=0", "ftl.hat_update_us=7"];
    let expected = [50_000, 57_000, 64_000, 114_000, 114_000];
    assert_eq!(responses(&map, &all)[3..], expected);
    let queued = [&map[..], &["flash.scheduling=commands_arrival"]].concat();
    assert_eq!(responses(&queued, &all)[3..], expected);
}

#[test]
fn queues_take_nothing_from_cache_registers_where_what_came_first_is_next() {
    let mut random = destage_base::Random::new(7);
    let all: Vec<_> = (0..3000)
        .map(|index| {
            let operation = match random.below(4) {
                0 => Operation::Read,
                _ => Operation::Write,
            };
            let arrival = index * 200 * US + random.below(200 * US);
            let pages = 1 + random.below(8) as u32;
            (arrival, random.below(1500), pages, operation)
        })
        .collect();
    // If these requests arrived one by one, the command of a later read would wait for a page that uses the
    // channel. So they all arrive at once.
    let at_once: Vec<_> = all
        .iter()
        .map(|(_, page, pages, operation)| (0, *page, *pages, *operation))
        .collect();
    for (all, registers) in [(&all, &REGISTERS[..2]), (&at_once, &REGISTERS)] {
        let all = page_requests(all);
        for layer in ["page", "bast", "dftl"] {
            let kind = format!("ftl.kind={layer}");
            let device = [
                "flash.dies=4",
                "flash.channels=4",
                "flash.planes_per_die=1",
                "flash.blocks_per_plane=64",
                "flash.pages_per_block=8",
                "flash.wearout=ignore",
                "host.queue_depth=1000000",
                &kind,
            ];
            let alone = [&device[..], registers].concat();
            let queued = [&alone[..], &["flash.scheduling=commands_arrival"]].concat();
            let without = responses(&device, &all);
            let alone = responses(&alone, &all);
            let queued = responses(&queued, &all);
            let differs = alone.iter().zip(&queued).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{layer} {registers:?}");
            assert_ne!(alone, without, "{layer}");
        }
    }
}

#[test]
fn every_scheme_runs_to_its_end() {
    let mut random = destage_base::Random::new(8);
    let all: Vec<_> = (0..3000)
        .map(|index| {
            let operation = match random.below(8) {
                0 | 1 => Operation::Read,
                2 => Operation::Trim,
                _ => Operation::Write,
            };
            let pages = 1 + random.below(8) as u32;
            (index * 100 * US, random.below(1500), pages, operation)
        })
        .collect();
    let all = page_requests(&all);
    for scheme in ["lru", "bplru", "fab", "epo"] {
        for layer in ["page", "fast", "hat", "superblock"] {
            let (buffer, kind) = (format!("buffer.kind={scheme}"), format!("ftl.kind={layer}"));
            let pairs = [
                "flash.dies=4",
                "flash.channels=2",
                "flash.planes_per_die=2",
                "flash.blocks_per_plane=32",
                "flash.pages_per_block=16",
                "flash.scheduling=commands_reads_first",
                "flash.multi_plane=in_order",
                "flash.read_starvation_limit=4",
                "buffer.capacity_bytes=256KiB",
                "sim.drain=true",
                "sim.run_out=true",
                &buffer,
                &kind,
            ];
            for registers in [&[][..], &REGISTERS] {
                let responses = responses(&[&pairs[..], registers].concat(), &all);
                assert_eq!(responses.len(), all.len(), "{scheme} over {layer}");
            }
        }
    }
}

#[test]
fn a_read_of_nothing_has_its_turn_where_what_came_first_is_next() {
    let two = page_requests(&[
        (0, 0, 1, Operation::Write),
        (US, 0, 1, Operation::Trim),
        (300 * US, 1, 1, Operation::Write),
        (301 * US, 0, 1, Operation::Read),
    ]);
    let expected = [210_000, 209_000, 210_000, 209_000];
    assert_eq!(responses(&[], &two), expected);
    assert_eq!(
        responses(&["flash.scheduling=commands_arrival"], &two),
        expected
    );
    // The read of a trimmed page needs no flash command, so it does not wait for other commands.
    let first = responses(&["flash.scheduling=commands_reads_first"], &two);
    assert_eq!(first, [210_000, 209_000, 210_000, 0]);
}

#[test]
fn a_collection_takes_its_own_time_and_not_that_of_what_was_before_it() {
    let mut random = destage_base::Random::new(9);
    let all: Vec<_> = (0..3000)
        .map(|_| (0, random.below(900), 1, Operation::Write))
        .collect();
    let all = page_requests(&all);
    let gc = |more: &[&str]| {
        let device = [
            "flash.dies=2",
            "flash.channels=2",
            "flash.planes_per_die=1",
            "flash.blocks_per_plane=64",
            "flash.pages_per_block=16",
            "flash.copy_back=false",
            "host.queue_depth=200",
            "sim.run_out=true",
        ];
        let (_, result) = run(&[&device[..], more].concat(), &all);
        let metric = |name: &str| result.metrics.get(name).map_or(0.0, |of| of.as_f64());
        (metric("ftl.gc_runs"), metric("ftl.gc_time_ms"))
    };
    let (runs, time) = gc(&[]);
    assert!(runs > 50.0, "{runs}");
    assert_eq!(gc(&["flash.scheduling=commands_arrival"]), (runs, time));
    // With a cache register, a step can begin while the previous program is still running.
    assert_eq!(gc(&["flash.cache_program=true"]), (runs, time));
}
