//! Tests of explained runs in which commands wait in the queues of dies. The parts of a response time say for which
//! operations of other requests the request waited, and how long each of its own operations took.

use destage_sim::explain::PARTS;
use destage_trace::{Operation, Request};

use super::kit::*;

const TRANSFER: u64 = 10 * MICROSECOND;
const DISPATCH: &str = "flash.scheduling=commands_arrival";

/// The parts of the response times of all `requests` on a device without a buffer. The channel transfers a page in 10
/// us.
fn parts_of(pairs: &[&str], requests: &[Request]) -> Vec<Vec<(&'static str, u64)>> {
    let device = [
        "flash.blocks_per_plane=64",
        "flash.spare_bytes_per_sector=0",
        "flash.transfer_ns_per_byte=2.44140625",
        "buffer.kind=nocache",
    ];
    let all = all(requests, &[&device[..], pairs].concat());
    all.iter().map(parts).collect()
}

#[test]
fn a_read_waits_behind_a_program_and_a_read() {
    let requests = [
        request(0, Operation::Write, 0, 1),
        request(50 * MICROSECOND, Operation::Read, 8, 1),
        request(60 * MICROSECOND, Operation::Read, 9, 1),
    ];
    let seen = parts_of(&["flash.dies=1", DISPATCH], &requests);
    let write = [("bus", BUS), ("flash", PROGRAM), ("transfer", TRANSFER)];
    assert_eq!(seen[0], write);
    let program_ends = BUS + TRANSFER + PROGRAM;
    let own = [("flash", READ), ("transfer", TRANSFER)];
    let first = [
        ("bus", BUS),
        own[0],
        ("die_program", program_ends - 50 * MICROSECOND),
        own[1],
    ];
    assert_eq!(seen[1], first);
    let second = [
        ("bus", BUS),
        own[0],
        ("die_read", READ + TRANSFER),
        ("die_program", program_ends - 60 * MICROSECOND),
        own[1],
    ];
    assert_eq!(seen[2], second);
    // Without queues the parts do not separate the transfer from the operation in the cells.
    let steps = parts_of(&["flash.dies=1"], &requests);
    assert_eq!(steps[0], [("bus", BUS), ("flash", PROGRAM + TRANSFER)]);
}

#[test]
fn what_was_read_waits_for_the_channel() {
    let reads = [0, 1].map(|page| request(0, Operation::Read, page, 1));
    let seen = parts_of(&["flash.dies=2", "flash.channels=1", DISPATCH], &reads);
    let first = [("bus", BUS), ("flash", READ), ("transfer", TRANSFER)];
    assert_eq!(seen[0], first);
    let second = [
        ("bus", BUS),
        ("flash", READ),
        ("channel", TRANSFER),
        ("transfer", TRANSFER),
    ];
    assert_eq!(seen[1], second);
}

#[test]
fn a_read_waits_behind_an_erase_of_a_collection() {
    // The writes overwrite all pages in order, so garbage collection finds blocks without valid pages. Each
    // collection is therefore a single erase.
    let pages = 64 * 8 / 2;
    let writes = |count: u64| {
        let write = |at| request(10 * at * MILLISECOND, Operation::Write, at % pages, 1);
        (0..count).map(write)
    };
    let device = [
        "flash.dies=1",
        "flash.blocks_per_plane=64",
        "buffer.kind=nocache",
        DISPATCH,
    ];
    let many: Vec<_> = writes(4 * pages).collect();
    let (whole, _) = explained(&many, &device);
    let last = timed(&whole).worst.iter().max_by_key(|slow| slow.index);
    let expected = [("bus", BUS), ("die_gc", ERASE), ("flash", PROGRAM)];
    assert_eq!(parts(last.expect("slow ones")), expected);
}

#[test]
fn parts_add_up_with_queues() {
    let requests = stream(11, 1500, 600);
    let common = [
        "flash.dies=2",
        "flash.channels=1",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=32",
        "buffer.capacity_bytes=64KiB",
        "trace.align=rmw",
        "host.queue_depth=8",
        "flash.transfer_ns_per_byte=3.7",
        "flash.command_ns=300",
    ];
    let (first, planes) = (
        "flash.scheduling=commands_reads_first",
        "flash.multi_plane=in_order",
    );
    let registers = [
        "flash.cache_program=true",
        "flash.cache_program_busy_us=4",
        "flash.cache_read=true",
    ];
    for rules in [
        &[DISPATCH][..],
        &[first],
        &[first, planes],
        &[&[first, planes][..], &registers].concat(),
    ] {
        for kind in [
            &["buffer.kind=nocache"][..],
            &["buffer.kind=lru"],
            &["buffer.kind=bplru", "ftl.kind=dftl"],
            &["buffer.kind=lru", "device.vwc=off"],
            &["buffer.kind=nocache", "ftl.placement=dynamic"],
            &["buffer.kind=lru", "ftl.kind=hat", "ftl.hat_update_us=1000"],
        ] {
            let places = kind.contains(&"ftl.placement=dynamic");
            if places && rules.contains(&registers[0]) {
                continue;
            }
            hold_to_run(&[&common[..], rules, kind].concat(), &requests, 2);
        }
    }
}

/// The explanation attributes nearly all waiting for a die to reads, programs or the channel. It attributes little to
/// the part `die`, which does not name the cause.
#[test]
fn nothing_is_told_twice_and_little_is_left_to_the_die() {
    let requests = stream(5, 2000, 600);
    let pairs = [
        "flash.dies=2",
        "flash.channels=1",
        "flash.blocks_per_plane=64",
        "flash.transfer_ns_per_byte=10",
        "buffer.kind=nocache",
        "host.queue_depth=16",
        "flash.scheduling=commands_reads_first",
    ];
    let (explained, _) = explained(&requests, &pairs);
    let all = timed(&explained).responses[0].spreading.all();
    let part = |name: &str| {
        let place = timed(&explained)
            .parts
            .iter()
            .position(|part| *part == name);
        all.sums[place.expect("a part")]
    };
    assert_eq!(timed(&explained).parts.len(), PARTS);
    for name in ["die_read", "die_program", "channel", "transfer", "flash"] {
        assert!(part(name) > 0, "{name}");
    }
    let apart = part("die_read") + part("die_program") + part("channel");
    assert!(20 * part("die") < apart, "{} {apart}", part("die"));
}
