//! Tests of small mistakes of users that the program must report: options that would have no effect, and names that
//! have another meaning than the user expects.

use crate::common;

use common::Place;

const TRACE: &str = "0.5 0 0 8 0\n1.5 0 8 8 0\n";

fn place() -> Place {
    let place = Place::new();
    place.write("t.disksim", TRACE);
    place
}

/// Runs `arguments`. The program must refuse the command with the line `expected`, and must not leave a file behind.
fn refused(place: &Place, arguments: &[&str], expected: &str) {
    let before = place.files();
    let outcome = place.run(arguments);
    assert_eq!(
        (outcome.status, outcome.output.as_str()),
        (2, ""),
        "{arguments:?}"
    );
    assert_eq!(
        outcome.errors,
        format!("destage: error: {expected}\n"),
        "{arguments:?}"
    );
    assert_eq!(place.files(), before, "{arguments:?}");
}

#[test]
fn a_dash_is_no_file_for_a_log() {
    let place = place();
    let expected = "-: is not a file; expected a name, /dev/stdout for standard output, or ./- for a file of that name";
    refused(
        &place,
        &["run", "t.disksim", "--response-log", "-"],
        expected,
    );
    let outcome = place.run(&["trace", "convert", "t.disksim", "--to", "csv", "-o", "./-"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(place.files(), ["-", "t.disksim"]);
}

#[test]
fn a_folder_that_is_missing_is_said_in_the_systems_words() {
    refused(
        &place(),
        &["trace", "convert", "t.disksim", "-o", "none/t.csv"],
        "none/t.csv: cannot be written: No such file or directory (os error 2); expected a path in an existing, writable folder",
    );
}

#[test]
fn the_compact_form_has_no_other_unit_of_time() {
    let place = place();
    place.succeed(&["trace", "convert", "t.disksim", "-o", "t.compact"]);
    refused(
        &place,
        &["run", "t.compact", "--set", "trace.time_unit=us"],
        "trace.time_unit: \"us\" is not usable; expected auto for t.compact, since compact counts 0.1 ns; `destage trace scale` changes times",
    );
    let told = place.succeed(&["trace", "info", "t.compact"]);
    assert!(
        told.starts_with("t.compact: compact, times in 0.1ns\n"),
        "{told}"
    );
}

#[test]
fn a_slice_beyond_the_trace_is_told() {
    let place = place();
    let warning = "destage: warning: t.disksim: none of its requests is left (skip, limit, writes only, trace.array_member)\n";
    for command in [&["run", "t.disksim"][..], &["trace", "info", "t.disksim"]] {
        let outcome = place.run(&[command, &["--skip", "2"]].concat());
        assert_eq!(
            (outcome.status, outcome.errors.as_str()),
            (0, warning),
            "{command:?}"
        );
        let outcome = place.run(&[command, &["--skip", "1", "--quiet"]].concat());
        assert_eq!(
            (outcome.status, outcome.errors.as_str()),
            (0, ""),
            "{command:?}"
        );
    }
}

#[test]
fn one_request_is_one_request() {
    let place = place();
    for (limit, count) in [("1", "1 request"), ("2", "2 requests")] {
        let outcome = place.run(&[
            "trace",
            "convert",
            "t.disksim",
            "-o",
            "t.csv",
            "--limit",
            limit,
        ]);
        assert_eq!(outcome.errors, format!("destage: t.csv: {count}, csv\n"));
    }
}

#[test]
fn a_size_says_its_unit_once() {
    let told = place().succeed(&["show", "workload", "uniform"]);
    assert!(told.contains("workload.page_bytes = 4KiB\n"), "{told}");
    assert!(
        told.contains("workload.requests = 100000 requests\n"),
        "{told}"
    );
}

#[test]
fn a_workload_has_no_format() {
    for command in ["run", "compare"] {
        refused(
            &place(),
            &[command, "--workload", "uniform", "--format", "spc"],
            "--format spc: uniform is generated and has no format; expected a format only for a trace",
        );
    }
}

#[test]
fn volumes_that_lie_over_one_another_are_told_of() {
    let place = place();
    place.write("two.disksim", "0.5 0 0 8 0\n1.5 1 8 8 0\n");
    let warning = "destage: warning: two.disksim: several volumes overlap in one address space; trace.volumes=separate or concatenate keeps them apart\n";
    for (file, more, errors) in [
        ("two.disksim", &[][..], warning),
        (
            "two.disksim",
            &["--set", "trace.volumes=concatenate"][..],
            "",
        ),
        ("t.disksim", &[], ""),
    ] {
        for command in ["run", "compare"] {
            let outcome = place.run(&[&[command, file, "--ftl", "none"], more].concat());
            assert_eq!((outcome.status, outcome.errors.as_str()), (0, errors));
        }
    }
}

#[test]
fn making_a_trace_says_how_far_it_is_if_asked_and_nothing_if_quiet() {
    let place = place();
    let generate = ["trace", "generate", "--workload", "uniform:requests=70000"];
    let made = |more: &[&str]| {
        let outcome = place.run(&[&generate[..], &["-o", "u.compact"], more].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.errors);
        outcome.errors
    };
    assert_eq!(made(&["--quiet"]), "");
    // On a busy machine there may be several lines of progress.
    assert_eq!(
        made(&["--progress"]).lines().last(),
        Some("destage: u.compact: 70000 requests, compact")
    );
}

#[test]
fn a_scheme_that_knows_the_future_knows_of_trims_that_write() {
    let outcome = place().run(&[
        "run",
        "--workload",
        "zipf:requests=2000,footprint_pages=2000",
        "--buffer",
        "belady",
        "--size",
        "64KiB",
        "--set",
        "trace.trim_every_writes=50",
        "--set",
        "device.trim=strict",
        "--set",
        "host.scheduler=fifo",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
}

#[test]
fn operations_that_add_up_beyond_all_time_are_refused() {
    let run = |requests: &str| {
        let workload = format!("uniform:requests={requests},footprint_pages=2000");
        place().run(&[
            "run",
            "--workload",
            &workload,
            "--buffer",
            "nocache",
            "--set",
            "sim.costing=op_count",
            "--set",
            "flash.program_us=1e9",
        ])
    };
    assert_eq!(run("100000").status, 0);
    let refused = run("3000000");
    assert_eq!(refused.status, 2, "{}", refused.errors);
    assert!(refused.errors.contains("2^64"), "{}", refused.errors);
}
