//! The target of a measurement: it takes commands and says when each has ended.

use destage_base::Ticks;

use crate::error::Error;

/// The operation of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Bytes are read.
    Read,
    /// Bytes are written; the target makes bytes that no drive can compress.
    Write,
    /// Everything that was answered is made to last.
    Flush,
}

/// A command to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// The operation.
    pub action: Action,
    /// The first byte, a multiple of 4096; has no meaning for a flush.
    pub offset: u64,
    /// How many bytes, a multiple of 4096; has no meaning for a flush.
    pub bytes: u32,
    /// The name of the command in [`Done`]. Commands under way have different tags; the lowest free ones are taken.
    pub tag: u32,
}

/// A command that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The name that it was given.
    pub tag: u32,
    /// When it was handed to the drive.
    pub begun: Ticks,
    /// When it was answered.
    pub ended: Ticks,
}

/// A drive that is measured: one in virtual time ([`Modelled`](super::Modelled)), or a real one. Times count from the beginning of the target, in ticks of
/// 0.1 ns.
pub trait Target {
    /// Bytes that it offers.
    fn bytes(&self) -> u64;

    /// Bytes of the drive that it stands for: more than its own if the drive was made small.
    fn full_bytes(&self) -> u64 {
        self.bytes()
    }

    /// The name of the drive in tables.
    fn name(&self) -> String;

    /// Whether time is real time.
    fn is_real(&self) -> bool {
        true
    }

    /// The time.
    fn now(&mut self) -> Ticks;

    /// Hands `command` to the drive now. Its end comes by [`Target::next`].
    ///
    /// # Errors
    /// If the drive takes no commands.
    fn submit(&mut self, command: Command) -> Result<(), Error>;

    /// The next command that has ended, if one ends by `until`; otherwise it is `until` when this returns. Without `until` it waits for the
    /// end of a command, of which there has to be one under way.
    ///
    /// # Errors
    /// If the drive refuses a command, or is gone.
    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error>;

    /// Bytes that flash has programmed so far, by the drive's own counter; `None` if it has none.
    ///
    /// # Errors
    /// If the counter cannot be read any more.
    fn programmed(&mut self) -> Result<Option<f64>, Error> {
        Ok(None)
    }
}
