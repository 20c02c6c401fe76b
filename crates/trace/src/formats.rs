//! One file per format: its row of the registry, its columns, and the reading of one line.

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

/// Sectors touched by a byte range whose length was the field read last, in the column `column`. A range that ends beyond the last byte begins where
/// `request` refuses it for that reason, once the line is known to be whole.
#[inline(always)]
fn byte_range(
    cursor: &Cursor<'_>,
    offset: u64,
    bytes: u64,
    column: &'static Column,
) -> Result<(u64, u32), Problem> {
    sectors_touched(offset, bytes).map_or_else(|| outside(cursor, offset, bytes, column), Ok)
}

/// The error in an impossible byte range: its end, or its length alone.
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

/// `Read` or `Write`, followed by `separator`, which is passed as well.
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

/// The end of the field just read, whose column is `column`, with the blanks around the comma after it.
#[inline(always)]
fn padded_comma(cursor: &mut Cursor<'_>, column: &'static Column) -> Result<(), Problem> {
    cursor.skip_spaces();
    cursor.separator(b',', column)?;
    cursor.skip_spaces();
    Ok(())
}

/// The operation of a SCSI command, for those that a trace of a disk holds.
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
