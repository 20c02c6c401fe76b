//! Where bytes are kept so that they last.

use core::ops::Range;

use super::image::Mark;

/// The error of a disk or a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// It has no room left.
    Full,
    /// Anything else.
    Io,
}

/// A row of bytes that outlives the medium, zeros at first: a file. Writes take effect in their order, as long as the machine runs; if it crashes,
/// each write after the last [`sync`](Store::sync) may be there or not. A failure is noted, and after the first failed write no later one takes
/// effect, so that the contents are always those after a beginning of the writes.
pub trait Store: Send + Sync {
    /// Fills `out` with the bytes from `offset` on, or with zeros if they cannot be read.
    fn read(&self, offset: u64, out: &mut [u8]);

    /// Writes `bytes` from `offset` on.
    fn write(&self, offset: u64, bytes: &[u8]);

    /// Makes everything last that was written up to now, whatever happens to the machine, and then writes the latest
    /// [mark](Store::mark) where [`Marks`](super::image::Marks) says.
    fn sync(&self);

    /// All up to this mark has been written.
    fn mark(&self, mark: Mark);

    /// The program of the latest [mark](Store::mark) of which everything lasts, 0 at first. Other parts than the medium may sync too, such as the one
    /// that answers a flush.
    fn synced(&self) -> u64;

    /// The first bytes of `range` that may be other than zero, if there are any.
    fn written(&self, range: Range<u64>) -> Option<Range<u64>>;

    /// The failure, if there was one.
    fn fault(&self) -> Option<Fault>;
}
