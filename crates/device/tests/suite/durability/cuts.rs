//! The worked cases with a power failure: the contents of the device after the mount.

use destage_base::{Lpn, Random, Ticks};
use destage_device::RequestKind;
use destage_device::power::{Capacitor, Dump, Energy, PowerLoss};
use destage_ftl::Ftl;
use destage_nand::medium::BadDrive;

use crate::durability::sectors::part;
use crate::kit::{Command, Rig, Stack, TIMING, request};

/// Energy of the program of a page, in picojoules. Other operations need no energy.
pub(super) const PROGRAM: u64 = 7;
/// Ticks of the first of two passes.
pub(super) const FIRST_PASS: Ticks = 60;
/// Ticks from the command to the end of a program.
const PROGRAM_TIME: Ticks = TIMING.program + TIMING.page_transfer;

/// The power of `rig` fails when the step of each die has run for `elapsed` ticks. If `programs` is given, the drive
/// has a capacitor, whose energy is sufficient for this number of programs. Returns the device after the mount, and
/// the work done with the capacitor.
pub(super) fn cut_with(
    stack: &Stack<'_>,
    rig: Rig,
    elapsed: impl Fn(u32) -> Ticks,
    programs: Option<u64>,
) -> (Rig, Option<Dump>) {
    let Rig {
        device,
        mut flash,
        now,
    } = rig;
    let loss = PowerLoss {
        now,
        elapsed: &elapsed,
        timing: TIMING,
        units: stack.config.units.map(|units| (units, FIRST_PASS)),
        bad: BadDrive::default(),
        capacitor: programs.map(|programs| Capacitor {
            charge: programs * PROGRAM,
            energy: Energy {
                program: PROGRAM,
                ..Energy::default()
            },
        }),
    };
    let mut fresh = || -> Box<dyn Ftl> { stack.fresh() };
    let cut = device.cut(&mut flash.payload, &loss, &mut Random::new(1), &mut fresh);
    let (_, dump) = cut.expect("a layer that can be mounted");
    let mounted = stack.remount(flash.payload, &[], &mut |_, _| {});
    (mounted.expect("a mount").0, dump)
}

fn cut(stack: &Stack<'_>, rig: Rig) -> Rig {
    cut_with(stack, rig, |_| 1, None).0
}

/// A device with a buffer of four pages, page mapping and one die.
fn small() -> Stack<'static> {
    Stack::new("lru", 4, "page", 1, 16)
}

#[test]
fn d2_after_the_answer_to_force_unit_access_its_version_is_there() {
    let mut stack = Stack::new("bplru", 16, "page", 1, 16);
    stack.filled = true;
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    rig.flush(1);
    let second = rig.write_fua(2, 1, 1, b'b');
    while !rig.is_answered(2) {
        rig.end(0);
    }
    assert_eq!(cut(&stack, rig).on_flash(1), Some((second, vec![b'b'])));
}

/// Page 1 is written (v1) and flushed, and then written again (v2) and flushed. The program of v2 is in flight.
fn d3(stack: &Stack<'_>) -> (Rig, u64, u64) {
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.settle();
    let second = rig.write(2, 1, 1, b'b');
    rig.flush(3);
    assert_eq!(rig.busy(), [0]);
    (rig, first, second)
}

#[test]
fn d3_a_program_in_flight_leaves_the_version_before_it() {
    let stack = small();
    for elapsed in [0, 1, PROGRAM_TIME - 1] {
        let (rig, first, _) = d3(&stack);
        let (mut rig, _) = cut_with(&stack, rig, |_| elapsed, None);
        assert_eq!(rig.on_flash(1), Some((first, vec![b'a'])), "{elapsed}");
        // The unreadable page counts as programmed, so the block is continued after it.
        let third = rig.write_fua(0, 2, 1, b'c');
        rig.settle();
        assert_eq!(rig.on_flash(2), Some((third, vec![b'c'])));
    }
    let (rig, _, second) = d3(&stack);
    let (rig, _) = cut_with(&stack, rig, |_| PROGRAM_TIME, None);
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])), "it had ended");
}

#[test]
fn d3_a_capacitor_ends_the_program_in_flight() {
    let stack = small();
    let (rig, _, second) = d3(&stack);
    let (rig, dump) = cut_with(&stack, rig, |_| 100, Some(1));
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
    let dump = dump.expect("there is a capacitor");
    assert_eq!((dump.pages, dump.left, dump.energy), (0, 0, PROGRAM));
    assert_eq!(dump.time, PROGRAM_TIME - 100);
}

