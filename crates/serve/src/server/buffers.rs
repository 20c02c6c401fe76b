//! Buffers of a connection: received bytes that are not parsed yet, and bytes to send.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::time::Instant;

use super::memory::SHARE;

/// The initial size of an input buffer, in bytes. A buffer with at most this many unused bytes is not shrunk.
pub(super) const SMALL: usize = 1 << 14;
/// An empty input buffer with more bytes than this is freed.
const KEPT: usize = 1 << 21;
/// The size of a piece of output in bytes, unless one answer is larger. Each call sends at most one piece.
const PIECE: usize = 1 << 16;
/// The largest number of bytes of an answer besides its data: a header and a message, or the extents of a block
/// status.
pub(super) const ANSWER_MAX: usize = 1 << 14;

/// The outcome of reading or writing bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    /// All bytes for which there was room were moved.
    All,
    /// Some bytes were moved. No more can be moved for now.
    Some,
    /// No bytes can be moved for now.
    Nothing,
    /// The other side has closed the connection, or the socket has failed.
    End,
}

/// Classifies the outcome of a call that could have moved `room` bytes. Returns also how many bytes the call moved.
fn moved(outcome: io::Result<usize>, room: usize) -> (Moved, usize) {
    match outcome {
        Ok(0) => (Moved::End, 0),
        Ok(count) if count == room => (Moved::All, count),
        Ok(count) => (Moved::Some, count),
        Err(cause) => match cause.kind() {
            io::ErrorKind::WouldBlock => (Moved::Nothing, 0),
            // The caller tries again.
            io::ErrorKind::Interrupted => (Moved::All, 0),
            _ => (Moved::End, 0),
        },
    }
}

/// Received bytes that are not parsed yet.
#[derive(Default)]
pub(super) struct Input {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The size of the buffer in bytes.
    pub fn memory(&self) -> usize {
        self.buffer.len()
    }

    /// Whether the buffer is full, so that [`fill`](Self::fill) would have to enlarge it.
    pub fn is_full(&self) -> bool {
        self.end - self.start == self.buffer.len()
    }

    /// The size of the buffer after its next growth, in bytes. The current message has at least `needed` bytes. The
    /// buffer grows beyond [`SHARE`] only if the message is longer.
    pub fn grown(&self, needed: usize) -> usize {
        let used = self.end - self.start;
        let most = needed.max(SHARE);
        (2 * used).clamp(SMALL, most).max(used + 1)
    }

    /// Removes the first `count` bytes, which were processed.
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT {
                self.buffer = Vec::new();
            }
        }
    }

    /// Frees the unused memory of the buffer if it is more than [`SMALL`].
    pub fn shrink(&mut self) {
        if self.buffer.len() - (self.end - self.start) > SMALL {
            self.buffer = self.bytes().to_vec();
            (self.start, self.end) = (0, self.buffer.len());
        }
    }

    /// Reads the available bytes of a message that has at least `needed` bytes. Memory grows with the received
    /// bytes, not with the announced length.
    pub fn fill(&mut self, from: &mut impl Read, needed: usize) -> Moved {
        let used = self.end - self.start;
        let room = self.buffer.len() - self.start;
        if self.end == self.buffer.len() || room < needed {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, used);
        }
        if used == self.buffer.len() {
            let grown = self.grown(needed);
            self.buffer.reserve_exact(grown - used);
            self.buffer.resize(grown, 0);
        }
        let room = &mut self.buffer[self.end..];
        let (most, outcome) = (room.len(), from.read(room));
        let (outcome, count) = moved(outcome, most);
        self.end += count;
        outcome
    }
}

/// Bytes to send, in pieces. A piece is freed as soon as it was sent, however many pieces follow it.
#[derive(Default)]
pub(super) struct Output {
    /// The pieces in the order in which they are sent. New bytes are appended to the last piece.
    pieces: VecDeque<Vec<u8>>,
    /// For all pieces but the last: the number of bytes to send, and the number of bytes of memory.
    full: [usize; 2],
    /// The number of bytes of the first piece that were sent.
    sent: usize,
    /// The time since which bytes wait for the other side to accept them; `None` if no bytes wait.
    pub since: Option<Instant>,
}

