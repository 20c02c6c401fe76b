//! Tests of studies and reproductions on the command line. The documented examples must run, errors must be reported,
//! and one page must show the results.

use crate::common;

use std::path::Path;

use common::{Outcome, Place};

/// The TOML blocks in docs/STUDIES.md, in the order of the page. The study has fewer requests than on the page.
fn documented() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/STUDIES.md");
    let text = std::fs::read_to_string(path).expect("docs/STUDIES.md");
    let blocks = text.split("```toml\n").skip(1);
    blocks
        .map(|block| {
            block
                .split("```")
                .next()
                .expect("an end")
                .replace("requests=50000", "requests=3000")
        })
        .collect()
}

const SMALL: &str = r#"
title = "A <small> study"
about = "Two sizes."
[settings]
ftl.kind = "none"
[[input]]
name = "made"
workload = "uniform:requests=300,footprint_pages=64"
[[variant]]
name = "drained"
set = { "sim.drain" = true }
[[grid]]
buffers = ["lru", "fifo"]
sizes = ["64KiB", "128KiB"]
seeds = [1, 2]
[[figure]]
id = "hits"
title = "Hits"
x = "size"
series = "buffer"
y = 'm("buffer.write_hits")'
y_title = "hits"
log = "x"
published = { lru = { "64KiB" = 100 } }
"#;

/// The program refuses a second study with the name of an earlier study, because the second study would overwrite the
/// plan and the report of the first.
#[test]
fn another_study_of_the_same_name_is_refused() {
    let place = Place::new();
    let other = SMALL.replace("requests=300", "requests=400");
    for (folder, text) in [("one", SMALL), ("two", &other), ("copy", SMALL)] {
        std::fs::create_dir(place.path(folder)).expect("a folder");
        place.write(&format!("{folder}/x.toml"), text);
    }
    let study = |file: &str| place.run(&["study", file, "--results", "kept", "--quiet"]);
    assert_eq!(study("one/x.toml").status, 0);
    let before = (
        place.read("kept/plans/x.json"),
        place.read("kept/x/results.csv"),
    );
    let second = study("two/x.toml");
    refused(
        &second,
        &[
            "two/x.toml: the folder holds results of another study called \"x\", of ",
            "one/x.toml",
        ],
    );
    let after = (
        place.read("kept/plans/x.json"),
        place.read("kept/x/results.csv"),
    );
    assert_eq!(before, after);
    // A copy of a study has the runs of the original, so the program accepts the copy. The program also accepts a
    // study that was edited in its file.
    assert_eq!(study("copy/x.toml").status, 0);
    place.write("copy/x.toml", &other);
    assert_eq!(study("copy/x.toml").status, 0);
}

/// A name in a study file must not be a path. Otherwise a study from another author could write files outside of the
/// folder of results.
#[test]
fn names_that_lead_elsewhere_are_refused() {
    let place = Place::new();
    for id in ["../../evil", "a/b", "", "..", "A b", "results"] {
        place.write(
            "s.toml",
            SMALL.replace("\"hits\"\ntitle", &format!("{id:?}\ntitle")),
        );
        let outcome = place.run(&["study", "s.toml", "--results", "a/b/kept"]);
        refused(
            &outcome,
            &["s.toml: figure", "names a file; expected a name"],
        );
    }
    for name in ["plans", "runs", ".."] {
        place.write(&format!("{name}.toml"), SMALL);
        let outcome = place.run(&["study", &format!("{name}.toml"), "--results", "a/b/kept"]);
        refused(&outcome, &["expected another name of the file"]);
    }
    assert!(!common::exists(&place.path("a")), "nothing was made");
    // The program also refuses a path in a plan that was edited by hand.
    place.write("s.toml", SMALL);
    place.succeed(&["study", "s.toml", "--results", "a/b/kept"]);
    let plan = place.read("a/b/kept/plans/s.json");
    place.write(
        "a/b/kept/plans/s.json",
        plan.replacen("\"s\"", "\"../../evil\"", 1),
    );
    let merge = place.run(&["study", "merge", "a/b/kept"]);
    refused(
        &merge,
        &["plans/s.json: is of \"../../evil\"; expected the plan of a study"],
    );
    assert!(!common::exists(&place.path("a/evil")));
}

