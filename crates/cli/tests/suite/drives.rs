//! Tests of `destage drive`. `drive check` compares a profile with measurements, `drive fit` fits a profile to
//! measurements, and `drive measure` measures a drive.

use crate::common;

use common::{Place, exists, json};

/// A drive of one die with simple times.
const PROFILE: &str = "
[flash]
dies = 1
planes_per_die = 1
blocks_per_plane = 512
pages_per_block = 128
page_bytes = 4096
copy_back = true
read_us = 40
program_us = 200
erase_us = 1000
transfer_ns_per_byte = 0
[ftl]
kind = \"page\"
reserve_percent = 20
min_free_percent = 1
[host]
bus_ns_per_sector = 0
[buffer]
kind = \"nocache\"
";

const RATES: &str = "\
drive,capacity,rbps,rseqiops,rrandiops,wbps,wseqiops,wrandiops,rrandiops_low,rrandiops_high
Small 1,1 GB,102400000,25000,20000,1000,1000,1000,19000,30000
Small 2,1 GB,204800000,50000,50000,1000,1000,1000,40000,60000
";

fn place() -> Place {
    let place = Place::new();
    place.write("one-die.toml", PROFILE);
    place.write("rates.csv", RATES);
    place
}

#[test]
fn rates_of_one_die_are_those_of_its_times() {
    let place = place();
    let common = ["drive", "check", "one-die.toml", "--against", "rates.csv"];
    let more = ["--drive", "Small 2", "--requests", "4000", "--json"];
    let document = json(&place.succeed(&[&common[..], &more].concat()));
    assert_eq!(document["drive"], "Small 2");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    let row = |what: &str| rows.iter().find(|row| row["what"] == what).unwrap();
    // A read takes 40 us, and nothing else takes time. So the drive executes 25,000 reads per second, both with
    // requests of one page and with requests of 32 pages.
    for what in ["rrandiops", "rseqiops"] {
        let modelled = row(what)["modelled"].as_f64().unwrap();
        assert!(
            (modelled / 25_000.0 - 1.0).abs() < 1e-3,
            "{what}: {modelled}"
        );
    }
    let bandwidth = row("rbps")["modelled"].as_f64().unwrap();
    assert!(
        (bandwidth / 102_400_000.0 - 1.0).abs() < 0.02,
        "{bandwidth}"
    );
    // The error is the distance of the modelled value from the nearer bound of the repeated measurements, divided by
    // the measured value.
    let random = row("rrandiops");
    let modelled = random["modelled"].as_f64().unwrap();
    let error = random["error"].as_f64().unwrap();
    assert!(
        (error - (modelled - 40_000.0) / 50_000.0).abs() < 1e-12,
        "{error}"
    );
    assert_eq!(random["measured"], 50_000.0);
    assert_eq!(random["capacity"], "1 GB");
    // If the range of the measurements of a drive contains the modelled value, the error is 0.
    let other = ["--drive", "Small 1", "--requests", "4000", "--json"];
    let document = json(&place.succeed(&[&common[..], &other].concat()));
    let rows = document["rows"].as_array().unwrap();
    let random = rows.iter().find(|row| row["what"] == "rrandiops").unwrap();
    assert_eq!(random["error"], 0.0);
    let summary = document["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 6);
    assert!(
        summary
            .iter()
            .all(|of| of["rows"] == 1 && of["median"] == of["p90"])
    );
}

#[test]
fn a_profile_is_fitted_and_judged_by_what_it_was_not_fitted_on() {
    let place = place();
    let small = ["--superblocks", "32", "--requests", "2000", "--json"];
    let hidden = [
        "--set",
        "flash.read_us=90",
        "--set",
        "flash.program_us=500",
        "--drive",
        "Small 1",
    ];
    let check = ["drive", "check", "one-die.toml", "--against", "rates.csv"];
    let checked = json(&place.succeed(&[&check[..], &small, &hidden].concat()));
    let rows = checked["rows"].as_array().unwrap();
    let (names, rates): (Vec<_>, Vec<_>) = rows
        .iter()
        .map(|row| {
            let rate = row["modelled"].as_f64().unwrap().to_string();
            (row["what"].as_str().unwrap().to_owned(), rate)
        })
        .unzip();
    let table = format!(
        "drive,capacity,{}\nHidden,1 GB,{}\n",
        names.join(","),
        rates.join(",")
    );
    place.write("hidden.csv", table);
    let fit = ["drive", "fit", "hidden.csv", "--start", "one-die.toml"];
    let fit = [&fit[..], &small, &["-o", "found.toml"]].concat();
    let said = json(&place.succeed(&fit));
    for (key, value) in [("flash.read_us", 90.0), ("flash.program_us", 500.0)] {
        let of = &said["parameters"][key];
        let found = of["value"].as_f64().unwrap();
        assert!((found / value - 1.0).abs() < 0.04, "{key}: {of}");
        assert!(of["low"].as_f64().unwrap() <= found && found <= of["high"].as_f64().unwrap());
    }
    // The bus time is much shorter than the times of flash operations. The fit cannot determine it well, so its
    // bounds are wide.
    let bus = &said["parameters"]["host.bus_ns_per_sector"];
    assert!(
        bus["high"].as_f64().unwrap() > 3.0 * bus["low"].as_f64().unwrap(),
        "{bus}"
    );
    let rows = said["rows"].as_array().unwrap();
    let judged: Vec<_> = rows.iter().filter(|row| row["use"] == "judge").collect();
    assert_eq!(judged.len(), 1);
    assert_eq!(judged[0]["what"], "wrandiops");
    assert_eq!(said["summary"].as_array().unwrap().len(), 1);
    assert!(judged[0]["error"].as_f64().unwrap().abs() < 0.05);
    // The fitted profile names its measurements, and `drive check` accepts it as a profile.
    let profile = place.read("found.toml");
    assert!(
        profile.contains("fitted to hidden.csv by destage drive fit"),
        "{profile}"
    );
    let check = ["drive", "check", "found.toml", "--against", "hidden.csv"];
    let checked = json(&place.succeed(&[&check[..], &small].concat()));
    let modelled = |rows: &serde_json::Value| -> Vec<_> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["modelled"].as_f64().unwrap().to_bits())
            .collect()
    };
    assert_eq!(modelled(&checked["rows"]), modelled(&said["rows"]));
    // Equal inputs give equal profiles with any number of threads.
    let again = ["-o", "again.toml", "--threads", "1"];
    place.succeed(&[&fit[..fit.len() - 2], &again].concat());
    assert_eq!(place.read("again.toml"), profile);
    // After a fit to all rows, there is no row left with which the profile could be judged.
    let all = ["-o", "all.toml", "--all-rows"];
    let said = json(&place.succeed(&[&fit[..fit.len() - 2], &all].concat()));
    assert!(said["summary"].as_array().unwrap().is_empty());
    let people = place.succeed(&[&fit[..fit.len() - 3], &["-o", "people.toml"]].concat());
    assert!(people.contains("not told apart from"), "{people}");
}

