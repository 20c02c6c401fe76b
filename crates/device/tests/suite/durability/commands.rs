//! The worked cases of devices whose commands begin and end one by one: program units, folding, and the state after a
//! cut between two commands.

use std::panic::{AssertUnwindSafe, catch_unwind};

use destage_base::{Lpn, Random, Ticks};
use destage_device::Units;
use destage_device::power::Dump;
use destage_nand::Kind;
use destage_nand::medium::{BadDrive, CutReport, Lost, Refusal};

use super::cuts::{self, FIRST_PASS, PROGRAM};
use crate::kit::{Command, Plant, Rig, Stack, TIMING};

/// A device with `scheme` over `layer` on one die of forty blocks. A block has four pages; with two passes, eight
/// pages. Two pages are programmed together in `passes` passes. The test does not report alarms, so a page waits
/// until its unit is full.
fn stack<'a>(scheme: &'a str, layer: &'a str, passes: u32) -> Stack<'a> {
    let mut stack = Stack::new(scheme, 4, layer, 1, 40);
    stack.by_commands = true;
    stack.config.power_may_fail = true;
    stack.geometry.pages_per_block = 4 * passes;
    stack.layer_settings = vec![("reserve_percent", "60"), ("min_free_percent", "3")];
    stack.config.units = Some(Units {
        pages: 2,
        passes,
        block_pages: 4 * passes,
        page_bits: 1 + passes,
        wait: 1,
    });
    stack
}

/// Like [`stack`] with one pass, but the device completes a unit as soon as a request waits for the unit.
fn hasty<'a>(scheme: &'a str, layer: &'a str) -> Stack<'a> {
    let mut stack = stack(scheme, layer, 1);
    if let Some(units) = &mut stack.config.units {
        units.wait = 0;
    }
    stack
}

/// The device after a power failure at `now` and a mount, and the report of the cut.
fn fail_at(stack: &Stack<'_>, rig: &Rig, now: Ticks, bad: &BadDrive) -> (Rig, CutReport) {
    let mut payload = rig.flash.payload.clone();
    let report = payload.cut(|_| now, &TIMING, bad, &mut Random::new(1));
    let mounted = stack.remount(payload, &[], &mut |_, _| {});
    (mounted.expect("a mount").0, report)
}

/// [`fail_at`] at the present time, for a drive without faults.
fn fail(stack: &Stack<'_>, rig: &Rig) -> Rig {
    fail_at(stack, rig, rig.now, &BadDrive::default()).0
}

/// For each of `pages`, whether it would be on flash if the power of `rig` failed now.
fn survive<const N: usize>(stack: &Stack<'_>, rig: &Rig, pages: [u64; N]) -> [bool; N] {
    let after = fail(stack, rig);
    pages.map(|page| after.on_flash(page).is_some())
}

/// The power of `rig` fails now. The energy of the capacitor is sufficient for the programs of `programs` pages.
fn fail_with(stack: &Stack<'_>, rig: Rig, programs: u64) -> (Rig, Dump) {
    let now = rig.now;
    let (after, dump) = cuts::cut_with(stack, rig, |_| now, Some(programs));
    (after, dump.expect("there is a capacitor"))
}

#[test]
fn d24_a_page_is_durable_when_its_unit_has_ended() {
    let stack = stack("nocache", "page", 1);
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    rig.end(0);
    assert!(!rig.is_answered(0), "its unit is not full");
    assert_eq!(survive(&stack, &rig, [1]), [false]);
    rig.write_fua(1, 2, 1, b'b');
    assert!(rig.go_on(0), "the program of both begins");
    assert_eq!(survive(&stack, &rig, [1, 2]), [false, false]);
    assert!(rig.go_on(0), "and ends");
    assert_eq!(survive(&stack, &rig, [1, 2]), [true, true]);
    assert!(!rig.is_answered(1), "nobody has told the device");
    rig.end(0);
    assert!(rig.is_answered(0) && rig.is_answered(1));
}

#[test]
fn d25_a_unit_that_a_flush_waits_for_is_completed() {
    let stack = hasty("lru", "page");
    let mut rig = stack.build();
    let version = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.end(0);
    assert!(matches!(rig.flash.commands[0], Some(Command::Fill)));
    assert!(rig.go_on(0) && !rig.is_answered(1));
    assert_eq!(survive(&stack, &rig, [1]), [false]);
    rig.end(0);
    assert!(rig.is_answered(1));
    let after = fail(&stack, &rig);
    assert_eq!(after.on_flash(1), Some((version, vec![b'a'])));
    let there = (0..after.device.pages()).filter(|page| after.on_flash(*page).is_some());
    assert_eq!(there.count(), 1, "a filler is nobody's place");
}

/// Page 1 is written and flushed, and then written and flushed again. The unit of the second write is in flight.
fn d26(stack: &Stack<'_>) -> (Rig, u64) {
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.settle();
    rig.write(2, 1, 1, b'b');
    rig.flush(3);
    rig.end(0);
    assert!(rig.go_on(0));
    (rig, first)
}

