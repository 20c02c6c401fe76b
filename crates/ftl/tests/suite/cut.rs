//! Power cuts during hand-made steps, and the copies that a mount uses after them. The steps are copies at the
//! same time as programs, and erases that are cut off. Another test mounts each layer.

use destage_base::{Lpn, Random, Ticks};
use destage_ftl::mount::mount;
use destage_ftl::{FTLS, FtlConfig};
use destage_nand::array::Ppn;
use destage_nand::found::Found;
use destage_nand::medium::{BadDrive, Image, ImageKind, Refusal};
use destage_nand::operation::{Purpose, Role};
use destage_nand::{Cause, Geometry, Medium, Operations, Timing, Transfer};

const GEOMETRY: Geometry = Geometry {
    dies: 2,
    planes: 1,
    blocks_per_plane: 40,
    pages_per_block: 4,
    summary_page: false,
    page_bytes: 512,
};
const TIMING: Timing = Timing {
    read: 25,
    program: 200,
    erase: 1500,
    one_bit: [0; 2],
    page_transfer: 0,
    sector_transfer: 0,
};
/// Time of a copy.
const COPY: Ticks = TIMING.read + TIMING.program;

fn at(block: u32, page: u32) -> Ppn {
    Ppn(block << 2 | page)
}

fn copy(operations: &mut Operations, from: Ppn, to: Ppn) {
    let purpose = || Purpose::shared(Role::Migrations);
    operations.push_copy(Cause::Copy, Transfer::None, from, to, purpose);
}

/// Starts the program of `version` of page 1 at `to` of `die`; the program is in flight afterwards.
fn program(medium: &mut Medium, die: u32, version: u64, to: Ppn) -> Result<(), Refusal> {
    let mut operations = Operations::detailed();
    operations.set_page(Lpn(1));
    let purpose = || Purpose::shared(Role::Host);
    operations.push_host_program(Cause::Host, to, purpose);
    let image = Image {
        page: Lpn(1),
        version,
        kind: ImageKind::Host,
        data: &[version as u8; 512].into(),
    };
    medium.start(die, &operations, &[image])
}

/// A medium with version 1 of page 1 in block 0 of die 0.
fn written() -> Medium {
    let mut medium = Medium::new(&GEOMETRY, true);
    program(&mut medium, 0, 1, at(0, 0)).expect("it is erased");
    medium.end(0);
    medium
}

/// Cuts the power when the steps of the two dies have been in service for `elapsed` ticks. Returns the version of
/// page 1 that a mount would use, and the die and the place of this version.
fn cut(mut medium: Medium, elapsed: [Ticks; 2]) -> Option<(u64, u32, Ppn)> {
    let bad = BadDrive::default();
    medium.cut(
        |die| elapsed[die as usize],
        &TIMING,
        &bad,
        &mut Random::new(1),
    );
    let scan = medium.scan();
    let place = scan.written().find(|place| place.page == Lpn(1));
    place.map(|place| (place.rank.version, place.die, place.at))
}

#[test]
fn d4_a_copy_keeps_the_version_of_its_source() {
    let mut medium = written();
    let mut collect = Operations::detailed();
    copy(&mut collect, at(0, 0), at(1, 0));
    medium.start(0, &collect, &[]).expect("a copy");
    medium.end(0);
    // Here, the copy ends before the program of the new version begins. In the second half of the test, the
    // program begins before the copy. In both cases, the mount must use the new version.
    program(&mut medium, 1, 2, at(0, 0)).expect("it is erased");
    medium.end(1);
    assert_eq!(cut(medium, [0; 2]), Some((2, 1, at(0, 0))));

    let mut medium = written();
    program(&mut medium, 1, 2, at(0, 0)).expect("it is erased");
    let mut collect = Operations::detailed();
    copy(&mut collect, at(0, 0), at(1, 0));
    medium
        .start(0, &collect, &[])
        .expect("a copy of what was replaced");
    medium.end(0);
    medium.end(1);
    assert_eq!(cut(medium, [0; 2]), Some((2, 1, at(0, 0))));
}

