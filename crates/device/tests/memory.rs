//! The memory that a page with bytes needs in addition to its bytes, in the buffer and on flash.

use std::alloc::System;

use destage_base::Lpn;
use destage_device::payload::Payload;
use destage_device::{Request, RequestKind, Span};
use destage_nand::array::Ppn;
use destage_nand::medium::{Image, ImageKind, Medium};
use destage_nand::operation::{Purpose, Role};
use destage_nand::{Cause, Geometry, Operations};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const PAGE: usize = 4096;
const PAGES: u64 = 2048;
const GEOMETRY: Geometry = Geometry {
    dies: 8,
    planes: 1,
    blocks_per_plane: 1 << 20,
    pages_per_block: 64,
    page_bytes: PAGE as u64,
    summary_page: false,
};

/// The bytes allocated since `region` began, minus the contents of `pages` pages, divided by `pages`. If `pages` is
/// 0, all bytes allocated since `region` began.
fn beside(region: &Region<'_, System>, pages: u64) -> f64 {
    let change = region.change();
    let held = change.bytes_allocated as f64 - change.bytes_deallocated as f64;
    (held - (pages * PAGE as u64) as f64) / pages.max(1) as f64
}

/// The program has only one test, because the allocator would also count the memory of tests that run in parallel.
#[test]
fn a_page_takes_its_bytes_and_little_more() {
    let start = Region::new(HEAP);
    let mut payload = Payload::new(Medium::new(&GEOMETRY, true), PAGE, PAGE / 512);
    // A device of 2 TiB without contents needs only one pointer for every 64 blocks and one for every 1024 pages.
    let empty = beside(&start, 0);
    assert!(empty < f64::from(6 << 20), "an empty device: {empty} bytes");

    let data = [7; PAGE];
    let buffered = Region::new(HEAP);
    for number in 0..PAGES {
        // Any two of the pages are at least 100 pages apart.
        let page = Lpn(number * 40_503 % PAGES * 100);
        let request = Request {
            kind: RequestKind::Write,
            span: Span::whole(page.0, 1),
            fua: false,
        };
        payload.accept(&request, &data);
        payload.taken_in(page, 0);
    }
    let more = beside(&buffered, PAGES);
    assert!(
        more <= 64.0,
        "{more:.1} bytes beside those of a page in the buffer"
    );

    let mut medium = Medium::new(&GEOMETRY, true);
    let stored = Region::new(HEAP);
    for number in 0..PAGES as u32 {
        let mut operations = Operations::detailed();
        let page = Lpn(u64::from(number));
        operations.set_page(page);
        let at = Ppn(number);
        operations.push_host_program(Cause::Host, at, || Purpose::shared(Role::Host));
        let image = Image {
            page,
            version: 1,
            kind: ImageKind::Host,
            data: &data.into(),
        };
        assert_eq!(medium.start(0, &operations, &[image]), Ok(()));
        medium.end(0);
    }
    let more = beside(&stored, PAGES);
    assert!(
        more <= 192.0,
        "{more:.1} bytes beside those of a page on flash"
    );
}
