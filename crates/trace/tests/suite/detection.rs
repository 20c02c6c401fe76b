//! Tests that the reader does not guess a format, and reports an error that says so.

use crate::common;

use common::error;
use destage_trace::{Choices, Operation, ReadOptions};

/// The options of a user who has followed the advice of an earlier error and has set the operation.
fn told_what_requests_do() -> ReadOptions {
    ReadOptions {
        choices: Choices {
            missing_operation: Some(Operation::Write),
            ..Choices::default()
        },
        ..ReadOptions::default()
    }
}

#[test]
fn text_with_odd_bytes_is_no_binary_format() {
    for (content, byte) in [
        (&b"\xff\xfe0\x00,\x002\x000\x00"[..], "0xff at offset 0"),
        (
            b"\xef\xbbtime,op,offset,bytes\n0,write,0,4096\n",
            "0xef at offset 0",
        ),
        (
            b"time,op,offset,bytes\n0,write,0,40\x0096\n",
            "0x00 at offset 33",
        ),
        (
            b"time,op,offset,bytes\n0,write,0,40\xc3a96\n",
            "0xc3 at offset 33",
        ),
        (
            b"0.5 0 303567 7 0 \xe9t\xe9\n0.5 0 303567 7 0\n",
            "0xe9 at offset 17",
        ),
    ] {
        for options in [ReadOptions::default(), told_what_requests_do()] {
            let text = error("t.csv", content, &options);
            assert!(
                text.starts_with(&format!(
                    "t.csv: is not text: byte {byte}; expected lines of text"
                )),
                "{text}"
            );
            assert!(text.contains("in ASCII or UTF-8"), "{text}");
        }
    }
}

#[test]
fn a_record_of_oraclegeneral_is_still_known() {
    for next in [-1i64, i64::MAX, 1, (1 << 48) - 1] {
        let mut record = Vec::new();
        record.extend(1_000u32.to_le_bytes());
        record.extend(123u64.to_le_bytes());
        record.extend(4096u32.to_le_bytes());
        record.extend(next.to_le_bytes());
        let trace = common::read_as("t", &record, &told_what_requests_do());
        assert_eq!(
            trace.map(|trace| trace.requests.len()).ok(),
            Some(1),
            "{next}"
        );
    }
}

#[test]
fn a_header_above_lines_of_msr_does_not_make_them_a_table() {
    let lines = "128166372003061629,hm,1,Read,383496192,32768,413\n128166372003061639,prn,0,Write,2822144,4096,238\n";
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let with_header = format!("{header}{lines}");
    let read = |content: &str| common::read_plain(content, &ReadOptions::default());
    // The times differ by 1 us, and the second host has volumes of its own.
    assert_eq!(read(&with_header), read(lines));
    assert_eq!(
        read(&with_header),
        [
            (0, 1, Operation::Read, 749_016, 64, false),
            (common::US, 1 << 16, Operation::Write, 5512, 8, false),
        ]
    );
}

#[test]
fn a_table_without_names_is_told_how_to_get_some() {
    let text = error("t.csv", "0,write,0,4096\n", &ReadOptions::default());
    assert!(
        text.ends_with("or format csv with trace.columns for a table of your own"),
        "{text}"
    );
}

#[test]
fn a_log_without_the_event_that_is_wanted_says_which_parameter_chooses_it() {
    let queued = "  8,0    3        1     0.000107515   697  Q   W 223490 + 8 [kjournald]\n";
    let text = error("t", queued, &ReadOptions::default());
    assert_eq!(
        text,
        "t: holds no requests (1 lines, 0 of them skipped as bad); expected at least one of the kind that trace.event names"
    );
}

#[test]
fn an_event_of_blkparse_without_its_sector_is_not_passed_over() {
    let good = "  8,0    3        1     0.000107515   697  D   W 223490 + 8 [kjournald]\n";
    for (bad, offending) in [
        ("oops + 8 [kjournald]", "\"oops\""),
        ("-5 + 8 [kjournald]", "\"-5\""),
        ("+ 8 [kjournald]", "\"+\""),
    ] {
        let line = good.replace("223490 + 8 [kjournald]", bad);
        let text = error("t", format!("{good}{line}"), &ReadOptions::default());
        assert!(text.starts_with("t:2: first sector is"), "{text}");
        assert!(text.contains(offending), "{text}");
    }
}

#[test]
fn what_follows_the_summary_of_blkparse_is_not_lost() {
    let first = "  8,0    3        1     0.000107515   697  D   W 223490 + 8 [kjournald]\n";
    let summary = "CPU0 (sda):\n Reads Queued:           0,        0KiB\n\nThroughput (R/W): 0KiB/s / 0KiB/s\n";
    let second = first.replace("0.000107515", "0.000207515");
    let text = format!("{first}{summary}{second}{summary}");
    let trace = common::read_as("t", &text, &ReadOptions::default());
    assert_eq!(trace.map(|trace| trace.requests.len()).ok(), Some(2));
    let back = error(
        "t",
        format!("{second}{summary}{first}"),
        &ReadOptions::default(),
    );
    assert!(back.starts_with("t:6: the time goes back"), "{back}");
}
