//! `parquet`: a table in Apache Parquet, written by [`crate::writers::parquet`] or by any other program.
//!
//! Columns are found by name: `arrival_ticks`, `volume`, `op`, `sector`, `sectors`, `fua`, `stream`. `volume`,
//! `fua` and `stream` may be missing and are then 0. `op` may be missing if `trace.missing_op` gives the
//! operation of all requests. All other columns are ignored. docs/TRACES.md lists the types of columns that can
//! be read.
//!
//! A Parquet file consists of row groups and a footer. Each row group has separate pages for each column, and
//! the footer contains the positions of these pages. So the reader first reads the footer. Then it reads all
//! columns together, a few thousand rows at a time, and holds only one page of each column in memory.

mod bounded;
mod column;
pub(crate) mod seal;

use crate::containment::contained;
use crate::cursor::Column;
use crate::decode::State;
use crate::error::{Excerpt, Fault, TraceError};
use crate::format::{Encoding, Format, TimeUnit};
use crate::request::{Operation, Request, SECTORS_MAX};
use crate::rows::{Rows, Step};
use crate::writers::{self, Packing, TraceWriter};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use bounded::Bounded;
use column::{Found, Kind, Open, Wanted};
use seal::Seals;
use std::path::Path;

pub(crate) const FORMAT: Format = Format {
    name: "parquet",
    extensions: &["parquet"],
    about: "Apache Parquet, from `destage trace convert` or any other program: columns found by name, read from a file only.",
    columns: "columns arrival_ticks, volume, op, sector, sectors, fua, stream",
    example: "arrival_ticks 52653130000, volume 0, op write, sector 6357144, sectors 8, fua false, stream 0",
    time_unit: TimeUnit::Ticks,
    ..Format::of(Encoding::Table(open))
};

/// The key in the footer for the name and the version of the schema, and the value of this key.
pub(crate) const SCHEMA_KEY: &str = "destage.schema";
pub(crate) const SCHEMA: &str = "trace 1";

/// The number of rows that are decoded at once.
const CHUNK: usize = 4096;

const ARRIVAL: usize = 0;
const VOLUME: usize = 1;
const OPERATION: usize = 2;
const SECTOR: usize = 3;
const SECTORS: usize = 4;
const FUA: usize = 5;
const STREAM: usize = 6;

const WANTED: [Wanted; 7] = [
    Wanted {
        column: Column::new(
            "arrival_ticks",
            "a whole number that is below 2^64 in ticks of 0.1 ns",
        ),
        kind: Kind::Number(u64::MAX),
        needed: true,
    },
    Wanted {
        column: Column::new("volume", "a whole number below 2^32"),
        kind: Kind::Number(u32::MAX as u64),
        needed: false,
    },
    Wanted {
        column: Column::new("op", "read, write, flush or trim, or their first letter"),
        kind: Kind::Word,
        // Required unless trace.missing_op is set.
        needed: false,
    },
    Wanted {
        column: Column::new(
            "sector",
            "a whole number up to 2^55, in sectors of 512 bytes",
        ),
        kind: Kind::Number(SECTORS_MAX),
        needed: true,
    },
    Wanted {
        column: Column::new(
            "sectors",
            "a whole number below 2^32, in sectors of 512 bytes",
        ),
        kind: Kind::Number(u32::MAX as u64),
        needed: true,
    },
    Wanted {
        column: Column::new("fua", "true or false"),
        kind: Kind::Flag,
        needed: false,
    },
    Wanted {
        column: Column::new("stream", "a whole number below 2^16, 0 for none"),
        kind: Kind::Number(u16::MAX as u64),
        needed: false,
    },
];

/// A decoded row that is not a valid request, and the reason.
struct BadRow {
    index: usize,
    fault: Fault,
    text: Excerpt,
    expected: &'static str,
}

struct ParquetRows {
    file: String,
    reader: SerializedFileReader<Bounded>,
    /// The columns that the file has, by the indices above; `None` if a column is missing.
    found: [Option<Found>; 7],
    /// Checks the rows of a file that this project wrote.
    seals: Option<Seals>,
    /// The number of the row group that is read next.
    next_group: usize,
    /// The columns of the current row group, and the number of its rows that are not yet decoded.
    open: Vec<(usize, Open)>,
    rows_left: u64,
    /// The decoded values of each column; the bad rows among them, last row first; the index of the next row to
    /// return; the number of decoded rows.
    values: [Vec<u64>; 7],
    bad: Vec<BadRow>,
    at: usize,
    decoded: usize,
    passed: u64,
}

