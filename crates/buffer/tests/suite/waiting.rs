//! Tests that a page that is entering gets the right entry in the map, even if programs that end meanwhile remove
//! other pages from the map.

use crate::common::is_resident;
use destage_base::parameter::Values;
use destage_base::{Lpn, Ticks};
use destage_buffer::destage::DirtyPage;
use destage_buffer::view::{NoDevice, View};
use destage_buffer::{Buffer, BufferConfig, Destager, SchemeConfig, find};

/// A destager whose earlier programs end while the next page enters.
struct EndsMeanwhile<'a> {
    buffer: &'a mut Buffer,
    leaving: &'a mut Vec<DirtyPage>,
    now: Ticks,
}

impl Destager for EndsMeanwhile<'_> {
    type Error = ();

    fn buffer(&mut self) -> (&mut Buffer, &dyn View) {
        (self.buffer, &NoDevice)
    }

    fn destage(&mut self) -> Result<(), ()> {
        for page in self.leaving.drain(..) {
            self.buffer.programmed(page, false, self.now);
        }
        self.leaving.extend(self.buffer.record().pages.iter());
        Ok(())
    }
}

/// Pages 0 and 1 of one block are evicted together. Page 1 is written again while its program is still running.
/// This program ends before the new copy of page 1 enters, and the buffer removes the old copy from the map. The
/// buffer must still find the new copy.
#[test]
fn a_page_whose_own_program_ends_while_it_enters_is_found_afterwards() {
    let row = find("block-lru").unwrap();
    let scheme = (row.build)(&SchemeConfig::new(2, 4, &Values::defaults(row.parameters)));
    let mut buffer = Buffer::new(BufferConfig::new(2, 4), scheme);
    let mut leaving = Vec::new();
    let mut write = |buffer: &mut Buffer, page, now| {
        buffer.begin_request(1);
        let leaving = &mut leaving;
        let mut taking_in = EndsMeanwhile {
            buffer,
            leaving,
            now,
        };
        Buffer::write(&mut taking_in, Lpn(page), now) == Ok(true)
    };
    for (page, now) in [(0, 0), (1, 0), (9, 1), (13, 2)] {
        assert!(!write(&mut buffer, page, now));
    }
    // Pages 0 and 1 were evicted for page 9; page 1 stays in RAM until its program ends.
    assert!(buffer.find(Lpn(1)).is_some() && !is_resident(&buffer, 1));
    assert!(!write(&mut buffer, 1, 3));
    assert!(is_resident(&buffer, 1) && is_resident(&buffer, 13));
    assert_eq!(buffer.find(Lpn(0)), None);
    assert!(write(&mut buffer, 1, 4));
    assert!(buffer.trim(Lpn(1), 3) && buffer.trim(Lpn(13), 3));
    assert!(!is_resident(&buffer, 1) && !is_resident(&buffer, 13));
    assert!(buffer.counts().are_balanced());
}
