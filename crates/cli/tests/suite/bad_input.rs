//! Tests of wrong input. The error must be one line, the exit status must be 2, and the program must not leave a file
//! behind.

use crate::common;

use common::{Place, TINY, page_writes};

const GOOD: &str = "0.0 0 0 8 0\n1.0 0 8 8 0\n";

/// Runs `arguments` with options for every output file. The program must refuse the command, and the error must
/// contain all of `parts`.
fn refused(place: &Place, arguments: &[&str], parts: &[&str]) {
    let before = place.files();
    let outputs = [
        "-o",
        "out.json",
        "--response-log",
        "responses.csv",
        "--destage-log",
        "destages.csv",
    ];
    let outcome = place.run(&[arguments, &outputs].concat());
    assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.errors);
    assert_eq!(outcome.output, "", "{arguments:?}");
    assert_eq!(place.files(), before, "{arguments:?}");
    let lines: Vec<_> = outcome.errors.lines().collect();
    assert_eq!(lines.len(), 1, "{arguments:?}: {}", outcome.errors);
    assert!(lines[0].starts_with("destage: error: "), "{}", lines[0]);
    for part in parts.iter().chain(&["expected"]) {
        assert!(lines[0].contains(part), "no {part:?} in: {}", lines[0]);
    }
}

/// Runs a trace whose third line is `line`. The program must refuse the trace. The error must contain the name of the
/// file, the line number and all of `parts`.
fn line_refused(line: &str, parts: &[&str]) {
    let place = Place::new();
    place.write("t.disksim", format!("{GOOD}{line}\n"));
    refused(
        &place,
        &["run", "t.disksim"],
        &[&["t.disksim:3: "], parts].concat(),
    );
}

#[test]
fn a_malformed_line() {
    line_refused("what is this", &["\"what"]);
}

#[test]
fn a_line_with_too_few_fields() {
    line_refused("2.0 0 16 8", &["2.0 0 16 8"]);
}

#[test]
fn a_line_with_too_many_fields() {
    line_refused("2.0 0 16 8 0 7", &["7"]);
}

#[test]
fn a_field_that_is_no_number() {
    line_refused("2.0 0 sixteen 8 0", &["\"sixteen\""]);
}

#[test]
fn a_negative_length() {
    line_refused("2.0 0 16 -8 0", &["\"-8\""]);
}

#[test]
fn a_length_of_zero() {
    line_refused("2.0 0 16 0 0", &["length"]);
}

#[test]
fn a_time_that_goes_back() {
    line_refused("0.5 0 16 8 0", &["0.5"]);
}

#[test]
fn a_time_past_the_last_tick() {
    line_refused(
        "1844674407370.9551616 0 16 8 0",
        &["\"1844674407370.9551616\"", "below 2^64 ticks of 0.1 ns"],
    );
}

/// Runs, with `settings`, a trace whose second request arrives at `ms`. The program must refuse the trace. The error
/// must contain all of `parts`.
fn too_late(ms: &str, settings: &[&str], parts: &[&str]) {
    let place = Place::new();
    place.write("t.disksim", format!("0.0 0 0 8 0\n{ms} 0 8 8 0\n"));
    refused(
        &place,
        &[&["run", "t.disksim"], settings].concat(),
        &[&["t.disksim:2: ", "below 2^64 ticks of 0.1 ns"], parts].concat(),
    );
}

#[test]
fn a_time_that_leaves_a_run_no_time() {
    let last = "1844674407370.9551615";
    too_late(last, &[], &["\"1844674407370.9551615 ms\""]);
    too_late(last, &["--set", "sim.clock=double_ms"], &[]);
    // The arrival time is valid, but the program of this write would end after the latest time that the simulator can
    // represent.
    let late = "1844674407370.9000000";
    too_late(
        late,
        &["--buffer", "nocache"],
        &["\"1844674407370.9000000 ms\""],
    );
    let place = Place::new();
    place.write("t.disksim", format!("0.0 0 0 8 0\n{late} 0 8 8 0\n"));
    // Without flash no event follows the arrival of this write, so the run succeeds.
    place.succeed(&["run", "t.disksim", "--ftl", "none"]);
}

#[test]
fn a_request_whose_data_never_arrive() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 1900000000 1\n");
    let mut arguments = vec!["run", "t.disksim", "--buffer", "nocache"];
    for pair in [
        "host.bus_ns_per_sector=1e9",
        "flash.page_bytes=1MiB",
        "trace.addr_map=modulo",
    ] {
        arguments.extend(["--set", pair]);
    }
    refused(
        &place,
        &arguments,
        &[
            "t.disksim:1: ",
            "\"0.0000000 ms\"",
            "below 2^64 ticks of 0.1 ns",
        ],
    );
}

