//! Tests of studies that compare profiles with measurements of drives.

use std::path::Path;

use destage::drive::{self, CheckPlan, Measurements};
use destage::{Effort, Error, Settings};
use destage_study::rows::Row;
use destage_study::{Scale, Shard, Store, Study, StudyReport, Traces};

/// Measurements of two drives: of the first one three loads of 4 KiB writes, with the saturated rate 80,000 a second, of
/// which the writes at the lightest load take 100 and 400 us.
const TABLE: &str = "\
drive,offered_writes_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high
one,10000,9950,5050,write,50,100,90,110
one,10000,9950,5050,write,99,400,390,410
one,70000,69350,5650,write,50,120,120,120
one,200000,80000,5700,write,50,5000,5000,5000
other,10000,9950,5050,write,50,10,10,10
";

/// A drive of a few dies is filled fast.
const PROFILE: &str = r#"
[profile]
inherits = "datacenter-tlc"
[flash]
dies = 4
channels = 2
"#;

const STUDY: &str = r#"
title = "A profile beside measurements"
profile = "small.toml"

[[drive]]
name = "first"
measurements = "latency.csv"
drive = "one"
limit = 2000

[[variant]]
name = "slow"
set = { "device.firmware_ns" = 50000, "device.firmware_cores" = 256 }

[[grid]]
variants = ["base", "slow"]

[[figure]]
id = "medians"
title = "Median writes"
x = "offered_writes_per_s"
columns = [
    { name = "measured", y = 'm("drive.measured", what="write p50")' },
    { name = "off", y = 'max(all("drive.off_percent", load=["low", "low"]))' },
]

[[figure]]
id = "all"
title = "All values"
x = "input"
kind = "table"
columns = [{ name = "off", y = 'max(all("drive.off_percent"))' }]
"#;

fn study(text: &str, folder: &Path) -> Result<Study, Error> {
    std::fs::write(folder.join("latency.csv"), TABLE).unwrap();
    std::fs::write(folder.join("small.toml"), PROFILE).unwrap();
    Study::parse("study", text, "study.toml", folder.to_owned())
}

fn carry_out(text: &str, folder: &Path) -> Result<StudyReport, Error> {
    let store = Store::open(folder)?;
    let study = study(text, folder)?;
    study.carry_out(Scale::Full, &Traces::default(), &store, &Effort::default())
}

fn number(row: &Row, name: &str) -> f64 {
    row.value(name).unwrap().as_f64().unwrap()
}

/// The rows have the values of `drive check`, and labels by which formulas find them.
#[test]
fn a_study_has_a_row_for_each_measured_value() {
    let folder = tempfile::tempdir().unwrap();
    let report = carry_out(STUDY, folder.path()).unwrap();
    let mut settings = Settings::new();
    let profile = folder.path().join("small.toml");
    settings.load_profile(profile.to_str().unwrap()).unwrap();
    let plan = CheckPlan {
        requests: 2000,
        ..CheckPlan::new(settings)
    };
    let table = Measurements::parse(TABLE.as_bytes(), "t", Some("one")).unwrap();
    let checked = drive::check(table, &plan, &Effort::default()).unwrap();
    assert_eq!((report.rows.runs, report.rows.all.len()), (2, 10));
    let (base, slow) = report.rows.all.split_at(5);
    for (row, compared) in base.iter().zip(&checked.rows) {
        assert_eq!(row.labels["what"], compared.what);
        assert_eq!(number(row, "drive.measured"), compared.measured);
        assert_eq!(Some(number(row, "drive.modelled")), compared.modelled);
        let error = 100.0 * compared.error.unwrap();
        assert_eq!(number(row, "drive.error_percent"), error);
    }
    let labels = |name: &str| -> Vec<&str> { base.iter().map(|row| &*row.labels[name]).collect() };
    assert_eq!(
        labels("what"),
        [
            "write p50",
            "write p99",
            "write p50",
            "write p50",
            "saturated writes_per_s"
        ]
    );
    // The lowest load, that nearest to nine tenths of the saturated rate, and this rate are for the fit.
    assert_eq!(labels("use"), ["fit"; 5]);
    assert_eq!(labels("load"), ["low", "low", "high", "high", "high"]);
    assert_eq!(labels("stalls"), ["yes"; 5]);
    // Each request of the variant takes 50 us longer.
    let longer = number(&slow[0], "drive.modelled") - number(&base[0], "drive.modelled");
    assert!((longer - 50.0).abs() < 1.0, "{longer}");
    let points = &report.figures[0].series;
    let measured: Vec<_> = points[0]
        .points
        .iter()
        .map(|point| point.unwrap().mean)
        .collect();
    assert_eq!(measured, [100.0, 120.0, 5000.0]);
    let off = points[1].points[0].unwrap().mean;
    let of_low = base[..2].iter().map(|row| number(row, "drive.off_percent"));
    assert_eq!(off, of_low.fold(0.0, f64::max));
}

