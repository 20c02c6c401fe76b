//! Compares the on-demand updates of write-back caches on two public traces with the rates that a paper printed.
//!
//! The traces are not part of the project.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::io::{BufRead, BufReader};
use std::thread;

use destage_base::Lpn;
use destage_base::parameter::{Value, Values};
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, BufferConfig, COMMON, Common, Outlet, Release, SchemeConfig, find};
use destage_sample::sampled;
use destage_tests::outside;

/// Pages in a MiB.
const MIB: u32 = 256;

struct Request {
    reads: bool,
    first: u64,
    pages: u64,
}

/// The requests of a trace in DiskSim's text format: time, device, sector, sectors, 1 for a read.
fn trace(name: &str) -> Vec<Request> {
    let file = std::fs::File::open(outside(&format!("traces/{name}"))).unwrap();
    let text = BufReader::new(zstd::stream::read::Decoder::new(file).unwrap());
    let requests = text.lines().map(|line| {
        let line = line.unwrap();
        let fields: Vec<_> = line.split_whitespace().collect();
        let (sector, sectors): (u64, u64) =
            (fields[2].parse().unwrap(), fields[3].parse().unwrap());
        let first = sector / 8;
        Request {
            reads: fields[4] == "1",
            first,
            pages: (sector + sectors - 1) / 8 - first + 1,
        }
    });
    requests.collect()
}

/// Runs `wb` over eight packages; returns the number of page writes, and the number of records that were destaged
/// to make room.
fn updates(requests: &[Request], pages: u32, set: &[(&'static str, Value)]) -> (u64, u64) {
    let row = find("wb").unwrap();
    let mut values = Values::defaults(COMMON.iter().chain(row.parameters));
    for (name, value) in set {
        values.set(name, value.clone());
    }
    let config = BufferConfig {
        release: Release::Issue,
        ..BufferConfig::from_parameters(pages, 64, &Common::from_values(&values))
    };
    let scheme = (row.build)(&SchemeConfig {
        dies: 8,
        ..SchemeConfig::new(pages, 64, &values)
    });
    let mut buffer = Buffer::new(config, scheme);
    for request in requests {
        buffer.begin_request(request.pages as u32);
        for page in (request.first..request.first + request.pages).map(Lpn) {
            if request.reads {
                buffer.read(page, 0);
                continue;
            }
            Outlet::new(&mut buffer, &NoDevice, |_| {}).write(page, 0);
        }
    }
    let counts = buffer.counts();
    (counts.page_writes, counts.evictions())
}

fn ways(number: u32) -> (&'static str, Value) {
    ("ways", Value::Text(number.to_string()))
}

#[test]
#[ignore = "needs recorded traces"]
fn iozone() {
    let requests = trace("iozone-100k.disksim.zst");
    let cases = [
        (8, 1, 8_254_057),
        (256, 1, 3_967_000),
        (256, 2, 4_093_513),
        (256, 4, 4_139_679),
    ];
    thread::scope(|scope| {
        for (mebibytes, number, expected) in cases {
            let requests = &requests;
            scope.spawn(move || {
                let counted = updates(requests, mebibytes * MIB, &[ways(number)]);
                assert_eq!(
                    counted,
                    (8_997_978, expected),
                    "{mebibytes} MiB, {number} ways"
                );
            });
        }
    });
}

#[test]
#[ignore = "needs recorded traces"]
fn postmark() {
    let requests = trace("postmark-62k.disksim.zst");
    assert_eq!(
        updates(&requests, 256 * MIB, &[ways(2)]),
        (2_181_870, 2_100_693)
    );
}

/// A direct-mapped cache of 8 MiB, in 1, 2, 4 and 8 pieces.
#[test]
#[ignore = "needs recorded traces"]
fn iozone_split() {
    let requests = trace("iozone-100k.disksim.zst");
    let cases = [
        ("local", [8_254_057; 4]),
        ("raw", [8_254_057, 8_464_598, 8_619_509, 8_742_824]),
    ];
    thread::scope(|scope| {
        for (index, expected) in cases {
            let requests = &requests;
            scope.spawn(move || {
                let index = ("apu_index", Value::Text(index.into()));
                // A run of the trace takes seconds. A sample has two runs for each index.
                let pieces = [8, 4, 2, 1].into_iter().zip(expected);
                for (per_piece, expected) in pieces.take(sampled(2, 4)) {
                    let split = ("packages_per_piece", Value::Integer(per_piece));
                    let (_, counted) = updates(requests, 8 * MIB, &[ways(1), split, index.clone()]);
                    assert_eq!(counted, expected, "{index:?}: {per_piece} packages");
                }
            });
        }
    });
}
