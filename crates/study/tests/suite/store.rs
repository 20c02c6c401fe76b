//! Tests of the store of results. Each result is computed once and then read from the store, and a damaged or
//! edited file is not accepted as a result.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use destage::{Effort, Error, Progress, Stage};
use destage_study::{Scale, Shard, Share, Store, Study, StudyReport, Traces};

const STUDY: &str = r#"
title = "Two inputs, two schemes"
[settings]
ftl.kind = "none"
[[input]]
name = "short"
workload = "uniform:requests=5000,footprint_pages=500"
[[input]]
name = "long"
workload = "uniform:requests=9000,footprint_pages=500"
[[grid]]
buffers = ["lru", "fifo"]
sizes = ["64KiB"]
"#;

/// Records how many runs are to be executed, and asks to stop after `stop_after` runs.
#[derive(Default)]
struct Watch {
    made: AtomicU64,
    stop_after: Option<u64>,
}

impl Progress for Watch {
    fn report(&self, stage: Stage, done: u64, expected: Option<u64>) -> bool {
        assert_eq!(stage, Stage::Runs);
        self.made.fetch_max(expected.unwrap(), Ordering::Relaxed);
        self.stop_after.is_none_or(|most| done < most)
    }
}

fn carry_out(text: &str, folder: &Path, watch: &Watch) -> Result<StudyReport, Error> {
    let study = Study::parse("study", text, "study.toml", folder.to_owned())?;
    let effort = Effort {
        threads: 1,
        progress: watch,
        ..Effort::default()
    };
    let store = Store::open(folder)?;
    study.carry_out(Scale::Reduced, &Traces::default(), &store, &effort)
}

/// Executes the study, and returns its results and the number of runs that had no stored result.
fn results(text: &str, folder: &Path) -> (Vec<String>, u64) {
    let watch = Watch::default();
    let report = carry_out(text, folder, &watch).unwrap();
    let results = report.rows.all.iter().map(|row| row.result.to_string());
    (results.collect(), watch.made.into_inner())
}

/// The names and contents of the result files in the store.
fn kept(folder: &Path) -> BTreeMap<String, String> {
    let files = folder.join("runs").read_dir().unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    files.collect()
}

#[test]
fn a_rerun_reads_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (first, made) = results(STUDY, folder.path());
    assert_eq!((made, kept(folder.path()).len()), (4, 4));
    assert_eq!(results(STUDY, folder.path()), (first.clone(), 0));
    // A study with the same runs uses the stored results, even if its inputs have other names.
    let renamed = STUDY.replace("\"short\"", "\"brief\"");
    assert_eq!(results(&renamed, folder.path()), (first, 0));
}

#[test]
fn what_was_stopped_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let stopping = Watch {
        stop_after: Some(2),
        ..Watch::default()
    };
    let stopped = carry_out(STUDY, folder.path(), &stopping);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    // Only the two runs with the first input have results. The interrupted runs have none.
    assert_eq!(kept(folder.path()).len(), 2);
    let (resumed, made) = results(STUDY, folder.path());
    assert_eq!(made, 2);
    let other = tempfile::tempdir().unwrap();
    assert_eq!(results(STUDY, other.path()).0, resumed);
}

#[test]
fn a_damaged_result_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = results(STUDY, folder.path());
    let whole = kept(folder.path());
    let mut names = whole.keys();
    let (one, other) = (names.next().unwrap(), names.next().unwrap());
    let path = |name: &str| folder.path().join("runs").join(name);
    // Damages three files: the first is truncated, the second contains the result of another run, and the third
    // has a key but no result.
    std::fs::write(path(one), &whole[one][..whole[one].len() / 2]).unwrap();
    let third = names.next().unwrap();
    std::fs::write(path(other), &whole[third]).unwrap();
    let empty = whole[third].replacen("\"result\"", "\"results\"", 1);
    std::fs::write(path(third), empty).unwrap();
    assert_eq!(results(STUDY, folder.path()), (first, 3));
    assert_eq!(kept(folder.path()), whole);
}

/// A result file in which a number was changed by hand is ignored, and its run is executed again.
#[test]
fn an_edited_result_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let (first, _) = results(STUDY, folder.path());
    let whole = kept(folder.path());
    let path = |name: &str| folder.path().join("runs").join(name);
    let (name, text) = whole.first_key_value().unwrap();
    let mut edited: serde_json::Value = serde_json::from_str(text).unwrap();
    edited["result"]["metrics"]["buffer.write_hits"] = 123_456.into();
    std::fs::write(path(name), edited.to_string()).unwrap();
    // The same JSON with other white space does not count as a change.
    let (other, text) = whole.last_key_value().unwrap();
    let same: serde_json::Value = serde_json::from_str(text).unwrap();
    std::fs::write(path(other), same.to_string()).unwrap();
    let store = Store::open(folder.path()).unwrap();
    let plan = store.plans().unwrap().pop().unwrap();
    assert_eq!(plan.missing_in(&store).1.len(), 1);
    let damaged = store.damaged();
    assert!(
        damaged.len() == 1
            && damaged[0].contains(name)
            && damaged[0].contains("has changed since it was written"),
        "{damaged:?}"
    );
    assert_eq!(results(STUDY, folder.path()), (first, 1));
    assert_eq!(kept(folder.path())[name], whole[name]);
}

