//! Tests of `destage trace partition` and `destage fleet` on the command line.

use crate::common;

use common::{Place, json};

const WORKLOAD: &str = "fleet:requests=20000,volumes=20,footprint_pages=2048";

/// A folder with a trace of 20 volumes, and the files into which `trace partition` divides this trace.
fn place() -> Place {
    let place = Place::new();
    place.succeed(&["trace", "generate", "--workload", WORKLOAD, "-o", "all.csv"]);
    place.succeed(&["trace", "partition", "all.csv", "-o", "fleet"]);
    place
}

#[test]
fn volumes_are_compared_with_one_buffer_for_all() {
    let place = place();
    let manifest = json(&place.read("fleet/fleet.json"));
    let volumes = manifest["volumes"].as_array().expect("volumes");
    assert_eq!(volumes.len(), 20);
    let requests = volumes
        .iter()
        .filter_map(|volume| volume["requests"].as_u64());
    assert_eq!(requests.sum::<u64>(), 20_000);
    let ask = [
        "fleet",
        "fleet",
        "--buffers",
        "lru,fab",
        "--sizes",
        "64KiB..1MiB",
        "--results",
        "kept",
    ];
    let text = place.succeed(&ask);
    assert!(text.contains("20,000 requests of 20 volumes"), "{text}");
    assert!(
        text.contains("lru, buffer.destaged_pages") && text.contains("fab, buffer"),
        "{text}"
    );
    assert!(
        text.contains("in all") && text.contains("one shared buffer"),
        "{text}"
    );
    // The curve of the shared buffer must equal the curve of the trace with `trace.volumes=separate`.
    let document = place.json(&[&ask[..], &["--json", "-o", "f.html"]].concat());
    let curve = place.json(&[
        "curve",
        "all.csv",
        "--buffers",
        "lru",
        "--sizes",
        "1280KiB..20MiB",
        "--set",
        "trace.volumes=separate",
        "--json",
    ]);
    let points = document["fleet"][0]["points"].as_array().expect("points");
    let direct = curve["curves"][0]["points"].as_array().expect("points");
    assert_eq!(points.len(), 5);
    for (point, direct) in points.iter().zip(direct) {
        assert_eq!(point["bytes"], direct["bytes"]);
        for name in [
            "buffer.write_hits",
            "buffer.destaged_pages",
            "buffer.dirty_at_end",
        ] {
            assert_eq!(point["shared"][name], direct[name], "{name}");
        }
    }
    // The curve of a volume must equal the curve of the trace file of this volume.
    let file = volumes[7]["file"].as_str().expect("a file");
    let own = place.json(&[
        "curve",
        &format!("fleet/{file}"),
        "--buffers",
        "lru",
        "--sizes",
        "64KiB..1MiB",
        "--json",
    ]);
    let found = &document["volumes"][7]["curves"][0]["points"];
    assert_eq!(
        found[2]["buffer.destaged_pages"],
        own["curves"][0]["points"][2]["buffer.destaged_pages"]
    );
    let page = place.data("f.html");
    assert_eq!(page["kind"], "curve");
    let csv = place.succeed(&[&ask[..], &["--csv"]].concat());
    assert_eq!(csv.lines().count(), 1 + 2 * 5 * (3 + 20));
    assert!(
        csv.starts_with("trace,buffer.capacity_bytes,buffer.kind,host.requests,"),
        "{csv}"
    );
}

