//! Tests of traces in which each line is valid but the lines together show an error. `trace info` and `run` must
//! print a warning about the trace.

use crate::common;

use common::Place;

/// A CSV trace of `rows` write requests. Request `i` has the time `time(i)` and the first sector `sector(i)`.
fn table(rows: u64, time: impl Fn(u64) -> String, sector: impl Fn(u64) -> u64) -> String {
    let row = |index| format!("{},w,{},4096\n", time(index), sector(index) * 512);
    let rows: String = (0..rows).map(row).collect();
    format!("time,op,offset,bytes\n{rows}")
}

#[test]
fn times_in_the_wrong_unit_are_told_by_info_and_run() {
    let place = Place::new();
    // Times from 0.001 to 7200 seconds, which are read as ns.
    let seconds = |index: u64| format!("{}.001", index * 36);
    place.write("s.csv", table(201, seconds, |index| 8 * index));
    place.write(
        "few.csv",
        "time,op,offset,bytes\n0.001,w,0,4096\n3.25,r,0,4096\n7200.25,w,0,4096\n",
    );
    let us = |index: u64| (index * 100).to_string();
    place.write(
        "us.csv",
        table(5000, |index| us(index / 50), |index| 8 * index),
    );
    for (file, unit) in [
        ("s.csv", "s 0.0279 requests/s"),
        ("few.csv", "s 0.000417 requests/s"),
        ("us.csv", "trace.time_unit=us would make it"),
    ] {
        for command in [&["trace", "info"][..], &["run"]] {
            let outcome = place.run(&[command, &[file]].concat());
            assert_eq!(outcome.status, 0, "{}", outcome.errors);
            assert!(
                outcome.errors.contains(&format!("warning: {file}: "))
                    && outcome.errors.contains(unit),
                "{command:?} {}",
                outcome.errors
            );
        }
    }
    let right = place.run(&["trace", "info", "s.csv", "--set", "trace.time_unit=s"]);
    assert_eq!(right.errors, "");
}

#[test]
fn times_of_a_clock_in_the_wrong_unit_are_told() {
    let place = Place::new();
    for (first, unit) in [
        (1_704_067_200_000_000u64, "us"),
        (128_166_372_003_061_629, "100ns"),
    ] {
        let time = |index: u64| (first + 10_000 * index).to_string();
        place.write("t.csv", table(20, time, |index| 8 * index));
        let errors = place.run(&["trace", "info", "t.csv"]).errors;
        let told = format!(" in {unit}, but was read as ns; trace.time_unit={unit} corrects that");
        assert!(errors.contains(&told), "{errors}");
        let set = format!("trace.time_unit={unit}");
        assert_eq!(
            place.run(&["trace", "info", "t.csv", "--set", &set]).errors,
            ""
        );
    }
}