#[test]
fn what_cannot_be_fitted_is_refused_and_leaves_nothing() {
    let place = place();
    place.write("other.csv", RATES.replace("Small", "Large"));
    // The last row only judges the profile.
    let head = "drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high";
    let rows = "D,10000,9950,9,read,50,55,55,55\nD,40000,39650,9,read,50,55,55,55\nD,70000,69350,9,read,50,55,55,55\nD,200000,80000,9,read,50,55,55,55\nD,20000,19850,9,read,50,55,5x5,55\n";
    place.write("judge.csv", format!("{head}\n{rows}"));
    for (arguments, expected) in [
        (
            "judge.csv -o new.toml",
            "judge.csv, line 6: us_low: \"5x5\"",
        ),
        (
            "rates.csv rates.csv --drive 1 -o new.toml",
            "expected one file for each experiment",
        ),
        ("rates.csv -o new.toml", "several drives"),
        ("rates.csv --drive Small -o new.toml", "several drives"),
        ("rates.csv --drive 1 -o new.json", "has to end in .toml"),
        ("none.csv -o new.toml", "none.csv"),
        (
            "rates.csv other.csv --drive 1 -o new.toml",
            "expected files of one drive",
        ),
        ("rates.csv --drive 1 --start none -o new.toml", "none"),
        ("rates.csv --drive 1", "--output"),
    ] {
        let words: Vec<_> = arguments.split(' ').collect();
        let refused = place.run(&[&["drive", "fit"], &words[..]].concat());
        assert_eq!(refused.status, 2, "{arguments}: {}", refused.errors);
        assert!(
            refused.errors.contains(expected),
            "{arguments}: {}",
            refused.errors
        );
        assert!(!exists(&place.path("new.toml")), "{arguments}");
        assert!(!exists(&place.path("new.json")), "{arguments}");
    }
}

