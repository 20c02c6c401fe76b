//! Tests of the sources of requests, and of the lists of schemes, layers and other rows.

use crate::common;

use std::io::Write;

use common::{Place, json};

fn trace() -> String {
    (0..3000)
        .map(|index| {
            format!(
                "{index}.5 0 {} 8 {}\n",
                (index * 37) % 900 * 8,
                index % 3 / 2
            )
        })
        .collect()
}

#[test]
fn every_compression_gives_the_same() {
    let place = Place::new();
    let text = trace();
    let bytes = text.as_bytes();
    place.write("t.disksim", bytes);
    let size = ["--set", "flash.blocks_per_plane=2048", "--json"];
    let plain = place.json(&[&["run", "t.disksim"], &size[..]].concat());

    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    let mut bz2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz2.write_all(bytes).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(bytes).unwrap();
    for (ending, content) in [
        ("gz", gz.finish().unwrap()),
        ("bz2", bz2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("zst", zstd::encode_all(bytes, 1).unwrap()),
    ] {
        let name = format!("t.disksim.{ending}");
        place.write(&name, &content);
        let document = place.json(&[&["run", &name], &size[..]].concat());
        assert_eq!(document["metrics"], plain["metrics"], "{ending}");
        let digest = |document: &serde_json::Value| document["manifest"]["trace_digest"].clone();
        assert_eq!(digest(&document), digest(&plain), "{ending}");
        // The program recognises the compression of standard input, which has no file name.
        let arguments = [&["run", "-", "--format", "disksim"], &size[..]].concat();
        let outcome = place.run_with(&arguments, &content);
        assert_eq!(outcome.status, 0, "{ending}: {}", outcome.errors);
        assert_eq!(
            json(&outcome.output)["metrics"],
            plain["metrics"],
            "{ending}"
        );
    }
}

#[test]
fn standard_input_is_a_trace() {
    let place = Place::new();
    place.write("t.disksim", trace());
    let size = ["--set", "flash.blocks_per_plane=2048", "--json"];
    let file = place.json(&[&["run", "t.disksim"], &size[..]].concat());
    let arguments = [&["run", "-", "--format", "disksim"], &size[..]].concat();
    let outcome = place.run_with(&arguments, trace().as_bytes());
    assert_eq!(outcome.status, 0, "{}", outcome.errors);
    assert_eq!(json(&outcome.output)["metrics"], file["metrics"]);

    let outcome = place.run_with(&["run", "-", "--format", "disksim"], b"0.0 0 0 8 0\nbad\n");
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.errors.starts_with("destage: error: -:2: "),
        "{}",
        outcome.errors
    );
}

#[test]
fn addresses_can_be_shrunk_to_the_device() {
    let place = Place::new();
    place.write("t.disksim", "0.0 0 0 8 0\n1.0 0 800000000 8 0\n");
    let arguments = [
        "run",
        "t.disksim",
        "--set",
        "trace.addr_map=shrink",
        "--json",
    ];
    assert_eq!(place.json(&arguments)["metrics"]["host.page_writes"], 2);
}

#[test]
fn statistics_of_a_trace() {
    let place = Place::new();
    place.write("t.disksim", trace());
    let document = place.json(&["trace", "info", "t.disksim", "--json"]);
    assert_eq!(document["statistics"]["requests"], 3000);
    assert_eq!(document["statistics"]["reads"], 1000);
    assert_eq!(document["manifest"]["format"], "disksim");
    let info = [
        "trace",
        "info",
        "t.disksim",
        "--json",
        "--limit",
        "10",
        "--page-bytes",
        "8KiB",
    ];
    let document = place.json(&info);
    assert_eq!(document["statistics"]["requests"], 10);
    assert_eq!(document["statistics"]["page_bytes"], 8192);
    assert!(document["statistics"]["bird.share_within_200"].is_f64());
    let text = place.succeed(&["trace", "info", "t.disksim"]);
    assert!(text.contains("span_s") && text.contains("sha256"), "{text}");
    assert_eq!(place.run(&["trace", "info", "none"]).status, 2);
}

