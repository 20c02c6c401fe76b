//! Which operations a flush and a write with force unit access wait for, and which operations they do not wait for.

use crate::kit::Stack;

#[test]
fn d9_a_flush_covers_what_was_answered_to_anybody() {
    let mut rig = Stack::new("lru", 4, "page", 1, 16).build();
    let version = rig.write(0, 1, 1, b'a');
    assert!(rig.is_answered(0));
    rig.flush(1);
    assert!(!rig.is_answered(1));
    rig.settle();
    assert_eq!(rig.ended(1, Some(1)), [version]);
    assert_eq!(rig.on_flash(1), Some((version, vec![b'a'])));
}

#[test]
fn d10_a_flush_does_not_wait_for_a_write_in_flight() {
    let mut stack = Stack::new("lru", 4, "page", 1, 16);
    stack.scheme_settings.push(("bypass_pages", "2"));
    let mut rig = stack.build();
    rig.write(0, 8, 2, b'a');
    rig.flush(1);
    assert!(rig.is_answered(1) && !rig.is_answered(0));
    rig.settle();
    assert!(rig.is_answered(0));
}

#[test]
fn d16_a_flush_waits_for_what_dropped_a_page_it_covers() {
    let mut stack = Stack::new("lru", 4, "page", 1, 16);
    stack.scheme_settings.push(("bypass_pages", "4"));
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    assert!(rig.is_answered(0));
    let second = rig.write(1, 0, 8, b'b');
    rig.flush(2);
    rig.end(0);
    assert!(!rig.is_answered(2), "the program of page 1 has not ended");
    rig.settle();
    assert_eq!(rig.ended(1, Some(2)), [second]);
    assert_eq!(rig.on_flash(1), Some((second, vec![b'b'])));
    assert!(rig.is_answered(1));
}

#[test]
fn without_a_volatile_cache_every_answer_is_durable() {
    let mut stack = Stack::new("lru", 4, "page", 2, 16);
    stack.config.volatile_cache = false;
    let mut rig = stack.build();
    let write = rig.write(0, 0, 3, b'a');
    rig.end(0);
    rig.end(1);
    assert!(!rig.is_answered(0), "two of three pages");
    rig.settle();
    for page in 0..3 {
        assert_eq!(rig.ended(page, Some(0)), [write], "page {page}");
    }
    let trim = rig.trim(1, 1, 1);
    assert!(!rig.is_answered(1));
    rig.settle();
    assert_eq!(rig.ended(1, Some(1)), [write, trim]);
}

#[test]
fn force_unit_access_past_the_buffer_waits_for_the_programs() {
    let mut stack = Stack::new("lru", 4, "page", 1, 16);
    stack.scheme_settings.push(("bypass_pages", "2"));
    let mut rig = stack.build();
    let version = rig.write_fua(0, 0, 2, b'a');
    rig.end(0);
    assert!(!rig.is_answered(0), "one of two pages");
    rig.end(0);
    assert_eq!(rig.ended(1, Some(0)), [version]);
}

#[test]
fn force_unit_access_waits_for_pages_of_its_request_that_left_already() {
    let mut rig = Stack::new("fifo", 2, "page", 3, 16).build();
    let version = rig.write_fua(0, 0, 4, b'a');
    // Page 1 was evicted from the buffer to make room for the third page. Only the program of page 1 is still in
    // service.
    for die in [0, 2, 0] {
        rig.end(die);
    }
    assert!(!rig.is_answered(0) && rig.busy() == [1]);
    rig.settle();
    for page in 0..4 {
        assert_eq!(rig.ended(page, Some(0)), [version], "page {page}");
    }
}

#[test]
fn a_drive_that_relies_on_its_capacitor_answers_at_once() {
    let mut stack = Stack::new("lru", 4, "page", 1, 16);
    stack.scheme_settings.push(("flush_mode", "ignore"));
    let mut rig = stack.build();
    rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.write_fua(2, 2, 1, b'b');
    assert!(rig.is_answered(1) && rig.is_answered(2));
    assert_eq!(rig.device.buffer().dirty(), 2);
    assert!(rig.busy().is_empty());
}

#[test]
fn everybody_who_waits_for_the_same_programs_is_answered_once() {
    let mut rig = Stack::new("lru", 4, "page", 1, 16).build();
    let first = rig.write(0, 1, 1, b'a');
    rig.flush(1);
    rig.flush(2);
    let second = rig.write_fua(3, 2, 1, b'b');
    rig.flush(4);
    assert_eq!([1, 2, 3, 4].map(|token| rig.answers(token)), [0; 4]);
    rig.end(0);
    assert_eq!(rig.ended(1, Some(1)), [first]);
    assert_eq!([1, 2, 3, 4].map(|token| rig.answers(token)), [1, 1, 0, 0]);
    rig.end(0);
    assert_eq!(rig.ended(2, Some(4)), [second]);
    assert_eq!([1, 2, 3, 4].map(|token| rig.answers(token)), [1; 4]);
}

#[test]
fn a_forced_write_waits_for_its_own_data_alone() {
    for volatile_cache in [true, false] {
        let mut stack = Stack::new("lru", 8, "page", 2, 16);
        stack.config.volatile_cache = volatile_cache;
        let mut rig = stack.build();
        let first = rig.write(0, 0, 1, b'a');
        rig.flush(1);
        assert!(!rig.is_answered(1) && rig.busy() == [0]);
        let second = rig.write_fua(2, 1, 1, b'b');
        assert!(!rig.is_answered(2));
        rig.end(1);
        assert!(rig.is_answered(2), "page 1 is programmed");
        assert_eq!(rig.ended(1, Some(2)), [second]);
        assert!(!rig.is_answered(1), "page 0 is not");
        rig.settle();
        assert_eq!(rig.ended(0, Some(1)), [first]);
    }
}

#[test]
fn a_forced_write_of_a_page_that_is_being_programmed_waits_for_both_programs() {
    let mut rig = Stack::new("lru", 8, "page", 2, 16).build();
    let first = rig.write(0, 0, 1, b'a');
    rig.flush(1);
    let second = rig.write_fua(2, 0, 1, b'b');
    rig.end(0);
    assert!(rig.is_answered(1) && !rig.is_answered(2), "the older one");
    rig.end(0);
    assert!(rig.is_answered(2));
    assert_eq!(rig.ended(0, Some(2)), [first, second]);
}