#[test]
fn d26_a_unit_in_flight_leaves_the_one_before_it() {
    let stack = hasty("lru", "page");
    let (rig, first) = d26(&stack);
    let (after, report) = fail_at(&stack, &rig, rig.now, &BadDrive::default());
    assert_eq!(report.programs, 2, "the page and its filler");
    assert_eq!(after.on_flash(1), Some((first, vec![b'a'])));
}

#[test]
fn d27_a_bad_word_line_takes_pages_whose_own_program_had_ended() {
    let stack = hasty("lru", "page");
    let (rig, _) = d26(&stack);
    let bad = BadDrive {
        paired_loss_ppm: 1_000_000,
        pages_per_word_line: 4,
        ..BadDrive::default()
    };
    let (after, report) = fail_at(&stack, &rig, rig.now, &bad);
    assert_eq!(after.on_flash(1), None);
    assert!(report.lost.contains(&(Lpn(1), Lost::Paired)));
}

#[test]
fn d28_of_two_passes_the_last_decides() {
    let stack = stack("nocache", "page", 2);
    let mut rig = stack.build();
    let units = [2, 4, 6, 8];
    for page in 1..8 {
        rig.write(page as u32, page, 1, b'a');
        rig.end(0);
        // The second pass of a unit follows the first pass of the next unit.
        let ended = page / 2 * 2;
        let there = units.map(|unit| unit + 2 <= ended);
        assert_eq!(survive(&stack, &rig, units), there, "behind {page}");
    }
    rig.write(8, 8, 1, b'a');
    // These passes begin and end one after the other: the first pass of pages 7 and 8, the second pass of pages 5 and
    // 6, and the second pass of pages 7 and 8.
    let passes: Vec<[bool; 2]> = (0..6)
        .map(|_| {
            assert!(rig.go_on(0));
            survive(&stack, &rig, [6, 8])
        })
        .collect();
    let (none, first, all) = ([false; 2], [true, false], [true; 2]);
    assert_eq!(passes, [none, none, none, first, first, all]);
    assert!(!rig.is_answered(6));
    rig.end(0);
    assert!(rig.is_answered(6) && rig.is_answered(8));
}

/// Writes pages again and again. Each garbage collection is cut off before and after each of its commands. After each
/// cut, every page must hold the promised version or a later version. Returns the number of collections.
fn cut_in_collections(stack: &Stack<'_>, watch: impl FnMut(&mut Rig)) -> u32 {
    cut_with(stack, Plant::Nothing, watch)
}

/// [`cut_in_collections`] with flash that has the fault `plant`.
fn cut_with(stack: &Stack<'_>, plant: Plant, mut watch: impl FnMut(&mut Rig)) -> u32 {
    let mut rig = stack.build();
    rig.flash.plant = plant;
    let pages = rig.device.pages();
    let mut random = Random::new(3);
    let (mut promised, mut latest) = (vec![0; pages as usize], vec![0; pages as usize]);
    let mut waiting: Vec<(u32, u64, u64)> = Vec::new();
    let mut collections = 0;
    for round in 0..700u32 {
        let page = random.below(pages);
        let token = 10 + round;
        let version = rig.write(token, page, 1, b'a' + (round % 26) as u8);
        latest[page as usize] = version;
        waiting.push((token, page, version));
        while !rig.busy().is_empty() {
            if matches!(rig.flash.commands[0], Some(Command::Collect { .. })) {
                collections += 1;
                watch(&mut rig);
                loop {
                    let after = fail(stack, &rig);
                    for page in 0..pages {
                        let held = after.on_flash(page).map_or(0, |(version, _)| version);
                        let (least, most) = (promised[page as usize], latest[page as usize]);
                        assert!(
                            (least..=most).contains(&held),
                            "page {page} in round {round}: {held}, and {least} was promised"
                        );
                    }
                    if !rig.go_on(0) {
                        break;
                    }
                }
            }
            rig.end(0);
            waiting.retain(|(token, page, version)| {
                let is_answered = rig.is_answered(*token);
                if is_answered {
                    let promise = &mut promised[*page as usize];
                    *promise = (*promise).max(*version);
                }
                !is_answered
            });
        }
        rig.flash.events.clear();
    }
    assert!(promised.iter().any(|version| *version > 100));
    collections
}

#[test]
fn d29_and_d30_a_source_is_erased_behind_the_units_that_need_it() {
    for passes in [1, 2] {
        let stack = stack("nocache", "page", passes);
        let mut refused = 0;
        let collections = cut_in_collections(&stack, |rig| {
            let mut payload = rig.flash.payload.clone();
            let mut to_come = rig.flash.to_come[0].iter();
            let erase = to_come.find(|change| change.kind == Kind::Erase);
            let begun = erase.map(|erase| payload.command_begins(0, erase, 0, 1));
            refused += u32::from(matches!(begun, Some(Err(Refusal::EraseOfHeld { .. }))));
        });
        assert!(collections > 30 && refused > 5, "{collections}, {refused}");
    }
}

