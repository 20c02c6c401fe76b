//! Blocks of complete lines, or of records, out of a stream of bytes, in one buffer of fixed size.

use crate::compression::Source;
use crate::digest::hexadecimal;
use sha2::{Digest, Sha256};
use std::io;

/// The buffer: large enough that refilling costs nothing, small enough to stay in a core's own cache.
const BUFFER_BYTES: usize = 256 << 10;
/// The longest line.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// Why there is no further block.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// The stream failed.
    Read(io::Error),
    /// The line now at the front is too long.
    LongLine,
    /// The stream ends within the record now at the front.
    PartialRecord,
}

/// A window over a stream that shows complete lines, each with its newline; or, for a binary stream, all bytes at hand, where only the format knows
/// how many records they are.
pub(crate) struct Blocks {
    source: Source,
    buffer: Vec<u8>,
    /// The visible part: from here ..
    start: usize,
    /// .. to here, just past a newline ..
    end: usize,
    /// .. and the bytes that were read.
    filled: usize,
    ended: bool,
    /// Whether the last line lacked its newline, and got one.
    completed: bool,
    /// Whether records are shown, not lines.
    records: bool,
    /// Shown after the lines that came before it.
    failed: Option<io::Error>,
    digest: Option<Sha256>,
    /// Uncompressed bytes read.
    pub total: u64,
}

impl Blocks {
    pub fn new(source: Source, digest: bool) -> Self {
        // One byte more, for the newline that a last line may lack.
        let buffer = vec![0; BUFFER_BYTES + 1];
        let digest = digest.then(Sha256::new);
        Self {
            source,
            buffer,
            start: 0,
            end: 0,
            filled: 0,
            ended: false,
            completed: false,
            records: false,
            failed: None,
            digest,
            total: 0,
        }
    }

    /// The complete lines at hand; nothing before the first and between two refills.
    pub fn lines(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Marks `length` bytes of [`Self::lines`] as done.
    pub fn consume(&mut self, length: usize) {
        self.start += length;
        debug_assert!(self.start <= self.end);
    }

    /// Bytes that were read and not processed, with an incomplete last line.
    pub fn in_sight(&self) -> &[u8] {
        &self.buffer[self.start..self.filled]
    }

    /// Shows records from now on; nothing may have been marked as done.
    pub fn show_records(&mut self) {
        if self.completed {
            self.filled -= 1;
            self.completed = false;
        }
        self.records = true;
        self.end = self.filled;
    }

    /// Where the visible part begins, in bytes of the stream. Not for a last line that lacked its newline.
    pub fn offset(&self) -> u64 {
        self.total - (self.filled - self.start) as u64
    }

    /// Reads on, once all lines at hand are done, or no complete record is at hand. `false` at the end.
    pub fn refill(&mut self) -> Result<bool, BlockError> {
        assert!(
            self.records || self.start == self.end,
            "lines in the buffer would be lost"
        );
        if let Some(error) = self.failed.take() {
            // An incomplete line never becomes a line.
            self.ended = true;
            self.filled = self.start;
            return Err(BlockError::Read(error));
        }
        if self.ended {
            if self.records && self.start < self.filled {
                return Err(BlockError::PartialRecord);
            }
            return Ok(false);
        }
        let before = self.filled - self.start;
        self.read_on();
        if self.records {
            self.end = self.filled;
            if self.filled > before {
                return Ok(true);
            }
            assert!(
                self.filled < BUFFER_BYTES,
                "a format refuses records that do not fit in the buffer"
            );
            return self.refill();
        }
        self.show()
    }

    /// Shows all complete lines.
    fn show(&mut self) -> Result<bool, BlockError> {
        if self.ended && self.start < self.filled && self.buffer[self.filled - 1] != b'\n' {
            self.buffer[self.filled] = b'\n';
            self.filled += 1;
            self.completed = true;
        }
        let length = memchr::memrchr(b'\n', self.in_sight()).map_or(0, |last| last + 1);
        self.end = self.start + length;
        if length > 0 {
            return Ok(true);
        }
        if self.in_sight().len() > LINE_BYTES_MAX {
            return Err(BlockError::LongLine);
        }
        if self.failed.is_some() {
            self.refill()
        } else {
            Ok(false)
        }
    }

    /// Skips the line at the front, which was too long, and shows the text after it. `false` if nothing does.
    pub fn pass_line(&mut self) -> Result<bool, BlockError> {
        loop {
            let newline = memchr::memchr(b'\n', self.in_sight());
            self.start = newline.map_or(self.filled, |length| self.start + length + 1);
            let over = self.ended || self.failed.is_some();
            if !over {
                self.read_on();
            }
            if over || newline.is_some() {
                return self.show();
            }
        }
    }

    /// The SHA-256 of the uncompressed bytes read so far, in hexadecimal, if it was asked for.
    pub fn digest(&self) -> Option<String> {
        let digest = self.digest.clone()?.finalize();
        Some(hexadecimal(&digest))
    }

    /// Moves the visible bytes to the front of the buffer, and fills the rest of it.
    fn read_on(&mut self) {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        self.end = 0;
        let before = self.filled;
        self.read_full();
        if let Some(digest) = &mut self.digest {
            digest.update(&self.buffer[before..self.filled]);
        }
        self.total += (self.filled - before) as u64;
    }

    fn read_full(&mut self) {
        while self.filled < BUFFER_BYTES {
            match self
                .source
                .read(&mut self.buffer[self.filled..BUFFER_BYTES])
            {
                Ok(0) => {
                    self.ended = true;
                    return;
                }
                Ok(length) => self.filled += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = Some(error);
                    return;
                }
            }
        }
    }
}
