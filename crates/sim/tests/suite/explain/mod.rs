//! Tests of the parts of response times. The parts of every response time must add up to exactly this response time,
//! in ticks. In cases that can be calculated by hand, each part must have the calculated value.

mod kit;
mod queues;
mod registers;

use destage_ftl::FTLS;
use destage_sim::course::Point;
use destage_sim::explain::{Awaited, Interval, OPERATIONS, Timed};
use destage_trace::{Operation, Request};

use self::kit::*;

/// Runs every scheme over every layer. Debug builds check the parts of each request when it completes. In all builds,
/// the test compares the response times of the last sixteen requests with the response times that an observer saw.
#[test]
fn parts_add_up_for_every_scheme_and_layer() {
    let requests = stream(7, 700, 300);
    let warmup = format!("sim.warmup_requests={}", requests.len() - 16);
    let mut runs = 0;
    for scheme in destage_buffer::SCHEMES {
        for ftl in FTLS {
            let (kind, layer) = (
                format!("buffer.kind={}", scheme.name),
                format!("ftl.kind={}", ftl.name),
            );
            let pairs = [
                kind.as_str(),
                layer.as_str(),
                &warmup,
                "flash.dies=2",
                "flash.blocks_per_plane=80",
                "flash.transfer_ns_per_byte=10",
                "buffer.capacity_bytes=64KiB",
                "trace.align=rmw",
                "host.queue_depth=8",
            ];
            let what = format!("{} over {}", scheme.name, ftl.name);
            // Some schemes and layers exclude each other or do not fit this device.
            let Ok(config) = config(&pairs, true) else {
                continue;
            };
            let mut responses = Responses::default();
            let result = simulate(&config, &requests, &mut responses);
            hold_to_plain(&pairs, &requests, &result, &what);
            let explained = result.explained.expect("explained");
            if explained.timed.is_none() {
                assert_eq!(ftl.name, "none");
                continue;
            }
            hold_to_responses(&explained, &responses, 16, &what);
            assert_eq!(timed(&explained).worst.len(), 16);
            runs += 1;
        }
    }
    assert!(runs > 300, "{runs} runs");
}

/// The parts also add up with other settings of the host, the clock and the device.
#[test]
fn parts_add_up_in_every_kind_of_run() {
    let requests = stream(11, 1500, 600);
    let shared = [
        "flash.channels=1",
        "flash.transfer_ns_per_byte=3.7",
        "flash.command_ns=300",
        "flash.program_times_us=100/200/400",
    ];
    let in_merges = [&shared[..], &["buffer.kind=bplru", "ftl.kind=fast"]].concat();
    let kinds: [&[&str]; 15] = [
        &shared,
        &in_merges,
        &["buffer.kind=nocache"],
        &["buffer.kind=bplru", "ftl.kind=bast"],
        &["host.replay=closed", "host.queue_depth=4"],
        &[
            "host.replay=closed",
            "host.queue_depth=4",
            "host.job_ns=60000",
        ],
        &["flash.read_retry_percent=20", "flash.channels=1"],
        &["host.attribution=disksim", "host.scheduler=clook"],
        &["sim.clock=double_ms", "flash.transfer_ns_per_byte=3.7"],
        &["flash.parallel_units=4", "flash.planes_per_die=4"],
        &["device.vwc=off"],
        &["sim.write_order=reference"],
        &["ftl.allocation_pool=plane", "flash.planes_per_die=2"],
        &["sim.window=last_arrival"],
        &["buffer.kind=apu-lru", "sim.warmup_requests=0"],
    ];
    for kind in kinds {
        let common = [
            "flash.dies=2",
            "flash.blocks_per_plane=64",
            "buffer.capacity_bytes=64KiB",
            "trace.align=rmw",
            "host.queue_depth=8",
        ];
        let pairs = [&common[..], kind].concat();
        let what = kind.join(" ");
        let (explained, responses) = explained(&requests, &pairs);
        let counted = match what.contains("last_arrival") {
            true => timed(&explained)
                .responses
                .iter()
                .map(|of| of.spreading.all().requests as usize)
                .sum(),
            false => requests.len(),
        };
        assert!(counted > 500, "{what}: {counted}");
        hold_to_responses(&explained, &responses, counted, &what);
        let total: u128 = timed(&explained)
            .responses
            .iter()
            .map(|of| of.spreading.all().total())
            .sum();
        let seen: u128 = responses.0.values().map(|time| u128::from(*time)).sum();
        if counted == requests.len() {
            assert_eq!(total, seen, "{what}");
        }
    }
}