/// A varied parameter is a single column of the report. So the report has one filter for this parameter, and the name
/// of each line contains it once.
#[test]
fn a_varied_parameter_stands_once_in_the_report() {
    let place = Place::new();
    let varied = SMALL.replace("seeds = [1, 2]", "vary = { \"sim.seed\" = [3, 4] }");
    place.write("s.toml", varied);
    let said = place.succeed(&["study", "s.toml", "--results", "kept"]);
    let page = place.data("kept/s/report.html");
    let columns = page["table"]["columns"].as_array().expect("columns");
    let of_seed = columns.iter().filter(|column| column["name"] == "sim.seed");
    assert_eq!(of_seed.count(), 1, "{columns:?}");
    assert!(
        !page["table"]["same"]
            .as_object()
            .expect("an object")
            .contains_key("sim.seed")
    );
    assert!(
        said.contains("8 runs; the report is kept/s/report.html, with the data beside it"),
        "{said}"
    );
}

/// A study without figures shows its first runs as a table.
#[test]
fn a_study_without_figures_shows_its_runs() {
    let place = Place::new();
    let study = |seeds: &str| {
        format!(
            r#"
title = "Runs"

[settings]
flash = {{ blocks_per_plane = 16, planes_per_die = 1, dies = 2 }}

[[input]]
name = "zipf"
workload = "zipf:requests=50,footprint_pages=200"

[[grid]]
buffers = ["lru", "fab"]
sizes = ["256KiB"]
seeds = {seeds}
"#
        )
    };
    place.write("s.toml", study("[1, 2]"));
    let said = place.succeed(&["study", "s.toml", "--results", "kept"]);
    let rows = |said: &str| said.lines().filter(|line| line.contains("zipf")).count();
    assert_eq!(rows(&said), 4, "{said}");
    for head in ["buffer", "seed", "destaged"] {
        assert!(said.contains(head), "{head}: {said}");
    }
    let seeds: Vec<u32> = (1..=20).collect();
    place.write("m.toml", study(&format!("{seeds:?}")));
    let said = place.succeed(&["study", "m.toml", "--results", "kept"]);
    assert_eq!(rows(&said), 30, "{said}");
    assert!(
        said.contains("10 more rows are in the report and in the data beside it"),
        "{said}"
    );
}

fn refused(outcome: &Outcome, parts: &[&str]) {
    assert_eq!(outcome.status, 2, "{}", outcome.errors);
    for part in parts {
        assert!(outcome.errors.contains(part), "{part}: {}", outcome.errors);
    }
}

