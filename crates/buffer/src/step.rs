//! How far a page request has come, and what the caller does next.

#[cfg(doc)]
use crate::Buffer;

/// How far one page write (or the entry of a read page) has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The page was resident and is overwritten in place. Done.
    ///
    /// Its previous version may still be in flight (written back with `retain`, or read again while it
    /// left), so whoever moves real bytes takes them out of the slot when a record is issued.
    Hit,
    /// The page has entered. Done.
    Placed,
    /// [`Buffer::record`] holds victims to issue; then call [`Buffer::place`].
    Destage,
    /// There is room, but its bytes are still being programmed; call [`Buffer::place`] again after
    /// the next [`Buffer::programmed`].
    Wait,
}

/// What a page read found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadStep {
    /// Served from RAM.
    Hit,
    /// Served from flash; the buffer does not change.
    Miss,
    /// Served from flash, and the page enters clean: call [`Buffer::place`] at once, whenever the
    /// flash read may end.
    MissAllocates,
    /// Served from RAM, though the page had already left and its program only not yet completed; it
    /// enters again: call [`Buffer::place`] at once.
    HitAllocates,
}
