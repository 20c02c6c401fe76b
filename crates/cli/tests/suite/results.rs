//! Tests of the structure of results. Results must depend only on the input.

use crate::common;

use common::{Place, TINY, json, page_writes};

const WORKLOAD: [&str; 3] = ["--workload", "mixed:requests=3000", "--json"];

/// In the JSON of one run and of many runs, the explanation of a run is a member next to its metrics. The explanation
/// includes the series that the scheme records.
#[test]
fn the_json_of_an_explained_run_has_a_fourth_part() {
    let place = Place::new();
    let bpac = "bpac:bpac_period=500";
    let plain = place.json(&[&["run", "--buffer", bpac], &WORKLOAD[..]].concat());
    let run = place.json(&[&["run", "--buffer", bpac, "--explain"], &WORKLOAD[..]].concat());
    assert_eq!(
        (&run["metrics"], &run["parameters"]),
        (&plain["metrics"], &plain["parameters"])
    );
    let explained = &run["explained"];
    let keys: Vec<_> = explained.as_object().unwrap().keys().cloned().collect();
    let expected = [
        "words", "parts", "response", "series", "destages", "wear", "worst", "scheme",
    ];
    assert_eq!(keys, expected);
    let learnt = &explained["scheme"];
    let ends = learnt["scheme.period_end"].as_array().unwrap();
    assert_eq!(ends[0].as_f64(), Some(500.0));
    for name in ["pird_threshold", "bird_threshold", "alpha"] {
        let values = learnt[format!("scheme.{name}")].as_array().unwrap();
        assert_eq!(values.len(), ends.len(), "{name}");
    }
    let buffers = format!("lru,{bpac}");
    let many = ["compare", "--explain", "--buffers", &buffers];
    let many = place.json(&[&many, &WORKLOAD[..]].concat());
    assert!(many["runs"][0]["explained"].get("scheme").is_none());
    assert_eq!(many["runs"][1]["explained"], run["explained"]);
    let many = place.json(&[&["compare", "--buffers", &buffers], &WORKLOAD[..]].concat());
    assert!(many["runs"][0].get("explained").is_none());
}

/// The columns of each table have the same length. The sums in the explanation equal the values of the metrics. The
/// text output gives reasons.
#[test]
fn an_explained_run_is_whole() {
    let place = Place::new();
    let common = [
        "--buffer",
        "lru",
        "--size",
        "256KiB",
        "--workload",
        "mixed:requests=3000",
    ];
    let run = place.json(&[&["run", "--explain", "--json"], &common[..]].concat());
    let (explained, metrics) = (&run["explained"], &run["metrics"]);
    let response = &explained["response"];
    for table in [
        &explained["series"]["columns"],
        &explained["destages"],
        &explained["wear"],
        &explained["worst"],
        &response["write"]["histogram"],
        &response["read"]["histogram"],
    ] {
        let lengths = table.as_object().unwrap().values();
        let mut lengths = lengths.map(|column| column.as_array().unwrap().len());
        let first = lengths.next().unwrap();
        assert!(
            first > 0 && lengths.all(|length| length == first),
            "{table}"
        );
    }
    let sum = |column: &serde_json::Value| -> f64 {
        let values = column.as_array().unwrap().iter();
        values.map(|value| value.as_f64().unwrap()).sum()
    };
    for operation in ["read", "write"] {
        let of = &response[operation];
        let mean = metrics[format!("response.{operation}.mean_ms")]
            .as_f64()
            .unwrap();
        assert!((of["mean_ms"].as_f64().unwrap() / mean - 1.0).abs() < 1e-9);
        let parts = explained["parts"].as_array().unwrap().iter();
        let parts = parts.map(|part| part.as_str().unwrap());
        let split: f64 = parts
            .clone()
            .map(|part| of["split_ms"][part].as_f64().unwrap())
            .sum();
        assert!((split / mean - 1.0).abs() < 1e-9, "{operation}");
        let histogram = &of["histogram"];
        let total: f64 = parts
            .map(|part| sum(&histogram[format!("{part}_ms")]))
            .sum();
        let requests = of["requests"].as_f64().unwrap();
        assert!((total / requests / mean - 1.0).abs() < 1e-9, "{operation}");
        assert_eq!(sum(&histogram["requests"]), requests);
        let max = &metrics[format!("response.{operation}.max_ms")];
        assert_eq!(&of["percentiles_ms"]["max"], max);
        let p99 = metrics[format!("response.{operation}.p99_ms")]
            .as_f64()
            .unwrap();
        let of_histogram = of["percentiles_ms"]["99"].as_f64().unwrap();
        assert!(
            (p99..=p99 * 1.001).contains(&of_histogram),
            "{p99} {of_histogram}"
        );
        let columns = &explained["series"]["columns"];
        assert_eq!(sum(&columns[format!("{operation}.requests")]), requests);
    }
    let text = place.succeed(&[&["run", "--explain"], &common[..]].concat());
    for sentence in explained["words"].as_array().unwrap() {
        assert!(text.contains(sentence.as_str().unwrap()), "{text}");
    }
    let many = place.succeed(&[&["compare", "--explain", "--quiet"], &common[..]].concat());
    let first = explained["words"][0].as_str().unwrap();
    assert!(
        many.contains(&format!("lru, 256 KiB, FTL page: {first}")),
        "{many}"
    );
}

