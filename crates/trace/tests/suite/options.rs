//! Tests how each option of reading changes the requests.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Folder, error, read, read_as};
use destage_base::time::{TICKS_PER_MS, TICKS_PER_NS, TICKS_PER_SECOND, TICKS_PER_US};
use destage_trace::{
    Array, BadLines, InjectionRules, Operation, Order, ReadOptions, Reader, Request, Slice,
    TimeUnit, TraceError, Volumes, format, read_all, writers,
};
use std::path::Path;

const VOLUMES: &str = "0.1 3 10 8 0\n0.2 1 0 9 0\n0.3 3 92 8 0\n0.4 7 5 1 1\n";

fn sectors(text: &str, options: &ReadOptions) -> Vec<u64> {
    read_as("t.disksim", text, options)
        .unwrap()
        .requests
        .iter()
        .map(|request| request.sector)
        .collect()
}

fn request(
    arrival: u64,
    sector: u64,
    sectors: u32,
    volume: u32,
    line: u32,
    operation: Operation,
) -> Request {
    Request {
        arrival,
        sector,
        sectors,
        volume,
        line,
        operation,
        ..Request::BLANK
    }
}

#[test]
fn each_format_means_what_its_description_says() {
    use Operation::{Flush, Read, Trim, Write};
    let one = |name, text| read(name, text).unwrap();
    assert_eq!(
        one("disksim", "5265.313 2 6357144 8 0\n5265.3130001 0 1 1 17\n"),
        [
            request(52_653_130_000, 6_357_144, 8, 2, 1, Write),
            request(52_653_130_001, 1, 1, 0, 2, Read),
        ]
    );
    assert_eq!(
        one("ssdsim", "26214000 1 303574 7 1\n"),
        [request(262_140_000, 303_574, 7, 1, 1, Read)]
    );
    assert_eq!(
        one("spc", "5,20,8192,W,0.551706\n0,7,513,r,1.5,and,more\n"),
        [
            request(5_517_060_000, 20, 16, 5, 1, Write),
            request(15 * TICKS_PER_SECOND / 10, 7, 2, 0, 2, Read),
        ]
    );
    assert_eq!(
        one(
            "msr",
            "128166385295514663,hm,2,Write,1024,2048,9\n128166385295514664,usr,2,Read,511,2,9\n128166385295514665,hm,2,Read,0,1,9\n"
        ),
        [
            request(0, 2, 4, 2, 1, Write),
            request(1000, 0, 2, 65_538, 2, Read),
            request(2000, 0, 1, 2, 3, Read),
        ]
    );
    assert_eq!(
        one(
            "cloudphysics",
            "version,time,op,size,lbn\n1,2,2a,512,9\n1,2,88,4096,8\n1,3,35,0,0\n1,3,42,512,1\n"
        ),
        [
            request(2 * TICKS_PER_SECOND, 9, 1, 0, 2, Write),
            request(2 * TICKS_PER_SECOND, 8, 8, 0, 3, Read),
            request(3 * TICKS_PER_SECOND, 0, 0, 0, 4, Flush),
            request(3 * TICKS_PER_SECOND, 1, 1, 0, 5, Trim),
        ]
    );
    assert_eq!(
        one("diskmon", "0\t4.656875\t1.5e-05\t1\tRead\t63\t32\r\n"),
        [request(4_656_875 * TICKS_PER_US, 63, 32, 1, 1, Read)]
    );
    assert_eq!(
        one(
            "wiscsee",
            "9 D discard 512 512 0.000000001 0 True\n0 C discard 512 512 0.5 1e-3 True\n9 D write 100 1000 0.5 0 False\n"
        ),
        [
            request(TICKS_PER_NS, 1, 1, 0, 1, Trim),
            request(500 * TICKS_PER_MS, 0, 3, 0, 3, Write),
        ]
    );
    assert_eq!(
        one("tencent", "1538323200,8,16,1,1058\n1538323199,0,8,0,7\n"),
        [
            request(0, 0, 8, 7, 2, Read),
            request(TICKS_PER_SECOND, 8, 16, 1058, 1, Write),
        ]
    );
    assert_eq!(
        one(
            "systor",
            "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133076000,0.0008,R,3,4096,512\n1456095145.126285000,,W,0,0,513\n"
        ),
        [
            request(0, 0, 2, 0, 3, Write),
            request(6_791 * TICKS_PER_US, 8, 1, 3, 2, Read),
        ]
    );
}

