//! The queries of a scheme to the device below it.

use destage_base::Lpn;

/// The properties of the device that a scheme can query. The simulator implements this trait.
///
/// Every method has a default, so that a buffer can run without a device. The default is the answer of a device about
/// which nothing is known. A scheme queries only the properties that its paper's rule needs; most schemes query
/// nothing.
pub trait View {
    /// The number of pages that the device offers. Schemes write no page beyond the last one.
    fn pages(&self) -> u64 {
        u64::MAX
    }
    /// The die on which a write of `page` will be programmed, below [`SchemeConfig::dies`](crate::SchemeConfig::dies).
    fn die_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }
    /// Whether the flash has valid data of `page`, which padding can read.
    fn is_written(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }
    /// Whether a page keeps its address when it is written again. Flash programs a page at a new address each time.
    /// Only a device without physical addresses updates a page in place.
    fn updates_in_place(&self) -> bool {
        true
    }
    /// Whether `die` is collecting garbage at this moment.
    fn is_collecting(&self, die: u32) -> bool {
        let _ = die;
        false
    }
    /// The number of page operations that are waiting or in service at `die`.
    fn queue_length(&self, die: u32) -> u32 {
        let _ = die;
        0
    }
}

/// A device about which nothing is known.
pub struct NoDevice;

impl View for NoDevice {}
