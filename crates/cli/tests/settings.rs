//! Which of several settings of a parameter counts.

mod common;

use common::Place;

const RUN: [&str; 4] = ["run", "--workload", "zipf:requests=50", "--json"];

fn parameter(place: &Place, arguments: &[&str], name: &str) -> serde_json::Value {
    place.json(&[&RUN[..], arguments].concat())["parameters"][name].clone()
}

#[test]
fn defaults_give_way_to_profile_file_and_command_line() {
    let place = Place::new();
    place.write(
        "c.toml",
        "[host]\nqueue_depth = 7\n[flash]\nendurance = 60\ndies = 4\n",
    );
    let profile = ["--profile", "disksim-ssd"];
    let file = ["--config", "c.toml"];
    let line = ["--set", "flash.dies=2"];
    let depth = |arguments: &[&str]| parameter(&place, arguments, "host.queue_depth");
    let endurance = |arguments: &[&str]| parameter(&place, arguments, "flash.endurance");
    let dies = |arguments: &[&str]| parameter(&place, arguments, "flash.dies");
    assert_eq!(endurance(&[]), 100_000);
    assert_eq!(endurance(&profile), 50);
    assert_eq!(endurance(&[&file[..], &profile].concat()), 60);
    assert_eq!(depth(&file), 7);
    assert_eq!(dies(&[&line[..], &file, &profile].concat()), 2);
    assert_eq!(dies(&[&file[..], &profile].concat()), 4);
}

#[test]
fn the_last_on_the_command_line_wins() {
    let place = Place::new();
    let kind = |arguments: &[&str]| parameter(&place, arguments, "buffer.kind");
    assert_eq!(
        kind(&["--buffer", "fifo", "--set", "buffer.kind=lru"]),
        "lru"
    );
    assert_eq!(
        kind(&["--set", "buffer.kind=lru", "--buffer", "fifo"]),
        "fifo"
    );
    assert_eq!(
        kind(&["--buffer", "lru:lru_unit=request", "--buffer", "fifo"]),
        "fifo"
    );
    let size = |arguments: &[&str]| parameter(&place, arguments, "buffer.capacity_bytes");
    assert_eq!(
        size(&["--size", "1MiB", "--set", "buffer.capacity_bytes=2MiB"]),
        2 << 20
    );
    assert_eq!(
        size(&["--set", "buffer.capacity_bytes=2MiB", "--size", "1MB"]),
        1_000_000
    );
    let depth = ["--set", "host.queue_depth=3", "--set", "host.queue_depth=5"];
    assert_eq!(parameter(&place, &depth, "host.queue_depth"), 5);
}

#[test]
fn a_profile_may_be_a_file() {
    let place = Place::new();
    place.write(
        "mine.toml",
        "[flash]\ndies = 3\n[buffer]\nkind = \"fifo\"\n",
    );
    let profile = ["--profile", "mine.toml"];
    assert_eq!(parameter(&place, &profile, "flash.dies"), 3);
    assert_eq!(parameter(&place, &profile, "buffer.kind"), "fifo");
}

#[test]
fn a_setting_of_a_comparison_applies_where_it_is_known() {
    let place = Place::new();
    let compare = [
        "compare",
        "--workload",
        "zipf:requests=50",
        "--buffers",
        "fifo,lru",
        "--json",
    ];
    let document = place.json(&[&compare[..], &["--set", "buffer.lru_unit=request"]].concat());
    assert!(
        document["runs"][0]["parameters"]
            .get("buffer.lru_unit")
            .is_none()
    );
    assert_eq!(
        document["runs"][1]["parameters"]["buffer.lru_unit"],
        "request"
    );

    place.write("c.toml", "[buffer]\nlru_unit = \"request\"\n");
    let document = place.json(&[&compare[..], &["--config", "c.toml"]].concat());
    assert_eq!(
        document["runs"][1]["parameters"]["buffer.lru_unit"],
        "request"
    );

    let outcome = place.run(&[&compare[..], &["--set", "buffer.lru_unti=request"]].concat());
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.errors.contains("buffer.lru_unti"),
        "{}",
        outcome.errors
    );
}

#[test]
fn the_seed_fixes_the_workload() {
    let place = Place::new();
    let metrics = |seed: &str| {
        let set = format!("sim.seed={seed}");
        place.json(&[&RUN[..], &["--set", &set]].concat())["metrics"].clone()
    };
    assert_eq!(metrics("7"), metrics("7"));
    assert_ne!(metrics("7"), metrics("8"));
}

#[test]
fn a_workload_is_cut_as_a_trace_is() {
    let place = Place::new();
    let requests = |arguments: &[&str]| {
        let run = ["run", "--workload", "mixed:requests=1000", "--json"];
        place.json(&[&run[..], arguments].concat())["metrics"]["host.requests"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(requests(&["--limit", "10"]), 10);
    assert_eq!(requests(&["--skip", "990"]), 10);
    let writes = requests(&["--limit", "100", "--writes-only"]);
    assert!((50..100).contains(&writes), "{writes}");
    let set = ["--set", "workload.requests=77"];
    assert_eq!(requests(&set), 77);
}
