//! Cuts a stream of bytes into blocks of complete lines, or of records, within one buffer of fixed size.

use crate::compression::Source;
use crate::digest::hexadecimal;
use sha2::{Digest, Sha256};
use std::io;

/// The size of the buffer in bytes. Refills of this size are so rare that they cost hardly any time, and the
/// buffer fits in the private cache of a core.
const BUFFER_BYTES: usize = 256 << 10;
/// The length of the longest line that is accepted, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 10;

/// The reason why there is no further block.
#[derive(Debug)]
pub(crate) enum BlockError {
    /// Reading the stream failed.
    Read(io::Error),
    /// The line at the front of the buffer is too long.
    LongLine,
    /// The stream ends within the record at the front of the buffer.
    PartialRecord,
}

/// A window over a stream of bytes. For text the window shows complete lines, each with its newline. For a
/// binary stream the window shows all bytes in the buffer, because only the decoder of the format knows where a
/// record ends.
pub(crate) struct Blocks {
    source: Source,
    buffer: Vec<u8>,
    /// The index in the buffer of the first visible byte.
    start: usize,
    /// The index after the last visible byte. In text, the last visible byte is a newline.
    end: usize,
    /// The index after the last byte that was read.
    filled: usize,
    ended: bool,
    /// Whether a newline was added after the last line, because the stream does not end with a newline.
    completed: bool,
    /// Whether the window shows records instead of lines.
    records: bool,
    /// An error from reading the stream. The error is reported after all complete lines before it are consumed.
    failed: Option<io::Error>,
    digest: Option<Sha256>,
    /// Number of uncompressed bytes read so far.
    pub total: u64,
}

impl Blocks {
    pub fn new(source: Source, digest: bool) -> Self {
        // The buffer has one byte more than is ever read into it. This byte is for the newline that may have to
        // be added after the last line.
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

    /// The complete lines in the buffer. Empty before the first refill, and between two refills.
    pub fn lines(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Removes the first `length` bytes of [`Self::lines`] from the window, because they are processed.
    pub fn consume(&mut self, length: usize) {
        self.start += length;
        debug_assert!(self.start <= self.end);
    }

    /// All bytes that were read and not consumed, including an incomplete last line.
    pub fn in_sight(&self) -> &[u8] {
        &self.buffer[self.start..self.filled]
    }

    /// Switches the window from lines to records. Must be called before anything is consumed.
    pub fn show_records(&mut self) {
        if self.completed {
            self.filled -= 1;
            self.completed = false;
        }
        self.records = true;
        self.end = self.filled;
    }

    /// The position of the first visible byte in the stream. The result is too low by 1 if a newline was added
    /// after the last line.
    pub fn offset(&self) -> u64 {
        self.total - (self.filled - self.start) as u64
    }

    /// Reads more bytes. For text, must be called only when all lines are consumed; for records, only when the
    /// buffer holds no complete record. Returns `false` at the end of the stream.
    pub fn refill(&mut self) -> Result<bool, BlockError> {
        assert!(
            self.records || self.start == self.end,
            "lines in the buffer would be lost"
        );
        if let Some(error) = self.failed.take() {
            // The incomplete line before the error is discarded.
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

    /// Makes all complete lines visible.
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

    /// Skips the line at the front of the buffer, which is too long, and shows the lines after it. Returns
    /// `false` if no line follows.
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

    /// The SHA-256 of the uncompressed bytes read so far, in hexadecimal; `None` unless [`Self::new`] was
    /// called with `digest`.
    pub fn digest(&self) -> Option<String> {
        let digest = self.digest.clone()?.finalize();
        Some(hexadecimal(&digest))
    }

    /// Moves the bytes that are not consumed to the front of the buffer, and fills the rest of the buffer.
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
