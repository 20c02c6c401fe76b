//! Tests Parquet: requests are written and read back, files of other programs are read, and damaged files are
//! refused.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Folder, Plain, error, options, plain, read_as};
use destage_trace::Operation::{Flush, Read, Trim, Write};
use destage_trace::writers::{self, Packing, TraceWriter};
use destage_trace::{
    BadLines, InjectionRules, Order, ReadOptions, Reader, Request, Slice, TimeUnit, format,
    read_all,
};
use sha2::{Digest, Sha256};

fn request(index: u64) -> Request {
    let operation = [Write, Read, Trim, Write, Flush][(index % 5) as usize];
    let flush = operation == Flush;
    let moved = |number: u64| if flush { 0 } else { number };
    Request {
        arrival: index * index * 7 / 2,
        sector: moved((index * 7919) % 1_000_003 * 8),
        sectors: moved(8 << (index % 4)) as u32,
        volume: (index % 3) as u32 * 1_500_000_000,
        line: 0,
        operation,
        fua: operation == Write && index.is_multiple_of(2),
        stream: moved(index % 5 * 13_107) as u16,
    }
}

/// `requests` in the format called `form`.
fn written(form: &str, requests: &[Request]) -> Vec<u8> {
    let mut out = Vec::new();
    let form = writers::find(form).unwrap();
    let mut writer = TraceWriter::new(form, Packing::Plain, &mut out).unwrap();
    for request in requests {
        writer.write(request).unwrap();
    }
    writer.finish().unwrap();
    out
}

fn requests(count: u64) -> Vec<Request> {
    (0..count).map(request).collect()
}

/// All fields of requests, without the line.
fn all(requests: &[Request]) -> Vec<(Plain, u16)> {
    let all = requests.iter();
    all.map(|request| (plain(request), request.stream))
        .collect()
}

#[test]
fn what_is_written_comes_back_over_several_row_groups() {
    // A row group has 2^17 rows, and 4096 rows are decoded at once, so the counts are near these numbers.
    for count in [1, 4096, 4097, (1 << 17) - 1, 1 << 17, 300_000] {
        let made = requests(count);
        let trace = read_as("t", written("parquet", &made), &ReadOptions::default()).unwrap();
        assert!(all(&trace.requests) == all(&made), "{count}");
        assert_eq!(trace.report.lines, count);
        assert_eq!(trace.requests[0].line, 1);
    }
}

#[test]
fn the_extremes_of_every_column_come_back() {
    let most = Request {
        arrival: u64::MAX,
        sector: (1 << 55) - 1 - u64::from(u32::MAX),
        sectors: u32::MAX,
        volume: u32::MAX,
        fua: true,
        stream: u16::MAX,
        ..request(0)
    };
    let made = [request(1), most];
    let content = written("parquet", &made);
    let trace = read_as("t.parquet", &content, &ReadOptions::default()).unwrap();
    assert_eq!(all(&trace.requests), all(&made));
}

#[test]
fn through_parquet_a_trace_is_the_same_bytes() {
    let compact = written("compact", &requests(20_000));
    let direct = read_as("t", compact, &ReadOptions::default()).unwrap();
    let parquet = written("parquet", &direct.requests);
    let back = read_as("t", &parquet, &ReadOptions::default()).unwrap();
    assert!(written("csv", &back.requests) == written("csv", &direct.requests));
    // Writing the same requests again must give the same bytes.
    assert!(written("parquet", &back.requests) == parquet);
}

#[test]
fn a_file_of_pyarrow_is_read() {
    // The file has the columns in another order, with one column added and one missing. It has signed and small
    // numbers, snappy compression, byte-stream-split encoding, and pages of version 2 with checksums.
    let made: Vec<(Plain, u16)> = (0..40u64)
        .map(|index| {
            let operation = [Read, Write, Write, Trim, Flush][(index % 5) as usize];
            let (sector, sectors) = match operation {
                Flush => (0, 0),
                _ => (index * 37 % 1000 * 8, 8 * (1 + index as u32 % 3)),
            };
            let fua = index % 7 == 1 && index % 5 == 1;
            let stream = if operation == Flush { 0 } else { index % 4 };
            let arrival = index * index * 10_007;
            ((arrival, 0, operation, sector, sectors, fua), stream as u16)
        })
        .collect();
    let content = include_bytes!("../data/pyarrow.parquet");
    let trace = read_as("t", content, &ReadOptions::default()).unwrap();
    assert_eq!(all(&trace.requests), made);
    // The pages of the file have checksums, which the reader must compare. So a flipped bit in a page is an
    // error.
    let mut damaged = content.to_vec();
    let mut told = |place: usize| {
        damaged[place] ^= 0x10;
        let read = read_as("t", &damaged, &ReadOptions::default());
        damaged[place] ^= 0x10;
        read.is_err_and(|error| error.to_string().contains("CRC checksum mismatch"))
    };
    let told = (4..content.len() / 2).filter(|place| told(*place)).count();
    assert!(told > 300, "{told}");
}

