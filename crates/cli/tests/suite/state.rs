//! Tests of the state of a device in a file, and of the warm-up. docs/TOUR.md describes both.

use crate::common;

use std::path::Path;

use common::Place;
use serde_json::Value;

const DEVICE: [&str; 8] = [
    "--set",
    "flash.dies=2",
    "--set",
    "flash.planes_per_die=2",
    "--set",
    "flash.blocks_per_plane=40",
    "--set",
    "flash.pages_per_block=16",
];
const RANDOM: [&str; 2] = ["--set", "sim.precondition=random_fill:2"];
const KEPT: [&str; 2] = ["--set", "sim.precondition=file:used.state"];

fn precondition(place: &Place) {
    let arguments = [&["precondition", "-o", "used.state"], &DEVICE[..], &RANDOM].concat();
    let outcome = place.run(&arguments);
    assert_eq!((outcome.status, &*outcome.errors), (0, ""));
    assert_eq!(
        outcome.output,
        "used.state; use it with --set sim.precondition=file:used.state\n"
    );
}

#[test]
fn a_buffer_that_does_not_fit_stands_in_no_way_of_a_state() {
    let place = Place::new();
    let small = ["--set", "buffer.capacity_bytes=1KiB"];
    let large_pages = [
        "--set",
        "buffer.kind=fab",
        "--set",
        "buffer.capacity_bytes=8KiB",
        "--set",
        "flash.page_bytes=16KiB",
    ];
    for more in [&small[..], &large_pages] {
        let command = ["precondition", "-o", "used.state"];
        let outcome = place.run(&[&command[..], &DEVICE, more].concat());
        assert_eq!((outcome.status, &*outcome.errors), (0, ""), "{more:?}");
    }
    // An illegal value is still an error.
    let wrong = ["precondition", "-o", "x.state", "--set", "buffer.kind=lur"];
    let outcome = place.run(&[&wrong[..], &DEVICE].concat());
    assert!(outcome.errors.contains("lur"), "{}", outcome.errors);
    assert!(!common::exists(&place.path("x.state")));
}

fn simulation<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let workload = "zipf:requests=4000,footprint_pages=2000";
    let fixed = [command, "--workload", workload, "--json", "--quiet"];
    // A list of sizes takes the place of the size.
    let size: &[&str] = match more.contains(&"--sizes") {
        true => &[],
        false => &["--size", "128KiB"],
    };
    [&fixed[..], size, &DEVICE, more].concat()
}

#[test]
fn runs_and_comparisons_from_a_file_are_those_that_prepare_the_device() {
    let place = Place::new();
    precondition(&place);
    let direct = place.json(&simulation("run", &RANDOM));
    let kept = place.json(&simulation("run", &KEPT));
    assert_eq!(direct["metrics"], kept["metrics"]);
    assert!(direct["metrics"]["sim.precondition_pages"].as_u64() > Some(1000));
    assert_eq!(kept["parameters"]["sim.precondition"], "file:used.state");
    assert_eq!(kept["parameters"]["state.precondition"], "random_fill:2");
    assert_eq!(kept["parameters"]["state.seed"], 1);
    let digest = kept["parameters"]["state.digest"].as_str().expect("a text");
    assert_eq!(digest.len(), "sha256:".len() + 64);

    let list = ["--buffers", "nocache,fifo,lru", "--sizes", "64KiB,1MiB"];
    let metrics = |fill: &[&str]| -> Vec<Value> {
        let document = place.json(&simulation("compare", &[&list[..], fill].concat()));
        let runs = document["runs"].as_array().expect("runs");
        runs.iter().map(|run| run["metrics"].clone()).collect()
    };
    let kept = metrics(&KEPT);
    assert_eq!(kept.len(), 5);
    assert_eq!(metrics(&RANDOM), kept);
}

#[test]
fn what_cannot_be_used_exits_with_2_and_leaves_nothing() {
    let place = Place::new();
    precondition(&place);
    let refused = |arguments: &[&str], expected: &str| {
        let outcome = place.run(arguments);
        assert_eq!((outcome.status, &*outcome.output), (2, ""), "{arguments:?}");
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
    };
    let other = [&KEPT[..], &["--set", "flash.dies=4", "-o", "r.json"]].concat();
    refused(
        &simulation("run", &other),
        "sim.precondition = file:used.state: is of a device with flash.dies = 2, but here it is 4",
    );
    let other = [&KEPT[..], &["--ftls", "page,bast"]].concat();
    let outcome = place.run(&simulation("compare", &other));
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .errors
            .contains("ftl.kind = page, but here it is bast"),
        "{}",
        outcome.errors
    );
    let mut bytes = std::fs::read(place.path("used.state")).expect("a state");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    place.write("used.state", bytes);
    refused(&simulation("run", &KEPT), "used.state: is damaged");
    place.write("used.state", "something else");
    refused(&simulation("run", &KEPT), "is not the state of a device");
    refused(
        &simulation("run", &["--set", "sim.precondition=file:none.state"]),
        "sim.precondition = file:none.state: ",
    );
    refused(
        &["precondition", "-o", "no/folder.state"],
        "no/folder.state: cannot be written",
    );
    let full = [
        "precondition",
        "-o",
        "full.state",
        "--set",
        "ftl.reserve_percent=0",
    ];
    refused(&[&full[..], &DEVICE, &RANDOM].concat(), "reserve");
    refused(
        &["precondition", "-o", "none.state", "--ftl", "none"],
        "ftl.kind = none: there is no flash whose state could be prepared; expected a layer with flash",
    );
    for again in [&["-o", "b.state"][..], &["--ftl", "page", "--ftl", "dftl"]] {
        refused(
            &[&["precondition", "-o", "a.state"], again].concat(),
            "cannot be used multiple times",
        );
    }
    refused(
        &simulation("run", &["--set", "sim.warmup_requests=4000"]),
        "sim.warmup_requests = 4000: the run ended after 4000 requests, and measured none of them",
    );
    assert_eq!(place.files(), ["used.state"]);
}

#[test]
fn a_warm_up_leaves_the_first_requests_out_and_logs_have_them() {
    let place = Place::new();
    let more = [
        "--set",
        "sim.warmup_requests=1000",
        "--response-log",
        "r.csv",
    ];
    let document = place.json(&simulation("run", &more));
    assert_eq!(document["metrics"]["host.requests"], 3000);
    assert_eq!(document["parameters"]["sim.warmup_requests"], 1000);
    assert_eq!(place.read("r.csv").lines().count(), 4001);
}

#[test]
fn the_commands_of_the_tour_work() {
    let tour = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/TOUR.md");
    let tour = std::fs::read_to_string(tour).expect("docs/TOUR.md");
    let section = tour.split("## A used device").nth(1).expect("a section");
    let block = section.split("```").nth(1).expect("commands");
    let commands: Vec<_> = block
        .lines()
        .filter_map(|line| line.strip_prefix("destage "))
        .collect();
    assert_eq!(commands.len(), 3);
    let place = Place::new();
    for command in commands {
        let words: Vec<_> = command.split(' ').collect();
        let outcome = place.run(&words);
        assert_eq!((outcome.status, &*outcome.errors), (0, ""), "{command}");
    }
}