fn open(path: &Path, state: &State) -> Result<Box<dyn Rows>, TraceError> {
    let file = path.display().to_string();
    let input = Bounded::open(path).map_err(|cause| TraceError::Open {
        file: file.clone(),
        cause,
    })?;
    let damaged = |cause: ParquetError| TraceError::Footer {
        file: file.clone(),
        cause: one_line(&cause),
    };
    let reader = contained(|| SerializedFileReader::new(input)).map_err(damaged)?;
    let footer = reader.metadata().file_metadata();
    let value = |key: &str| {
        let pairs = footer.key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    };
    if let Some(version) = value(SCHEMA_KEY)
        && version != SCHEMA
    {
        return Err(TraceError::Column {
            file,
            column: SCHEMA_KEY,
            found: format!("\"{}\"", Excerpt::new(version.as_bytes())),
            expected: "\"trace 1\" among the key-value pairs; a newer program reads newer versions",
        });
    }
    let seals = Seals::of(footer.created_by(), value(seal::KEY));
    let mut found = [const { None }; 7];
    for (wanted, found) in WANTED.iter().zip(&mut found) {
        let column = |(text, expected)| TraceError::Column {
            file: file.clone(),
            column: wanted.column.name,
            found: text,
            expected,
        };
        *found = Found::among(footer.schema_descr(), wanted).map_err(column)?;
    }
    if let Some(arrival) = &mut found[ARRIVAL] {
        arrival.max /= state.unit.ticks;
    }
    if found[OPERATION].is_none() && state.choices.missing_operation.is_none() {
        return Err(TraceError::Column {
            file,
            column: WANTED[OPERATION].column.name,
            found: "missing".to_owned(),
            expected: "such a column of words, or trace.missing_op=read or write",
        });
    }
    Ok(Box::new(ParquetRows {
        file,
        reader,
        found,
        seals,
        next_group: 0,
        open: Vec::new(),
        rows_left: 0,
        values: [const { Vec::new() }; 7],
        bad: Vec::new(),
        at: 0,
        decoded: 0,
        passed: 0,
    }))
}

impl Rows for ParquetRows {
    fn read(
        &mut self,
        state: &mut State,
        batch: &mut Vec<Request>,
        room: usize,
    ) -> Result<Step, TraceError> {
        if self.at == self.decoded {
            match self.decode(state) {
                Ok(true) => {}
                Ok(false) => return Ok(Step::End),
                Err(cause) => return Err(self.damaged(state.line, cause)),
            }
        }
        let bad_at = self.bad.last().map_or(self.decoded, |bad| bad.index);
        let end = bad_at.min(self.at + room - batch.len());
        while self.at < end {
            let request = self.row(self.at, state);
            self.at += 1;
            state.line += 1;
            match request {
                Some(request) => batch.push(request),
                None => return Ok(Step::Bad(self.beyond_address_space(state.line - 1))),
            }
        }
        if self.at == bad_at
            && let Some(bad) = self.bad.pop()
        {
            self.at += 1;
            state.line += 1;
            return Ok(Step::Bad(TraceError::Row {
                file: self.file.clone(),
                row: state.line - 1,
                fault: bad.fault,
                text: bad.text,
                expected: bad.expected,
            }));
        }
        Ok(Step::Some)
    }

    fn passed(&self) -> u64 {
        self.passed
    }
}

impl ParquetRows {
    /// The request of the decoded row `at`; `None` if the request ends beyond the address space.
    #[inline(always)]
    fn row(&self, at: usize, state: &State) -> Option<Request> {
        let value = |column: usize| self.values[column][at];
        // Every number has been compared with the limit of its column.
        let arrival = value(ARRIVAL) * state.unit.ticks;
        let volume = value(VOLUME) as u32;
        let operation = Operation::ALL[value(OPERATION) as usize];
        if operation == Operation::Flush {
            return state.request(arrival, volume, (0, 0), operation);
        }
        let range = (value(SECTOR), value(SECTORS) as u32);
        let mut made = state.request(arrival, volume, range, operation)?;
        made.fua = value(FUA) != 0;
        made.stream = value(STREAM) as u16;
        Some(made)
    }

