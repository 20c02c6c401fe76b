//! Writes requests in this project's interchange format, which `formats/compact.rs` describes.

use crate::formats::compact::{BLOCK, COLUMNS, MARK, VERSION};
use crate::request::{Operation, Request};
use std::io::{self, Write};

/// Writes requests of all kinds, without loss, block by block. The caller must compress the bytes with zstd.
pub struct CompactWriter<W: Write> {
    out: W,
    waiting: Vec<Request>,
    block: Vec<u8>,
    total: u64,
}

impl<W: Write> CompactWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MARK)?;
        out.write_all(&[VERSION])?;
        Ok(Self::resumed(out, 0))
    }

    /// Continues a file that already has `total` requests; `out` gets the bytes that follow.
    pub fn resumed(out: W, total: u64) -> Self {
        Self {
            out,
            waiting: Vec::with_capacity(BLOCK),
            block: Vec::new(),
            total,
        }
    }

    /// Writes all waiting requests. Returns `out` and the total number of requests, with which
    /// [`Self::resumed`] can continue.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn suspend(mut self) -> io::Result<(W, u64)> {
        if !self.waiting.is_empty() {
            self.put_block()?;
        }
        Ok((self.out, self.total))
    }

    /// Adds one request.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write(&mut self, request: &Request) -> io::Result<()> {
        self.waiting.push(*request);
        if self.waiting.len() == BLOCK {
            self.put_block()?;
        }
        Ok(())
    }

    /// Writes the end mark, without which the file cannot be read, and returns `out`.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(self) -> io::Result<W> {
        let (mut out, total) = self.suspend()?;
        out.write_all(&0u32.to_le_bytes())?;
        out.write_all(&total.to_le_bytes())?;
        Ok(out)
    }

    fn put_block(&mut self) -> io::Result<()> {
        let count = self.waiting.len();
        let first = self.waiting[0];
        self.total += count as u64;
        self.block.clear();
        let count_bytes = u32::try_from(count)
            .expect("a block is small")
            .to_le_bytes();
        self.block.extend(count_bytes);
        self.block.extend(first.arrival.to_le_bytes());
        self.block.extend(first.sector.to_le_bytes());
        let mut columns: [Vec<u64>; COLUMNS] = std::array::from_fn(|_| Vec::with_capacity(count));
        let (mut arrival, mut end) = (first.arrival, first.sector);
        for request in self.waiting.drain(..) {
            let jump = request.sector.wrapping_sub(end).cast_signed();
            let values = [
                request.arrival.wrapping_sub(arrival),
                (jump << 1 ^ jump >> 63).cast_unsigned(),
                u64::from(request.sectors),
                u64::from(request.volume),
                code(&request),
            ];
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
            arrival = request.arrival;
            end = request.end();
        }
        for column in &columns {
            put_column(&mut self.block, column);
        }
        self.out.write_all(&self.block)
    }
}

/// The operation, FUA and stream of a request as one number of the format.
fn code(request: &Request) -> u64 {
    let operation = request.operation.number();
    if request.operation == Operation::Flush {
        // A flush has neither FUA nor a stream.
        return operation;
    }
    operation + 4 * u64::from(request.fua) + 8 * u64::from(request.stream)
}

/// Adds a column to `block`: first the base and the scale, which hold for all values, then one number for each
/// value. All numbers have as many bytes as the largest one needs.
fn put_column(block: &mut Vec<u8>, values: &[u64]) {
    let base = values.iter().copied().min().unwrap_or(0);
    let scale = values
        .iter()
        .fold(0, |scale, value| {
            greatest_common_divisor(value - base, scale)
        })
        .max(1);
    let largest = values.iter().map(|value| (value - base) / scale).max();
    let width = (64 - largest.unwrap_or(0).leading_zeros()).div_ceil(8) as usize;
    block.push(u8::try_from(width).expect("at most 8"));
    block.extend(base.to_le_bytes());
    block.extend(scale.to_le_bytes());
    for value in values {
        block.extend(&((value - base) / scale).to_le_bytes()[..width]);
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}
