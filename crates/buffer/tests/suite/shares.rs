//! Tests that a handle uses only its share of the buffer.

use destage_base::Lpn;
use destage_base::parameter::Values;
use destage_buffer::view::NoDevice;
use destage_buffer::{
    Buffer, BufferConfig, Destage, DestageCause, Outlet, Release, SchemeConfig, Shares, find,
};

/// A buffer of `capacity` pages that `handles` handles share, each with the scheme called `name`.
fn shared(name: &str, handles: u32, capacity: u32, release: Release) -> Buffer {
    let row = find(name).expect(name);
    let values = Values::defaults(row.parameters);
    let part = SchemeConfig::new(capacity / handles, 1, &values);
    let parts = (0..handles).map(|_| (row.build)(&part)).collect();
    let config = BufferConfig {
        release,
        ..BufferConfig::new(capacity, 1)
    };
    Buffer::new(config, Box::new(Shares::new(parts, part.capacity_pages)))
}

/// The pages that are destaged, in order, when `pages` are written and then all pages are flushed. Each element
/// of `pages` is a page and its handle. Two handles share four slots.
fn leaving(pages: &[(u64, u32)]) -> Vec<u64> {
    let mut buffer = shared("lru", 2, 4, Release::Issue);
    let mut left = Vec::new();
    for (page, handle) in pages {
        buffer.of_handle(*handle);
        buffer.begin_request(1);
        let take = |record: &Destage| left.extend(record.pages.iter().map(|dirty| dirty.page.0));
        Outlet::new(&mut buffer, &NoDevice, take).write(Lpn(*page), 0);
    }
    while buffer.flush_next(DestageCause::Flush, 0, &NoDevice) {
        left.extend(buffer.record().pages.iter().map(|dirty| dirty.page.0));
    }
    left
}

#[test]
fn a_handle_makes_room_in_its_own_share_only() {
    // Page 1 belongs to handle 0. It stays in the buffer, however many pages handle 1 writes.
    assert_eq!(
        leaving(&[(1, 0), (2, 1), (3, 1), (4, 1), (5, 1)]),
        [2, 3, 1, 4, 5]
    );
    // A single handle can use only half of the slots.
    assert_eq!(leaving(&[(1, 0), (2, 0), (3, 0)]), [1, 2, 3]);
}

#[test]
fn a_scheme_that_programs_early_does_so_in_its_share() {
    let programmed = |handles: u32| {
        let mut buffer = shared("mqsim", handles, 8, Release::Complete);
        let mut early = Vec::new();
        for (page, handle) in [(1, 0), (2, 1), (1, 0), (2, 1)] {
            buffer.of_handle(handle % handles);
            buffer.begin_request(1);
            Outlet::new(&mut buffer, &NoDevice, |_: &Destage| ()).write(Lpn(page), 0);
            while buffer.eager_next(0, &NoDevice) {
                early.extend(buffer.record().pages.iter().map(|dirty| dirty.page.0));
            }
        }
        early
    };
    assert!(!programmed(1).is_empty());
    assert_eq!(programmed(2), programmed(1));
}

#[test]
fn a_page_stays_in_the_share_that_took_it() {
    // Handle 1 writes page 1 again, but the page still occupies a slot of handle 0.
    assert_eq!(
        leaving(&[(1, 0), (1, 1), (2, 1), (3, 1), (4, 0), (5, 0)]),
        [1, 4, 5, 2, 3]
    );
}