#[test]
fn d31_a_capacitor_ends_a_unit_that_it_pays_for_as_a_whole() {
    for (programs, is_there) in [(1, false), (2, true)] {
        let stack = stack("nocache", "page", 1);
        let mut rig = stack.build();
        rig.write(0, 1, 1, b'a');
        rig.end(0);
        rig.write(1, 2, 1, b'b');
        assert!(rig.go_on(0));
        let (after, dump) = fail_with(&stack, rig, programs);
        let there = [1, 2].map(|page| after.on_flash(page).is_some());
        assert_eq!(there, [is_there; 2], "{programs}");
        assert_eq!(dump.energy, if is_there { 2 * PROGRAM } else { 0 });
        assert_eq!(dump.left, if is_there { 0 } else { 2 });
    }
}

#[test]
fn d32_the_first_page_of_a_unit_pays_for_the_unit() {
    for (programs, saved, energy) in [(1, 0, 0), (2, 2, 2), (3, 2, 2), (4, 3, 4)] {
        let stack = stack("lru", "page", 1);
        let mut rig = stack.build();
        for page in 1..4 {
            rig.write(0, page, 1, b'a');
        }
        let (after, dump) = fail_with(&stack, rig, programs);
        let there = (1..4).filter(|page| after.on_flash(*page).is_some());
        assert_eq!(there.collect::<Vec<u64>>(), (1..=saved).collect::<Vec<_>>());
        assert_eq!((dump.pages, dump.left), (saved, 3 - saved));
        assert_eq!(dump.energy, energy * PROGRAM);
        let units = energy / 2;
        let time = units * (2 * TIMING.page_transfer + TIMING.program);
        assert_eq!(dump.time, time, "{programs}");
    }
}

#[test]
fn d33_a_first_pass_is_not_ended_and_its_pages_are_dumped() {
    let stack = stack("nocache", "page", 2);
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.end(0);
    let second = rig.write(1, 2, 1, b'b');
    assert!(rig.go_on(0));
    let (after, dump) = fail_with(&stack, rig, 8);
    assert_eq!(after.on_flash(1), Some((first, vec![b'a'])));
    assert_eq!(after.on_flash(2), Some((second, vec![b'b'])));
    assert_eq!((dump.pages, dump.energy), (2, 4 * PROGRAM));
    let time = 2 * TIMING.page_transfer + TIMING.program + FIRST_PASS;
    assert_eq!(dump.time, time);
}

#[test]
fn d34_folding_can_be_cut_at_every_command() {
    let stack = stack("nocache", "pslc", 1);
    let collections = cut_in_collections(&stack, |_| {});
    assert!(collections > 30, "{collections}");
}

#[test]
fn d35_a_program_that_is_interrupted_has_not_ended() {
    let stack = hasty("lru", "page");
    let (mut rig, first) = d26(&stack);
    let later = rig.now + 100 * TIMING.program;
    let (after, report) = fail_at(&stack, &rig, later, &BadDrive::default());
    assert_eq!(report.programs, 2);
    assert_eq!(after.on_flash(1), Some((first, vec![b'a'])));
    assert!(rig.go_on(0));
    let (after, report) = fail_at(&stack, &rig, later, &BadDrive::default());
    assert_eq!(report.programs, 0);
    assert_eq!(after.on_flash(1).expect("it is there").1, [b'b']);
}

#[test]
fn d38_behind_a_unit_that_was_cut_off_the_next_is_programmed_as_a_whole() {
    let stack = hasty("lru", "page");
    let (rig, _) = d26(&stack);
    let mut rig = fail(&stack, &rig);
    let third = rig.write(4, 3, 1, b'c');
    rig.flush(5);
    rig.end(0);
    assert!(matches!(rig.flash.commands[0], Some(Command::Fill)));
    rig.settle();
    assert!(rig.is_answered(5));
    let after = fail(&stack, &rig);
    assert_eq!(after.on_flash(3), Some((third, vec![b'c'])));
}

/// The message with which [`cut_with`] fails for `plant`, in a device with units of `passes` passes over `layer`;
/// `None` if it finds nothing.
fn finding(plant: Plant, layer: &str, passes: u32) -> Option<String> {
    let run = AssertUnwindSafe(|| cut_with(&stack("nocache", layer, passes), plant, |_| ()));
    let found = catch_unwind(run).err()?;
    Some(found.downcast_ref::<String>().expect("words").clone())
}

#[test]
fn every_planted_bug_of_commands_is_found() {
    let lost = "was promised";
    let erased = "until its program on die 0 has ended";
    let cases = [
        (Plant::ErasesFirst, "page", 1, erased),
        (Plant::ErasesFirst, "page", 2, erased),
        (Plant::FirstPassIsLast, "page", 2, lost),
        (Plant::LosesLastCopy, "pslc", 1, erased),
        (Plant::BegunIsEnded, "page", 1, lost),
    ];
    for (plant, layer, passes, words) in cases {
        let found = finding(plant, layer, passes);
        let is_it = found.as_ref().is_some_and(|found| found.contains(words));
        assert!(is_it, "{plant:?} over {layer}: {found:?}");
        assert_eq!(finding(Plant::Nothing, layer, passes), None);
    }
}
