//! `csv`: any table whose columns are named by its first line or by `trace.columns`.
//!
//! This project writes such tables with all columns, and with times in ns with one decimal, which is exact to
//! the tick. Other programs write values in many other forms. If the fast decoder refuses a field, [`odd`]
//! decodes this field.

mod odd;

use super::byte_range;
use crate::columns::{Columns, Field, Unit};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, TIME_MAX, decode, request, too_late};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request, SECTOR_BYTES};
use crate::writers::csv::HEADER;

pub(crate) const FORMAT: Format = Format {
    name: "csv",
    extensions: &["csv"],
    about: "Any table: trace.columns or its first line names the columns and their separator; times in ns unless the name of the column or trace.time_unit says otherwise, or dates; calendar times are made relative to the first request.",
    columns: "as many fields as there are columns",
    header: Some(HEADER),
    example: "5265313000.0,0,write,6357144,8,0,0",
    time_unit: TimeUnit::Nanoseconds,
    general: true,
    ..Format::of(Encoding::Text(decode::<Csv>))
};

const TIME: Column = Column::new(
    "time",
    "a number, with a point before its decimals, or a date such as 2024-01-31T12:00:00.5Z",
);
const VOLUME: Column = Column::new("volume", "a whole number below 2^32, or names in all lines");
const OPERATION: Column = Column::new(
    "op",
    "read, write, flush (sync) or trim (discard, unmap), or the first letter",
);
const FLAG: Column = Column::new("flag", "0 or 1");
const STREAM: Column = Column::new("stream", "a whole number below 2^16, 0 for none");
const SECTOR: Column = Column::new("sector", "a whole number of 512-byte sectors");
const SECTORS: Column = Column::new("sectors", "a whole number below 2^32");
const OFFSET: Column = Column::new("offset", "a whole number of bytes");
const BYTES: Column = Column::new("bytes", "a whole number of bytes below 2^41");
const OFFSET_KIB: Column = Column::new("offset_kib", "a number of KiB");
const KIB: Column = Column::new("kib", "a number of KiB below 2^31");
const BLOCK: Column = Column::new("block", "a whole number of blocks of trace.block_bytes");
const BLOCKS: Column = Column::new(
    "blocks",
    "a whole number of blocks of trace.block_bytes, below 2^41 bytes",
);
const IGNORED: Column = Column::new("ignored field", "a field");
const NAMES: Column = Column::new(
    "first line",
    "names of columns such as time,op,offset,bytes, or trace.columns",
);

pub(crate) struct Csv;

/// A row was read, so later lines are not headers. This mark and the two below are bits of [`State::kind`].
const BEGUN: u32 = 1;
/// Volumes are numbers.
pub(crate) const NUMBERS: u32 = 2;
/// Volumes are names, which are numbered in the order in which they first appear.
const NAMED: u32 = 4;

impl Layout for Csv {
    const COMMENTS: bool = true;

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        if state.kind & BEGUN == 0 && header(cursor, state)? {
            return Ok(None);
        }
        // The columns are moved out of the state while a row is read, because reading a row changes the state.
        let Some(columns) = state.choices.columns.take() else {
            return Err(Problem::line(Fault::NoColumns));
        };
        let made = row(&columns, cursor, state);
        state.choices.columns = Some(columns);
        made
    }
}

