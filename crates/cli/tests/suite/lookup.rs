//! Tests of `destage explain`. The command must explain names of all kinds and messages of the program. For an
//! unknown word it must suggest the most similar name.

use crate::common;

use common::Place;

#[test]
fn names_and_messages_are_explained() {
    let place = Place::new();
    let told = place.succeed(&["explain", "buffer.capacity_bytes"]);
    assert!(
        told.starts_with("buffer.capacity_bytes (parameter)\n    "),
        "{told}"
    );
    assert!(
        told.contains("Typed: --size BYTES, or --set buffer.capacity_bytes="),
        "{told}"
    );
    let told = place.succeed(&["explain", "waf.host"]);
    assert!(
        told.contains("(metric)") && told.contains("--goal 'waf.host<VALUE'"),
        "{told}"
    );
    // The command explains a message that is copied exactly as the program printed it.
    let outcome = place.run(&[
        "run",
        "--workload",
        "zipf:requests=10",
        "--set",
        "flash.deis=4",
    ]);
    assert_eq!(outcome.status, 2);
    let told = place.succeed(&["explain", outcome.errors.trim()]);
    assert!(
        told.contains("unknown-parameter (message)") && told.contains("flash.dies (parameter)"),
        "{told}"
    );
    // The heading of a column has words of the metric's name.
    for (heading, metric) in [
        ("waf", "waf.host (metric)"),
        ("write hits %", "buffer.write_hits (metric)"),
        ("response mean ms", "response.mean_ms (metric)"),
        ("p99", "response.p99_ms (metric)"),
    ] {
        let told = place.succeed(&["explain", heading]);
        assert!(told.contains(metric), "{heading}: {told}");
    }
    let document = place.json(&["explain", "lru", "--json"]);
    assert_eq!(document[0]["kind"], "buffer");
}

#[test]
fn a_parameter_and_a_section_are_shown_by_their_names() {
    let place = Place::new();
    let one = place.succeed(&["show", "flash.dies"]);
    assert!(
        one.starts_with("flash.dies = 8") && one.lines().count() >= 3,
        "{one}"
    );
    // The condition of an exclusion has several parts, and stands at each parameter that it names.
    let scheduling = place.succeed(&["show", "flash.scheduling"]);
    let both = "Excludes flash.cache_read combined with pages that are programmed together (flash.program_unit, flash.program_passes, ftl.map_unit_bytes), if flash.scheduling is commands_arrival or commands_reads_first: ";
    assert!(scheduling.contains(both), "{scheduling}");
    let section = place.succeed(&["show", "flash"]);
    assert!(
        section.contains(&one) && section.contains("\nflash.erase_us = "),
        "{section}"
    );
    // A parameter of a scheme can be shown without naming the scheme.
    assert!(
        place
            .succeed(&["show", "buffer.lru_unit"])
            .starts_with("buffer.lru_unit = page")
    );
    assert_eq!(
        place.json(&["show", "flash.dies", "--json"])[0]["name"],
        "flash.dies"
    );
}

#[test]
fn a_profile_in_a_file_is_shown_with_what_it_builds_on() {
    let place = Place::new();
    place.write(
        "mine.toml",
        "[profile]\nabout = \"Mine.\"\ninherits = \"tlc\"\n[flash]\ndies = 3\n",
    );
    let told = place.succeed(&["show", "profile", "mine.toml"]);
    assert!(
        told.starts_with("mine.toml: Mine. It builds on tlc.\n"),
        "{told}"
    );
    assert!(
        told.contains("flash.dies = 3") && told.contains("flash.program_us = "),
        "{told}"
    );
    // The source of each value is the profile that sets the value.
    let of = |key: &str| {
        let from = told.find(key).expect("it is shown");
        let entry = told[from..].split("\n\n").next().unwrap_or_default();
        entry.lines().take(3).collect::<Vec<_>>().join(" ")
    };
    assert!(of("flash.dies").contains("(set by mine.toml)"), "{told}");
    assert!(of("flash.program_us").contains("(set by tlc)"), "{told}");
    // The comment behind a value is its source.
    let comment = "Source: a 4 KiB write is a quarter of a page; the rest of the page is read first (set by tlc).";
    assert!(told.contains(comment), "{told}");
    let document = place.json(&[
        "run",
        "--workload",
        "zipf:requests=100",
        "-p",
        "mine.toml",
        "-k",
        "flash.blocks_per_plane=16",
        "--json",
    ]);
    assert_eq!(document["parameters"]["flash.dies"], 3);
    assert_eq!(document["parameters"]["flash.bits_per_cell"], 3);
}

