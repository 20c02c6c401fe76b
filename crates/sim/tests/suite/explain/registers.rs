//! Tests of explained runs with cache registers. A die with such registers executes several operations at a time. The
//! parts of each response time must add up nevertheless.

use destage_trace::{Operation, Request};

use super::kit::*;

const TRANSFER: u64 = 10 * MICROSECOND;
const TRANSFER_10_US: &str = "flash.transfer_ns_per_byte=2.44140625";
const TRANSFER_60_US: &str = "flash.transfer_ns_per_byte=14.6484375";
const CACHE_READ: &str = "flash.cache_read=true";
const CACHE_PROGRAM: &str = "flash.cache_program=true";

/// The parts of the response times of all `requests` on a device with one die and no buffer.
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
    // The second read begins when the cells have read the first page.
    let behind = [("bus", BUS), ("die", READ), ("flash", READ + TRANSFER)];
    assert_eq!(fast[1], behind);
    // The cells have read the second page at 50 us. This page enters the register when the channel has transferred
    // the first page, at 85 us.
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
    // The second write reaches its die one bus transfer after the first. It first waits until the register is free.
    // After the transfer of its page, it waits until the cells are free.
    let waits = TRANSFER - BUS + PROGRAM - TRANSFER;
    let behind = [
        ("queue", BUS),
        ("bus", BUS),
        ("die", waits),
        ("flash", TRANSFER + PROGRAM),
    ];
    assert_eq!(seen[1], behind);
}

#[test]
fn queues_tell_the_die_that_holds_a_command_from_the_cells_it_waits_for() {
    let queued = "flash.scheduling=commands_arrival";
    let reads = [0, 1].map(|page| request(0, Operation::Read, page, 1));
    let fast = on_one_die(&[TRANSFER_10_US, CACHE_READ, queued], &reads);
    let own = ("flash", READ);
    assert_eq!(fast[0], [("bus", BUS), own, ("transfer", TRANSFER)]);
    // The second read begins when the cells have read the first page.
    let die = ("die_read", READ);
    assert_eq!(fast[1], [("bus", BUS), own, die, ("transfer", TRANSFER)]);
    // A page takes 3 us from the cells to the register. The cells read the second page from 28 to 53 us. This page
    // enters the register when the channel has transferred the first page, at 88 us.
    let busy = "flash.cache_read_busy_us=3";
    let slow = on_one_die(&[TRANSFER_60_US, CACHE_READ, busy, queued], &reads);
    let behind = [
        ("bus", BUS),
        ("die", (3 + 35) * MICROSECOND),
        ("flash", READ + 3 * MICROSECOND),
        die,
        ("transfer", 6 * TRANSFER),
    ];
    assert_eq!(slow[1], behind);
    // The die accepts the second program when it has received the first page. The second program then waits in the
    // die until the cells have programmed the first page.
    let writes = [0, 1].map(|page| request(0, Operation::Write, page, 1));
    let seen = on_one_die(&[TRANSFER_10_US, CACHE_PROGRAM, queued], &writes);
    let own = ("flash", PROGRAM);
    assert_eq!(seen[0], [("bus", BUS), own, ("transfer", TRANSFER)]);
    let behind = [
        ("queue", BUS),
        ("bus", BUS),
        ("die", PROGRAM - TRANSFER),
        own,
        ("die_program", TRANSFER - BUS),
        ("transfer", TRANSFER),
    ];
    assert_eq!(seen[1], behind);
}

#[test]
fn who_waits_for_the_channel_while_a_die_may_begin_waits_for_no_die() {
    let writes = [0, 1, 2].map(|page| request(0, Operation::Write, page, 1));
    let device = [
        "flash.dies=2",
        "flash.channels=1",
        "flash.blocks_per_plane=64",
        "flash.spare_bytes_per_sector=0",
        "buffer.kind=nocache",
        TRANSFER_60_US,
        CACHE_PROGRAM,
        "flash.scheduling=commands_arrival",
    ];
    let seen = all(&writes, &device);
    // The second page of the first die first waits for the transfer of the first page. Then it waits for the channel,
    // which transfers the page of the other die. After its own transfer it waits in the die for the cells.
    let expected = [
        ("queue", 2 * BUS),
        ("bus", BUS),
        ("die", PROGRAM - 12 * TRANSFER),
        ("flash", PROGRAM),
        ("die_program", 6 * TRANSFER - 2 * BUS),
        ("channel", 6 * TRANSFER),
        ("transfer", 6 * TRANSFER),
    ];
    assert_eq!(parts(&seen[2]), expected);
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
            &["buffer.kind=lru", "flash.scheduling=reads_first"],
            &["flash.scheduling=reads_first", "flash.suspend=moves_end"],
            &["flash.scheduling=garbage_last", "flash.suspend=keeps_end"],
            &["buffer.kind=bplru", "ftl.kind=dftl"],
            &["buffer.kind=apu-lru", "device.vwc=off"],
        ] {
            let pairs = [&common[..], media, kind].concat();
            hold_to_run(&pairs, &requests, 2);
        }
    }
}