#[test]
fn what_the_model_says_is_what_it_says_again_and_is_then_not_off() {
    let place = place();
    let head = "drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high\n";
    let line = |op: &str, percentile: &str, us: f64| {
        format!(
            "D,5000,5000,5000,{op},{percentile},{us},{us},{us}\nD,90000,5100,5000,{op},{percentile},{us},{us},{us}\n"
        )
    };
    let rows = [
        ("read", "50"),
        ("read", "99"),
        ("write", "50"),
        ("write", "avg"),
        ("write", "max"),
    ];
    let lines: String = rows.iter().map(|(op, at)| line(op, at, 1.0)).collect();
    place.write("latency.csv", format!("{head}{lines}"));
    let common = [
        "drive",
        "check",
        "one-die.toml",
        "--requests",
        "6000",
        "--json",
        "--against",
    ];
    let program = ["--set", "flash.dies=4", "--set", "flash.program_us=60"];
    let arguments = [&common[..], &["latency.csv"], &program].concat();
    let first = json(&place.succeed(&arguments));
    let found = first["rows"].as_array().unwrap();
    assert_eq!(found.len(), 2 * rows.len() + 1);
    let lines = found
        .iter()
        .filter(|row| row["what"] != "saturated writes_per_s");
    let lines: String = lines
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap().to_owned();
            let us = &row["modelled"];
            let (offered, writes) = (text("offered_writes_per_s"), text("writes_per_s"));
            format!(
                "D,{offered},{writes},5000,{},{},{us},{us},{us}\n",
                text("op"),
                text("percentile")
            )
        })
        .collect();
    place.write("own.csv", format!("{head}{lines}"));
    let arguments = [&common[..], &["own.csv", "--threads", "1"], &program].concat();
    let again = json(&place.succeed(&arguments));
    let rows = again["rows"].as_array().unwrap();
    let latencies = rows
        .iter()
        .filter(|row| row["what"] != "saturated writes_per_s");
    assert!(latencies.clone().count() == 10);
    assert!(latencies.clone().all(|row| row["error"] == 0.0), "{again}");
    // Both loads reached about the same rate, which is above 98 % of the highest rate. So the latencies under these
    // loads do not count.
    let counted = latencies.filter(|row| row["counts"] == true).count();
    assert_eq!(counted, 0);
}

