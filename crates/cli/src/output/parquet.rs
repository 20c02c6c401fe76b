//! Results as Parquet: one row per run, with the columns of the CSV.
//!
//! Whole numbers are unsigned integers of 64 bits, other numbers are doubles, and words are UTF-8. A value that a run
//! does not have is null. The names of metrics contain their units. The `size` of a study is in bytes.

use std::borrow::Cow;
use std::sync::Arc;

use destage_base::parameter::Value;
use destage_sim::metrics::Number;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use destage::Record;
use destage::csv::{Columns, joined};
use destage::words::warnings_of;
use destage_study::csv::Names;
use destage_study::rows::{Row, Rows};
use serde_json as json;

/// The value of the key `destage.schema`: the name of the schema and its version. Traces have the same key.
const SCHEMA: &str = "runs 1";

/// The smallest type that holds all values of a column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flag,
    Whole,
    Double,
    Word,
}

/// A column: its name, its type, and its value in each run. `None` stands for a missing value.
struct Column<'a> {
    name: Cow<'a, str>,
    kind: Kind,
    values: Vec<Option<Value>>,
}

/// The file of runs. Each of `words`, a name with a word for each run, is a column after the trace.
pub(crate) fn runs(records: &[Record], words: &[(&str, Vec<String>)]) -> Vec<u8> {
    let names = Columns::of(records);
    let trace = |record: &Record| Some(Value::Text(record.trace.clone()));
    let mut columns = vec![Column::new("trace", records.iter().map(trace).collect())];
    for (name, words) in words {
        let words = words.iter().map(|word| Some(Value::Text(word.clone())));
        columns.push(Column::new(*name, words.collect()));
    }
    for (column, name) in names.names().zip(&names.parameters) {
        let values = records
            .iter()
            .map(|record| record.parameters.get(*name).cloned());
        columns.push(Column::new(column, values.collect()));
    }
    for name in &names.metrics {
        let value = |record: &Record| {
            Some(match record.metrics.get(name)? {
                Number::Integer(number) => Value::Integer(number),
                Number::Real(number) => Value::Number(number),
            })
        };
        columns.push(Column::new(
            name.as_str(),
            records.iter().map(value).collect(),
        ));
    }
    let warnings = records.iter().map(warnings_of);
    columns.extend(Column::of_words(
        "warnings",
        warnings.map(|all| joined(&all)),
    ));
    let errors = records.iter().map(|record| record.error.as_ref());
    let errors = errors.map(|error| error.map(ToString::to_string).unwrap_or_default());
    columns.extend(Column::of_words("error", errors));
    encode(&columns).expect("memory can be written, and the columns are those of the schema")
}

/// The file of a study: first the columns that identify a run, then metrics. An identifying column is numeric if all
/// of its values are numbers.
pub(crate) fn rows(rows: &Rows) -> Vec<u8> {
    let names = Names::of(rows);
    let mut columns = Vec::new();
    for name in &names.labels {
        let texts = || rows.all.iter().map(|row| row.labels.get(*name));
        let read = |read: fn(&str) -> Option<Value>| -> Option<Vec<Option<Value>>> {
            let one = |text: Option<&String>| text.map_or(Some(None), |text| read(text).map(Some));
            texts().map(one).collect()
        };
        let whole = read(|text| text.parse().ok().map(Value::Integer));
        let double = || {
            read(|text| {
                text.parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .map(Value::Number)
            })
        };
        let words = || read(|text| Some(Value::Text(text.to_owned())));
        let values = whole.or_else(double).or_else(words);
        let column = names.column_of(name);
        columns.push(Column::new(column, values.unwrap_or_default()));
    }
    for name in &names.metrics {
        let value = |row: &Row| match row.result["metrics"].get(*name)? {
            json::Value::Number(number) => match number.as_u64() {
                Some(whole) => Some(Value::Integer(whole)),
                None => number.as_f64().map(Value::Number),
            },
            other => other.as_str().map(|text| Value::Text(text.to_owned())),
        };
        columns.push(Column::new(*name, rows.all.iter().map(value).collect()));
    }
    let warnings = rows.all.iter().map(|row| joined(&row.warnings()));
    columns.extend(Column::of_words("warnings", warnings));
    let errors = rows.all.iter().map(Row::error);
    let errors = errors.map(|error| error.unwrap_or_default().to_owned());
    columns.extend(Column::of_words("error", errors));
    encode(&columns).expect("memory can be written, and the columns are those of the schema")
}

