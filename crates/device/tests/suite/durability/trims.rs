//! After a write-zeroes request or a trim, reads return zeros at once. The operations on flash follow in the order of
//! effects.

use destage_base::{Lpn, Random};
use destage_device::RequestKind;
use destage_nand::medium::SpareKind;

use crate::durability::sectors::{part, with_sectors};
use crate::kit::{Rig, Stack, request};

fn rig(strict: bool) -> Rig {
    let mut stack = Stack::new("lru", 4, "page", 1, 16);
    stack.config.strict_trim = strict;
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.settle();
    rig
}

#[test]
fn d7_write_zeroes_is_programmed_and_copied_like_data() {
    let mut rig = rig(false);
    let zeros = rig.ask(2, request(RequestKind::WriteZeroes, 1, 1), 0);
    assert_eq!(rig.read_in_ram(3, 1), [0]);
    rig.flush(4);
    rig.settle();
    assert_eq!(rig.ended(1, Some(4)).last(), Some(&zeros));
    let spare = |rig: &Rig| rig.flash.payload.medium().newest(Lpn(1)).unwrap().0;
    assert_eq!(
        (spare(&rig).kind, spare(&rig).version),
        (SpareKind::Zeros, zeros)
    );
    // Garbage collection moves the page, which still holds zeros.
    let mut random = Random::new(1);
    for _ in 0..2_000 {
        rig.write(5, 2 + random.below(40), 1, b'x');
        rig.settle();
    }
    assert_eq!(spare(&rig).kind, SpareKind::Copy, "not moved");
    assert_eq!(rig.on_flash(1), Some((zeros, vec![0])));
}

#[test]
fn d8_a_trim_reads_as_zeros_and_a_strict_one_programs_them() {
    let mut plain = rig(false);
    plain.trim(2, 1, 1);
    assert_eq!(*plain.flash.payload.newest(Lpn(1)).bytes, [0; 8]);
    plain.flush(3);
    plain.settle();
    assert!(plain.is_answered(2) && plain.is_answered(3));
    assert_eq!(plain.on_flash(1), None);
    assert!(!plain.device.ftl().is_written(Lpn(1)));

    let mut strict = rig(true);
    let trim = strict.trim(2, 1, 1);
    assert_eq!(strict.read_in_ram(3, 1), [0]);
    strict.flush(4);
    assert!(!strict.is_answered(4));
    strict.settle();
    assert_eq!(strict.ended(1, Some(4)).last(), Some(&trim));
    assert_eq!(strict.on_flash(1), Some((trim, vec![0])));
}

#[test]
fn a_trim_acts_on_the_pages_it_covers_whole() {
    for strict in [false, true] {
        let mut stack = Stack::new("lru", 8, "page", 1, 16);
        stack.sectors = 8;
        stack.config.strict_trim = strict;
        let mut rig = stack.build();
        let write = rig.write(0, 0, 4, b'a');
        let trim = rig.ask(1, part(RequestKind::Trim, 3, 18), 0);
        rig.flush(2);
        rig.settle();
        let whole = Some((write, vec![b'a'; 8]));
        assert_eq!(
            [rig.on_flash(0), rig.on_flash(2), rig.on_flash(3)],
            [(); 3].map(|()| whole.clone())
        );
        assert_eq!(rig.on_flash(1), strict.then(|| (trim, vec![0; 8])));
    }
}

#[test]
fn a_trim_without_a_whole_page_is_answered_and_changes_nothing() {
    let mut rig = with_sectors("lru", &[]);
    rig.ask(0, part(RequestKind::Write, 0, 16), b'a');
    rig.ask(1, part(RequestKind::Trim, 1, 14), 0);
    assert!(rig.is_answered(1));
    assert_eq!(rig.device.buffer().dirty(), 2);
}

#[test]
fn a_trim_with_force_unit_access_waits_for_its_turn() {
    let mut stack = Stack::new("bplru", 16, "page", 1, 16);
    stack.filled = true;
    let mut rig = stack.build();
    rig.write(0, 4, 1, b'a');
    rig.flush(1);
    let mut trim = request(RequestKind::Trim, 6, 1);
    trim.fua = true;
    let version = rig.ask(2, trim, 0);
    assert!(!rig.is_answered(2), "the padding of page 6 is being read");
    rig.settle();
    assert_eq!(rig.ended(6, Some(2)).last(), Some(&version));
}

#[test]
fn a_flush_waits_for_a_trim_that_was_answered_before_its_turn() {
    let mut stack = Stack::new("bplru", 16, "page", 1, 16);
    stack.filled = true;
    let mut rig = stack.build();
    rig.write(0, 4, 1, b'a');
    rig.flush(1);
    let trim = rig.trim(2, 6, 1);
    assert!(rig.is_answered(2));
    rig.flush(3);
    rig.settle();
    assert_eq!(rig.ended(6, Some(3)).last(), Some(&trim));
}
