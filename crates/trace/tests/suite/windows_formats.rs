//! Tests the dumps of Windows event logs: all fields of the known rows are decoded, whatever the order of the
//! events, and errors name the line that does not fit.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{MS, US, error, options, read_as, read_plain as read, with};
use destage_trace::Operation::{Flush, Read, Write};
use destage_trace::{Choices, Event, Order, ReadOptions, TimeUnit};

/// A dump whose header and events are like those in SNIA's traces of production servers.
const XPERF: &str = "\
BeginHeader    
          DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
          DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
       DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
      DiskWriteInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
          DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
      DiskFlushInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
EndHeader
OS Version: 6.0.6001, Trace Size: 8KB, Events Lost: 0, Trace Name: a.etl
FirstReliableEventTimeStamp, 104743

           DiskRead,        100,                p1 ( 980),       6852, 0xfffffade6b0a2010, 0x6c80556e00, 0x00010000,         183,        3, 0x000043,         183,       0,  Unknown, 0xfffffade72165e40, \"Disk5:\\s71\\s72, s123\"
       DiskReadInit,       1050,                p1 ( 980),       6852, 0xfffffade6b0a2010
          DiskWrite,       1100,       Unknown (  -1),         -1, 0xfffffade6b0a3010, 0x0000001100, 0x00000200,          20,        0, 0x000043,          20,       0,  Unknown, 0xfffffade72165e40, \"\"
           DiskRead,       1200,                p1 ( 980),       6852, 0xfffffade6b0a2010, 0x0000002000, 0x00001000,         150,       12, 0x000043,         150,       0, 0xfffffade72165e40, \"a\"
          DiskFlush,       1300,                p1 ( 980),       6852, 0xfffffade6b0a2010,         250,        3, 0x000000,         250,       0
          DiskFlush,       1400,                p1 ( 980),       6852, 0xfffffade6b0a2010, , ,          10,        3, 0x000000,         250,       0
";

fn event(event: Event) -> Choices {
    Choices {
        event,
        ..Choices::default()
    }
}

#[test]
fn xperf_requests_are_issued_the_elapsed_time_before_they_are_done() {
    let issued = [
        // This request was issued 83 us before the log began.
        (0, 3, Read, 0x6c_8055_6e00 / 512, 128, false),
        (1050 * US, 12, Read, 16, 8, false),
        (1050 * US, 3, Flush, 0, 0, false),
        // The request has the bytes 0x1100 to 0x12ff.
        (1080 * US, 0, Write, 8, 2, false),
        (1390 * US, 3, Flush, 0, 0, false),
    ];
    assert_eq!(read(XPERF, &ReadOptions::default()), issued);
    assert_eq!(read(XPERF, &with("xperf", event(Event::Issue))), issued);
    assert_eq!(read(XPERF, &with("xperf", event(Event::Queue))), issued);
    let done: Vec<u64> = read(XPERF, &with("xperf", event(Event::Complete)))
        .iter()
        .map(|request| request.0)
        .collect();
    assert_eq!(done, [100, 1100, 1200, 1300, 1400].map(|time| time * US));
    // The events are in the order in which requests completed.
    let in_order = ReadOptions {
        order: Order::Error,
        ..options("xperf")
    };
    let text = error("t", XPERF, &in_order);
    assert!(text.starts_with("t:15: the time goes back"), "{text}");
    let milliseconds = ReadOptions {
        time_unit: Some(TimeUnit::Milliseconds),
        ..options("xperf")
    };
    assert_eq!(read(XPERF, &milliseconds)[4].0, 1390 * MS);
}

