//! Tests Parquet files of other programs: columns of every type that can be read, and the errors for columns of
//! other types.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Plain, error, options, plain, read_as, with};
use destage_trace::Operation::{Flush, Read, Trim, Write};
use destage_trace::{BadLines, Choices, ReadOptions, Slice};
use parquet::basic::{Compression, Encoding};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// The values of a column; `None` is a missing value.
enum Values {
    Small(Vec<Option<i32>>),
    Large(Vec<Option<i64>>),
    Flags(Vec<Option<bool>>),
    Words(Vec<Option<&'static str>>),
    Doubles(Vec<Option<f64>>),
}
use Values::{Doubles, Flags, Large, Small, Words};

fn small(values: &[i32]) -> Values {
    Small(values.iter().map(|value| Some(*value)).collect())
}

fn large(values: &[i64]) -> Values {
    Large(values.iter().map(|value| Some(*value)).collect())
}

fn words(values: &[&'static str]) -> Values {
    Words(values.iter().map(|value| Some(*value)).collect())
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: impl Iterator<Item = Option<T::T>> + Clone,
) {
    let levels: Vec<i16> = values.clone().map(|value| value.is_some().into()).collect();
    let values: Vec<T::T> = values.flatten().collect();
    let mut column = group.next_column().unwrap().unwrap();
    let typed = column.typed::<T>();
    typed.write_batch(&values, Some(&levels), None).unwrap();
    column.close().unwrap();
}

/// A file of one row group, with a column for each element of `fields`.
fn file_with(properties: WriterProperties, fields: &[&str], columns: &[Values]) -> Vec<u8> {
    let ended = fields.iter().map(|field| match field.ends_with('}') {
        true => format!("{field} "),
        false => format!("{field}; "),
    });
    let message = format!("message table {{ {} }}", ended.collect::<String>());
    let schema = Arc::new(parse_message_type(&message).unwrap());
    let mut out = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut out, schema, properties.into()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in columns {
        match column {
            Small(values) => put::<Int32Type>(&mut group, values.iter().copied()),
            Large(values) => put::<Int64Type>(&mut group, values.iter().copied()),
            Flags(values) => put::<BoolType>(&mut group, values.iter().copied()),
            Doubles(values) => put::<DoubleType>(&mut group, values.iter().copied()),
            Words(values) => {
                let values = values.iter().map(|value| value.map(ByteArray::from));
                put::<ByteArrayType>(&mut group, values);
            }
        }
    }
    group.close().unwrap();
    writer.close().unwrap();
    out
}

fn file(fields: &[&str], columns: &[Values]) -> Vec<u8> {
    file_with(WriterProperties::default(), fields, columns)
}

const TIME: &str = "required int64 arrival_ticks";
const SECTOR: &str = "required int64 sector";
const SECTORS: &str = "required int32 sectors";
const OP: &str = "required binary op (string)";

fn requests(content: &[u8]) -> Vec<Plain> {
    let trace = read_as("t", content, &ReadOptions::default()).unwrap();
    trace.requests.iter().map(plain).collect()
}

/// A file of three writes. One column is replaced by `field` and `values`, or this column is added.
fn with_column(field: &str, values: Values) -> Vec<u8> {
    let mut fields = vec![TIME, SECTOR, SECTORS, OP];
    let mut columns = vec![
        large(&[10, 20, 30]),
        large(&[0, 8, 16]),
        small(&[8, 8, 8]),
        words(&["write", "write", "write"]),
    ];
    let name = |field: &str| field.split(' ').nth(2).unwrap().to_owned();
    match fields.iter().position(|other| name(other) == name(field)) {
        Some(place) => (fields[place], columns[place]) = (field, values),
        None => {
            fields.push(field);
            columns.push(values);
        }
    }
    file(&fields, &columns)
}

#[test]
fn every_type_of_number_is_read_as_it_is_meant() {
    let three = |arrivals: [u64; 3]| -> Vec<Plain> {
        let sectors = [0, 8, 16];
        let pairs = arrivals.into_iter().zip(sectors);
        pairs
            .map(|(arrival, sector)| (arrival, 0, Write, sector, 8, false))
            .collect()
    };
    for (field, values, expected) in [
        (
            "required int64 arrival_ticks",
            large(&[1, 2, i64::MAX]),
            [1, 2, i64::MAX as u64],
        ),
        ("optional int64 arrival_ticks", large(&[1, 2, 3]), [1, 2, 3]),
        (
            "required int64 arrival_ticks (integer(64, true))",
            large(&[1, 2, 3]),
            [1, 2, 3],
        ),
        (
            "required int64 arrival_ticks (integer(64, false))",
            large(&[1, 2, -1]),
            [1, 2, u64::MAX],
        ),
        (
            "required int64 arrival_ticks (uint_64)",
            large(&[1, 2, -1]),
            [1, 2, u64::MAX],
        ),
        (
            "required int32 arrival_ticks",
            small(&[1, 2, i32::MAX]),
            [1, 2, i32::MAX as u64],
        ),
        (
            "required int32 arrival_ticks (integer(32, false))",
            small(&[1, 2, -1]),
            [1, 2, u64::from(u32::MAX)],
        ),
        (
            "optional int32 arrival_ticks (uint_16)",
            small(&[1, 2, 65_535]),
            [1, 2, 65_535],
        ),
        (
            "required int32 arrival_ticks (int_8)",
            small(&[1, 2, 3]),
            [1, 2, 3],
        ),
    ] {
        let content = with_column(field, values);
        assert_eq!(requests(&content), three(expected), "{field}");
    }
}

#[test]
fn columns_are_found_by_name_in_any_encoding() {
    let fields = [
        "optional double note",
        "optional boolean fua",
        "optional binary op (enum)",
        "optional int64 volume",
        "required int32 stream",
        SECTORS,
        "optional int32 sector",
        "optional group more { required int64 sector; }",
        TIME,
    ];
    let columns = [
        Doubles(vec![None, Some(0.5), None, None]),
        Flags([true, false, false, false].map(Some).to_vec()),
        words(&["W", "Read", "TRIM", "flush"]),
        large(&[0, 4_294_967_295, 1, 2]),
        small(&[65_535, 1, 0, 0]),
        small(&[8, 16, 24, 99]),
        small(&[1, 2, 3, 4]),
        Large(vec![Some(9), None, None, Some(9)]),
        large(&[5, 6, 7, 8]),
    ];
    let expected = [
        (5, 0, Write, 1, 8, true),
        (6, u32::MAX, Read, 2, 16, false),
        (7, 1, Trim, 3, 24, false),
        // A flush has no address.
        (8, 2, Flush, 0, 0, false),
    ];
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(Default::default()),
            Compression::ZSTD(Default::default()),
        ] {
            for encoding in [None, Some(Encoding::PLAIN)] {
                let mut properties = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_compression(compression);
                if let Some(encoding) = encoding {
                    properties = properties
                        .set_dictionary_enabled(false)
                        .set_encoding(encoding);
                }
                let content = file_with(properties.build(), &fields, &columns);
                assert_eq!(requests(&content), expected, "{version:?} {compression:?}");
            }
        }
    }
    let plain = WriterProperties::builder().build();
    let trace = read_as(
        "t",
        file_with(plain, &fields, &columns),
        &options("parquet"),
    );
    let streams: Vec<u16> = trace.unwrap().requests.iter().map(|r| r.stream).collect();
    assert_eq!(streams, [65_535, 1, 0, 0]);
}

