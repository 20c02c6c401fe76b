//! Tests that set a parameter several times and check which value applies.

use crate::common;

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

#[test]
fn an_old_name_is_refused_wherever_it_stands_with_the_new_one() {
    let place = Place::new();
    place.write("old.toml", "[flash]\nplanes_per_element = 2\n");
    for (arguments, expected) in [
        (
            ["--set", "flash.elements=4"],
            "\"flash.elements\" is now flash.dies",
        ),
        (
            ["--set", "trace.asu=separate"],
            "\"trace.asu\" is now trace.volumes",
        ),
        (
            ["--set", "ftl.allocation_pool=element"],
            "\"element\" is now die",
        ),
        (
            ["--ftl", "page:cleaning=greedy"],
            "\"ftl.cleaning\" is now ftl.gc_policy",
        ),
        (
            ["--config", "old.toml"],
            "\"flash.planes_per_element\" is now flash.planes_per_die",
        ),
        (
            ["--profile", "old.toml"],
            "\"flash.planes_per_element\" is now flash.planes_per_die",
        ),
    ] {
        for command in ["run", "compare"] {
            let outcome = place.run(&[&[command], &RUN[1..], &arguments].concat());
            assert_eq!(outcome.status, 2, "{command} {arguments:?}");
            assert!(outcome.errors.contains(expected), "{}", outcome.errors);
        }
    }
}

/// The metrics of a run that writes pages 0 to 3 again and again, with some trims.
fn order_and_power(place: &Place, arguments: &[&str]) -> serde_json::Value {
    let lines: String = (0..400u32)
        .map(|index| match index % 10 {
            9 => format!("{index},trim,{},4096\n", index % 4 * 4096),
            _ => format!("{index},write,{},4096\n", index % 4 * 4096),
        })
        .collect();
    place.write("t.csv", format!("time,op,offset,bytes\n{lines}"));
    let run = [
        "run",
        "t.csv",
        "--format",
        "csv",
        "--set",
        "trace.time_unit=ms",
        "--set",
        "flash.blocks_per_plane=2048",
        "--json",
    ];
    place.json(&[&run[..], arguments].concat())["metrics"].clone()
}

#[test]
fn without_a_volatile_cache_every_write_is_programmed_before_its_answer() {
    let place = Place::new();
    let on = order_and_power(&place, &["--set", "device.vwc=on"]);
    let off = order_and_power(&place, &["--set", "device.vwc=off"]);
    assert_eq!(on["flash.programs"], 0);
    assert_eq!(off["flash.programs"], off["host.page_writes"]);
    assert!(on["response.write.max_ms"].as_f64() < Some(0.1));
    assert!(off["response.p50_ms"].as_f64() > Some(0.3));
    assert_eq!(off["buffer.dirty_at_end"], 0);
}

#[test]
fn a_strict_trim_is_a_write_of_zeros() {
    let place = Place::new();
    let strict = ["--set", "device.trim=strict", "--buffer", "nocache"];
    let default = order_and_power(&place, &["--buffer", "nocache"]);
    assert_eq!(default["flash.programs"], 360);
    assert_eq!(order_and_power(&place, &strict)["flash.programs"], 400);
}

#[test]
fn what_a_loss_of_power_would_lose_is_more_than_what_is_dirty() {
    let place = Place::new();
    let one_page = order_and_power(&place, &["--size", "4KiB"]);
    assert_eq!(one_page["buffer.dirty_bytes_max"], 4096);
    assert_eq!(one_page["device.at_risk_bytes_max"], 8192);
    let none = order_and_power(&place, &["--buffer", "nocache"]);
    assert_eq!(none["device.at_risk_bytes_max"], 4096);
    let no_flash = order_and_power(&place, &["--ftl", "none"]);
    assert!(no_flash.get("device.at_risk_bytes_max").is_none());
}
