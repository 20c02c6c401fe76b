//! The order of programs, copies and erases on several dies, and in blocks that are merged.

use destage_base::{Lpn, Random};
use destage_nand::Operations;
use destage_nand::array::Ppn;
use destage_nand::medium::Refusal;
use destage_nand::operation::Cause;

use crate::kit::{Command, Rig, Stack};

fn placed(dies: u32) -> Rig {
    let mut stack = Stack::new("nocache", 1, "page", dies, 16);
    stack.layer_settings = vec![
        ("placement", "dynamic"),
        ("reserve_percent", "50"),
        ("min_free_percent", "10"),
    ];
    stack.filled = true;
    stack.build()
}

/// The physical page, on the die `other`, of the copy that the present program of `die` replaces. `None` if `die`
/// does not program a page, or if the program replaces no copy on `other`.
fn replaced(rig: &Rig, die: u32, other: u32) -> Option<Ppn> {
    let Some(Command::Serve(operation)) = rig.flash.commands[die as usize] else {
        return None;
    };
    operation.write_cause()?;
    let medium = rig.flash.payload.medium();
    let copies = (0..16 * 4)
        .map(Ppn)
        .filter_map(|at| Some((at, medium.spare(other, at)?)));
    let here = copies.filter(|(_, spare)| spare.page == Some(operation.page()));
    here.max_by_key(|(_, spare)| (spare.version, spare.program))
        .map(|(at, _)| at)
}

#[test]
fn d19_an_erase_waits_for_the_program_that_replaced_a_page() {
    let mut rig = placed(2);
    let mut random = Random::new(3);
    let pages = rig.device.pages();
    let mut waited = 0;
    for token in 0..20_000 {
        rig.write(token, random.below(pages), 1, b'a');
        // The test delays die 1: its programs are in service while die 0 collects garbage.
        while rig.flash.commands[0].is_some() {
            let copies = matches!(
                rig.flash.commands[0],
                Some(Command::Collect { erases: false })
            );
            rig.end(0);
            if !copies {
                continue;
            }
            waited += 1;
            assert!(rig.flash.commands[0].is_none(), "the erase has begun");
            let held = replaced(&rig, 1, 0).expect("a page of die 0 is replaced");
            let mut erase = Operations::detailed();
            erase.push_erase(Cause::Copy, Ppn(held.0 / 4 * 4));
            let refused = rig.flash.payload.collect_garbage(0, &erase);
            assert!(
                matches!(refused, Err(Refusal::EraseOfHeld { by: 1, .. })),
                "{refused:?}"
            );
            rig.flash.payload.end(0);
            rig.end(1);
            assert!(
                matches!(
                    rig.flash.commands[0],
                    Some(Command::Collect { erases: true })
                ),
                "the erase has not begun"
            );
        }
        if token % 3 == 0 && rig.flash.commands[1].is_some() {
            rig.end(1);
        }
    }
    assert!(waited > 0, "no erase waited");
}

#[test]
fn d19_an_erase_of_another_block_does_not_wait() {
    let mut rig = placed(2);
    let mut random = Random::new(3);
    let pages = rig.device.pages();
    let mut at_once = 0;
    for token in 0..20_000 {
        rig.write(token, random.below(pages), 1, b'a');
        // The test delays die 1 again. The medium refuses an erase of the block with the page that the program of die
        // 1 replaces.
        while let Some(command) = &rig.flash.commands[0] {
            let erases = match command {
                Command::Collect { erases } => Some(*erases),
                _ => None,
            };
            if erases == Some(true) && replaced(&rig, 1, 0).is_some() {
                at_once += 1;
            }
            rig.end(0);
            if erases == Some(false) {
                rig.end(1);
                rig.end(0);
            }
        }
        if token % 3 == 0 && rig.flash.commands[1].is_some() {
            rig.end(1);
        }
    }
    assert!(
        at_once > 0,
        "every erase waited for the program of the other die"
    );
}

#[test]
fn d20_a_page_is_programmed_before_the_block_with_its_old_version_is_erased() {
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
        if destage_ftl::find(layer)
            .is_some_and(|row| row.parameters.iter().any(|row| row.name == "log_blocks"))
        {
            stack.layer_settings.push(("log_blocks", "6"));
        }
        let mut rig = stack.build();
        rig.write(0, 0, 4, b'a');
        rig.settle();
        for round in 0..200 {
            // The medium refuses an erase of the newest copy of a page, and of a copy whose replacement has not
            // ended.
            let version = rig.write(0, 1, 1, b'b');
            rig.write(1, 4 * (round % 6), 4, b'c');
            rig.settle();
            assert!(rig.ended(1, None).contains(&version));
            rig.flash.events.clear();
        }
        assert!(
            rig.flash.erases > 20,
            "{layer}: {} erases",
            rig.flash.erases
        );
    }
}

#[test]
fn a_read_follows_its_page_to_another_die() {
    let mut rig = placed(2);
    let mut random = Random::new(4);
    let pages = rig.device.pages();
    for round in 0..3_000 {
        let page = random.below(pages.min(12));
        match random.below(3) {
            0 => drop(rig.write(round, page, 1, b'a' + (round % 20) as u8)),
            _ => {
                let read = crate::kit::request(destage_device::RequestKind::Read, page, 1);
                rig.ask(round, read, 0);
            }
        }
        let busy = rig.busy();
        if busy.len() == 2 {
            rig.end(busy[random.below(2) as usize]);
        }
    }
    rig.settle();
    assert!(rig.device.is_settled());
}

#[test]
fn a_trim_is_not_overtaken_on_another_die() {
    let mut rig = placed(2);
    // Both dies are busy. Page 2 is on die 0, so the trim of page 2 waits at die 0, behind a read of the page.
    rig.write(0, 8, 1, b'x');
    rig.write(1, 9, 1, b'x');
    let home = rig.device.ftl().die_of(Lpn(2));
    rig.ask(
        2,
        crate::kit::request(destage_device::RequestKind::Read, 2, 1),
        0,
    );
    let trim = rig.trim(3, 2, 1);
    rig.end(home);
    let write = rig.write(4, 2, 1, b'b');
    rig.end(1 - home);
    rig.settle();
    assert_eq!(rig.ended(2, None), [trim, write]);
    assert_eq!(rig.on_flash(2), Some((write, vec![b'b'])));
}