#[inline(always)]
fn row(
    columns: &Columns,
    cursor: &mut Cursor<'_>,
    state: &mut State,
) -> Result<Option<Request>, Problem> {
    let mut row = Row {
        operation: (state.choices.missing_operation).filter(|_| !columns.has_operation),
        ..Row::default()
    };
    let last = columns.fields.len() - 1;
    for (index, field) in columns.fields.iter().enumerate() {
        let place = Place {
            field: *field,
            separator: columns.separator,
            is_last: index == last,
        };
        // Tables written by hand have blanks around their fields.
        cursor.skip_spaces();
        let start = cursor.at;
        if let Err(problem) = row.read(&place, cursor, state) {
            cursor.at = start;
            row.read_odd(&place, cursor, state, problem)?;
        }
    }
    state.kind |= row.marks;
    let Some(operation) = row.operation else {
        return Err(Problem::line(Fault::NoOperationColumn));
    };
    if operation == Operation::Flush {
        return request(state, row.arrival, row.volume, (0, 0), operation);
    }
    if row.lacks_range {
        return Err(Problem::line(Fault::NoRange));
    }
    let range = match (row.sector, row.sectors) {
        (Position::Sectors(sector), Position::Sectors(sectors)) => {
            let sectors = u32::try_from(sectors)
                .map_err(|_| cursor.bad_field(Fault::TooLarge(SECTORS.name), &SECTORS))?;
            (sector, sectors)
        }
        (Position::Sectors(sector), Position::Bytes(bytes)) => {
            (sector, byte_range(cursor, 0, bytes, &BYTES)?.1)
        }
        (Position::Bytes(offset), Position::Bytes(bytes)) => {
            byte_range(cursor, offset, bytes, &BYTES)?
        }
        (Position::Bytes(offset), Position::Sectors(sectors)) => {
            let bytes = sectors
                .checked_mul(SECTOR_BYTES)
                .ok_or_else(|| cursor.bad_field(Fault::TooLarge(SECTORS.name), &SECTORS))?;
            byte_range(cursor, offset, bytes, &SECTORS)?
        }
    };
    let mut made = request(state, row.arrival, row.volume, range, operation)?;
    if let Some(request) = &mut made {
        request.fua = row.fua;
        request.stream = row.stream;
    }
    Ok(made)
}

/// A field of a row: the content of its column, the separator of the columns, and whether the field is the last
/// one of the row.
struct Place {
    field: Field,
    separator: u8,
    is_last: bool,
}

impl Place {
    /// Whether the field is an address or a length.
    const fn is_of_range(&self) -> bool {
        matches!(
            self.field,
            Field::Sector | Field::Sectors | Field::Offset(_) | Field::Bytes(_)
        )
    }

    /// Moves the cursor from the end of the field to the next field or the next line.
    #[inline(always)]
    fn leave(&self, cursor: &mut Cursor<'_>, column: &'static Column) -> Result<(), Problem> {
        if self.separator != b' ' {
            cursor.skip_spaces();
        }
        if self.is_last {
            cursor.end(column)
        } else if self.separator == b' ' {
            cursor.blanks(column)
        } else {
            cursor.separator(self.separator, column)
        }
    }
}

/// An address or a length, in sectors or in bytes.
#[derive(Clone, Copy)]
enum Position {
    Sectors(u64),
    Bytes(u64),
}

/// The values of a row.
struct Row {
    arrival: u64,
    volume: u32,
    operation: Option<Operation>,
    sector: Position,
    sectors: Position,
    fua: bool,
    stream: u16,
    /// Whether the address or the length is empty, which only a flush may have.
    lacks_range: bool,
    /// Bits of [`State::kind`] that this row sets for all later rows.
    marks: u32,
}

impl Default for Row {
    fn default() -> Self {
        Self {
            arrival: 0,
            volume: 0,
            operation: None,
            sector: Position::Sectors(0),
            sectors: Position::Sectors(0),
            fua: false,
            stream: 0,
            lacks_range: false,
            marks: BEGUN,
        }
    }
}

impl Row {
    /// Reads a field in the form in which this project writes it, and moves the cursor to the next field.
    #[inline(always)]
    fn read(
        &mut self,
        place: &Place,
        cursor: &mut Cursor<'_>,
        state: &mut State,
    ) -> Result<(), Problem> {
        let column = match place.field {
            Field::Time => {
                let (whole, rest) = cursor.decimal(state.unit.exponent, &TIME)?;
                // The first time sets the origin of all times. So the end of the field is checked before the
                // time is used.
                place.leave(cursor, &TIME)?;
                let time = state.table_time(whole, rest, false);
                self.arrival = time.ok_or_else(|| wrong_time(cursor, state, whole))?;
                state.rounded += u64::from(cursor.rounded);
                return Ok(());
            }
            Field::Volume => {
                if state.kind & NAMED != 0 {
                    cursor.word(place.separator);
                    return Err(cursor.unknown_word(&VOLUME));
                }
                self.volume = cursor.number32(&VOLUME)?;
                self.marks |= NUMBERS;
                &VOLUME
            }
            Field::Operation => {
                let word = cursor.word(place.separator).trim_ascii_end();
                self.operation =
                    Some(operation(word).ok_or_else(|| cursor.unknown_word(&OPERATION))?);
                &OPERATION
            }
            Field::IsWrite | Field::IsRead => {
                let is_write = flag(cursor)? == (place.field == Field::IsWrite);
                self.operation = Some(if is_write {
                    Operation::Write
                } else {
                    Operation::Read
                });
                &FLAG
            }
            Field::Fua => {
                self.fua = flag(cursor)?;
                &FLAG
            }
            Field::Stream => {
                self.stream = u16::try_from(cursor.number32(&STREAM)?)
                    .map_err(|_| cursor.bad_field(Fault::TooLarge(STREAM.name), &STREAM))?;
                &STREAM
            }
            Field::Sector => {
                self.sector = Position::Sectors(cursor.number(&SECTOR)?);
                &SECTOR
            }
            Field::Sectors => {
                self.sectors = Position::Sectors(cursor.number(&SECTORS)?);
                &SECTORS
            }
            Field::Offset(unit) => {
                let column = offset_column(unit);
                self.sector = Position::Bytes(bytes(cursor, unit.bytes(state), column)?);
                column
            }
            Field::Bytes(unit) => {
                let column = length_column(unit);
                self.sectors = Position::Bytes(bytes(cursor, unit.bytes(state), column)?);
                column
            }
            Field::Ignored => {
                let is_quoted = cursor.peek() == b'"';
                cursor.word(place.separator);
                if is_quoted {
                    return Err(cursor.unknown_word(&IGNORED));
                }
                &IGNORED
            }
        };
        place.leave(cursor, column)
    }

