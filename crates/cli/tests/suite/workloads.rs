//! Tests of every workload on the command line. The program must list, show, generate and simulate the workload, and
//! must refuse wrong parameters.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Place, json};
use destage_sample::sampled;

fn names(place: &Place) -> Vec<String> {
    let rows = place.json(&["list", "workloads", "--json"]);
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_workload_generates_the_trace_that_a_run_of_it_sees() {
    let place = Place::new();
    for name in names(&place) {
        let workload = format!("{name}:requests=700");
        place.succeed(&[
            "trace",
            "generate",
            "--workload",
            &workload,
            "-o",
            "t.disksim",
        ]);
        let lines = place.read("t.disksim").lines().count();
        assert_eq!(lines, 700, "{name}");
        let buffer_alone = ["--ftl", "none", "--size", "1MiB", "--json"];
        let direct = [&["run", "--workload", &workload][..], &buffer_alone].concat();
        let read = [&["run", "t.disksim"][..], &buffer_alone].concat();
        assert_eq!(
            place.json(&direct)["metrics"],
            place.json(&read)["metrics"],
            "{name}"
        );
    }
}

#[test]
fn every_parameter_of_every_workload_is_shown_and_can_be_given_its_default() {
    let place = Place::new();
    for name in names(&place) {
        let shown = place.json(&["show", "workload", &name, "--json"]);
        let pairs: Vec<String> = shown["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                let key = row["name"].as_str().unwrap();
                let key = key.strip_prefix("workload.").unwrap_or(key);
                match key {
                    "requests" => "requests=50".to_owned(),
                    _ => match &row["default"] {
                        serde_json::Value::String(text) => format!("{key}={text}"),
                        number => format!("{key}={number}"),
                    },
                }
            })
            .collect();
        let generate = |workload: &str, file: &str| {
            place.succeed(&["trace", "generate", "--workload", workload, "-o", file]);
            place.read(file)
        };
        assert_eq!(
            generate(&format!("{name}:{}", pairs.join(",")), "a.csv"),
            generate(&format!("{name}:requests=50"), "b.csv"),
            "{name}"
        );
    }
}

/// For each paper, the profile of its device and the stand-ins for its workloads. The test simulates the first
/// 20,000 requests of each stand-in, or all of its requests with `make whole`.
const OF_PAPERS: &[(&str, &[&str])] = &[
    (
        "bplru-mlc",
        &[
            "standin-office-install",
            "standin-browser-cache",
            "standin-pcmark",
            "standin-iometer-random",
            "standin-mp3-fat",
            "standin-p2p",
            "standin-untar-ext3",
            "standin-kernel-compile-ext3",
            "standin-postmark:file_system=fat",
            "standin-postmark:file_system=ext3",
            "standin-postmark:file_system=ntfs",
        ],
    ),
    (
        "bpac-slc",
        &[
            "standin-financial1",
            "standin-financial2",
            "standin-cello-d3",
            "standin-cello-d8",
        ],
    ),
    (
        "epo-slc",
        &["standin-financial1", "standin-financial2", "standin-tpcc"],
    ),
    (
        "apu-slc",
        &[
            "standin-iozone",
            "standin-postmark-reads",
            "standin-source-control",
            "standin-on-board-cache",
        ],
    ),
];

#[test]
fn stand_ins_fit_on_the_devices_of_their_papers() {
    let place = Place::new();
    for (profile, workloads) in OF_PAPERS {
        for workload in *workloads {
            let run = ["run", "--workload", workload, "--profile", profile];
            let mode = match *workload {
                // The addresses of this stand-in exceed the device. The paper on EPO shrinks the addresses of its
                // traces to fit its device.
                "standin-tpcc" => "trace.addr_map=shrink",
                // The addresses of other workloads must fit. An address beyond the device would be an error.
                _ => "trace.addr_map=error",
            };
            let limit = sampled(&["--limit", "20000"][..], &[]);
            place.succeed(&[&run[..], &["--set", mode, "--json"], limit].concat());
        }
    }
    let listed = place.succeed(&["list", "workloads"]);
    let names = listed.lines().filter_map(|line| line.split(' ').next());
    for name in names.filter(|name| name.starts_with("standin-")) {
        let mut all = OF_PAPERS.iter().flat_map(|(_, workloads)| *workloads);
        let has = all.any(|workload| workload.split(':').next() == Some(name));
        assert!(has, "{name} stands for the workload of no paper");
    }
}

