//! Tests of the notes that a user needs to understand a result.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::Place;

/// `text` without line breaks.
fn unbroken(text: &str) -> String {
    text.replace('\n', " ")
}

/// Settings of a device that is full after a few thousand writes.
const SMALL: [&str; 8] = [
    "--size",
    "64KiB",
    "--set",
    "flash.dies=1",
    "--set",
    "flash.planes_per_die=1",
    "--set",
    "flash.blocks_per_plane=48",
];
const WRITES: [&str; 2] = [
    "--workload",
    "uniform:requests=20000,footprint_pages=2000,mean_interarrival_ms=5",
];
const NOTHING: &str = "no garbage had to be collected, so erases and WAF mean nothing yet";

#[test]
fn a_run_without_cleaning_says_what_erases_mean() {
    let place = Place::new();
    let fresh = [
        &[
            "run",
            "--size",
            "1MiB",
            "--set",
            "flash.blocks_per_plane=2048",
        ],
        &WRITES[..],
    ]
    .concat();
    let fresh = unbroken(&place.succeed(&fresh));
    assert!(
        fresh.contains(&format!("No block was erased: {NOTHING}")),
        "{fresh}"
    );
    // A buffer that holds everything writes nothing to flash, whatever the device.
    let held = unbroken(&place.succeed(&[&["run"], &WRITES[..]].concat()));
    assert!(held.contains("The buffer holds all pages"), "{held}");
    assert!(!held.contains("mean nothing"), "{held}");
    let used = place.succeed(&[&["run"], &WRITES[..], &SMALL].concat());
    assert!(!used.contains("mean nothing"), "{used}");
    let none = place.succeed(&[&["run"], &WRITES[..], &["--ftl", "none"]].concat());
    assert!(!none.contains("mean nothing"), "{none}");
    // The JSON output has the numbers, but not the note.
    let json = place.succeed(&[&["run"], &WRITES[..], &["--json"]].concat());
    assert!(!json.contains("mean nothing"), "{json}");
}

#[test]
fn a_comparison_without_cleaning_says_so() {
    let place = Place::new();
    let compare = [
        &["compare"],
        &WRITES[..],
        &["--buffers", "nocache,lru", "-o", "r.html"],
    ]
    .concat();
    let large = ["--set", "flash.blocks_per_plane=2048", "--sizes", "1MiB"];
    let text = unbroken(&place.succeed(&[&compare[..], &large].concat()));
    assert!(
        text.contains(&format!("No block was erased in any run: {NOTHING}")),
        "{text}"
    );
    let report = std::fs::read_to_string(place.path("r.html")).unwrap();
    assert!(report.contains(NOTHING), "no note");
    let text = place.succeed(&[&compare[..], &SMALL].concat());
    assert!(!text.contains("mean nothing"), "{text}");
}

#[test]
fn a_study_without_cleaning_says_so() {
    let place = Place::new();
    let study = |settings: &str| {
        place.write(
            "s.toml",
            format!(
                r#"title = "Few writes"
[settings]
{settings}
[[input]]
name = "u"
workload = "uniform:requests=20000,footprint_pages=2000,mean_interarrival_ms=5"
[[grid]]
buffers = ["fifo", "lru"]
sizes = ["64KiB"]
"#
            ),
        );
        let text = unbroken(&place.succeed(&["study", "s.toml", "--results", "kept", "--quiet"]));
        let report = std::fs::read_to_string(place.path("kept/s/report.html")).unwrap();
        (text, report)
    };
    let (text, report) = study("\"flash.blocks_per_plane\" = 2048");
    let said = format!("No block was erased in any run: {NOTHING}");
    assert!(text.contains(&said), "{text}");
    assert!(report.contains(&said), "no note");
    let (text, report) =
        study("\"flash.blocks_per_plane\" = 48\n\"flash.planes_per_die\" = 1\n\"flash.dies\" = 1");
    assert!(!text.contains("mean nothing"), "{text}");
    assert!(!report.contains("mean nothing"), "a note");
}

