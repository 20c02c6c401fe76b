//! Tests tables in the forms in which people and programs write them.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{MS, Plain, US, error, read_as, read_plain as read, with};
use destage_base::time::TICKS_PER_SECOND as S;
use destage_trace::{
    BadLines, Choices,
    Operation::{Flush, Read, Trim, Write},
    ReadOptions, Reader, TimeUnit,
    writers::csv,
};

fn columns(text: &str) -> ReadOptions {
    ReadOptions {
        format: None,
        ..with(
            "csv",
            Choices {
                columns: Some(text.parse().unwrap()),
                ..Choices::default()
            },
        )
    }
}

fn in_unit(unit: TimeUnit) -> ReadOptions {
    ReadOptions {
        time_unit: Some(unit),
        ..ReadOptions::default()
    }
}

/// The requests of a table with the four usual columns.
fn table(rows: &str) -> Vec<Plain> {
    read(
        format!("time,op,offset,bytes\n{rows}"),
        &ReadOptions::default(),
    )
}

#[test]
fn times_of_the_calendar_count_from_the_first_request() {
    // The first second of 2024, and the last second of 2200, in each unit of time.
    for (unit, zeros) in [
        (TimeUnit::Seconds, ""),
        (TimeUnit::Milliseconds, "000"),
        (TimeUnit::Microseconds, "000000"),
        (TimeUnit::HundredNanoseconds, "0000000"),
        (TimeUnit::Nanoseconds, "000000000"),
    ] {
        for second in ["1704067200", "7289654399"] {
            let next = second.replace("00", "01").replace("99", "98");
            let (first, later) = match second < next.as_str() {
                true => (second, next.as_str()),
                false => (next.as_str(), second),
            };
            let apart: u64 = later.parse::<u64>().unwrap() - first.parse::<u64>().unwrap();
            let content =
                format!("time,op,offset,bytes\n{first}{zeros},w,0,512\n{later}{zeros},r,0,512\n");
            assert_eq!(
                read(&content, &in_unit(unit)),
                [
                    (0, 0, Write, 0, 1, false),
                    (apart * S, 0, Read, 0, 1, false)
                ],
                "{content}"
            );
        }
    }
    let common = common::Folder::new();
    let path = common.file(
        "t.csv",
        "time,op,offset,bytes\n1704067200000000000,w,0,512\n",
    );
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    assert!(reader.fill(&mut Vec::new()).unwrap());
    assert_eq!(reader.clock(), Some(1_704_067_200 * u128::from(S)));
}

#[test]
fn times_that_are_no_calendars_stay_as_they_are() {
    assert_eq!(
        table("5000000000,w,0,512\n6000000000,w,0,512\n")[0].0,
        5 * S
    );
    // A time just below ten years is not a calendar time.
    let content = "time,op,offset,bytes\n315359999,w,0,512\n";
    assert_eq!(
        read(content, &in_unit(TimeUnit::Seconds))[0].0,
        315_359_999 * S
    );
    let late = "time,op,offset,bytes\n1,w,0,512\n7289654399,w,0,512\n";
    let text = error("t", late, &in_unit(TimeUnit::Seconds));
    assert!(
        text.starts_with("t:3: time is too large: \"7289654399\""),
        "{text}"
    );
    let back = "time,op,offset,bytes\n1704067200,w,0,512\n17,w,0,512\n";
    let text = error("t", back, &in_unit(TimeUnit::Seconds));
    assert!(text.starts_with("t:3: the time goes back: \"17"), "{text}");
}

#[test]
fn a_table_of_this_program_keeps_its_times_however_large_they_are() {
    let late = "1700000000000.5 0 8 8 0\n1700000000001.5 0 8 8 1\n";
    let trace = read_as("t.disksim", late, &ReadOptions::default()).unwrap();
    let mut written = format!("{}\n", csv::HEADER).into_bytes();
    for request in &trace.requests {
        csv::write(&mut written, request).unwrap();
    }
    let first = 17_000_000_000_005_000_000;
    assert_eq!(
        read(&written, &ReadOptions::default()),
        [
            (first, 0, Write, 8, 8, false),
            (first + MS, 0, Read, 8, 8, false),
        ]
    );
    let date = format!("{}\n2024-02-29T23:59:59Z,0,write,8,8,0,0\n", csv::HEADER);
    assert_eq!(
        read(&date, &ReadOptions::default()),
        [(0, 0, Write, 8, 8, false)]
    );
}