#[test]
fn d5_the_copy_is_there_when_the_erase_of_its_source_is_cut_off() {
    let mut medium = written();
    let mut collect = Operations::detailed();
    copy(&mut collect, at(0, 0), at(1, 0));
    collect.push_erase(Cause::Copy, at(0, 0));
    medium.start(0, &collect, &[]).expect("a collection");
    // A mount uses the source until the copy has ended, and the copy afterwards.
    for (elapsed, place) in [
        (0, at(0, 0)),
        (COPY - 1, at(0, 0)),
        (COPY, at(1, 0)),
        (COPY + TIMING.erase, at(1, 0)),
    ] {
        let found = cut(medium.clone(), [elapsed, 0]);
        assert_eq!(found, Some((1, 0, place)), "{elapsed}");
    }
}

#[test]
fn d6_an_erase_before_its_copies_have_ended_is_refused() {
    let mut medium = written();
    let mut merge = Operations::detailed();
    merge.next_lane();
    copy(&mut merge, at(0, 0), at(1, 0));
    merge.next_lane();
    merge.push_erase(Cause::Copy, at(0, 0));
    let refused = medium.start(0, &merge, &[]);
    assert!(
        matches!(
            refused,
            Err(Refusal::EraseOfHeld { .. } | Refusal::EraseBeforeCopies { .. })
        ),
        "{refused:?}"
    );
}

#[test]
fn what_is_in_flight_is_unreadable_and_counts_as_programmed() {
    let mut medium = written();
    program(&mut medium, 0, 2, at(0, 1)).expect("it is erased");
    let report = medium.cut(|_| 5, &TIMING, &BadDrive::default(), &mut Random::new(1));
    assert_eq!((report.programs, report.erases), (1, 0));
    let scan = medium.scan();
    let block = &scan.dies[0][0];
    assert_eq!(block.end(), 2);
    assert_eq!(block.pages.get(1), Some(Found::Unreadable));
    assert_eq!(block.pages.get(2), Some(Found::Erased));
    scan.written().for_each(|place| medium.settle(place));
    let refused = program(&mut medium, 0, 2, at(0, 1));
    assert!(
        matches!(refused, Err(Refusal::ProgramOfProgrammed(_))),
        "{refused:?}"
    );
}

#[test]
fn an_erase_in_flight_leaves_a_block_that_has_to_be_erased_again() {
    let mut medium = written();
    program(&mut medium, 0, 2, at(1, 0)).expect("it is erased");
    medium.end(0);
    let mut erase = Operations::detailed();
    erase.push_erase(Cause::Copy, at(0, 0));
    medium
        .start(0, &erase, &[])
        .expect("nothing is needed there");
    medium.cut(|_| 5, &TIMING, &BadDrive::default(), &mut Random::new(1));
    let block = &medium.scan().dies[0][0];
    assert_eq!(block.pages.len(), 4);
    assert!(block.pages.iter().all(|page| page == Found::Unreadable));
    assert_eq!(block.erases, 1, "it has worn the block");
}

#[test]
fn every_layer_can_be_mounted() {
    for row in FTLS {
        let values = destage_base::parameter::Values::defaults(row.parameters);
        let mut layer = (row.build)(&FtlConfig {
            units_per_page: 1,
            program_unit: 1,
            program_passes: 1,
            bits_per_cell: 2,
            geometry: GEOMETRY,
            erase_dates: TIMING,
            copy_back: true,
            parallel_units: 1,
            endurance: 1_000,
            retire: false,
            power_may_fail: false,
            filled: false,
            seed: 1,
            values: &values,
        })
        .unwrap_or_else(|error| panic!("{}: {error:?}", row.name));
        let mut medium = Medium::new(&GEOMETRY, true);
        let mounted = mount(&mut *layer, &mut medium, &TIMING, &mut |_, _| {});
        assert!(mounted.is_ok(), "{}: {mounted:?}", row.name);
    }
}