/// The results of the parts of a study are those of the whole study, and its files say so.
#[test]
fn parts_of_a_study_have_the_same_rows() {
    let whole = tempfile::tempdir().unwrap();
    let report = carry_out(STUDY, whole.path()).unwrap();
    let parts = tempfile::tempdir().unwrap();
    let store = Store::open(parts.path()).unwrap();
    for shard in ["1/2", "2/2"] {
        let shard = Shard::read(shard).unwrap();
        let study = study(STUDY, parts.path()).unwrap();
        let effort = Effort::default();
        let share = study.carry_out_part(Scale::Full, &Traces::default(), &store, shard, &effort);
        assert_eq!(share.unwrap().made, 1);
    }
    let merged = store.plans().unwrap()[0].report(&store).unwrap();
    let rows = |report: &StudyReport| -> Vec<_> {
        let rows = report.rows.all.iter();
        rows.map(|row| (row.labels.clone(), row.result.to_string()))
            .collect()
    };
    assert_eq!(rows(&merged), rows(&report));
    assert_eq!(merged.rows.runs, 2);
}

/// A wrong entry is refused with the name of the input and what was expected.
#[test]
fn what_measurements_exclude_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (from, to, parts) in [
        (
            "drive = \"one\"",
            "drive = \"none\"",
            vec!["\"none\": no such drive", "\"one\", \"other\""],
        ),
        ("drive = \"one\"", "", vec!["latency.csv", "several drives"]),
        (
            "measurements = \"latency.csv\"",
            "measurements = \"gone.csv\"",
            vec!["gone.csv", "expected a file of measurements"],
        ),
        (
            "measurements = \"latency.csv\"",
            "workload = \"uniform\"",
            vec!["study.toml", "unknown field `workload`"],
        ),
        (
            "limit = 2000",
            "limit = 2000\nskip = 3",
            vec!["study.toml", "unknown field `skip`"],
        ),
        (
            "variants = [",
            "buffers = [\"lru\"]\nvariants = [",
            vec!["drive \"first\"", "may not have buffers"],
        ),
        (
            "variants = [",
            "of = \"trace\"\nvariants = [",
            vec!["drive \"first\"", "of = \"trace\""],
        ),
    ] {
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY);
        let error = carry_out(&text, folder.path()).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}

/// What the model cannot do is a warning of the study. If it can do nothing of a table, the run has failed.
#[test]
fn what_is_not_modelled_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let fills = "\
drive,run,started,used_gib,pattern,detail,block_bytes,drive_writes,waf,host_mib_per_s
one,r,1,80,fiozipf-shuffle,0.8,4096,1.0,2.0,10
";
    std::fs::write(folder.path().join("fill.csv"), fills).unwrap();
    let text = STUDY.replace("latency.csv", "fill.csv");
    let report = carry_out(&text, folder.path()).unwrap();
    let warnings = report.rows.warnings().join("\n");
    assert!(warnings.contains("fiozipf-shuffle"), "{warnings}");
    assert_eq!((report.rows.runs, report.rows.all.len()), (2, 2));
    let failures = report.rows.failures();
    assert_eq!(failures.len(), 2);
    let failed = "none of the measured values";
    assert!(failures[0].contains(failed), "{failures:?}");
    assert!(report.figures[1].gaps[0].contains(failed));
}

/// A table with a wrong range is refused with its line, and a profile that is too small with the labels of the run.
#[test]
fn a_run_that_cannot_be_compared_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let turned = TABLE.replacen("100,90,110", "100,110,90", 1);
    std::fs::write(folder.path().join("turned.csv"), turned).unwrap();
    let text = STUDY.replace("latency.csv", "turned.csv");
    let error = carry_out(&text, folder.path()).unwrap_err().to_string();
    // Two runs have this error, and either may be the first.
    for part in ["input=first", "variant=", "line 2", "begins at 110"] {
        assert!(error.contains(part), "{error}");
    }
}
