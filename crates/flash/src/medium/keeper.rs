//! Where bytes are kept so that they last.

/// What a disk or a file could not do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It has no room left.
    Full,
    /// Anything else.
    Io,
}