#[test]
fn the_json_of_a_run_has_three_parts() {
    let place = Place::new();
    let document = place.json(&[&["run"], &WORKLOAD[..]].concat());
    let keys: Vec<_> = document.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["manifest", "parameters", "metrics"]);
    for key in [
        "version",
        "commit",
        "command",
        "seed",
        "host",
        "wall_time_s",
        "trace",
    ] {
        assert!(document["manifest"].get(key).is_some(), "{key}");
    }
    assert_eq!(document["manifest"]["host"]["os"], std::env::consts::OS);
    assert_eq!(document["parameters"]["buffer.kind"], "lru");
    assert_eq!(document["parameters"]["buffer.capacity_bytes"], 8 << 20);
    assert_eq!(document["parameters"]["workload.requests"], 3000);
    assert_eq!(document["metrics"]["host.requests"], 3000);
    assert!(document["metrics"]["response.mean_ms"].is_f64());
    assert!(
        document["metrics"]
            .as_object()
            .unwrap()
            .values()
            .all(serde_json::Value::is_number)
    );
}

#[test]
fn metrics_without_meaning_are_absent() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 2]));
    let document = place.json(&["run", "t.disksim", "--json", "--buffer", "nocache"]);
    let metrics = document["metrics"].as_object().unwrap();
    assert!(!metrics.contains_key("response.read.mean_ms"));
    assert!(!metrics.contains_key("buffer.write_hits"));
    let document = place.json(&["run", "t.disksim", "--json", "--ftl", "none"]);
    assert!(
        !document["metrics"]
            .as_object()
            .unwrap()
            .contains_key("flash.erases")
    );
}

#[test]
fn a_trace_is_known_by_its_digest() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 8 0\n1.0 0 8 8 0\n");
    let document = place.json(&["run", "t.disksim", "--json"]);
    assert_eq!(document["manifest"]["format"], "disksim");
    let digest = document["manifest"]["trace_digest"].as_str().unwrap();
    let expected = "sha256:";
    assert!(
        digest.starts_with(expected) && digest.len() == expected.len() + 64,
        "{digest}"
    );
    let cut = place.json(&["run", "t.disksim", "--json", "--limit", "1"]);
    assert!(cut["manifest"].get("trace_digest").is_none());
    assert_eq!(cut["metrics"]["host.requests"], 1);
}

