//! One file for each format, with its entry in the registry, its columns, and the decoder of one line or
//! record.

pub(crate) mod alibaba;
pub(crate) mod blkparse;
pub(crate) mod blktrace;
pub(crate) mod cloudphysics;
pub(crate) mod compact;
pub(crate) mod csv;
pub(crate) mod diskmon;
pub(crate) mod disksim;
pub(crate) mod fio;
pub(crate) mod msr;
pub(crate) mod oraclegeneral;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod spc;
pub(crate) mod srt;
pub(crate) mod ssdsim;
pub(crate) mod systor;
pub(crate) mod tencent;
pub(crate) mod tracerpt;
pub(crate) mod vscsi;
pub(crate) mod wiscsee;
pub(crate) mod xperf;

use crate::cursor::{Column, Cursor, Problem};
use crate::error::Fault;
use crate::request::{Operation, SECTORS_MAX, sectors_touched};

/// Converts a byte range to the sectors that it touches. The length `bytes` must be the last field that
/// `cursor` has read, because errors show this field, under the name of `column`. If the range ends beyond the
/// last byte address, this function returns sectors that `request` later refuses for this reason. So the rest
/// of the line is checked before this error is reported.
#[inline(always)]
fn byte_range(
    cursor: &Cursor<'_>,
    offset: u64,
    bytes: u64,
    column: &'static Column,
) -> Result<(u64, u32), Problem> {
    sectors_touched(offset, bytes).map_or_else(|| outside(cursor, offset, bytes, column), Ok)
}

/// Handles a byte range that does not fit in a request, because its end or its length alone is too large.
#[cold]
fn outside(
    cursor: &Cursor<'_>,
    offset: u64,
    bytes: u64,
    column: &'static Column,
) -> Result<(u64, u32), Problem> {
    if offset.checked_add(bytes - 1).is_none() && sectors_touched(0, bytes).is_some() {
        return Ok((SECTORS_MAX, 1));
    }
    Err(cursor.bad_field(Fault::TooLarge(column.name), column))
}

/// Reads `Read` or `Write`, and skips the `separator` after it.
#[inline(always)]
fn read_or_write(
    cursor: &mut Cursor<'_>,
    separator: u8,
    column: &'static Column,
) -> Result<Operation, Problem> {
    let operation = match cursor.word(separator) {
        b"Read" => Operation::Read,
        b"Write" => Operation::Write,
        _ => return Err(cursor.unknown_word(column)),
    };
    cursor.separator(separator, column)?;
    Ok(operation)
}

/// Skips the comma after the field that was just read in `column`, with the blanks around the comma.
#[inline(always)]
fn padded_comma(cursor: &mut Cursor<'_>, column: &'static Column) -> Result<(), Problem> {
    cursor.skip_spaces();
    cursor.separator(b',', column)?;
    cursor.skip_spaces();
    Ok(())
}

/// The commands that [`scsi_operation`] knows.
const SCSI_OPCODE: Column = Column::new(
    "SCSI opcode",
    "a read (08 28 a8 88), a write (0a 2a aa 8a 2e ae 8e), a flush (35 91) or an unmap (42)",
);

/// The operation of the SCSI command `opcode`. `None` if the command is no read, write, flush or unmap.
#[inline(always)]
fn scsi_operation(opcode: u64) -> Option<Operation> {
    match opcode {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Operation::Read),
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Some(Operation::Write),
        0x35 | 0x91 => Some(Operation::Flush),
        0x42 => Some(Operation::Trim),
        _ => None,
    }
}