/// Checks that a page loads no scripts or styles from other files.
fn check_page(page: &str) {
    for outside in ["<script src", "@import", "stylesheet"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_documented_study_and_claims_run() {
    let place = Place::new();
    let [study, drive, claims, words] = &documented()[..] else {
        panic!("docs/STUDIES.md has a study, a drive, claims and words");
    };
    std::fs::create_dir_all(place.path("papers/own")).expect("a folder");
    place.write("papers/own/schemes.toml", study);
    place.write("papers/own/claims.toml", claims);
    place.write("papers/own/words.toml", words);
    place.write("papers/own/paper.toml", "source = 'Us'\nabout = 'Ours.'");
    let text = place.succeed(&["study", "papers/own/schemes.toml", "--results", "kept"]);
    assert!(
        text.contains("Throughput over the size of the buffer"),
        "{text}"
    );
    for name in [
        "report.html",
        "results.json",
        "results.csv",
        "throughput.csv",
    ] {
        assert!(!place.read(&format!("kept/schemes/{name}")).is_empty());
    }
    check_page(&place.read("kept/schemes/report.html"));
    let fewer = drive.replace("60000", "600");
    assert_ne!(fewer, *drive);
    let text = format!("title = \"Measured\"\n{fewer}\n[[grid]]\n");
    place.write("measured.toml", text);
    let table = "drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high\n\
                 SK Hynix PE8110 960 GB,10000,9949,5051,write,50,11,11,11\n";
    place.write("latency.csv", table);
    let text = place.succeed(&["study", "measured.toml", "--results", "kept"]);
    assert!(text.contains("1 runs"), "{text}");
    let rows = place.read("kept/measured/results.csv");
    assert!(rows.contains("drive.modelled") && rows.contains("write p50"));
    // `destage reproduce` uses the results of the studies for the claims.
    let arguments = [
        "reproduce",
        "--experiments",
        "papers",
        "--results",
        "kept",
        "--json",
    ];
    let report = place.json(&arguments);
    assert_eq!(report["claims"][0]["id"], "B13");
    assert_eq!(
        report["claims"][0]["quantity"],
        "pages of a destage of BPLRU"
    );
    assert_eq!(report["claims"][0]["figures"][0], "throughput");
    assert!(place.read("kept/own/README.md").contains("| B13 | 4.2.2 |"));
}

#[test]
fn a_page_shows_each_figure_and_what_was_published() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.succeed(&["study", "small.toml"]);
    let page = place.read("destage-results/small/report.html");
    check_page(&page);
    assert!(page.contains("<h1>A &lt;small&gt; study</h1>"), "title");
    let data = place.data("destage-results/small/report.html");
    let figure = &data["figures"][0];
    assert_eq!(figure["x"], serde_json::json!(["64 KiB", "128 KiB"]));
    assert_eq!(figure["log"], serde_json::json!([true, false]));
    let lru = &figure["series"][0];
    assert_eq!(
        (&lru["name"], &lru["published"][0]),
        (&"lru".into(), &100.0.into())
    );
    assert!(lru["points"][0]["low"].as_f64() < lru["points"][0]["high"].as_f64());
    assert_eq!(data["table"]["rows"].as_array().map(Vec::len), Some(8));
}

#[test]
fn a_rerun_writes_the_same_readmes() {
    let place = Place::new();
    place.succeed(&[
        "reproduce",
        "bplru/examples",
        "--results",
        "one",
        "--threads",
        "1",
    ]);
    place.succeed(&[
        "reproduce",
        "bplru/examples",
        "--results",
        "other",
        "--threads",
        "2",
    ]);
    for name in ["README.md", "bplru/README.md"] {
        assert_eq!(
            place.read(&format!("one/{name}")),
            place.read(&format!("other/{name}"))
        );
    }
    check_page(&place.read("one/report.html"));
}

#[test]
fn sixty_claims_and_forty_figures_fit_one_page() {
    let place = Place::new();
    let mut study = SMALL.to_owned();
    let figure = &SMALL[SMALL.find("[[figure]]").expect("a figure")..];
    for index in 1..40 {
        study.push_str(&figure.replace("\"hits\"\ntitle", &format!("\"hits{index}\"\ntitle")));
    }
    let mut claims = String::new();
    for index in 0..60 {
        claims.push_str(&format!(
            "[[claim]]\nid = 'C{index}'\nplace = 'p'\nstatement = 'a < b | c'\ncheck = 'property'\nexperiment = 'small'\nmeasured = 'm(\"buffer.write_hits\", buffer=\"lru\", size=\"64KiB\") > {}'\n",
            index * 2
        ));
    }
    std::fs::create_dir_all(place.path("papers/own")).expect("a folder");
    place.write("papers/own/small.toml", study);
    place.write("papers/own/claims.toml", claims);
    place.write("papers/own/paper.toml", "source = 'Us'\nabout = 'Ours.'");
    place.succeed(&["reproduce", "--experiments", "papers"]);
    let page = place.read("destage-results/report.html");
    check_page(&page);
    let data = place.data("destage-results/report.html");
    let figures = data["figures"]["own/small"].as_array();
    assert_eq!(figures.map(Vec::len), Some(40));
    assert_eq!(data["claims"].as_array().map(Vec::len), Some(60));
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn what_is_wrong_in_a_study_is_said() {
    let place = Place::new();
    for (from, to, parts) in [
        (
            "seeds = [1, 2]",
            "sedes = [1, 2]",
            &["small.toml", "line 15", "sedes"][..],
        ),
        (
            "sizes = [",
            "inputs = [\"mad\"]\nsizes = [",
            &["small.toml", "\"mad\"", "made"],
        ),
        (
            "sizes = [",
            "variants = [\"draned\"]\nsizes = [",
            &["\"draned\"", "drained"],
        ),
        (
            "buffer.write_hits",
            "buffer.write_hit",
            &["small.toml", "\"hits\"", "buffer.write_hit"],
        ),
        ("m(\"buffer", "mm(\"buffer", &["small.toml", "mm("]),
        (
            "series = \"buffer\"\n",
            "",
            &["small.toml", "\"hits\"", "several runs", "lru", "fifo"],
        ),
        (
            "sim.drain",
            "sim.drian",
            &["small.toml", "sim.drian", "sim.drain"],
        ),
        (
            "title = \"A",
            "titel = \"A",
            &["small.toml", "line 2", "titel"],
        ),
        (
            "workload = \"uniform",
            "trace = \"nothing.csv\" #",
            &["nothing.csv"],
        ),
        (
            "workload = \"uniform",
            "pages = \"1\"\nworkload = \"uniform",
            &["made", "one of"],
        ),
        ("[[figure]]", "[[figure]", &["small.toml", "line 16"]),
    ] {
        assert!(SMALL.contains(from), "{from}");
        let mut text = SMALL.replace(from, to);
        // The program checks the settings of a variant only if a grid uses the variant, so the study must use it.
        if from == "sim.drain" {
            text = text.replace("sizes = [", "variants = [\"drained\"]\nsizes = [");
        }
        place.write("small.toml", text);
        refused(
            &place.run(&["study", "small.toml", "--results", "kept"]),
            parts,
        );
        // The program refuses the study before the first run.
        let kept = std::fs::read_dir(place.path("kept/runs"));
        assert!(kept.map_or(0, Iterator::count) == 0, "{to}");
    }
    refused(
        &place.run(&["study", "none.toml"]),
        &["none.toml", "study file"],
    );
}

#[test]
fn what_is_wrong_around_a_study_is_said() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    place.write("a.csv", "1\n");
    for (arguments, parts) in [
        (&["reproduce", "bplr"][..], &["\"bplr\"", "bplru"][..]),
        (&["reproduce", "bplru/exmples"], &["exmples", "examples"]),
        (
            &["reproduce", "--experiments", "none"],
            &["--experiments", "none"],
        ),
        (
            &["study", "small.toml", "--trace", "iozon=a.csv"],
            &["\"iozon\"", "iozone"],
        ),
        (
            &["study", "small.toml", "--trace", "iozone"],
            &["NAME=FILE"],
        ),
        (
            &["study", "small.toml", "--trace", "iozone=none.csv"],
            &["none.csv"],
        ),
        (
            &["study", "small.toml", "--traces", "none"],
            &["--traces", "none"],
        ),
        (
            &["study", "small.toml", "--results", "a.csv"],
            &["--results", "a.csv"],
        ),
    ] {
        refused(&place.run(arguments), parts);
    }
}

#[test]
fn a_part_tells_which_of_its_runs_failed() {
    let place = Place::new();
    // The device has 32 pages, but the workload writes 64 pages.
    let tiny = "flash.dies = 1\nflash.planes_per_die = 1\nflash.blocks_per_plane = 8\nflash.pages_per_block = 4";
    let failing = SMALL.replace("ftl.kind = \"none\"", tiny);
    assert_ne!(failing, SMALL);
    place.write("small.toml", failing);
    let part = |more: &[&str]| {
        let ask = [
            "study",
            "small.toml",
            "--results",
            "parts",
            "--shard",
            "1/2",
        ];
        place.run(&[&ask[..], more].concat())
    };
    let first = part(&[]);
    assert_eq!(first.status, 2, "{}", first.output);
    assert!(first.output.contains(" failed\n"), "{}", first.output);
    assert!(first.errors.contains("buffer=fifo"), "{}", first.errors);
    // The second command reports again the runs that failed in the first command.
    let again = part(&["--json"]);
    assert_eq!((again.status, again.errors), (2, first.errors));
    let told = common::json(&again.output);
    assert_eq!(
        (&told["made"], &told["failed"]),
        (&common::json("0"), &told["own"])
    );
}

#[test]
fn parts_of_a_study_are_counted_and_joined() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let shard = |part: &str| {
        place.json(&[
            "study",
            "small.toml",
            "--results",
            "parts",
            "--shard",
            part,
            "--json",
        ])
    };
    let first = shard("1/2");
    assert_eq!(
        (&first["runs"], &first["made"]),
        (&first["runs"], &first["own"])
    );
    let (runs, own) = (first["runs"].as_u64(), first["own"].as_u64());
    let (runs, own) = (runs.expect("runs"), own.expect("own"));
    assert!(0 < own && own < runs, "{first}");
    let text = place.succeed(&["study", "status", "parts"]);
    assert_eq!(
        text,
        format!("small: {own} of {runs} results, {} missing\n", runs - own)
    );
    let missing = place.succeed(&["study", "missing", "parts"]);
    assert_eq!(missing.lines().count() as u64, runs - own);
    assert!(missing.contains("buffer=fifo"), "{missing}");
    let outcome = place.run(&["study", "merge", "parts"]);
    assert_eq!(outcome.status, 2, "{}", outcome.errors);
    assert!(
        outcome.errors.contains("results are missing"),
        "{}",
        outcome.errors
    );
    shard("2/2");
    place.succeed(&["study", "merge", "parts"]);
    place.succeed(&["study", "small.toml", "--results", "whole"]);
    let table = |folder: &str| place.read(&format!("{folder}/small/results.csv"));
    assert_eq!(table("parts"), table("whole"));
    for (arguments, text) in [
        (
            &["study", "small.toml", "--shard", "3/2"][..],
            "--shard \"3/2\"",
        ),
        (
            &["study", "status", "nowhere"],
            "no study has stored results here",
        ),
        (&["study"], "FILE.toml"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert!(
            outcome.errors.contains(text),
            "{arguments:?}: {}",
            outcome.errors
        );
    }
}

#[test]
fn a_study_that_was_stopped_says_what_is_missing() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let all = ["study", "small.toml", "--results", "kept"];
    place.succeed(&all);
    let table = place.read("kept/small/results.csv");
    // The folder is now in the state of a study that was stopped before its last run and its report.
    let runs = std::fs::read_dir(place.path("kept/runs")).expect("results");
    let run = runs.last().expect("a result").expect("a file").path();
    std::fs::remove_file(run).expect("it goes");
    std::fs::remove_dir_all(place.path("kept/small")).expect("it goes");
    let text = place.succeed(&["study", "status", "kept"]);
    assert_eq!(text, "small: 7 of 8 results, 1 missing\n");
    let missing = place.succeed(&["study", "missing", "kept"]);
    assert_eq!(missing.lines().count(), 1, "{missing}");
    let outcome = place.run(&["study", "merge", "kept"]);
    refused(&outcome, &["small: 1 of 8 results are missing"]);
    place.succeed(&[&all[..], &["--shard", "1/1"]].concat());
    place.succeed(&["study", "merge", "kept", "-o", "t.md"]);
    assert_eq!(place.read("kept/small/results.csv"), table);
    // Sizes and counts have the form that they have in the tables of `compare`.
    let merged = place.read("t.md");
    assert!(
        merged.contains("| 64 KiB |") && !merged.contains("65536"),
        "{merged}"
    );
    let outcome = place.run(&["study", "missing", "kept"]);
    assert_eq!(
        (outcome.output.as_str(), outcome.errors.as_str()),
        ("", "destage: no result is missing\n")
    );
}

