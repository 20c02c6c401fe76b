//! A write of some sectors of a page keeps the other sectors, wherever the newest version of these sectors is.

use destage_base::Lpn;
use destage_device::{Request, RequestKind, Span};

use crate::kit::{Rig, SECTOR_BYTES, Stack, request};

/// A request of `kind` for `sectors` sectors from sector `first` on, with eight sectors in a page.
pub fn part(kind: RequestKind, first: u64, sectors: u64) -> Request {
    let head = first % 8;
    let pages = (head + sectors).div_ceil(8);
    Request {
        kind,
        span: Span {
            first: first / 8,
            pages: pages as u32,
            head: head as u32,
            tail: (pages * 8 - head - sectors) as u32,
        },
        fua: false,
    }
}

pub fn with_sectors(scheme: &str, settings: &[(&'static str, &'static str)]) -> Rig {
    let mut stack = Stack::new(scheme, 2, "page", 1, 16);
    stack.sectors = 8;
    stack.scheme_settings = settings.to_vec();
    stack.build()
}

fn drained(mut rig: Rig, page: u64) -> Option<(u64, Vec<u8>)> {
    rig.drain();
    rig.settle();
    assert_eq!(rig.flash.payload.pages_in_ram(), [0, 0]);
    rig.on_flash(page)
}

#[test]
fn d18_a_trim_of_a_part_leaves_the_page_alone() {
    let mut rig = with_sectors("lru", &[]);
    rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
    rig.flush(1);
    rig.settle();
    let second = rig.ask(2, part(RequestKind::Write, 0, 1), b'b');
    rig.ask(3, part(RequestKind::Trim, 0, 4), 0);
    rig.flush(4);
    rig.settle();
    assert!([0, 1, 2, 3, 4].iter().all(|token| rig.is_answered(*token)));
    assert_eq!(rig.on_flash(0), Some((second, b"baaaaaaa".to_vec())));
}

#[test]
fn a_part_is_completed_from_flash_before_it_is_programmed() {
    let mut rig = with_sectors("lru", &[]);
    rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
    rig.flush(1);
    rig.settle();
    let second = rig.ask(2, part(RequestKind::Write, 2, 3), b'b');
    assert!(!rig.is_answered(2), "the rest is being read");
    assert_eq!(rig.read_in_ram(3, 0), b"aabbbaaa");
    rig.flush(4);
    assert_eq!(
        rig.ended(0, None).len(),
        1,
        "the program waits for the read"
    );
    assert_eq!(drained(rig, 0), Some((second, b"aabbbaaa".to_vec())));
}

#[test]
fn a_part_waits_for_the_rest_of_its_page_on_another_die() {
    let mut stack = Stack::new("nocache", 1, "page", 2, 16);
    stack.layer_settings = vec![("placement", "dynamic"), ("reserve_percent", "50")];
    stack.sectors = 8;
    stack.filled = true;
    let mut rig = stack.build();
    let home = rig.device.ftl().die_of(Lpn(2));
    rig.ask(0, request(RequestKind::Read, 2, 1), 0);
    rig.ask(1, part(RequestKind::Write, 17, 1), b'a');
    assert_eq!(rig.busy(), [home], "the program begins before the read");
    rig.settle();
    assert_eq!(rig.on_flash(2), Some((1, b"\0a\0\0\0\0\0\0".to_vec())));
}

#[test]
fn a_part_written_past_the_buffer_keeps_the_other_sectors() {
    for settings in [&[("bypass_pages", "1")][..], &[("bypass_pages", "2")]] {
        let mut rig = with_sectors("lru", settings);
        rig.ask(0, part(RequestKind::Write, 0, 16), b'a');
        rig.settle();
        // Page 1 is on flash. With the second settings, the write also drops a dirty copy of page 1 from the buffer.
        rig.ask(1, part(RequestKind::Write, 8, 2), b'b');
        let last = rig.ask(2, part(RequestKind::Write, 4, 5), b'c');
        assert_eq!(drained(rig, 1), Some((last, b"cbaaaaaa".to_vec())));
    }
}

#[test]
fn a_part_is_completed_from_a_version_that_is_leaving() {
    for release in ["complete", "issue"] {
        let mut rig = with_sectors("fifo", &[("release", release)]);
        rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
        rig.ask(1, part(RequestKind::Write, 8, 16), b'x');
        assert_eq!(rig.busy(), [0], "page 0 is leaving");
        let second = rig.ask(2, part(RequestKind::Write, 7, 1), b'b');
        assert_eq!(*rig.flash.payload.newest(Lpn(0)).bytes, {
            let mut bytes = vec![b'a'; 7 * SECTOR_BYTES];
            bytes.extend([b'b'; SECTOR_BYTES]);
            bytes
        });
        assert_eq!(drained(rig, 0), Some((second, b"aaaaaaab".to_vec())));
    }
}

#[test]
fn write_zeroes_of_a_part_is_a_write() {
    let mut rig = with_sectors("lru", &[]);
    rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
    let second = rig.ask(1, part(RequestKind::WriteZeroes, 6, 4), 0);
    assert_eq!(rig.read_in_ram(2, 0), b"aaaaaa\0\0");
    assert_eq!(drained(rig, 0), Some((second, b"aaaaaa\0\0".to_vec())));
}

#[test]
fn a_part_written_past_the_buffer_is_completed_from_ram_without_a_read() {
    let mut rig = with_sectors("lru", &[("bypass_pages", "2")]);
    rig.ask(0, part(RequestKind::Write, 0, 8), b'a');
    rig.flush(1);
    rig.settle();
    rig.ask(2, part(RequestKind::Write, 0, 8), b'b');
    rig.ask(3, part(RequestKind::Write, 1, 15), b'c');
    // If the other sectors of page 0 were read, the program would wait for this read.
    assert!(!rig.busy().is_empty());
    rig.end(0);
    rig.end(0);
    assert!(rig.is_answered(3), "two programs and nothing else");
    assert_eq!(
        rig.on_flash(0).map(|(_, bytes)| bytes),
        Some(b"bccccccc".to_vec())
    );
}

#[test]
fn slots_that_a_write_past_the_buffer_leaves_are_handed_out() {
    let mut rig = with_sectors("lru", &[("bypass_pages", "2")]);
    for page in 0..4 {
        rig.ask(
            page,
            part(RequestKind::Write, 64 + 16 * u64::from(page), 8),
            b'a',
        );
    }
    assert!(!rig.is_answered(3), "the buffer has two pages");
    // Pages 12 and 14 are in the buffer. The write past the buffer drops page 12.
    rig.ask(4, part(RequestKind::Write, 96, 16), b'b');
    assert!(rig.is_answered(2), "a slot is free");
}