#[test]
fn a_value_that_is_none_names_request_and_column() {
    for (field, values, expected) in [
        (
            "required int64 sector",
            large(&[0, -8, 16]),
            "request 2: sector is negative: \"-8\"; expected a whole number up to 2^55, in sectors of 512 bytes",
        ),
        (
            "required int64 sector",
            large(&[0, 8, (1 << 55) + 1]),
            "request 3: sector is too large: \"36028797018963969\"; expected a whole number up to 2^55, in sectors of 512 bytes",
        ),
        (
            "required int64 sector (uint_64)",
            large(&[0, 8, -1]),
            "request 3: sector is too large: \"18446744073709551615\"; expected a whole number up to 2^55, in sectors of 512 bytes",
        ),
        (
            "optional int32 sectors",
            Small(vec![Some(8), None, Some(8)]),
            "request 2: sectors has no value: \"null\"; expected a whole number below 2^32, in sectors of 512 bytes",
        ),
        (
            "optional int64 volume",
            Large(vec![None, Some(1), None]),
            "request 1: volume has no value: \"null\"; expected a whole number below 2^32",
        ),
        (
            "required int64 volume",
            large(&[0, 1, 1 << 32]),
            "request 3: volume is too large: \"4294967296\"; expected a whole number below 2^32",
        ),
        (
            "required int32 stream",
            small(&[0, 65_536, 0]),
            "request 2: stream is too large: \"65536\"; expected a whole number below 2^16, 0 for none",
        ),
        (
            "optional boolean fua",
            Flags(vec![Some(true), Some(true), None]),
            "request 3: fua has no value: \"null\"; expected true or false",
        ),
        (
            "required binary op (string)",
            words(&["write", "erase", "write"]),
            "request 2: op is unknown: \"erase\"; expected read, write, flush or trim, or their first letter",
        ),
        (
            "required int64 arrival_ticks",
            large(&[1, 2, -3]),
            "request 3: arrival_ticks is negative: \"-3\"; expected a whole number that is below 2^64 in ticks of 0.1 ns",
        ),
    ] {
        let content = with_column(field, values);
        assert_eq!(
            error("t", &content, &ReadOptions::default()),
            format!("t: {expected}"),
            "{field}"
        );
        let skip = ReadOptions {
            bad_lines: BadLines::Skip,
            ..ReadOptions::default()
        };
        let trace = read_as("t", &content, &skip).unwrap();
        assert_eq!(
            trace.requests.len() as u64 + trace.report.skipped,
            3,
            "{field}"
        );
        assert!(trace.first_skipped.unwrap().contains(expected), "{field}");
    }
}

