//! Tests the rules that insert what was lost when a trace was recorded: flushes, force unit access, trims and
//! streams.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{MS, options, plain, read_as};
use destage_trace::Operation::{self, Flush, Read, Trim, Write};
use destage_trace::{InjectionRules, ReadOptions, Streams};

#[test]
fn flushes_are_added_on_request() {
    let content = "0.0 0 0 8 0\n1.0 0 8 8 0\n2.0 0 0 8 1\n3.0 0 0 8 0\n12.0 0 0 8 1\n21.0 0 0 8 1\n30.0 0 0 8 1\n31.0 0 0 8 0\n32.0 0 0 8 0\n";
    let kinds = |options: &ReadOptions| {
        let trace = read_as("t", content, options).unwrap();
        let shown: Vec<(u64, Operation)> = trace
            .requests
            .iter()
            .map(plain)
            .map(|request| (request.0 / MS, request.2))
            .filter(|request| request.1 != Read)
            .collect();
        shown
    };
    let by_count = ReadOptions {
        injection: InjectionRules {
            flush_every_writes: 2,
            ..InjectionRules::default()
        },
        ..options("disksim")
    };
    assert_eq!(
        kinds(&by_count),
        [
            (0, Write),
            (1, Write),
            (1, Flush),
            (3, Write),
            (31, Write),
            (31, Flush),
            (32, Write)
        ]
    );
    let by_time = ReadOptions {
        injection: InjectionRules {
            flush_every: 10 * MS,
            ..InjectionRules::default()
        },
        ..options("disksim")
    };
    // There is a flush at 10 ms for the first writes, but none at 20 or 30 ms, because nothing was written
    // since the last flush.
    assert_eq!(
        kinds(&by_time),
        [
            (0, Write),
            (1, Write),
            (3, Write),
            (10, Flush),
            (31, Write),
            (32, Write)
        ]
    );
}

#[test]
fn every_so_many_writes_one_is_forced() {
    let content = "0 0 0 8 0\n1 0 8 8 1\n2 0 16 8 0\n3 0 24 8 0\n4 0 32 8 0\n";
    let options = ReadOptions {
        injection: InjectionRules {
            fua_every_writes: 2,
            ..InjectionRules::default()
        },
        ..options("disksim")
    };
    let trace = read_as("t", content, &options).unwrap();
    let forced: Vec<u64> = trace
        .requests
        .iter()
        .filter(|request| request.fua)
        .map(|request| request.sector)
        .collect();
    assert_eq!(forced, [16, 32]);
}

#[test]
fn a_temporary_file_is_trimmed_when_the_next_one_is_made() {
    let content =
        "0 2 0 8 0\n1 2 8 8 0\n2 2 16 8 1\n3 2 24 8 0\n4 2 32 9 0\n5 2 40 8 0\n6 2 48 8 0\n";
    let options = ReadOptions {
        injection: InjectionRules {
            trim_every_writes: 2,
            flush_every_writes: 4,
            ..InjectionRules::default()
        },
        ..options("disksim")
    };
    let trace = read_as("t", content, &options).unwrap();
    let added: Vec<_> = trace
        .requests
        .iter()
        .map(plain)
        .filter(|request| !matches!(request.2, Read | Write))
        .collect();
    let at = |ms: u64, operation, sector, sectors| (ms * MS, 2, operation, sector, sectors, false);
    assert_eq!(
        added,
        [at(4, Trim, 8, 8), at(4, Flush, 0, 0), at(6, Trim, 32, 9)]
    );
}

#[test]
fn volumes_become_streams() {
    let content = "0 0 0 8 0\n1 65534 8 8 1\n2 65535 16 8 0\n";
    let options = ReadOptions {
        injection: InjectionRules {
            streams: Streams::Volume,
            flush_every_writes: 1,
            ..InjectionRules::default()
        },
        ..options("disksim")
    };
    let trace = read_as("t", content, &options).unwrap();
    let streams: Vec<(Operation, u16)> = trace
        .requests
        .iter()
        .map(|request| (request.operation, request.stream))
        .collect();
    assert_eq!(
        streams,
        [
            (Write, 1),
            (Flush, 0),
            (Read, 65535),
            (Write, 1),
            (Flush, 0)
        ]
    );
}
