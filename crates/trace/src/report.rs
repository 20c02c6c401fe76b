//! The reader's report: its counts, and the texts of its errors.

use crate::alignment::Misaligned;
use crate::blocks::{BlockError, Blocks, LINE_BYTES_MAX};
use crate::compression::Compression;
use crate::cursor::{Problem, next_line};
use crate::error::{Excerpt, TraceError};
use crate::format::{Format, TimeUnit};
use crate::plausibility::Doubt;
use crate::reader::Reader;

/// What a reader has counted so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Lines or records read, with or without a request.
    pub lines: u64,
    /// Requests returned.
    pub requests: u64,
    /// Bad lines skipped, with [`crate::BadLines::Skip`].
    pub skipped: u64,
    /// Requests without sectors that were dropped, with [`crate::ZeroLength::Drop`].
    pub zero_length: u64,
    /// Requests whose time was set to the latest time so far, with [`crate::Order::Clamp`].
    pub clamped: u64,
    /// Flushes and trims added, with [`crate::ReadOptions::injection`].
    pub added: u64,
}

/// What a reader knows about a trace, of which it may have read only a part.
#[derive(Clone, Debug)]
pub struct SoFar {
    /// The format.
    pub format: &'static Format,
    /// See [`crate::Reader::time_unit`].
    pub time_unit: TimeUnit,
    /// See [`crate::Reader::unknown_columns`].
    pub unknown_columns: Vec<String>,
    /// The counts.
    pub report: ReadReport,
    /// See [`crate::Reader::digest`].
    pub digest: Option<String>,
    /// See [`crate::Reader::first_skipped`].
    pub first_skipped: Option<String>,
    /// See [`crate::Reader::doubts`].
    pub doubts: Vec<Doubt>,
    /// See [`crate::Reader::misaligned`].
    pub misaligned: Option<Misaligned>,
    /// See [`crate::Reader::has_volumes`].
    pub has_volumes: bool,
}

impl Reader {
    /// What the reader knows about the trace so far.
    #[must_use]
    pub fn so_far(&self) -> SoFar {
        SoFar {
            format: self.format(),
            time_unit: self.time_unit(),
            unknown_columns: self.unknown_columns().to_vec(),
            report: self.report(),
            digest: self.digest(),
            first_skipped: self.first_skipped().map(str::to_owned),
            doubts: self.doubts(),
            misaligned: self.misaligned(),
            has_volumes: self.has_volumes(),
        }
    }
}

/// The error of a stream that provides no further lines. `line` is the number that the next line would have
/// had.
pub(crate) fn block_error(
    file: &str,
    compression: Compression,
    line: u64,
    blocks: &Blocks,
    error: BlockError,
) -> TraceError {
    let (file, offset) = (file.to_owned(), blocks.total);
    match (error, compression) {
        (BlockError::LongLine, _) => {
            let text = Excerpt::new(blocks.in_sight());
            TraceError::LongLine {
                file,
                line,
                limit: LINE_BYTES_MAX,
                text,
            }
        }
        (BlockError::PartialRecord, _) => TraceError::PartialRecord {
            file,
            offset: blocks.offset(),
            bytes: blocks.in_sight().len(),
        },
        (BlockError::Read(cause), None) => TraceError::Read {
            file,
            offset,
            cause,
        },
        (BlockError::Read(cause), Some(compression)) => {
            if cause.kind() == std::io::ErrorKind::UnexpectedEof {
                TraceError::Truncated {
                    file,
                    compression,
                    offset,
                }
            } else {
                TraceError::Damaged {
                    file,
                    compression,
                    offset,
                    cause,
                }
            }
        }
    }
}

/// The line of `block` that is `number` lines below the first.
pub(crate) fn line_text(block: &[u8], number: u64) -> &[u8] {
    let mut at = 0;
    for _ in 0..number {
        at = next_line(block, at);
    }
    &block[at..next_line(block, at)]
}

/// The field of `line` that `problem` is about, or the whole line. The line starts at `start` in its block.
pub(crate) fn offending<'a>(line: &'a [u8], start: usize, problem: &Problem) -> &'a [u8] {
    let Some(field) = problem.field.and_then(|field| line.get(field - start..)) else {
        return line;
    };
    if problem.width > 0 {
        return &field[..problem.width.min(field.len())];
    }
    let end = field
        .iter()
        .position(|byte| matches!(byte, b',' | b' ' | b'\t' | b'\r' | b'\n'));
    &field[..end.unwrap_or(field.len())]
}

/// The bytes of `record` that `problem` is about, or the whole record.
pub(crate) fn offending_bytes<'a>(record: &'a [u8], problem: &Problem) -> &'a [u8] {
    let whole = &record[..problem.record.unwrap_or(record.len()).min(record.len())];
    match problem.field {
        Some(field) => whole.get(field..field + problem.width).unwrap_or(whole),
        None => whole,
    }
}