#[test]
fn dates_are_times_whatever_the_unit() {
    let rows = "2024-02-29T23:59:59.5Z,w,0,512\n\"2024-03-01 01:00:00.000001+01:00\",r,0,512\n";
    let expected = [
        (0, 0, Write, 0, 1, false),
        (S / 2 + US, 0, Read, 0, 1, false),
    ];
    assert_eq!(table(rows), expected);
    let content = format!("time,op,offset,bytes\n{rows}");
    assert_eq!(read(&content, &in_unit(TimeUnit::Seconds)), expected);
    let blank = "timestamp;rw;lba;len\n2024-02-29 23:59:59;w;8;8\n";
    assert_eq!(
        read(blank, &ReadOptions::default()),
        [(0, 0, Write, 8, 8, false)]
    );
    let wrong = "time,op,offset,bytes\n2024-02-30T00:00:00Z,w,0,512\n";
    let text = error("t.csv", wrong, &with("csv", Choices::default()));
    assert!(text.starts_with("t.csv:2: time is not a number"), "{text}");
    assert!(
        text.ends_with("or a date such as 2024-01-31T12:00:00.5Z"),
        "{text}"
    );
}

#[test]
fn numbers_may_have_any_form_and_fields_may_stand_in_quotes() {
    let expected = [
        (10_000, 0, Write, 8, 16, false),
        (10_005, 0, Trim, 0, 1, false),
    ];
    for rows in [
        "1e3,write,4096,8192\n1000.5,trim,0,512\n",
        "\"1000\",\"write\",\"4096\",\"8192\"\n\"1000.5\",\"trim\",\"0\",\"512\"\r\n",
        "1.0e3,WRITE,4.096e3,8192.0\n1000.5,Discard,0,512\n",
        "1000,Wr,4KiB,8K\n1000.5 , UNMAP , 0 , 0.5KiB \n",
        "+1000,w,4096,8192\n1000.5,d,0,5.12e2\n",
        "0x3e8,w,0x1000,0X2000\n1000.5,d,0,0x200\n",
    ] {
        assert_eq!(table(rows), expected, "{rows}");
    }
    assert_eq!(table(".5,w,0,512\n")[0].0, 5);
    for (row, wrong) in [
        ("1000,w,4096.5,512", "offset is not a number: \"4096.5\""),
        ("1000,w,0,\"512", "bytes is not a number: \"\\\"512\""),
        ("1000,w,0,\"512\"x", "bytes is not a number"),
        ("1000,w,0,", "too few fields"),
        ("1000,wipe,0,512", "op is unknown: \"wipe\""),
        ("-1,w,0,512", "time is negative: \"-1\""),
        ("1e99,w,0,512", "time is not a number: \"1e99\""),
        ("1,w,18446744073709551616,512", "offset is too large"),
    ] {
        let content = format!("time,op,offset,bytes\n1,w,0,512\n{row}\n");
        let text = error("t", &content, &ReadOptions::default());
        assert!(text.starts_with(&format!("t:3: {wrong}")), "{row}\n{text}");
    }
}

#[test]
fn columns_may_have_their_usual_names_and_others_play_no_part() {
    let expected = [(70, 2, Write, 8, 16, false)];
    for content in [
        "timestamp,rw,lba,len,device\n7,W,8,16,2\n",
        "Timestamp,Device,Type,Offset,Size,Latency\n7,2,Write,4096,8192,0.01\n",
        "\"ts\";\"disk\";\"operation\";\"byte_offset\";\"length\"\n7;2;write;4096;8192\n",
        "# made by hand\n# time dev op sector sectors\n7 2 w 8 16\n",
        "time,volume,op,offset_kib,kib\n7,2,w,4,8\n",
        "time,volume,op,offset_kib,kib\n7,2,w,4,8KiB\n",
        "time,volume,op,offset,bytes,kind,type\n7,2,w,4096,8192,user,x\n",
        "time,\"who, why\",volume,op,offset,bytes\n7,\"a,b\",2,w,4096,8192\n",
        "note,time,volume,op,offset,bytes\n\"Z\u{fc}rich, \"\"main\"\"\",7,2,w,4096,8192\n",
        "\u{feff}time,volume,op,offset,bytes,who\n7,2,w,4096,8192,J\u{f6}rg\n",
    ] {
        assert_eq!(
            read(content, &ReadOptions::default()),
            expected,
            "{content}"
        );
    }
    let in_blocks = ReadOptions {
        choices: Choices {
            block_bytes: 4096,
            ..Choices::default()
        },
        ..ReadOptions::default()
    };
    let content = "time,volume,op,block,blocks\n7,2,w,1,2\n";
    assert_eq!(read(content, &in_blocks), expected);
    let text = error("t", "time,op,block,kib\n7,w,1,x\n", &in_blocks);
    assert!(
        text.starts_with("t:2: kib is not a number: \"x\"; expected a number of KiB"),
        "{text}"
    );
    // Names that the user types in `trace.columns` must all be known.
    let typed = "time,op,offset,bytes,latency".parse::<destage_trace::options::Columns>();
    assert!(
        typed
            .unwrap_err()
            .starts_with("columns out of time, volume")
    );
}

