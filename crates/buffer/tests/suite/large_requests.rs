//! Tests requests that are larger than the buffer. All pages of such a request enter before the pages that they
//! evict are programmed. Slot numbers then exceed the capacity, so the tables of a scheme that are indexed by
//! slot must grow.

use std::collections::VecDeque;

use destage_base::parameter::Values;
use destage_base::{Lpn, Random};
use destage_buffer::destage::DirtyPage;
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, BufferConfig, Destage, Outlet, SCHEMES, SchemeConfig};

const CAPACITY: u32 = 6;

#[test]
fn every_row_takes_in_requests_larger_than_the_buffer() {
    let mut taken = 0;
    for row in SCHEMES.iter().filter(|row| !row.needs_future()) {
        let values = Values::defaults(row.parameters);
        let scheme = (row.build)(&SchemeConfig::new(CAPACITY, 4, &values));
        let mut buffer = Buffer::new(BufferConfig::new(CAPACITY, 4), scheme);
        if !buffer.keeps_pages() {
            continue;
        }
        let mut random = Random::new(8);
        let mut leaving: VecDeque<(DirtyPage, bool)> = VecDeque::new();
        let mut beyond = false;
        for now in 0..400 {
            let pages = 1 + random.below(4 * u64::from(CAPACITY));
            let first = random.below(60);
            buffer.begin_request(pages as u32);
            for page in first..first + pages {
                let take = |record: &Destage| {
                    leaving.extend(record.pages.iter().map(|page| (*page, record.retain)));
                };
                Outlet::new(&mut buffer, &NoDevice, take).write(Lpn(page), now);
            }
            beyond |= buffer.over_capacity() > 0;
            // A random number of the oldest programs complete.
            let ended = random.below(leaving.len() as u64 + 1) as usize;
            for (page, retain) in leaving.drain(..ended) {
                buffer.programmed(page, retain, now);
            }
        }
        for (page, retain) in leaving.drain(..) {
            buffer.programmed(page, retain, 400);
        }
        let counts = buffer.counts();
        assert!(counts.are_balanced(), "{}", row.name);
        assert!(
            counts.dirty_max <= buffer.config().capacity_pages,
            "{}: {} pages dirty at once",
            row.name,
            counts.dirty_max
        );
        assert!(
            beyond || row.name == "infinite",
            "{} never waited",
            row.name
        );
        taken += 1;
    }
    assert!(taken + 2 >= SCHEMES.len(), "{taken} schemes");
}