#[test]
fn csv_has_a_row_per_run_and_a_column_per_name() {
    let place = Place::new();
    let text = place.succeed(&["run", "--workload", "mixed:requests=1000", "--csv"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    let head: Vec<_> = lines[0].split(',').collect();
    assert_eq!(head.len(), lines[1].split(',').count());
    assert_eq!(head[0], "trace");
    for name in ["buffer.kind", "flash.dies", "response.mean_ms", "waf.host"] {
        assert!(head.contains(&name), "{name}");
    }
}

#[test]
fn files_hold_what_standard_output_would() {
    let place = Place::new();
    let printed = place.succeed(&["run", "--workload", "zipf:requests=1000", "--csv"]);
    let shown = place.succeed(&["run", "--workload", "zipf:requests=1000", "-o", "out.csv"]);
    assert_eq!(place.read("out.csv"), printed);
    assert!(shown.contains("response.mean_ms"), "{shown}");
    place.succeed(&[
        "run",
        "--workload",
        "zipf:requests=1000",
        "-o",
        "out.json",
        "--csv",
    ]);
    assert!(json(&place.read("out.json")).get("metrics").is_some());
    assert_eq!(place.files(), ["out.csv", "out.json"]);
}

#[test]
fn a_comparison_is_a_cross_product() {
    let place = Place::new();
    place.write("a.disksim", page_writes(&[0, 1, 2, 0]));
    place.write("b.disksim", page_writes(&[5, 6]));
    let axes = [
        "--buffers",
        "fifo,lru:lru_unit=request",
        "--sizes",
        "1MiB,2MiB",
        "--ftls",
        "page,none",
    ];
    let arguments = [&["compare", "a.disksim", "b.disksim", "--json"], &axes[..]].concat();
    let document = place.json(&arguments);
    let keys: Vec<_> = document.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["manifest", "runs"]);
    let runs = document["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 16);
    assert_eq!(document["manifest"]["traces"].as_array().unwrap().len(), 2);
    let label = |run: &serde_json::Value| {
        let names = ["ftl.kind", "buffer.kind", "buffer.capacity_bytes"];
        names
            .map(|name| run["parameters"][name].to_string())
            .join(" ")
            + &run["trace"].to_string()
    };
    let labels: std::collections::BTreeSet<_> = runs.iter().map(label).collect();
    assert_eq!(labels.len(), 16);

    let text =
        place.succeed(&[&["compare", "a.disksim", "b.disksim", "--csv"], &axes[..]].concat());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 17);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
    // If only one of two schemes has a parameter, the cell of this parameter is empty in the rows of the other
    // scheme.
    let unit = lines[0]
        .split(',')
        .position(|name| name == "buffer.lru_unit")
        .unwrap();
    let cells: Vec<_> = lines[1..]
        .iter()
        .map(|line| line.split(',').nth(unit).unwrap())
        .collect();
    assert_eq!(cells.iter().filter(|cell| cell.is_empty()).count(), 8);

    let table = place.succeed(&[&["compare", "a.disksim", "b.disksim"], &axes[..]].concat());
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
}

#[test]
fn a_comparison_equals_its_runs() {
    let place = Place::new();
    let compared = place.json(&[&["compare", "--buffers", "fifo,lru"], &WORKLOAD[..]].concat());
    for (index, name) in ["fifo", "lru"].into_iter().enumerate() {
        let run = place.json(&[&["run", "--buffer", name], &WORKLOAD[..]].concat());
        assert_eq!(compared["runs"][index]["metrics"], run["metrics"], "{name}");
        assert_eq!(
            compared["runs"][index]["parameters"], run["parameters"],
            "{name}"
        );
    }
}

#[test]
fn results_do_not_depend_on_threads_or_repetition() {
    let place = Place::new();
    let text = |threads| {
        let axes = [
            "--buffers",
            "nocache,fifo,lru",
            "--sizes",
            "1MiB,4MiB",
            "--threads",
            threads,
        ];
        let document = place.json(&[&["compare"], &WORKLOAD[..], &axes].concat());
        document["runs"].to_string()
    };
    let one = text("1");
    assert_eq!(one, text("2"));
    assert_eq!(one, text("2"));
    let run = |threads| {
        let document = place.json(&[&["run", "--threads", threads], &WORKLOAD[..]].concat());
        (
            document["parameters"].to_string(),
            document["metrics"].to_string(),
        )
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn skipped_lines_are_counted_and_reported() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 8 0\nbad\n1.0 0 8 8 0\nworse\n");
    let outcome = place.run(&["run", "t.disksim", "--json", "--on-bad-line", "skip"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let document = json(&outcome.output);
    assert_eq!(document["manifest"]["skipped_lines"], 2);
    assert_eq!(document["metrics"]["host.requests"], 2);
    assert!(
        outcome
            .errors
            .contains("skipped: 2; the first: t.disksim:2: "),
        "{}",
        outcome.errors
    );
}

#[test]
fn a_report_needs_nothing_but_itself() {
    let place = Place::new();
    let axes = [
        "--buffers",
        "nocache,fifo,lru",
        "--sizes",
        "1MiB,4MiB",
        "-o",
        "report.html",
    ];
    place.succeed(&[&["compare", "--workload", "mixed:requests=2000"], &axes[..]].concat());
    let html = place.read("report.html");
    assert!(html.starts_with("<!DOCTYPE html>"));
    for foreign in ["<script src", "@import", "stylesheet"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert!(
        html.contains("of page writes"),
        "conclusions are words of the page"
    );
    let document = place.json(
        &[
            &["compare", "--workload", "mixed:requests=2000", "--json"],
            &axes[..4],
        ]
        .concat(),
    );
    let page = place.data("report.html");
    let rows = page["table"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), document["runs"].as_array().unwrap().len());
    let columns = page["table"]["columns"].as_array().unwrap();
    let column = |name: &str| {
        columns
            .iter()
            .position(|each| each["name"] == name)
            .unwrap()
    };
    let (buffer, erases) = (column("buffer"), column("flash.erases"));
    for (row, run) in rows.iter().zip(document["runs"].as_array().unwrap()) {
        assert_eq!(row[buffer], run["buffer"]);
        assert_eq!(row[erases], run["metrics"]["flash.erases"]);
    }
    place.succeed(&["run", "--workload", "zipf:requests=500", "-o", "run.html"]);
    assert!(place.read("run.html").contains("response.mean_ms"));
}

#[test]
fn the_demo_says_what_it_found() {
    let place = Place::new();
    let text = place.succeed(&["demo", "--quiet"]);
    assert!(
        text.contains("lru") && text.contains("has a mean response of"),
        "{text}"
    );
    let page = place.path("report.html").canonicalize().unwrap();
    assert_eq!(
        text.lines().last().and_then(|line| line.split(": ").nth(1)),
        page.to_str()
    );
    assert_eq!(place.files(), ["report.html"]);
}

#[test]
fn the_table_of_a_run_has_units() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 2]));
    let text = place.succeed(&[&["run", "t.disksim"], &TINY[..]].concat());
    assert!(
        text.starts_with("t.disksim on lru of 32 KiB, FTL page"),
        "{text}"
    );
    let line = text
        .lines()
        .find(|line| line.starts_with("response.mean_ms"))
        .unwrap();
    assert!(line.ends_with("  ms"), "{line}");
}