#[test]
fn names_above_columns_may_have_units_and_the_words_of_others() {
    let expected = [(70, 2, Write, 8, 16, false)];
    for content in [
        "Time (s),Disk,Operation,Offset (bytes),Length (bytes)\n0.000000007,2,Write,4096,8192\n",
        "Time [us];Volume;R/W;Address (KiB);Size (KiB)\n0.007;2;w;4;8\n",
        "timestamp_ms,device_id,io_type,start_lba,request_size_kb\n0.000007,2,W,8,8\n",
        "Start Time (ns)\tVDisk\tRead/Write\tStarting LBA\tNumber of Sectors\n7\t2\tW\t8\t16\n",
        "time_in_us,disk,op_type,offset_in_bytes,num_bytes\n0.007,2,write,4096,8192\n",
        "ts_ns,dev,rwbs,sector,nr_sectors\n7,2,W,8,16\n",
        "req-size(sectors),byte offset,Direction,vol,Issue.Time(\u{b5}s)\n16,4096,Write,2,.007\n",
    ] {
        assert_eq!(
            read(content, &ReadOptions::default()),
            expected,
            "{content}"
        );
    }
    // A unit that the user sets has priority over the unit in the name.
    let given = ReadOptions {
        time_unit: Some(TimeUnit::Nanoseconds),
        ..ReadOptions::default()
    };
    let content = "Time (s),disk,op,offset,bytes\n7,2,w,4096,8192\n";
    assert_eq!(read(content, &given), expected);
    let trace = read_as("t", content, &ReadOptions::default()).unwrap();
    assert_eq!(trace.requests[0].arrival, 70_000_000_000);
}

#[test]
fn columns_that_the_user_names_may_have_units() {
    let content = "t,o,a,n\n7,w,4096,8192\n";
    for (columns, arrival) in [
        ("time_ms,op,offset,bytes", 70_000_000),
        ("time (us),op,offset,bytes", 70_000),
        ("time,op,offset,bytes", 70),
    ] {
        let mut options = ReadOptions::default();
        options.choices.columns = Some(columns.parse().unwrap());
        assert_eq!(read(content, &options)[0].0, arrival, "{columns}");
        options.time_unit = Some(TimeUnit::Seconds);
        assert_eq!(read(content, &options)[0].0, 70_000_000_000, "{columns}");
    }
}

#[test]
fn only_a_flush_may_lack_its_address_and_its_length() {
    for content in [
        "when,kind,offset,bytes\n1,sync,,\n2,w,0,512\n",
        "time,offset,bytes,op\n1,,,fsync\n2,0,512,w\n",
        "time,op,sector,sectors\n1,flush,-,-\n2,w,0,1\n",
    ] {
        let mut options = ReadOptions::default();
        let expected = [(10, 0, Flush, 0, 0, false), (20, 0, Write, 0, 1, false)];
        assert_eq!(read(content, &options), expected, "{content}");
        options.choices.missing_operation = Some(Write);
        assert_eq!(read(content, &options), expected, "{content}");
    }
    for (content, wrong) in [
        (
            "time,op,offset,bytes\n1,w,,512\n",
            "t:2: offset is not a number: \"\"",
        ),
        (
            "time,offset,bytes,op\n1,,,w\n",
            "t:2: the request has no address or no length: \"1,,,w\"; expected an address and a length; only a flush may have none",
        ),
    ] {
        let text = error("t", content, &ReadOptions::default());
        assert!(text.starts_with(wrong), "{content}\n{text}");
    }
}

