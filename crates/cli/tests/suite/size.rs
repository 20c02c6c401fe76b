//! Tests of the size of the device, which the program chooses for the input or the user gives as a capacity, and of
//! the notes about the size.

use crate::common;

use common::{Place, json, page_writes};

/// Runs `t.disksim` with `arguments`. Returns the number of blocks in a plane, and standard error with the note
/// about the size.
fn blocks(place: &Place, arguments: &[&str]) -> (u64, String) {
    let outcome = place.run(&[&["run", "--json"], arguments].concat());
    assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.errors);
    let document = json(&outcome.output);
    let blocks = document["parameters"]["flash.blocks_per_plane"].as_u64();
    (blocks.expect("a number"), outcome.errors)
}

#[test]
fn a_trace_gets_a_device_that_holds_it() {
    let place = Place::new();
    // The addresses of the trace end a little beyond 27.3 GiB, and 15 % of the flash is reserved.
    place.write("t.disksim", page_writes(&[0, 7_156_500]));
    let note = "destage: note: flash.blocks_per_plane=4096 (auto): 64 GiB device for addresses up to 27.30 GiB\n";
    assert_eq!(blocks(&place, &["t.disksim"]), (4096, note.to_owned()));
    let again = blocks(
        &place,
        &["t.disksim", "--set", "flash.blocks_per_plane=auto"],
    );
    assert_eq!(again.1, note);
    let of_profile = [
        "t.disksim",
        "--profile",
        "apu-slc",
        "--set",
        "flash.blocks_per_plane=auto",
    ];
    assert!(blocks(&place, &of_profile).1.contains("(auto)"));
    // The program prints no note if the user gives a size or `--quiet`.
    let given = ["t.disksim", "--set", "flash.blocks_per_plane=4096"];
    assert_eq!(blocks(&place, &given), (4096, String::new()));
    let quiet = blocks(&place, &["t.disksim", "--quiet"]);
    assert_eq!(quiet, (4096, String::new()));
    let profile = ["t.disksim", "--profile", "bpac-slc"];
    assert_eq!(blocks(&place, &profile), (131_072, String::new()));
    // The line that describes the run contains the number of blocks.
    let text = place.succeed(&["run", "t.disksim"]);
    assert!(text.contains("8 planes x 4096 blocks x"), "{text}");
}

#[test]
fn a_stream_is_not_read_twice() {
    let place = Place::new();
    let writes = page_writes(&[0, 7_156_500]);
    let arguments = ["run", "-", "--format", "disksim", "--json"];
    let outcome = place.run_with(&arguments, writes.as_bytes());
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(
        outcome.errors,
        "destage: note: flash.blocks_per_plane=131072 (auto): 2 TiB device for an input that is read only once\n"
    );
    let found = &json(&outcome.output)["parameters"]["flash.blocks_per_plane"];
    assert_eq!(*found, 131_072);
}

#[test]
#[cfg(unix)]
fn a_named_pipe_is_read_once() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo")
        .arg(place.path("pipe"))
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let path = place.path("pipe");
    let writer = std::thread::spawn(move || std::fs::write(path, page_writes(&[0, 1, 2])));
    let (found, errors) = blocks(&place, &["pipe", "--format", "disksim"]);
    assert_eq!(found, 131_072);
    assert!(errors.contains("read only once"), "{errors}");
    writer
        .join()
        .expect("the writer ends")
        .expect("all is written");
}

#[test]
fn what_needs_the_requests_beforehand_fails_alone_on_a_stream() {
    let place = Place::new();
    let writes = page_writes(&[0, 1, 2]);
    let compare = ["compare", "-", "--format", "disksim"];
    let arguments = [&compare[..], &["--buffers", "lru,belady"]].concat();
    let outcome = place.run_with(&arguments, writes.as_bytes());
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.output.contains("not possible"),
        "{}",
        outcome.output
    );
    let text = "error: - on belady of 8 MiB, FTL page: -: a scheme that knows the coming writes reads the trace twice; expected a regular file";
    assert!(outcome.errors.contains(text), "{}", outcome.errors);
}

