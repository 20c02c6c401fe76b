//! The binary formats: every field of files made by hand is decoded correctly, and errors name the byte that is
//! damaged.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{MS, US, error, options, read_as, read_plain as read, with};
use destage_trace::Operation::{Flush, Read, Trim, Write};
use destage_trace::{BadLines, Choices, Event, FORMATS, ReadOptions};

/// Makes a record of blktrace.
fn event(time: u64, sector: u64, bytes: u32, action: u32, data: &[u8], little: bool) -> Vec<u8> {
    let mut record = Vec::new();
    let mut put = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        if !little {
            bytes.reverse();
        }
        record.extend(bytes);
    };
    put(&0x6561_7407u32.to_le_bytes());
    put(&1u32.to_le_bytes());
    put(&time.to_le_bytes());
    put(&sector.to_le_bytes());
    put(&bytes.to_le_bytes());
    put(&action.to_le_bytes());
    put(&697u32.to_le_bytes());
    put(&0x0080_0001u32.to_le_bytes());
    put(&3u32.to_le_bytes());
    put(&0u16.to_le_bytes());
    put(&u16::try_from(data.len()).unwrap().to_le_bytes());
    record.extend(data);
    record
}

const READ_BIT: u32 = 1 << 16;
const WRITE_BIT: u32 = 1 << 17;
const FLUSH_BIT: u32 = 1 << 18;
const DISCARD_BIT: u32 = 1 << 29;
const FUA_BIT: u32 = 1 << 31;

fn blktrace(little: bool) -> Vec<u8> {
    let event =
        |time, sector, bytes, action, data| event(time, sector, bytes, action, data, little);
    [
        event(0, 0, 0, 1 << 26, b"kjournald\0"),
        event(100, 8, 4096, 1 | WRITE_BIT | FLUSH_BIT | FUA_BIT, b""),
        event(300, 8, 4096, 7 | WRITE_BIT | FUA_BIT, b""),
        // This event comes from another processor, so it is not in the order of time.
        event(200, 0, 0, 7 | FLUSH_BIT, b""),
        event(400, 99, 513, 7 | READ_BIT, b""),
        event(500, 12, 36, 7 | READ_BIT | 1 << 25, b"\x12\x00\x00"),
        event(600, 1 << 40, 1 << 20, 7 | WRITE_BIT | DISCARD_BIT, b""),
        event(700, 8, 4096, 8 | WRITE_BIT, b""),
    ]
    .concat()
}

#[test]
fn blktrace_is_read_in_both_byte_orders() {
    for little in [true, false] {
        let issued = [
            (2000, 0x0080_0001, Flush, 0, 0, false),
            (3000, 0x0080_0001, Write, 8, 8, true),
            (4000, 0x0080_0001, Read, 99, 2, false),
            (6000, 0x0080_0001, Trim, 1 << 40, 2048, false),
        ];
        assert_eq!(read(blktrace(little), &options("blktrace")), issued);
        assert_eq!(read(blktrace(little), &ReadOptions::default()), issued);
        let queued = Choices {
            event: Event::Queue,
            ..Choices::default()
        };
        assert_eq!(
            read(blktrace(little), &with("blktrace", queued)),
            [
                (1000, 0x0080_0001, Flush, 0, 0, false),
                (1000, 0x0080_0001, Write, 8, 8, true)
            ]
        );
    }
}

/// With the option `blk_cgroup`, the kernel sets a bit in each event, and writes the number of the control
/// group before other data. The requests must stay the same.
#[test]
fn blktrace_with_control_groups_has_the_same_requests() {
    const CGROUP_BIT: u32 = 1 << 8;
    let (queue, issue, complete) = (1 | WRITE_BIT, 7 | WRITE_BIT | FUA_BIT, 8 | WRITE_BIT);
    let all = |more: u32, data: &[u8]| {
        [(100, queue), (300, issue), (700, complete)]
            .map(|(time, action)| event(time, 8, 4096, action | more, data, true))
            .concat()
    };
    for wanted in [Event::Queue, Event::Issue, Event::Complete] {
        let chosen = Choices {
            event: wanted,
            ..Choices::default()
        };
        let [plain, marked] = [all(0, b""), all(CGROUP_BIT, &[7; 8])];
        let wanted = with("blktrace", chosen);
        let plain = read(plain, &wanted);
        assert_eq!(plain.len(), 1);
        assert_eq!(read(marked, &wanted), plain);
    }
}