#[test]
fn volumes_share_separate_or_follow_one_another() {
    assert_eq!(sectors(VOLUMES, &ReadOptions::default()), [10, 0, 92, 5]);
    let separate = ReadOptions {
        volumes: Volumes::Separate,
        volume_stride: 100,
        ..ReadOptions::default()
    };
    assert_eq!(sectors(VOLUMES, &separate), [310, 100, 392, 705]);
    // Volume 1 ends at sector 9 and volume 3 at sector 100, so they occupy 16 and 104 sectors.
    let concatenate = ReadOptions {
        volumes: Volumes::Concatenate,
        ..ReadOptions::default()
    };
    assert_eq!(sectors(VOLUMES, &concatenate), [26, 0, 108, 125]);
    let sliced = ReadOptions {
        slice: Slice {
            skip: 2,
            limit: Some(1),
            ..Slice::default()
        },
        ..concatenate
    };
    assert_eq!(sectors(VOLUMES, &sliced), [108]);
}

#[test]
fn disks_of_an_array_share_volumes_that_follow_one_another() {
    let folder = Folder::new();
    let path = folder.file("t.disksim", VOLUMES);
    let written = |members, member| -> u64 {
        let options = ReadOptions {
            volumes: Volumes::Concatenate,
            array: Array {
                members,
                member,
                stripe_sectors: 8,
            },
            ..ReadOptions::default()
        };
        let trace = read_all(&path, &options).unwrap();
        trace
            .requests
            .iter()
            .map(|request| u64::from(request.sectors))
            .sum()
    };
    assert_eq!(written(2, 0) + written(2, 1), written(1, 0));
}

#[test]
fn a_request_may_not_leave_its_volumes_part() {
    let options = ReadOptions {
        volumes: Volumes::Separate,
        volume_stride: 99,
        ..ReadOptions::default()
    };
    let text = error("t.disksim", VOLUMES, &options);
    assert!(
        text.starts_with("t.disksim:3: the request crosses its volume's stride: \"0.3 3 92 8 0\""),
        "{text}"
    );
    let far = "0.1 4294967295 8 8 0\n";
    let options = ReadOptions {
        volumes: Volumes::Separate,
        ..ReadOptions::default()
    };
    assert!(error("t", far, &options).starts_with("t:1: the request ends beyond 2^64 bytes"));
    let two = "0.1 0 36028797018963900 8 0\n0.2 1 36028797018963900 8 0\n";
    let options = ReadOptions {
        volumes: Volumes::Concatenate,
        ..ReadOptions::default()
    };
    let folder = Folder::new();
    let wrong = read_all(&folder.file("t", two), &options).unwrap_err();
    assert!(
        matches!(
            wrong,
            TraceError::Option {
                name: "trace.volumes",
                ..
            }
        ),
        "{wrong}"
    );
}

#[test]
fn the_last_sector_that_bytes_can_address_is_the_last() {
    let last = u64::MAX / 512;
    let fits = format!("0.1 0 {} 8 0\n", last - 8);
    assert_eq!(sectors(&fits, &ReadOptions::default()), [last - 8]);
    let over = error(
        "t",
        format!("0.1 0 {} 8 0\n", last - 7),
        &ReadOptions::default(),
    );
    assert!(
        over.starts_with(
            "t:1: the request ends beyond 2^64 bytes: \"0.1 0 36028797018963960 8 0\""
        ),
        "{over}"
    );
    let moved = ReadOptions {
        lba_shift: -1,
        ..ReadOptions::default()
    };
    assert!(error("t", fits, &moved).starts_with("t:1: the request ends beyond 2^64 bytes"));
}