#[test]
fn a_fill_in_order_programs_each_page_once_and_random_writes_more() {
    let place = place();
    let rows = "\
drive,run,started,used_gib,pattern,detail,block_bytes,drive_writes,waf,host_mib_per_s
D,r,1,0.1875,sequential,,524288,0.5,1.0,10
D,r,1,0.1875,sequential,,524288,1.0,1.0,10
D,r,2,0.1875,uniform,,4096,1.0,2.0,10
D,r,2,0.1875,uniform,,4096,3.0,2.0,10
D,r,3,0.1875,fiozipf-shuffle,0.8,4096,1.0,2.0,10
D,r,4,0.1875,zns-noshuffle,activeZones: 1 pagesPerZone: 16,524288,1.0,1.0,10
D,r,4,0.1875,zns-noshuffle,activeZones: 1 pagesPerZone: 16,524288,3.0,1.0,10
D,r,5,0.1875,zns-noshuffle,activeZones: 0 pagesPerZone: 16,524288,1.0,1.0,10
";
    place.write("fill.csv", rows);
    let arguments = [
        "drive",
        "check",
        "one-die.toml",
        "--against",
        "fill.csv",
        "--json",
    ];
    let outcome = place.run(&arguments);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert!(
        outcome.errors.contains("fiozipf-shuffle"),
        "{}",
        outcome.errors
    );
    let document = json(&outcome.output);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    let waf: Vec<_> = rows.iter().filter(|row| row["what"] == "waf").collect();
    for row in &waf[..2] {
        let modelled = row["modelled"].as_f64().unwrap();
        assert!((modelled - 1.0).abs() < 0.01, "{row}");
    }
    let late = waf[3]["modelled"].as_f64().unwrap();
    assert!(late > 1.3 && late < 3.0, "{late}");
    assert!(waf[4]["modelled"].is_null() && waf[4]["error"].is_null());
    // Zones that are trimmed before they are written cost less than single pages.
    for row in &waf[5..7] {
        let modelled = row["modelled"].as_f64().unwrap();
        assert!((0.99..late).contains(&modelled), "{row}");
    }
    assert!(waf[7]["modelled"].is_null());
    assert!(
        outcome.errors.contains("activeZones: 0"),
        "{}",
        outcome.errors
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let place = place();
    place.write("odd.csv", "drive,offered_writes_per_s,op\nD,1,read\n");
    place.write("empty.csv", RATES.lines().next().unwrap());
    place.write("text.csv", RATES.replace("25000", "many"));
    place.write("short.csv", format!("{RATES}Small 3,1 GB\n"));
    let cases: [(&[&str], &[&str]); 8] = [
        (&["none.csv"], &["none.csv"]),
        (
            &["odd.csv"],
            &["odd.csv", "writes_per_s", "latency over load"],
        ),
        (&["empty.csv"], &["empty.csv", "no rows"]),
        (&["rates.csv"], &["--drive", "Small 1", "Small 2"]),
        (
            &["rates.csv", "--drive", "Large"],
            &["--drive", "Large", "Small 1"],
        ),
        (
            &["text.csv", "--drive", "Small 1", "--requests", "1000"],
            &["text.csv", "line 2", "rseqiops", "many"],
        ),
        (&["short.csv", "--drive", "Small 1"], &["short.csv", "line"]),
        (
            &["rates.csv", "--drive", "Small 1", "-o", "x.parquet"],
            &["x.parquet", ".json or .csv"],
        ),
    ];
    for (arguments, texts) in cases {
        let command = ["drive", "check", "one-die.toml", "--against"];
        let outcome = place.run(&[&command[..], arguments].concat());
        assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.errors);
        for text in texts {
            assert!(
                outcome.errors.contains(text),
                "{arguments:?}: {text}: {}",
                outcome.errors
            );
        }
    }
    // None of these commands has an option --profile.
    for (arguments, name) in [
        (
            &["check", "no-such", "--against", "rates.csv"][..],
            "PROFILE",
        ),
        (
            &["fit", "rates.csv", "--start", "no-such", "-o", "new.toml"],
            "--start",
        ),
        (
            &["measure", "model:no-such", "-o", "new"],
            "the profile after model:",
        ),
    ] {
        let outcome = place.run(&[&["drive"], arguments].concat());
        assert_eq!(outcome.status, 2);
        let expected = format!("destage: error: {name} \"no-such\": no such profile");
        assert!(outcome.errors.contains(&expected), "{}", outcome.errors);
    }
}

