//! Tests with hand-made steps: which operations the medium carries out, and with which refusal it refuses the other
//! operations.

use alloc::format;

use super::*;
use crate::operation::{Cause, Role, Transfer};

const GEOMETRY: Geometry = Geometry {
    dies: 2,
    planes: 1,
    blocks_per_plane: 4,
    pages_per_block: 4,
    summary_page: false,
    page_bytes: 8,
};

fn at(block: u32, page: u32) -> Ppn {
    Ppn(block << 2 | page)
}

fn spot(die: u32, block: u32, page: u32) -> Spot {
    Spot { die, block, page }
}

/// A medium, and the list of operations for the next step.
struct Bench {
    medium: Medium,
    operations: Operations,
}

impl Bench {
    fn new() -> Self {
        Self {
            medium: Medium::new(&GEOMETRY, true),
            operations: Operations::detailed(),
        }
    }

    fn program(&mut self, page: u64, at: Ppn) -> &mut Self {
        self.operations.set_page(Lpn(page));
        let purpose = || Purpose::owned(Role::Log, 7);
        self.operations.push_host_program(Cause::Host, at, purpose);
        self
    }

    fn copy(&mut self, from: Ppn, to: Ppn) -> &mut Self {
        let purpose = || Purpose::shared(Role::Migrations);
        let (cause, transfer) = (Cause::Copy, Transfer::None);
        self.operations
            .push_copy(cause, transfer, from, to, purpose);
        self
    }

    fn erase(&mut self, block: u32) -> &mut Self {
        self.operations.push_erase(Cause::Copy, at(block, 0));
        self
    }

    fn read(&mut self, page: u64, at: Ppn) -> &mut Self {
        self.operations.set_page(Lpn(page));
        self.operations.push_host_read(at);
        self
    }

    /// Starts the added operations as a step of `die`. The logical pages 0 to 9 have images of this version and kind.
    fn start_as(&mut self, die: u32, version: u64, kind: ImageKind) -> Result<(), Refusal> {
        let data = version.to_le_bytes().into();
        let images = core::array::from_fn::<_, 10, _>(|page| Image {
            page: Lpn(page as u64),
            version,
            kind,
            data: &data,
        });
        let done = self.medium.start(die, &self.operations, &images);
        self.operations.clear();
        done
    }

    fn start(&mut self, die: u32, version: u64) -> Result<(), Refusal> {
        self.start_as(die, version, ImageKind::Host)
    }

    /// Starts the added operations as a step of die 0, and ends the step.
    fn run(&mut self, version: u64) -> Result<(), Refusal> {
        let done = self.start(0, version);
        self.medium.end(0);
        done
    }

    fn newest(&self, page: u64) -> Option<(SpareKind, u64, Vec<u8>)> {
        let (spare, data) = self.medium.newest(Lpn(page))?;
        Some((spare.kind, spare.version, data.to_vec()))
    }
}

#[test]
fn pages_are_programmed_once_in_order_and_read_where_they_are() {
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(1).unwrap();
    let spare = bench.medium.spare(0, at(0, 0)).unwrap();
    assert_eq!(
        (spare.page, spare.version, spare.program, spare.purpose),
        (Some(Lpn(1)), 1, 1, Purpose::owned(Role::Log, 7))
    );
    assert_eq!(
        bench.newest(1),
        Some((SpareKind::Host, 1, vec![1, 0, 0, 0, 0, 0, 0, 0]))
    );
    let again = bench.program(1, at(0, 0)).run(2);
    assert_eq!(again, Err(Refusal::ProgramOfProgrammed(spot(0, 0, 0))));
    bench.program(1, at(0, 2)).run(2).unwrap();
    let (spot_of_old, end) = (spot(0, 0, 1), 3);
    assert_eq!(
        bench.program(1, at(0, 1)).run(3),
        Err(Refusal::OutOfOrder {
            spot: spot_of_old,
            end
        })
    );
    bench.medium = Medium::new(&GEOMETRY, false);
    bench
        .program(1, at(0, 2))
        .program(2, at(0, 1))
        .run(3)
        .unwrap();
    assert_eq!(
        bench.read(1, at(0, 1)).run(0),
        Err(Refusal::ReadOfOld {
            page: Lpn(1),
            spot: spot(0, 0, 1),
            newest: Some(spot(0, 0, 2)),
        })
    );
    let erased = bench.read(1, at(1, 0)).run(0).unwrap_err();
    assert_eq!(erased, Refusal::ReadOfErased(spot(0, 1, 0)));
    assert_eq!(
        format!("{erased}"),
        "read of page 0 of block 1 of die 0, which is erased"
    );
    assert!(bench.read(1, at(0, 2)).run(0).is_ok());
}