#[test]
fn a_comparison_says_which_input_has_which_device() {
    let place = Place::new();
    place.write("a.disksim", page_writes(&[0, 1_000]));
    place.write("b.disksim", page_writes(&[0, 1_000_000]));
    let outcome = place.run(&["compare", "a.disksim", "b.disksim", "--buffers", "lru,fifo"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(
        outcome.errors,
        "destage: note: a.disksim: flash.blocks_per_plane=8 (auto): 128 MiB device for addresses up to 3.910 MiB\n\
         destage: note: b.disksim: flash.blocks_per_plane=512 (auto): 8 GiB device for addresses up to 3.815 GiB\n"
    );
    assert!(
        outcome.output.contains("8 planes x 8 to 512 blocks x"),
        "{}",
        outcome.output
    );
}

#[test]
fn a_capacity_stands_in_place_of_a_number_of_blocks() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1_000]));
    let bytes = |blocks: u64, reserve: f64| {
        let kept = blocks - (blocks as f64 * reserve) as u64;
        kept * 64 * 64 * 4096
    };
    let device = ["t.disksim", "--capacity", "1TB", "--op", "7"];
    let (found, errors) = blocks(&place, &device);
    assert_eq!(errors, "");
    let share = 7.0 / 107.0;
    assert!(bytes(found, share) >= 1_000_000_000_000);
    assert!(bytes(found - 1, share) < 1_000_000_000_000);
    let document = place.json(&[&["run", "--json"], &device[..]].concat());
    let reserve = document["parameters"]["ftl.reserve_percent"].as_f64();
    assert!((reserve.unwrap() - 100.0 * share).abs() < 1e-12);
    // A run with the parameters from the results simulates the same device.
    let given = [
        "run",
        "--json",
        "t.disksim",
        "--set",
        &format!("flash.blocks_per_plane={found}"),
        "--set",
        &format!("ftl.reserve_percent={}", reserve.unwrap()),
        "--set",
        "ftl.min_free_percent=0",
    ];
    let again = place.json(&given);
    assert_eq!(again["metrics"], document["metrics"]);
    assert_eq!(again["parameters"], document["parameters"]);
    // A capacity overrides the size of a profile. A configuration file can also set the capacity.
    let of_profile = ["t.disksim", "--profile", "tlc", "--capacity", "64GiB"];
    let (found, _) = blocks(&place, &of_profile);
    assert_ne!(found, 512);
    place.write("c.toml", "[device]\ncapacity_bytes = \"64GiB\"\n");
    let of_file = ["t.disksim", "--profile", "tlc", "--config", "c.toml"];
    assert_eq!(blocks(&place, &of_file), (found, String::new()));
}

#[test]
fn capacities_that_cannot_be_had_are_refused() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1_000]));
    let both = "[flash]\nblocks_per_plane = 9\n[device]\ncapacity_bytes = \"1GiB\"\n";
    place.write("c.toml", both);
    for (arguments, expected) in [
        (
            &["--capacity", "1GiB", "--set", "flash.blocks_per_plane=9"][..],
            "--capacity 1GiB: device.capacity_bytes replaces flash.blocks_per_plane, which is set as well (setting flash.blocks_per_plane=9); expected one of the two",
        ),
        (
            &["--config", "c.toml"],
            "c.toml: device.capacity_bytes replaces flash.blocks_per_plane, which is set as well (c.toml); expected one of the two",
        ),
        (
            &["--capacity", "lots"],
            "--capacity lots: device.capacity_bytes: \"lots\": expected a size in bytes from 1",
        ),
        (
            &["--capacity", "100000TB"],
            "expected a smaller one, more flash.dies, or larger pages (flash.page_bytes)",
        ),
        (&["--op", "-1"], "unexpected argument '-1'"),
        (
            &["--op", "much"],
            "--op much: device.op_percent: \"much\": expected a number from 0 to 9900",
        ),
        (&["--op", "0"], "ftl.reserve_percent = 0 of"),
    ] {
        let outcome = place.run(&[&["run", "t.disksim"], arguments].concat());
        assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.output);
        assert!(
            outcome.errors.contains(expected),
            "{arguments:?}: {}",
            outcome.errors
        );
    }
}