impl Output {
    /// The piece to which an answer with `bytes` bytes of data is appended.
    pub fn piece(&mut self, bytes: usize) -> &mut Vec<u8> {
        let wanted = bytes + ANSWER_MAX;
        let last = self.pieces.back();
        let fits = |last: &Vec<u8>| last.len() + wanted <= last.capacity().max(PIECE);
        if !last.is_some_and(fits) {
            match last {
                Some(last) if last.is_empty() => {
                    self.pieces.pop_back();
                }
                Some(last) => {
                    self.full[0] += last.len();
                    self.full[1] += last.capacity();
                }
                None => {}
            }
            let room = if bytes < PIECE / 2 { 0 } else { bytes + 64 };
            self.pieces.push_back(Vec::with_capacity(room));
        }
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }

    /// The number of bytes that were not sent yet.
    pub fn len(&self) -> usize {
        self.full[0] + self.pieces.back().map_or(0, Vec::len) - self.sent
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory of all pieces in bytes.
    pub fn memory(&self) -> usize {
        self.full[1] + self.pieces.back().map_or(0, Vec::capacity)
    }

    /// Sends as much of the first piece as the other side accepts.
    pub fn send(&mut self, to: &mut impl Write) -> Moved {
        let is_last = self.pieces.len() == 1;
        let Some(first) = self.pieces.front_mut() else {
            return Moved::All;
        };
        let left = &first[self.sent..];
        let (outcome, count) = moved(to.write(left), left.len());
        self.sent += count;
        if self.sent < first.len() {
            return outcome;
        }
        self.sent = 0;
        if is_last && first.capacity() <= PIECE {
            first.clear();
            return outcome;
        }
        if !is_last {
            self.full[0] -= first.len();
            self.full[1] -= first.capacity();
        }
        self.pieces.pop_front();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_with_what_has_come() {
        let mut input = Input::default();
        let mut from = &[7; 100_000][..];
        while !from.is_empty() {
            let grown = match input.is_full() {
                true => input.grown(1 << 25),
                false => input.memory(),
            };
            assert_ne!(input.fill(&mut from, 1 << 25), Moved::End);
            assert_eq!(input.memory(), grown);
            assert!(input.memory() <= SMALL.max(2 * input.bytes().len()));
        }
        assert_eq!(input.bytes(), [7; 100_000]);
        input.consume(99_999);
        let mut from = &[8; 4][..];
        input.fill(&mut from, 28);
        assert_eq!(input.bytes(), [7, 8, 8, 8, 8]);
        input.shrink();
        assert_eq!((input.bytes(), input.memory()), (&[7, 8, 8, 8, 8][..], 5));
    }

    #[test]
    fn what_was_large_is_given_back() {
        let mut input = Input::default();
        let bytes = vec![1; KEPT + 1];
        let mut from = &bytes[..];
        while !from.is_empty() {
            input.fill(&mut from, KEPT + 1);
        }
        input.consume(KEPT + 1);
        assert_eq!(input.memory(), 0);
    }

    /// A writer that accepts at most `.1` bytes at a time.
    struct Slow(Vec<u8>, usize);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.1);
            self.0.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_has_gone_takes_no_memory() {
        let mut output = Output::default();
        let mut to = Slow(Vec::new(), 5000);
        let mut said = Vec::new();
        for (round, bytes) in [100, 4096, 70_000, 0, 300_000, 40_000, 16]
            .into_iter()
            .cycle()
            .take(700)
            .enumerate()
        {
            let answer = vec![round as u8; bytes];
            output.piece(bytes).extend_from_slice(&answer);
            said.extend_from_slice(&answer);
            // The output never becomes empty here. The memory of the output must nevertheless stay near the number of
            // unsent bytes.
            while output.len() > 400_000 {
                output.send(&mut to);
            }
            let most = 2 * output.len() + 300_000 + 4 * PIECE;
            assert!(
                output.memory() <= most,
                "{} {}",
                output.memory(),
                output.len()
            );
        }
        while !output.is_empty() {
            output.send(&mut to);
        }
        assert!(to.0 == said);
        assert!(output.memory() <= PIECE);
    }
}
