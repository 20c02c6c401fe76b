//! Tests of devices at the edges of what their parameters allow. Each was found by the command in it.

use crate::common;

use common::{Place, json};
use serde_json::Value;

/// The metrics of `destage run` with the arguments `text`, which are separated by spaces.
fn metrics(text: &str) -> Value {
    let place = Place::new();
    let arguments: Vec<&str> = text.split_whitespace().collect();
    let outcome = place.run(&[&["run", "--json"], &arguments[..]].concat());
    assert_eq!(outcome.status, 0, "{text}: {}", outcome.errors);
    json(&outcome.output)["metrics"].take()
}

fn number(metrics: &Value, name: &str) -> f64 {
    metrics[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: {metrics}"))
}

/// The last cluster of a device may have fewer pages than the others.
#[test]
fn padding_ends_with_the_device() {
    for layer in [
        "page",
        "page:placement=dynamic",
        "dftl",
        "hat",
        "striped",
        "replacement",
        "bast",
        "fast",
        "sast",
        "last",
        "superblock",
    ] {
        for more in [
            "",
            "--set sim.costing=op_count",
            "--set sim.precondition=none",
        ] {
            metrics(&format!(
                "-w uniform:requests=3000,footprint_pages=3000 -b bplru:cluster_pages=24 -s 262144 --ftl {layer} --set flash.dies=2 --set flash.planes_per_die=1 --set flash.blocks_per_plane=32 --set flash.pages_per_block=16 --set trace.addr_map=modulo {more}"
            ));
        }
    }
}

#[test]
fn one_bit_a_cell_is_fast_whatever_the_times_of_the_types_are() {
    let work = "-w uniform:requests=500,footprint_pages=3000,mean_interarrival_ms=50 -b nocache --profile femu-tlc";
    let mean = |more: &str| {
        number(
            &metrics(&format!("{work} {more}")),
            "response.write.mean_ms",
        )
    };
    let pslc = mean("--set flash.cell_mode=pslc --set flash.bits_per_cell=3");
    assert!(pslc < 0.5 * mean(""), "{pslc}");
    // A layer with a cache of such blocks chooses the mode of each block itself.
    let cached = "--ftl pslc --set flash.bits_per_cell=3 --set flash.pages_per_block=24";
    assert_eq!(
        metrics(&format!("{work} {cached}")),
        metrics(&format!("{work} {cached} --set flash.cell_mode=pslc"))
    );
}

#[test]
fn no_more_zones_are_open_than_allowed() {
    for (open, seed) in [(1, 1), (2, 2), (3, 3)] {
        let found = metrics(&format!(
            "-w uniform:requests=6000,footprint_pages=100000,max_pages=1,mean_interarrival_ms=5 -b nocache --ftl zns:open_zones={open},zone_blocks=1 --set flash.dies=8 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set ftl.reserve_percent=7 --set trace.addr_map=modulo --set host.queue_depth=1 --set sim.seed={seed}"
        ));
        assert!(
            number(&found, "ftl.zones_open_max") <= f64::from(open),
            "{open}"
        );
        assert_eq!(number(&found, "host.completed"), 6000.0);
    }
}

/// All blocks of a retired zone are retired.
#[test]
fn retired_zones_count_with_all_their_blocks() {
    let found = metrics(
        "-w uniform:requests=60000,footprint_pages=2000,mean_interarrival_ms=0.5 -b nocache --ftl zns:zone_blocks=4 --set flash.dies=2 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set trace.addr_map=modulo --set flash.wearout=retire --set flash.endurance=12",
    );
    let retired = number(&found, "wear.blocks_retired");
    assert!(retired > 0.0 && retired % 4.0 == 0.0, "{retired}");
    if number(&found, "wear.erase_min") == 12.0 {
        assert_eq!(retired, 128.0);
    }
}

/// Merges are a part of what a die does.
#[test]
fn merges_take_no_longer_than_the_die_works() {
    let bast = "-w uniform:requests=3000,footprint_pages=3000,mean_interarrival_ms=5 -b nocache --ftl bast --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set flash.program_us=800 --set trace.addr_map=modulo";
    for units in [
        "--set flash.page_bytes=16384 --set ftl.map_unit_bytes=4096",
        "--set flash.program_unit=4",
        "",
    ] {
        let found = metrics(&format!("{bast} {units}"));
        let merges = number(&found, "ftl.merge_time_ms");
        let end = 1000.0 * number(&found, "host.completed") / number(&found, "throughput.iops");
        assert!(merges > 0.0 && merges <= end, "{units}: {merges} of {end}");
    }
}

const ONE_DIE: &str = "--set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.page_bytes=512";

/// The outcome of `destage run FILE` with the arguments `text`, if the file has the lines `lines`.
fn run_of(lines: &str, text: &str) -> common::Outcome {
    let place = Place::new();
    let head = "time,volume,op,sector,sectors,fua,stream\n";
    place.write("t.csv", format!("{head}{lines}"));
    let arguments: Vec<&str> = text.split_whitespace().chain(ONE_DIE.split(' ')).collect();
    place.run(&[&["run", "t.csv", "--json"], &arguments[..]].concat())
}

/// Copies of a merge are programs one after the other, whichever way their time is computed.
#[test]
fn each_copied_page_occupies_the_dram() {
    let busy = |more: &str| {
        let metrics = metrics(&format!(
            "-w uniform:requests=2000,write_percent=100 -s 64KiB --ftl bast --set flash.dies=2 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set trace.addr_map=modulo --set device.dram_program_ns=1000 {more}"
        ));
        number(&metrics, "device.dram_utilization")
    };
    let (sum, commands) = (busy(""), busy("--set flash.status_ns=0.1"));
    assert!((sum / commands - 1.0).abs() < 1e-3, "{sum} {commands}");
}

/// Static levelling moves data also in the collection that repeats the reference's choice between equal blocks.
#[test]
fn levelling_works_with_the_ties_of_the_reference() {
    let metrics = metrics(
        "-w zipf:requests=20000,footprint_pages=700,write_percent=100 -b nocache --ftl page:victim_ties=reference,wl=static,wl_period=100,wl_gap=5 --set flash.copy_back=false --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set sim.costing=op_count",
    );
    assert!(number(&metrics, "flash.programs.wear") > 0.0);
}

/// A flush of a share without dirty pages leaves its clean pages in the buffer.
#[test]
fn a_flush_keeps_clean_pages_of_every_share() {
    let reads = |from: u64| -> String {
        (0..4)
            .map(|page| format!("{},0,read,{page},1,0,0\n", from + page * 1_000_000))
            .collect()
    };
    let writes = "4000000,0,write,20,1,0,1\n5000000,0,flush,0,0,0,1\n";
    let lines = format!("{}{writes}{}", reads(0), reads(6_000_000_000));
    for scheme in ["lirs-wsr", "cflru"] {
        let outcome = run_of(
            &lines,
            &format!(
                "-b {scheme} -s 8192 --ftl page --set ftl.handles=2 --set buffer.by_handle=equal --set flash.pages_per_block=8"
            ),
        );
        let metrics = json(&outcome.output)["metrics"].take();
        assert_eq!(number(&metrics, "buffer.read_hits"), 4.0, "{scheme}");
        assert_eq!(number(&metrics, "flash.reads"), 4.0, "{scheme}");
    }
}

/// A trim has no data, and reaches the buffer before a write whose data are still on their way.
#[test]
fn a_scheme_that_knows_the_future_refuses_trims_that_overtake() {
    let lines = "0,0,write,0,1,0,0\n1000000,0,write,0,1,0,0\n1000000,0,trim,8,1,0,0\n2000000,0,write,8,1,0,0\n";
    let strict = "-b belady -s 4096 --set device.trim=strict";
    assert_eq!(run_of(lines, strict).status, 0);
    let outcome = run_of(lines, &format!("{strict} --set device.dram_access_ns=5000"));
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.errors.contains("device.trim = strict"),
        "{}",
        outcome.errors
    );
}

/// The last request arrives when the run ends, which is also the end of an interval.
#[test]
fn the_last_interval_has_the_requests_of_its_last_moment() {
    let outcome = run_of(
        "0,0,write,0,1,0,0\n10000,0,write,8,1,0,0\n",
        "-s 8192 --explain --set sim.window=last_arrival",
    );
    let document = json(&outcome.output);
    let counts = document["explained"]["series"]["columns"]["requests"].as_array();
    let counts = counts.expect("a column").iter().filter_map(Value::as_u64);
    assert_eq!(counts.sum::<u64>(), 2);
}

#[test]
fn garbage_collection_that_would_never_end_is_refused() {
    for layer in ["page --set flash.copy_back=false", "page", "hat", "striped"] {
        let place = Place::new();
        let text = format!("run -w uniform:requests=100 --set ftl.gc_low=4294967295 --ftl {layer}");
        let arguments: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(place.run(&arguments).status, 2, "{layer}");
    }
}