#[test]
fn xperf_of_later_versions_has_the_processor_and_a_process_may_be_called_anything() {
    let header = "BeginHeader\nDiskRead, TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, IrpFlags, DiskSvcTime\nEndHeader\n";
    let rows = "\
        DiskRead,       8612,        xperf.exe (3984),      11844,   1, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000,         283,        0, 0x060043,         283,       3, Original, 0xffffe288272d0d20, \"C:\\$Mft\"\r\n\
        DiskWrite, 9000, a,b (c, (7), 1, 0xffffe288b23f1b20, 0x0, 0x1000, 1, 0, 0x0, 1\r\n\
        DiskReadInit, 9000, a (7), 1, 0xffffe288b23f1b20\r\n";
    let expected = [
        (8329 * US, 0, Read, 0x1_8f0b_8000 / 512, 8, false),
        (8999 * US, 0, Write, 0, 8, false),
    ];
    assert_eq!(
        read(format!("{header}{rows}"), &ReadOptions::default()),
        expected
    );
    assert_eq!(
        read(rows, &ReadOptions::default()),
        expected,
        "lines cut out of a dump"
    );
}

#[test]
fn xperf_refuses_what_it_does_not_know() {
    let good = "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0x200, 1, 0, 0x0, 1\n";
    for (line, expected) in [
        (
            "CSwitch, 1, and more",
            "t:2: event is unknown: \"CSwitch\"; expected BeginHeader",
        ),
        (
            "DiskWrite, x, p (1), 1, 0x1, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: time is not a number: \"x\"; expected",
        ),
        (
            "DiskWrite, 9, p, 1, 0x1, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: too few fields",
        ),
        (
            "DiskWrite, 9, p (1), , 0x1, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: thread is unknown",
        ),
        (
            "DiskWrite, 9, p (1), 1, y, 0x1, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: processor is not a number: \"y\"",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1z, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: IRP is not a number: \"0x1z\"",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 4096, 0x200, 1, 0, 0x0, 1",
            "t:2: byte offset is not a number: \"4096\"; expected a number of bytes such as 0x",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x10000000000000000, 0x200, 1, 0, 0x0, 1",
            "t:2: byte offset is too large",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0xffffffffffff, 1, 0, 0x0, 1",
            "t:2: size is too large",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0x200, -1, 0, 0x0, 1",
            "t:2: elapsed time is negative",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0x200, 1, 4294967296, 0x0, 1",
            "t:2: disk is too large",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0x200, 1, 0, 7, 1",
            "t:2: flags is not a number: \"7\"",
        ),
        (
            "DiskWrite, 9, p (1), 1, 0x1, 0x0, 0x200, 1, 0, 0x0",
            "t:2: too few fields",
        ),
        (
            "DiskFlush, 9, p (1), 1, 0x1, 0x0, 0x200, 1, 0, 0x0, 1",
            "t:2: elapsed time is not a number: \"0x0\"",
        ),
        (
            "DiskRead, 9, p (1), 1, 0x1, 0x0, 0x0, 1, 0, 0x0, 1",
            "t:2: the request has length 0",
        ),
    ] {
        let text = error("t", format!("{good}{line}\n{good}"), &options("xperf"));
        assert!(text.starts_with(expected), "{line}\n{text}\n{expected}");
    }
    for (names, wrong) in [
        (
            "TimeStamp, Process Name ( PID), ThreadID, CPU, Node, IrpPtr, ByteOffset",
            "Node",
        ),
        (
            "TimeStamp, Process Name ( PID), ThreadID, IrpPtr, IOSize, ByteOffset",
            "IOSize",
        ),
    ] {
        let content = format!("BeginHeader\nDiskRead, {names}\nEndHeader\n{good}");
        let text = error("t", content, &options("xperf"));
        let expected = format!("t:2: column name is unknown: \"{wrong}\"; expected TimeStamp, ");
        assert!(text.starts_with(&expected), "{text}");
    }
}

/// The columns of Windows Vista and earlier releases.
const OLD: &str = "Event Name, Type, TID, Clock-Time, Kernel(ms), User(ms), User Data";
/// The columns of later releases.
const NEW: &str = "Event Name, Type, Event ID, Version, Channel, Level, Opcode, Task, Keyword, PID, TID, Processor Number, Instance ID, Parent Instance ID, Activity ID, Related Activity ID, Clock-Time, Kernel(ms), User(ms), User Data";