#[test]
fn blktrace_damage_is_told_by_its_byte() {
    let good = event(100, 8, 4096, 7 | WRITE_BIT, b"", true);
    let mut bad = blktrace(true);
    bad[48 + 10] ^= 1;
    let text = error("t", &bad, &options("blktrace"));
    assert_eq!(
        text,
        "t: byte 58: magic number is unknown: \"06746165\"; expected 0x65617407 in either byte order, which is version 7 of blktrace"
    );
    let far = event(200, u64::MAX, 4096, 7 | WRITE_BIT, b"", true);
    let content = [&good[..], &far, &good].concat();
    let text = error("t", &content, &options("blktrace"));
    assert!(
        text.starts_with("t: byte 48: the request ends beyond 2^64 bytes: \"07746165"),
        "{text}"
    );
    // A bad record can be skipped if its length is known; a record without the magic number cannot.
    let skip = ReadOptions {
        bad_lines: BadLines::Skip,
        ..options("blktrace")
    };
    let trace = read_as("t", &content, &skip).unwrap();
    assert_eq!((trace.requests.len(), trace.report.skipped), (2, 1));
    assert!(error("t", &bad, &skip).starts_with("t: byte 58: magic"));
    // A request without sectors is decoded, and refused later. The error must still name the byte of its
    // record.
    let empty = event(300, 8, 0, 7 | WRITE_BIT, b"", true);
    let content = [&good[..], &good, &empty, &good].concat();
    let text = error("t", content, &options("blktrace"));
    assert!(
        text.starts_with("t: byte 96: the request has length 0: \"0774"),
        "{text}"
    );
}

#[test]
fn every_binary_format_tells_where_it_is_cut_off() {
    // Formats that this project also writes are left out here: they have end marks, and other tests check them.
    let plain = |format: &&destage_trace::Format| {
        !format.is_text() && destage_trace::writers::find(format.name).is_none()
    };
    for format in FORMATS.iter().filter(plain) {
        let choices = Choices {
            missing_operation: Some(Write),
            ..Choices::default()
        };
        let options = with(format.name, choices);
        let file = format.example_file(5000);
        let whole = read_as("t", &file, &options).unwrap();
        assert_eq!(whole.requests.len(), 5000, "{format:?}");
        assert_eq!(whole.report.lines, 5000, "{format:?}");
        let start = file.len() / 5000 * 4999;
        for cut in [1, 7, file.len() - start - 1] {
            let text = error("t", &file[..start + cut], &options);
            let expected = format!(
                "t: byte {start}: the file ends in the middle of a record, after {cut} bytes of the record; expected a whole number of records"
            );
            assert_eq!(text, expected, "{format:?}");
        }
    }
}

fn numbers(numbers: &[u32]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}

#[test]
fn srt_is_read_as_disksim_does() {
    let short = |second, flags, device| {
        numbers(&[
            52,
            3 << 16 | 1,
            second,
            250_000,
            1,
            2,
            8192,
            1000,
            device,
            0,
            0,
            flags,
            0,
        ])
    };
    let suspect = numbers(&[60, 4 << 16 | 4, 1, 0, 1, 2, 512, 0, 0, 0, 0, 0, 0, 1, 9]);
    let queued = numbers(&[56, 4 << 16 | 1, 2, 0, 1, 2, 256, 3, 0, 0, 0, 0, 0, 1]);
    let header = b"tracedate\t= \"Sat May 30 00:00:00 1992\";\nmore\n\x0c";
    let content = [&header[..], &short(0, 1, 0x0503), &suspect, &queued].concat();
    let wide = [
        (250 * MS, 5, Read, 1000, 16, false),
        (2000 * MS, 0, Write, 3, 1, false),
    ];
    assert_eq!(read(&content, &ReadOptions::default()), wide);
    assert_eq!(read(&content[header.len()..], &options("srt")), wide);
    let narrow = with(
        "srt",
        Choices {
            block_bytes: 256,
            ..Choices::default()
        },
    );
    assert_eq!(
        read(&content, &narrow),
        [
            (250 * MS, 5, Read, 500, 16, false),
            (2000 * MS, 0, Write, 1, 1, false)
        ]
    );
    let mut wrong = content.clone();
    wrong[header.len() + 3] = 56;
    let text = error("t", &wrong, &options("srt"));
    let at = header.len();
    assert!(
        text.starts_with(&format!(
            "t: byte {at}: record length is unknown: \"00000038\"; expected 52"
        )),
        "{text}"
    );
}