#[test]
fn programs_without_content_or_bytes_are_refused() {
    let mut bench = Bench::new();
    let here = spot(0, 0, 0);
    let no_image = bench.program(11, at(0, 0)).run(1);
    assert_eq!(
        no_image,
        Err(Refusal::WithoutImage {
            page: Lpn(11),
            spot: here
        })
    );
    bench.program(1, at(0, 0));
    let image = Image {
        page: Lpn(1),
        version: 1,
        kind: ImageKind::Host,
        data: &[0; 7].into(),
    };
    let short = bench.medium.start(0, &bench.operations, &[image]);
    bench.medium.end(0);
    assert_eq!(
        short,
        Err(Refusal::WrongLength {
            page: Lpn(1),
            given: 7,
            wanted: 8
        })
    );
    let mut counted = Operations::default();
    counted.push_erase(Cause::Copy, at(0, 0));
    assert_eq!(
        bench.medium.start(0, &counted, &[]),
        Err(Refusal::NotDetailed)
    );
    bench.operations.clear();
    bench.program(1, at(0, 0)).start(0, 1).unwrap();
    assert_eq!(
        bench.program(2, at(0, 1)).start(0, 1),
        Err(Refusal::Busy { die: 0 })
    );
}

#[test]
fn a_copy_keeps_the_version_and_the_bytes_of_its_source() {
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(5).unwrap();
    bench.copy(at(0, 0), at(1, 0)).erase(0).run(0).unwrap();
    assert_eq!(
        bench.newest(1),
        Some((SpareKind::Copy, 5, 5u64.to_le_bytes().to_vec()))
    );
    let spare = bench.medium.spare(0, at(1, 0)).unwrap();
    assert_eq!((spare.program, spare.purpose.role), (2, Role::Migrations));
    assert!(bench.medium.spare(0, at(0, 0)).is_none());
    // A physical page whose contents were replaced may be copied, but the copy does not become the newest copy.
    bench.program(1, at(1, 1)).run(6).unwrap();
    bench.copy(at(1, 0), at(2, 0)).run(0).unwrap();
    assert_eq!(bench.newest(1).unwrap().1, 6);
    // A page that was trimmed may be copied too, and the copy does not become the newest copy.
    bench.medium.trim(Lpn(1));
    bench.copy(at(1, 1), at(2, 1)).erase(1).run(0).unwrap();
    assert_eq!(bench.newest(1), None);
}

/// Case D6 of the rules: a block is erased before the copies of its pages have been programmed.
#[test]
fn an_erase_before_the_copies_or_the_program_have_ended_is_refused() {
    let mut bench = Bench::new();
    bench
        .program(1, at(0, 0))
        .program(2, at(0, 1))
        .run(1)
        .unwrap();
    let copy = |bench: &mut Bench| {
        bench.copy(at(0, 0), at(1, 0)).copy(at(0, 1), at(1, 1));
    };
    // The erase follows the copies in the list. But the erase is in another lane, so it may run before the copies.
    copy(&mut bench);
    bench.operations.next_lane();
    let held = bench.erase(0).run(0).unwrap_err();
    assert_eq!(
        held,
        Refusal::EraseOfHeld {
            spot: spot(0, 0, 0),
            page: Lpn(1),
            by: 0
        }
    );

    let mut bench = Bench::new();
    bench
        .program(1, at(0, 0))
        .program(2, at(0, 1))
        .run(1)
        .unwrap();
    bench.copy(at(0, 0), at(1, 0));
    let early = bench.erase(0).copy(at(0, 1), at(1, 1)).run(0).unwrap_err();
    assert_eq!(
        early,
        Refusal::EraseOfNewest {
            spot: spot(0, 0, 0),
            page: Lpn(2)
        }
    );

    // The last page has been read, but its copy is not programmed yet.
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(1).unwrap();
    bench.copy(at(0, 0), at(1, 0));
    let between = splice_erase(&bench.operations);
    let refused = bench.medium.start(0, &between, &[]).unwrap_err();
    assert_eq!(
        refused,
        Refusal::EraseBeforeCopies {
            spot: spot(0, 0, 0),
            page: 0
        }
    );

    // A rewrite of a block does not copy the old version of the page that the host writes (D20). It has to program
    // this page before the erase.
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(1).unwrap();
    let refused = bench.erase(0).program(1, at(1, 0)).run(2).unwrap_err();
    assert_eq!(
        refused,
        Refusal::EraseOfNewest {
            spot: spot(0, 0, 0),
            page: Lpn(1)
        }
    );
    assert!(bench.program(1, at(1, 0)).erase(0).run(2).is_ok());
}

