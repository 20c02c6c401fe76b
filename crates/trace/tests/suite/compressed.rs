//! Tests that compressed files are read to their end, whatever their name and number of members, and that files
//! that are cut off or damaged are refused.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Folder, error, read_as};
use destage_trace::{ReadOptions, Reader, TraceError, read_all};
use std::io::{Read, Write};

const COMPRESSIONS: [&str; 4] = ["zst", "gz", "bz2", "xz"];

fn text() -> String {
    let mut random = destage_base::Random::new(4);
    (0..40_000)
        .map(|index| format!("{index}.25 0 {} 8 0\n", random.below(1 << 30)))
        .collect()
}

fn compress(name: &str, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match name {
        "zst" => out = zstd::encode_all(text, 1).unwrap(),
        "gz" => {
            flate2::read::GzEncoder::new(text, flate2::Compression::fast())
                .read_to_end(&mut out)
                .unwrap();
        }
        "bz2" => {
            bzip2::read::BzEncoder::new(text, bzip2::Compression::fast())
                .read_to_end(&mut out)
                .unwrap();
        }
        _ => {
            let mut encoder = liblzma::write::XzEncoder::new(&mut out, 1);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
    }
    out
}

#[test]
fn the_content_tells_the_compression_and_members_follow_one_another() {
    let text = text();
    let plain = read_as("t", &text, &ReadOptions::default()).unwrap();
    assert_eq!(plain.requests.len(), 40_000);
    let (front, back) = text.as_bytes().split_at(text.len() / 3);
    for name in COMPRESSIONS {
        let two = [compress(name, front), compress(name, back)].concat();
        for content in [compress(name, text.as_bytes()), two] {
            let trace = read_as("misleading.txt", content, &ReadOptions::default()).unwrap();
            assert!(trace.requests == plain.requests, "{name}");
            assert_eq!(trace.digest, plain.digest, "{name}");
        }
    }
}

#[test]
fn a_stream_that_is_cut_off_anywhere_is_an_error() {
    let text = text();
    for name in COMPRESSIONS {
        let whole = compress(name, text.as_bytes());
        for length in [12, 40, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
            let wrong = error("t.disksim", &whole[..length], &ReadOptions::default());
            let expected = format!("t.disksim: the {name} stream is cut off after ");
            assert!(
                wrong.starts_with(&expected),
                "{name} {length} of {}: {wrong}",
                whole.len()
            );
        }
    }
}

#[test]
fn a_damaged_stream_is_an_error_or_reads_as_it_was() {
    let text = text();
    let digest = read_as("t", &text, &ReadOptions::default()).unwrap().digest;
    for name in COMPRESSIONS {
        let whole = compress(name, text.as_bytes());
        let mut refused = 0;
        for place in [20, whole.len() / 3, whole.len() / 2, whole.len() - 12] {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x10;
            match read_as("t", damaged, &ReadOptions::default()) {
                Err(_) => refused += 1,
                // Only zstd, which writes no checksum here, can miss damage. The digest must then differ.
                Ok(trace) => assert!(name == "zst" && trace.digest != digest, "{name} {place}"),
            }
        }
        assert!(refused >= 2, "{name}: {refused}");
        let trailing = [whole.as_slice(), b"garbage after the end"].concat();
        assert!(
            read_as("t", trailing, &ReadOptions::default()).is_err(),
            "{name}"
        );
    }
}

#[test]
fn requests_above_the_cut_are_handed_out_and_there_is_no_digest() {
    let folder = Folder::new();
    let whole = compress("zst", text().as_bytes());
    let path = folder.file("t.zst", &whole[..whole.len() - 5]);
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    let (mut batch, mut requests) = (Vec::new(), 0);
    let wrong = loop {
        match reader.fill(&mut batch) {
            Ok(true) => requests += batch.len(),
            Ok(false) => panic!("the cut was taken for the end"),
            Err(wrong) => break wrong,
        }
    };
    assert!(matches!(
        wrong,
        TraceError::Truncated {
            compression: "zst",
            ..
        }
    ));
    assert!(requests > 0 && requests < 40_000, "{requests}");
    assert_eq!(reader.digest(), None);
    assert!(!reader.fill(&mut batch).unwrap());
}

#[test]
fn progress_is_in_bytes_of_the_file() {
    let folder = Folder::new();
    let whole = compress("gz", text().as_bytes());
    let path = folder.file("t.gz", &whole);
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    let mut batch = Vec::new();
    while reader.fill(&mut batch).unwrap() {}
    assert_eq!(reader.bytes_read(), whole.len() as u64);
    assert_eq!(
        reader.digest(),
        read_all(&path, &ReadOptions::default()).unwrap().digest
    );
}

#[test]
fn zeros_after_a_gzip_file_are_padding_and_nothing_else_is() {
    let folder = Folder::new();
    let (first, second) = ("0.5 0 8 8 0\n", "0.7 0 8 8 0\n");
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let both = [packed(first), packed(second)].concat();
    for zeros in [0, 1, 7, 512, 1_000_000] {
        let content = [both.clone(), vec![0; zeros]].concat();
        let path = folder.file("t.disksim.gz", content);
        let trace = read_all(&path, &ReadOptions::default());
        assert_eq!(trace.unwrap().requests.len(), 2, "{zeros}");
    }
    for rest in [&b"x"[..], b"\0\0x", b"\0\x1f\x8b"] {
        let content = [both.clone(), rest.to_vec()].concat();
        let path = folder.file("t.disksim.gz", content);
        let trace = read_all(&path, &ReadOptions::default());
        let text = trace.unwrap_err().to_string();
        assert!(text.contains("the gz stream is"), "{text}");
    }
}

#[test]
fn an_xz_header_does_not_ask_for_any_memory_it_likes() {
    let mut content = compress("xz", text().as_bytes());
    // The header of the first block has: size, flags, filter, bytes of its properties, dictionary, padding,
    // checksum.
    assert_eq!(content[12..16], [2, 0, 0x21, 1]);
    let mut with_dictionary = |code: u8| {
        content[16] = code;
        let mut sum = flate2::Crc::new();
        sum.update(&content[12..20]);
        content[20..24].copy_from_slice(&sum.sum().to_le_bytes());
        read_as("t.xz", &content, &ReadOptions::default()).map(|trace| trace.requests.len())
    };
    // Code 30 is a dictionary of 128 MiB; code 31, the next larger one, is 192 MiB.
    assert_eq!(with_dictionary(30).unwrap(), 40_000);
    let refused = with_dictionary(31).unwrap_err().to_string();
    assert!(
        refused.contains("its dictionary is larger than 128 MiB"),
        "{refused}"
    );
}
