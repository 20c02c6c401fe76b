//! The store that keeps the bytes of a medium, so that they outlive the process.

use core::ops::Range;

use super::image::Mark;

/// The error of a disk or a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// There is no room left.
    Full,
    /// Any other error.
    Io,
}

/// A row of bytes that outlives the medium, zeros at first: a file. As long as the machine runs, writes take effect
/// in their order. If the machine crashes, each write after the last [`sync`](Store::sync) may be missing. The
/// store notes a failure, and after the first failed write no later one takes effect, so that the contents are
/// always those after the first writes of the sequence.
pub trait Store: Send + Sync {
    /// Fills `out` with the bytes from `offset` on, or with zeros if they cannot be read.
    fn read(&self, offset: u64, out: &mut [u8]);

    /// Writes `bytes` from `offset` on.
    fn write(&self, offset: u64, bytes: &[u8]);

    /// Makes everything durable that was written up to now, and then writes the latest [mark](Store::mark) where
    /// [`Marks`](super::image::Marks) says.
    fn sync(&self);

    /// Notes that everything up to `mark` has been written.
    fn mark(&self, mark: Mark);

    /// The program of the latest [mark](Store::mark) up to which everything is durable, 0 at first. Besides the
    /// medium, other parts of the program may sync too, such as the part that answers a flush.
    fn synced(&self) -> u64;

    /// The first part of `range` that may hold bytes other than zero, if there is one.
    fn written(&self, range: Range<u64>) -> Option<Range<u64>>;

    /// The first failure, if there was one.
    fn fault(&self) -> Option<Fault>;
}