/// The read of a copy, then the erase of the block that was read, then the program of the copy.
fn splice_erase(copy: &Operations) -> Operations {
    let mut spliced = Operations::detailed();
    spliced.push_copy(Cause::Copy, Transfer::None, at(0, 0), at(1, 0), || {
        Purpose::shared(Role::Data)
    });
    assert_eq!(spliced.all(), copy.all());
    spliced.insert_for_test(1, Kind::Erase, at(0, 0));
    spliced
}

/// Case D19: the replaced copy is held until the program of the new copy on the other die has ended.
#[test]
fn a_block_is_held_until_the_program_that_replaced_its_page_has_ended() {
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(1).unwrap();
    bench.program(1, at(0, 0)).start(1, 2).unwrap();
    let early = bench.erase(0).run(0).unwrap_err();
    assert_eq!(
        early,
        Refusal::EraseOfHeld {
            spot: spot(0, 0, 0),
            page: Lpn(1),
            by: 1
        }
    );
    let second = bench.program(1, at(1, 0)).run(3).unwrap_err();
    assert_eq!(
        second,
        Refusal::InFlight {
            page: Lpn(1),
            die: 1
        }
    );
    bench.medium.end(1);
    assert!(bench.erase(0).run(0).is_ok());
    assert!(bench.program(1, at(1, 0)).run(3).is_ok());
}

#[test]
fn versions_decide_the_place_and_fillers_never_are_one() {
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(4).unwrap();
    let stale = bench.program(1, at(0, 1)).run(3).unwrap_err();
    assert_eq!(
        stale,
        Refusal::StaleProgram {
            page: Lpn(1),
            version: 3,
            newest: 4
        }
    );
    // Among copies with equal versions, the copy programmed last is the newest.
    bench
        .program(1, at(0, 1))
        .start_as(0, 4, ImageKind::Copy)
        .unwrap();
    bench.medium.end(0);
    assert_eq!(bench.newest(1).unwrap().0, SpareKind::Copy);
    bench
        .program(1, at(0, 2))
        .program(2, at(0, 3))
        .start_as(0, 9, ImageKind::Fill)
        .unwrap();
    bench.medium.end(0);
    assert_eq!(bench.newest(1).unwrap().1, 4);
    assert_eq!(bench.newest(2), None);
    assert_eq!(bench.medium.spare(0, at(0, 3)).unwrap().version, 0);
    // A filler can be read if its logical page has no other copy. A moved filler is still a filler, and a filler may
    // be erased.
    assert!(bench.read(2, at(0, 3)).run(0).is_ok());
    assert!(bench.read(1, at(0, 2)).run(0).is_err());
    bench
        .copy(at(0, 1), at(1, 0))
        .copy(at(0, 3), at(1, 1))
        .erase(0)
        .run(0)
        .unwrap();
    assert_eq!(
        bench.medium.spare(0, at(1, 1)).unwrap().kind,
        SpareKind::Fill
    );
    // Programs of older versions are refused after a trim too.
    bench.medium.trim(Lpn(1));
    assert!(bench.program(1, at(1, 2)).run(3).is_err());
    bench
        .program(1, at(1, 2))
        .start_as(0, 5, ImageKind::Zeros)
        .unwrap();
    assert_eq!(bench.newest(1).unwrap().0, SpareKind::Zeros);
}

#[test]
fn a_copy_needs_a_read_and_an_erase_a_block() {
    let mut bench = Bench::new();
    bench.program(1, at(0, 0)).run(1).unwrap();
    bench.copy(at(0, 0), at(1, 0));
    bench.operations.remove_for_test(0);
    let unread = bench.run(0).unwrap_err();
    assert_eq!(
        unread,
        Refusal::CopyOfUnread {
            from: spot(0, 0, 0),
            spot: spot(0, 1, 0)
        }
    );
    bench.operations.push_erase(Cause::Copy, at(1, 1));
    assert_eq!(bench.run(0), Err(Refusal::EraseOfPage(spot(0, 1, 1))));
}

