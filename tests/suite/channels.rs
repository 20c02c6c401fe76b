//! Tests of dies that share channels. Response times must equal closed forms to the nanosecond. By default each
//! die has a channel of its own, and setting this explicitly must not change the results.

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, TICKS_PER_US};
use destage_tests::{Responses, run_reference, run_timed, single_pages};
use destage_trace::{Operation, Request};
use destage_workload::find;

/// Response times in nanoseconds of `requests` on a device of four dies without a buffer: 40 us to read, 200 us to
/// program, 10 us to transfer a page on the channel, no time on the host bus.
fn responses(pairs: &[&str], requests: &[Request]) -> Vec<u64> {
    let device = [
        "flash.dies=4",
        "flash.planes_per_die=1",
        "flash.blocks_per_plane=16",
        "flash.read_us=40",
        "flash.program_us=200",
        "flash.transfer_ns_per_byte=2.44140625",
        "flash.spare_bytes_per_sector=0",
        "flash.parallel_units=1",
        "host.bus_ns_per_sector=0",
        "host.queue_depth=64",
        "sim.clock=exact",
    ];
    run_timed(&device, pairs, requests).0
}

const US: Ticks = TICKS_PER_US;

#[test]
fn writes_to_two_dies_of_a_channel_follow_each_other_onto_it() {
    let both = single_pages(&[(0, 0, Operation::Write), (0, 1, Operation::Write)]);
    assert_eq!(responses(&[], &both), [210_000, 210_000]);
    assert_eq!(responses(&["flash.channels=4"], &both), [210_000, 210_000]);
    assert_eq!(responses(&["flash.channels=1"], &both), [210_000, 220_000]);
    // Pages 0 and 2 are on dies 0 and 2, which share the first of two channels; page 1 uses the second channel.
    let three = single_pages(&[
        (0, 0, Operation::Write),
        (0, 1, Operation::Write),
        (0, 2, Operation::Write),
    ]);
    let two = responses(&["flash.channels=2"], &three);
    assert_eq!(two, [210_000, 210_000, 220_000]);
    let with_commands = responses(&["flash.channels=2", "flash.command_ns=1000"], &three);
    assert_eq!(with_commands, [211_000, 211_000, 222_000]);
}

#[test]
fn a_read_books_the_channel_for_later_and_a_write_goes_before() {
    let pages = single_pages(&[
        (0, 0, Operation::Write),
        (0, 1, Operation::Write),
        (500 * US, 0, Operation::Read),
        (501 * US, 1, Operation::Write),
    ]);
    // The data of the read use the channel from 540 to 550 us, and the data of the write from 501 to 511 us.
    let shared = responses(&["flash.channels=1"], &pages);
    assert_eq!(shared[2..], [50_000, 210_000]);
    // The write arrives 5 us before the transfer of the read data begins. The transfer of the write takes 10 us,
    // so it must follow the transfer of the read.
    let mut late = pages.clone();
    late[3].arrival = 535 * US;
    assert_eq!(responses(&["flash.channels=1"], &late)[3], 15_000 + 210_000);
    assert_eq!(responses(&[], &late)[3], 210_000);
}

#[test]
fn status_and_command_belong_to_a_read_and_not_to_a_program() {
    let one = single_pages(&[(0, 0, Operation::Write), (TICKS_PER_MS, 0, Operation::Read)]);
    let pairs = ["flash.command_ns=1000", "flash.status_ns=200"];
    assert_eq!(responses(&pairs, &one), [211_000, 51_200]);
}

#[test]
fn programs_and_reads_take_what_the_type_of_their_page_takes() {
    let of_three = "flash.program_times_us=100/200/400";
    // All pages are on one die, so the pages of a block are written in order. Each write arrives after the
    // previous write has ended.
    let writes: Vec<_> = (0..14)
        .map(|page| (page * TICKS_PER_MS, page, Operation::Write))
        .collect();
    let mut all = single_pages(&writes);
    let types = [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2];
    let times = types.map(|page_type| 10_000 + [100_000, 200_000, 400_000][page_type]);
    assert_eq!(responses(&["flash.dies=1", of_three], &all), times);
    // With two page types, the types alternate from page to page. The read times of the types are separate
    // settings.
    all.truncate(2);
    all.extend(single_pages(&[
        (20 * TICKS_PER_MS, 0, Operation::Read),
        (21 * TICKS_PER_MS, 1, Operation::Read),
    ]));
    let two = ["flash.dies=1", "flash.read_times_us=40/60"];
    assert_eq!(responses(&two, &all), [210_000, 210_000, 50_000, 70_000]);
}

#[test]
fn a_channel_for_each_die_is_the_default() {
    let uniform = find("uniform").expect("the uniform workload");
    let mut values = destage_base::parameter::Values::defaults(uniform.parameters);
    for (name, text) in [
        ("requests", "6000"),
        ("footprint_pages", "1500"),
        ("write_percent", "70"),
        ("max_pages", "8"),
    ] {
        let row = uniform.parameters.iter().find(|row| row.name == name);
        let row = row.expect("a parameter");
        values.set(row.name, row.read(text).expect("a value"));
    }
    for buffer in ["nocache", "lru", "bplru"] {
        for layer in ["page", "bast", "dftl"] {
            let requests: Vec<Request> = (uniform.make)(&values, 7)
                .unwrap_or_else(|error| panic!("{error}"))
                .collect();
            let mut pairs = vec![
                "flash.dies=4".to_owned(),
                "flash.planes_per_die=1".to_owned(),
                "flash.blocks_per_plane=64".to_owned(),
                "flash.pages_per_block=8".to_owned(),
                "flash.parallel_units=1".to_owned(),
                "flash.wearout=ignore".to_owned(),
                "sim.run_out=true".to_owned(),
                "sim.window=complete".to_owned(),
                "buffer.capacity_bytes=256KiB".to_owned(),
                "sim.clock=exact".to_owned(),
                format!("buffer.kind={buffer}"),
                format!("ftl.kind={layer}"),
            ];
            let mut alone = Responses::default();
            let before = run_reference(&pairs, &requests, &mut alone);
            pairs.push("flash.channels=4".to_owned());
            let mut shared = Responses::default();
            let after = run_reference(&pairs, &requests, &mut shared);
            assert_eq!(alone.by_index, shared.by_index, "{buffer} over {layer}");
            let (before, after) = (before.metrics, after.metrics);
            assert_eq!(
                format!("{before:?}"),
                format!("{after:?}"),
                "{buffer} over {layer}"
            );
        }
    }
}
