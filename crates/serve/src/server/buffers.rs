//! Bytes that have come and are not understood yet, and bytes that are to go.

use std::io::{self, Read, Write};

/// Bytes of input that are kept for a connection at least.
const SMALL: usize = 1 << 14;
/// Beyond that a buffer only grows because one message needs it.
const USUAL: usize = 1 << 17;
/// A buffer that grew beyond that is given back once it is empty.
const KEPT: usize = 1 << 21;

/// What came of a read or write of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    /// As many as there was room for.
    All,
    /// Some, and there are no more for now.
    Some,
    /// Nothing for now.
    Nothing,
    /// The other side is gone.
    End,
}

/// What came of a call that could have moved `room` bytes, and how many it moved.
fn moved(outcome: io::Result<usize>, room: usize) -> (Moved, usize) {
    match outcome {
        Ok(0) => (Moved::End, 0),
        Ok(count) if count == room => (Moved::All, count),
        Ok(count) => (Moved::Some, count),
        Err(cause) => match cause.kind() {
            io::ErrorKind::WouldBlock => (Moved::Nothing, 0),
            // It is tried again.
            io::ErrorKind::Interrupted => (Moved::All, 0),
            _ => (Moved::End, 0),
        },
    }
}

/// Bytes that have come.
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

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        self.buffer.len()
    }

    /// The first `count` bytes are understood.
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEPT {
                self.buffer = Vec::new();
            }
        }
    }

    /// Reads what is there, towards a message of `needed` bytes. Memory grows with what has come, not with what was
    /// announced.
    pub fn fill(&mut self, from: &mut impl Read, needed: usize) -> Moved {
        let used = self.end - self.start;
        let room = self.buffer.len() - self.start;
        if self.end == self.buffer.len() || room < needed {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, used);
        }
        if used == self.buffer.len() {
            let most = needed.max(USUAL);
            let wanted = (2 * used).clamp(SMALL, most).max(used + 1);
            self.buffer.resize(wanted, 0);
        }
        let room = &mut self.buffer[self.end..];
        let (most, outcome) = (room.len(), from.read(room));
        let (outcome, count) = moved(outcome, most);
        self.end += count;
        outcome
    }
}

/// Bytes that are to go.
#[derive(Default)]
pub(super) struct Output {
    /// What is added goes here.
    pub buffer: Vec<u8>,
    sent: usize,
}

impl Output {
    /// Bytes that have not gone.
    pub fn len(&self) -> usize {
        self.buffer.len() - self.sent
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes what can be taken.
    pub fn send(&mut self, to: &mut impl Write) -> Moved {
        let left = &self.buffer[self.sent..];
        let (outcome, count) = moved(to.write(left), left.len());
        self.sent += count;
        if self.is_empty() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT);
            self.sent = 0;
        }
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
            assert_ne!(input.fill(&mut from, 1 << 25), Moved::End);
            assert!(input.memory() <= SMALL.max(2 * input.bytes().len()));
        }
        assert_eq!(input.bytes(), [7; 100_000]);
        input.consume(99_999);
        let mut from = &[8; 4][..];
        input.fill(&mut from, 28);
        assert_eq!(input.bytes(), [7, 8, 8, 8, 8]);
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
        let mut output = Output {
            buffer: bytes,
            sent: 0,
        };
        let mut gone = Vec::new();
        while !output.is_empty() {
            output.send(&mut gone);
        }
        assert_eq!(gone.len(), KEPT + 1);
        assert!(output.buffer.capacity() <= KEPT);
    }
}