#[test]
fn a_run_that_saturates_says_so() {
    let place = Place::new();
    let flood = ["--workload", "uniform:requests=2000,mean_interarrival_ms=0"];
    let set = ["--set", "host.saturation=100", "--json"];
    let outcome = place.run(&[&["run"], &flood[..], &set].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(json(&outcome.output)["metrics"]["host.saturated"], 1);
    assert!(
        outcome.errors.contains("host.saturation = 100"),
        "{}",
        outcome.errors
    );
}

#[test]
fn a_result_may_go_to_an_open_file() {
    let place = Place::new();
    let options = ["--workload", "zipf:requests=10", "--csv", "--quiet"];
    let plain = place.succeed(&[&["run"], &options[..]].concat());
    if cfg!(unix) {
        let file = std::fs::File::create(place.path("all.txt")).unwrap();
        let log = ["--response-log", "/dev/stderr"];
        let mut command = place.command(&[&["run"], &options[..], &log].concat());
        let output = command.stderr(file).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
        assert_eq!(place.read("all.txt").lines().count(), 11);
        assert_eq!(place.files(), ["all.txt"]);
    }
}

#[test]
fn a_comparison_says_what_it_found() {
    let place = Place::new();
    let workload = "zipf:requests=3000,footprint_pages=2000,mean_interarrival_ms=0.4";
    let compare = ["compare", "--quiet", "--workload", workload];
    let of = |more: &[&str]| place.succeed(&[&compare[..], more].concat());
    let text = of(&["--buffers", "nocache,lru,fifo", "--sizes", "64KiB,256KiB"]);
    let told = text.split("\n\n").last().unwrap();
    let starts = [
        "With 256 KiB of buffer, lru has a mean response of ",
        "From 64 KiB to 256 KiB, the share of page writes that lru absorbs goes from ",
        "At 64 KiB, the choice of scheme alone makes a difference of a factor of ",
        "lru has the lowest mean response at every size.",
    ];
    assert_eq!(told.lines().count(), 4, "{told}");
    for (line, start) in told.lines().zip(starts) {
        assert!(line.starts_with(start), "{told}");
    }
    // There is a separate conclusion for each layer. Without flash there is no conclusion about times.
    let text = of(&[
        "--buffers",
        "lru,fifo",
        "--sizes",
        "64KiB,256KiB",
        "--ftls",
        "page,none",
    ]);
    let told = text.split("\n\n").last().unwrap();
    let of_none: Vec<_> = told
        .lines()
        .filter(|line| line.contains("FTL none: "))
        .collect();
    assert_eq!((told.lines().count(), of_none.len()), (4, 1), "{told}");
    assert!(
        of_none[0].contains("FTL none: From 64 KiB to 256 KiB"),
        "{told}"
    );
    // A comparison with a single run has no conclusions that compare runs.
    assert!(!of(&["--buffers", "lru"]).contains("absorbs"));
}

#[test]
fn traces_of_one_name_are_told_apart() {
    let place = Place::new();
    for (folder, pages) in [("a", [0, 1, 2, 3]), ("c", [0, 1, 0, 1])] {
        std::fs::create_dir(place.path(folder)).expect("a folder");
        place.write(&format!("{folder}/t.disksim"), page_writes(&pages));
    }
    let traces = ["a/t.disksim", "c/t.disksim"];
    let rest = ["--buffers", "nocache,lru", "--sizes", "64KiB"];
    let command = [&["compare"], &traces[..], &rest].concat();
    let text = place.succeed(&command);
    let md = place.succeed(&[&command[..], &["-o", "t.md"]].concat());
    assert_eq!(text, md);
    for name in traces {
        assert!(text.contains(name), "{text}");
        assert!(place.read("t.md").contains(name));
    }
}

#[test]
fn a_table_of_sizes_tells_which_schemes_reach_the_goals() {
    let place = Place::new();
    let command = [
        "size",
        "-w",
        "zipf:requests=3000",
        "-b",
        "nocache,lru",
        "-s",
        "256KiB",
        "-g",
        "buffer.write_hits_percent>1",
    ];
    let csv = place.succeed(&[&command[..], &["--csv", "-o", "t.md"]].concat());
    let mut lines = csv.lines().map(|line| line.split(',').nth(1));
    assert_eq!(lines.next(), Some(Some("reached")));
    assert_eq!(lines.next(), Some(Some("yes")));
    assert_eq!(lines.next(), Some(Some("no")));
    let table = place.read("t.md");
    assert!(
        table.contains("write_hits_percent") && table.contains("reached"),
        "{table}"
    );
}

/// A run that stopped early has short responses, and is not one of the best.
#[test]
fn runs_with_warnings_are_not_ranked() {
    let place = Place::new();
    let outcome = place.run(&[
        "compare",
        "-w",
        "zipf:requests=3000,footprint_pages=1000",
        "--buffers",
        "all",
        "--sizes",
        "64KiB",
        "--set",
        "host.saturation=200",
        "--set",
        "host.time_scale=0.2",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let best = outcome
        .output
        .lines()
        .find(|line| line.starts_with("The best "));
    let best = best.expect("a ranking");
    assert!(
        outcome.errors.contains("stopped when host.saturation"),
        "{}",
        outcome.errors
    );
    assert!(!best.contains("bplru"), "{best}");
}

#[test]
fn a_scheme_is_the_best_only_at_sizes_where_all_are_compared() {
    let place = Place::new();
    let outcome = place.run(&[
        "compare",
        "-w",
        "zipf:requests=3000,footprint_pages=1000",
        "--buffers",
        "lru,fab,bplru",
        "--sizes",
        "64KiB..4MiB",
        "--set",
        "host.saturation=200",
        "--set",
        "host.time_scale=0.01",
    ]);
    assert!(
        outcome.output.contains("runs have warnings"),
        "{}",
        outcome.output
    );
    assert!(
        !outcome.output.contains("at every size"),
        "{}",
        outcome.output
    );
}

/// What `run` warns of, the commands that answer questions warn of too.
#[test]
fn curve_and_size_warn_as_run_does() {
    let place = Place::new();
    let device = [
        "-w",
        "zipf:requests=20000,footprint_pages=4000",
        "--set",
        "flash.endurance=2",
        "--set",
        "flash.wearout=retire",
        "--set",
        "flash.blocks_per_plane=8",
        "-b",
        "lru",
    ];
    let curve = [
        "curve",
        "--ftl",
        "page",
        "--sizes",
        "256KiB",
        "-m",
        "flash.erases",
    ];
    let size = ["size", "--sizes", "256KiB", "-g", "flash.erases<100000"];
    for command in [&curve[..], &size] {
        let outcome = place.run(&[command, &device].concat());
        assert!(
            outcome.errors.contains("worn out"),
            "{command:?}: {}",
            outcome.errors
        );
    }
    let vain = [
        "size",
        "-w",
        "zipf:requests=2000",
        "-b",
        "lru",
        "-g",
        "waf.host<9",
        "--set",
        "flash.endurance=7",
    ];
    let outcome = place.run(&vain);
    assert!(
        outcome.errors.contains("has no effect"),
        "{}",
        outcome.errors
    );
}