/// A device with one die and a buffer of one page.
const ONE_PAGE: [&str; 4] = [
    "flash.dies=1",
    "flash.blocks_per_plane=64",
    "buffer.kind=lru",
    "buffer.capacity_bytes=4KiB",
];

#[test]
fn a_write_with_a_free_slot_is_bus_and_one_without_waits_for_a_program() {
    let write = |arrival, page| request(arrival, Operation::Write, page, 1);
    let requests = [
        write(0, 1),
        write(10 * MILLISECOND, 2),
        write(20 * MILLISECOND, 2),
        // The first of these two writes gets the slot after the program of page 2. The second write gets the slot
        // after the program of page 3, which begins only then.
        write(30 * MILLISECOND, 3),
        write(30 * MILLISECOND, 4),
    ];
    let all = all(&requests, &ONE_PAGE);
    assert_eq!(parts(&all[0]), [("bus", BUS)]);
    assert_eq!((all[0].awaited, all[0].die), (None, None));
    assert_eq!(parts(&all[1]), [("bus", BUS), ("slot", PROGRAM)]);
    assert_eq!((all[1].awaited, all[1].die), (Some(Awaited::Slot), Some(0)));
    assert_eq!(parts(&all[2]), [("bus", BUS)]);
    assert_eq!(parts(&all[3]), [("bus", BUS), ("slot", PROGRAM)]);
    let behind = [("queue", BUS), ("bus", BUS), ("slot", 2 * PROGRAM - BUS)];
    assert_eq!(parts(&all[4]), behind);
    assert_eq!((all[4].outstanding, all[4].dirty_pages), (2, 1));
}

/// The writes overwrite all pages in order, so garbage collection finds blocks without valid pages. Each collection
/// is therefore a single erase.
#[test]
fn a_write_behind_a_garbage_collection_waits_for_its_erase() {
    let pages = 64 * 8 / 2;
    let requests: Vec<_> = (0..4 * pages)
        .map(|write| request(10 * write * MILLISECOND, Operation::Write, write % pages, 1))
        .collect();
    let (explained, _) = explained(&requests, &ONE_PAGE);
    let timed = timed(&explained);
    let collected: u64 = timed.series.intervals.iter().map(|of| of.gc_runs).sum();
    assert!(collected > 16, "{collected}");
    for slow in &timed.worst {
        let expected = [("bus", BUS), ("slot", PROGRAM), ("slot_gc", ERASE)];
        assert_eq!(parts(slow), expected, "{slow:?}");
    }
    let writes = timed.responses[1].spreading.all();
    assert_eq!(writes.sums[3], u128::from(collected * ERASE));
    let gc: u64 = timed.series.intervals.iter().map(|of| of.gc_time).sum();
    assert_eq!(gc, collected * ERASE);
}

#[test]
fn a_read_waits_for_its_die() {
    let read = |arrival, page| request(arrival, Operation::Read, page, 1);
    let requests = [
        request(0, Operation::Write, 1, 1),
        request(0, Operation::Write, 2, 1),
        request(MILLISECOND, Operation::Write, 3, 1),
        // Page 3 is in the buffer, and page 1 is on flash.
        read(10 * MILLISECOND, 3),
        read(20 * MILLISECOND, 1),
        // These two reads arrive at the same time, and the second read waits for the first.
        read(30 * MILLISECOND, 1),
        read(30 * MILLISECOND, 2),
        // When the read arrives, the die is executing a program.
        request(40 * MILLISECOND, Operation::Write, 4, 1),
        read(40 * MILLISECOND + BUS + MICROSECOND, 1),
    ];
    let all = all(&requests, &ONE_PAGE);
    assert_eq!(parts(&all[3]), [("bus", BUS)]);
    let alone = [("bus", BUS), ("flash", READ)];
    assert_eq!(parts(&all[4]), alone);
    assert_eq!((all[4].awaited, all[4].die), (Some(Awaited::Read), Some(0)));
    assert_eq!(parts(&all[5]), alone);
    assert_eq!(
        parts(&all[6]),
        [("bus", BUS), ("die", READ), ("flash", READ)]
    );
    assert_eq!(parts(&all[7]), [("bus", BUS), ("slot", PROGRAM)]);
    let rest = PROGRAM - MICROSECOND;
    assert_eq!(
        parts(&all[8]),
        [("bus", BUS), ("die", rest), ("flash", READ)]
    );
}