#[test]
fn a_capacity_of_the_command_line_wins_over_blocks_of_a_file() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1_000]));
    place.write("c.toml", "[flash]\nblocks_per_plane = 9\n");
    let of_file = ["t.disksim", "--config", "c.toml"];
    assert_eq!(blocks(&place, &of_file).0, 9);
    let of_line = [&of_file[..], &["--capacity", "64GiB"]].concat();
    assert!(blocks(&place, &of_line).0 > 1000);
}

/// A layer sets whole blocks aside. With few blocks, the device differs greatly from the over-provisioning that was
/// typed.
#[test]
fn over_provisioning_that_cannot_be_had_is_noted() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1_000]));
    let few = [
        "t.disksim",
        "--op",
        "50",
        "--set",
        "flash.blocks_per_plane=8",
    ];
    let note = "destage: note: FTL page: over-provisioning is 33.33 % in place of 50 %, because the layer sets whole blocks aside: the device offers 96 MiB of 128 MiB\n";
    assert_eq!(blocks(&place, &few), (8, note.to_owned()));
    let document = place.json(&[&["run", "--json"], &few[..]].concat());
    let notes = document["manifest"]["notes"].as_array().unwrap();
    assert_eq!(notes.len(), 1);
    assert!(note.contains(notes[0].as_str().unwrap()));
    let many = [
        "t.disksim",
        "--op",
        "25",
        "--set",
        "flash.blocks_per_plane=800",
    ];
    assert_eq!(blocks(&place, &many), (800, String::new()));
}

/// What a layer does not have decides nothing, and a warning says so.
#[test]
fn what_a_layer_has_no_use_for_is_named() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1_000]));
    let errors = |arguments: &[&str]| {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.errors);
        outcome.errors
    };
    let no_reserve = "destage: warning: device.op_percent was set, but has no effect: it needs a layer with ftl.reserve_percent\n";
    assert!(errors(&["run", "t.disksim", "--op", "28", "--ftl", "bast"]).contains(no_reserve));
    assert_eq!(errors(&["curve", "t.disksim", "--op", "28"]), no_reserve);
    let layers = ["compare", "t.disksim", "--ftls", "page,bast", "--op", "28"];
    assert!(!errors(&layers).contains("has no effect"));
    let no_flash = "was set, but has no effect: it needs a translation layer with flash (any but ftl.kind = none)\n";
    for (option, value, key) in [
        ("--capacity", "1MiB", "device.capacity_bytes"),
        (
            "--set",
            "flash.blocks_per_plane=1",
            "flash.blocks_per_plane",
        ),
    ] {
        let run = ["run", "t.disksim", "--ftl", "none", option, value];
        assert_eq!(errors(&run), format!("destage: warning: {key} {no_flash}"));
    }
    let of_profile = ["run", "t.disksim", "--ftl", "none", "--profile", "tlc"];
    assert_eq!(errors(&of_profile), "");
}

#[test]
fn addresses_that_no_device_holds_are_refused() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 1000000000000 8 0\n");
    let outcome = place.run(&["run", "t.disksim"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .errors
            .contains("the input's addresses end at page 125000000001"),
        "{}",
        outcome.errors
    );
    place.succeed(&["run", "t.disksim", "--ftl", "none"]);
}

/// By default two volumes begin 2 TiB apart, so a few volumes are beyond the numbers of pages.
#[test]
fn volumes_that_are_too_far_apart_are_named_as_the_cause() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 8 0\n1.0 21 0 8 0\n");
    let separate = ["run", "t.disksim", "--set", "trace.volumes=separate"];
    let outcome = place.run(&separate);
    assert_eq!(outcome.status, 2);
    for part in [
        "offers at most 4294967294 pages",
        "expected trace.volumes = concatenate, a trace.volume_stride of less than 4294967296",
    ] {
        assert!(outcome.errors.contains(part), "{}", outcome.errors);
    }
    let near = ["--set", "trace.volume_stride=1024"];
    place.succeed(&[&separate[..], &near].concat());
}

