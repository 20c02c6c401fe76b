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