/// A cell that is wrong, or that the drive of the profile cannot have, is refused with its place before anything is
/// simulated.
#[test]
fn wrong_cells_are_named() {
    let place = place();
    let latency = "drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high\n";
    let fill =
        "drive,run,started,used_gib,pattern,detail,block_bytes,drive_writes,waf,host_mib_per_s\n";
    let depth = "drive,op,block_bytes,iodepth,jobs,iops,p50_us,p99_us\n";
    for (head, row, expected) in [
        (
            latency,
            "10000,9950,9,read,p99,5,5,5",
            "percentile: \"p99\": expected min",
        ),
        (
            latency,
            "1000,1000,9,read,50,5,5,5",
            "or the column stream_per_s",
        ),
        (
            latency,
            "10000,9950,9,read,50,100,900,1000",
            "read p50: 100: the range begins",
        ),
        (
            fill,
            "r,1,500000,uniform,,4096,1,1.5,10",
            "used_gib: \"500000\": the measurement used",
        ),
        (
            fill,
            "r,1,0.000001,uniform,,4096,1,1,10",
            "used_gib: \"0.000001\": the measurement used",
        ),
        (
            fill,
            "r,1,0.1,zipf-shuffle,-1,4096,1,1,10",
            "detail: \"-1\": ",
        ),
        (
            fill,
            "r,1,0.1,uniform,,4096,0,1,10",
            "drive_writes: \"0\": expected a number above 0",
        ),
        (
            depth,
            "randread,4k,1.9,1,1,1,1",
            "iodepth: \"1.9\": expected a whole number",
        ),
        (
            depth,
            "randread,4k,100000000,1,1,1,1",
            "iodepth: \"100000000\"",
        ),
        (
            depth,
            "randread,256M,1,1,1,1,1",
            "block_bytes: \"256M\": the scaled-down drive offers",
        ),
    ] {
        place.write("wrong.csv", format!("{head}D,{row}\n"));
        let outcome = place.run(&["drive", "check", "one-die.toml", "--against", "wrong.csv"]);
        assert_eq!(outcome.status, 2, "{row}: {}", outcome.errors);
        let is_named = outcome.errors.contains("wrong.csv, line 2: ");
        assert!(
            is_named && outcome.errors.contains(expected),
            "{}",
            outcome.errors
        );
    }
    let arguments = [
        "drive",
        "check",
        "bplru-mlc",
        "--against",
        "rates.csv",
        "--drive",
        "Small 1",
    ];
    let outcome = place.run(&arguments);
    let expected = "neither throughput nor response times";
    assert!(
        outcome.status == 2 && outcome.errors.contains(expected),
        "{}",
        outcome.errors
    );
}

/// A run has several times as many requests as are outstanding, because otherwise all of them arrive at once.
#[test]
fn a_long_queue_has_a_rate() {
    let place = place();
    let rows = "drive,op,block_bytes,iodepth,jobs,iops,p50_us,p99_us\nD,randread,4k,64,64,25000,163840,163840\n";
    place.write("deep.csv", rows);
    let common = ["drive", "check", "one-die.toml", "--against", "deep.csv"];
    let found = place.json(&[&common[..], &["--requests", "1000", "--json"]].concat());
    // One die reads 25,000 pages a second.
    for row in found["rows"].as_array().unwrap() {
        let error = row["error"].as_f64().unwrap();
        assert!(error.abs() < 0.01, "{row}");
    }
}

/// The rows of sequential requests have names of their own, also in a study.
#[test]
fn sequential_queue_depths_are_no_latencies_over_load() {
    let place = place();
    let rows = "drive,op,block_bytes,iodepth,jobs,iops,p50_us,p99_us\nD,write,4k,8,1,5000,1600,1600\nD,write,64k,8,1,300,25000,25000\n";
    place.write("depth.csv", rows);
    let common = ["drive", "check", "one-die.toml", "--requests", "1000"];
    let said = place.succeed(&[&common[..], &["--against", "depth.csv"]].concat());
    for text in ["block_bytes", "seq write iops", "seq write p99", "64k"] {
        assert!(said.contains(text), "{text}: {said}");
    }
    let study = "title = \"Depths\"\nprofile = \"one-die.toml\"\n[[drive]]\nname = \"first\"\nmeasurements = \"depth.csv\"\nlimit = 2000\n[[grid]]\n";
    place.write("s.toml", study);
    place.succeed(&["study", "s.toml", "--results", "kept", "--quiet"]);
    let rows = place.read("kept/s/results.csv");
    assert!(rows.contains("seq write p99"), "{rows}");
}