#[test]
fn a_first_line_without_a_column_that_is_needed_says_which() {
    for (content, wrong) in [
        (
            "Time (s),Operation,Length (bytes)\n0.5,w,8192\n",
            "t:1: the first line has no column offset or sector (also called lba, start_sector, byte_offset, offset_kib or address_bytes); it has \"time (s)\", \"operation\", \"length (bytes)\": \"Time (s)",
        ),
        (
            "op,offset,size\nw,0,8192\n",
            "t:1: the first line has no column time (also called timestamp, ts, arrival_time or time_ms); it has",
        ),
        (
            "hour,op,place,size\n1,w,0,8192\n",
            "t:1: the first line has no column time (also called timestamp, ts, arrival_time or time_ms) and no column offset or sector (also called lba, start_sector, byte_offset, offset_kib or address_bytes); it has \"op\", \"size\"; \"hour\", \"place\" are not known: \"hour,op,place,size\"; expected one of each among the names, or trace.columns=?,op,?,bytes, where each ? is time or offset or sector or - (a column that is ignored)",
        ),
        (
            "time,op,lba,address (bytes),size\n1,w,0,0,8192\n",
            "t:1: the first line has 2 columns for offset or sector; it has",
        ),
        (
            // The unit kg is not known, so this column does not count as a size.
            "time,op,offset,size (kg)\n1,w,0,8192\n",
            "t:1: the first line has no column bytes or sectors (also called size, length, io_size, size_kib, nr_sectors or nblocks); it has \"time\", \"op\", \"offset\"; \"size (kg)\" is not known:",
        ),
    ] {
        let text = error("t", content, &ReadOptions::default());
        assert!(text.starts_with(wrong), "{content}\n{text}");
        assert!(text.contains("trace.columns"), "{text}");
    }
}

#[test]
fn a_table_without_operations_is_told_its_unknown_names_and_no_other_format() {
    let content = "Timestamp [us];Work;LBA;Blocks;Queue\n10;WRITE;100;8;1\n20;READ;200;16;1\n";
    let text = error("t", content, &ReadOptions::default());
    assert_eq!(
        text,
        "t:1: the first line has no column op (also called rw, type, operation or io_type); it has \"timestamp [us]\", \"lba\", \"blocks\"; \"work\", \"queue\" are not known: \"Timestamp [us];Work;LBA;Blocks;Queue\"; expected one of each among the names, or trace.columns=time_us;?;sector;blocks;?, where each ? is op or - (a column that is ignored); trace.missing_op=read or write replaces the column op"
    );
    let told = content.replace("Work", "Req Type");
    assert_eq!(
        read(&told, &ReadOptions::default())[0],
        (10 * US, 0, Write, 100, 8, false)
    );
}

#[test]
fn a_table_that_names_all_columns_is_refused_at_the_field_that_is_wrong() {
    for (content, wrong) in [
        (
            "Time;Operation;Offset;Size\n10,5;Write;0;4096\n11,5;Write;4096;4096\n12,5;Write;0;512\n",
            "t:2: time is not a number: \"10,5\"; expected a number, with a point before its decimals",
        ),
        (
            "# time dev op sector sectors\n7 2 wipe 8 16\n8 2 wipe 8 16\n",
            "t:2: op is unknown: \"wipe\"",
        ),
    ] {
        let text = error("t", content, &ReadOptions::default());
        assert!(text.starts_with(wrong), "{content}\n{text}");
    }
}

#[test]
fn columns_that_are_not_read_can_be_told_and_a_host_is_a_volume() {
    let content = "When (ms),Host,Kind,Byte Offset,Length (KiB),Latency us\n0.5,sda,W,0,4,80\n1,sdb,W,0,4,80\n";
    let common = common::Folder::new();
    let path = common.file("t.csv", content);
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    let mut batch = Vec::new();
    assert!(reader.fill(&mut batch).unwrap());
    assert_eq!(reader.unknown_columns(), ["latency us"]);
    let volumes: Vec<u32> = batch.iter().map(|request| request.volume).collect();
    assert_eq!(volumes, [0, 1]);
    // If the table has volumes, its hosts are ignored.
    let content = "time,hostname,disk,op,offset,bytes\n7,web,2,w,4096,8192\n";
    assert_eq!(
        read(content, &ReadOptions::default()),
        [(70, 2, Write, 8, 16, false)]
    );
}