#[test]
fn a_read_behind_a_garbage_collection_waits_for_the_rest_of_it() {
    let pages = 64 * 8 / 2;
    // Without a buffer, the program of a write begins only after the collection that frees pages for this program.
    let no_buffer = [
        "flash.dies=1",
        "flash.blocks_per_plane=64",
        "buffer.kind=nocache",
    ];
    let writes = |count: u64| {
        (0..count)
            .map(|write| request(10 * write * MILLISECOND, Operation::Write, write % pages, 1))
    };
    let many: Vec<_> = writes(4 * pages).collect();
    let (whole, _) = explained(&many, &no_buffer);
    let last = timed(&whole).worst.iter().max_by_key(|slow| slow.index);
    let last = *last.expect("slow ones");
    let expected = [("bus", BUS), ("die_gc", ERASE), ("flash", PROGRAM)];
    assert_eq!(parts(&last), expected);
    // A read arrives 100 us after the beginning of that collection.
    let mut requests: Vec<_> = writes(last.index + 1).collect();
    let arrival = last.arrival + BUS + 100 * MICROSECOND;
    requests.push(request(arrival, Operation::Read, 1, 1));
    let warmup = format!("sim.warmup_requests={}", last.index + 1);
    let (whole, _) = explained(&requests, &[&no_buffer[..], &[&warmup]].concat());
    let [read] = timed(&whole).worst[..] else {
        panic!("one request is counted");
    };
    let expected = [
        ("bus", BUS),
        ("die", PROGRAM),
        ("die_gc", ERASE - 100 * MICROSECOND),
        ("flash", READ),
    ];
    assert_eq!(parts(&read), expected);
    assert_eq!(read.dies_collecting, 1);
}

/// This layer programs the pages of a block in order. So it copies the preceding pages of the block while it serves
/// the write.
#[test]
fn what_a_write_moves_is_garbage_collection() {
    let requests = [
        request(0, Operation::Write, 3, 1),
        // The read arrives while the die serves the write. The read waits for the copies and for the program of the
        // write.
        request(100 * MICROSECOND, Operation::Read, 9, 1),
    ];
    let pairs = [
        "flash.dies=1",
        "flash.blocks_per_plane=64",
        "buffer.kind=nocache",
        "ftl.kind=block",
        "flash.summary_page=false",
    ];
    let all = all(&requests, &pairs);
    let moves = 3 * (READ + PROGRAM);
    let write = [("bus", BUS), ("die_gc", moves), ("flash", PROGRAM)];
    assert_eq!(parts(&all[0]), write);
    let read = [
        ("bus", BUS),
        ("die", PROGRAM),
        ("die_gc", moves - (100 * MICROSECOND - BUS)),
        ("flash", READ),
    ];
    assert_eq!(parts(&all[1]), read);
}

/// For a write of half a page, the device first reads the page. The program of the write begins after this read.
#[test]
fn what_a_write_through_reads_and_programs_is_its_own() {
    let mut part = request(10 * MILLISECOND, Operation::Write, 1, 1);
    part.sectors = 4;
    let requests = [request(0, Operation::Write, 1, 1), part];
    let pairs = [&ONE_PAGE[..], &["device.vwc=off", "trace.align=rmw"]].concat();
    let all = all(&requests, &pairs);
    assert_eq!(parts(&all[0]), [("bus", BUS), ("flash", PROGRAM)]);
    assert_eq!(
        parts(&all[1]),
        [("bus", BUS / 2), ("flash", READ + PROGRAM)]
    );
}

