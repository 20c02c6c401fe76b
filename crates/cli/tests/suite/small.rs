//! Tests of small errors. If results would be empty, lost or unreadable, the program must refuse the command or
//! report this.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Outcome, Place, page_writes};

const WORKLOAD: [&str; 2] = ["--workload", "uniform:requests=1000"];

fn refused(outcome: &Outcome, parts: &[&str]) {
    assert_eq!((outcome.status, &*outcome.output), (2, ""));
    for part in parts {
        assert!(outcome.errors.contains(part), "{part}: {}", outcome.errors);
    }
}

#[test]
fn a_file_that_may_not_be_written_is_not_replaced() {
    let place = Place::new();
    place.write("x.json", "kept");
    let path = place.path("x.json");
    let mut rights = path.metadata().unwrap().permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&path, rights).unwrap();
    let outcome = place.run(&[&["run"], &WORKLOAD[..], &["-o", "x.json"]].concat());
    refused(&outcome, &["x.json: cannot be written: "]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
    assert_eq!(place.files(), ["x.json"]);
}

#[cfg(unix)]
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let place = Place::new();
    let run = |requests: &str| {
        let workload = format!("uniform:requests={requests}");
        place
            .command(&["run", "--workload", &workload, "-o", "x.json"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let partial = || {
        let files = place.files();
        files.into_iter().find(|name| name.ends_with(".partial"))
    };
    let mut child = run("1000000000");
    let left = loop {
        match partial() {
            Some(name) => break name,
            None => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    };
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let make_old = || {
        let file = std::fs::File::options()
            .append(true)
            .open(place.path(&left));
        file.unwrap().set_modified(long_ago).unwrap();
    };
    make_old();
    // The first process still runs, so the second process must not remove the unfinished file of the first.
    assert!(run("10").wait().unwrap().success());
    assert_eq!(partial().as_ref(), Some(&left));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(partial().as_ref(), Some(&left));
    assert!(run("10").wait().unwrap().success());
    assert_eq!(place.files(), ["x.json"]);
}

#[test]
fn a_log_that_would_be_empty_is_refused() {
    let place = Place::new();
    for (more, option) in [
        (["--ftl", "none"], "--response-log"),
        (["--set", "sim.costing=op_count"], "--response-log"),
        (["--ftl", "none"], "--erase-log"),
    ] {
        let run = [&["run"], &WORKLOAD[..], &more, &[option, "log.csv"]].concat();
        let outcome = place.run(&run);
        refused(
            &outcome,
            &[option, "log.csv: this run has no ", "; expected "],
        );
        assert!(place.files().is_empty());
    }
}

#[test]
fn an_error_names_the_option_that_was_typed() {
    let place = Place::new();
    for (option, item) in [("--buffers", "lur"), ("--ftls", "pag")] {
        for item in [item, &format!("{item}:x")] {
            let outcome = place.run(&[&["compare"], &WORKLOAD[..], &[option, item]].concat());
            refused(&outcome, &[&format!("error: {option} ")]);
        }
    }
}

#[test]
fn an_option_that_takes_one_value_is_refused_twice() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 2]));
    let workload = ["run", "--workload", "uniform", "--workload", "zipf"];
    let size = ["run", "t.disksim", "--size", "1MiB", "--size=2MiB"];
    let form = [
        "trace",
        "convert",
        "t.disksim",
        "-o",
        "a.csv",
        "-o",
        "b.csv",
    ];
    for arguments in [&workload[..], &size, &form] {
        refused(&place.run(arguments), &["cannot be used multiple times"]);
    }
    let pairs = ["--set", "host.queue_depth=2", "--set", "host.queue_depth=3"];
    let document = place.json(&[&["run", "t.disksim", "--json"], &pairs[..]].concat());
    assert_eq!(document["parameters"]["host.queue_depth"], 3);
}

#[cfg(unix)]
#[test]
fn a_name_does_nothing_to_the_terminal() {
    let place = Place::new();
    let name = "t\u{1b}[31m\u{9b}2J.disksim";
    place.write(name, page_writes(&[0, 1, 2]));
    let shown = "t\\u{1b}[31m\\u{9b}2J.disksim";
    for arguments in [
        &["run", name][..],
        &["compare", name, "--buffers", "lru,fifo"],
        &["trace", "info", name],
    ] {
        let text = place.succeed(arguments);
        assert!(text.contains(shown), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
    place.write(name, "what is this\n");
    let outcome = place.run(&["run", name, "--format", "disksim"]);
    refused(&outcome, &[shown]);
    assert!(!outcome.errors.contains('\u{1b}'), "{}", outcome.errors);
}

#[test]
fn a_table_fits_the_terminal() {
    let place = Place::new();
    let compare = [
        &["compare"],
        &WORKLOAD[..],
        &["--buffers", "nocache,lb-clock", "--sizes", "1MiB,512KiB"],
        &["--ftls", "page,superblock"],
    ]
    .concat();
    let widest = |columns: &str| {
        let output = place.command(&compare).env("COLUMNS", columns).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        // The heading and the remark are sentences, so the test checks only the width of the table.
        let table = text.split("\n\n").nth(1).unwrap();
        table
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap()
    };
    assert!(widest("60") <= 60, "{}", widest("60"));
    assert!(widest("200") > 80, "{}", widest("200"));
}

#[test]
fn a_parameter_of_the_host_that_decides_nothing_is_named() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 2]));
    let warned = |arguments: &[&str]| {
        let run = ["run", "t.disksim", "--set", "host.queue_depth=3"];
        let outcome = place.run(&[&run[..], arguments].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.errors);
        let sentence = "host.queue_depth was set, but has no effect";
        // The warning is also in the manifest of the results.
        let json = place.succeed(&[&run[..], arguments, &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let kept = &json["manifest"]["warnings"];
        let is_named = outcome.errors.contains(sentence);
        assert_eq!(kept.to_string().contains(sentence), is_named, "{kept}");
        is_named
    };
    assert!(warned(&["--ftl", "none"]));
    assert!(warned(&["--set", "sim.costing=op_count"]));
    assert!(!warned(&[]));
    let profile = ["--profile", "disksim-ssd", "--ftl", "none"];
    let outcome = place.run(&[&["run", "t.disksim"], &profile[..]].concat());
    assert!(
        !outcome.errors.contains("has no effect"),
        "{}",
        outcome.errors
    );
}

#[test]
fn a_workload_of_which_nothing_is_left_is_named() {
    let place = Place::new();
    let errors = |command: &str, cut: &[&str]| {
        let run = [command, "--workload", "uniform:requests=100", "--quiet"];
        let outcome = place.run(&[&run[..], cut].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.errors);
        outcome.errors
    };
    for command in ["run", "compare"] {
        for cut in [["--limit", "0"], ["--skip", "100"], ["--skip", "1000000"]] {
            let errors = errors(command, &cut);
            assert!(
                errors.contains("uniform:requests=100: none of its requests is left"),
                "{command} {cut:?}: {errors}"
            );
        }
        assert!(!errors(command, &["--skip", "99"]).contains("not one"));
    }
}
