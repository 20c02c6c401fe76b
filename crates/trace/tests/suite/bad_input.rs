//! Tests that an error message for a wrong trace has the file, the line, the wrong text and what was expected.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Folder, error, read_as};
use destage_trace::{
    BadLines, FORMATS, Order, ReadOptions, Reader, Slice, TraceError, ZeroLength, format, read_all,
};
use std::path::Path;

const GOOD: &str = "0.5 0 8 8 0\n";

fn disksim() -> ReadOptions {
    ReadOptions {
        format: format::find("disksim"),
        ..ReadOptions::default()
    }
}

/// The error of a DiskSim trace whose third line is `line` and whose other lines are valid.
fn third(line: &str) -> String {
    error(
        "t.disksim",
        format!("{GOOD}{GOOD}{line}\n{GOOD}"),
        &disksim(),
    )
}

#[test]
fn malformed_fields_are_named_and_quoted() {
    for (line, expected) in [
        (
            "0.5 0 8 8",
            "t.disksim:3: too few fields: \"0.5 0 8 8\"; expected 5 columns: time in ms",
        ),
        (
            "0.5 0 8 8 0 1",
            "t.disksim:3: too many fields: \"0.5 0 8 8 0 1\"; expected 5 columns: time in ms",
        ),
        (
            "0.5 0 eight 8 0",
            "t.disksim:3: first sector is not a number: \"eight\"; expected a whole number of",
        ),
        (
            "0.5 0 8x 8 0",
            "t.disksim:3: first sector is not a number: \"8x\"; expected",
        ),
        (
            "0.5 0 8 8 W",
            "t.disksim:3: flag is not a number: \"W\"; expected",
        ),
        (
            "0.5 0 8 8 0W",
            "t.disksim:3: flag is not a number: \"0W\"; expected",
        ),
        (
            "0.5.5 0 8 8 0",
            "t.disksim:3: time is not a number: \"0.5.5\"; expected",
        ),
        (
            "1e3 0 8 8 0",
            "t.disksim:3: time is not a number: \"1e3\"; expected",
        ),
        (
            "nan 0 8 8 0",
            "t.disksim:3: time is not a number: \"nan\"; expected",
        ),
        (
            "-0.5 0 8 8 0",
            "t.disksim:3: time is negative: \"-0.5\"; expected",
        ),
        (
            "0.5 0 8 -8 0",
            "t.disksim:3: sector count is negative: \"-8\"; expected",
        ),
        (
            "0.5 0 -8 8 0",
            "t.disksim:3: first sector is negative: \"-8\"; expected",
        ),
        (
            "0.5 0 8 0 0",
            "t.disksim:3: the request has length 0: \"0.5 0 8 0 0\"; expected at least one sector",
        ),
        (
            "0.4 0 8 8 0",
            "t.disksim:3: the time goes back: \"0.4 0 8 8 0\"; expected times that do not decrease",
        ),
        (
            "0.5 0 8 4294967296 0",
            "t.disksim:3: sector count is too large: \"4294967296\"; expected",
        ),
        (
            "0.5 0 18446744073709551616 8 0",
            "t.disksim:3: first sector is too large: \"184467440737",
        ),
        (
            "0.5 0 18446744073709551615 8 0",
            "t.disksim:3: the request ends beyond 2^64 bytes: \"0.5 0 1844",
        ),
        (
            "1844674407371.0 0 8 8 0",
            "t.disksim:3: time is too large: \"1844674407371.0\"; expected",
        ),
        (
            "",
            "t.disksim:3: a blank line inside the trace: \"\"; expected blank lines only after the last",
        ),
    ] {
        let text = third(line);
        assert!(text.starts_with(expected), "{line}\n{text}\n{expected}");
    }
}

#[test]
fn every_format_refuses_every_damaged_field() {
    for format in FORMATS.iter().filter(|format| format.is_text()) {
        let separator = if format.example.contains(',') {
            ","
        } else if format.example.contains('\t') {
            "\t"
        } else {
            " "
        };
        let options = ReadOptions {
            format: Some(format),
            ..ReadOptions::default()
        };
        let fields: Vec<&str> = format.example.split(separator).collect();
        let check = |fields: &[&str], what: &str| {
            let mut content = format.example_file(1);
            let line = 2 + format.header.map_or(0, |header| header.lines().count());
            content.extend(format!("{}\n", fields.join(separator)).bytes());
            let text = error("t", content, &options);
            assert!(
                text.starts_with(&format!("t:{line}: ")),
                "{format:?} {what}: {text}"
            );
        };
        for index in 0..fields.len() {
            // A name may be any text, so a damaged name is no error. Lines of blkparse, xperf and tracerpt
            // begin with blanks, so other tests check their columns.
            if matches!(
                (format.name, index),
                ("msr", 1) | ("fio", 1) | ("blkparse" | "xperf" | "tracerpt", _)
            ) {
                continue;
            }
            for wrong in ["?", "-1", "99999999999999999999"] {
                let mut damaged = fields.clone();
                damaged[index] = wrong;
                // A column that is checked and otherwise ignored accepts a number of any size.
                if wrong.len() == 20
                    && damaged[index..] != *fields
                    && matches!(
                        (format.name, index),
                        ("diskmon", 2) | ("wiscsee", 6) | ("systor", 1)
                    )
                {
                    continue;
                }
                check(&damaged, wrong);
            }
            if index > 0 {
                check(&fields[..index], "cut");
            }
        }
        if !matches!(format.name, "spc" | "blkparse" | "xperf" | "tracerpt") {
            let mut longer = fields.clone();
            longer.push("0");
            check(&longer, "longer");
        }
    }
}