/// A fitted workload is identified by the content of its file, not by the name of the file. The test uses two
/// workloads that were fitted to different traces.
#[test]
fn a_fitted_workload_is_what_its_file_holds() {
    let folder = tempfile::tempdir().unwrap();
    // Both workloads have the same number of requests and of writes, and therefore the same parameters. Only the
    // addresses of their requests differ.
    let fitted = |spread: u64| {
        let mut fitter = destage::workload::fitted::Fitter::default();
        for mut request in crate::common::mixture(1, 2_000) {
            request.sector *= spread;
            fitter.add(&request);
        }
        fitter.finish().unwrap().text("A test.")
    };
    let (one, other) = (fitted(1), fitted(2));
    assert!(one != other);
    let study = STUDY.replace("uniform:requests=5000,footprint_pages=500", "fit.toml");
    // The path `fit.toml` is relative to the folder of the study.
    let fit = folder.path().join("fit.toml");
    std::fs::write(&fit, &one).unwrap();
    let (first, made) = results(&study, folder.path());
    assert_eq!(made, 4);
    assert_eq!(results(&study, folder.path()), (first.clone(), 0));
    std::fs::write(&fit, &other).unwrap();
    let (second, made) = results(&study, folder.path());
    assert_eq!(made, 2, "the runs of the file that changed");
    assert!(first[..2] != second[..2] && first[2..] == second[2..]);
    // A file of another name with the same content is the same workload.
    std::fs::write(folder.path().join("again.toml"), &one).unwrap();
    let renamed = study.replace("fit.toml", "again.toml");
    assert_eq!(results(&renamed, folder.path()).1, 0);
}

#[test]
fn a_changed_parameter_runs_what_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    results(STUDY, folder.path());
    let wider = STUDY.replace(
        "\"lru\", \"fifo\"",
        "\"lru\", \"fifo\", \"fifo:cluster_pages=4\"",
    );
    assert_eq!(results(&wider, folder.path()).1, 2);
    let of_input = STUDY.replace("requests=9000", "requests=9001");
    assert_eq!(results(&of_input, folder.path()).1, 2);
    let of_all = STUDY.replace("ftl.kind", "sim.seed = 2\nftl.kind");
    assert_eq!(results(&of_all, folder.path()).1, 4);
}

fn part(folder: &Path, index: u64, of: u64, watch: &Watch) -> Result<Share, Error> {
    let study = Study::parse("study", STUDY, "study.toml", folder.to_owned())?;
    let effort = Effort {
        threads: 1,
        progress: watch,
        ..Effort::default()
    };
    let (store, shard) = (Store::open(folder)?, Shard { index, of });
    study.carry_out_part(Scale::Reduced, &Traces::default(), &store, shard, &effort)
}

#[test]
fn parts_make_every_run_once_and_their_report_is_that_of_the_whole() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (expected, _) = results(STUDY, whole.path());
    let watch = Watch::default();
    let (mut own, mut made) = (0, 0);
    for index in [3, 1, 2] {
        let share = part(parts.path(), index, 3, &watch).unwrap();
        assert_eq!(share.runs, 4);
        (own, made) = (own + share.own, made + share.made);
        let store = Store::existing(parts.path()).unwrap();
        let plan = store.plans().unwrap().pop().unwrap();
        let (runs, missing) = plan.missing_in(&store);
        assert_eq!((runs, missing.len()), (4, 4 - own));
        match plan.report(&store) {
            Ok(report) => {
                assert_eq!(own, 4);
                let found = report.rows.all.iter().map(|row| row.result.to_string());
                assert_eq!(found.collect::<Vec<_>>(), expected);
            }
            Err(error) => {
                assert!(own < 4, "{error}");
                assert!(
                    error.to_string().contains("of 4 results are missing"),
                    "{error}"
                );
            }
        }
    }
    assert_eq!((own, made), (4, 4));
    assert_eq!(
        kept(whole.path()).keys().collect::<Vec<_>>(),
        kept(parts.path()).keys().collect::<Vec<_>>()
    );
    // Runs with a stored result are not executed again. If a result file is damaged, its run is executed again.
    assert_eq!(part(parts.path(), 1, 1, &watch).unwrap().made, 0);
    let damaged = parts
        .path()
        .join("runs")
        .join(kept(parts.path()).keys().next().unwrap());
    std::fs::write(damaged, "half a res").unwrap();
    let store = Store::existing(parts.path()).unwrap();
    let plan = store.plans().unwrap().pop().unwrap();
    assert_eq!(plan.missing_in(&store).1.len(), 1);
    assert_eq!(part(parts.path(), 1, 1, &watch).unwrap().made, 1);
}

#[test]
fn a_folder_without_plans_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::existing(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("no study has stored results here"),
        "{error}"
    );
    // The folder of plans exists but is empty, which happens if a worker fails to write its plan.
    std::fs::create_dir(folder.path().join("plans")).unwrap();
    let store = Store::existing(folder.path()).unwrap();
    assert_eq!(store.plans().unwrap_err().to_string(), error);
}

/// Runs on devices of different sizes have results of their own, although the size is no parameter of the run.
#[test]
fn the_size_of_the_device_identifies_a_result() {
    let text = r#"
title = "Two sizes of the device"
[[input]]
name = "writes"
workload = "uniform:requests=3000,footprint_pages=500"
[[variant]]
name = "small"
set = { "device.capacity_bytes" = "64MiB" }
[[variant]]
name = "large"
set = { "device.capacity_bytes" = "512MiB" }
[[grid]]
buffers = ["nocache"]
variants = ["small", "large"]
"#;
    let folder = tempfile::tempdir().unwrap();
    let (found, made) = results(text, folder.path());
    assert_eq!(made, 2);
    assert_ne!(found[0], found[1]);
}