#[test]
fn standard_input_cannot_be_read_twice() {
    let options = ReadOptions {
        volumes: Volumes::Concatenate,
        ..ReadOptions::default()
    };
    assert!(matches!(
        Reader::open(Path::new("-"), &options),
        Err(TraceError::SecondPass { .. })
    ));
}

#[test]
fn addresses_are_shifted_before_they_are_placed() {
    let options = ReadOptions {
        lba_shift: 5,
        ..ReadOptions::default()
    };
    let text = "0.1 1 5 8 0\n0.2 1 13 8 0\n";
    assert_eq!(sectors(text, &options), [0, 8]);
    assert_eq!(
        sectors(
            text,
            &ReadOptions {
                lba_shift: -3,
                ..options.clone()
            }
        ),
        [8, 16]
    );
    let separate = ReadOptions {
        volumes: Volumes::Separate,
        volume_stride: 16,
        ..options.clone()
    };
    assert_eq!(sectors(text, &separate), [16, 24]);
    let wrong = error("t", "0.1 0 5 8 0\n0.2 0 4 8 0\n", &options);
    assert!(
        wrong.starts_with(
            "t:2: the shifted request starts below sector 0: \"0.2 0 4 8 0\"; expected"
        ),
        "{wrong}"
    );
    for lba_shift in [i64::MIN, i64::MAX] {
        assert!(
            read_as(
                "t",
                text,
                &ReadOptions {
                    lba_shift,
                    ..ReadOptions::default()
                }
            )
            .is_err()
        );
    }
}

#[test]
fn the_time_unit_can_be_overruled() {
    let arrival = |time_unit| {
        let options = ReadOptions {
            time_unit,
            ..ReadOptions::default()
        };
        read_as("t.ssdsim", "3 0 8 8 0\n", &options)
            .unwrap()
            .requests[0]
            .arrival
    };
    for (unit, ticks) in [
        (None, TICKS_PER_NS),
        (Some(TimeUnit::Nanoseconds), TICKS_PER_NS),
        (Some(TimeUnit::HundredNanoseconds), 100 * TICKS_PER_NS),
        (Some(TimeUnit::Microseconds), TICKS_PER_US),
        (Some(TimeUnit::Milliseconds), TICKS_PER_MS),
        (Some(TimeUnit::Seconds), TICKS_PER_SECOND),
    ] {
        assert_eq!(arrival(unit), 3 * ticks);
    }
}

#[test]
fn a_slice_is_cut_before_reads_are_dropped() {
    let text: String = (0..10_000)
        .map(|index| format!("{index}.5 0 {index} 1 {}\n", index % 2))
        .collect();
    let options = ReadOptions {
        slice: Slice {
            skip: 4_999,
            limit: Some(4),
            ..Slice::default()
        },
        ..ReadOptions::default()
    };
    assert_eq!(sectors(&text, &options), [4_999, 5_000, 5_001, 5_002]);
    assert_eq!(
        sectors(
            &text,
            &ReadOptions {
                slice: Slice {
                    writes_only: true,
                    ..options.slice
                },
                ..options
            }
        ),
        [5_000, 5_002]
    );
    let none = ReadOptions {
        slice: Slice {
            limit: Some(0),
            ..Slice::default()
        },
        ..ReadOptions::default()
    };
    assert!(sectors(&text, &none).is_empty());
    let beyond = ReadOptions {
        slice: Slice {
            skip: u64::MAX,
            ..Slice::default()
        },
        ..ReadOptions::default()
    };
    assert!(sectors(&text, &beyond).is_empty());
}