/// A study with each kind of warning. One input overloads the device, another input has an odd line, and a parameter
/// has no effect.
const WARNED: &str = r#"
title = "Warned of"
[[input]]
name = "fast"
workload = "uniform:requests=2000,footprint_pages=64,mean_interarrival_ms=0.001"
[[input]]
name = "odd"
trace = "odd.disksim"
set = { "trace.zero_len" = "drop" }
[[variant]]
name = "counted"
set = { "sim.costing" = "op_count", "host.queue_depth" = 3 }
[[grid]]
inputs = ["fast"]
buffers = ["lru", "fifo"]
sizes = ["64KiB"]
[[grid]]
inputs = ["odd"]
buffers = ["lru", "fifo"]
sizes = ["64KiB"]
variants = ["counted"]
[[grid]]
inputs = ["odd"]
of = "trace"
"#;

/// A study of two runs, one of which fails.
const FAILING: &str = r#"
title = "Two sizes of a device"

[settings]
buffer.capacity_bytes = "64KiB"
sim.precondition = "none"

[[input]]
name = "fast"
workload = "uniform:requests=100,footprint_pages=8000"

[[grid]]
buffers = ["lru"]
vary = { "flash.blocks_per_plane" = [8, 1] }
"#;

#[test]
fn a_study_of_which_a_run_failed_ends_as_a_comparison_does() {
    let place = Place::new();
    place.write("f.toml", FAILING);
    let study = ["study", "f.toml", "--results", "kept", "--quiet"];
    for arguments in [&study[..], &study, &["study", "merge", "kept"]] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{}", outcome.errors);
        let errors: Vec<&str> = outcome.errors.lines().collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with("destage: error: "), "{errors:?}");
        for part in ["flash.blocks_per_plane=1 ", "is less than one block"] {
            assert!(errors[0].contains(part), "{part}: {errors:?}");
        }
        // The results contain the other run.
        let results = common::json(&place.read("kept/f/results.json"));
        let runs = results["runs"].as_array().unwrap().iter();
        let whole = runs.filter(|run| run["metrics"]["host.requests"] == 100);
        assert_eq!(whole.count(), 1);
    }
}