/// The command that programs or erases at `at`.
fn change(kind: Kind, at: Ppn) -> FlashCommand {
    FlashCommand {
        kind,
        at,
        pages: 1,
        pass: Pass::Only,
    }
}

/// A bench with a medium whose commands begin and end one by one.
fn bench_of_commands() -> Bench {
    let mut bench = Bench::new();
    bench.medium = Medium::new(&GEOMETRY, true).by_commands();
    bench
}

/// The versions of all copies that a mount finds after a power failure of `medium` at time 5.
fn versions_after_cut(medium: &Medium) -> Vec<u64> {
    let mut medium = medium.clone();
    let mut random = destage_base::Random::new(1);
    medium.cut(|_| 5, &TIMING, &BadDrive::default(), &mut random);
    let mut versions = Vec::new();
    medium.scan().copies(|of_page| {
        versions.extend(of_page.iter().map(|copy| copy.rank.version));
    });
    versions
}

const TIMING: crate::timing::Timing = crate::timing::Timing {
    read: 1,
    program: 10,
    erase: 100,
    one_bit: [1, 5],
    page_transfer: 1,
    sector_transfer: 1,
};

#[test]
fn d36_programs_that_wait_in_a_queue_end_one_by_one() {
    let mut bench = bench_of_commands();
    let places = [at(0, 0), at(0, 1)];
    for (version, place) in (1..).zip(places) {
        bench.program(1, place).start(0, version).unwrap();
    }
    assert_eq!(versions_after_cut(&bench.medium), [0; 0]);
    for (place, before, after) in [
        (places[0], vec![], vec![1]),
        (places[1], vec![1], vec![1, 2]),
    ] {
        let change = change(Kind::Program, place);
        bench.medium.command_begins(0, &change, 0, 1).unwrap();
        assert_eq!(versions_after_cut(&bench.medium), before);
        bench.medium.command_ended(0, &change);
        assert_eq!(versions_after_cut(&bench.medium), after);
    }
}

#[test]
fn d37_pages_that_share_a_page_of_flash_are_read_together_and_end_together() {
    let mut bench = bench_of_commands();
    bench.medium = bench.medium.with_units_per_page(2);
    for (version, place) in [(1, at(0, 0)), (2, at(0, 1))] {
        let page = version;
        bench.program(page, place).start(0, version).unwrap();
    }
    let both = |at| FlashCommand {
        pages: 2,
        ..change(Kind::Program, at)
    };
    let versions = |medium: &Medium| versions_after_cut(medium).len();
    bench
        .medium
        .command_begins(0, &both(at(0, 1)), 0, 1)
        .unwrap();
    assert_eq!(versions(&bench.medium), 0);
    bench.medium.command_ended(0, &both(at(0, 1)));
    assert_eq!(versions(&bench.medium), 2);
    // One read of the shared page of flash reads both logical pages.
    let purpose = || Purpose::shared(Role::Migrations);
    bench.copy(at(0, 0), at(1, 0));
    let (cause, transfer) = (Cause::Copy, Transfer::None);
    bench
        .operations
        .push_program_of_copy(cause, transfer, at(0, 1), at(1, 1), purpose);
    bench.erase(0).start(0, 0).unwrap();
    let erase = change(Kind::Erase, at(0, 0));
    let refused = bench.medium.command_begins(0, &erase, 0, 1);
    assert!(matches!(refused, Err(Refusal::EraseOfHeld { .. })));
    bench
        .medium
        .command_begins(0, &both(at(1, 1)), 0, 1)
        .unwrap();
    bench.medium.command_ended(0, &both(at(1, 1)));
    assert_eq!(bench.medium.command_begins(0, &erase, 0, 1), Ok(()));
    bench.program(3, at(0, 0)).start(0, 3).unwrap();
    let into = change(Kind::Program, at(0, 0));
    let refused = bench.medium.command_begins(0, &into, 0, 1);
    assert_eq!(refused, Err(Refusal::ProgramBeforeErase(spot(0, 0, 0))));
    bench.medium.command_ended(0, &erase);
    assert_eq!(bench.medium.command_begins(0, &into, 0, 1), Ok(()));
}
