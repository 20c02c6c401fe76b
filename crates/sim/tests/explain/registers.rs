//! Runs with cache registers: a die does several things at once, and the parts of each response still add up.

use destage_base::time::to_ms;
use destage_sim::run::RunResult;
use destage_trace::{Operation, Request};

use super::kit::*;

const TRANSFER: u64 = 10 * MICROSECOND;
const TRANSFER_10_US: &str = "flash.transfer_ns_per_byte=2.44140625";
const TRANSFER_60_US: &str = "flash.transfer_ns_per_byte=14.6484375";
const CACHE_READ: &str = "flash.cache_read=true";
const CACHE_PROGRAM: &str = "flash.cache_program=true";

/// One die without a buffer.
fn on_one_die(pairs: &[&str], requests: &[Request]) -> Vec<Vec<(&'static str, u64)>> {
    let device = [
        "flash.dies=1",
        "flash.blocks_per_plane=64",
        "flash.spare_bytes_per_sector=0",
        "buffer.kind=nocache",
    ];
    let all = all(requests, &[&device[..], pairs].concat());
    all.iter().map(parts).collect()
}

#[test]
fn a_read_waits_for_the_register_that_the_page_before_is_in() {
    let reads = [0, 1].map(|page| request(0, Operation::Read, page, 1));
    let fast = on_one_die(&[TRANSFER_10_US, CACHE_READ], &reads);
    let alone = [("bus", BUS), ("flash", READ + TRANSFER)];
    assert_eq!(fast[0], alone);
    // Begun when the first has been read.
    let behind = [("bus", BUS), ("die", READ), ("flash", READ + TRANSFER)];
    assert_eq!(fast[1], behind);
    // Read at 50 us, and in the register when the first has left it at 85 us.
    let slow = on_one_die(&[TRANSFER_60_US, CACHE_READ], &reads);
    let behind = [
        ("bus", BUS),
        ("die", READ + 35 * MICROSECOND),
        ("flash", READ + 6 * TRANSFER),
    ];
    assert_eq!(slow[1], behind);
}

#[test]
fn a_program_waits_for_the_cells_that_program_the_page_before() {
    let writes = [0, 1].map(|page| request(0, Operation::Write, page, 1));
    let seen = on_one_die(&[TRANSFER_10_US, CACHE_PROGRAM], &writes);
    assert_eq!(seen[0], [("bus", BUS), ("flash", TRANSFER + PROGRAM)]);
    // It joins its die one transfer over the bus later, waits for the register, and on the die for the cells.
    let waits = TRANSFER - BUS + PROGRAM - TRANSFER;
    let behind = [
        ("queue", BUS),
        ("bus", BUS),
        ("die", waits),
        ("flash", TRANSFER + PROGRAM),
    ];
    assert_eq!(seen[1], behind);
}

/// The course of a run knows of dies that do several things at once.
fn hold_to_metrics(result: &RunResult, dies: u32, what: &str) {
    let metric = |name: &str| {
        let number = result.metrics.get(name);
        number.map_or(0.0, |number| number.as_f64())
    };
    let explained = result.explained.as_ref().expect("explained");
    let series = &timed(explained).series;
    let span = (series.intervals.len() as u64 - 1) * series.length + series.last_length;
    let busy = series.intervals.iter().flat_map(|of| &of.busy);
    let busy: u128 = busy.map(|busy| u128::from(*busy)).sum();
    let share = busy as f64 / f64::from(dies) / span as f64;
    let kept = metric("flash.utilization_mean");
    assert!((share - kept).abs() < 1e-9, "{what}: {share} {kept}");
    let programs = series.intervals.iter();
    let programs: u64 = programs.flat_map(|of| of.tally.programs).sum();
    assert_eq!(programs as f64, metric("flash.programs"), "{what}");
    let gc = series.intervals.iter().map(|of| of.gc_time).sum();
    let gc_ms = metric("ftl.gc_time_ms");
    assert!((to_ms(gc) - gc_ms).abs() < 1e-6 * gc_ms.max(1.0), "{what}");
}

#[test]
fn parts_add_up_with_registers() {
    let requests = stream(11, 1500, 600);
    let common = [
        "flash.dies=2",
        "flash.channels=1",
        "flash.blocks_per_plane=64",
        "flash.summary_page=false",
        "buffer.capacity_bytes=128KiB",
        "trace.align=rmw",
        "host.queue_depth=8",
        "flash.command_ns=300",
        TRANSFER_10_US,
        CACHE_READ,
        CACHE_PROGRAM,
        "flash.cache_program_busy_us=5",
    ];
    let units = ["flash.program_unit=4", "flash.first_pass_us=50"];
    let in_passes = [&units[..], &["flash.program_passes=2"]].concat();
    for media in [&[][..], &units, &in_passes] {
        for kind in [
            &["buffer.kind=nocache"][..],
            &["buffer.kind=lru", "flash.order=reads_first"],
            &["flash.order=reads_first", "flash.suspend=moves_end"],
            &["flash.order=garbage_last", "flash.suspend=keeps_end"],
            &["buffer.kind=bplru", "ftl.kind=dftl"],
            &["buffer.kind=apu-lru", "device.vwc=off"],
        ] {
            let pairs = [&common[..], media, kind].concat();
            let what = pairs.join(" ");
            let config = config(&pairs, true).expect("a configuration");
            let mut responses = Responses::default();
            let result = simulate(&config, &requests, &mut responses);
            hold_to_plain(&pairs, &requests, &result, &what);
            hold_to_metrics(&result, 2, &what);
            let explained = result.explained.expect("explained");
            hold_to_responses(&explained, &responses, requests.len(), &what);
            let of = timed(&explained).responses.iter();
            let total: u128 = of.map(|of| of.spreading.all().total()).sum();
            let seen: u128 = responses.0.values().map(|time| u128::from(*time)).sum();
            assert_eq!(total, seen, "{what}");
        }
    }
}