#[test]
fn warnings_of_runs_and_inputs_stand_in_all_that_a_study_writes() {
    let place = Place::new();
    place.write("w.toml", WARNED);
    place.write("odd.disksim", "0.0 0 0 8 0\n1.0 0 8 0 0\n2.0 0 8 8 0\n");
    let study = ["study", "w.toml", "--results", "kept", "--quiet"];
    let overload = "a request takes ";
    let dropped = "requests without length dropped: 1";
    let in_vain = "host.queue_depth was set, but has no effect";
    // The commands print the same warnings for new results, for results of an earlier command, and for merged
    // results.
    let mut documents = Vec::new();
    for arguments in [&study[..], &study, &["study", "merge", "kept"]] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 0, "{}", outcome.errors);
        let said: Vec<&str> = outcome.errors.lines().collect();
        let count = |text: &str| said.iter().filter(|line| line.contains(text)).count();
        // The program reports the overload for each run of the input `fast`. It reports the odd line once, although
        // three runs use the input with this line.
        assert_eq!(
            (count(overload), count(dropped), count(in_vain)),
            (2, 1, 1),
            "{said:?}"
        );
        assert_eq!(count(": odd.disksim: requests"), 1, "{said:?}");
        documents.push(common::json(&place.read("kept/w/results.json"))["warnings"].clone());
        for (text, times) in [(overload, 2), (dropped, 1), (in_vain, 1)] {
            let page = place.data("kept/w/report.html").to_string();
            assert!(!page.contains(text), "the notes are no data of scripts");
            let page = place.read("kept/w/report.html");
            assert_eq!(page.matches(text).count(), times, "{text}");
        }
    }
    assert_eq!(
        documents[0].as_array().map(Vec::len),
        Some(4),
        "{documents:?}"
    );
    assert!(documents.iter().all(|document| *document == documents[0]));
    let document = common::json(&place.read("kept/w/results.json"));
    let runs = document["runs"].as_array().expect("runs");
    let of_runs: Vec<String> = runs.iter().map(|run| run["warnings"].to_string()).collect();
    let has = |text: &str| -> Vec<bool> { of_runs.iter().map(|run| run.contains(text)).collect() };
    assert_eq!(has(overload), [true, true, false, false, false]);
    assert_eq!(has(in_vain), [false, false, true, true, false]);
    assert_eq!(has(dropped), [false, false, true, true, true]);
    let table = place.read("kept/w/results.csv");
    assert!(
        table.lines().next().expect("names").ends_with(",warnings"),
        "{table}"
    );
    assert!(
        table
            .lines()
            .nth(3)
            .expect("a run")
            .contains(&format!("{dropped}; {in_vain}")),
        "{table}"
    );
    // If no run has a warning, the results have no column for warnings.
    place.write("calm.toml", SMALL);
    let outcome = place.run(&["study", "calm.toml", "--results", "kept", "--quiet"]);
    assert_eq!(outcome.errors, "");
    for name in ["results.json", "results.csv"] {
        assert!(
            !place
                .read(&format!("kept/calm/{name}"))
                .contains("warnings")
        );
    }
}

