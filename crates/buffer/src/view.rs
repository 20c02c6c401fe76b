//! What a scheme may ask about the device beneath it.

use destage_base::Lpn;

/// The window through which a scheme sees the device; the wiring implements it.
///
/// Every method has the answer of a device about which nothing is known, so a buffer can run alone.
/// A scheme asks only what its paper's rule needs: most ask nothing.
pub trait View {
    /// How many elements (independently working packages) the device has; at least 1.
    fn elements(&self) -> u32 {
        1
    }
    /// The element on which a write of `page` will be programmed, in `0 .. elements()`.
    fn element_of(&self, page: Lpn) -> u32 {
        let _ = page;
        0
    }
    /// Whether the flash holds valid data of `page`, so that padding has something to read.
    fn is_written(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }
    /// Whether `element` is reclaiming space at this moment.
    fn is_cleaning(&self, element: u32) -> bool {
        let _ = element;
        false
    }
    /// Page operations waiting or in service at `element`.
    fn queue_length(&self, element: u32) -> u32 {
        let _ = element;
        0
    }
}

/// A device about which nothing is known.
pub struct NoDevice;

impl View for NoDevice {}
