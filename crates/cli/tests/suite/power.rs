//! Tests of `destage run --payload --cut-at-...`. Equal commands must give equal output, and the program must refuse
//! wrong options.

use crate::common;

use common::{Place, TINY, json};

/// Runs a workload on a tiny device, with the additional arguments `more`.
fn run(place: &Place, more: &[&str]) -> common::Outcome {
    let mut words = vec!["run", "--workload", "zipf:requests=400", "--quiet"];
    words.extend(TINY);
    words.extend(["--set", "trace.addr_map=modulo"]);
    words.extend(more);
    place.run(&words)
}

#[test]
fn the_ledgers_result_is_json_and_the_same_every_time() {
    let place = Place::new();
    let words = [
        "--payload",
        "--cut-at-program",
        "150",
        "--seed",
        "7",
        "--json",
    ];
    let one = run(&place, &words);
    assert_eq!((one.status, one.errors.as_str()), (0, ""));
    let result = json(&one.output);
    let power = &result["power"];
    assert_eq!(power["at"], "program 150");
    assert_eq!(
        (&power["seed"], &power["bad_sectors"]),
        (&7.into(), &0.into())
    );
    assert!(
        power["mount_ms"].as_f64().is_some_and(|time| time > 0.0),
        "{power}"
    );
    for key in ["sectors", "must", "may"] {
        assert!(power["ledger"][key].is_u64(), "{power}");
    }
    assert!(power.get("energy_j").is_none() && result["manifest"].is_object());
    let again = json(&run(&place, &words).output);
    assert_eq!(power, &again["power"]);
    let other = [
        "--payload",
        "--cut-at-program",
        "150",
        "--seed",
        "8",
        "--json",
    ];
    assert_ne!(
        power["time_ms"],
        json(&run(&place, &other).output)["power"]["time_ms"]
    );
}

#[test]
fn a_capacitor_says_what_it_took() {
    let place = Place::new();
    let words = [
        "--payload",
        "--cut-at-write",
        "300",
        "--set",
        "device.plp=0.5",
        "--json",
    ];
    let power = &json(&run(&place, &words).output)["power"];
    assert!(
        power["energy_j"]
            .as_f64()
            .is_some_and(|energy| energy > 0.0),
        "{power}"
    );
    assert!(
        power["dump_ms"].is_f64() && power["dump"]["pages"].is_u64(),
        "{power}"
    );
}

#[test]
fn what_was_answered_and_is_gone_is_counted_and_a_capacitor_saves_it() {
    let place = Place::new();
    let lost = |more: &[&str]| {
        let words = ["--payload", "--cut-at-write", "300", "--json"];
        let power = &json(&run(&place, &[&words[..], more].concat()).output)["power"];
        power["lost_answered_sectors"].as_u64().expect("a count")
    };
    assert!(lost(&[]) > 0);
    assert_eq!(lost(&["--set", "device.plp=1000"]), 0);
    assert_eq!(lost(&["--set", "device.vwc=off"]), 0);
}