#[test]
fn a_profile_is_shown_with_its_size_and_what_follows_from_the_size() {
    let place = Place::new();
    place.write(
        "mine.toml",
        "[profile]\nabout = \"Mine.\"\ninherits = \"tlc\"\n[device]\ncapacity_bytes = \"32GB\"\nop_percent = 25\n[flash]\nprogram_times_us = \"500/900\"\n",
    );
    let told = place.succeed(&["show", "profile", "mine.toml"]);
    for line in [
        "\ndevice.capacity_bytes = 32000000000 bytes\n",
        "\ndevice.op_percent = 25 %\n",
        "\nflash.blocks_per_plane = ",
        "\nftl.reserve_percent = 20 %  (default 15)\n",
        " Source: computed from device.capacity_bytes.\n",
        "\n    It gives way to flash.program_times_us, which is set as well.\n",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let run = [
        "run",
        "--workload",
        "zipf:requests=10",
        "-p",
        "mine.toml",
        "--json",
    ];
    let blocks = place.json(&run)["parameters"]["flash.blocks_per_plane"].clone();
    let line = format!("\nflash.blocks_per_plane = {blocks}  (default auto)\n");
    assert!(told.contains(&line), "{line}: {told}");
}

#[test]
fn what_a_parameter_may_be_and_who_has_it_is_shown() {
    let place = Place::new();
    assert!(
        place
            .succeed(&["show", "ftl.kind"])
            .contains("Expected: one of none, page")
    );
    let reserves = place.succeed(&["show", "ftl.reserve_percent"]);
    assert!(
        reserves.contains("ftl.reserve_percent = 15 %  (of page, ")
            && reserves.contains("(of zns)"),
        "{reserves}"
    );
    let told = place.succeed(&["show", "workload", "zipf"]);
    assert!(
        told.contains("\nTyped: --workload zipf:KEY=VALUE, or --set workload.KEY=VALUE\n"),
        "{told}"
    );
    place.write("job.fio", "[a]\nrw=randwrite\nsize=1m\n");
    let told = place.succeed(&["show", "workload", "job.fio"]);
    assert!(told.contains("workload.requests = 256 "), "{told}");
    let told = place.succeed(&["explain", "flash.program_unit"]);
    assert!(told.contains("Default: 1 page\n"), "{told}");
}

#[test]
fn every_unknown_word_is_met_with_the_one_that_was_meant() {
    let place = Place::new();
    place.write("t.csv", "time,op,offset,bytes\n1,w,0,4096\n");
    place.write("bad.toml", "[flash]\ndeis = 4\n");
    for (words, meant) in [
        ("rnu t.csv", "run"),
        ("run t.csv --bufer lru", "--buffer"),
        ("run t.csv --buffer lur", "lru"),
        ("run t.csv --buffer none", "nocache"),
        ("run t.csv --buffer lru:lru_unti=page", "buffer.lru_unit"),
        ("run t.csv --ftl pgae", "page"),
        ("run t.csv --profile tcl", "tlc"),
        ("run t.csv --profile bad", "bad.toml"),
        ("size t.csv --goal p99<3", "response.p99_ms"),
        ("compare t.csv --columns response.p99", "response.p99_ms"),
        ("explain responce.p99_ms", "response.p99_ms"),
        ("run t.csv --config bad.toml", "flash.dies"),
        ("run t.csv --set flash.planes=4", "flash.planes_per_die"),
        ("run t.csv --set host.schedular=fifo", "host.scheduler"),
        ("run t.csv --format cvs", "csv"),
        ("run --workload zpif", "zipf"),
        ("run --workload zipf:request=10", "requests"),
        ("compare t.csv --columns waf.hots", "waf.host"),
        ("compare t.csv --sort waf.hots", "waf.host"),
        (
            "curve t.csv --metric write_hits_percent",
            "buffer.write_hits_percent",
        ),
        (
            "size t.csv --goal write_hits_percent>1",
            "buffer.write_hits_percent",
        ),
        ("list bufers", "buffers"),
        ("show flash.deis", "flash.dies"),
        ("show buffer lur", "lru"),
        ("show ftl pgae", "page"),
        ("show profile tcl", "tlc"),
        ("show workload zpif", "zipf"),
        ("explain waf.hots", "waf.host"),
        ("reproduce bplur", "bplru"),
        ("reproduce bplru/w44", "w4"),
        ("trace inof t.csv", "info"),
        ("completions bsah", "bash"),
        ("serve --pace modle", "model"),
    ] {
        let outcome = place.run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.status, 2, "{words}: {}", outcome.errors);
        let lines = outcome
            .errors
            .lines()
            .filter(|line| line.starts_with("destage: error: "));
        assert_eq!(lines.count(), 1, "{words}: {}", outcome.errors);
        let suggested = outcome
            .errors
            .split("did you mean ")
            .nth(1)
            .unwrap_or_default();
        let word = suggested.split(['?']).next().unwrap_or_default();
        assert!(word.contains(meant), "{words}: {}", outcome.errors);
    }
}

#[test]
fn letters_are_short_for_the_options_that_are_typed_most() {
    let place = Place::new();
    let long = [
        "compare",
        "--workload",
        "zipf:requests=500",
        "--buffers",
        "lru,fifo",
        "--sizes",
        "64KiB,128KiB",
        "--ftls",
        "page",
        "--set",
        "flash.dies=2",
        "--limit",
        "400",
        "--threads",
        "1",
        "--csv",
    ];
    let short = [
        "compare",
        "-w",
        "zipf:requests=500",
        "-b",
        "lru,fifo",
        "-s",
        "64KiB,128KiB",
        "-f",
        "page",
        "-k",
        "flash.dies=2",
        "-n",
        "400",
        "-t",
        "1",
        "--csv",
    ];
    assert_eq!(place.succeed(&short), place.succeed(&long));
    let one = place.json(&[
        "run",
        "-w",
        "zipf:requests=500",
        "-b",
        "fab",
        "-s",
        "64KiB",
        "-f",
        "bast",
        "-q",
        "--json",
    ]);
    assert_eq!(one["parameters"]["buffer.kind"], "fab");
    assert_eq!(one["parameters"]["ftl.kind"], "bast");
    let answers = place.json(&[
        "size",
        "-w",
        "zipf:requests=500",
        "-g",
        "buffer.write_hits>1",
        "-b",
        "lru",
        "-s",
        "64KiB..256KiB",
        "--json",
    ]);
    assert_eq!(answers["answers"][0]["buffer"], "lru");
}