fn encode(columns: &[Column<'_>]) -> Result<Vec<u8>> {
    let fields = columns.iter().map(|column| column.field().map(Arc::new));
    let schema = Type::group_type_builder("runs")
        .with_fields(fields.collect::<Result<_>>()?)
        .build()?;
    let version = KeyValue::new("destage.schema".to_owned(), SCHEMA.to_owned());
    let properties = WriterProperties::builder()
        .set_created_by(concat!("destage version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(vec![version]))
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), properties.into())?;
    let mut group = writer.next_row_group()?;
    for column in columns {
        column.put(&mut group)?;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

impl<'a> Column<'a> {
    fn new(name: impl Into<Cow<'a, str>>, values: Vec<Option<Value>>) -> Self {
        let kinds = values.iter().flatten().map(|value| match value {
            Value::Flag(_) => Kind::Flag,
            Value::Integer(_) => Kind::Whole,
            Value::Number(_) => Kind::Double,
            Value::Text(_) => Kind::Word,
        });
        // Two schemes may have parameters with the same name and different types.
        let kind = kinds.reduce(|one, other| match (one, other) {
            _ if one == other => one,
            (Kind::Whole, Kind::Double) | (Kind::Double, Kind::Whole) => Kind::Double,
            _ => Kind::Word,
        });
        Self {
            name: name.into(),
            kind: kind.unwrap_or(Kind::Word),
            values,
        }
    }

    /// A column of sentences. An empty sentence is a missing value. `None` if all sentences are empty.
    fn of_words(name: &'a str, cells: impl Iterator<Item = String>) -> Option<Self> {
        let values = cells.map(|cell| Some(cell).filter(|cell| !cell.is_empty()).map(Value::Text));
        let values: Vec<_> = values.collect();
        let any = values.iter().any(Option::is_some);
        any.then(|| Self::new(name, values))
    }

    fn field(&self) -> Result<Type> {
        let (physical, logical) = match self.kind {
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Whole => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Double => (Physical::DOUBLE, None),
            Kind::Word => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }

    fn put(&self, group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>) -> Result<()> {
        match self.kind {
            Kind::Flag => self.put_as::<BoolType>(group, |value| match value {
                Value::Flag(flag) => *flag,
                _ => unreachable!("all are flags"),
            }),
            Kind::Whole => self.put_as::<Int64Type>(group, |value| match value {
                Value::Integer(number) => number.cast_signed(),
                _ => unreachable!("all are whole numbers"),
            }),
            Kind::Double => self.put_as::<DoubleType>(group, |value| match value {
                Value::Integer(number) => *number as f64,
                Value::Number(number) => *number,
                _ => unreachable!("all are numbers"),
            }),
            Kind::Word => self.put_as::<ByteArrayType>(group, |value| {
                ByteArray::from(value.to_string().into_bytes())
            }),
        }
    }

    fn put_as<T: DataType>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
        value: impl Fn(&Value) -> T::T,
    ) -> Result<()> {
        let levels: Vec<i16> = self
            .values
            .iter()
            .map(|value| value.is_some().into())
            .collect();
        let values: Vec<T::T> = self.values.iter().flatten().map(value).collect();
        let mut column = group
            .next_column()?
            .expect("a column is put for each of the schema");
        let typed = column.typed::<T>();
        typed.write_batch(&values, Some(&levels), None)?;
        column.close()
    }
}