#[test]
fn a_run_that_loses_its_power_is_explained_watched_and_written_to_files() {
    let place = Place::new();
    let cut = ["--payload", "--cut-at-write", "300", "--explain"];
    let alone = json(&run(&place, &[&cut[..], &["--json"]].concat()).output);
    // More requests may have arrived at the host than the device had accepted.
    let metrics = &alone["metrics"];
    assert!(metrics["host.requests"].as_u64() >= alone["power"]["requests"].as_u64());
    assert_eq!(metrics["host.completed"], alone["power"]["answered"]);
    let limited = alone["power"]["requests"].to_string();
    let with_power = json(&run(&place, &["--limit", &limited, "--json"]).output);
    assert_eq!(
        with_power["metrics"]["host.page_writes"],
        metrics["host.page_writes"]
    );
    assert!(alone["explained"]["parts"].is_array());

    let files = [
        "--watch",
        "page.html",
        "-o",
        "cut.json",
        "--erase-log",
        "erases.csv",
        "--response-log",
        "responses.csv",
    ];
    let outcome = run(&place, &[&cut[..], &files].concat());
    assert_eq!((outcome.status, outcome.errors.as_str()), (0, ""));
    let kept = json(&place.read("cut.json"));
    for key in ["power", "metrics", "explained"] {
        assert_eq!(kept[key], alone[key], "{key}");
    }
    let page = place.read("page.html");
    assert!(page.contains("The recording ends because the power failed."));
    let lines = place.read("responses.csv").lines().count() as u64;
    assert_eq!(Some(lines - 1), metrics["host.requests"].as_u64());
    assert!(place.read("erases.csv").lines().count() > 1);

    let outcome = run(&place, &["--payload", "--cut-at-ms", "40", "-o", "cut.md"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    let table = place.read("cut.md");
    assert!(table.contains("| sectors not as promised |"), "{table}");
    let outcome = run(&place, &["--payload", "--cut-at-ms", "40", "-o", "cut.csv"]);
    let said = "-o cut.csv: the ending names no form of a run that loses its power; expected .json, .md or .tex";
    assert!(outcome.errors.contains(said), "{}", outcome.errors);
    assert_eq!(outcome.status, 2);
}

#[test]
fn metrics_end_at_the_loss_and_begin_after_the_warm_up() {
    let place = Place::new();
    // A flushed page cannot be lost, but what is dirty at the end of the requests stays dirty until the loss.
    let words = ["--payload", "--cut-at-ms", "1e7", "--json"];
    let metrics = &json(&run(&place, &words).output)["metrics"];
    let oldest = metrics["buffer.oldest_dirty_ms_max"].as_f64();
    assert!(oldest.is_some_and(|oldest| oldest > 9.9e6), "{metrics}");
    // All requests before this loss are part of the warm-up, so nothing was measured.
    let words = [
        "--payload",
        "--cut-at-write",
        "20",
        "--set",
        "sim.warmup_requests=399",
        "--set",
        "host.replay=closed",
        "--json",
    ];
    let result = json(&run(&place, &words).output);
    assert_eq!(result["metrics"], json("{}"));
    assert_eq!(result["power"]["requests"], 20);
    // A run that loses its power has a clock, whatever was set.
    let words = [
        "--payload",
        "--cut-at-write",
        "20",
        "--set",
        "sim.costing=op_count",
        "--fio-json",
        "fio.json",
    ];
    assert_eq!(run(&place, &words).status, 0);
    assert!(place.read("fio.json").contains("clat_ns"));
}

#[test]
fn people_get_a_table() {
    let place = Place::new();
    let outcome = run(&place, &["--payload", "--cut-at-ms", "40"]);
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    for words in [
        "power failed at",
        "40 ms",
        "time to mount",
        "sectors whose newest answered write is gone",
        "sectors not as promised",
    ] {
        assert!(outcome.output.contains(words), "{}", outcome.output);
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    for (words, said) in [
        (&["--payload"][..], "--cut-at-program"),
        (&["--cut-at-program", "3"], "--payload"),
        (&["--payload", "--cut-at-program", "0"], "0"),
        (
            &["--payload", "--cut-at-program", "3", "--cut-at-write", "3"],
            "cannot be used",
        ),
        (
            &["--payload", "--cut-at-program", "3", "--csv"],
            "cannot be used",
        ),
        (&["--payload", "--cut-at-ms", "-1"], "-1"),
        (
            &["--payload", "--cut-at-program", "3", "--ftl", "none"],
            "ftl.kind = none",
        ),
        (
            &["--payload", "--cut-at-flush", "3"],
            "the run ended after 0",
        ),
    ] {
        let outcome = run(&place, words);
        assert_eq!(outcome.status, 2, "{words:?}: {}", outcome.output);
        assert!(
            outcome.errors.contains(said),
            "{words:?}: {}",
            outcome.errors
        );
        assert_eq!(outcome.output, "", "{words:?}");
    }
}
