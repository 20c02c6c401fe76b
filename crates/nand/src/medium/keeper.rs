//! The interface of a store for the bytes of a medium, in which the bytes outlive the process.

use core::ops::Range;

use super::image::Mark;

/// The error of a disk or a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// No space is left.
    Full,
    /// Any other error.
    Io,
}

/// A sequence of bytes that outlives the medium, such as a file. All bytes are zero at first. As long as the machine
/// runs, writes take effect in their order. If the machine crashes, any write after the last [`sync`](Store::sync)
/// may be missing. The store records a failure, and writes after the first failed write have no effect. The contents
/// are therefore always those after a number of complete writes from the beginning of the sequence.
pub trait Store: Send + Sync {
    /// Fills `out` with the bytes from `offset` on, or with zeros if they cannot be read.
    fn read(&self, offset: u64, out: &mut [u8]);

    /// Writes `bytes` from `offset` on.
    fn write(&self, offset: u64, bytes: &[u8]);

    /// Makes all writes so far durable, and then writes the latest [mark](Store::mark) at the offset given by
    /// [`Marks`](super::image::Marks).
    fn sync(&self);

    /// The medium reports that everything up to `mark` has been written.
    fn mark(&self, mark: Mark);

    /// The number of a program: everything up to the latest [mark](Store::mark) with this program is durable. 0 at
    /// first. Other code than the medium may also sync the store, such as the code that answers a flush.
    fn synced(&self) -> u64;

    /// The first subrange of `range` that may hold bytes other than zero, if there is one.
    fn written(&self, range: Range<u64>) -> Option<Range<u64>>;

    /// The first failure, if there was one.
    fn fault(&self) -> Option<Fault>;
}