#[test]
fn requests_above_a_bad_line_are_handed_out_first() {
    let folder = Folder::new();
    let path = folder.file("t.disksim", format!("{GOOD}{GOOD}nonsense\n{GOOD}"));
    let mut reader = Reader::open(&path, &disksim()).unwrap();
    let mut batch = Vec::new();
    assert!(reader.fill(&mut batch).unwrap());
    assert_eq!(batch.len(), 2);
    assert!(matches!(
        reader.fill(&mut batch),
        Err(TraceError::Line { line: 3, .. })
    ));
    assert!(batch.is_empty());
    assert_eq!(reader.digest(), None);
    // With a limit of two requests, the bad third line is never decoded.
    let trace = read_all(
        &path,
        &ReadOptions {
            slice: Slice {
                limit: Some(2),
                ..Slice::default()
            },
            ..disksim()
        },
    )
    .unwrap();
    assert_eq!((trace.requests.len(), trace.digest), (2, None));
}

#[test]
fn bad_lines_are_skipped_and_counted_only_when_asked() {
    let text = format!("{GOOD}x\n{GOOD}\n0.5 0 8 0 0\n0.1 0 8 8 0\n{GOOD}0.5 0 8\n");
    let trace = read_as(
        "t.disksim",
        &text,
        &ReadOptions {
            bad_lines: BadLines::Skip,
            ..disksim()
        },
    )
    .unwrap();
    assert_eq!(
        (
            trace.requests.len(),
            trace.report.skipped,
            trace.report.lines
        ),
        (3, 5, 8)
    );
    assert!(trace.first_skipped.unwrap().contains("t.disksim:2: "));
    let lines: Vec<u32> = trace.requests.iter().map(|request| request.line).collect();
    assert_eq!(lines, [1, 3, 7]);
    let text = error(
        "t",
        "x\ny\n",
        &ReadOptions {
            bad_lines: BadLines::Skip,
            ..disksim()
        },
    );
    assert!(
        text.starts_with("t: holds no requests (2 lines, 2 of them skipped as bad)"),
        "{text}"
    );
}

#[test]
fn zero_lengths_are_dropped_and_counted_only_when_asked() {
    let text = format!("{GOOD}0.5 0 8 0 0\n{GOOD}");
    let trace = read_as(
        "t",
        text,
        &ReadOptions {
            zero_length: ZeroLength::Drop,
            ..disksim()
        },
    )
    .unwrap();
    assert_eq!((trace.requests.len(), trace.report.zero_length), (2, 1));
}

#[test]
fn times_that_go_back_are_sorted_or_clamped_only_when_asked() {
    let text = "0.5 0 1 8 0\n0.3 0 2 8 0\n0.7 0 3 8 0\n0.3 0 4 8 0\n";
    let arrivals = |order| {
        let trace = read_as("t", text, &ReadOptions { order, ..disksim() }).unwrap();
        let requests: Vec<(u64, u64)> = trace
            .requests
            .iter()
            .map(|one| (one.arrival / 1_000_000, one.sector))
            .collect();
        (requests, trace.report.clamped)
    };
    assert_eq!(
        arrivals(Order::Sort),
        (vec![(3, 2), (3, 4), (5, 1), (7, 3)], 0)
    );
    assert_eq!(
        arrivals(Order::Clamp),
        (vec![(5, 1), (5, 2), (7, 3), (7, 4)], 2)
    );
}

#[test]
fn a_request_too_late_for_the_sort_window_is_an_error() {
    let mut text = "5 0 8 8 0\n".repeat(140_000);
    text.push_str("4 0 8 8 0\n");
    let wrong = error(
        "t.ssdsim",
        text,
        &ReadOptions {
            order: Order::Sort,
            ..ReadOptions::default()
        },
    );
    assert!(
        wrong.starts_with("t.ssdsim:140001: the time goes back: \"4 0 8 8 0\"; expected"),
        "{wrong}"
    );
}