/// A row at `time` us after a moment in 2007, with the columns of `names`.
fn row(names: &str, kind: &str, time: u64, data: &str) -> String {
    let time = 128_166_372_003_061_620 + 10 * time;
    if names == OLD {
        format!("    DiskIo, {kind:>10}, 0x0A3C, {time}, 15, 30, {data}\n")
    } else {
        format!(
            "    DiskIo, {kind:>10}, 0, 3, 0, 0, 11, 0, 0x0, 0x0004, 0x0064, 1, , , {{00000000-0000-0000-0000-000000000000}}, , {time}, 0, 0, {data}\n"
        )
    }
}

#[test]
fn tracerpt_requests_are_issued_at_their_init_event() {
    for names in [OLD, NEW] {
        let content = [
            format!("{names}\nEventTrace, Header, whatever, \"a, b\"\n"),
            row(names, "WriteInit", 0, "0x85A1B008"),
            row(names, "ReadInit", 10, "0x85A1B108, 100"),
            row(names, "FlushInit", 20, "0x85A1B208"),
            row(names, "DrvMjFnCall", 21, "0x1"),
            row(
                names,
                "Read",
                30,
                "2, 0x60043, 4096, 0, 8192, 0x84E3F028, 0x85A1B108, 5120, 100",
            ),
            row(
                names,
                "Write",
                40,
                "0, 0x43, 0x200, 7, 0x2000, 0x84E3F028, 0x85A1B008, 5120",
            ),
            row(names, "FlushBuffers", 50, "1, 0x0, 777, 0x85A1B208, 100"),
            // This write uses the IRP of an earlier request again, and has no Init event.
            row(
                names,
                "Write",
                60,
                "0, 0x43, 512, 7, 1000, 0x84E3F028, 0x85A1B008, 5120",
            ),
        ]
        .concat();
        let issued = [
            (0, 0, Write, 16, 1, false),
            (10 * US, 2, Read, 16, 8, false),
            (20 * US, 1, Flush, 0, 0, false),
            (60 * US, 0, Write, 1, 2, false),
        ];
        assert_eq!(read(&content, &ReadOptions::default()), issued, "{names}");
        assert_eq!(
            read(&content, &with("tracerpt", event(Event::Queue))),
            issued
        );
        let done = [
            (0, 2, Read, 16, 8, false),
            (10 * US, 0, Write, 16, 1, false),
            (20 * US, 1, Flush, 0, 0, false),
            (30 * US, 0, Write, 1, 2, false),
        ];
        assert_eq!(
            read(&content, &with("tracerpt", event(Event::Complete))),
            done
        );
    }
}

#[test]
fn tracerpt_without_init_events_knows_only_the_end() {
    // A log of Windows Server 2003 has no IRP; tracedmp adds two columns.
    let content = [
        format!("{OLD}\n"),
        row(
            OLD,
            "Write",
            5,
            "0, 0x43, 8192, 3, 0, 0x84E3F028, 5120, 0, 0",
        ),
        row(OLD, "Read", 7, "0, 0x43, 512, 3, 512, 0x84E3F028, 5120"),
        row(OLD, "Read", 9, "0, 0x43, 512, 3, 1024"),
        row(
            OLD,
            "Read",
            11,
            "0, 0x43, 512, 3, 1536, 0x84E3F028, \"a name\"",
        ),
    ]
    .concat();
    let expected = [
        (0, 0, Write, 0, 16, false),
        (2 * US, 0, Read, 1, 1, false),
        (4 * US, 0, Read, 2, 1, false),
        (6 * US, 0, Read, 3, 1, false),
    ];
    assert_eq!(read(&content, &ReadOptions::default()), expected);
    let dumped = read_as("dumpfile.csv", &content, &ReadOptions::default()).unwrap();
    assert_eq!(dumped.format.name, "tracerpt", "tracerpt's own file name");
    assert_eq!(
        read(content.replace('\n', "\r\n"), &ReadOptions::default()),
        expected
    );
}