#[test]
fn overload_is_named() {
    let place = Place::new();
    let run = |gap: &str| {
        let workload = format!("uniform:requests=20000,mean_interarrival_ms={gap}");
        let run =
            format!("run --buffer nocache --set flash.blocks_per_plane=2048 --workload {workload}");
        let outcome = place.run(&run.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.status, 0);
        outcome.errors
    };
    assert_eq!(run("5"), "");
    let errors = run("0.001");
    assert!(errors.contains(": overload: a request takes "), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
    // The times of a workload have a known unit, so the warning suggests no other unit. The times of a trace may have
    // a unit other than the one that the program assumes.
    assert!(!errors.contains("trace.time_unit"), "{errors}");
    place.succeed(&[
        "trace",
        "generate",
        "--workload",
        "uniform:requests=20000,mean_interarrival_ms=0.001",
        "-o",
        "t.csv",
    ]);
    let trace = ["run", "t.csv", "--set", "flash.blocks_per_plane=2048"];
    let errors = place.run(&trace).errors;
    assert!(errors.contains(": overload: "), "{errors}");
    assert!(errors.contains("trace.time_unit"), "{errors}");
    let many = "compare --buffers lru,fab,clc --sizes 64KiB,128KiB --ftls page --set flash.blocks_per_plane=2048 --workload uniform:requests=20000,mean_interarrival_ms=0.001";
    let errors = place.run(&many.split(' ').collect::<Vec<_>>()).errors;
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(
        errors.contains("; the same holds for 5 other runs"),
        "{errors}"
    );
}

/// A new user first runs synthetic workloads with their defaults on the default device. These runs must not overload
/// the device.
#[test]
fn made_up_workloads_load_the_default_device_to_a_part() {
    let place = Place::new();
    let rows = place.json(&["list", "workloads", "--json"]);
    let names = rows.as_array().unwrap().iter();
    let names = names.map(|row| row["name"].as_str().unwrap());
    let made_up: Vec<_> = names.filter(|name| !name.starts_with("standin-")).collect();
    assert_eq!(made_up.len(), 7, "{made_up:?}");
    for name in made_up {
        let run = place.json(&["run", "--workload", name, "--json"]);
        assert!(run["warnings"].is_null(), "{name}: {}", run["warnings"]);
    }
}

#[test]
fn warnings_stand_in_every_form_and_bear_no_conclusion() {
    let place = Place::new();
    let compare = |gap: &str, more: &[&str]| {
        let workload = format!("uniform:requests=20000,mean_interarrival_ms={gap}");
        let line = format!(
            "compare --buffers infinite,lru,fab --size 1MiB --set flash.blocks_per_plane=2048 --workload {workload}"
        );
        let arguments: Vec<&str> = line.split(' ').chain(more.iter().copied()).collect();
        let outcome = place.run(&arguments);
        assert_eq!(outcome.status, 0, "{}", outcome.errors);
        outcome.output
    };
    let calm = compare("5", &[]);
    assert!(
        !calm.contains("no conclusion is drawn") && !calm.contains("ms with infinite"),
        "{calm}"
    );
    assert!(!compare("5", &["--json"]).contains("warnings"));
    let text = compare("0.001", &[]);
    assert!(text.contains("no conclusion is drawn from them"), "{text}");
    assert!(!text.contains("choice of scheme"), "{text}");
    let json = common::json(&compare("0.001", &["--json", "-o", "r.html"]));
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains(": overload: a request takes "),
        "{warning}"
    );
    assert!(place.read("r.html").contains("overload: a request takes"));
    let csv = compare("0.001", &["--csv"]);
    assert!(csv.lines().next().unwrap().ends_with(",warnings"), "{csv}");
    assert!(csv.lines().nth(2).unwrap().contains("overload"), "{csv}");
}

/// Warnings about an input are in the results and on the page of the results. The page shows the command in a form
/// that a user can type.
#[test]
fn what_is_odd_about_an_input_stands_in_files() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 8 0\nnonsense\n1.0 0 8 8 0\n");
    let run = [
        "run",
        "t.disksim",
        "--on-bad-line",
        "skip",
        "--json",
        "-o",
        "a 'b'.html",
    ];
    let outcome = place.run(&run);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let json = common::json(&outcome.output);
    let kept = json["manifest"]["warnings"].as_array().unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let said = kept[0].as_str().unwrap();
    assert!(said.contains("bad lines skipped: 1"), "{said}");
    assert!(outcome.errors.contains(said), "{}", outcome.errors);
    let page = place.read("a 'b'.html");
    assert!(page.contains("bad lines skipped: 1"));
    // In the data of the page, each backslash is doubled.
    assert!(page.contains(r"-o 'a '\\''b'\\''.html'"));
}

#[test]
fn a_worn_out_device_is_named() {
    let place = Place::new();
    for ftl in ["page", "dftl", "hat", "fast"] {
        let wear = [
            "--set",
            "flash.wearout=retire",
            "--set",
            "flash.endurance=3",
            "--ftl",
            ftl,
            "--json",
        ];
        let outcome = place.run(&[&["run"], &WRITES[..], &SMALL, &wear].concat());
        assert_eq!(outcome.status, 0, "{ftl} {}", outcome.errors);
        let said = ": worn out: ";
        assert!(outcome.errors.contains(said), "{ftl} {}", outcome.errors);
        assert!(
            outcome
                .errors
                .contains(" of 48 blocks were erased flash.endurance = 3 times"),
            "{ftl} {}",
            outcome.errors
        );
        let document = common::json(&outcome.output);
        assert_eq!(document["metrics"]["device.worn_out"], 1);
    }
}

#[test]
fn a_write_of_part_of_a_page_costs_its_read_where_pages_are_large() {
    let place = Place::new();
    for profile in ["tlc", "qlc"] {
        // The trace writes one page, and then a quarter of this page.
        place.write("t.disksim", "0.0 0 0 32 0\n50.0 0 8 8 0\n");
        let run = [
            "run",
            "t.disksim",
            "--profile",
            profile,
            "--buffer",
            "nocache",
        ];
        let document = place.json(&[&run[..], &["--json"]].concat());
        assert_eq!(document["metrics"]["flash.reads"], 1, "{profile}");
        assert_eq!(document["metrics"]["waf.bytes"], 1.6, "{profile}");
    }
}
