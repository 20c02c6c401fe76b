//! Tests of the list of runs that a study file describes.

use super::*;
use crate::Key;

const STUDY: &str = r#"
title = "t"
[settings]
flash.pages_per_block = 4
[[input]]
name = "short"
pages = "0 1 2 3 4 5"
reduced_limit = 3
[[input]]
name = "made"
workload = "uniform:requests=50"
set = { "workload.footprint_pages" = 64 }
[[input]]
name = "real"
trace = "iozone"
stands_for = "tpcc"
[[variant]]
name = "drained"
set = { "sim.drain" = true }
[[grid]]
buffers = ["lru", "fab", "block-lru:touch_order=promote_first"]
sizes = ["64KiB..256KiB"]
seeds = [1, 2]
variants = ["base", "drained"]
vary = { "flash.erase_us" = [1500, 3000] }
[[grid]]
inputs = ["short"]
buffers = ["lru"]
full_only = true
"#;

fn traces() -> Traces {
    let text = "[iozone]\nabout = 'i'\n[tpcc]\nabout = 't'\n";
    Traces::parse(text, "traces.toml").unwrap()
}

fn cells(text: &str, scale: Scale, extra: &Extra) -> Result<Cells, Error> {
    let study = Study::parse("s", text, "s.toml", "".into())?;
    study.cells(scale, &traces(), extra)
}

#[test]
fn a_grid_is_a_cross_product() {
    let found = cells(STUDY, Scale::Reduced, &Extra::default()).unwrap();
    // Two inputs whose requests are available, three schemes, three sizes, two seeds, two variants, and two erase
    // times.
    assert_eq!(found.cells.len(), 2 * 3 * 3 * 2 * 2 * 2);
    assert_eq!(
        found.missing,
        [("real".to_owned(), "iozone".to_owned())].into()
    );
    let labels: BTreeSet<_> = found.cells.iter().map(|cell| &cell.labels).collect();
    assert_eq!(labels.len(), found.cells.len());
    let axes: Vec<_> = found.cells[0].labels.keys().map(String::as_str).collect();
    assert_eq!(
        axes,
        [
            "buffer",
            "flash.erase_us",
            "ftl",
            "input",
            "seed",
            "size",
            "variant"
        ]
    );
}

#[test]
fn the_reduced_scale_leaves_out_and_shortens() {
    let [reduced, full] =
        [Scale::Reduced, Scale::Full].map(|scale| cells(STUDY, scale, &Extra::default()).unwrap());
    assert_eq!(full.cells.len(), reduced.cells.len() + 1);
    let limit = |cells: &Cells| cells.cells[0].input.identity["limit"].clone();
    assert_eq!((limit(&reduced), limit(&full)), (json!(3), Value::Null));
}

#[test]
fn variants_and_varied_parameters_reach_the_run() {
    let found = cells(STUDY, Scale::Reduced, &Extra::default()).unwrap();
    for cell in &found.cells {
        let parameters = destage::json::parameters(&cell.combination.parameters());
        assert_eq!(
            parameters["sim.drain"],
            json!(cell.labels["variant"] != BASE)
        );
        assert_eq!(parameters["sim.seed"].to_string(), cell.labels["seed"]);
        let erase = parameters["flash.erase_us"]
            .as_f64()
            .map(|us| us.to_string());
        assert_eq!(
            erase.as_deref(),
            Some(cell.labels["flash.erase_us"].as_str())
        );
    }
}