#[test]
fn tracerpt_refuses_what_it_does_not_know() {
    for (names, expected) in [
        (
            "DiskIo, Write, 0x1, 5",
            "t:1: first line is unknown: \"DiskIo\"; expected names of columns, first Event Name",
        ),
        ("Event Name, Type, TID, Clock-Time", "t:1: too few fields"),
        (
            "Event Name, Type, TID, User Data",
            "t:1: first line is unknown: \"User\"",
        ),
        (
            "Event Name, Clock-Time, TID, User Data",
            "t:1: first line is unknown: \"User\"",
        ),
    ] {
        let text = error("t", format!("{names}\n"), &options("tracerpt"));
        assert!(text.starts_with(expected), "{text}\n{expected}");
    }
    let good = row(OLD, "Write", 0, "0, 0x43, 8192, 3, 0, 0x84E3F028, 5120");
    for (kind, data, expected) in [
        (
            "Write",
            "z, 0x43, 8192, 3, 0, 0x1",
            "disk is not a number: \"z\"",
        ),
        (
            "Write",
            "4294967296, 0x43, 8192, 3, 0, 0x1",
            "disk is too large",
        ),
        (
            "Write",
            "0, y, 8192, 3, 0, 0x1",
            "flags is not a number: \"y\"",
        ),
        ("Write", "0, 0x43, -1, 3, 0, 0x1", "size is negative"),
        (
            "Write",
            "0, 0x43, 8192, x, 0, 0x1",
            "reserved field is not a number",
        ),
        (
            "Write",
            "0, 0x43, 8192, 3, -512, 0x1",
            "byte offset is negative",
        ),
        (
            "Write",
            "0, 0x43, 8192, 3, 5x, 0x1",
            "byte offset is not a number: \"5x\"",
        ),
        ("Write", "0, 0x43, 8192, 3", "too few fields"),
        ("Read", "0, 0x43, 0, 3, 0, 0x1", "the request has length 0"),
        ("FlushBuffers", "0, 0x43", "too few fields"),
        ("ReadInit", "", "too few fields"),
        ("ReadInit", "irp", "IRP is not a number: \"irp\""),
    ] {
        let content = format!("{OLD}\n{good}{}{good}", row(OLD, kind, 1, data));
        let text = error("t", content, &options("tracerpt"));
        assert!(
            text.starts_with(&format!("t:3: {expected}")),
            "{kind} {data}\n{text}\n{expected}"
        );
    }
    for (wrong, expected) in [
        ("noon", "t:2: time is not a number: \"noon\""),
        ("-5", "t:2: time is negative"),
    ] {
        let content = format!("{OLD}\nDiskIo, Read, 0x1, {wrong}, 0, 0, 0, 0x43, 512, 3, 0\n");
        let text = error("t", content, &options("tracerpt"));
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn a_log_that_never_ends_a_request_fills_no_memory_and_loses_no_other() {
    let mut content = format!("{OLD}\n");
    for irp in 0..70_000 {
        content.push_str(&row(OLD, "WriteInit", irp, &format!("{irp:#x}")));
    }
    for irp in [0, 65_535, 65_536, 69_999] {
        content.push_str(&row(
            OLD,
            "Write",
            80_000,
            &format!("0, 0x43, 512, 0, {}, 0x1, {irp:#x}", 512 * irp),
        ));
    }
    let trace = read_as("t", content, &ReadOptions::default()).unwrap();
    let arrivals: Vec<(u64, u64)> = trace
        .requests
        .iter()
        .map(|request| (request.sector, request.arrival / US))
        .collect();
    assert_eq!(
        arrivals,
        [(0, 0), (65_535, 65_535), (65_536, 80_000), (69_999, 80_000)]
    );
}