#[test]
fn d7_zeros_that_were_flushed_stay_zeros_and_are_cleaned_as_data() {
    for cleans in [false, true] {
        let stack = small();
        let mut rig = stack.build();
        rig.write(0, 1, 1, b'a');
        rig.flush(1);
        rig.settle();
        let zeros = rig.ask(2, request(RequestKind::WriteZeroes, 1, 1), 0);
        rig.flush(3);
        rig.settle();
        let mut random = Random::new(1);
        for _ in 0..if cleans { 2_000 } else { 0 } {
            rig.write(5, 2 + random.below(40), 1, b'x');
            rig.settle();
        }
        assert_eq!(cut(&stack, rig).on_flash(1), Some((zeros, vec![0])));
    }
}

#[test]
fn d8_a_trim_that_was_flushed_leaves_zeros_or_a_version_that_was_there() {
    for (strict, letters) in [(false, &[0, b'a', b'b'][..]), (true, &[0])] {
        let mut stack = small();
        stack.config.strict_trim = strict;
        let mut rig = stack.build();
        for letter in [b'a', b'b'] {
            rig.write(0, 1, 1, letter);
            rig.flush(1);
            rig.settle();
        }
        rig.trim(2, 1, 1);
        rig.flush(3);
        rig.settle();
        let mut random = Random::new(1);
        for round in 0..60 {
            rig.write(5, 2 + random.below(40), 1, b'x');
            rig.settle();
            let mut payload = rig.flash.payload.clone();
            payload.cut(|_| 0, &TIMING, &BadDrive::default(), &mut Random::new(1));
            let (again, _) = stack
                .remount(payload, &[], &mut |_, _| {})
                .expect("a mount");
            let held = again.flash.payload.newest(Lpn(1)).bytes[0];
            assert!(letters.contains(&held), "{held} in round {round}");
        }
    }
}

#[test]
fn d9_what_was_answered_to_one_connection_is_covered_by_the_flush_of_another() {
    let stack = small();
    let mut rig = stack.build();
    let version = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    while !rig.is_answered(1) {
        rig.end(0);
    }
    assert_eq!(cut(&stack, rig).on_flash(1), Some((version, vec![b'a'])));
}

#[test]
fn d11_a_capacitor_saves_dirty_pages_in_the_order_of_the_scheme_side_by_side() {
    let stack = Stack::new("lru", 8, "page", 4, 16);
    let mut rig = stack.build();
    for page in 0..8 {
        rig.write(0, page, 1, b'a' + page as u8);
    }
    assert!(rig.busy().is_empty());
    let (rig, dump) = cut_with(&stack, rig, |_| 0, Some(5));
    let there = (0..8).filter(|page| rig.on_flash(*page).is_some());
    assert_eq!(there.collect::<Vec<u64>>(), [0, 1, 2, 3, 4]);
    let dump = dump.expect("there is a capacitor");
    assert_eq!((dump.pages, dump.left), (5, 3));
    assert_eq!(dump.time, 2 * PROGRAM_TIME);
}

#[test]
fn d12_a_program_that_ended_has_its_own_bytes() {
    let mut stack = Stack::new("fifo", 1, "page", 1, 16);
    stack.scheme_settings.push(("release", "issue"));
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.write(1, 2, 1, b'x');
    rig.write(2, 1, 1, b'b');
    rig.end(0);
    assert_eq!(cut(&stack, rig).on_flash(1), Some((first, vec![b'a'])));
}

#[test]
fn d13_and_d14_padding_brings_back_no_older_version() {
    let mut stack = Stack::new("bplru", 16, "page", 1, 16);
    stack.filled = true;
    let mut rig = stack.build();
    let second = rig.write(0, 4, 1, b'b');
    rig.flush(1);
    rig.write(2, 5, 1, b'c');
    rig.flush(3);
    rig.settle();
    assert_eq!(cut(&stack, rig).on_flash(4), Some((second, vec![b'b'])));

    stack.filled = false;
    let mut rig = stack.build();
    rig.write(0, 20, 1, b'x');
    rig.flush(1);
    let first = rig.write(2, 6, 1, b'a');
    rig.flush(3);
    rig.write(4, 4, 1, b'b');
    rig.flush(5);
    rig.settle();
    let rig = cut(&stack, rig);
    assert_eq!(rig.on_flash(6), Some((first, vec![b'a'])));
    assert_eq!(rig.on_flash(5), None, "a filler is nobody's place");
}

#[test]
fn d16_a_bypassed_write_that_dropped_a_flushed_page_is_there() {
    let mut stack = small();
    stack.scheme_settings.push(("bypass_pages", "4"));
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    let second = rig.write(1, 0, 8, b'b');
    rig.flush(2);
    while !rig.is_answered(2) {
        rig.end(0);
    }
    assert_eq!(cut(&stack, rig).on_flash(1), Some((second, vec![b'b'])));
}

