//! Effects on one page happen in the order of their emission, and padding programs the newest version that was
//! emitted before the padding.

use destage_base::Lpn;
use destage_nand::medium::SpareKind;

use crate::kit::{Event, Rig, Stack};

/// A device with one die and a buffer that pads clusters of four pages. If `filled` is set, the die was filled with
/// zeros; otherwise the die is empty.
fn padding(filled: bool) -> Rig {
    let mut stack = Stack::new("bplru", 16, "page", 1, 16);
    stack.filled = filled;
    stack.build()
}

#[test]
fn d1_a_cluster_that_waits_for_its_padding_is_not_overtaken() {
    let mut rig = padding(true);
    rig.write(0, 4, 2, b'a');
    rig.flush(1);
    assert!(!rig.is_answered(1), "the padding is being read");
    let second = rig.write(2, 4, 4, b'b');
    rig.flush(3);
    rig.settle();
    for page in 4..8 {
        assert_eq!(
            rig.on_flash(page),
            Some((second, vec![b'b'])),
            "page {page}"
        );
        assert_eq!(
            rig.ended(page, Some(3)).last(),
            Some(&second),
            "page {page}"
        );
    }
    assert_eq!([rig.answers(1), rig.answers(3)], [1, 1]);
}

#[test]
fn padding_that_is_at_hand_takes_no_read_and_carries_what_the_flash_holds() {
    for (charged, operations) in [("true", 3 + 4), ("false", 4)] {
        let mut stack = Stack::new("bplru", 16, "page", 1, 16);
        stack.filled = true;
        stack.scheme_settings.push(("pad_charge_reads", charged));
        let mut rig = stack.build();
        let first = rig.write(0, 4, 2, b'a');
        rig.flush(1);
        rig.settle();
        let second = rig.write(2, 5, 1, b'b');
        rig.flush(3);
        let mut ended = 0;
        while !rig.busy().is_empty() {
            rig.end(0);
            ended += 1;
        }
        assert_eq!(ended, operations, "{charged}");
        assert_eq!(rig.on_flash(4), Some((first, vec![b'a'])));
        assert_eq!(rig.on_flash(5), Some((second, vec![b'b'])));
    }
}

#[test]
fn d2_a_write_with_force_unit_access_comes_after_what_was_held() {
    let mut rig = padding(true);
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    let second = rig.write_fua(2, 1, 1, b'b');
    assert!(!rig.is_answered(2));
    rig.settle();
    assert_eq!(rig.ended(1, Some(2)), [first, second]);
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
}

#[test]
fn d12_a_program_writes_what_the_page_held_when_it_was_emitted() {
    let mut stack = Stack::new("fifo", 1, "page", 1, 16);
    stack.scheme_settings.push(("release", "issue"));
    let mut rig = stack.build();
    let first = rig.write(0, 1, 1, b'a');
    rig.write(1, 2, 1, b'x');
    let second = rig.write(2, 1, 1, b'b');
    rig.end(0);
    assert_eq!(rig.ended(1, None), [first]);
    assert_eq!(rig.on_flash(1), Some((first, vec![b'a'])));
    assert_eq!(rig.read_in_ram(3, 1), [b'b']);
    rig.drain();
    rig.settle();
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
}

#[test]
fn d13_padding_carries_what_an_earlier_record_is_about_to_program() {
    let mut rig = padding(true);
    let second = rig.write(0, 4, 1, b'b');
    rig.flush(1);
    rig.write(2, 5, 1, b'c');
    rig.flush(3);
    assert_eq!(rig.read_in_ram(4, 4), [b'b']);
    rig.settle();
    assert_eq!(
        rig.ended(4, None),
        [second, second],
        "its own, and the padding"
    );
    let (spare, bytes) = rig.flash.payload.medium().newest(Lpn(4)).unwrap();
    assert_eq!((spare.kind, spare.version), (SpareKind::Copy, second));
    assert_eq!(bytes[0], b'b');
}

#[test]
fn d14_a_filler_carries_the_version_that_was_emitted_before_it() {
    let mut rig = padding(false);
    // The die is busy, so effects that are emitted from now on do not begin.
    rig.write(0, 20, 1, b'x');
    rig.flush(1);
    let first = rig.write(2, 6, 1, b'a');
    rig.flush(3);
    rig.write(4, 4, 1, b'b');
    rig.flush(5);
    rig.settle();
    assert_eq!(rig.ended(6, None), [first, first]);
    assert_eq!(rig.on_flash(6), Some((first, vec![b'a'])));
    assert_eq!(rig.on_flash(5), None, "a real filler");
}

#[test]
fn d15_a_trim_waits_for_the_padding_of_its_page() {
    let mut rig = padding(true);
    let first = rig.write(0, 6, 1, b'a');
    rig.flush(1);
    rig.settle();
    rig.write(2, 4, 1, b'b');
    rig.flush(3);
    let trim = rig.trim(4, 6, 1);
    assert!(rig.is_answered(4) && !rig.is_answered(3));
    rig.flush(5);
    assert_eq!(*rig.flash.payload.newest(Lpn(6)).bytes, [0; 8]);
    rig.settle();
    assert_eq!(rig.ended(6, Some(5)), [first, first, trim]);
    assert_eq!(rig.on_flash(6), None);
    assert!(!rig.device.ftl().is_written(Lpn(6)));
    rig.ask(
        6,
        crate::kit::request(destage_device::RequestKind::Read, 6, 1),
        0,
    );
    rig.settle();
    let last = rig.flash.events.iter().rev().find_map(|event| match event {
        Event::Read { contents, .. } => Some(contents.bytes.clone()),
        _ => None,
    });
    assert_eq!(*last.unwrap(), [0; 8]);
}

#[test]
fn d17_a_page_written_back_and_rewritten_is_programmed_as_it_was() {
    let mut rig = Stack::new("apu-lru", 4, "page", 1, 16).build();
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    let second = rig.write(2, 1, 1, b'b');
    rig.end(0);
    assert!(rig.is_answered(1));
    assert_eq!(rig.on_flash(1), Some((first, vec![b'a'])));
    assert_eq!(rig.device.buffer().dirty(), 1);
    assert_eq!(rig.read_in_ram(3, 1), [b'b']);
    rig.flush(4);
    rig.settle();
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
    assert_eq!(rig.flash.payload.pages_in_ram(), [0, 0]);
}