    /// Reads a field in one of the forms that other programs use, and moves the cursor to the next field.
    /// Returns `problem` if the field has none of these forms.
    #[cold]
    #[inline(never)]
    fn read_odd(
        &mut self,
        place: &Place,
        cursor: &mut Cursor<'_>,
        state: &mut State,
        problem: Problem,
    ) -> Result<(), Problem> {
        let Some((text, end)) = odd::field(cursor.bytes, cursor.at, place.separator) else {
            return Err(problem);
        };
        let problem = Problem {
            width: match problem.field {
                Some(field) if field == cursor.at => end - field,
                _ => 0,
            },
            ..problem
        };
        // Bytes that are not UTF-8 become a text that is neither a word nor a number.
        let text = std::str::from_utf8(&text).unwrap_or("\u{fffd}");
        // A flush has no address and no length. A table may have its operation in a later column.
        let is_nothing = matches!(self.operation, None | Some(Operation::Flush))
            && matches!(text, "" | "-")
            && place.is_of_range();
        let text = if is_nothing { "0" } else { text };
        self.lacks_range |= is_nothing;
        let whole = odd::whole(text);
        let column = match place.field {
            Field::Time => {
                let (whole, rest, is_date) = odd::time(text, state.unit.exponent).ok_or(problem)?;
                cursor.word(place.separator);
                self.arrival = state
                    .table_time(whole, rest, is_date)
                    .ok_or_else(|| wrong_time(cursor, state, whole))?;
                &TIME
            }
            Field::Volume => {
                self.marks = BEGUN;
                self.volume = volume(text, state).ok_or(problem)?;
                &VOLUME
            }
            Field::Operation => {
                self.operation = Some(odd::operation(text).ok_or(problem)?);
                &OPERATION
            }
            Field::IsWrite | Field::IsRead => {
                let is_write = odd::flag(text).ok_or(problem)? == (place.field == Field::IsWrite);
                self.operation = Some(if is_write {
                    Operation::Write
                } else {
                    Operation::Read
                });
                &FLAG
            }
            Field::Fua => {
                self.fua = odd::flag(text).ok_or(problem)?;
                &FLAG
            }
            Field::Stream => {
                let stream = whole.and_then(|stream| u16::try_from(stream).ok());
                self.stream = stream.ok_or(problem)?;
                &STREAM
            }
            Field::Sector => {
                self.sector = Position::Sectors(whole.ok_or(problem)?);
                &SECTOR
            }
            Field::Sectors => {
                self.sectors = Position::Sectors(whole.ok_or(problem)?);
                &SECTORS
            }
            Field::Offset(unit) => {
                let offset = odd::bytes(text, unit.bytes(state)).ok_or(problem)?;
                self.sector = Position::Bytes(offset);
                offset_column(unit)
            }
            Field::Bytes(unit) => {
                let bytes = odd::bytes(text, unit.bytes(state)).ok_or(problem)?;
                self.sectors = Position::Bytes(bytes);
                length_column(unit)
            }
            Field::Ignored => &IGNORED,
        };
        cursor.at = end;
        place.leave(cursor, column).map_err(|_| problem)
    }
}

