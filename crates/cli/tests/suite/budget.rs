//! Tests of the memory limit. A command that needs too much memory must end within a time limit. Its error must be
//! one line that names the cause of the need, and it must not leave a file behind.

use crate::common;

use std::time::{Duration, Instant};

use common::Place;

/// A trace line of 20 bytes that writes 100 GiB.
const HUGE: &str = "0.0 0 0 209715200 0\n";
/// A device of 1 TB, which can hold this write.
const DEVICE: [&str; 4] = [
    "--set",
    "flash.dies=64",
    "--set",
    "flash.blocks_per_plane=8192",
];
const SECONDS_MAX: Duration = Duration::from_secs(60);

fn refused(place: &Place, arguments: &[&str], doing: &str) {
    let before = place.files();
    let begun = Instant::now();
    let outcome = place.run(arguments);
    assert!(begun.elapsed() < SECONDS_MAX, "{arguments:?}");
    assert_eq!(outcome.status, 2, "{arguments:?}\n{}", outcome.errors);
    assert_eq!(outcome.output, "", "{arguments:?}");
    let start = format!("destage: error: {doing}: needs ");
    let errors = &outcome.errors;
    assert!(errors.starts_with(&start), "{arguments:?}\n{errors}");
    assert!(
        errors.contains("the limit of 64 MiB; ") && errors.contains("--memory-limit"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert_eq!(place.files(), before, "{arguments:?}");
}

/// A trace of `count` requests whose addresses are far apart.
fn scattered(count: u64) -> String {
    let places = (0..count).map(|number| number * 2_654_435_761 % (1 << 32) * 16);
    places
        .map(|sector| format!("0.0 0 {sector} 8 0\n"))
        .collect()
}

#[test]
fn one_short_line_takes_no_more_than_the_budget() {
    let place = Place::new();
    place.write("l.ds", HUGE);
    let common = [
        &["--format", "disksim", "--memory-limit", "64MiB"],
        &DEVICE[..],
    ]
    .concat();
    let doing = "lru over page for l.ds";
    let run = ["run", "l.ds", "--buffer", "lru", "-o", "x.json"];
    refused(&place, &[&run[..], &common].concat(), doing);
    let compare = ["compare", "l.ds", "--buffers", "lru", "-o", "x.html"];
    refused(&place, &[&compare[..], &common].concat(), doing);
}

#[test]
fn many_lines_take_no_more_than_the_budget() {
    let place = Place::new();
    place.write("s.ds", scattered(3_000_000));
    let limit = ["--format", "disksim", "--memory-limit", "64MiB"];
    let info = ["trace", "info", "s.ds", "-o", "x.html"];
    refused(&place, &[&info[..], &limit].concat(), "reading s.ds");
    let cut = [
        "trace",
        "anonymize",
        "s.ds",
        "-o",
        "x.csv",
        "--region-bytes",
        "512",
    ];
    refused(&place, &[&cut[..], &limit].concat(), "reading s.ds");
}

#[test]
fn a_device_that_is_too_large_is_refused() {
    let place = Place::new();
    let run = [
        "run",
        "--workload",
        "uniform:requests=10",
        "--set",
        "flash.dies=100000000",
        "--set",
        "flash.planes_per_die=1",
        "--set",
        "flash.blocks_per_plane=8",
        "--set",
        "flash.pages_per_block=4",
        "--set",
        "flash.summary_page=false",
        "--memory-limit",
        "64MiB",
    ];
    refused(&place, &run, "lru over page for uniform:requests=10");
}

#[test]
fn what_fits_is_done() {
    let place = Place::new();
    let run = [
        "run",
        "--workload",
        "uniform:requests=1000",
        "--json",
        "--memory-limit",
    ];
    let metrics = |limit: &str| place.json(&[&run[..], &[limit]].concat())["metrics"].to_string();
    assert_eq!(metrics("64MiB"), metrics("8GB"));
    // A large device needs little memory if the host uses only a small part of its addresses.
    let writes = ["run", "--workload", "uniform:requests=1000"];
    place.succeed(&[&writes[..], &DEVICE].concat());
}

#[test]
fn a_limit_that_is_none_is_refused() {
    let place = Place::new();
    for limit in ["0", "many", "-1"] {
        let outcome = place.run(&["list", "buffers", &format!("--memory-limit={limit}")]);
        assert_eq!(outcome.status, 2);
        let expected =
            format!("destage: error: --memory-limit: {limit:?}: expected a size in bytes");
        assert!(outcome.errors.starts_with(&expected), "{}", outcome.errors);
    }
}

#[cfg(unix)]
#[test]
fn settings_are_not_read_without_end() {
    let place = Place::new();
    let begun = Instant::now();
    for option in ["--config", "--profile"] {
        std::os::unix::fs::symlink("/dev/zero", place.path("z.toml")).ok();
        let outcome = place.run(&["run", "--workload", "uniform", option, "z.toml"]);
        assert_eq!(outcome.status, 2, "{}", outcome.errors);
        assert!(
            outcome
                .errors
                .contains("z.toml: is longer than 1 MiB; expected a TOML file"),
            "{}",
            outcome.errors
        );
    }
    assert!(begun.elapsed() < SECONDS_MAX);
}

/// A trace with a write, then 100 trims of 256 GiB each, and then another write.
fn long_trims() -> String {
    let mut text = "time,volume,op,sector,sectors,fua,stream\n".to_owned();
    text += "0,0,write,8,8,0,0\n";
    for step in 1..=100 {
        text += &format!("{step}000000,0,trim,0,536870912,0,0\n");
    }
    text + "200000000,0,write,536870904,8,0,0\n"
}

#[test]
fn a_trim_of_what_was_never_written_takes_no_memory() {
    let place = Place::new();
    place.write("t.csv", long_trims());
    let layers = [
        "none",
        "page",
        "dftl",
        "hat",
        "pslc",
        "block",
        "bast",
        "fast",
        "superblock",
    ];
    let limit = ["--memory-limit", "160MiB", "--json"];
    for layer in layers {
        for buffer in ["nocache", "lru"] {
            let run = ["run", "t.csv", "--ftl", layer, "--buffer", buffer];
            let device = ["--set", "sim.precondition=none"];
            let results = place.json(&[&run[..], &device, &limit].concat());
            let metrics = &results["metrics"];
            assert_eq!(metrics["host.requests"], 102, "{layer} {buffer}");
        }
    }
}

#[test]
fn a_trim_of_a_device_that_was_filled_takes_little_memory() {
    let place = Place::new();
    let mut text = "time,volume,op,sector,sectors,fua,stream\n".to_owned();
    text += "0,0,write,8,8,0,0\n1000000,0,trim,0,134217728,0,0\n2000000,0,read,64,8,0,0\n";
    place.write("t.csv", text);
    // `dftl` and `hat` are not here, because their maps need time for each trimmed page.
    let layers = [
        "page", "pslc", "block", "bast", "fast", "last", "sast", "striped", "zns",
    ];
    for layer in layers {
        let run = ["run", "t.csv", "--ftl", layer, "--memory-limit", "160MiB"];
        let results = place.json(&[&run[..], &["--json"]].concat());
        let metrics = &results["metrics"];
        assert_eq!(metrics["host.requests"], 3, "{layer}");
        assert_eq!(metrics["flash.reads"], 0, "{layer}: a trimmed page");
    }
}
