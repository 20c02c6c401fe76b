//! A column of a Parquet file: finds it by name, checks its type, and decodes it to numbers of 64 bits.

use super::one_line;
use crate::containment::contained;
use crate::cursor::Column;
use crate::error::{Excerpt, Fault};
use crate::formats::csv::operation;
use crate::request::Operation;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result as Decoded;
use parquet::file::reader::RowGroupReader;
use parquet::schema::printer::print_schema;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

/// A column from which the requests of a trace are made.
pub(super) struct Wanted {
    pub column: Column,
    pub kind: Kind,
    /// Whether every file must have the column.
    pub needed: bool,
}

/// What a column contains.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Whole numbers up to this limit.
    Number(u64),
    /// Booleans.
    Flag,
    /// Names of operations.
    Word,
}

impl Kind {
    const fn types(self) -> &'static str {
        match self {
            Self::Number(_) => "a column of whole numbers: int32 or int64, signed or not",
            Self::Flag => "a column of type boolean",
            Self::Word => "a column of text",
        }
    }
}

/// The position of a column among the columns of the file, and how its numbers are read.
pub(super) struct Found {
    index: usize,
    unsigned: bool,
    /// The largest number that the column may contain.
    pub max: u64,
}

impl Found {
    /// Finds the column `wanted`; `None` if the column is missing and not required. The error contains the text
    /// of what was found, and of what was expected.
    pub fn among(
        schema: &SchemaDescriptor,
        wanted: &Wanted,
    ) -> Result<Option<Self>, (String, &'static str)> {
        let name = wanted.column.name;
        let expected = wanted.kind.types();
        let fields = schema.root_schema().get_fields().iter();
        let mut fields = fields.filter(|field| field.name() == name);
        let Some(field) = fields.next() else {
            let refusal = (format!("missing among {}", names(schema)), expected);
            return if wanted.needed {
                Err(refusal)
            } else {
                Ok(None)
            };
        };
        if fields.next().is_some() {
            return Err(("there is more than one".to_owned(), "one such column"));
        }
        // A group is refused, because the paths of its leaf columns have more parts than `name`. A repeated
        // column is refused, because a row can have several values in it.
        let leaf = |(_, leaf): &(usize, &std::sync::Arc<ColumnDescriptor>)| {
            leaf.path().parts() == [name] && leaf.max_rep_level() == 0
        };
        let found = schema.columns().iter().enumerate().find(leaf);
        let unsigned = found.and_then(|(_, leaf)| fits(leaf, wanted.kind));
        match (found, unsigned) {
            (Some((index, _)), Some(unsigned)) => Ok(Some(Self {
                index,
                unsigned,
                max: match wanted.kind {
                    Kind::Number(max) => max,
                    Kind::Flag | Kind::Word => u64::MAX,
                },
            })),
            _ => {
                let mut text = Vec::new();
                print_schema(&mut text, field);
                let text = text.strip_prefix(b"REQUIRED ").unwrap_or(&text);
                let first = text.split(|byte| *byte == b'\n').next().unwrap_or(text);
                let first = first.strip_suffix(b";").unwrap_or(first);
                Err((format!("of type \"{}\"", Excerpt::new(first)), expected))
            }
        }
    }

    /// Opens the column in one row group.
    pub fn open(&self, group: &dyn RowGroupReader, wanted: &Wanted) -> Result<Open, String> {
        let name = wanted.column.name;
        let failed = |cause| in_column(name, &one_line(&cause));
        let descriptor = group.metadata().schema_descr().column(self.index);
        let chunk = group.metadata().column(self.index);
        if chunk.data_page_offset() < 0
            || chunk.dictionary_page_offset().is_some_and(|at| at < 0)
            || chunk.compressed_size() < 0
        {
            return Err(in_column(name, "its place in the file is negative"));
        }
        let column = contained(|| {
            let pages = group.get_column_page_reader(self.index)?;
            Ok(get_column_reader(descriptor, pages))
        });
        let values = match column.map_err(failed)? {
            ColumnReader::Int32ColumnReader(reader) => Values::Int32(Typed::new(reader)),
            ColumnReader::Int64ColumnReader(reader) => Values::Int64(Typed::new(reader)),
            ColumnReader::BoolColumnReader(reader) => Values::Flag(Typed::new(reader)),
            ColumnReader::ByteArrayColumnReader(reader) => Values::Word(Typed::new(reader)),
            _ => return Err(in_column(name, "its type is not that of the schema")),
        };
        Ok(Open {
            values,
            unsigned: self.unsigned,
            max: self.max,
        })
    }
}

