//! A page that waits for a slot keeps its position in the map, whatever leaves the map meanwhile.

use destage_base::Lpn;
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, BufferConfig, Step, find};

fn write(buffer: &mut Buffer, page: u64) -> Step {
    buffer.begin_request(1);
    buffer.write(Lpn(page), 0, &NoDevice)
}

/// Two pages of one block leave together; the second is written again while it is still being programmed,
/// and the end of that program, which takes its old copy out of the map, is what it waits for.
#[test]
fn a_page_that_waits_for_its_own_program_is_found_afterwards() {
    let config = BufferConfig::new(2, 4);
    let scheme = find("block-lru").unwrap().build_default(&config);
    let mut buffer = Buffer::new(config, scheme);
    assert_eq!(write(&mut buffer, 0), Step::Placed);
    assert_eq!(write(&mut buffer, 1), Step::Placed);
    assert_eq!(write(&mut buffer, 9), Step::Destage);
    let leaving = buffer.record().pages.clone();
    assert_eq!(buffer.place(0, &NoDevice), Step::Wait);
    buffer.programmed(leaving[0], false, 1);
    assert_eq!(buffer.place(1, &NoDevice), Step::Placed);

    assert_eq!(write(&mut buffer, 1), Step::Wait);
    buffer.programmed(leaving[1], false, 2);
    assert_eq!(buffer.find(Lpn(1)), None);
    assert_eq!(buffer.place(2, &NoDevice), Step::Placed);
    assert!(buffer.is_resident(Lpn(1)) && buffer.is_resident(Lpn(9)));
    assert_eq!(write(&mut buffer, 1), Step::Hit);
    assert!(buffer.trim(Lpn(1), 3) && buffer.trim(Lpn(9), 3));
    assert!(!buffer.is_resident(Lpn(1)) && !buffer.is_resident(Lpn(9)));
    assert!(buffer.counts().are_balanced());
}
