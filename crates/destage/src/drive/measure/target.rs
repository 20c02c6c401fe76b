//! The drive that is measured: it accepts commands and reports when each has completed.

use destage_base::Ticks;

use crate::error::Error;

/// The operation of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Reads bytes.
    Read,
    /// Writes bytes; the target generates data that no drive can compress.
    Write,
    /// Makes all answered writes durable.
    Flush,
}

/// A command to a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Command {
    /// The operation.
    pub action: Action,
    /// The first byte of the range, a multiple of 4096; ignored for a flush.
    pub offset: u64,
    /// The number of bytes, a multiple of 4096; ignored for a flush.
    pub bytes: u32,
    /// Identifies the command in [`Done`]. Outstanding commands have different tags. A tag is reused after its
    /// command has completed, so every tag is below the largest number of outstanding commands.
    pub tag: u32,
}

/// A command that has completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The tag of the command.
    pub tag: u32,
    /// When the command was submitted to the drive.
    pub begun: Ticks,
    /// When the drive answered the command.
    pub ended: Ticks,
}

/// A drive that is measured: a simulated drive in virtual time ([`Modelled`](super::Modelled)), or a real drive.
/// Times are in ticks of 0.1 ns since the target was opened.
pub trait Target {
    /// The capacity in bytes.
    fn bytes(&self) -> u64;

    /// The capacity, in bytes, of the full-size drive that this target represents. It is larger than
    /// [`Target::bytes`] if the drive was scaled down.
    fn full_bytes(&self) -> u64 {
        self.bytes()
    }

    /// The name of the drive in tables.
    fn name(&self) -> String;

    /// What tells the drive apart from others of the same name and capacity, such as the serial number of a disk. An
    /// interrupted measurement continues only on a drive with the same identity. Empty if nothing is known.
    fn identity(&self) -> String {
        String::new()
    }

    /// The bytes at both ends of the drive, where partition tables and file systems are stored. They show whether the
    /// drive still holds what an interrupted measurement left. `None` if they are not known. No command is
    /// outstanding at the time of the call.
    ///
    /// # Errors
    /// If the drive cannot be read.
    fn ends(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    /// Whether the times are real time; otherwise they are virtual time.
    fn is_real(&self) -> bool {
        true
    }

    /// The current time.
    fn now(&mut self) -> Ticks;

    /// Submits `command` to the drive now. [`Target::next`] returns its completion.
    ///
    /// # Errors
    /// If the drive accepts no commands.
    fn submit(&mut self, command: Command) -> Result<(), Error>;

    /// Waits for the next command that completes by `until`. Returns `None` at `until` if no command completes by
    /// then. Without `until`, at least one command has to be outstanding.
    ///
    /// # Errors
    /// If the drive refuses a command, or no longer exists.
    fn next(&mut self, until: Option<Ticks>) -> Result<Option<Done>, Error>;

    /// The number of bytes that the flash has programmed so far, from a counter of the drive; `None` if the drive has
    /// no such counter.
    ///
    /// # Errors
    /// If the counter can no longer be read.
    fn programmed(&mut self) -> Result<Option<f64>, Error> {
        Ok(None)
    }
}