#[test]
fn a_time_scale_that_leads_past_the_last_tick() {
    too_late(
        "1844.7",
        &["--set", "host.time_scale=1e9"],
        &["\"1844.7000000 ms\"", "host.time_scale=1000000000"],
    );
}

#[test]
fn a_request_beyond_the_device() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 1_000_000]));
    let arguments = [&["run", "t.disksim"], &TINY[..]].concat();
    refused(
        &place,
        &arguments,
        &["t.disksim:3: ", "8000000", "beyond the device", "flash."],
    );
}

#[test]
fn an_empty_file() {
    let place = Place::new();
    place.write("t.disksim", "");
    refused(
        &place,
        &["run", "t.disksim"],
        &["t.disksim: ", "no requests"],
    );
}

#[test]
fn a_truncated_compressed_file() {
    let place = Place::new();
    let text: String = (0..5000)
        .map(|index| format!("{index}.0 0 {} 8 0\n", index * 8))
        .collect();
    let whole = zstd::encode_all(text.as_bytes(), 3).unwrap();
    place.write("t.disksim.zst", &whole[..whole.len() / 2]);
    refused(
        &place,
        &["run", "t.disksim.zst"],
        &["t.disksim.zst: ", "cut off"],
    );
}

#[test]
fn binary_garbage() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..4096_u32)
        .map(|index| (index * 37 % 251) as u8)
        .collect();
    place.write("t.bin", bytes);
    refused(&place, &["run", "t.bin"], &["t.bin: ", "not text"]);
}

#[test]
fn a_missing_file() {
    refused(
        &Place::new(),
        &["run", "none.disksim"],
        &["none.disksim: ", "opened"],
    );
}

#[test]
fn an_ambiguous_format() {
    let place = Place::new();
    place.write("t.txt", "0 0 0 8 0\n1000 0 8 8 0\n");
    refused(
        &place,
        &["run", "t.txt"],
        &["t.txt:1: ", "expected the name of one of these formats"],
    );
}

#[test]
fn an_unknown_format() {
    let parts = ["--format \"disksm\"", "did you mean \"disksim\"?"];
    refused(&Place::new(), &["run", "t", "--format", "disksm"], &parts);
}

#[test]
fn an_unknown_key() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    let parts = [
        "--set no.such_thing=1",
        "unknown parameter \"no.such_thing\"",
    ];
    refused(
        &place,
        &["run", "t.disksim", "--set", "no.such_thing=1"],
        &parts,
    );
}

#[test]
fn a_misspelt_key() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    let parts = ["did you mean \"flash.dies\"?"];
    refused(
        &place,
        &["run", "t.disksim", "--set", "flash.deis=4"],
        &parts,
    );
}

#[test]
fn a_misspelt_key_in_a_file() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    place.write("c.toml", "[host]\nqueue_dept = 4\n");
    let parts = ["c.toml: ", "did you mean \"host.queue_depth\"?"];
    refused(&place, &["run", "t.disksim", "--config", "c.toml"], &parts);
}

#[test]
fn misspelt_names() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    for (option, name, near) in [
        ("--buffer", "lur", "lru"),
        ("--ftl", "pge", "page"),
        ("--profile", "disksim-sdd", "disksim-ssd"),
    ] {
        let near = format!("did you mean {near:?}?");
        refused(&place, &["run", "t.disksim", option, name], &[name, &near]);
        for command in [
            &["compare"][..],
            &["curve"],
            &["size", "--goal", "waf.host<1"],
        ] {
            let outcome = place.run(&[command, &["t.disksim", option, name]].concat());
            assert_eq!(outcome.status, 2, "{command:?}: {}", outcome.errors);
            assert!(outcome.errors.contains(&near), "{}", outcome.errors);
        }
    }
    refused(
        &place,
        &["run", "--workload", "zpif"],
        &["did you mean \"zipf\"?"],
    );
    refused(
        &place,
        &["run", "--workload", "zipf:skw=1"],
        &["did you mean \"skew\"?"],
    );
}

#[test]
fn geometry_of_nothing() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    for key in [
        "flash.dies",
        "flash.planes_per_die",
        "flash.blocks_per_plane",
        "flash.pages_per_block",
        "flash.page_bytes",
    ] {
        let pair = format!("{key}=0");
        refused(
            &place,
            &["run", "t.disksim", "--set", &pair],
            &[key, "\"0\""],
        );
    }
}