/// The columns of two formats are equal here. The name of the file decides whether times are in ms or ns.
#[test]
fn equal_files_of_different_formats_have_results_of_their_own() {
    let place = Place::new();
    let rows: String = (0..200)
        .map(|row| format!("{} 0 {} 8 0\n", row * 7, row * 37 % 64 * 8))
        .collect();
    place.write("a.disksim", &rows);
    place.write("b.ssdsim", &rows);
    place.write(
        "s.toml",
        "title = \"Two\"\n[[input]]\nname = \"a\"\ntrace = \"a.disksim\"\n[[input]]\nname = \"b\"\ntrace = \"b.ssdsim\"\n[[grid]]\nbuffers = [\"lru\"]\nsizes = [\"64KiB\"]\n",
    );
    place.succeed(&["study", "s.toml", "--results", "kept"]);
    let runs = std::fs::read_dir(place.path("kept/runs")).expect("a folder");
    assert_eq!(runs.count(), 2);
}

#[test]
fn a_quotient_by_zero_leaves_a_gap_and_other_figures() {
    let place = Place::new();
    let figure = |id: &str, y: &str| {
        format!(
            "[[figure]]\nid = \"{id}\"\ntitle = \"{id}\"\nx = \"size\"\nkind = \"table\"\ncolumns = [{{ name = \"n\", y = '{y}' }}]\n"
        )
    };
    let with = |figures: &str| format!("{SMALL}{figures}");
    let both = [
        figure(
            "none",
            "ratio(m(\"host.page_writes\", seed=1, buffer=\"lru\", variant=\"base\"), 0)",
        ),
        figure(
            "one",
            "m(\"host.page_writes\", seed=1, buffer=\"lru\", variant=\"base\")",
        ),
    ];
    place.write("s.toml", with(&both.concat()));
    let report = place.json(&["study", "s.toml", "--results", "kept", "--json"]);
    assert!(
        report["figures"]
            .to_string()
            .contains("is infinite or undefined"),
        "{report}"
    );
    // An unknown name and a value that is no number are mistakes of the study. The first is found before any run.
    for (y, part) in [
        ("meen(m(\"host.page_writes\"))", "meen is unknown"),
        (
            "m(\"buffer.kind\", seed=1, buffer=\"lru\", variant=\"base\")",
            "expected a number",
        ),
    ] {
        place.write("t.toml", with(&figure("odd", y)));
        let outcome = place.run(&["study", "t.toml", "--results", "other"]);
        assert_eq!(outcome.status, 2);
        assert!(outcome.errors.contains(part), "{}", outcome.errors);
    }
}

