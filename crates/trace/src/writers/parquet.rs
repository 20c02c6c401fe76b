//! Writes requests as a table in Apache Parquet. `formats/parquet.rs` and docs/TRACES.md describe its columns.

use crate::formats::parquet::seal::{self, Seal};
use crate::formats::parquet::{SCHEMA, SCHEMA_KEY};
use crate::request::{Operation, Request};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::io::{self, Write};
use std::sync::Arc;

/// All columns, which are those of [`crate::writers::csv::HEADER`] in the same order.
const MESSAGE: &str = "message trace {
    required int64 arrival_ticks (integer(64, false));
    required int32 volume (integer(32, false));
    required binary op (string);
    required int64 sector (integer(64, false));
    required int32 sectors (integer(32, false));
    required boolean fua;
    required int32 stream (integer(16, false));
}";

/// The number of rows in a row group. This number is small enough that the writer can hold a group in memory.
/// It is large enough that the overhead of a group does not matter, and that a thread of a parallel reader has
/// enough work with one group.
const ROWS: usize = 1 << 17;
/// Values that are passed to a column at once.
const VALUES: usize = 4096;
/// The zstd level for the pages.
const ZSTD_LEVEL: i32 = 3;

/// Writes requests of all kinds, without loss, row group by row group.
pub struct ParquetWriter<W: Write + Send> {
    out: SerializedFileWriter<W>,
    waiting: Vec<Request>,
    /// The names of the operations by their numbers, shared by all rows.
    words: [ByteArray; 4],
    checksums: Vec<String>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn new(out: W) -> io::Result<Self> {
        let schema = parse_message_type(MESSAGE).expect("the schema is a constant, and tested");
        let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("a level that zstd has");
        let column = |name: &str| ColumnPath::from(name);
        let properties = WriterProperties::builder()
            .set_created_by(format!("{}{}", seal::CREATOR, env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::ZSTD(level))
            .set_statistics_enabled(EnabledStatistics::Chunk)
            // Arrivals grow, and sectors hardly ever repeat. So differences between neighbouring numbers need
            // less space than a dictionary.
            .set_column_dictionary_enabled(column("arrival_ticks"), false)
            .set_column_encoding(column("arrival_ticks"), Encoding::DELTA_BINARY_PACKED)
            .set_column_dictionary_enabled(column("sector"), false)
            .set_column_encoding(column("sector"), Encoding::DELTA_BINARY_PACKED)
            .build();
        Ok(Self {
            out: SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
                .map_err(failed)?,
            waiting: Vec::with_capacity(ROWS),
            words: Operation::ALL.map(|operation| ByteArray::from(operation.name())),
            checksums: Vec::new(),
        })
    }

    /// Adds one request.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn write(&mut self, request: &Request) -> io::Result<()> {
        self.waiting.push(*request);
        if self.waiting.len() == ROWS {
            self.put_group()?;
        }
        Ok(())
    }

    /// Writes the footer, without which the file cannot be read.
    ///
    /// # Errors
    /// If `out` fails.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            self.put_group()?;
        }
        for (key, value) in [
            (SCHEMA_KEY, SCHEMA.to_owned()),
            (seal::KEY, self.checksums.join(" ")),
        ] {
            let pair = KeyValue::new(key.to_owned(), value);
            self.out.append_key_value_metadata(pair);
        }
        self.out.finish().map_err(failed)?;
        self.out.inner_mut().flush()
    }

    fn put_group(&mut self) -> io::Result<()> {
        let mut seal = Seal::default();
        for request in &self.waiting {
            seal.add(&[
                request.arrival,
                u64::from(request.volume),
                request.operation.number(),
                request.sector,
                u64::from(request.sectors),
                u64::from(request.fua),
                u64::from(request.stream),
            ]);
        }
        self.checksums.push(seal.take());
        let Self {
            out,
            waiting: rows,
            words,
            ..
        } = self;
        let mut put = || {
            let mut group = out.next_row_group()?;
            let g = &mut group;
            put_column::<Int64Type, _>(g, rows, |row| row.arrival.cast_signed())?;
            put_column::<Int32Type, _>(g, rows, |row| row.volume.cast_signed())?;
            put_column::<ByteArrayType, _>(g, rows, |row| words[row.operation as usize].clone())?;
            put_column::<Int64Type, _>(g, rows, |row| row.sector.cast_signed())?;
            put_column::<Int32Type, _>(g, rows, |row| row.sectors.cast_signed())?;
            put_column::<BoolType, _>(g, rows, |row| row.fua)?;
            put_column::<Int32Type, _>(g, rows, |row| i32::from(row.stream))?;
            group.close()
        };
        put().map_err(failed)?;
        self.waiting.clear();
        Ok(())
    }
}

/// Writes the next column, with one value for each row.
fn put_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[Request],
    value: impl Fn(&Request) -> T::T,
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .expect("a column is put for each of the schema");
    let mut values = Vec::with_capacity(VALUES);
    for rows in rows.chunks(VALUES) {
        values.clear();
        values.extend(rows.iter().map(&value));
        column.typed::<T>().write_batch(&values, None, None)?;
    }
    column.close()
}

/// Converts an error of the Parquet writer. Only the output can fail.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other.to_string()),
    }
}