#[test]
fn a_header_beside_named_columns_is_passed_over_and_the_format_is_clear() {
    let expected = [(70, 0, Write, 8, 16, false)];
    for header in [
        "",
        "timestamp,rw,lba,len\n",
        "a,b,c,d\n",
        "#x\nwhen,\"what\",where,long\n",
    ] {
        for row in ["7,w,8,16\n", "\"7\",w,8,16\n"] {
            let content = format!("{header}{row}");
            assert_eq!(
                read(&content, &columns("time,op,sector,sectors")),
                expected,
                "{content}"
            );
        }
    }
}

#[test]
fn volumes_that_are_names_are_numbered_as_they_appear() {
    let volumes = |names: &[&str]| -> Vec<u32> {
        let rows = names.iter().map(|name| format!("1,{name},w,0,512\n"));
        let content = format!("time,volume,op,offset,bytes\n{}", rows.collect::<String>());
        let requests = read(content, &ReadOptions::default());
        requests.iter().map(|request| request.1).collect()
    };
    assert_eq!(
        volumes(&["sda0", "sdb", "sda0", "7", "\"sdb\""]),
        [0, 1, 0, 2, 1]
    );
    assert_eq!(volumes(&["8:16", "8:0", "8:16"]), [0, 1, 0]);
    assert_eq!(volumes(&["7", "3", "\"7\""]), [7, 3, 7]);
    for (names, wrong) in [
        (["7", "sda"], "volume is not a number: \"sda\""),
        (["7", "4294967296"], "volume is too large: \"4294967296\""),
        (["sda", "-1"], "volume is unknown: \"-1\""),
    ] {
        let rows = names.map(|name| format!("1,{name},w,0,512\n")).concat();
        let content = format!("time,volume,op,offset,bytes\n{rows}");
        let text = error("t", content, &ReadOptions::default());
        assert!(text.starts_with(&format!("t:3: {wrong}")), "{text}");
    }
    let text = error(
        "t",
        "time,volume,op,offset,bytes\n1,-5,w,0,512\n",
        &with("csv", Choices::default()),
    );
    assert!(
        text.starts_with("t:2: volume is negative: \"-5\""),
        "{text}"
    );
}

#[test]
fn a_format_of_its_own_is_no_table() {
    let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.5,0.1,R,3,4096,512\n";
    for name in ["t.csv", "t"] {
        let trace = read_as(name, systor, &ReadOptions::default()).unwrap();
        assert_eq!(trace.format.name, "systor", "{name}");
    }
    let alibaba = "device_id,opcode,offset,length,timestamp\n419,W,512,1024,1577808144360767\n";
    let trace = read_as("t.csv", alibaba, &ReadOptions::default()).unwrap();
    assert_eq!(trace.format.name, "alibaba");
}

#[test]
fn an_offset_near_the_end_of_all_bytes_is_named_as_what_it_is() {
    let content = "time,op,offset,bytes\n1,w,0,512\n2,w,18446744073709551000,4096\n";
    let text = error("t", content, &ReadOptions::default());
    assert_eq!(
        text,
        "t:3: the request ends beyond 2^64 bytes: \"2,w,18446744073709551000,4096\"; expected an end below 2^55 sectors"
    );
    let content = "128166385295514663,hm,0,Write,18446744073709551615,2048,2833\n";
    let text = error("t.msr", content, &with("msr", Choices::default()));
    assert!(
        text.starts_with("t.msr:1: the request ends beyond 2^64 bytes"),
        "{text}"
    );
    let long = "time,op,offset,bytes\n1,w,18446744073709551615,99999999999999\n";
    let text = error("t", long, &ReadOptions::default());
    assert!(
        text.starts_with("t:2: bytes is too large: \"99999999999999\""),
        "{text}"
    );
}

#[test]
fn a_bad_row_is_skipped_where_that_is_wanted() {
    let options = ReadOptions {
        bad_lines: BadLines::Skip,
        ..ReadOptions::default()
    };
    let content = "time,op,offset,bytes\n1e-3,w,0,512\nx,w,0,512\n2,w,\"0,512\n1e6,w,0,512\n";
    let trace = read_as("t", content, &options).unwrap();
    let times: Vec<u64> = trace
        .requests
        .iter()
        .map(|request| request.arrival)
        .collect();
    assert_eq!((times, trace.report.skipped), (vec![0, MS], 2));
}
