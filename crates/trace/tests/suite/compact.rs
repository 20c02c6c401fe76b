//! Tests that the output formats lose nothing, and that damaged files are refused.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{error, read_as};
use destage_base::Random;
use destage_trace::writers::{self, Packing, TraceWriter};
use destage_trace::{Operation, ReadOptions, Request};

const KINDS: [Operation; 4] = [
    Operation::Read,
    Operation::Write,
    Operation::Flush,
    Operation::Trim,
];

/// Requests of all kinds, in order, with fields of all sizes. The line is the number of the request, as the
/// reader counts it.
fn requests(count: u32, random: &mut Random) -> Vec<Request> {
    let bits = |random: &mut Random, most| random.next_u64() >> (64 - 1 - random.below(most));
    let mut arrival = 0;
    (1..=count)
        .map(|line| {
            arrival += bits(random, 50);
            let operation = KINDS[random.below(4) as usize];
            let flush = operation == Operation::Flush;
            let sectors = (bits(random, 32) as u32).max(1);
            let sector = bits(random, 55).min((1 << 55) - 1 - u64::from(sectors));
            Request {
                arrival,
                sector: if flush { 0 } else { sector },
                sectors: if flush { 0 } else { sectors },
                volume: bits(random, 32) as u32,
                line,
                operation,
                fua: operation == Operation::Write && random.below(2) == 0,
                stream: if flush { 0 } else { bits(random, 16) as u16 },
            }
        })
        .collect()
}

fn written(form: &str, packing: Packing, requests: &[Request]) -> Vec<u8> {
    let mut out = Vec::new();
    let form = writers::find(form).unwrap();
    let mut writer = TraceWriter::new(form, packing, &mut out).unwrap();
    for request in requests {
        writer.write(request).unwrap();
    }
    writer.finish().unwrap();
    out
}

#[test]
fn what_is_written_is_read_back_to_the_bit() {
    let mut random = Random::new(7);
    for count in [1, 2, 100, 4095, 4096, 4097, 20_000] {
        let requests = requests(count, &mut random);
        for (form, packing) in [
            ("compact", Packing::Plain),
            ("csv", Packing::Plain),
            ("csv", Packing::Gzip),
            ("csv", Packing::Zstd),
        ] {
            let file = written(form, packing, &requests);
            let trace = read_as("t", &file, &ReadOptions::default()).unwrap();
            assert_eq!(trace.format.name, form);
            let mut expected = requests.clone();
            if form == "csv" {
                // The first line names the columns, so the lines of requests are counted from 2.
                expected.iter_mut().for_each(|request| request.line += 1);
            }
            assert!(trace.requests == expected, "{form} {packing:?} {count}");
        }
    }
    let plain: Vec<Request> = requests(5000, &mut random)
        .into_iter()
        .filter(|request| matches!(request.operation, Operation::Read | Operation::Write))
        .zip(1..)
        .map(|(request, line)| Request {
            line,
            fua: false,
            stream: 0,
            ..request
        })
        .collect();
    let file = written("disksim", Packing::Zstd, &plain);
    let trace = read_as("t.disksim", &file, &ReadOptions::default()).unwrap();
    assert!(trace.requests == plain);
}

#[test]
fn a_damaged_file_is_refused_wherever_the_damage_is() {
    let requests = requests(60, &mut Random::new(8));
    let whole = written("compact", Packing::Plain, &requests);
    let read = |file: &[u8]| read_as("t", file, &ReadOptions::default());
    let (mut refused, mut harmless) = (0, 0);
    for place in 0..whole.len() {
        let mut file = whole.clone();
        file[place] ^= 1 << (place % 8);
        match read(&file) {
            Err(_) => refused += 1,
            // Some bits in the header of a frame choose only how it is decoded, and do not change its content.
            Ok(trace) => {
                assert!(trace.requests == requests, "{place}");
                harmless += 1;
            }
        }
    }
    assert!(refused > 100 * harmless, "{refused} {harmless}");
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length}");
    }
}

#[test]
fn unpacked_files_are_read_and_their_end_is_missed() {
    let requests = requests(5000, &mut Random::new(9));
    let packed = written("compact", Packing::Plain, &requests);
    let whole = zstd::decode_all(&packed[..]).unwrap();
    let options = ReadOptions::default();
    assert!(read_as("t", &whole, &options).unwrap().requests == requests);
    let end = whole.len() - 12;
    for (file, expected) in [
        (
            whole[..end].to_vec(),
            format!("t: byte {end}: the file ends before its end mark; expected a complete file"),
        ),
        (
            whole[..end + 3].to_vec(),
            format!("t: byte {end}: the file ends in the middle of a record, after 3 bytes of the record;"),
        ),
        (
            [&whole[..], b"more"].concat(),
            format!("t: byte {}: the trace has ended already", whole.len()),
        ),
        (
            [b"destage\x02", &whole[8..]].concat(),
            "t: byte 0: the version is unknown: \"6465737461676502\"; expected the bytes destage and version 1".to_owned(),
        ),
    ] {
        let text = error("t", file, &options);
        assert!(text.starts_with(&expected), "{text}\n{expected}");
    }
    let mut wrong = whole.clone();
    wrong[end + 4] ^= 1;
    let text = error("t", wrong, &options);
    assert!(
        text.starts_with(&format!("t: byte {end}: count of requests is unknown")),
        "{text}"
    );
}