/// A limit of writes is that of the trace, whatever is inserted into it.
#[test]
fn inserted_requests_do_not_count_for_a_limit_of_writes() {
    let place = Place::new();
    let rows: String = (0..600)
        .map(|row| {
            format!(
                "{row}000,0,{},{},4096\n",
                if row % 3 == 0 { "r" } else { "w" },
                row * 4096
            )
        })
        .collect();
    place.write("t.csv", format!("time,volume,op,offset,bytes\n{rows}"));
    let input = |name: &str, set: &str| {
        format!("[[input]]\nname = \"{name}\"\ntrace = \"t.csv\"\nlimit_writes = 100\n{set}")
    };
    place.write(
        "s.toml",
        format!(
            "title = \"Two\"\n{}{}[[grid]]\nbuffers = [\"lru\"]\nsizes = [\"64KiB\"]\n",
            input("plain", ""),
            input("flushed", "set = { \"trace.flush_every_writes\" = 1 }\n")
        ),
    );
    place.succeed(&["study", "s.toml", "--results", "kept"]);
    let table = place.read("kept/s/results.csv");
    let mut rows = table.lines();
    let heads: Vec<_> = rows.next().expect("heads").split(',').collect();
    let of = heads
        .iter()
        .position(|head| *head == "host.page_writes")
        .expect("a column");
    let writes: Vec<_> = rows
        .map(|row| row.split(',').nth(of).expect("a value"))
        .collect();
    assert_eq!(writes, ["100", "100"]);
}