#[test]
fn d17_a_page_written_back_is_there_as_it_was() {
    let stack = Stack::new("apu-lru", 4, "page", 1, 16);
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.write(2, 1, 1, b'b');
    rig.end(0);
    assert_eq!(cut(&stack, rig).on_flash(1), Some((first, vec![b'a'])));
}

#[test]
fn d18_sectors_are_told_apart() {
    let mut stack = small();
    stack.sectors = 8;
    let mut rig = stack.build();
    rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
    rig.flush(1);
    rig.settle();
    let second = rig.ask(2, part(RequestKind::Write, 0, 1), b'b');
    rig.ask(3, part(RequestKind::Trim, 0, 4), 0);
    rig.flush(4);
    rig.settle();
    let rig = cut(&stack, rig);
    assert_eq!(rig.on_flash(0), Some((second, b"baaaaaaa".to_vec())));
}

#[test]
fn d20_a_rewrite_of_a_full_block_can_be_cut_at_every_operation() {
    for layer in [
        "hybrid",
        "block",
        "replacement",
        "bast",
        "fast",
        "sast",
        "last",
        "superblock",
    ] {
        let mut stack = Stack::new("nocache", 1, layer, 1, 20);
        let row = destage_ftl::find(layer).expect("a layer");
        if row.parameters.iter().any(|row| row.name == "log_blocks") {
            stack.layer_settings.push(("log_blocks", "6"));
        }
        let mut rig = stack.build();
        rig.write(0, 0, 4, b'a');
        rig.settle();
        let mut moments_seen = 0;
        for round in 0..60 {
            let before = rig.on_flash(1).expect("it is there");
            let letter = b'a' + (round % 20) as u8;
            let version = rig.write(0, 1, 1, letter);
            rig.write(1, 4 * (round % 6), 4, letter);
            // The second write is newer if it covers page 1.
            let allowed = [before, (version, vec![letter]), (version + 1, vec![letter])];
            while !rig.busy().is_empty() {
                for moment in rig.flash.payload.medium().moments(0, &TIMING) {
                    moments_seen += 1;
                    let mut payload = rig.flash.payload.clone();
                    payload.cut(
                        |_| moment,
                        &TIMING,
                        &BadDrive::default(),
                        &mut Random::new(1),
                    );
                    let mounted = stack.remount(payload, &[], &mut |_, _| {});
                    let held = mounted.expect("a mount").0.on_flash(1);
                    let held = held.expect("it is there");
                    assert!(allowed.contains(&held), "{layer}: {held:?} at {moment}");
                }
                rig.end(0);
            }
        }
        assert!(moments_seen > 600, "{layer}");
    }
}

#[test]
fn d21_cleaning_that_is_cut_off_again_and_again_loses_nothing_and_makes_room() {
    for layer in ["page", "dftl", "hat"] {
        let mut stack = Stack::new("nocache", 1, layer, 1, 16);
        stack.filled = true;
        stack.layer_settings = match layer {
            "dftl" => vec![
                ("reserve_percent", "88"),
                ("min_free_percent", "1"),
                ("separate_gc_block", "false"),
                ("cmt_entries", "6"),
                ("mappings_per_page", "8"),
            ],
            _ => vec![("reserve_percent", "50"), ("min_free_percent", "10")],
        };
        let mut rig = stack.build();
        let mut random = Random::new(2);
        let pages = rig.device.pages();
        let mut letters = vec![0; pages as usize];
        let mut collections = 0;
        for round in 0..4_000u32 {
            let (page, letter) = (random.below(pages), b'a' + (round % 26) as u8);
            rig.write_fua(0, page, 1, letter);
            while !rig.is_answered(0) {
                if !matches!(rig.flash.commands[0], Some(Command::Collect { .. })) {
                    rig.end(0);
                    continue;
                }
                // Each collection is cut off after one of its operations. After the mount, the write is submitted
                // again.
                collections += 1;
                let moments = rig.flash.payload.medium().moments(0, &TIMING);
                let moment = moments[(collections % moments.len() as u32) as usize];
                rig = cut_with(&stack, rig, |_| moment, None).0;
                for (page, letter) in letters.iter().enumerate() {
                    let held = rig.flash.payload.newest(Lpn(page as u64)).bytes[0];
                    assert_eq!(held, *letter, "{layer}: page {page} in round {round}");
                }
                rig.write_fua(0, page, 1, letter);
                // After every second cut, the repeated write and the work before it run to their end.
                while !rig.busy().is_empty() && collections % 2 == 0 {
                    rig.end(0);
                }
            }
            rig.flash.events.clear();
            letters[page as usize] = letter;
        }
        assert!(collections > 100, "{layer}: {collections} collections");
    }
}

