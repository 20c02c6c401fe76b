//! Tests of cache registers with queued commands. Response times must equal closed forms to the nanosecond.

use destage_tests::{page_requests, run_timed};
use destage_trace::Operation;

use super::{DEVICE, READ_BETWEEN_WRITES, TRANSFER_10_US, TRANSFER_60_US, US, on_one_die};

const ARRIVAL: &str = "flash.scheduling=commands_arrival";
const READ: &str = "flash.cache_read=true";
const PROGRAM: &str = "flash.cache_program=true";

/// Response times in microseconds of requests that all arrive at time 0.
fn at_once(pairs: &[&str], of: &[(u64, u32, Operation)]) -> Vec<u64> {
    let all: Vec<_> = of
        .iter()
        .map(|(page, pages, what)| (0, *page, *pages, *what))
        .collect();
    let (responses, _) = run_timed(DEVICE, pairs, &page_requests(&all));
    responses.iter().map(|response| response / 1000).collect()
}

#[test]
fn a_die_programs_while_the_next_page_comes() {
    let three = [0, 1, 2].map(|page| (0, page, Operation::Write));
    let queued = [TRANSFER_10_US, ARRIVAL];
    assert_eq!(on_one_die(&queued, &three), [210, 420, 630]);
    let cached = [TRANSFER_10_US, ARRIVAL, PROGRAM];
    assert_eq!(on_one_die(&cached, &three), [210, 410, 610]);
    let busy = [&cached[..], &["flash.cache_program_busy_us=5"]].concat();
    assert_eq!(on_one_die(&busy, &three), [215, 420, 625]);
    // The command and the data of a program use the channel in one phase of 11 us.
    let command = [&cached[..], &["flash.program_command_ns=1000"]].concat();
    assert_eq!(on_one_die(&command, &three), [211, 411, 611]);
    // If a transfer takes longer than a program in the cells, the transfers follow each other without a gap.
    let slow = "flash.transfer_ns_per_byte=61.03515625";
    assert_eq!(
        on_one_die(&[slow, ARRIVAL, PROGRAM], &three),
        [450, 700, 950]
    );
    assert_eq!(on_one_die(&[slow, ARRIVAL, READ], &three), [450, 900, 1350]);
}

#[test]
fn a_die_reads_while_the_page_before_leaves() {
    let three = [0, 1, 2].map(|page| (0, page, Operation::Read));
    let queued = [TRANSFER_10_US, ARRIVAL];
    assert_eq!(on_one_die(&queued, &three), [50, 100, 150]);
    let cached = [TRANSFER_10_US, ARRIVAL, READ];
    assert_eq!(on_one_die(&cached, &three), [50, 90, 130]);
    let busy = [&cached[..], &["flash.cache_read_busy_us=3"]].concat();
    assert_eq!(on_one_die(&busy, &three), [53, 96, 139]);
    // The command of the next read uses the channel during these 3 us. Without these 3 us the command uses the
    // channel before the page is transferred.
    let command = [&busy[..], &["flash.command_ns=1000"]].concat();
    assert_eq!(on_one_die(&command, &three), [54, 97, 140]);
    let before = [&cached[..], &["flash.command_ns=1000"]].concat();
    assert_eq!(on_one_die(&before, &three), [52, 93, 133]);
    // If a transfer takes longer than a read in the cells, the transfers follow each other without a gap.
    let slow = [TRANSFER_60_US, ARRIVAL, READ];
    assert_eq!(on_one_die(&slow, &three), [100, 160, 220]);
    let slow_busy = [&slow[..], &["flash.cache_read_busy_us=3"]].concat();
    assert_eq!(on_one_die(&slow_busy, &three), [103, 166, 229]);
}

#[test]
fn a_read_behind_a_program_waits_for_its_cells_and_a_program_for_the_register() {
    let of = READ_BETWEEN_WRITES;
    // The read is in the cells from 210 to 250 us, and its page is transferred until 260 us. Then the data of the
    // second program are transferred until 270 us.
    let both = [TRANSFER_10_US, ARRIVAL, READ, PROGRAM];
    assert_eq!(on_one_die(&both, &of), [210, 260, 470]);
    // A read that has priority waits for the program that is in the cells, and is issued before the next program.
    let of = [of[0], of[2], of[1]];
    let first = [
        TRANSFER_10_US,
        "flash.scheduling=commands_reads_first",
        PROGRAM,
    ];
    assert_eq!(on_one_die(&first, &of), [210, 470, 260]);
}

#[test]
fn dies_of_a_channel_read_on_before_their_pages_leave() {
    let four = [0, 1, 2, 3].map(|page| (page, 1, Operation::Read));
    let dies = ["flash.dies=2", "flash.channels=1", TRANSFER_10_US, ARRIVAL];
    assert_eq!(at_once(&dies, &four), [50, 60, 110, 120]);
    // The first die begins its second read at 40 us. The second die begins its second read at 50 us, when the
    // channel is free for the page of its first read.
    assert_eq!(
        at_once(&[&dies[..], &[READ]].concat(), &four),
        [50, 60, 90, 100]
    );
}

#[test]
fn pages_of_two_planes_go_together() {
    let device = [
        "flash.dies=1",
        "flash.planes_per_die=2",
        ARRIVAL,
        "flash.multi_plane=in_order",
    ];
    // The test writes the pages at two offsets of both planes. To test reads, it also reads these pages after the
    // writes have ended.
    let with = |more: &[&str], what| {
        let late = match what {
            Operation::Read => 1000 * US,
            _ => 0,
        };
        let writes = [(0, 0, 2, Operation::Write), (0, 2, 2, Operation::Write)];
        let reads = [(late, 0, 2, what), (late, 2, 2, what)];
        let all = [&device[..], more].concat();
        let requests = match what {
            Operation::Read => [&writes[..], &reads].concat(),
            _ => writes.to_vec(),
        };
        let (responses, _) = run_timed(DEVICE, &all, &page_requests(&requests));
        let last = responses[responses.len() - 2..].iter();
        last.map(|response| response / 1000).collect::<Vec<_>>()
    };
    assert_eq!(with(&[TRANSFER_10_US], Operation::Write), [220, 440]);
    assert_eq!(
        with(&[TRANSFER_10_US, PROGRAM], Operation::Write),
        [220, 420]
    );
    assert_eq!(with(&[TRANSFER_10_US], Operation::Read), [60, 120]);
    assert_eq!(with(&[TRANSFER_10_US, READ], Operation::Read), [60, 100]);
    // Both pages move to the cache registers of their planes only when the two earlier pages have left these
    // registers.
    assert_eq!(with(&[TRANSFER_60_US, READ], Operation::Read), [160, 280]);
    let busy = [TRANSFER_60_US, READ, "flash.cache_read_busy_us=3"];
    assert_eq!(with(&busy, Operation::Read), [163, 286]);
}
