//! A page that enters keeps its position in the map, whatever leaves the map while room is made for it.

use destage_base::{Lpn, Ticks};
use destage_buffer::destage::DirtyPage;
use destage_buffer::view::{NoDevice, View};
use destage_buffer::{Buffer, BufferConfig, Destager, find};

/// Programs end while the next page is taken in.
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

/// Two pages of one block leave together; the second is written again while it is still being programmed, and that program ends, which
/// takes its old copy out of the map, before it enters.
#[test]
fn a_page_whose_own_program_ends_while_it_enters_is_found_afterwards() {
    let config = BufferConfig::new(2, 4);
    let scheme = find("block-lru").unwrap().build_default(&config);
    let mut buffer = Buffer::new(config, scheme);
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
    // Pages 0 and 1 left for page 9; page 1 is in RAM for as long as it is programmed.
    assert!(buffer.find(Lpn(1)).is_some() && !buffer.is_resident(Lpn(1)));
    assert!(!write(&mut buffer, 1, 3));
    assert!(buffer.is_resident(Lpn(1)) && buffer.is_resident(Lpn(13)));
    assert_eq!(buffer.find(Lpn(0)), None);
    assert!(write(&mut buffer, 1, 4));
    assert!(buffer.trim(Lpn(1), 3) && buffer.trim(Lpn(13), 3));
    assert!(!buffer.is_resident(Lpn(1)) && !buffer.is_resident(Lpn(13)));
    assert!(buffer.counts().are_balanced());
}