#[test]
fn people_get_a_summary_and_files_all_rows() {
    let place = place();
    let arguments = [
        "drive",
        "check",
        "one-die.toml",
        "--against",
        "rates.csv",
        "--drive",
        "Small 1",
        "--requests",
        "1000",
        "-o",
        "all.csv",
    ];
    let text = place.succeed(&arguments);
    assert!(
        text.starts_with("Small 1: saturated rates, compared with one-die.toml\n"),
        "{text}"
    );
    assert!(
        text.contains("median %") && text.contains("rrandiops"),
        "{text}"
    );
    let rows = std::fs::read_to_string(place.path("all.csv")).unwrap();
    assert_eq!(rows.lines().count(), 7, "{rows}");
    assert!(
        rows.lines()
            .next()
            .unwrap()
            .ends_with(",what,measured,modelled,error,counts"),
        "{rows}"
    );
}

#[test]
fn a_result_of_fio_is_a_row_for_each_job() {
    let place = place();
    let job = |rw: &str, side: &str, depth: u32| {
        format!(
            r#"{{"jobname": "j", "job options": {{"rw": "{rw}", "iodepth": "{depth}"}}, "{side}": {{"iops": 25000.0, "clat_ns": {{"percentile": {{"50.000000": 40000, "99.000000": 40000}}}}}}}}"#
        )
    };
    let document = |jobs: &[String]| {
        format!(
            r#"{{"fio version": "fio-3.33", "global options": {{"bs": "4k", "ioengine": "io_uring"}}, "jobs": [{}]}}"#,
            jobs.join(", ")
        )
    };
    place.write(
        "disk.json",
        document(&[job("randread", "read", 1), job("randread", "read", 8)]),
    );
    let common = [
        "drive",
        "check",
        "one-die.toml",
        "--requests",
        "3000",
        "--json",
        "--against",
    ];
    let found = json(&place.succeed(&[&common[..], &["disk.json"]].concat()));
    assert_eq!(found["drive"], "disk");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    // At queue depth 1 a read takes 40 us. At queue depth 8 each read waits for seven other reads.
    let modelled: Vec<_> = rows
        .iter()
        .map(|row| row["modelled"].as_f64().unwrap())
        .collect();
    for (value, expected) in modelled
        .iter()
        .zip([25_000.0, 40.0, 40.0, 25_000.0, 320.0, 320.0])
    {
        assert!((value / expected - 1.0).abs() < 1e-3, "{modelled:?}");
    }
    place.write("odd.json", document(&[job("trim", "trim", 1)]));
    place.write("none.json", "{}");
    let small = document(&[job("read", "read", 1)]).replace("\"4k\"", "\"6k\"");
    place.write("small.json", small);
    for (file, texts) in [
        ("odd.json", ["job 1", "trim"]),
        ("small.json", ["small.json, job 1", "block_bytes: \"6k\""]),
        ("none.json", ["none.json", "jobs"]),
    ] {
        let outcome = place.run(&[&common[..], &[file]].concat());
        assert_eq!(outcome.status, 2);
        assert!(
            texts.iter().all(|text| outcome.errors.contains(text)),
            "{}",
            outcome.errors
        );
    }
}

