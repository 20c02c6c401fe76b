//! Tests the text formats of the block layer, of fio and of tables: every field of files made by hand is
//! decoded correctly, and errors name the line that is damaged.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{MS, US, error, options, read_as, read_plain as read, with};
use destage_trace::Operation::{Flush, Read, Trim, Write};
use destage_trace::{Choices, Event, ReadOptions, TimeUnit};

const BLKPARSE: &str = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001000   697  Q FWFS 223490 + 8 [kjournald]
  8,0    3        0     0.000001500     0  m   N cfq697S / alloced
  8,0    3        3     0.000002000   697  D  FN [kjournald]
  8,0    3        4     0.000003000   697  C  FN 0 [0]
  8,0    3        5     0.000004000   697  D WFS 223490 + 8 [kjournald]
259,2    1        6     0.000005500  4510  D   R 12 (28 00 00) [smartd]
259,2    1        7     0.000006000  4510  D  RA 1000 + 64 [cat]
259,2    1        8     0.000007000  4510  D  DS 4096 + 2048 [fstrim]
  8,0    3        9     0.000008000   697  C WFS 223490 + 8 [0]
259,2    1       10     0.000009000  4510  UT  N [cat] 1

CPU0 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB

Total (8,0):
Throughput (R/W): 0KiB/s / 0KiB/s
";

#[test]
fn blkparse_requests_are_the_events_asked_for_with_their_flush_bits() {
    let disk = 259 << 20 | 2;
    let issued = [
        (2 * US, 8 << 20, Flush, 0, 0, false),
        (4 * US, 8 << 20, Write, 223_490, 8, true),
        (6 * US, disk, Read, 1000, 64, false),
        (7 * US, disk, Trim, 4096, 2048, false),
    ];
    assert_eq!(read(BLKPARSE, &options("blkparse")), issued);
    assert_eq!(
        read(BLKPARSE, &ReadOptions::default()),
        issued,
        "it is known by its look"
    );
    let event = |event| Choices {
        event,
        ..Choices::default()
    };
    assert_eq!(
        read(BLKPARSE, &with("blkparse", event(Event::Queue))),
        [
            (US, 8 << 20, Flush, 0, 0, false),
            (US, 8 << 20, Write, 223_490, 8, true)
        ]
    );
    assert_eq!(
        read(BLKPARSE, &with("blkparse", event(Event::Complete))),
        // The completed flush has a sector and, in brackets, an error code. The reader ignores both.
        [
            (3 * US, 8 << 20, Flush, 0, 0, false),
            (8 * US, 8 << 20, Write, 223_490, 8, true)
        ]
    );
}

#[test]
fn blkparse_refuses_what_it_does_not_know() {
    let good = "8,0 3 1 0.0 697 D W 8 + 8 [a]\n";
    for (line, expected) in [
        (
            "8 3 1 0.0 697 D W 8 + 8 [a]",
            "t:2: device is not a number: \"8\"; expected major,minor",
        ),
        (
            "8,0 3 1 0.0 697 Y W 8 + 8 [a]",
            "t:2: action is unknown: \"Y\"; expected one of Q M",
        ),
        (
            "8,0 3 1 0.0 697 D Y 8 + 8 [a]",
            "t:2: operation is unknown: \"Y\"; expected letters",
        ),
        (
            "8,0 3 1 0.0 697 D W 8 - 8 [a]",
            "t:2: sector count is not a number:",
        ),
        (
            "8,0 3 1 0.0 697 D W 8 + x [a]",
            "t:2: sector count is not a number: \"x\"",
        ),
        (
            "8,0 3 1 0.0 697 D W 8 + 8x [a]",
            "t:2: sector count is not a number: \"8x\"",
        ),
        ("8,0 3 1 0.0 697", "t:2: too few fields"),
        (
            "4096,0 3 1 0.0 697 D W 8 + 8 [a]",
            "t:2: device is too large",
        ),
        ("Cylinder", "t:2: device is not a number: \"Cylinder\""),
    ] {
        let text = error("t", format!("{good}{line}\n{good}"), &options("blkparse"));
        assert!(text.starts_with(expected), "{line}\n{text}\n{expected}");
    }
}

#[test]
fn fio_version_3_has_times_and_version_2_waits() {
    let version3 = "fio version 3 iolog\n0 /dev/a add\n3 /dev/a open\n878 /dev/a write 0 16384\n\
        900 /dev/b read 512 1\n901 /dev/a sync 0 0\n902 /dev/a trim 1024 512\n910 /dev/a close\n";
    let expected = [
        (878 * US, 0, Write, 0, 32, false),
        (900 * US, 1, Read, 1, 1, false),
        (901 * US, 0, Flush, 0, 0, false),
        (902 * US, 0, Trim, 2, 1, false),
    ];
    assert_eq!(read(version3, &ReadOptions::default()), expected);
    let version2 = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 0 16384\n\
        /dev/a wait 22 0\n/dev/b read 512 1\n/dev/a wait 1\n/dev/a datasync 0 0\n/dev/a close\n";
    let expected = [
        (0, 0, Write, 0, 32, false),
        (22 * US, 1, Read, 1, 1, false),
        (23 * US, 0, Flush, 0, 0, false),
    ];
    assert_eq!(read(version2, &ReadOptions::default()), expected);
    let milliseconds = ReadOptions {
        time_unit: Some(TimeUnit::Milliseconds),
        ..options("fio")
    };
    assert_eq!(read(version3, &milliseconds)[0].0, 878 * MS);
    for (content, expected) in [
        (
            "0 /dev/a write 0 8\n",
            "t:1: the version is unknown: \"0\"; expected fio version 2",
        ),
        (
            "fio version 4 iolog\n",
            "t:1: the version is unknown: \"fio\"; expected fio version 2",
        ),
        (
            "fio version 3 iolog\n0 /dev/a write 0\n",
            "t:2: too few fields",
        ),
        (
            "fio version 3 iolog\n0 /dev/a erase 0 8\n",
            "t:2: action is unknown: \"erase\"",
        ),
        (
            "fio version 2 iolog\n/dev/a wait 18446744073709551615 0\n",
            "t:2: wait is too large",
        ),
    ] {
        let text = error("t", content, &options("fio"));
        assert!(text.starts_with(expected), "{content}\n{text}");
    }
}