#[test]
fn ranges_of_sizes_and_all_buffers_are_compared() {
    let place = Place::new();
    let workload = [
        "compare",
        "--workload",
        "zipf:requests=500,footprint_pages=900",
    ];
    let sizes = ["--buffers", "lru,nocache", "--sizes", "256KiB..1MiB"];
    let text = place.succeed(&[&workload[..], &sizes].concat());
    for size in ["256 KiB", "512 KiB", "1 MiB"] {
        let is_row = |line: &str| line.starts_with("lru ") && line.contains(&format!(" {size} "));
        assert!(text.lines().any(is_row), "{size}: {text}");
    }
    assert_eq!(
        text.lines()
            .filter(|line| line.starts_with("nocache"))
            .count(),
        1,
        "{text}"
    );
    let all = place.json(&[&workload[..], &["--buffers", "all", "--json", "--quiet"]].concat());
    let runs = all["runs"].as_array().unwrap();
    let listed = place.succeed(&["list", "buffers"]);
    assert_eq!(runs.len(), listed.lines().count());
    let outcome = place.run(&[&workload[..], &["--sizes", "4MiB..1MiB"]].concat());
    assert!(
        outcome
            .errors
            .contains("expected LO..HI with two sizes in bytes"),
        "{}",
        outcome.errors
    );
}

#[test]
fn what_only_said_where_to_look_is_not_in_the_line_of_a_search() {
    let place = Place::new();
    let text = place.succeed(&[
        "size",
        "--workload",
        "zipf:requests=2000,footprint_pages=300",
        "--goal",
        "waf.host<9",
        "--buffers",
        "lru,fab,bplru",
    ]);
    assert!(text.contains("yes, without a clock"), "{text}");
    let line = text.lines().nth(1).expect("two lines");
    assert!(line.contains("FTL page, 8 dies"), "{text}");
    assert!(!line.contains(" to "), "{text}");
}

#[test]
fn an_answer_without_garbage_collection_says_so() {
    let place = Place::new();
    let workload = "zipf:requests=500,footprint_pages=500";
    let size = ["size", "--quiet", "--workload", workload];
    let goal = [
        "--goal",
        "waf.host<2",
        "--buffers",
        "lru",
        "--sizes",
        "64KiB..1MiB",
    ];
    let text = place.succeed(&[&size[..], &goal].concat());
    assert!(text.contains("erased no block"), "{text}");
    let others = "No other scheme was tried.";
    assert!(text.contains(others), "{text}");
    // Garbage collection also makes responses longer.
    let goal = [
        "--goal",
        "response.mean_ms<100",
        "--buffers",
        "lru",
        "--sizes",
        "1MiB",
    ];
    let text = place.succeed(&[&size[..], &goal].concat());
    assert!(text.contains("erased no block"), "{text}");
}

/// A page says as much as the terminal: the layer and the device, and which schemes were compared.
#[test]
fn the_page_of_a_search_has_the_heading_of_the_terminal() {
    let place = Place::new();
    let workload = "zipf:requests=300,footprint_pages=200";
    let search = ["size", "--quiet", "--workload", workload];
    let goal = ["--goal", "waf.host<9", "--sizes", "1MiB"];
    let text = place.succeed(&[&search[..], &goal, &["-o", "size.html"]].concat());
    let page = place.read("size.html");
    for part in ["FTL page, 8 dies", "the schemes that the papers compare"] {
        assert!(text.contains(part) && page.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("buffer of"), "{text}");
}

/// A column without values is explained.
#[test]
fn a_column_that_no_run_has_is_named() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1]));
    let outcome = place.run(&[
        "compare",
        "t.disksim",
        "--set",
        "sim.costing=op_count",
        "--columns",
        "response.write.p99_ms,waf.host",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let said = "destage: warning: --columns response.write.p99_ms: no run has it";
    assert!(outcome.errors.contains(said), "{}", outcome.errors);
    assert!(!outcome.errors.contains("waf.host"), "{}", outcome.errors);
}

/// A device cannot be as small as one likes. If it is far larger than asked for, a note says so.
#[test]
fn a_device_that_is_larger_than_asked_for_is_named() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1]));
    let (_, errors) = blocks(&place, &["t.disksim", "--capacity", "1MiB"]);
    assert!(
        errors.contains("device that offers at least 1 MiB"),
        "{errors}"
    );
    assert_eq!(blocks(&place, &["t.disksim", "--capacity", "4GiB"]).1, "");
}
