//! Tests of commands that write traces. The trace must have the requested contents. The file must be complete, or
//! must not appear at all.

use crate::common;

use common::{Place, json};

/// A trace of reads and writes in two volumes. The times end with a fraction of one tick.
fn trace() -> String {
    (0..9000)
        .map(|index| {
            format!(
                "{index}.5000001 {} {} 8 {}\n",
                index % 2,
                (index * 37) % 900 * 8,
                index % 3 / 2
            )
        })
        .collect()
}

fn metrics(place: &Place, file: &str) -> String {
    let document = place.json(&["run", file, "--json"]);
    document["metrics"].to_string()
}

#[test]
fn every_form_gives_the_same_metrics_and_comes_back_as_it_was() {
    let place = Place::new();
    place.write("t.disksim", trace());
    let expected = metrics(&place, "t.disksim");
    for name in [
        "t.compact",
        "a.compact.zst",
        "t.csv",
        "t.csv.gz",
        "t.csv.zst",
        "u.disksim.zst",
    ] {
        let outcome = place.run(&["trace", "convert", "t.disksim", "-o", name]);
        assert_eq!((outcome.status, outcome.output.as_str()), (0, ""), "{name}");
        assert!(
            outcome.errors.contains("9,000 requests"),
            "{}",
            outcome.errors
        );
        assert_eq!(metrics(&place, name), expected, "{name}");
        place.succeed(&["trace", "convert", name, "-o", "back.disksim"]);
        assert_eq!(place.read("back.disksim"), trace(), "{name}");
    }
    place.succeed(&["trace", "convert", "t.disksim", "--to", "csv", "-o", "x"]);
    assert_eq!(place.read("x"), place.read("t.csv"));
    let from_input = place.run_with(
        &[
            "trace", "convert", "-", "--format", "disksim", "-o", "y.csv",
        ],
        trace().as_bytes(),
    );
    assert_eq!(from_input.status, 0, "{}", from_input.errors);
    assert_eq!(place.read("y.csv"), place.read("t.csv"));
}

#[test]
fn parts_are_cut_by_count_time_volume_and_address() {
    let place = Place::new();
    place.write(
        "t.disksim",
        "0.5 0 0 8 0\n1.5 1 8 8 0\n2.5 0 12 8 1\n3.5 1 100 8 0\n4.5 0 200 8 0\n",
    );
    let cut = |arguments: &[&str]| {
        let all = [&["trace", "cut", "t.disksim", "-o", "c.disksim"], arguments].concat();
        place.succeed(&all);
        place.read("c.disksim")
    };
    assert_eq!(
        cut(&["--skip", "1", "--limit", "2"]),
        "1.500000 1 8 8 0\n2.500000 0 12 8 1\n"
    );
    assert_eq!(
        cut(&["--from", "1.5ms", "--until", "3500us", "--rebase"]),
        "0.000000 1 8 8 0\n1.000000 0 12 8 1\n"
    );
    assert_eq!(
        cut(&["--volumes", "1"]),
        "1.500000 1 8 8 0\n3.500000 1 100 8 0\n"
    );
    assert_eq!(
        cut(&["--sectors", "14..104", "--from", "0s"]),
        "1.500000 1 14 2 0\n2.500000 0 14 6 1\n3.500000 1 100 4 0\n"
    );
}

#[test]
fn traces_are_merged_and_scaled() {
    let place = Place::new();
    place.write("a.disksim", "0.0 0 0 8 0\n2.0 0 8 8 0\n");
    place.write("b.disksim", "1.0 0 80 8 1\n");
    let merge = [
        "trace",
        "merge",
        "a.disksim",
        "b.disksim",
        "-o",
        "m.disksim",
    ];
    place.succeed(&merge);
    assert_eq!(
        place.read("m.disksim"),
        "0.000000 0 0 8 0\n1.000000 1 80 8 1\n2.000000 0 8 8 0\n"
    );
    place.succeed(&[&merge[..], &["--same-volumes"]].concat());
    assert_eq!(
        place.read("m.disksim"),
        "0.000000 0 0 8 0\n1.000000 0 80 8 1\n2.000000 0 8 8 0\n"
    );
    place.succeed(&[
        "trace",
        "scale",
        "m.disksim",
        "-o",
        "s.disksim",
        "--time",
        "0.5",
        "--address",
        "3",
    ]);
    assert_eq!(
        place.read("s.disksim"),
        "0.000000 0 0 8 0\n0.500000 0 240 8 1\n1.000000 0 24 8 0\n"
    );
}