#[test]
fn tables_are_read_by_the_names_of_their_columns() {
    let columns = |text: &str| {
        with(
            "csv",
            Choices {
                columns: Some(text.parse().unwrap()),
                ..Choices::default()
            },
        )
    };
    let own =
        "time,volume,op,sector,sectors,fua\n0.1,3,write,8,16,1\n12.0,0,flush,0,0,0\n13,0,T,4,4,0\n";
    let expected = [
        (1, 3, Write, 8, 16, true),
        (120, 0, Flush, 0, 0, false),
        (130, 0, Trim, 4, 4, false),
    ];
    assert_eq!(read(own, &ReadOptions::default()), expected);
    let tagged = "time,op,sector,sectors,stream\n1,w,8,8,65535\n2,r,8,8,0\n3,f,0,0,9\n";
    let trace = read_as("t", tagged, &ReadOptions::default()).unwrap();
    let streams: Vec<u16> = trace
        .requests
        .iter()
        .map(|request| request.stream)
        .collect();
    assert_eq!(streams, [65535, 0, 0]);
    // The user's choice of columns has priority over the first line. The separator of the columns is the character
    // between these names.
    let table =
        "when\twhat\twhere\thow much\tuser\n1\tRead\t1023\t2\tann\n2 \t w\t 0\t512 \tbob b\n";
    let spec = columns("time\top\toffset\tbytes\t-");
    assert_eq!(
        read(table, &spec),
        [(10, 0, Read, 1, 2, false), (20, 0, Write, 0, 1, false)]
    );
    let blanks = columns("write time sector sectors");
    assert_eq!(
        read("1   5 8  8\n0 6 8 8\n", &blanks),
        [(50, 0, Write, 8, 8, false), (60, 0, Read, 8, 8, false)]
    );
    let silent = with(
        "csv",
        Choices {
            columns: Some("time;sector;sectors".parse().unwrap()),
            missing_operation: Some(Read),
            ..Choices::default()
        },
    );
    assert_eq!(read("7;1;1\n", &silent), [(70, 0, Read, 1, 1, false)]);
    for (content, options, expected) in [
        (
            "7;1;1\n",
            columns("time;sector;sectors"),
            "t:1: no column says what the request does: \"7;1;1\"; expected a column op (also called rw, operation or type), or trace.missing_op",
        ),
        (
            "7,w,1,1\n",
            options("csv"),
            "t:1: the columns are not known: \"7,w,1,1\"; expected a first line",
        ),
        (
            "when,what\n7,w,1,1\n",
            options("csv"),
            "t:1: the columns are not known: \"when\"; expected names of columns",
        ),
        (
            "7,x,1,1\n",
            columns("time,op,sector,sectors"),
            "t:1: op is unknown: \"x\"; expected read, write",
        ),
        (
            "7,w,1\n",
            columns("time,op,sector,sectors"),
            "t:1: too few fields",
        ),
        (
            "7,w,1,1,1\n",
            columns("time,op,sector,sectors"),
            "t:1: too many fields",
        ),
        (
            "7,2,1,1\n",
            columns("time,write,sector,sectors"),
            "t:1: flag is unknown: \"2\"",
        ),
    ] {
        let text = error("t", content, &options);
        assert!(text.starts_with(expected), "{content}\n{text}");
    }
}

#[test]
fn alibaba_counts_microseconds_from_the_earliest_request() {
    let content = "419,W,512,1024,1577808144360767\n0,R,0,512,1577808144360700\n";
    assert_eq!(
        read(content, &ReadOptions::default()),
        [
            (0, 0, Read, 0, 1, false),
            (67 * US, 419, Write, 1, 2, false)
        ]
    );
}

#[test]
fn diskmon_may_be_exported_with_other_separators_and_a_header() {
    let expected = [(4 * 1000 * MS, 1, Write, 63, 8, false)];
    for content in [
        "#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength\n0\t4.0\t0.0001\t1\tWrite\t63\t8\r\n",
        "0,4.0,0.0001,1,Write,63,8\n",
        "0   4.0 0.0001  1 Write 63 8\n",
    ] {
        assert_eq!(read(content, &options("diskmon")), expected, "{content}");
        assert_eq!(
            read(content, &ReadOptions::default()),
            expected,
            "{content}"
        );
    }
}