fn offset_column(unit: Unit) -> &'static Column {
    match unit {
        Unit::Byte => &OFFSET,
        Unit::Kibibyte => &OFFSET_KIB,
        Unit::Block => &BLOCK,
    }
}

fn length_column(unit: Unit) -> &'static Column {
    match unit {
        Unit::Byte => &BYTES,
        Unit::Kibibyte => &KIB,
        Unit::Block => &BLOCKS,
    }
}

/// Reads a number of bytes that is written in units of `unit` bytes.
#[inline(always)]
fn bytes(cursor: &mut Cursor<'_>, unit: u64, column: &'static Column) -> Result<u64, Problem> {
    let number = cursor.number(column)?;
    number
        .checked_mul(unit)
        .ok_or_else(|| cursor.bad_field(Fault::TooLarge(column.name), column))
}

/// The number of the volume called `text`. The first volume decides whether all volumes are numbers or names.
fn volume(text: &str, state: &mut State) -> Option<u32> {
    if text.is_empty() || text.starts_with('-') {
        return None;
    }
    if state.kind & (NUMBERS | NAMED) == 0 {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        state.kind |= if is_number { NUMBERS } else { NAMED };
    }
    if state.kind & NAMED != 0 {
        return state.names.number(text.as_bytes());
    }
    u32::try_from(odd::whole(text)?).ok()
}

/// The problem of a time of `whole` units that was just read.
#[cold]
fn wrong_time(cursor: &Cursor<'_>, state: &State, whole: u64) -> Problem {
    if state.is_before_base(whole) {
        return cursor.bad_field(Fault::BackInTime, &TIME);
    }
    too_late(cursor, &TIME, TIME_MAX)
}

#[inline(always)]
pub(super) fn operation(word: &[u8]) -> Option<Operation> {
    match word {
        b"write" | b"Write" | b"WRITE" | b"w" | b"W" => Some(Operation::Write),
        b"read" | b"Read" | b"READ" | b"r" | b"R" => Some(Operation::Read),
        b"flush" | b"Flush" | b"FLUSH" | b"f" | b"F" => Some(Operation::Flush),
        b"trim" | b"Trim" | b"TRIM" | b"t" | b"T" => Some(Operation::Trim),
        _ => None,
    }
}

#[inline(always)]
fn flag(cursor: &mut Cursor<'_>) -> Result<bool, Problem> {
    match cursor.number(&FLAG)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(cursor.bad_field(Fault::UnknownWord(FLAG.name), &FLAG)),
    }
}

/// Reads the names of the columns from the line above the first row, or skips that line if `trace.columns`
/// replaces the names. Returns whether the line is such a header.
#[cold]
fn header(cursor: &mut Cursor<'_>, state: &mut State) -> Result<bool, Problem> {
    let start = cursor.at;
    let line = cursor.word(b'\n');
    let text = std::str::from_utf8(line).unwrap_or_default();
    let is_comment = text.trim_start().starts_with('#');
    // Every row has a field that begins with a digit; a column name hardly ever begins with one.
    let is_number = |field: &str| {
        let field = field.trim_matches([' ', '"']);
        let digits = field.strip_prefix('.').unwrap_or(field);
        digits.starts_with(|first: char| first.is_ascii_digit())
    };
    let is_row = text.split([',', ';', '\t', '|', ' ']).any(is_number);
    if state.choices.columns.is_some() {
        if is_row || is_comment {
            cursor.at = start;
            return Ok(false);
        }
    } else {
        // A line without letters names no columns. This cheap check is done first, because format detection
        // calls this function for every line that it tries.
        let has_names = text.bytes().any(|byte| byte.is_ascii_alphabetic());
        let names = text.trim_start().trim_start_matches('#');
        match has_names.then(|| Columns::of_header(names)) {
            Some(Ok(columns)) => {
                if let (Some(unit), false) = (columns.time_unit, state.unit.is_given) {
                    state.count_in(unit.exponent());
                }
                state.choices.columns = Some(columns);
                // This program writes this line above the exact times of a trace, which are calendar times only if
                // they are dates.
                state.counts_from_zero = text.trim_end() == HEADER;
            }
            _ if is_row || is_comment => {
                cursor.at = start;
                return Ok(false);
            }
            _ => return Err(cursor.bad_field(Fault::NoColumns, &NAMES)),
        }
    }
    cursor.rest_of_line();
    Ok(true)
}
