//! The queries that a scheme may make about the device below it.

use destage_base::Lpn;

/// The window through which a scheme sees the device; the wiring implements it.
///
/// Every method has the answer of a device about which nothing is known, so a buffer can run alone.
/// A scheme asks only the questions that its paper's rule needs: most ask none.
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
    /// Whether the flash holds valid data of `page`, so that padding has something to read.
    fn is_written(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }
    /// Whether a page keeps its address when it is written again. Flash programs a page elsewhere each time; only a device without physical addresses
    /// updates in place.
    fn updates_in_place(&self) -> bool {
        true
    }
    /// Whether `die` is reclaiming space at this moment.
    fn is_collecting(&self, die: u32) -> bool {
        let _ = die;
        false
    }
    /// Page operations waiting or in service at `die`.
    fn queue_length(&self, die: u32) -> u32 {
        let _ = die;
        0
    }
}

/// A device about which nothing is known.
pub struct NoDevice;

impl View for NoDevice {}