#[test]
fn an_anonymous_trace_gives_the_statistics_of_the_original() {
    let place = Place::new();
    place.write("t.disksim", trace());
    let anonymize = |output: &str, seed: &str| {
        let seed = format!("sim.seed={seed}");
        place.succeed(&[
            "trace",
            "anonymize",
            "t.disksim",
            "-o",
            output,
            "--region-bytes",
            "64KiB",
            "--set",
            &seed,
        ]);
        place.read(output)
    };
    let one = anonymize("a.csv", "1");
    assert_eq!(one, anonymize("b.csv", "1"));
    assert_ne!(one, anonymize("c.csv", "2"));
    let statistics = |file: &str| {
        // The anonymized trace has its regions at other addresses. A block must be as large as a region, so that the
        // pages of a block stay together.
        let mut document = place.json(&[
            "trace",
            "info",
            file,
            "--json",
            "--set",
            "flash.pages_per_block=16",
            "--set",
            "flash.summary_page=false",
        ]);
        let statistics = document["statistics"].as_object_mut().expect("an object");
        statistics.remove("sector_min");
        statistics.remove("sector_end");
        // Pages with equal numbers of writes are ranked by their page numbers. The page numbers have changed, so
        // these statistics may differ.
        statistics.retain(|name, _| !name.starts_with("hot_pages."));
        statistics.clone()
    };
    assert_eq!(statistics("a.csv"), statistics("t.disksim"));
}

#[test]
fn a_generated_trace_is_the_workload() {
    let place = Place::new();
    let workload = "zipf:requests=3000,footprint_pages=500";
    let direct = place.json(&["run", "--workload", workload, "--json"]);
    place.succeed(&[
        "trace",
        "generate",
        "--workload",
        workload,
        "-o",
        "g.compact",
    ]);
    assert_eq!(metrics(&place, "g.compact"), direct["metrics"].to_string());
    let other = [
        "trace",
        "generate",
        "--workload",
        workload,
        "--set",
        "sim.seed=2",
        "-o",
        "h.compact",
    ];
    place.succeed(&other);
    assert_ne!(metrics(&place, "h.compact"), direct["metrics"].to_string());
}

#[test]
fn what_cannot_be_written_is_said_and_leaves_nothing() {
    let place = Place::new();
    place.write("t.disksim", "0.5 0 0 8 0\n1.5 0 x 8 0\n");
    place.write("f.csv", "time,op,sector,sectors\n0,flush,0,0\n");
    let before = place.files();
    for (arguments, expected) in [
        (
            &["convert", "t.disksim", "-o", "u.csv"][..],
            "t.disksim:2: first sector is not a number: \"x\"",
        ),
        (
            &["convert", "f.csv", "-o", "f.disksim"],
            "f.disksim: DiskSim ASCII has no flush; expected reads and writes only, or --to csv or compact",
        ),
        (
            &["convert", "f.csv", "-o", "f.txt"],
            "-o f.txt: the ending names no format of traces; expected --to with one of compact, csv, disksim",
        ),
        (
            &["convert", "f.csv", "--to", "compct", "-o", "f"],
            "--to \"compct\": no such format of traces; did you mean \"compact\"?",
        ),
        (
            &["convert", "f.csv", "-o", "g.csv.xz"],
            "-o g.csv.xz: files with this compression can be read, but not written; expected .zst, .gz or neither",
        ),
        (&["convert", "f.csv", "-o", "./f.csv"], "-o ./f.csv"),
        (
            &["cut", "f.csv", "-o", "c.csv", "--from", "10"],
            "--from \"10\": not usable; expected a time such as 10s",
        ),
        (
            &["cut", "f.csv", "-o", "c.csv", "--sectors", "9..9"],
            "--sectors \"9..9\": not usable",
        ),
        (
            &["cut", "f.csv", "-o", "c.csv", "--from", "1s"],
            "c.csv: no request is left to write; expected at least one",
        ),
        (
            &["scale", "f.csv", "-o", "c.csv", "--time", "0"],
            "--time \"0\": not usable; expected a ratio above 0",
        ),
        (
            &["anonymize", "-", "-o", "c.csv"],
            "-: anonymize reads the trace twice",
        ),
        (
            &[
                "anonymize",
                "f.csv",
                "-o",
                "c.csv",
                "--region-bytes",
                "1000",
            ],
            "--region-bytes \"1000\": not usable; expected a multiple of 512",
        ),
        (
            &["generate", "--workload", "zip", "-o", "c.csv"],
            "--workload \"zip\": no such workload",
        ),
    ] {
        let outcome = place.run(&[&["trace"], arguments].concat());
        assert_eq!(outcome.status, 2, "{arguments:?} {}", outcome.errors);
        let told = format!("destage: error: {expected}");
        assert!(
            outcome.errors.starts_with(&told),
            "{arguments:?}\n{}",
            outcome.errors
        );
        assert_eq!(place.files(), before, "{arguments:?}");
    }
}

#[test]
#[ignore = "needs recorded traces"]
fn iozone_gives_the_same_metrics_after_conversion() {
    let limit = destage_sample::sampled("20000", "100000");
    let iozone = destage_tests::outside("traces/iozone-100k.disksim.zst");
    let place = Place::new();
    let iozone = iozone.to_str().expect("a plain path");
    let run = |file: &str| {
        let arguments = [
            "run",
            file,
            "--limit",
            limit,
            "--set",
            "trace.addr_map=modulo",
            "--buffer",
            "lru",
            "--size",
            "16MiB",
            "--json",
        ];
        json(&place.succeed(&arguments))["metrics"].to_string()
    };
    let expected = run(iozone);
    for file in ["iozone.compact", "iozone.csv.zst", "iozone.disksim"] {
        place.succeed(&["trace", "convert", iozone, "--limit", limit, "-o", file]);
        assert_eq!(run(file), expected, "{file}");
    }
}