#[test]
fn geometry_beyond_all_measure() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    for pair in [
        "flash.pages_per_block=4000000000",
        "flash.page_bytes=1000",
        "flash.dies=-1",
    ] {
        let key = pair.split('=').next().unwrap();
        refused(&place, &["run", "t.disksim", "--set", pair], &[key]);
    }
    for pair in ["flash.blocks_per_plane=4000000000", "flash.dies=4000000000"] {
        let outcome = place.run(&["run", "t.disksim", "--set", pair]);
        assert_eq!(
            (outcome.status, outcome.output.as_str()),
            (2, ""),
            "{pair}: {}",
            outcome.errors
        );
    }
}

#[test]
fn a_summary_page_that_leaves_no_page_for_data() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    let sets = [
        "--set",
        "flash.pages_per_block=1",
        "--set",
        "flash.summary_page=true",
    ];
    let outcome = place.run(&[&["run", "t.disksim"], &sets[..]].concat());
    assert_eq!(
        (outcome.status, outcome.output.as_str()),
        (2, ""),
        "{}",
        outcome.errors
    );
    assert!(
        outcome.errors.contains("summary page"),
        "{}",
        outcome.errors
    );
}

#[test]
fn a_buffer_of_no_bytes() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    refused(
        &place,
        &["run", "t.disksim", "--size", "0"],
        &["buffer.capacity_bytes", "nocache"],
    );
    refused(
        &place,
        &["run", "t.disksim", "--size", "8 Mib"],
        &["--size 8 Mib", "8MiB"],
    );
}

#[test]
fn a_parameter_of_another_scheme() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    // The program accepts a parameter of another scheme with a warning. An invalid value of such a parameter is an
    // error.
    let outcome = place.run(&["run", "t.disksim", "--buffer", "fifo:lru_unit=request"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let named =
        "buffer.lru_unit was set, but has no effect: it is a parameter of lru, but fifo is chosen";
    assert!(outcome.errors.contains(named), "{}", outcome.errors);
    refused(
        &place,
        &["run", "t.disksim", "--buffer", "fifo:lru_unit=pages"],
        &["buffer.lru_unit", "expected one of page, request"],
    );
}

#[test]
fn options_that_contradict_each_other() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    let before = place.files();
    for arguments in [
        &["run"][..],
        &["compare"],
        &["run", "t.disksim", "--workload", "zipf"],
        &["run", "t.disksim", "--json", "--csv"],
        &["run", "t.disksim", "--quiet", "--progress"],
        &["run", "t.disksim", "--limit", "some"],
        &["run", "t.disksim", "--threads", "0"],
        &["run", "t.disksim", "--no-such-option"],
        &[
            "compare",
            "t.disksim",
            "--buffers",
            "lru",
            "--buffer",
            "fifo",
        ],
        &[
            "run",
            "t.disksim",
            "-o",
            "x.json",
            "--response-log",
            "x.json",
        ],
        &["run", "t.disksim", "-o", "x"],
        &["run", "t.disksim", "--response-log", "t.disksim"],
        &["no-such-command"],
        &[],
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.errors);
        assert_eq!(outcome.output, "", "{arguments:?}");
        assert!(!outcome.errors.is_empty(), "{arguments:?}");
        assert_eq!(place.files(), before, "{arguments:?}");
    }
}

#[test]
fn an_output_file_that_cannot_be_written() {
    let place = Place::new();
    place.write("t.disksim", GOOD);
    for option in ["-o", "--response-log", "--destage-log", "--erase-log"] {
        let outcome = place.run(&["run", "t.disksim", option, "no/such/folder/x.csv"]);
        assert_eq!(outcome.status, 2, "{option}: {}", outcome.errors);
        assert_eq!(outcome.output, "", "{option}");
        assert!(
            outcome
                .errors
                .contains("no/such/folder/x.csv: cannot be written"),
            "{option}"
        );
        assert!(!outcome.errors.contains(".partial"), "{}", outcome.errors);
    }
}

#[test]
fn an_old_result_survives_a_failure() {
    let place = Place::new();
    place.write("t.disksim", format!("{GOOD}bad\n"));
    place.write("out.json", "old");
    assert_eq!(place.run(&["run", "t.disksim", "-o", "out.json"]).status, 2);
    assert_eq!(place.read("out.json"), "old");
    assert_eq!(place.files(), ["out.json", "t.disksim"]);
}

#[test]
fn standard_input_cannot_be_read_twice() {
    let outcome = Place::new().run_with(
        &[
            "run",
            "-",
            "--format",
            "disksim",
            "--set",
            "trace.addr_map=shrink",
        ],
        b"",
    );
    assert_eq!(outcome.status, 2);
    assert!(outcome.errors.contains("twice"), "{}", outcome.errors);
}