#[test]
fn the_options_of_reading_hold() {
    let mut made = requests(10_000);
    for request in &mut made {
        request.volume %= 7;
    }
    let content = written("parquet", &made);
    let read = |options: &ReadOptions| {
        let trace = read_as("t", &content, options).unwrap();
        trace.requests.iter().map(plain).collect::<Vec<_>>()
    };
    let same = |options: ReadOptions| {
        let csv = read_as("t", written("csv", &made), &options).unwrap();
        let csv: Vec<Plain> = csv.requests.iter().map(plain).collect();
        assert!(read(&options) == csv, "{options:?}");
        assert!(!csv.is_empty());
    };
    same(ReadOptions {
        slice: Slice {
            skip: 4000,
            limit: Some(500),
            writes_only: true,
        },
        ..ReadOptions::default()
    });
    same(ReadOptions {
        lba_shift: -63,
        volumes: destage_trace::Volumes::Separate,
        injection: InjectionRules {
            flush_every_writes: 100,
            trim_every_writes: 70,
            ..InjectionRules::default()
        },
        ..ReadOptions::default()
    });
    same(ReadOptions {
        volumes: destage_trace::Volumes::Concatenate,
        order: Order::Sort,
        ..ReadOptions::default()
    });
    let slow = read(&ReadOptions {
        time_unit: Some(TimeUnit::Microseconds),
        ..ReadOptions::default()
    });
    assert_eq!(slow[100].0, made[100].arrival * 10_000);
}

#[test]
fn the_digest_is_that_of_the_file() {
    let content = written("parquet", &requests(150_000));
    let trace = read_as("t", &content, &ReadOptions::default()).unwrap();
    let digest = Sha256::digest(&content);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(trace.digest, Some(digest));
    // There is no digest if the trace is not read to its end.
    let some = ReadOptions {
        slice: Slice {
            limit: Some(10),
            ..Slice::default()
        },
        ..ReadOptions::default()
    };
    assert_eq!(read_as("t", &content, &some).unwrap().digest, None);
}

#[test]
fn bytes_are_counted_as_row_groups_are_read() {
    let content = written("parquet", &requests(500_000));
    let folder = Folder::new();
    let path = folder.file("t", &content);
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    let (mut batch, mut seen) = (Vec::new(), Vec::new());
    while reader.fill(&mut batch).unwrap() {
        seen.push(reader.bytes_read());
    }
    seen.dedup();
    assert!(seen.len() >= 3, "{seen:?}");
    assert_eq!(reader.bytes_read(), content.len() as u64);
}

#[test]
fn requests_that_break_a_rule_are_named() {
    let mut made = requests(20);
    made[7].arrival = 0;
    let text = error("t", written("parquet", &made), &options("parquet"));
    assert!(
        text.starts_with(
            "t: request 8: the time goes back: \"arrival_ticks 0, volume 1500000000, op trim"
        ),
        "{text}"
    );
    let mut made = requests(20);
    made[3].sectors = 0;
    let text = error("t", written("parquet", &made), &options("parquet"));
    assert!(
        text.starts_with("t: request 4: the request has length 0: "),
        "{text}"
    );
    let mut made = requests(20);
    made[5].sector = (1 << 55) - 8;
    made[5].sectors = 8;
    let content = written("parquet", &made);
    let text = error("t", &content, &options("parquet"));
    let expected = "t: request 6: the request ends beyond 2^64 bytes: \"sector 36028797018963960, sectors 8\"; expected an end below 2^55 sectors";
    assert_eq!(text, expected);
    let skip = ReadOptions {
        bad_lines: BadLines::Skip,
        ..options("parquet")
    };
    let trace = read_as("t", &content, &skip).unwrap();
    assert_eq!((trace.requests.len(), trace.report.skipped), (19, 1));
}

#[test]
fn a_file_cut_anywhere_is_an_error() {
    let content = written("parquet", &requests(30));
    for length in 4..content.len() {
        let text = error("t", &content[..length], &options("parquet"));
        assert!(text.starts_with("t: the footer, "), "{length}: {text}");
    }
    let text = error("t", &content[..content.len() - 1], &ReadOptions::default());
    assert!(text.contains("expected a complete, intact file"), "{text}");
}

#[test]
fn a_flipped_bit_never_changes_a_request() {
    let made = requests(30);
    let mut content = written("parquet", &made);
    let (mut errors, folder) = (0, Folder::new());
    for place in 0..content.len() {
        let bit = 1 << (place * 5 % 8);
        content[place] ^= bit;
        let read = read_all(&folder.file("t", &content), &options("parquet"));
        content[place] ^= bit;
        match read {
            // The bit is in a part of the file that does not affect requests: statistics, or bytes that are
            // never read.
            Ok(trace) => assert!(all(&trace.requests) == all(&made), "byte {place}"),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.contains("; expected ") && !text.contains('\n'),
                    "{text}"
                );
                errors += 1;
            }
        }
    }
    assert!(errors > content.len() / 2, "{errors}");
}

#[test]
fn what_is_packed_or_no_parquet_is_told() {
    let content = written("parquet", &requests(30));
    let packed = zstd::encode_all(&content[..], 1).unwrap();
    assert_eq!(
        error("t.parquet.zst", packed, &ReadOptions::default()),
        "t.parquet.zst: parquet has its directory at the end and cannot be read from zst; expected a plain file"
    );
    let text = error("t", "1.0 0 8 8 0\n", &options("parquet"));
    assert!(text.starts_with("t: the footer, "), "{text}");
    assert_eq!(format::left_out("parquet"), None);
    assert!(format::find("parquet").is_some_and(|format| !format.is_text()));
}