#[test]
fn requests_above_a_bad_row_come_first_and_those_below_are_in_step() {
    let values = |index: i64| (index != 5000).then_some(index * 8);
    let fields = [TIME, "optional int64 sector", SECTORS, OP];
    let columns = [
        Large((0..9000).map(Some).collect()),
        Large((0..9000).map(values).collect()),
        Small(vec![Some(8); 9000]),
        Words(vec![Some("w"); 9000]),
    ];
    let content = file(&fields, &columns);
    let skip = ReadOptions {
        bad_lines: BadLines::Skip,
        ..ReadOptions::default()
    };
    let trace = read_as("t", &content, &skip).unwrap();
    assert_eq!(trace.requests.len(), 8999);
    for request in &trace.requests {
        assert_eq!(request.sector, request.arrival * 8);
        assert_eq!(u64::from(request.line), request.arrival + 1);
    }
    assert!(error("t", &content, &ReadOptions::default()).contains("request 5001: sector"));
}

#[test]
fn a_unit_of_time_may_be_said_and_may_be_too_much() {
    let content = with_column(TIME, large(&[1, 2, i64::MAX]));
    let options = ReadOptions {
        time_unit: Some(destage_trace::TimeUnit::Milliseconds),
        ..ReadOptions::default()
    };
    let text = error("t", &content, &options);
    assert!(
        text.contains("request 3: arrival_ticks is too large"),
        "{text}"
    );
    let some = ReadOptions {
        slice: Slice {
            limit: Some(2),
            ..Slice::default()
        },
        ..options
    };
    let trace = read_as("t", &content, &some).unwrap();
    assert_eq!(trace.requests[1].arrival, 20_000_000);
}

