//! Tests that the statistics of the shared recorded traces agree with the table that describes these traces.
//!
//! The traces may not be redistributed, so they are not part of the project.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_tests::outside;
use destage_trace::statistics::Statistics;
use destage_trace::{Collector, ReadOptions, Reader, TimeUnit};

/// A row of the table. Means are over writes. `unique` and `total` count written pages of 4 KiB.
struct Row {
    file: &'static str,
    format: &'static str,
    requests: u64,
    write_percent: f64,
    /// The mean in KB, and the unit of its last digit.
    write_mean_bytes: (f64, f64),
    sectors: Option<(u64, u64)>,
    span_s: f64,
    volumes: u64,
    unique: u64,
    total: u64,
}

const KB: f64 = 1024.0;

/// `sectors` has the lowest first sector and the highest end of all requests. The table calls the highest end the
/// largest address.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { file: "iozone-100k.disksim", format: "disksim", requests: 100_000, write_percent: 100.0, write_mean_bytes: (359.9, 0.1), sectors: Some((191_072, 33_702_944)), span_s: 936.0, volumes: 1, unique: 271_320, total: 8_997_978 },
    Row { file: "postmark-62k.disksim", format: "disksim", requests: 62_257, write_percent: 16.8, write_mean_bytes: (833.0, 1.0), sectors: Some((0, 44_711_856)), span_s: 490.0, volumes: 1, unique: 1_532_457, total: 2_181_870 },
    Row { file: "financial1-head10k.ssdsim", format: "ssdsim", requests: 10_000, write_percent: 59.2, write_mean_bytes: (4.92, 0.01), sectors: Some((132, 1_002_413)), span_s: 260.0, volumes: 22, unique: 3_734, total: 12_406 },
    Row { file: "msnfs-150k.disksim", format: "disksim", requests: 149_999, write_percent: 13.0, write_mean_bytes: (9.23, 0.01), sectors: Some((6_496, 355_642_704)), span_s: 143.0, volumes: 1, unique: 43_513, total: 45_018 },
    Row { file: "dtrs-127k.ssdsim", format: "ssdsim", requests: 127_043, write_percent: 11.0, write_mean_bytes: (53.4, 0.1), sectors: Some((2, 321_307_348)), span_s: 300.0, volumes: 1, unique: 184_051, total: 185_789 },
    Row { file: "cloudphysics-2h.csv", format: "cloudphysics", requests: 113_872, write_percent: 58.7, write_mean_bytes: (35.2, 0.1), sectors: Some((15_943, 65_595_583)), span_s: 7200.0, volumes: 1, unique: 208_696, total: 656_169 },
    Row { file: "tpcc-small.mqsim", format: "ssdsim", requests: 6_999, write_percent: 37.4, write_mean_bytes: (8.73, 0.01), sectors: Some((706_687, 454_518_380)), span_s: 0.14, volumes: 16, unique: 7_879, total: 7_995 },
    Row { file: "wsrch-small.mqsim", format: "ssdsim", requests: 24_783, write_percent: 0.0, write_mean_bytes: (8.0, 1.0), sectors: Some((0, 34_966_256)), span_s: 60.0, volumes: 6, unique: 4, total: 8 },
    Row { file: "pc-sys1.diskmon", format: "diskmon", requests: 58_818, write_percent: 49.7, write_mean_bytes: (30.3, 0.1), sectors: Some((72, 6_535_456)), span_s: 1205.0, volumes: 1, unique: 146_638, total: 224_086 },
    Row { file: "pc-mayun.diskmon", format: "diskmon", requests: 24_844, write_percent: 42.9, write_mean_bytes: (21.5, 0.1), sectors: Some((8_167, 127_090_331)), span_s: 6530.0, volumes: 1, unique: 38_568, total: 67_797 },
    Row { file: "pc-mayun4.diskmon", format: "diskmon", requests: 17_428, write_percent: 63.1, write_mean_bytes: (25.7, 0.1), sectors: Some((183, 278_445_587)), span_s: 1549.0, volumes: 1, unique: 54_070, total: 81_782 },
    Row { file: "hplajw-1week.disksim", format: "disksim", requests: 44_519, write_percent: 70.7, write_mean_bytes: (6.26, 0.01), sectors: Some((180, 654_056)), span_s: 603_065.0, volumes: 2, unique: 3_856, total: 54_827 },
    Row { file: "sqlite-wal-update.wiscsee", format: "wiscsee", requests: 5_007, write_percent: 99.9, write_mean_bytes: (13.5, 0.1), sectors: Some((520, 1_058_744)), span_s: 1.4, volumes: 1, unique: 2_170, total: 16_874 },
    Row { file: "tencent-cbs-50k.csv", format: "tencent", requests: 50_000, write_percent: 51.0, write_mean_bytes: (33.4, 0.1), sectors: Some((0, 3_259_860_880)), span_s: 1.0, volumes: 2_038, unique: 209_875, total: 216_835 },
    Row { file: "systor17-sample1.csv", format: "systor", requests: 999, write_percent: 17.0, write_mean_bytes: (15.6, 0.1), sectors: None, span_s: 2.4, volumes: 1, unique: 746, total: 835 },
    Row { file: "systor17-sample2.csv", format: "systor", requests: 999, write_percent: 30.0, write_mean_bytes: (7.5, 0.1), sectors: None, span_s: 1.3, volumes: 1, unique: 691, total: 830 },
    Row { file: "msr-hm_0-sample1000.csv", format: "msr", requests: 1_000, write_percent: 49.2, write_mean_bytes: (7.1, 0.1), sectors: Some((34_424, 26_513_729)), span_s: 127.0, volumes: 1, unique: 475, total: 936 },
];