#[test]
fn a_variant_may_have_a_profile_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[flash]\ndies = 3\npages_per_block = 32\nprogram_us = 700\n";
    std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    let variants = "[[variant]]\nname = 'old'\nprofile = 'disksim-ssd'\n[[variant]]\nname = 'mine'\nprofile = 'mine.toml'\n";
    let text = format!("profile = 'bplru-mlc'\n{STUDY}{variants}").replace(
        "[\"base\", \"drained\"]",
        "['base', 'drained', 'old', 'mine']",
    );
    let study = Study::parse("s", &text, "s.toml", folder.path().into()).unwrap();
    let found = study
        .cells(Scale::Reduced, &traces(), &Extra::default())
        .unwrap();
    let program = |variant: &str| {
        let mut cells = found.cells.iter();
        let cell = cells.find(|cell| cell.labels["variant"] == variant);
        let flash = &cell.unwrap().combination.config.typed.flash;
        // The settings in the study file override the profile of the study and that of a variant.
        assert_eq!(flash.pages_per_block, 4, "{variant}");
        flash.program_us
    };
    let of_profile = |name: &str| {
        let mut settings = Settings::new();
        settings.load_profile(name).unwrap();
        settings.resolve().unwrap().typed.flash.program_us
    };
    assert_eq!(program("base"), of_profile("bplru-mlc"));
    assert_eq!(program("drained"), program("base"));
    assert_eq!(program("old"), of_profile("disksim-ssd"));
    assert_eq!(program("mine"), 700.0);
    assert_ne!(program("base"), program("old"));
    let unknown = text.replace("disksim-ssd", "disksim-sdd");
    let unknown = Study::parse("s", &unknown, "s.toml", folder.path().into()).unwrap();
    let refused = unknown.cells(Scale::Reduced, &traces(), &Extra::default());
    let Err(error) = refused else {
        panic!("a profile that does not exist");
    };
    assert!(error.to_string().contains("disksim-ssd"), "{error}");
}

#[test]
fn a_scheme_from_outside_has_its_version_in_the_key() {
    let lru = destage_buffer::SCHEMES.iter().find(|row| row.name == "lru");
    let own: &'static SchemeRow = Box::leak(Box::new(SchemeRow {
        name: "own",
        ..*lru.unwrap()
    }));
    let text = STUDY.replace("\"fab\"", "\"own\"");
    let keys = |version: &str| {
        let extra = Extra {
            schemes: vec![(own, version.to_owned())],
            ..Extra::default()
        };
        let found = cells(&text, Scale::Reduced, &extra).unwrap().cells;
        let key = |cell: &Cell| Key::of(cell).unwrap().name().to_owned();
        let keys = found
            .iter()
            .map(|cell| (cell.labels["buffer"] == "own", key(cell)));
        keys.collect::<Vec<_>>()
    };
    assert_eq!(keys("1"), keys("1"));
    for ((is_own, one), (_, other)) in keys("1").iter().zip(&keys("2")) {
        assert_eq!(one != other, *is_own);
    }
}

#[test]
fn a_scheme_in_place_of_another_keeps_its_label() {
    let extra = Extra {
        replaced: [("block-lru".to_owned(), "lru".to_owned())].into(),
        ..Extra::default()
    };
    let [whole, replaced] =
        [Extra::default(), extra].map(|extra| cells(STUDY, Scale::Reduced, &extra).unwrap().cells);
    assert!(
        whole
            .iter()
            .zip(&replaced)
            .all(|(one, other)| one.labels == other.labels)
    );
    for cell in &replaced {
        let parameters = destage::json::parameters(&cell.combination.parameters());
        let is_fab = cell.labels["buffer"] == "fab";
        assert_eq!(
            parameters["buffer.kind"],
            json!(if is_fab { "fab" } else { "lru" })
        );
    }
}

#[test]
fn readings_reach_only_their_scheme() {
    let extra = Extra {
        readings: vec![(
            "block-lru".to_owned(),
            "buffer.touch_order".to_owned(),
            "promote_first".to_owned(),
        )],
        ..Extra::default()
    };
    let text = STUDY.replace(
        "[\"lru\", \"fab\", \"block-lru:touch_order=promote_first\"]",
        "[\"block-lru\"]",
    );
    let found = cells(&text, Scale::Reduced, &extra).unwrap();
    let parameters = destage::json::parameters(&found.cells[0].combination.parameters());
    assert_eq!(parameters["buffer.touch_order"], json!("promote_first"));
    let text = STUDY.replace(
        "[\"lru\", \"fab\", \"block-lru:touch_order=promote_first\"]",
        "[\"lru\"]",
    );
    assert!(cells(&text, Scale::Reduced, &extra).is_ok());
}

