//! The questions that a scheme may ask about the device below it.

use destage_base::Lpn;

/// What a scheme can see of the device. The simulator implements this trait.
///
/// Every method has a default, the answer of a device about which nothing is known, so a buffer can run without a
/// device. A scheme asks only what the rule of its paper needs; most schemes ask nothing.
pub trait View {
    /// How many dies (independently working packages) the device has; at least 1.
    fn dies(&self) -> u32 {
        1
    }
    /// The die on which a write of `page` will be programmed, in `0 .. dies()`.
    fn die_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }
    /// Whether the flash holds valid data of `page`, which padding can read.
    fn is_written(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }
    /// Whether a page keeps its address when it is written again. Flash programs a page at a new address each time;
    /// only a device without physical addresses updates in place.
    fn updates_in_place(&self) -> bool {
        true
    }
    /// Whether `die` is collecting garbage at this moment.
    fn is_collecting(&self, die: u32) -> bool {
        let _ = die;
        false
    }
    /// Number of page operations that are waiting or in service at `die`.
    fn queue_length(&self, die: u32) -> u32 {
        let _ = die;
        0
    }
}

/// A device about which nothing is known.
pub struct NoDevice;

impl View for NoDevice {}