#[test]
fn registries_are_listed_a_line_each() {
    let place = Place::new();
    for (what, name) in [
        ("buffers", "lru"),
        ("ftls", "page"),
        ("profiles", "disksim-ssd"),
        ("formats", "disksim"),
        ("workloads", "mixed"),
        ("metrics", "host.requests"),
        ("experiments", "bplru/examples"),
    ] {
        let text = place.succeed(&["list", what]);
        assert!(
            text.lines().any(|line| line.starts_with(name)),
            "{what}: {text}"
        );
        let document = place.json(&["list", what, "--json"]);
        let rows = document.as_array().unwrap();
        assert_eq!(rows.len(), text.lines().count(), "{what}");
        assert!(rows.iter().any(|row| row["name"] == name), "{what}");
    }
    assert_eq!(place.run(&["list", "nothing"]).status, 2);
}

#[test]
fn parameters_are_shown_with_default_unit_and_range() {
    let place = Place::new();
    for arguments in [
        &["show", "buffer", "lru"][..],
        &["show", "ftl", "page"],
        &["show", "profile", "disksim-ssd"],
        &["show", "workload", "mixed"],
        &["show"],
    ] {
        let document = place.json(&[arguments, &["--json"]].concat());
        let rows = document["parameters"].as_array().unwrap();
        assert!(!rows.is_empty(), "{arguments:?}");
        for key in [
            "name", "key", "default", "unit", "expected", "about", "source", "needs", "excludes",
        ] {
            assert!(
                rows.iter().all(|row| row.get(key).is_some()),
                "{arguments:?} {key}"
            );
        }
        let text = place.succeed(arguments);
        for row in rows {
            assert!(
                text.contains(row["name"].as_str().unwrap()),
                "{arguments:?} {row}"
            );
        }
    }
    // For a value that a profile sets, the program shows the comment behind the value or the source that the profile
    // names, and not the source of the default value.
    let own = destage_sim::profiles::find("tlc").unwrap().text;
    let profile = place.json(&["show", "profile", "tlc", "--json"]);
    for row in profile["parameters"].as_array().unwrap() {
        let source = row["source"].as_str().unwrap();
        let is_comment = own.contains(&format!("# {source}"));
        assert!(
            is_comment || source == "orders of magnitude; no product",
            "{row}"
        );
    }
    let text = place.succeed(&["show", "profile", "tlc"]);
    assert!(!text.contains("DiskSim"), "{text}");
    let outcome = place.run(&["show", "workload", "mixd"]);
    assert_eq!((outcome.status, outcome.output.as_str()), (2, ""));
    assert!(
        outcome.errors.contains("did you mean \"mixed\"?"),
        "{}",
        outcome.errors
    );
}

#[test]
fn every_parameter_of_a_result_is_documented() {
    let place = Place::new();
    let run = place.json(&["run", "--workload", "zipf:requests=10", "--json"]);
    let mut known = std::collections::BTreeSet::from(["workload.kind".to_owned()]);
    for arguments in [
        &["show"][..],
        &["show", "buffer", "lru"],
        &["show", "ftl", "page"],
        &["show", "workload", "zipf"],
    ] {
        let document = place.json(&[arguments, &["--json"]].concat());
        let rows = document["parameters"].as_array().unwrap().clone();
        known.extend(
            rows.iter()
                .map(|row| row["name"].as_str().unwrap().to_owned()),
        );
    }
    for name in run["parameters"].as_object().unwrap().keys() {
        assert!(known.contains(name), "{name}");
    }
}

#[test]
fn help_and_version_succeed() {
    let place = Place::new();
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["help", "compare"],
    ] {
        assert!(!place.succeed(arguments).is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_can_be_read_once_is_named_once() {
    let place = Place::new();
    for arguments in [
        &[
            "compare", "-", "-", "--format", "disksim", "--sizes", "1MiB",
        ][..],
        &[
            "trace", "merge", "-", "-", "--format", "disksim", "-o", "m.csv",
        ],
        &[
            "trace",
            "partition",
            "-",
            "-",
            "--format",
            "disksim",
            "-o",
            "fleet",
        ],
    ] {
        let outcome = place.run_with(arguments, b"0 0 0 8 0\n");
        assert_eq!(outcome.status, 2, "{arguments:?}");
        let text =
            "-: is named twice, but can be read only once; expected it once, or a regular file";
        assert!(outcome.errors.contains(text), "{}", outcome.errors);
        assert!(place.files().is_empty(), "{:?}", place.files());
    }
}