#[test]
fn times_that_most_requests_share_are_told() {
    let place = Place::new();
    let coarse = |index: u64| format!("{}000000000", index / 20);
    place.write("t.csv", table(200, coarse, |index| 8 * index));
    let run = ["run", "--set", "flash.blocks_per_plane=2048"];
    for command in [&["trace", "info"][..], &run] {
        let errors = place.run(&[command, &["t.csv"]].concat()).errors;
        assert!(
            errors
                .contains("t.csv: 95 % of its requests arrive at the same time as the one before"),
            "{errors}"
        );
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
}

#[test]
fn a_shift_that_hides_alignment_is_told_with_its_remedy() {
    let place = Place::new();
    let ms = |index: u64| format!("{}000000", index);
    for (name, start, remedy) in [
        ("partition.csv", 63, Some(("0", 63, "100"))),
        ("low.csv", 3, Some(("0", 3, "100"))),
        ("aligned.csv", 0, None),
    ] {
        place.write(name, table(100, ms, |index| start + 8 * (index % 7)));
        let outcome = place.run(&["trace", "info", name, "--json"]);
        let statistics = &common::json(&outcome.output)["statistics"];
        assert_eq!(statistics["common_offset_sectors"], start % 8, "{name}");
        let Some((now, shift, then)) = remedy else {
            assert_eq!(statistics["aligned_4kib_share"], 1.0);
            assert_eq!(outcome.errors, "", "{name}");
            continue;
        };
        let told = format!(
            "{name}: {now} % of reads and writes begin on a multiple of 4 KiB; with trace.lba_shift={shift}, {then} % would"
        );
        assert!(outcome.errors.contains(&told), "{}", outcome.errors);
        let set = format!("trace.lba_shift={shift}");
        let mended = place.run(&["trace", "info", name, "--set", &set]);
        assert_eq!(mended.errors, "");
    }
    // If a shift would move requests below sector 0, the warning suggests a shift in the other direction.
    place.write(
        "zero.csv",
        table(100, ms, |index| if index == 0 { 0 } else { 7 + 8 * index }),
    );
    let errors = place.run(&["trace", "info", "zero.csv"]).errors;
    assert!(
        errors.contains("trace.lba_shift=-1, 99 % would"),
        "{errors}"
    );
    let mended = place.run(&["trace", "info", "zero.csv", "--set", "trace.lba_shift=-1"]);
    assert_eq!(mended.errors, "");
}

#[test]
fn volumes_are_listed_by_the_number_of_their_requests() {
    let place = Place::new();
    let rows: String = (0..70u64)
        .map(|index| {
            format!(
                "{}000000,{},w,0,4096\n",
                index,
                if index < 40 { 3 } else { index % 12 }
            )
        })
        .collect();
    place.write("t.csv", format!("time,volume,op,offset,bytes\n{rows}"));
    let shown = place.succeed(&["trace", "info", "t.csv"]);
    let table = shown.split_once("volume  requests").expect("a table").1;
    let first = table.lines().nth(1).expect("a row");
    let words: Vec<&str> = first.split_whitespace().collect();
    assert_eq!(words, ["3", "42", "0", "172,032"]);
    assert!(
        shown.ends_with("and 2 more volumes, none of them with more requests\n"),
        "{shown}"
    );
    let told = place.json(&["trace", "info", "t.csv", "--json"]);
    assert_eq!(told["volumes"].as_array().map(Vec::len), Some(12));
    assert_eq!(told["volumes"][3]["requests"], 42);
}

#[test]
fn pages_that_fall_together_when_addresses_are_shrunk_are_told() {
    let place = Place::new();
    let far = "0.0 0 0 32 0\n1.0 0 2000000000 32 0\n";
    place.write("far.disksim", far);
    place.write("near.disksim", format!("{far}2.0 0 32 32 0\n"));
    for (file, hits, warning) in [
        ("far.disksim", 0, ""),
        (
            "near.disksim",
            4,
            "destage: warning: near.disksim: with trace.addr_map=shrink, 4 pages of the device each stand for several pages of the trace, so hits and rewrites are not those of the trace; a larger device keeps such pages apart\n",
        ),
    ] {
        // Without flash there is no device to whose size the program could shrink the trace.
        let no_flash = "destage: warning: flash.blocks_per_plane was set, but has no effect: it needs a translation layer with flash (any but ftl.kind = none)\n";
        for (ftl, hits, warning) in [("page", hits, warning), ("none", 0, no_flash)] {
            let arguments = [
                "run", file, "--buffer", "lru", "--size", "1MiB", "--ftl", ftl,
            ];
            let shrunk = [
                "--set",
                "trace.addr_map=shrink",
                "--set",
                "flash.blocks_per_plane=2048",
                "--json",
            ];
            let outcome = place.run(&[&arguments[..], &shrunk].concat());
            assert_eq!(outcome.errors, warning, "{file}");
            let metrics = &common::json(&outcome.output)["metrics"];
            assert_eq!(metrics["buffer.write_hits"], hits, "{file}");
        }
    }
}