/// A write evicts a block that is padded. The device reads the missing pages of the block and then programs all of
/// its pages. The write waits until the slot of the buffered page is free.
#[test]
fn padding_is_part_of_the_wait_for_a_slot() {
    let pairs = [
        "flash.dies=1",
        "flash.blocks_per_plane=64",
        "buffer.kind=bplru",
        "buffer.capacity_bytes=4KiB",
        "flash.summary_page=false",
        "sim.precondition=none",
    ];
    let mut requests: Vec<_> = (0..8)
        .map(|page| request(20 * page * MILLISECOND, Operation::Write, page, 1))
        .collect();
    requests.push(request(200 * MILLISECOND, Operation::Write, 3, 1));
    requests.push(request(300 * MILLISECOND, Operation::Write, 100, 1));
    let all = all(&requests, &pairs);
    let last = all[9];
    let split = parts(&last);
    assert_eq!(split[0], ("bus", BUS));
    // The slot holds page 3. The device programs page 3 as the fourth page, after seven reads.
    assert_eq!(split[1..], [("slot", 7 * READ + 4 * PROGRAM)]);
}

fn sum(timed: &Timed, of: impl Fn(&Interval) -> u128) -> u128 {
    timed.series.intervals.iter().map(of).sum()
}

/// Times between requests, and numbers of requests.
const ARRIVALS: [(u64, usize); 4] = [
    (1, 3000),
    (977, 3000),
    (13 * MILLISECOND, 3000),
    (MILLISECOND << 20, 40),
];

const SMALL: [&str; 4] = [
    "flash.dies=2",
    "flash.blocks_per_plane=64",
    "buffer.kind=lru",
    "buffer.capacity_bytes=64KiB",
];

/// `count` requests, of which the first arrives after 5 ms, and each other one `gap` ticks after the one before it.
fn evenly(gap: u64, count: usize) -> Vec<Request> {
    let mut requests = stream(3, count, 600);
    for (place, request) in requests.iter_mut().enumerate() {
        request.arrival = 5 * MILLISECOND + place as u64 * gap;
    }
    requests
}

/// The points of the course of a run that is not explained are the totals at the ends of the intervals of the series of
/// the same run, explained.
#[test]
fn the_points_of_a_course_are_sums_over_the_series() {
    for more in [
        "flash.scheduling=arrival",
        "flash.scheduling=reads_first",
        "flash.scheduling=commands_reads_first",
    ] {
        for (gap, count) in ARRIVALS {
            let requests = evenly(gap, count);
            let pairs: Vec<_> = SMALL.into_iter().chain([more]).collect();
            let series = &timed(&explained(&requests, &pairs).0).series.clone();
            let mut course = Course::default();
            let config = config(&pairs, false).expect("a configuration");
            simulate(&config, &requests, &mut course);
            let last = series.intervals.len() - 1;
            let (mut completed, mut programs) = (0, 0);
            let intervals = series.intervals.iter().enumerate();
            let expected: Vec<_> = intervals
                .map(|(place, of)| {
                    completed += of.responses[0].count + of.responses[1].count;
                    programs += of.tally.programs.iter().sum::<u64>();
                    let begin = place as u64 * series.length;
                    let length = match place == last {
                        true => series.last_length,
                        false => series.length,
                    };
                    Point {
                        passed: begin + length,
                        completed,
                        programs,
                    }
                })
                .collect();
            assert_eq!(completed, count as u64);
            assert!(course.0 == expected, "{more}, gap {gap}");
        }
    }
}

