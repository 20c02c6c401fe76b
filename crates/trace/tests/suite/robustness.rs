//! Tests that a reader returns requests or one error for any bytes, and never panics.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::Folder;
use destage_base::Random;
use destage_trace::{
    BadLines, FORMATS, Operation, Order, ReadOptions, Reader, Slice, Volumes, ZeroLength,
};
use std::path::Path;

/// Bytes that lines consist of, and some bytes that they never contain.
const BYTES: &[u8] =
    b"0123456789012345678901234567890123456789.,-+ \t\r\n#eEDCRWrwReadWrite\x00\xff";

fn options(random: &mut Random) -> ReadOptions {
    let pick = |random: &mut Random, count| random.below(count) as usize;
    ReadOptions {
        format: FORMATS.get(pick(random, FORMATS.len() as u64 + 1)),
        volumes: [Volumes::Ignore, Volumes::Separate, Volumes::Concatenate][pick(random, 3)],
        lba_shift: [0, 63, -63, i64::MIN, i64::MAX][pick(random, 5)],
        zero_length: [ZeroLength::Error, ZeroLength::Drop][pick(random, 2)],
        order: [Order::Auto, Order::Error, Order::Sort, Order::Clamp][pick(random, 4)],
        bad_lines: [BadLines::Stop, BadLines::Skip][pick(random, 2)],
        slice: Slice {
            limit: [None, Some(3)][pick(random, 2)],
            skip: random.below(2),
            writes_only: random.below(2) == 0,
        },
        ..ReadOptions::default()
    }
}

/// Reads all of `path` and checks every promise of the reader. Returns whether the reader returned a request.
fn survives(path: &Path, options: &ReadOptions, content: &[u8]) -> bool {
    let shown = || format!("{options:?} {}", content.escape_ascii());
    let told = |error: String| {
        assert!(
            error.contains("; expected ") && !error.contains('\n'),
            "{error} {}",
            shown()
        )
    };
    let mut reader = match Reader::open(path, options) {
        Ok(reader) => reader,
        Err(error) => {
            told(error.to_string());
            return false;
        }
    };
    let (mut batch, mut latest, mut requests) = (Vec::new(), 0, 0);
    loop {
        match reader.fill(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                told(error.to_string());
                assert!(!reader.fill(&mut batch).unwrap(), "{}", shown());
                break;
            }
        }
        for request in &batch {
            assert!(request.arrival >= latest, "{}", shown());
            assert!(
                request
                    .sector
                    .checked_add(u64::from(request.sectors))
                    .is_some_and(|end| end < 1 << 55),
                "{}",
                shown()
            );
            latest = request.arrival;
            requests += 1;
        }
    }
    requests > 0
}

#[test]
fn random_bytes() {
    let (folder, mut random) = (Folder::new(), Random::new(1));
    for _ in 0..4000 {
        let length = random.below(120);
        let content: Vec<u8> = (0..length)
            .map(|_| BYTES[random.below(BYTES.len() as u64) as usize])
            .collect();
        survives(&folder.file("t", &content), &options(&mut random), &content);
    }
}

#[test]
fn mutated_lines() {
    let (folder, mut random) = (Folder::new(), Random::new(2));
    let mut read = 0;
    for round in 0..FORMATS.len() * 400 {
        let format = &FORMATS[round % FORMATS.len()];
        let mut content = format.example_file(4);
        for _ in 0..random.below(4) {
            if content.is_empty() {
                break;
            }
            let place = random.below(content.len() as u64) as usize;
            let byte = BYTES[random.below(BYTES.len() as u64) as usize];
            match random.below(4) {
                0 => content[place] = byte,
                1 => content.insert(place, byte),
                2 => drop(content.remove(place)),
                _ => content.truncate(place + 1),
            }
        }
        let mut options = options(&mut random);
        options.choices.missing_operation = Some(Operation::Write);
        options.format = options.format.and(Some(format));
        let path = folder.file(&format!("t.{}", format.extensions[0]), &content);
        read += usize::from(survives(&path, &options, &content));
    }
    // Many mutations leave some line valid. If no request were ever read, this test would check nothing.
    assert!(read > FORMATS.len() * 40, "{read}");
}

#[test]
fn mutated_compressed_files() {
    let (folder, mut random) = (Folder::new(), Random::new(3));
    let text: String = (0..500)
        .map(|index| format!("{index}.5 0 {} 8 0\n", random.below(1 << 30)))
        .collect();
    let whole = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for _ in 0..1000 {
        let mut content = whole.clone();
        let place = random.below(content.len() as u64) as usize;
        content[place] = random.below(256) as u8;
        survives(
            &folder.file("t.disksim", &content),
            &options(&mut random),
            &content,
        );
    }
}
