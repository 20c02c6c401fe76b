//! Logical page numbers.

/// A logical page number: the index of one flash-page-sized piece of the host's address space.
///
/// This is a type of its own, so that the compiler refuses a physical page, a block or a slot in its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lpn(pub u64);

impl core::fmt::Display for Lpn {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(formatter)
    }
}