#[test]
fn what_contradicts_itself_is_refused_by_name_and_leaves_no_file() {
    let place = Place::new();
    for (workload, expected) in [
        (
            "looping:loop_pages=200000",
            "workload looping: loop_pages=200000",
        ),
        (
            "standin-untar-ext3:footprint_pages=100",
            "workload standin-untar-ext3: footprint_pages=100",
        ),
        (
            "standin-p2p:chunk_bytes=10GiB",
            "workload standin-p2p: chunk_bytes=10737418240",
        ),
        (
            "standin-pcmark:hot_percent=90,append_percent=9",
            "workload standin-pcmark: remove_percent=10",
        ),
        (
            "standin-postmark:min_file_bytes=10000",
            "workload standin-postmark: min_file_bytes=10000",
        ),
        (
            "standin-iometer-random:page_bytes=1000",
            "workload standin-iometer-random: page_bytes=1000",
        ),
        (
            "standin-iozone:footprint_pages=100000",
            "workload standin-iozone: footprint_pages=100000",
        ),
        (
            "standin-postmark:file_system=xfs",
            "file_system: \"xfs\": expected one of fat, ext3, ntfs",
        ),
        (
            "bursts:burst_requests=0",
            "burst_requests: \"0\": expected a number from 1",
        ),
        ("financial1", "no such workload"),
    ] {
        let outcome = place.run(&["trace", "generate", "--workload", workload, "-o", "x.csv"]);
        assert_eq!(outcome.status, 2, "{workload}: {}", outcome.errors);
        assert!(
            outcome.errors.contains(expected),
            "{workload}: {}",
            outcome.errors
        );
        assert!(place.files().is_empty(), "{workload}: {:?}", place.files());
    }
}

#[test]
fn what_is_put_back_into_a_trace_is_put_into_a_workload() {
    let place = Place::new();
    let rules = [
        "--set",
        "trace.flush_every_writes=10",
        "--set",
        "trace.fua_every_writes=7",
        "--set",
        "trace.trim_every_writes=9",
    ];
    let made = |workload: &[&str], file: &str| {
        let generate = [
            &["trace", "generate", "--workload"],
            workload,
            &["-o", file],
        ];
        place.succeed(&generate.concat());
    };
    made(&["zipf:requests=300"], "plain.compact");
    made(
        &[&["zipf:requests=300"][..], &rules].concat(),
        "both.compact",
    );
    let convert = [
        "trace",
        "convert",
        "plain.compact",
        "-o",
        "converted.compact",
    ];
    place.succeed(&[&convert[..], &rules].concat());
    let run = |input: &[&str]| {
        let options = ["--ftl", "none", "--size", "64KiB", "--json"];
        place.json(&[&["run"], input, &options].concat())["metrics"].clone()
    };
    let direct = run(&[&["--workload", "zipf:requests=300"][..], &rules].concat());
    assert_eq!(direct["host.requests"], 300 + 30 + 32);
    for file in ["both.compact", "converted.compact"] {
        assert_eq!(run(&[file]), direct, "{file}");
    }
}

#[test]
fn a_fitted_stand_in_runs_wherever_a_workload_does() {
    let place = Place::new();
    let mixed = "mixed:requests=3000";
    place.succeed(&["trace", "generate", "--workload", mixed, "-o", "t.compact"]);
    let fitted = place.json(&["trace", "fit", "t.compact", "-o", "t.toml", "--json"]);
    assert_eq!(fitted["requests"], 3000);
    assert_eq!(fitted["residuals"].as_array().unwrap().len(), 16);
    let shown = place.succeed(&["trace", "fit", "t.compact", "-o", "u.toml"]);
    assert!(shown.contains("block-lru"), "{shown}");
    assert_eq!(place.read("t.toml"), place.read("u.toml"));
    assert!(place.read("t.toml").contains("[residuals.fab-4MiB]"));

    let few = "t.toml:requests=700";
    place.succeed(&["trace", "generate", "--workload", few, "-o", "f.disksim"]);
    assert_eq!(place.read("f.disksim").lines().count(), 700);
    let buffer_alone = ["--ftl", "none", "--size", "1MiB", "--json"];
    let direct = [&["run", "--workload", few][..], &buffer_alone].concat();
    let read = [&["run", "f.disksim"][..], &buffer_alone].concat();
    assert_eq!(place.json(&direct)["metrics"], place.json(&read)["metrics"]);
}

#[test]
fn what_is_no_stand_in_is_refused() {
    let place = Place::new();
    place.write("bad.toml", "[standin]\nform = 9\n");
    for (arguments, expected) in [
        (
            &["run", "--workload", "bad.toml"][..],
            "bad.toml: standin.form: \"9\": expected 2",
        ),
        (
            &["run", "--workload", "none.toml"],
            "--workload none.toml: cannot be read",
        ),
        (
            &["trace", "fit", "bad.toml", "-o", "x.csv"],
            "-o x.csv: expected a name that ends in .toml",
        ),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    }
}