#[test]
fn vscsi_versions_are_told_apart() {
    let first = |opcode: u16, bytes: u32, sector: u64, time: u64| {
        let mut record = Vec::new();
        record.extend([7, 0, 0, 0]);
        record.extend(bytes.to_le_bytes());
        record.extend(1u32.to_le_bytes());
        record.extend(opcode.to_le_bytes());
        record.extend(0x0100u16.to_le_bytes());
        record.extend(sector.to_le_bytes());
        record.extend(time.to_le_bytes());
        record
    };
    let second = |opcode: u16, bytes: u32, sector: u64, time: u64| {
        let mut record = Vec::new();
        record.extend(opcode.to_le_bytes());
        record.extend(0x0200u16.to_le_bytes());
        record.extend(7u32.to_le_bytes());
        record.extend(bytes.to_le_bytes());
        record.extend(1u32.to_le_bytes());
        record.extend(sector.to_le_bytes());
        record.extend(time.to_le_bytes());
        record.extend(99u64.to_le_bytes());
        record
    };
    let start = 1_394_000_000_000_000;
    let expected = [
        (0, 0, Write, 4096, 8, false),
        (500 * US, 0, Flush, 0, 0, false),
        (900 * US, 0, Read, 1, 2, false),
    ];
    for make in [&first as &dyn Fn(u16, u32, u64, u64) -> Vec<u8>, &second] {
        let records = [
            make(0x2a, 4096, 4096, start),
            make(0x28, 513, 1, start + 900),
            make(0x35, 0, 0, start + 500),
        ];
        let content = records.concat();
        assert_eq!(read(&content, &ReadOptions::default()), expected);
        let length = records[0].len();
        let content = [&content[..], &make(0x12, 0, 0, start), &content].concat();
        let text = error("t", content, &options("vscsi"));
        let start = format!(
            "t: byte {}: SCSI opcode is unknown: \"1200\"; expected a read",
            3 * length
        );
        assert!(text.starts_with(&start), "{text}");
    }
}

#[test]
fn oraclegeneral_needs_to_be_told_what_requests_do() {
    let record = |time: u32, object: u64, bytes: u32, next: i64| {
        let mut record = time.to_le_bytes().to_vec();
        record.extend(object.to_le_bytes());
        record.extend(bytes.to_le_bytes());
        record.extend(next.to_le_bytes());
        record
    };
    let content = [record(100, 5, 4096, 2), record(101, 5, 512, -1)].concat();
    let text = error("t", &content, &ReadOptions::default());
    assert!(
        text.starts_with("t: byte 0: the trace does not say what the request does: ")
            && text.ends_with("expected trace.missing_op=read or write"),
        "{text}"
    );
    let told = ReadOptions {
        format: None,
        ..with(
            "oraclegeneral",
            Choices {
                missing_operation: Some(Write),
                block_bytes: 4096,
                ..Choices::default()
            },
        )
    };
    assert_eq!(
        read(&content, &told),
        [
            (0, 0, Write, 40, 8, false),
            (1000 * MS, 0, Write, 40, 1, false)
        ]
    );
    // If the next access is an earlier request, the file does not have this format.
    let content = [record(100, 5, 4096, 2), record(101, 5, 512, 1)].concat();
    assert!(error("t", content, &ReadOptions::default()).starts_with("t: is not text"));
}