#[test]
fn d22_the_operation_in_service_takes_its_energy_first() {
    for (programs, is_saved) in [(1, false), (2, true)] {
        let mut stack = Stack::new("fifo", 1, "page", 1, 16);
        stack.scheme_settings.push(("release", "issue"));
        let mut rig = stack.build();
        // The program of page 9 is in service. Page 1 is emitted and waits behind this program. Page 2 is dirty.
        rig.write(0, 9, 1, b'x');
        rig.write(1, 1, 1, b'a');
        rig.write(2, 2, 1, b'b');
        assert_eq!(rig.busy(), [0]);
        let (rig, dump) = cut_with(&stack, rig, |_| 1, Some(programs));
        let there = [9, 1, 2].map(|page| rig.on_flash(page).is_some());
        assert_eq!(there, [true, is_saved, false]);
        assert_eq!(
            dump.expect("there is a capacitor").energy,
            programs * PROGRAM
        );
    }
}

#[test]
fn d23_what_waited_together_is_there_as_the_latest() {
    let mut stack = Stack::new("fifo", 1, "page", 1, 8);
    (stack.geometry.planes, stack.parallel_units, stack.copy_back) = (2, 2, true);
    stack.config.blocks_per_die = 16;
    let mut rig = stack.build();
    rig.write(0, 30, 1, b'x');
    rig.write(1, 1, 1, b'a');
    rig.write(2, 9, 1, b'y');
    rig.trim(3, 1, 1);
    let second = rig.write(4, 1, 1, b'b');
    rig.flush(5);
    rig.end(0);
    rig.end(0);
    assert!(rig.is_answered(5));
    assert_eq!(cut(&stack, rig).on_flash(1), Some((second, vec![b'b'])));
}

#[test]
fn a_capacitor_saves_what_was_emitted_before_what_is_dirty_and_each_page_once() {
    let mut stack = Stack::new("fifo", 2, "page", 1, 16);
    stack.scheme_settings.push(("release", "issue"));
    let mut rig = stack.build();
    rig.write(0, 9, 1, b'x');
    rig.write(1, 1, 1, b'a');
    rig.write(2, 2, 1, b'b');
    rig.write(3, 3, 1, b'c');
    // Page 1 was emitted, but its program has not begun, and then it was written again. The capacitor saves page 1
    // first, with its latest bytes.
    let newest = rig.write(4, 1, 1, b'd');
    let (rig, dump) = cut_with(&stack, rig, |_| 0, Some(2));
    assert_eq!(rig.on_flash(1), Some((newest, vec![b'd'])));
    assert_eq!([2, 3].map(|page| rig.on_flash(page)), [None, None]);
    assert_eq!(dump.expect("there is a capacitor").pages, 1);
}

#[test]
fn a_torn_page_is_taken_and_a_whole_one_of_equal_version_before_it() {
    let stack = small();
    let (rig, first, second) = d3(&stack);
    let bad = BadDrive {
        torn_sector_bytes: 2,
        ..BadDrive::default()
    };
    let mut kinds = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut payload = rig.flash.payload.clone();
        let report = payload.cut(|_| 1, &TIMING, &bad, &mut Random::new(seed));
        assert_eq!(report.lost.len(), 1);
        let (again, _) = stack
            .remount(payload, &[], &mut |_, _| {})
            .expect("a mount");
        let newest = again.flash.payload.newest(Lpn(1));
        assert_eq!(newest.version, second, "the page is taken, {first} is not");
        for sector in newest.bytes.chunks(2) {
            kinds.insert(match sector {
                b"aa" => 0,
                b"bb" => 1,
                _ => 2,
            });
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn a_word_line_takes_its_earlier_pages_along() {
    let stack = small();
    for (paired_loss_ppm, is_lost) in [(1_000_000, true), (0, false)] {
        let (mut payload, first) = {
            let (rig, first, _) = d3(&stack);
            (rig.flash.payload.clone(), first)
        };
        let bad = BadDrive {
            paired_loss_ppm,
            pages_per_word_line: 2,
            ..BadDrive::default()
        };
        let report = payload.cut(|_| 1, &TIMING, &bad, &mut Random::new(1));
        assert_eq!(report.lost.len(), usize::from(is_lost));
        let (again, _) = stack
            .remount(payload, &[], &mut |_, _| {})
            .expect("a mount");
        let held = again.on_flash(1);
        assert_eq!(held, (!is_lost).then(|| (first, vec![b'a'])));
    }
}

#[test]
fn the_next_version_is_above_all_that_can_be_read() {
    let stack = small();
    let (rig, first, _) = d3(&stack);
    let mut rig = cut(&stack, rig);
    assert_eq!(rig.write(0, 2, 1, b'c'), first + 1);
}