#[test]
fn what_is_wrong_is_said() {
    for (from, to, part) in [
        ("\"lru\", \"fab\",", "\"lrru\",", "lrru"),
        ("sim.drain\" = true", "sim.drian\" = true", "sim.drian"),
        ("0 1 2 3 4 5", "0 x", "\"x\""),
        ("uniform:requests", "unifrom:requests", "unifrom"),
        ("64KiB..256KiB", "64KiB..", "64KiB.."),
    ] {
        let error = cells(&STUDY.replace(from, to), Scale::Reduced, &Extra::default());
        let text = error
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(text.contains(part), "{to}: {text}");
    }
}

/// The fields `differs` and `buffers_shrunk` are allowed only for relatives. A study file with one of them at
/// another input is refused.
#[test]
fn what_is_of_a_relative_is_of_no_other_input() {
    let parsed = |lines: &str| {
        let text = format!("title = 't'\n[[input]]\nname = 'part'\n{lines}\n[[grid]]\n");
        Study::parse("s", &text, "s.toml", "".into()).map(|study| study.shrunk("part"))
    };
    let relative = "trace = 'f'\nstands_for = 'g'\ndiffers = 'A part.'\nbuffers_shrunk = 4";
    assert_eq!(parsed(relative).unwrap(), Some(4.0));
    for (from, to, said) in [
        (
            "differs = 'A part.'\n",
            "",
            "the key buffers_shrunk is allowed only together with the key differs; expected differs as well",
        ),
        (
            "trace = 'f'",
            "pages = '1'",
            "the key differs is for a real trace that is shown beside the trace it stands for",
        ),
        (
            "stands_for = 'g'\n",
            "",
            "expected the keys trace and stands_for as well",
        ),
    ] {
        let error = parsed(&relative.replace(from, to)).unwrap_err().to_string();
        assert!(
            error.contains("input \"part\"") && error.contains(said),
            "{error}"
        );
    }
}

#[test]
fn a_limit_of_writes_counts_no_reads() {
    let limited = |limit: &str| {
        let text = format!(
            "title = 't'\n[[input]]\nname = 'mixed'\npages = 'r0 1 r2 3 r4 5 6'\nwrites_only = true\n{limit}\n[[grid]]\nbuffers = ['lru']\nsizes = ['64KiB']\n"
        );
        let found = cells(&text, Scale::Reduced, &Extra::default()).unwrap();
        found.cells[0].input.identity["limit"].clone()
    };
    // The third write of this input is its sixth request.
    assert_eq!(limited("limit_writes = 3"), json!(6));
    assert_eq!(limited("limit_writes = 0"), json!(0));
    assert_eq!(limited("limit_writes = 9"), json!(7));
    assert_eq!(limited("limit_writes = 3\nlimit = 4"), json!(4));
    assert_eq!(limited("limit_writes = 5\nlimit = 4"), json!(4));
    assert_eq!(limited(""), Value::Null);
}

#[test]
fn a_workload_with_parameters_can_have_a_limit_of_writes() {
    let text = "title = 't'\n[[input]]\nname = 'made'\nworkload = 'uniform:requests=50'\nset = { \"workload.write_percent\" = 100 }\nlimit_writes = 7\n[[grid]]\nbuffers = ['lru']\nsizes = ['64KiB']\n";
    let found = cells(text, Scale::Reduced, &Extra::default()).unwrap();
    assert_eq!(found.cells[0].input.identity["limit"], json!(7));
}

#[test]
fn a_limit_of_writes_is_counted_for_each_seed() {
    let text = "title = 't'\n[[input]]\nname = 'made'\nworkload = 'uniform:requests=2000,write_percent=50'\nlimit_writes = 500\n[[grid]]\nbuffers = ['lru', 'fifo']\nsizes = ['64KiB']\nseeds = [1, 2, 3]\n";
    let found = cells(text, Scale::Reduced, &Extra::default()).unwrap();
    let limits = found.cells.iter().map(|cell| {
        let limit = cell.input.identity["limit"].as_u64().unwrap();
        (&cell.labels["seed"], limit)
    });
    let limits: BTreeSet<_> = limits.collect();
    assert_eq!(limits.len(), 3, "{limits:?}");
    let different: BTreeSet<_> = limits.iter().map(|(_, limit)| limit).collect();
    assert!(different.len() > 1, "{limits:?}");
}
