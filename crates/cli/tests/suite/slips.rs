//! Tests of small mistakes of users that the program must report: options that would have no effect, and names that
//! have a meaning other than the one that the user expects.

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
        let outcome = place.run(&[&["trace", "info", file], more].concat());
        assert_eq!((outcome.status, outcome.errors.as_str()), (0, errors));
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
        Some("destage: u.compact: 70,000 requests, compact")
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

/// An output must not replace a file that the command reads, whichever option names that file.
#[test]
fn an_output_is_none_of_the_files_that_are_read() {
    let place = place();
    place.write("c.toml", "[host]\nqueue_depth = 3\n");
    place.write("c.csv", "[host]\nqueue_depth = 3\n");
    let about = "[profile]\nabout = \"a\"\nsource = \"b\"\n";
    place.write(
        "base.toml",
        format!("{about}[flash]\nblocks_per_plane = 16\n"),
    );
    place.write("p.toml", format!("{about}inherits = \"base.toml\"\n"));
    place.write("j.fio", "[a]\nrw=randwrite\nsize=1m\n");
    place.succeed(&["precondition", "--profile", "p.toml", "-o", "s.csv"]);
    place.succeed(&[
        "trace",
        "generate",
        "--workload",
        "uniform:requests=500",
        "-o",
        "u.csv",
    ]);
    place.succeed(&["trace", "fit", "u.csv", "-o", "fit.toml"]);
    for (command, output) in [
        ("precondition --config c.toml -o c.toml", "-o c.toml"),
        ("precondition --profile p.toml -o p.toml", "-o p.toml"),
        ("precondition --profile p.toml -o base.toml", "-o base.toml"),
        (
            "trace convert t.disksim --config c.csv -o c.csv",
            "-o c.csv",
        ),
        (
            "trace convert t.disksim --to csv -o t.disksim",
            "-o t.disksim",
        ),
        ("trace merge t.disksim u.csv -o u.csv", "-o u.csv"),
        (
            "trace generate --workload fit.toml --to csv -o fit.toml",
            "-o fit.toml",
        ),
        (
            "trace generate --workload j.fio --to csv -o j.fio",
            "-o j.fio",
        ),
        ("trace fit u.csv --config c.toml -o c.toml", "-o c.toml"),
        (
            "run --workload fit.toml --response-log fit.toml",
            "--response-log fit.toml",
        ),
        (
            "run t.disksim --profile p.toml --set sim.precondition=file:s.csv -o s.csv",
            "-o s.csv",
        ),
        ("curve t.disksim --config c.csv -o c.csv", "-o c.csv"),
        ("drive fit u.csv --start p.toml -o p.toml", "-o p.toml"),
        (
            "drive fit u.csv --start p.toml -o base.toml",
            "-o base.toml",
        ),
        (
            "serve --unix s.sock --profile p.toml --record p.toml",
            "--record p.toml",
        ),
        (
            "serve --unix s.sock --profile p.toml --write-log base.toml",
            "--write-log base.toml",
        ),
        (
            "serve --unix s.sock --profile p.toml --set sim.precondition=file:s.csv --record s.csv",
            "--record s.csv",
        ),
    ] {
        // Only Unix has this command.
        if cfg!(not(unix)) && command.starts_with("serve") {
            continue;
        }
        let arguments: Vec<&str> = command.split(' ').collect();
        let expected = format!("{output}: is an input of this run; expected another file");
        refused(&place, &arguments, &expected);
    }
    assert_eq!(place.read("c.toml"), "[host]\nqueue_depth = 3\n");
}