const JOB_FILE: &str = "
[global]
ioengine=libaio
bs=4k
size=4m
[writers]
rw=randwrite
numjobs=2
iodepth=4
fsync=64
[reader]
rw=read
iodepth=8
runtime=30
";

#[test]
fn a_job_file_of_fio_runs_wherever_a_workload_does() {
    let place = Place::new();
    place.write("mix.fio", JOB_FILE);
    let outcome = place.run(&["run", "--workload", "mix.fio", "--json"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert!(
        outcome
            .errors
            .contains("mix.fio: line 14: runtime=30 does not end the job here"),
        "{}",
        outcome.errors
    );
    let run = json(&outcome.output);
    // There are three times 1024 requests. There are also flushes, one after every 64 writes except the last 64.
    assert_eq!(run["metrics"]["host.requests"], 3072 + 2 * 15);
    assert_eq!(run["parameters"]["host.replay"], "closed");
    assert_eq!(run["parameters"]["host.queue_depth"], 16);
    assert_eq!(run["parameters"]["workload.requests"], 3102);
    // An option overrides a setting of the job file, but a profile does not.
    let parameters = |options: &[&str]| {
        let ask = [
            "run",
            "--workload",
            "mix.fio:requests=500",
            "--json",
            "--quiet",
        ];
        place.json(&[&ask[..], options].concat())["parameters"].clone()
    };
    let deeper = parameters(&["--set", "host.queue_depth=2", "--profile", "tlc"]);
    assert_eq!(deeper["host.queue_depth"], 2);
    assert_eq!(
        parameters(&["--profile", "disksim-ssd"])["host.queue_depth"],
        16
    );
    // The trace that is generated from the job file has the same requests. The trace does not say how the host issues
    // them, so the command sets these parameters again.
    let generated = place.run(&[
        "trace",
        "generate",
        "--workload",
        "mix.fio",
        "-o",
        "mix.compact",
    ]);
    assert!(
        generated.errors.contains("warning: mix.fio: the trace does not hold how its requests wait for each other; a run of the trace needs --set host.queue_depth=16 --set host.replay=closed\n"),
        "{}",
        generated.errors
    );
    let closed = [
        "--set",
        "host.replay=closed",
        "--set",
        "host.queue_depth=16",
    ];
    let of_trace = place.json(&[&["run", "mix.compact", "--json"][..], &closed].concat());
    assert_eq!(of_trace["metrics"], run["metrics"]);
    let compared = [
        "compare",
        "--workload",
        "mix.fio",
        "--buffers",
        "lru,fab",
        "--json",
    ];
    let compared = place.json(&compared);
    assert_eq!(compared["runs"][0]["parameters"]["host.queue_depth"], 16);
    place.write(
        "s.toml",
        "title = \"Jobs\"\n[[input]]\nname = \"jobs\"\nworkload = \"mix.fio:job=reader\"\n[[grid]]\nbuffers = [\"lru\"]\n",
    );
    let study = place.json(&["study", "s.toml", "--results", "kept", "--json"]);
    assert_eq!(study["runs"][0]["parameters"]["host.queue_depth"], 8);
}

#[test]
fn what_is_not_understood_of_a_job_file_is_named() {
    let place = Place::new();
    place.write("bad.fio", JOB_FILE.replace("iodepth=8", "thinktime=8ms"));
    for (workload, expected) in [
        (
            "bad.fio",
            "--workload bad.fio: line 13: \"thinktime=8ms\": expected 0, or no such option",
        ),
        ("bad.fio:job=reader", "--workload bad.fio: line 13: "),
        ("none.fio", "--workload none.fio: cannot be read"),
    ] {
        let outcome = place.run(&["run", "--workload", workload, "-o", "r.json"]);
        assert_eq!(outcome.status, 2, "{workload}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
        assert_eq!(place.files(), ["bad.fio"]);
    }
    place.write("good.fio", JOB_FILE);
    for (parameter, expected) in [
        (
            "job=writer",
            "\"job=writer\": expected one of writers, reader",
        ),
        ("depth=4", "good.fio has no parameter \"depth\""),
        (
            "requests=0",
            "requests: \"0\": expected a whole number from 1",
        ),
    ] {
        let outcome = place.run(&["run", "--workload", &format!("good.fio:{parameter}")]);
        assert_eq!(outcome.status, 2, "{parameter}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    }
}