#[test]
fn a_column_that_is_missing_or_another_names_what_there_is() {
    let whole = "a column of whole numbers: int32 or int64, signed or not";
    for (field, values, expected) in [
        (
            "required double sector",
            Doubles(vec![Some(1.0); 3]),
            format!("sector is of type \"DOUBLE sector\"; expected {whole}"),
        ),
        (
            "optional int64 arrival_ticks (timestamp(nanos, true))",
            large(&[1, 2, 3]),
            format!(
                "arrival_ticks is of type \"OPTIONAL INT64 arrival_ticks (TIMESTAMP(NANOS,true))\"; expected {whole}"
            ),
        ),
        (
            "required int32 fua",
            small(&[0, 1, 0]),
            "fua is of type \"INT32 fua\"; expected a column of type boolean".to_owned(),
        ),
        (
            "required int32 op",
            small(&[0, 1, 0]),
            "op is of type \"INT32 op\"; expected a column of text".to_owned(),
        ),
    ] {
        let text = error("t", with_column(field, values), &ReadOptions::default());
        assert_eq!(text, format!("t: {expected}"));
    }
    let content = file(
        &[TIME, SECTORS, OP],
        &[large(&[1]), small(&[8]), words(&["w"])],
    );
    assert_eq!(
        error("t", content, &ReadOptions::default()),
        format!("t: sector is missing among arrival_ticks, sectors, op; expected {whole}")
    );
    let fields = [
        TIME,
        SECTORS,
        OP,
        "required group sector { required int64 sector; }",
    ];
    let columns = [large(&[1]), small(&[8]), words(&["w"]), large(&[8])];
    let text = error("t", file(&fields, &columns), &ReadOptions::default());
    assert!(
        text.starts_with("t: sector is of type \"group sector {"),
        "{text}"
    );
}

#[test]
fn what_requests_do_may_be_said_where_the_file_does_not() {
    let content = file(
        &[TIME, SECTOR, SECTORS],
        &[large(&[1]), large(&[8]), small(&[8])],
    );
    assert_eq!(
        error("t", &content, &options("parquet")),
        "t: op is missing; expected such a column of words, or trace.missing_op=read or write"
    );
    for operation in [Read, Write] {
        let choices = Choices {
            missing_operation: Some(operation),
            ..Choices::default()
        };
        let trace = read_as("t", &content, &with("parquet", choices.clone())).unwrap();
        assert_eq!(trace.requests[0].operation, operation);
        // The option applies only to a file without the column `op`, and this file has this column.
        let content = with_column(OP, words(&["t", "t", "t"]));
        let trace = read_as("t", &content, &with("parquet", choices)).unwrap();
        assert_eq!(trace.requests[0].operation, Trim);
    }
}

#[test]
fn a_newer_schema_is_refused_and_a_table_without_rows_is_empty() {
    let version = |text: &str| {
        let pair = KeyValue::new("destage.schema".to_owned(), text.to_owned());
        WriterProperties::builder()
            .set_key_value_metadata(Some(vec![pair]))
            .build()
    };
    let fields = [TIME, SECTOR, SECTORS, OP];
    let columns = [large(&[1]), large(&[8]), small(&[8]), words(&["w"])];
    assert_eq!(
        requests(&file_with(version("trace 1"), &fields, &columns)).len(),
        1
    );
    let newer = file_with(version("trace 2"), &fields, &columns);
    assert_eq!(
        error("t", newer, &ReadOptions::default()),
        "t: destage.schema is \"trace 2\"; expected \"trace 1\" among the key-value pairs; a newer program reads newer versions"
    );
    let none = [large(&[]), large(&[]), small(&[]), words(&[])];
    let text = error("t", file(&fields, &none), &ReadOptions::default());
    assert!(text.starts_with("t: holds no requests"), "{text}");
}