#[cfg(unix)]
mod measured {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Stdio};

    /// A drive of 16 MiB of flash, which is filled quickly.
    const TINY: [&str; 8] = [
        "--set",
        "flash.blocks_per_plane=64",
        "--set",
        "flash.pages_per_block=64",
        "--set",
        "flash.read_us=100",
        "--set",
        "flash.program_us=150",
    ];
    const SHORT: [&str; 4] = ["--requests", "1000", "--seconds", "0.2"];

    /// A server that is killed at the end of the test.
    struct Served(Child);

    impl Drop for Served {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_served_drive_is_measured_and_the_tables_are_read() {
        let place = place();
        let serve = "serve --unix s.sock --control c.sock --pace model --profile one-die.toml";
        let serve: Vec<_> = serve.split(' ').collect();
        let mut server = place
            .command(&[&serve[..], &TINY].concat())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let output = server.stdout.take().expect("a pipe");
        let _server = Served(server);
        let mut ready = String::new();
        let mut lines = BufReader::new(output);
        lines.read_line(&mut ready).expect("a line");
        let measure = "drive measure nbd+unix:///?socket=s.sock -o found --control c.sock --name Served --what depth,waf,parts";
        let measure: Vec<_> = measure.split(' ').collect();
        let measure = [&measure[..], &SHORT].concat();
        let said = place.succeed(&measure);
        for file in ["queue-depth.csv", "waf.csv", "measured.json"] {
            assert!(said.contains(&format!("found/{file}")), "{said}");
        }
        // The program does not repeat a finished measurement. So it does not refuse the drive, although the drive now
        // has data.
        let state = place.read("found/state.json");
        assert_eq!(place.succeed(&measure), said);
        assert_eq!(place.read("found/state.json"), state);
        // With another folder the command is a new measurement. The program refuses it because the drive has data.
        let mut other = measure.clone();
        other[4] = "other";
        let refused = place.run(&other);
        assert_eq!(refused.status, 2);
        assert!(
            refused.errors.contains("or --overwrite"),
            "{}",
            refused.errors
        );
        let check = "drive check one-die.toml --requests 2000 --superblocks 64 --json --against found/queue-depth.csv";
        let check: Vec<_> = check.split(' ').collect();
        let document = place.json(&[&check[..], &TINY].concat());
        assert_eq!(document["drive"], "Served");
        let rows = document["rows"].as_array().unwrap();
        let row = |depth: &str, what: &str| {
            let is_it = |row: &&serde_json::Value| row["iodepth"] == depth && row["what"] == what;
            let row = rows.iter().find(is_it).expect(what);
            row["measured"].as_f64().unwrap()
        };
        // A read takes 100 us in the model. Two processes and a socket on a busy machine add the rest of the time.
        let read = row("1", "randread p50");
        assert!((100.0..3_000.0).contains(&read), "{read}");
        // One die can do at most 10,000 reads per second.
        let rate = row("64", "randread iops");
        assert!((300.0..10_100.0).contains(&rate), "{rate}");
        // The file has a heading and 80 lines. A fill and three passes have 20 lines each, one for each twentieth of
        // the drive.
        assert_eq!(place.read("found/waf.csv").lines().count(), 81);
        let found = json(&place.read("found/measured.json"));
        let waf = found["values"]["waf"]["value"].as_f64().unwrap();
        assert!((1.3..4.0).contains(&waf), "{waf}");
        let unknown = found["unknown"].to_string();
        assert!(unknown.contains("dies and program time"), "{unknown}");
    }

    #[test]
    fn a_file_is_measured_and_kept_from_harm() {
        let place = place();
        let file = std::fs::File::create(place.path("disk.img")).expect("a file");
        file.set_len(16 << 20).expect("room");
        drop(file);
        let measure = "drive measure disk.img -o found --what rates,latency --requests 1000 --seconds 0.05 --passes 1";
        let measure: Vec<_> = measure.split(' ').collect();
        let plan = place.succeed(&[&measure[..], &["--dry-run"]].concat());
        assert!(plan.contains("the measurement uses 16 MiB"), "{plan}");
        assert!(plan.contains("overwrites them 2 times, 32 MiB"), "{plan}");
        // A dry run writes nothing.
        assert!(!exists(&place.path("found")));
        let image = std::fs::read(place.path("disk.img")).expect("a file");
        assert!(image.iter().all(|byte| *byte == 0));
        let said = place.run(&measure);
        assert_eq!(said.status, 0, "{}", said.errors);
        assert!(said.errors.contains("fill in order"), "{}", said.errors);
        let image = std::fs::read(place.path("disk.img")).expect("a file");
        let blocks = image
            .chunks(4096)
            .filter(|block| block.iter().all(|byte| *byte == 0));
        assert_eq!(blocks.count(), 0);
        let rates = place.read("found/rates.csv");
        let rates: Vec<_> = rates.lines().nth(1).expect("a row").split(',').collect();
        assert_eq!(rates.len(), 8);
        assert!(
            rates[2..]
                .iter()
                .all(|rate| rate.parse::<f64>().unwrap() > 0.0),
            "{rates:?}"
        );
        let latency = place.read("found/latency.csv");
        assert!(latency.lines().count() > 100, "{latency}");
        // The program measures a drive with data only if `--overwrite` is given.
        let again: Vec<_> = measure
            .iter()
            .map(|word| word.replace("found", "more"))
            .collect();
        let again: Vec<_> = again.iter().map(String::as_str).collect();
        let refused = place.run(&again);
        assert_eq!(refused.status, 2);
        let expected = "disk.img: holds data in its first or last MiB";
        assert!(refused.errors.contains(expected), "{}", refused.errors);
        assert!(!exists(&place.path("more")));
        let told = place.succeed(&[&again[..], &["--overwrite", "--dry-run"]].concat());
        assert!(told.contains("overwrites them 2 times"), "{told}");
    }

    /// A measurement is continued without `--overwrite` only if the drive holds what the measurement has written.
    #[test]
    fn other_data_on_a_measured_drive_are_kept_from_harm() {
        let place = place();
        place.write("disk.img", vec![0; 16 << 20]);
        let measure = |more: &str| {
            let words = "drive measure disk.img -o found --requests 1000 --seconds 0.01 --passes 0";
            let words: Vec<_> = words.split(' ').chain(more.split(' ')).collect();
            place.run(&words)
        };
        assert_eq!(measure("--what depth").status, 0);
        assert_eq!(measure("--what rates --dry-run").status, 0);
        let mut image = std::fs::read(place.path("disk.img")).expect("a file");
        image[0] ^= 1;
        place.write("disk.img", &image);
        let refused = measure("--what rates");
        assert_eq!(refused.status, 2);
        assert!(
            refused.errors.contains("or --overwrite"),
            "{}",
            refused.errors
        );
        let after = std::fs::read(place.path("disk.img")).expect("a file");
        assert!(after == image);
        // With the option the drive is filled again.
        let told = measure("--what depth,rates --overwrite --dry-run");
        assert!(
            told.output.contains("overwrites them 1 times"),
            "{}",
            told.output
        );
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let place = place();
        place.write("short.img", "x");
        for (arguments, expected) in [
            ("none.img -o found", "none.img: "),
            ("/dev/null -o found", "neither a block device nor a file"),
            ("short.img -o found", "too little to measure"),
            ("short.img -o found --what rate", "--what rate"),
            ("short.img -o found --bytes much", "--bytes much"),
            ("short.img -o found --set a=b", "expected model:PROFILE"),
            (
                "short.img -o found --control c.sock",
                "expected the URI of an NBD server",
            ),
            (
                "nbd+unix:///?socket=none.sock -o found",
                "expected an NBD server at this address",
            ),
            ("nbd://10809 -o found", "expected nbd+unix:"),
            (
                "model:one-die.toml -o found --control c.sock",
                "counts its programmed bytes by itself",
            ),
            (
                "model:one-die.toml -o found --bytes 1TiB",
                "expected no more",
            ),
            ("model:none -o found", "none"),
            (
                "model:bplru-mlc -o found",
                "neither throughput nor response times",
            ),
            ("model:one-die.toml -o found --seconds 0", "0.01 to 86400"),
        ] {
            let words: Vec<_> = arguments.split(' ').collect();
            let refused = place.run(&[&["drive", "measure"], &words[..]].concat());
            assert_eq!(refused.status, 2, "{arguments}: {}", refused.errors);
            assert!(
                refused.errors.contains(expected),
                "{arguments}: {}",
                refused.errors
            );
            assert!(!exists(&place.path("found")), "{arguments}");
        }
    }
}
