//! `csv`: any table, whose columns its first line or `trace.columns` names.
//!
//! Written by this project with all columns and times in ns with one decimal, which holds every tick.

use super::byte_range;
use crate::columns::{Columns, Field};
use crate::cursor::{Column, Cursor, Problem};
use crate::decode::{Layout, State, decode, request};
use crate::error::Fault;
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request};

pub(crate) const FORMAT: Format = Format {
    name: "csv",
    extensions: &["csv"],
    about: "Any table: trace.columns or its first line names the columns and what separates them; times in ns unless trace.time_unit says otherwise.",
    columns: "as many fields as there are columns",
    header: Some("time,volume,op,sector,sectors,fua,stream"),
    example: "5265313000.0,0,write,6357144,8,0,0",
    time_unit: TimeUnit::Nanoseconds,
    sorted: true,
    epoch: false,
    filters_events: false,
    encoding: Encoding::Text(decode::<Csv>),
};

const TIME: Column = Column {
    name: "time",
    expected: "a decimal number",
};
const VOLUME: Column = Column {
    name: "volume",
    expected: "a whole number below 2^32",
};
const OPERATION: Column = Column {
    name: "op",
    expected: "read, write, flush or trim, or the first letter",
};
const FLAG: Column = Column {
    name: "flag",
    expected: "0 or 1",
};
const STREAM: Column = Column {
    name: "stream",
    expected: "a whole number below 2^16, 0 for none",
};
const SECTOR: Column = Column {
    name: "sector",
    expected: "a whole number of 512-byte sectors",
};
const SECTORS: Column = Column {
    name: "sectors",
    expected: "a whole number below 2^32",
};
const OFFSET: Column = Column {
    name: "offset",
    expected: "a whole number of bytes",
};
const BYTES: Column = Column {
    name: "bytes",
    expected: "a whole number of bytes below 2^41",
};
const IGNORED: Column = Column {
    name: "ignored field",
    expected: "a field",
};
const NAMES: Column = Column {
    name: "first line",
    expected: "names of columns such as time,op,offset,bytes, or trace.columns",
};

struct Csv;

impl Layout for Csv {
    const COMMENTS: bool = true;

    #[inline(always)]
    fn line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<Option<Request>, Problem> {
        if state.line == 1 && first_line(cursor, state)? {
            return Ok(None);
        }
        let Some(columns) = &state.choices.columns else {
            return Err(Problem::line(Fault::NoColumns));
        };
        let mut row = Row {
            operation: state.choices.missing_operation,
            ..Row::default()
        };
        let last = columns.fields.len() - 1;
        for (index, field) in columns.fields.iter().enumerate() {
            let column = row.read(*field, columns.separator, cursor, state)?;
            if index == last {
                cursor.end(column)?;
            } else if columns.separator == b' ' {
                cursor.blanks(column)?;
            } else {
                cursor.separator(columns.separator, column)?;
            }
        }
        let Some(operation) = row.operation else {
            return Err(Problem::line(Fault::NoOperation));
        };
        if operation == Operation::Flush {
            return request(state, row.arrival, row.volume, (0, 0), operation);
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
                    .checked_mul(512)
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
}

/// A number of sectors or of bytes.
#[derive(Clone, Copy)]
enum Position {
    Sectors(u64),
    Bytes(u64),
}

/// What was read of a row.
struct Row {
    arrival: u64,
    volume: u32,
    operation: Option<Operation>,
    sector: Position,
    sectors: Position,
    fua: bool,
    stream: u16,
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
        }
    }
}

impl Row {
    /// Reads one field, and says what it is called.
    #[inline(always)]
    fn read(
        &mut self,
        field: Field,
        separator: u8,
        cursor: &mut Cursor<'_>,
        state: &State,
    ) -> Result<&'static Column, Problem> {
        // Tables made by hand have blanks around their fields.
        cursor.skip_spaces();
        let column = match field {
            Field::Time => {
                self.arrival = state.time(cursor, &TIME)?;
                &TIME
            }
            Field::Volume => {
                self.volume = cursor.number32(&VOLUME)?;
                &VOLUME
            }
            Field::Operation => {
                let word = cursor.word(separator).trim_ascii_end();
                self.operation =
                    Some(operation(word).ok_or_else(|| cursor.unknown_word(&OPERATION))?);
                &OPERATION
            }
            Field::IsWrite | Field::IsRead => {
                let is_write = flag(cursor)? == (field == Field::IsWrite);
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
            Field::Offset => {
                self.sector = Position::Bytes(cursor.number(&OFFSET)?);
                &OFFSET
            }
            Field::Sectors => {
                self.sectors = Position::Sectors(cursor.number(&SECTORS)?);
                &SECTORS
            }
            Field::Bytes => {
                self.sectors = Position::Bytes(cursor.number(&BYTES)?);
                &BYTES
            }
            Field::Ignored => {
                cursor.word(separator);
                &IGNORED
            }
        };
        if separator != b' ' {
            cursor.skip_spaces();
        }
        Ok(column)
    }
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

/// Takes the names of the columns from the first line, or passes over names that `trace.columns` replaces.
#[cold]
fn first_line(cursor: &mut Cursor<'_>, state: &mut State) -> Result<bool, Problem> {
    let start = cursor.at;
    let line = cursor.word(b'\n');
    let text = std::str::from_utf8(line).unwrap_or_default();
    // Every row has a time, which begins with a digit; no name does.
    let is_row = text.split([',', ';', '\t', '|', ' ']).any(|field| {
        field
            .trim()
            .starts_with(|first: char| first.is_ascii_digit())
    });
    if is_row || text.trim_start().starts_with('#') {
        cursor.at = start;
        return Ok(false);
    }
    if state.choices.columns.is_none() {
        let columns: Columns = text
            .parse()
            .map_err(|_| cursor.bad_field(Fault::NoColumns, &NAMES))?;
        state.choices.columns = Some(columns);
    }
    cursor.rest_of_line();
    Ok(true)
}