/// A list gives the values of its key, so a pair that sets this key would be ignored.
#[test]
fn a_key_whose_values_a_list_gives_is_not_set() {
    for (command, pair, list) in [
        ("curve t.disksim", "buffer.capacity_bytes=2MiB", "sizes"),
        (
            "size t.disksim --goal waf.host<9",
            "buffer.capacity_bytes=2MiB",
            "sizes",
        ),
        (
            "size t.disksim --goal waf.host<9",
            "buffer.kind=fifo",
            "buffers",
        ),
        (
            "compare t.disksim --sizes 1MiB",
            "buffer.capacity_bytes=2MiB",
            "sizes",
        ),
        (
            "compare t.disksim --buffers lru",
            "buffer.kind=fifo",
            "buffers",
        ),
        ("compare t.disksim --ftls page", "ftl.kind=bast", "ftls"),
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--set", pair]).collect();
        let (key, _) = pair.split_once('=').expect("a pair");
        let expected = format!(
            "--set {pair}: the list {list} gives the values of {key}; expected a value there"
        );
        refused(&place(), &arguments, &expected);
    }
    // The short form of a single scheme is not a pair.
    let one = [
        "size",
        "t.disksim",
        "--goal",
        "waf.host<9",
        "--buffer",
        "fifo",
    ];
    place().succeed(&one);
}

/// A workload is not read, so the settings that say how a trace is read have no effect on it.
#[test]
fn a_workload_is_not_read() {
    let place = place();
    let workload = ["--workload", "zipf:requests=100,footprint_pages=50"];
    let pairs = [
        "--set",
        "trace.volumes=concatenate",
        "--set",
        "trace.time_unit=s",
    ];
    let said = "destage: warning: trace.time_unit was set, but has no effect: it needs a trace file\n\
        destage: warning: trace.volumes was set, but has no effect: it needs a trace, and not a workload\n";
    for command in [
        &["run"][..],
        &["compare"],
        &["curve"],
        &["size", "--goal", "waf.host<9"],
        &["trace", "generate", "-o", "g.csv", "--quiet"],
    ] {
        let outcome = place.run(&[command, &workload, &pairs].concat());
        assert_eq!(outcome.status, 0, "{command:?}: {}", outcome.errors);
        assert!(
            outcome.errors.ends_with(said),
            "{command:?}: {}",
            outcome.errors
        );
    }
    let csv = ["run", "g.csv", "--set", "trace.time_unit=us"];
    let outcome = place.run(&csv);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert!(
        !outcome.errors.contains("has no effect"),
        "{}",
        outcome.errors
    );
    refused(
        &place,
        &[&["run", "--on-bad-line", "skip"], &workload[..]].concat(),
        "--on-bad-line skip: zipf is generated and has no lines; expected it only for a trace",
    );
}

/// A command that simulates nothing says which settings it does not use, and refuses only values that nothing accepts.
#[test]
fn a_command_about_traces_names_what_it_does_not_use() {
    let place = place();
    for (command, key, used) in [
        (
            "trace convert t.disksim -o t.csv --quiet",
            "buffer.kind=fifo",
            "trace.*",
        ),
        (
            "trace info t.disksim",
            "buffer.capacity_bytes=4",
            "trace.*, flash.*, ftl.*",
        ),
        (
            "trace anonymize t.disksim -o a.csv --quiet",
            "flash.dies=2",
            "trace.*, sim.seed",
        ),
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--set", key]).collect();
        let outcome = place.run(&arguments);
        let (name, _) = key.split_once('=').expect("a pair");
        let said = format!(
            "destage: warning: {name} was set, but has no effect: this command uses only {used}\n"
        );
        assert_eq!((outcome.status, outcome.errors), (0, said));
    }
    let json = place.json(&[
        "trace",
        "info",
        "t.disksim",
        "--json",
        "--set",
        "buffer.kind=fifo",
    ]);
    assert_eq!(
        json["manifest"]["warnings"].as_array().map(Vec::len),
        Some(1)
    );
    let outcome = place.run(&["trace", "info", "t.disksim", "--set", "buffer.kind=fivo"]);
    assert_eq!(outcome.status, 2, "{}", outcome.errors);
}

/// A column that no run has does not sort the rows.
#[test]
fn a_sort_by_what_no_run_has_is_told() {
    let place = place();
    let compare = [
        "compare",
        "t.disksim",
        "--ftl",
        "none",
        "--buffers",
        "lru,fifo",
    ];
    let outcome = place.run(&[&compare[..], &["--sort", "flash.erases"]].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(
        outcome.errors,
        "destage: warning: --sort flash.erases: no run has it, so the rows are not sorted\n"
    );
    let outcome = place.run(&[&compare[..], &["--sort", "buffer.evictions"]].concat());
    assert_eq!(outcome.errors, "");
}
