//! Logical page numbers.

/// A logical page number: which flash-page-sized piece of the host's address space.
///
/// A newtype, so that it is never mistaken for a physical page, a block or a slot.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lpn(pub u64);

impl core::fmt::Display for Lpn {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(formatter)
    }
}