fn summary(row: &Row, options: &ReadOptions) -> Statistics {
    let path = outside(&format!("traces/{}.zst", row.file));
    let mut reader = Reader::open(&path, options).unwrap();
    assert_eq!(reader.format().name, row.format, "{}", row.file);
    let (mut collector, mut batch) = (Collector::new(4096), Vec::new());
    let mut latest = 0;
    while reader.fill(&mut batch).unwrap() {
        for request in &batch {
            assert!(request.arrival >= latest, "{} {request:?}", row.file);
            latest = request.arrival;
            let last = request.end().saturating_sub(1) / 8;
            collector.add_as(request, request.sector / 8..=last);
        }
    }
    assert!(reader.digest().is_some());
    collector.finish()
}

#[test]
#[ignore = "needs recorded traces"]
fn every_row_of_the_table() {
    let mut wrong = Vec::new();
    for row in ROWS {
        // The times of this trace are microseconds, although its format prescribes nanoseconds.
        let time_unit = (row.file == "dtrs-127k.ssdsim").then_some(TimeUnit::Microseconds);
        let summary = summary(
            row,
            &ReadOptions {
                time_unit,
                ..ReadOptions::default()
            },
        );
        let mut check = |what: &str, ours: f64, table: f64, tolerance: f64| {
            if (ours - table).abs() > tolerance {
                wrong.push(format!(
                    "{}: {what} is {ours}, the table says {table}",
                    row.file
                ));
            }
        };
        // The table counts reads and writes only; one trace also has a discard.
        check(
            "requests",
            (summary.reads + summary.writes) as f64,
            row.requests as f64,
            0.0,
        );
        let place = if row.write_percent.fract() == 0.0 {
            0.5
        } else {
            0.05
        };
        check(
            "write percent",
            summary.write_share.unwrap() * 100.0,
            row.write_percent,
            place,
        );
        let (mean, place) = row.write_mean_bytes;
        check(
            "mean write KB",
            summary.write_mean_bytes.unwrap() / KB,
            mean,
            place * 0.5001,
        );
        check(
            "span",
            summary.span_s,
            row.span_s,
            if row.span_s < 10.0 { 0.05 } else { 5.0 },
        );
        check("volumes", summary.volumes as f64, row.volumes as f64, 0.0);
        check(
            "unique pages",
            summary.unique_written_pages as f64,
            row.unique as f64,
            0.0,
        );
        check(
            "total pages",
            summary.written_pages as f64,
            row.total as f64,
            0.0,
        );
        if let Some((low, high)) = row.sectors {
            check(
                "lowest sector",
                summary.sector_min.unwrap() as f64,
                low as f64,
                0.0,
            );
            check(
                "end of the highest sector",
                summary.sector_end.unwrap() as f64,
                high as f64,
                0.0,
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs recorded traces"]
fn a_shift_of_one_partition_table_aligns_pages() {
    for (file, unique, total) in [
        ("pc-mayun.diskmon", 36_917, 58_370),
        ("pc-mayun4.diskmon", 52_179, 71_551),
    ] {
        let row = ROWS.iter().find(|row| row.file == file).unwrap();
        let summary = summary(
            row,
            &ReadOptions {
                lba_shift: 63,
                ..ReadOptions::default()
            },
        );
        assert_eq!(
            (summary.unique_written_pages, summary.written_pages),
            (unique, total),
            "{file}"
        );
    }
}