/// The names of all columns, for an error message.
fn names(schema: &SchemaDescriptor) -> String {
    let fields = schema.root_schema().get_fields().iter();
    let names: Vec<&str> = fields.map(|field| field.name()).collect();
    Excerpt::new(names.join(", ").as_bytes()).to_string()
}

/// Whether the numbers of `leaf` are unsigned. `None` if the type of `leaf` is not suitable for `kind`.
fn fits(leaf: &ColumnDescriptor, kind: Kind) -> Option<bool> {
    let (physical, logical, old) = (
        leaf.physical_type(),
        leaf.logical_type_ref(),
        leaf.converted_type(),
    );
    match (kind, physical) {
        (Kind::Number(_), Type::INT32 | Type::INT64) => match (logical, old) {
            (Some(LogicalType::Integer(number)), _) => Some(!number.is_signed),
            (Some(_), _) => None,
            (None, ConvertedType::UINT_8 | ConvertedType::UINT_16) => Some(true),
            (None, ConvertedType::UINT_32 | ConvertedType::UINT_64) => Some(true),
            (None, ConvertedType::INT_8 | ConvertedType::INT_16) => Some(false),
            (None, ConvertedType::INT_32 | ConvertedType::INT_64 | ConvertedType::NONE) => {
                Some(false)
            }
            (None, _) => None,
        },
        (Kind::Flag, Type::BOOLEAN) => Some(true),
        (Kind::Word, Type::BYTE_ARRAY) => match (logical, old) {
            (Some(LogicalType::String | LogicalType::Enum), _) => Some(true),
            (None, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::NONE) => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// The text of an error in the column `name`.
fn in_column(name: &str, cause: &str) -> String {
    format!("column {name}: {cause}")
}

/// A column of the row group that is being read.
pub(super) struct Open {
    values: Values,
    unsigned: bool,
    max: u64,
}

enum Values {
    Int32(Typed<Int32Type>),
    Int64(Typed<Int64Type>),
    Flag(Typed<BoolType>),
    Word(Typed<ByteArrayType>),
}

impl Open {
    /// Replaces the content of `out` by the next `rows` values. Calls `bad` for each bad value with the row,
    /// counted from 0, the fault, and the text of the value.
    pub fn decode(
        &mut self,
        rows: usize,
        wanted: &Wanted,
        out: &mut Vec<u64>,
        mut bad: impl FnMut(usize, Fault, Excerpt),
    ) -> Result<(), String> {
        let name = wanted.column.name;
        let (max, unsigned) = (self.max, self.unsigned);
        // Nearly all values are between 0 and the limit. Other values are handled in a cold function.
        let mut number = |row, value: i64| {
            if value >= 0 && value as u64 <= max {
                return value as u64;
            }
            wrong_number(row, value, name, &mut bad)
        };
        match &mut self.values {
            Values::Int32(column) => column.decode(rows, name, out, |row, value| {
                let value = match unsigned {
                    true => i64::from(value.cast_unsigned()),
                    false => i64::from(*value),
                };
                number(row, value)
            })?,
            Values::Int64(column) if unsigned => column.decode(rows, name, out, |row, value| {
                let value = value.cast_unsigned();
                if value > max {
                    let text = Excerpt::new(value.to_string().as_bytes());
                    bad(row, Fault::TooLarge(name), text);
                    return 0;
                }
                value
            })?,
            Values::Int64(column) => {
                column.decode(rows, name, out, |row, value| number(row, *value))?;
            }
            Values::Flag(column) => {
                column.decode(rows, name, out, |_, value| u64::from(*value))?;
            }
            Values::Word(column) => column.decode(rows, name, out, |row, value: &ByteArray| {
                operation(value.data())
                    .map(Operation::number)
                    .unwrap_or_else(|| {
                        bad(row, Fault::UnknownWord(name), Excerpt::new(value.data()));
                        0
                    })
            })?,
        }
        for row in self.values.nulls() {
            bad(row, Fault::Null(name), Excerpt::new(b"null"));
        }
        Ok(())
    }

    /// Makes sure that the column has no more values.
    pub fn end(&mut self, name: &str) -> Result<(), String> {
        let more = match &mut self.values {
            Values::Int32(column) => column.read(1),
            Values::Int64(column) => column.read(1),
            Values::Flag(column) => column.read(1),
            Values::Word(column) => column.read(1),
        };
        match more {
            Ok(0) => Ok(()),
            Ok(_) => Err(in_column(name, "has more values than its row group rows")),
            Err(cause) => Err(in_column(name, &one_line(&cause))),
        }
    }
}

#[cold]
fn wrong_number(
    row: usize,
    value: i64,
    name: &'static str,
    bad: &mut impl FnMut(usize, Fault, Excerpt),
) -> u64 {
    let fault = match value < 0 {
        true => Fault::Negative(name),
        false => Fault::TooLarge(name),
    };
    bad(row, fault, Excerpt::new(value.to_string().as_bytes()));
    0
}

impl Values {
    /// The rows without a value among those that were read last.
    fn nulls(&self) -> Vec<usize> {
        match self {
            Self::Int32(column) => column.nulls(),
            Self::Int64(column) => column.nulls(),
            Self::Flag(column) => column.nulls(),
            Self::Word(column) => column.nulls(),
        }
    }
}

/// Reads a column of one type, and holds the values that were read last.
struct Typed<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
    /// 1 for a row with a value, 0 for a row without one. Empty if every row of the column must have a value.
    levels: Vec<i16>,
}

impl<T: DataType> Typed<T> {
    fn new(reader: ColumnReaderImpl<T>) -> Self {
        Self {
            reader,
            values: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Reads up to `rows` rows, and returns how many were read.
    fn read(&mut self, rows: usize) -> Decoded<usize> {
        self.values.clear();
        self.levels.clear();
        contained(|| {
            let (read, _, _) =
                self.reader
                    .read_records(rows, Some(&mut self.levels), None, &mut self.values)?;
            Ok(read)
        })
    }

    /// Reads `rows` rows, and converts each to a number; a row without a value becomes 0.
    #[inline(always)]
    fn decode(
        &mut self,
        rows: usize,
        name: &str,
        out: &mut Vec<u64>,
        mut make: impl FnMut(usize, &T::T) -> u64,
    ) -> Result<(), String> {
        let read = self
            .read(rows)
            .map_err(|cause| in_column(name, &one_line(&cause)))?;
        if read < rows {
            let text = format!("ends {} rows before its row group", rows - read);
            return Err(in_column(name, &text));
        }
        out.clear();
        if self.values.len() == rows {
            let values = self.values.iter().enumerate();
            out.extend(values.map(|(row, value)| make(row, value)));
            return Ok(());
        }
        let mut values = self.values.iter();
        for (row, level) in self.levels.iter().enumerate() {
            let value = (*level > 0).then(|| values.next()).flatten();
            out.push(value.map_or(0, |value| make(row, value)));
        }
        if out.len() != rows {
            return Err(in_column(name, "its levels do not match its values"));
        }
        Ok(())
    }

    fn nulls(&self) -> Vec<usize> {
        if self.values.len() == self.levels.len() {
            return Vec::new();
        }
        let levels = self.levels.iter().enumerate();
        levels
            .filter(|(_, level)| **level == 0)
            .map(|(row, _)| row)
            .collect()
    }
}
