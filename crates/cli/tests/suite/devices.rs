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

/// Each program occupies the DRAM when its own command begins, also in a step of many commands, with a channel for each
/// die and with given channels.
#[test]
fn each_copied_page_occupies_the_dram() {
    let with = |more: &str| {
        metrics(&format!(
            "-w uniform:requests=2000,write_percent=100 -s 64KiB --ftl bast --set flash.dies=2 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set trace.addr_map=modulo --set device.dram_program_ns=1000 {more}"
        ))
    };
    let metrics = with("");
    // Nothing else occupies the DRAM, because the pages themselves need no time in it.
    let programs = number(&metrics, "flash.programs");
    let seconds = number(&metrics, "host.completed") / number(&metrics, "throughput.iops");
    let share = programs * 1000e-9 / seconds;
    let found = number(&metrics, "device.dram_utilization");
    assert!(programs > 2000.0, "{programs}: pages are copied");
    assert!((found / share - 1.0).abs() < 1e-9, "{found} {share}");
    assert_eq!(metrics, with("--set flash.channels=2"));
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

/// An eviction of many pages over dies that share the choice of where to write wakes these dies thousands of times. The
/// threads of `compare` have small stacks.
#[test]
fn evictions_of_thousands_of_pages_fit_on_the_stack_of_a_worker() {
    for costing in ["event", "op_count"] {
        let place = Place::new();
        let costing = format!("sim.costing={costing}");
        let outcome = place.run(&[
            "compare",
            "--json",
            "-w",
            "uniform:requests=20000,footprint_pages=60000,max_pages=8",
            "--profile=sk-hynix-pe8110",
            "--buffers=bplru",
            "--sizes=64MiB",
            "--set=sim.precondition=none",
            "--set",
            &costing,
        ]);
        assert_eq!(outcome.status, 0, "{costing}: {}", outcome.errors);
    }
}

#[test]
fn a_log_changes_no_metric() {
    let work = "-w uniform:requests=300,footprint_pages=3000,mean_interarrival_ms=0.02 --profile disksim-ssd --set sim.window=last_arrival";
    let plain = metrics(work);
    for log in ["response", "destage", "erase"] {
        let logged = metrics(&format!("{work} --{log}-log log.csv"));
        assert_eq!(plain, logged, "{log}");
    }
}

/// The read begins before the end of the program, and its data use the channel after that end. So the die always works.
#[test]
fn a_die_is_busy_with_a_read_that_interrupts() {
    let lines = "0,0,write,0,1,0,0\n600000,0,read,8,1,0,0\n";
    for order in [
        "reads_first",
        "reads_first --set flash.suspend=keeps_end",
        "reads_first --set flash.suspend=moves_end",
        "commands_reads_first --set flash.suspend=moves_end",
    ] {
        let outcome = run_of(
            lines,
            &format!(
                "-b nocache --explain --set host.bus_ns_per_sector=0 --set flash.transfer_ns_per_byte=800 --set flash.read_us=50 --set flash.suspend_us=0 --set flash.scheduling={order}"
            ),
        );
        let document = json(&outcome.output);
        let found = number(&document["metrics"], "flash.utilization_mean");
        assert!((found - 1.0).abs() < 1e-9, "{order}: {found}");
        let course = document["explained"]["series"]["columns"]["utilization.mean"].as_array();
        let mut course = course.expect("a column").iter().filter_map(Value::as_f64);
        assert!(course.all(|share| share == 1.0), "{order}");
    }
}

/// A collection is under way when statistics close.
#[test]
fn collections_count_for_their_time_while_statistics_are_open() {
    for timing in [
        "--set flash.channels=1",
        "--set flash.scheduling=commands_arrival",
    ] {
        let with = |more: &str| {
            metrics(&format!(
                "-w uniform:requests=35,footprint_pages=300,mean_interarrival_ms=5 -b nocache --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=32 --set flash.pages_per_block=16 --set sim.precondition=random_fill:2 --set flash.erase_us=3000 --set trace.addr_map=modulo --set sim.window=last_arrival {timing} {more}"
            ))
        };
        let warm = with("--set sim.warmup_requests=32");
        let time = |metrics: &Value| number(metrics, "ftl.gc_time_ms");
        let window = 1000.0 * number(&warm, "host.completed") / number(&warm, "throughput.iops");
        assert_eq!(number(&warm, "ftl.gc_runs"), 1.0, "{timing}");
        assert!(time(&warm) > 0.0 && time(&warm) <= window, "{timing}");
        let before_the_opening = time(&with("--limit 33"));
        let expected = time(&with("")) - before_the_opening;
        assert!((time(&warm) - expected).abs() < 1e-6, "{timing}");
    }
}

/// Reads and trims of `dftl` may write the map, and collect garbage before.
#[test]
fn collections_inside_reads_count() {
    for order in [
        "arrival",
        "reads_first",
        "garbage_last",
        "reads_first --set flash.suspend=moves_end",
    ] {
        let found = metrics(&format!(
            "-w uniform:requests=1000,footprint_pages=300,max_pages=1,write_percent=60 -b nocache --ftl dftl:cmt_entries=4,mappings_per_page=8 --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=8 --set flash.copy_back=false --set trace.addr_map=modulo --set host.replay=closed --set host.queue_depth=8 --set flash.scheduling={order}"
        ));
        let erases = number(&found, "flash.erases");
        assert!(erases > 100.0, "{order}: {erases}");
        assert_eq!(number(&found, "ftl.gc_runs"), erases, "{order}");
        assert!(
            number(&found, "ftl.gc_time_ms") >= 1.5 * erases,
            "{order}: {found}"
        );
    }
}

#[test]
fn a_setting_of_the_front_end_is_said_to_have_no_effect_only_if_it_has_none() {
    for (front, setting, is_named) in [
        ("host.queue_depth=5", "host.queue_requests=1", true),
        ("device.command_slots=5", "host.queue_requests=1", false),
        (
            "flash.read_loaded_percent=50",
            "host.queue_requests=1",
            false,
        ),
        ("device.dram_program_ns=9", "host.queue_requests=1", false),
        (
            "device.dram_program_ns=9",
            "device.dram_uj_per_byte=1",
            false,
        ),
    ] {
        let pairs = format!("--set {front} --set {setting}");
        let outcome = run_of("0,0,write,0,1,0,0\n", &pairs);
        assert_eq!(outcome.status, 0, "{pairs}: {}", outcome.errors);
        let is_said = outcome.errors.contains("has no effect");
        assert_eq!(is_said, is_named, "{pairs}: {}", outcome.errors);
    }
}

#[test]
fn strict_trims_count_as_the_writes_that_they_are() {
    let trims = "0,0,write,0,1,0,0\n1000000,0,trim,0,1,0,0\n2000000,0,trim,0,1,0,0\n3000000,0,trim,0,1,0,0\n";
    for costing in ["event", "op_count"] {
        let with = |more: &str| {
            let outcome = run_of(
                trims,
                &format!(
                    "--set sim.costing={costing} --set device.trim=strict --set sim.precondition=none {more}"
                ),
            );
            json(&outcome.output)["metrics"].take()
        };
        let buffered = with("-s 8192");
        assert_eq!(number(&buffered, "host.page_writes"), 4.0, "{costing}");
        assert_eq!(number(&buffered, "host.bytes_written"), 2048.0, "{costing}");
        let hits = number(&buffered, "buffer.write_hits_percent");
        assert_eq!(hits, 75.0, "{costing}");
        assert_eq!(number(&with("-b nocache"), "waf.host"), 1.0, "{costing}");
    }
}

#[test]
fn the_life_of_a_device_begins_with_the_first_arrival() {
    let life = |warmup: u32| {
        let found = metrics(&format!(
            "-w uniform:requests=1000,footprint_pages=4,mean_interarrival_ms=10 -b nocache --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=16 --set flash.pages_per_block=8 --set flash.wearout=retire --set flash.endurance=3 --set sim.precondition=none --set sim.warmup_requests={warmup}"
        ));
        assert_eq!(number(&found, "device.worn_out"), 1.0);
        number(&found, "device.worn_out_ms")
    };
    assert_eq!(life(0), life(200));
}

/// The first write loads the drive. The read then reads a page of the map and a page of the host, of which only the
/// second takes longer. The last write reads a page of the map.
#[test]
fn reads_of_the_map_take_no_longer_under_load() {
    let lines = "500000,0,write,0,1,0,0\n1500000,0,read,1,1,0,0\n100000000,0,write,1500,1,0,0\n";
    for (percent, read) in [(0, 0.05), (100, 0.075)] {
        let outcome = run_of(
            lines,
            &format!(
                "-b nocache --ftl dftl:cmt_entries=4,mappings_per_page=64 --set flash.transfer_ns_per_byte=0 --set host.bus_ns_per_sector=0 --set flash.read_loaded_percent={percent}"
            ),
        );
        let found = json(&outcome.output)["metrics"].take();
        assert_eq!(number(&found, "response.read.mean_ms"), read, "{percent}");
        assert_eq!(number(&found, "response.write.max_ms"), 0.225, "{percent}");
    }
}

#[test]
fn a_run_beyond_the_end_of_the_clock_is_refused() {
    let last = "1844674407369955161,0,read";
    let lines = format!("{last},0,1,0,0\n{last},1,1,0,0\n");
    for more in [
        "--set flash.channels=1",
        "--set flash.cache_read=true",
        "--set flash.scheduling=commands_arrival",
    ] {
        let outcome = run_of(
            &lines,
            &format!("-b nocache --set flash.command_ns=1e6 {more}"),
        );
        assert_eq!(outcome.status, 2, "{more}: {}", outcome.errors);
        let says = "end too late";
        assert!(outcome.errors.contains(says), "{more}: {}", outcome.errors);
    }
}

/// Padding whose contents are at hand is neither read nor filler.
#[test]
fn the_explanation_counts_padding_as_the_metrics_do() {
    let place = Place::new();
    let text = "run --json --explain -w uniform:requests=100,footprint_pages=3000,max_pages=1 -b bplru:pad_charge_reads=false -s 65536 --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=128";
    let arguments: Vec<&str> = text.split_whitespace().collect();
    let document = json(&place.run(&arguments).output);
    assert!(number(&document["metrics"], "flash.programs.pad") > 0.0);
    for count in ["pad_reads", "pad_fills"] {
        let column = document["explained"]["destages"][count].as_array();
        let column = column.expect("a column").iter();
        let sum: u64 = column.filter_map(Value::as_u64).sum();
        assert_eq!(sum, 0, "{count}");
        assert_eq!(document["metrics"][format!("buffer.{count}")], 0);
    }
}

/// With DiskSim's rule a completion may be credited to a request of another queue.
#[test]
fn a_queue_has_the_times_of_its_own_requests() {
    let queues = |attribution: &str| {
        let found = metrics(&format!(
            "-w uniform:requests=1000,footprint_pages=20,mean_interarrival_ms=0.1 -b nocache --set flash.dies=2 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set host.queues=2 --set host.queue_by=round_robin --set host.attribution={attribution}"
        ));
        ["mean", "p99", "max"].map(|word| {
            let of_queue = |queue: u32| number(&found, &format!("host.queue_{word}_ms.{queue}"));
            [0, 1].map(of_queue)
        })
    };
    assert_eq!(queues("request"), queues("disksim"));
}

#[test]
fn the_largest_values_of_a_range_end_soon() {
    let work = "-w uniform:requests=3000,footprint_pages=500,write_percent=100 -b nocache --set flash.dies=1 --set flash.planes_per_die=1 --set flash.blocks_per_plane=64 --set flash.pages_per_block=16 --set trace.addr_map=modulo";
    let found = metrics(&format!(
        "{work} --ftl page:gc_policy=d_choices,gc_choices=4294967295"
    ));
    assert!(number(&found, "ftl.gc_runs") > 10.0);
    let closed = |depth: u32| {
        metrics(&format!(
            "{work} --limit 50 --set host.replay=closed --set host.queue_depth={depth}"
        ))
    };
    assert_eq!(closed(u32::MAX), closed(50));
}