#[test]
fn what_a_limit_cuts_off_is_not_looked_at() {
    let text = "0.1 0 8 8 0\n0.2 0 8 8 0\nx\n";
    let options = ReadOptions {
        slice: Slice {
            limit: Some(1),
            ..Slice::default()
        },
        bad_lines: BadLines::Skip,
        ..ReadOptions::default()
    };
    let trace = read_as("t", text, &options).unwrap();
    assert_eq!(
        (
            trace.requests.len(),
            trace.report.lines,
            trace.report.skipped
        ),
        (1, 1, 0)
    );
}

#[test]
fn sorted_requests_above_a_bad_line_are_handed_out_first() {
    let folder = Folder::new();
    let path = folder.file("t.tencent", "9,8,8,1,0\n7,8,8,1,0\n8,8,8,1,0\nx\n");
    let mut reader = Reader::open(&path, &ReadOptions::default()).unwrap();
    assert_eq!(reader.format(), format::find("tencent").unwrap());
    let mut batch = Vec::new();
    assert!(reader.fill(&mut batch).unwrap());
    assert_eq!(
        batch.iter().map(|request| request.line).collect::<Vec<_>>(),
        [2, 3, 1]
    );
    assert!(matches!(
        reader.fill(&mut batch),
        Err(TraceError::Line { line: 4, .. })
    ));
}

#[test]
fn a_long_trace_is_sorted_stably_and_loses_nothing() {
    let mut random = destage_base::Random::new(9);
    let text: String = (0..300_000u64)
        .map(|index| format!("{} 0 {index} 1 0\n", index / 100 + random.below(300)))
        .collect();
    let options = ReadOptions {
        order: Order::Sort,
        ..ReadOptions::default()
    };
    let trace = read_as("t.ssdsim", &text, &options).unwrap();
    let mut expected = trace.requests.clone();
    expected.sort_by_key(|request| (request.arrival, request.line));
    assert!(trace.requests == expected);
    let mut lines: Vec<u32> = trace.requests.iter().map(|request| request.line).collect();
    lines.sort_unstable();
    assert!(lines.into_iter().eq(1..=300_000));
    assert!(error("t.ssdsim", &text, &ReadOptions::default()).contains("the time goes back"));
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    let mut random = destage_base::Random::new(2);
    let mut arrival = 0;
    let requests: Vec<Request> = (1..=5000)
        .map(|line| {
            arrival += random.below(1 << 40);
            let operation = if random.below(2) == 0 {
                Operation::Read
            } else {
                Operation::Write
            };
            request(
                arrival,
                random.below(1 << 54),
                1 + random.below(1 << 31) as u32,
                random.below(1 << 32) as u32,
                line,
                operation,
            )
        })
        .collect();
    let mut text = Vec::new();
    for request in &requests {
        writers::disksim::write(&mut text, request).unwrap();
    }
    assert!(
        read_as("t", text, &ReadOptions::default())
            .unwrap()
            .requests
            == requests
    );
}

#[test]
fn a_disk_of_an_array_sees_its_stripes_and_every_added_flush() {
    use destage_trace::Array;
    let options = ReadOptions {
        array: Array {
            members: 2,
            member: 1,
            stripe_sectors: 8,
        },
        injection: InjectionRules {
            flush_every_writes: 2,
            ..InjectionRules::default()
        },
        ..ReadOptions::default()
    };
    // The first write and the read are on disk 0. The middle stripe of the second write and the end of the
    // third write are on disk 1.
    let text = "0 0 0 8 0\n1 0 4 16 0\n2 0 20 6 0\n3 0 16 8 1\n";
    let found: Vec<_> = read_as("t.disksim", text, &options)
        .unwrap()
        .requests
        .iter()
        .map(|request| {
            (
                request.operation,
                request.sector,
                request.sectors,
                request.line,
            )
        })
        .collect();
    let expected = [
        (Operation::Write, 0, 8, 2),
        (Operation::Flush, 0, 0, 2),
        (Operation::Write, 8, 2, 3),
    ];
    assert_eq!(found, expected);
}