    /// Decodes the next rows. Returns `false` at the end of the file.
    fn decode(&mut self, state: &State) -> Result<bool, String> {
        while self.rows_left == 0 {
            if !self.next_group()? {
                return Ok(false);
            }
        }
        let rows = self.rows_left.min(CHUNK as u64) as usize;
        self.bad.clear();
        for (column, found) in self.found.iter().enumerate() {
            if found.is_none() && self.values[column].len() != rows {
                let missing = state.choices.missing_operation;
                let value = missing
                    .filter(|_| column == OPERATION)
                    .map_or(0, Operation::number);
                self.values[column].clear();
                self.values[column].resize(rows, value);
            }
        }
        for (column, open) in &mut self.open {
            let wanted = &WANTED[*column];
            let bad = |index, fault, text| {
                self.bad.push(BadRow {
                    index,
                    fault,
                    text,
                    expected: wanted.column.expected,
                });
            };
            open.decode(rows, wanted, &mut self.values[*column], bad)?;
        }
        // One error for each row is enough: the error of its first wrong column.
        self.bad.sort_by_key(|bad| bad.index);
        self.bad.dedup_by_key(|bad| bad.index);
        self.bad.reverse();
        if let Some(seals) = &mut self.seals {
            for row in 0..rows {
                seals.add(&std::array::from_fn(|column| self.values[column][row]));
            }
        }
        (self.at, self.decoded) = (0, rows);
        self.rows_left -= rows as u64;
        if self.rows_left == 0 {
            self.end_group()?;
        }
        Ok(true)
    }

    /// Opens the columns of the next row group. Returns `false` at the end of the file.
    fn next_group(&mut self) -> Result<bool, String> {
        let groups = self.reader.num_row_groups();
        if self.next_group == groups {
            if let Some(seals) = &self.seals {
                seals.end()?;
            }
            return Ok(false);
        }
        let group = self
            .reader
            .get_row_group(self.next_group)
            .map_err(|cause| one_line(&cause))?;
        self.rows_left = u64::try_from(group.metadata().num_rows()).map_err(|_| {
            format!(
                "row group {} has a negative number of rows",
                self.next_group
            )
        })?;
        self.open.clear();
        for (column, found) in self.found.iter().enumerate() {
            if let Some(found) = found {
                let open = found.open(group.as_ref(), &WANTED[column])?;
                self.open.push((column, open));
            }
        }
        self.next_group += 1;
        Ok(true)
    }

    /// Ends a row group after its last row: makes sure that its columns have no more values, and compares its
    /// checksum.
    fn end_group(&mut self) -> Result<(), String> {
        for (column, open) in &mut self.open {
            open.end(WANTED[*column].column.name)?;
        }
        if let Some(seals) = &mut self.seals {
            seals.check()?;
        }
        let group = self.reader.metadata().row_group(self.next_group - 1);
        self.passed = self.passed.max(end_of(group));
        Ok(())
    }

    /// The error of row `row`, which was decoded last and whose request ends beyond the address space.
    #[cold]
    fn beyond_address_space(&self, row: u64) -> TraceError {
        let value = |column: usize| self.values[column][self.at - 1];
        let text = format!("sector {}, sectors {}", value(SECTOR), value(SECTORS));
        TraceError::Row {
            file: self.file.clone(),
            row,
            fault: Fault::BeyondAddressSpace,
            text: Excerpt::new(text.as_bytes()),
            expected: Fault::BeyondAddressSpace.expected(FORMAT.columns),
        }
    }

    /// The error that neither `row` nor any later row can be read.
    #[cold]
    fn damaged(&self, row: u64, cause: String) -> TraceError {
        TraceError::Table {
            file: self.file.clone(),
            row,
            cause,
        }
    }
}

/// The position of the end of a row group in the file, in bytes. The result is right if the footer is right.
fn end_of(group: &RowGroupMetaData) -> u64 {
    let end = |column: &::parquet::file::metadata::ColumnChunkMetaData| {
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        u64::try_from(start.saturating_add(column.compressed_size())).unwrap_or(0)
    };
    group.columns().iter().map(end).max().unwrap_or(0)
}

/// The text of the decoder's error, on one line.
fn one_line(cause: &ParquetError) -> String {
    let text = match cause {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => {
            text.clone()
        }
        ParquetError::External(cause) => cause.to_string(),
        other => other.to_string(),
    };
    Excerpt::new(text.as_bytes()).to_string()
}

/// Makes a small file: see [`Format::example_file`].
pub(crate) fn example(requests: usize) -> Vec<u8> {
    let request = Request {
        arrival: 52_653_130_000,
        sector: 6_357_144,
        sectors: 8,
        operation: Operation::Write,
        ..Request::BLANK
    };
    let form = writers::find(FORMAT.name).expect("what is read is written");
    let mut out = Vec::new();
    let mut writer =
        TraceWriter::new(form, Packing::Plain, &mut out).expect("memory can be written");
    for _ in 0..requests {
        writer.write(&request).expect("memory can be written");
    }
    writer.finish().expect("memory can be written");
    out
}