#[test]
fn parts_share_a_folder_of_results() {
    let place = place();
    let ask = ["fleet", "fleet", "--buffers", "lru", "--results", "kept"];
    let part = |shard: &str| place.succeed(&[&ask[..], &["--shard", shard]].concat());
    assert!(part("2/2").contains("part 2 of 2 has 10 of 21 curves; 10 were made"));
    let status = place.succeed(&["study", "status", "kept"]);
    assert_eq!(status, "fleet-fleet: 10 of 21 results, 11 missing\n");
    let missing = place.succeed(&["study", "missing", "kept"]);
    assert!(missing.contains("buffer=lru volume=all\n"), "{missing}");
    let merge = place.run(&["study", "merge", "kept"]);
    assert_eq!(merge.status, 2);
    assert!(
        merge
            .errors
            .contains("is the plan of a fleet; expected that of a study")
    );
    assert!(part("1/2").contains("11 were made"));
    let body = |results: &str| {
        let mut document = place.json(&[
            "fleet",
            "fleet",
            "--buffers",
            "lru",
            "--results",
            results,
            "--json",
        ]);
        document["manifest"].take();
        document
    };
    assert_eq!(body("kept"), body("alone"));
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_left() {
    let place = place();
    place.write(
        "bad.csv",
        "time,volume,op,sector,sectors\n1,0,write,0,8\n2,1,wrote,0,8\n",
    );
    let before = place.files();
    for (arguments, text) in [
        (
            &["trace", "partition", "all.csv", "-o", "fleet"][..],
            "fleet: exists already",
        ),
        (&["trace", "partition", "bad.csv", "-o", "half"], "wrote"),
        (
            &["trace", "partition", "none.csv", "-o", "half"],
            "none.csv",
        ),
        (
            &["trace", "partition", "all.csv", "-o", "no/half"],
            "cannot be written",
        ),
        (
            &[
                "trace",
                "partition",
                "all.csv",
                "-o",
                "half",
                "--set",
                "trace.volumes=separate",
            ],
            "trace.volumes: each volume gets a file of its own",
        ),
        (
            &["fleet", "."],
            "expected a folder that `destage trace partition",
        ),
        (&["fleet", "fleet", "--shard", "3/2"], "--shard \"3/2\""),
        (&["fleet", "fleet", "--metric", "buffer.hits"], "--metric: "),
        (&["fleet", "fleet", "--buffers", "lrv"], "lrv"),
        (
            &["fleet", "fleet", "--sizes", "1TiB"],
            "so that the shared buffer is not too large",
        ),
        (
            &["fleet", "fleet", "--set", "ftl.kind=page"],
            "ftl.kind: a fleet simulates buffers alone",
        ),
        (
            &["fleet", "fleet", "--set", "buffer.capacity_bytes=2MiB"],
            "buffer.capacity_bytes: does not apply to a fleet: the sizes of a fleet are given for each volume",
        ),
        (&["fleet", "fleet", "-o", "x.txt"], "-o x.txt"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}: {}", outcome.errors);
        assert!(
            outcome.errors.contains(text),
            "{arguments:?}: {}",
            outcome.errors
        );
        assert_eq!(outcome.errors.lines().count(), 1, "{}", outcome.errors);
    }
    assert_eq!(place.files(), before);
}

#[test]
fn a_merged_study_goes_to_a_file_too() {
    let place = Place::new();
    place.write(
        "s.toml",
        "title = \"Two\"\n[[input]]\nname = \"z\"\nworkload = \"zipf:requests=500\"\n[[grid]]\nbuffers = [\"lru\", \"fab\"]\nsizes = [\"1MiB\", \"2MiB\"]\n",
    );
    place.succeed(&["study", "s.toml", "--results", "kept", "--shard", "1/1"]);
    place.succeed(&["study", "merge", "kept", "-o", "x.csv"]);
    assert_eq!(place.read("x.csv"), place.read("kept/s/results.csv"));
    assert_eq!(place.read("x.csv").lines().count(), 5);
    let outcome = place.run(&["study", "merge", "kept", "-o", "x.parquet"]);
    match cfg!(feature = "parquet") {
        true => assert_eq!(outcome.status, 0, "{}", outcome.errors),
        false => {
            assert_eq!(outcome.status, 2);
            assert_eq!(outcome.errors.lines().count(), 1);
            assert!(
                outcome.errors.contains("-o x.parquet: "),
                "{}",
                outcome.errors
            );
        }
    }
    place.write("t.toml", place.read("s.toml"));
    place.succeed(&["study", "t.toml", "--results", "kept", "--shard", "1/1"]);
    let outcome = place.run(&["study", "merge", "kept", "-o", "y.csv"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .errors
            .contains("has results of s, t; expected those of one study"),
        "{}",
        outcome.errors
    );
}

/// What `destage fleet` prints of a trace with the lines `lines`.
fn fleet_of(lines: &str) -> String {
    let place = Place::new();
    place.write("t.csv", format!("time,volume,op,offset,bytes\n{lines}"));
    place.succeed(&["trace", "partition", "t.csv", "-o", "fleet"]);
    let plan = "fleet fleet --sizes 16KiB,1MiB --buffers lru --results kept";
    place.succeed(&plan.split(' ').collect::<Vec<_>>())
}

/// Numbers of devices are large: 8,0 and 8,16 are the volumes 8388608 and 8388624.
#[test]
fn volumes_may_have_large_numbers() {
    let volumes = [8_388_608, 8_388_624];
    let rows =
        (0..40).map(|row| format!("{row}000,{},w,{},4096\n", volumes[row % 2], row / 2 * 4096));
    let text = fleet_of(&rows.collect::<String>());
    assert!(text.contains("40 requests of 2 volumes"), "{text}");
}

#[test]
fn a_fleet_without_writes_has_no_conclusion() {
    let text = fleet_of("1000,0,r,0,4096\n1500,1,r,0,4096\n");
    assert!(!text.contains("NaN"), "{text}");
}

/// The default folder of results is that of studies and of fleets.
#[test]
fn a_study_is_merged_beside_a_fleet() {
    let place = place();
    let sizes = ["--sizes", "64KiB", "--buffers", "lru", "--results", "kept"];
    place.succeed(&[&["fleet", "fleet"], &sizes[..]].concat());
    place.write(
        "s.toml",
        "title = \"One\"\n[[input]]\nname = \"z\"\nworkload = \"zipf:requests=500\"\n[[grid]]\nbuffers = [\"lru\"]\nsizes = [\"1MiB\"]\n",
    );
    place.succeed(&["study", "s.toml", "--results", "kept", "--shard", "1/1"]);
    place.succeed(&["study", "merge", "kept", "-o", "x.csv"]);
    assert_eq!(place.read("x.csv").lines().count(), 2);
}