/// The series of a run have a limited number of intervals, however long the run is. The intervals cover the whole
/// run.
#[test]
fn the_course_is_bounded_and_complete() {
    for (gap, count) in ARRIVALS {
        let requests = evenly(gap, count);
        let config = config(&SMALL, true).expect("a configuration");
        let mut responses = Responses::default();
        let result = simulate(&config, &requests, &mut responses);
        let metric = |name: &str| {
            result
                .metrics
                .get(name)
                .map_or(0.0, |number| number.as_f64())
        };
        let explained = result.explained.as_ref().expect("explained");
        let timed = timed(explained);
        let series = &timed.series;
        let what = format!("gap {gap}");
        assert!((1..=1000).contains(&series.intervals.len()), "{what}");
        assert_eq!(series.start, 5 * MILLISECOND, "{what}");
        assert!(series.last_length <= series.length, "{what}");
        let before = series.intervals.len() as u64 - 1;
        let span = before * series.length + series.last_length;
        let iops = count as f64 / (span as f64 / 1e10);
        assert!(
            (iops / metric("throughput.iops") - 1.0).abs() < 1e-9,
            "{what}"
        );
        let completed = |of: &Interval| u128::from(of.responses[0].count + of.responses[1].count);
        assert_eq!(
            sum(timed, |of| u128::from(of.arrived)),
            count as u128,
            "{what}"
        );
        assert_eq!(sum(timed, completed), count as u128, "{what}");
        let time = |of: &Interval| of.responses[0].sum + of.responses[1].sum;
        let seen: u128 = responses.0.values().map(|time| u128::from(*time)).sum();
        assert_eq!(sum(timed, time), seen, "{what}");
        // Little's law holds exactly: a request that is outstanding for a tick adds one tick to the sum of
        // response times.
        assert_eq!(sum(timed, |of| of.levels[0]), seen, "{what}");
        let count_of =
            |of: &dyn Fn(&Interval) -> u64| sum(timed, |each| u128::from(of(each))) as f64;
        let programs = count_of(&|of| of.tally.programs.iter().sum());
        assert_eq!(programs, metric("flash.programs"), "{what}");
        assert_eq!(
            count_of(&|of| of.tally.erases.iter().sum()),
            metric("flash.erases")
        );
        assert_eq!(count_of(&|of| of.gc_runs), metric("ftl.gc_runs"), "{what}");
        assert_eq!(
            count_of(&|of| of.destaged_pages),
            metric("buffer.destaged_pages")
        );
        let gc = destage_base::time::to_ms(sum(timed, |of| u128::from(of.gc_time)) as u64);
        assert!(
            (gc - metric("ftl.gc_time_ms")).abs() < 1e-6 * gc.max(1.0),
            "{what}: {gc}"
        );
        let busy = sum(timed, |of| {
            of.busy.iter().map(|busy| u128::from(*busy)).sum()
        });
        let share = busy as f64 / 2.0 / span as f64;
        let kept = metric("flash.utilization_mean");
        assert!((share - kept).abs() < 1e-9, "{what}: {share} {kept}");
        for of in &series.intervals {
            assert!(of.busy.iter().all(|busy| *busy <= series.length), "{what}");
        }
        // The explanation contains all destages and all erases.
        let sizes = explained.destages.0.iter();
        let (records, pages) = sizes.fold((0, 0), |(records, pages), (size, row)| {
            (
                records + row.records,
                pages + u64::from(*size) * row.records,
            )
        });
        assert_eq!(pages as f64, metric("buffer.destaged_pages"), "{what}");
        assert_eq!(
            u128::from(records),
            sum(timed, |of| u128::from(of.destages)),
            "{what}"
        );
        let erases: u64 = explained
            .wear
            .0
            .iter()
            .map(|(times, blocks)| u64::from(*times) * blocks)
            .sum();
        assert_eq!(erases as f64, metric("flash.erases"), "{what}");
    }
}

/// A run without a clock has no response times to explain. Its explanation contains the sizes of destages and the
/// wear.
#[test]
fn an_op_count_run_has_sizes_and_wear() {
    let requests = stream(3, 2000, 600);
    let pairs = [
        "flash.dies=2",
        "flash.blocks_per_plane=64",
        "buffer.kind=fab",
        "buffer.capacity_bytes=64KiB",
        "sim.costing=op_count",
    ];
    let (explained, _) = explained(&requests, &pairs);
    assert_eq!(explained.timed, None);
    assert!(explained.destages.0.keys().any(|pages| *pages > 1));
    assert_eq!(explained.wear.0.values().sum::<u64>(), 128);
}

#[test]
fn operations_are_told_apart() {
    let requests = stream(5, 500, 200);
    let pairs = ["flash.dies=2", "flash.blocks_per_plane=64"];
    let (explained, _) = explained(&requests, &pairs);
    for (operation, of) in OPERATIONS.iter().zip(&timed(&explained).responses) {
        let count = requests
            .iter()
            .filter(|request| request.operation == *operation);
        assert_eq!(of.spreading.all().requests, count.count() as u64);
        assert_eq!(u64::from(of.max > 0), 1, "{operation:?}");
    }
}