#[test]
fn empty_files_hold_no_requests() {
    for content in ["", "\n\n", "# nothing\n", "version,time,op,size,lbn\n"] {
        let text = error("t", content, &ReadOptions::default());
        assert!(
            text.contains("holds no requests") || text.contains("no known format"),
            "{content:?} {text}"
        );
    }
    let options = ReadOptions {
        format: format::find("cloudphysics"),
        ..ReadOptions::default()
    };
    assert!(
        error("t", "version,time,op,size,lbn\n", &options)
            .starts_with("t: holds no requests (1 lines")
    );
}

#[test]
fn binary_garbage_and_endless_lines_are_refused() {
    let text = error(
        "t.disksim",
        b"0.5 0 8 8 0\n\x00\x01\xfe",
        &ReadOptions::default(),
    );
    assert!(
        text.starts_with("t.disksim: is not text: byte 0x00 at offset 12; expected lines of text"),
        "{text}"
    );
    let text = error("t", [0xEE; 100_000], &disksim());
    assert!(
        text.starts_with("t: is not text: byte 0xee at offset 0;"),
        "{text}"
    );
    let text = error("t", "7".repeat(1_000_000), &disksim());
    assert!(
        text.starts_with("t:1: the line is longer than 65536 bytes: \"7777"),
        "{text}"
    );
    let text = error(
        "t",
        GOOD.repeat(50_000) + &"7".repeat(1_000_000),
        &disksim(),
    );
    assert!(
        text.starts_with("t:50001: the line is longer than 65536 bytes: \"7777"),
        "{text}"
    );
    let text = error("t", GOOD.repeat(50_000) + "\u{0}\u{1}\n", &disksim());
    assert!(
        text.starts_with("t:50001: time is not a number: \"\\x00\\x01\""),
        "{text}"
    );
}

#[test]
fn missing_files_and_folders_are_named() {
    let wrong = read_all(Path::new("no/such.trace"), &ReadOptions::default()).unwrap_err();
    assert!(matches!(wrong, TraceError::Open { .. }));
    assert!(
        wrong
            .to_string()
            .starts_with("no/such.trace: cannot be opened: "),
        "{wrong}"
    );
    let folder = Folder::new();
    assert!(matches!(
        read_all(folder.path(), &ReadOptions::default()),
        Err(TraceError::Read { .. })
    ));
}

#[test]
fn a_last_line_may_lack_its_end_and_line_ends_may_be_of_windows() {
    let options = ReadOptions::default();
    let plain = read_as("t", "0.5 0 8 8 0\n0.6 1 16 8 1\n", &options)
        .unwrap()
        .requests;
    assert_eq!(plain.len(), 2);
    for same in [
        "0.5 0 8 8 0\n0.6 1 16 8 1",
        "0.5 0 8 8 0\r\n0.6 1 16 8 1\r\n",
        "0.5\t0 8   8 0 \n  0.6 1 16 8 1\t\r\n\n \n\r\n",
    ] {
        assert_eq!(
            read_as("t", same, &options).unwrap().requests,
            plain,
            "{same:?}"
        );
    }
    let commented = read_as(
        "t",
        "# made by hand\n0.5 0 8 8 0\n  # and so on\n",
        &options,
    )
    .unwrap();
    assert_eq!((commented.requests.len(), commented.report.lines), (1, 3));
}

#[test]
fn endless_lines_are_skipped_as_other_bad_lines_are() {
    let skipping = ReadOptions {
        bad_lines: BadLines::Skip,
        ..disksim()
    };
    let good = |time: u64| format!("{time}.5 0 8 8 0\n");
    for bytes in [70_000, 300_000, 1_000_000] {
        let long = format!("{}\n", "7".repeat(bytes));
        let many: String = (1..20_000).map(good).collect();
        for (content, requests, skipped) in [
            (format!("{long}{}", good(1)), 1, 1),
            (format!("{}{long}{}", good(1), good(2)), 2, 1),
            (
                format!("{long}{long}{}{long}{long}{}", good(1), good(2)),
                2,
                4,
            ),
            (format!("{many}{long}{}", good(30_000)), 20_000, 1),
            (format!("{}{}", good(1), long.trim_end()), 1, 1),
        ] {
            let trace = read_as("t.disksim", &content, &skipping).unwrap();
            assert_eq!(
                (trace.requests.len(), trace.report.skipped),
                (requests, skipped),
                "{bytes}"
            );
            let first = trace.first_skipped.unwrap();
            let line = content
                .lines()
                .position(|line| line.len() >= bytes)
                .unwrap()
                + 1;
            assert!(first.contains(&format!("t.disksim:{line}: ")), "{first}");
            let last = trace.requests.last().unwrap();
            let lines = content.lines().collect::<Vec<_>>();
            assert!(lines[last.line as usize - 1].ends_with(" 0 8 8 0"));
        }
    }
}
