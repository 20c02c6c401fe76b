//! Tests of Parquet on the command line: traces in Parquet files, and tables of results in Parquet files.
#![cfg(feature = "parquet")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use crate::common;

use common::{Place, TINY, page_writes};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;

const WORKLOAD: &str = "mixed:requests=9000";

/// A folder with the trace of a workload in two formats, `t.compact` and `t.parquet`.
fn place() -> Place {
    let place = Place::new();
    for name in ["t.compact", "t.parquet"] {
        place.succeed(&["trace", "generate", "--workload", WORKLOAD, "-o", name]);
    }
    place
}

fn metrics(place: &Place, file: &str) -> String {
    place.json(&["run", file, "--json"])["metrics"].to_string()
}

#[test]
fn a_run_has_the_metrics_of_the_trace_it_was_made_from() {
    let place = place();
    assert_eq!(metrics(&place, "t.parquet"), metrics(&place, "t.compact"));
    let document = place.json(&["run", "t.parquet", "--json"]);
    assert_eq!(document["manifest"]["format"], "parquet");
    let digest = document["manifest"]["trace_digest"].as_str().unwrap();
    assert_eq!(digest.len(), "sha256:".len() + 64);
}

#[test]
fn every_command_takes_it_in_and_gives_it_out() {
    let place = place();
    let csv = |name: &str| {
        place.succeed(&["trace", "convert", name, "-o", "x.csv"]);
        place.read("x.csv")
    };
    assert_eq!(csv("t.parquet"), csv("t.compact"));
    for command in [
        &["convert"][..],
        &[
            "convert",
            "--limit",
            "500",
            "--skip",
            "100",
            "--writes-only",
        ],
        &["cut", "--until", "1s", "--rebase"],
        &["scale", "--time", "0.5"],
        &["anonymize", "--set", "sim.seed=7"],
        &["merge", "t.compact"],
    ] {
        let through = |from: &str, to: &str| {
            let (name, options) = command.split_first().unwrap();
            let all = [&["trace", name, from], options, &["-o", to]].concat();
            place.succeed(&all);
            csv(to)
        };
        let expected = through("t.compact", "a.compact");
        assert_eq!(through("t.parquet", "b.parquet"), expected, "{command:?}");
    }
    let rows = |name: &str| {
        let text = place.succeed(&["trace", "info", name]);
        text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(rows("t.parquet"), rows("t.compact"));
    assert!(place.succeed(&["list", "formats"]).contains("\nparquet "));
    place.succeed(&["compare", "t.parquet", "--buffers", "lru,fifo", "--csv"]);
}

#[test]
fn what_cannot_be_read_from_front_to_back_is_refused() {
    let place = place();
    let content = std::fs::read(place.path("t.parquet")).unwrap();
    let outcome = place.run_with(&["run", "-"], &content);
    assert_eq!(
        (outcome.status, outcome.errors.as_str()),
        (
            2,
            "destage: error: -: parquet has its directory at the end and cannot be read from standard input; expected a plain file\n"
        )
    );
    place.write("t.parquet.zst", zstd::encode_all(&content[..], 1).unwrap());
    let outcome = place.run(&["run", "t.parquet.zst"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.errors.contains("cannot be read from zst"));
    let outcome = place.run(&["trace", "convert", "t.compact", "-o", "x.parquet.gz"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .errors
            .contains("expected a name that ends in .parquet"),
        "{}",
        outcome.errors
    );
    assert_eq!(place.files(), ["t.compact", "t.parquet", "t.parquet.zst"]);
}

#[test]
fn damage_that_the_decoder_panics_on_is_the_inputs_fault() {
    let place = Place::new();
    for name in ["parquet-no-dictionary", "parquet-short-number"] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/");
        let path = format!("{path}{name}");
        let outcome = place.run(&["run", &path]);
        assert_eq!(outcome.status, 2, "{}", outcome.errors);
        let expected = format!("destage: error: {path}: request 1: cannot be read: column op: ");
        assert!(outcome.errors.starts_with(&expected), "{}", outcome.errors);
        assert_eq!(outcome.errors.lines().count(), 1, "{}", outcome.errors);
    }
}

/// The cells of a Parquet file of results, as the text that the CSV file would have.
fn cells(place: &Place, name: &str) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(File::open(place.path(name)).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema();
    let names = schema.get_fields().iter();
    let mut lines = vec![names.map(|field| field.name().to_owned()).collect()];
    for row in reader.get_row_iter(None).unwrap() {
        let cell = |(_, field): (&String, &Field)| match field {
            Field::Null => String::new(),
            Field::Bool(flag) => flag.to_string(),
            Field::ULong(number) => number.to_string(),
            Field::Double(number) => number.to_string(),
            Field::Str(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        lines.push(row.unwrap().get_column_iter().map(cell).collect());
    }
    lines
}

#[test]
fn results_are_the_table_of_the_csv() {
    let place = place();
    let compare = [
        "compare",
        "t.compact",
        "--buffers",
        "nocache,lru,bpac,cflru",
        "--sizes",
        "1MiB,2MiB",
        "-o",
    ];
    for command in [&compare[..], &["run", "t.compact", "-o"]] {
        for name in ["r.csv", "r.parquet"] {
            place.succeed(&[command, &[name]].concat());
        }
        let csv = place.read("r.csv");
        let csv: Vec<Vec<String>> = csv
            .lines()
            .map(|line| line.split(',').map(str::to_owned).collect())
            .collect();
        assert_eq!(cells(&place, "r.parquet"), csv);
    }
    // A value that a run does not have is null, and neither an empty text nor 0.
    place.succeed(&[&compare[..], &["n.parquet"]].concat());
    let file = File::open(place.path("n.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let nulls = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let mut cells = row.get_column_iter();
        let (_, hits) = cells
            .find(|(name, _)| *name == "buffer.write_hits")
            .unwrap();
        *hits == Field::Null
    });
    let nulls: Vec<bool> = nulls.collect();
    assert_eq!(nulls.iter().filter(|null| **null).count(), nulls.len() / 4);
}

#[test]
fn a_merged_study_is_a_table_with_types() {
    let place = Place::new();
    place.write(
        "s.toml",
        "title = \"Two\"\n[[input]]\nname = \"z\"\nworkload = \"zipf:requests=500\"\n[[grid]]\nbuffers = [\"lru\", \"fab\"]\nsizes = [\"1MiB\"]\nvary = { \"flash.erase_us\" = [1500.5, 3000] }\n",
    );
    place.succeed(&["study", "s.toml", "--results", "kept", "--shard", "1/1"]);
    place.succeed(&["study", "merge", "kept", "-o", "x.parquet"]);
    let reader = SerializedFileReader::new(File::open(place.path("x.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows.len(), 4);
    let columns: Vec<(String, Field)> = rows[1]
        .get_column_iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let of = |name: &str| {
        columns
            .iter()
            .find(|(column, _)| column == name)
            .unwrap()
            .1
            .clone()
    };
    assert_eq!(of("size"), Field::ULong(1 << 20));
    assert_eq!(of("seed"), Field::ULong(1));
    assert_eq!(of("buffer"), Field::Str("fab".to_owned()));
    assert_eq!(of("flash.erase_us"), Field::Double(1500.5));
    assert!(matches!(of("buffer.evictions"), Field::ULong(_)));
    assert!(matches!(of("response.mean_ms"), Field::Double(_)));
    // The columns have the same names as in the CSV file.
    let csv = place.read("kept/s/results.csv");
    let names: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(csv.lines().next().unwrap(), names.join(","));
}

/// The warnings of a run are in one column and its error is in another column, as in the CSV file.
#[test]
fn warnings_and_errors_of_runs_are_columns() {
    let place = Place::new();
    let workload = "uniform:requests=3000,footprint_pages=64,mean_interarrival_ms=0.001";
    place.write(
        "s.toml",
        format!("title = \"Two\"\n[[input]]\nname = \"u\"\nworkload = \"{workload}\"\n[[grid]]\nbuffers = [\"lru\"]\nsizes = [\"64KiB\"]\nftls = [\"page\", \"none\"]\n"),
    );
    let study = [
        "study",
        "s.toml",
        "--results",
        "kept",
        "--shard",
        "1/1",
        "--quiet",
    ];
    place.succeed(&study);
    place.succeed(&["study", "merge", "kept", "-o", "r.parquet"]);
    let compare = [
        "compare",
        "--workload",
        workload,
        "--buffers",
        "lru",
        "--size",
        "64KiB",
        "--ftls",
        "page,none",
        "-o",
    ];
    for make in [None, Some(&compare)] {
        if let Some(compare) = make {
            place.succeed(&[&compare[..], &["r.parquet"]].concat());
        }
        let cells = cells(&place, "r.parquet");
        assert_eq!(cells[0].last().unwrap(), "warnings", "{cells:?}");
        assert!(
            cells[1]
                .last()
                .unwrap()
                .starts_with("overload: a request takes ")
        );
        assert_eq!(cells[2].last().unwrap(), "");
    }
    // The last column has the error of a failed run.
    place.write("t.disksim", page_writes(&[40, 1, 2, 3]));
    let failing = [
        "compare",
        "t.disksim",
        "--buffers",
        "lru",
        "--ftls",
        "page,page:reserve_percent=60",
        "-o",
    ];
    for name in ["f.csv", "f.parquet"] {
        assert_eq!(
            place.run(&[&failing[..], &[name], &TINY].concat()).status,
            2
        );
    }
    let csv = place.read("f.csv");
    let found = cells(&place, "f.parquet");
    assert_eq!(csv.lines().next().unwrap(), found[0].join(","));
    assert_eq!(found[0].last().unwrap(), "error");
    assert_eq!(found[1].last().unwrap(), "");
    assert!(found[2].last().unwrap().contains("ends beyond the device"));
}

#[test]
fn a_parameter_with_the_name_of_a_metric_has_the_column_of_the_csv() {
    let place = Place::new();
    place.write("t.disksim", page_writes(&[0, 1, 2, 3]));
    let run = ["run", "t.disksim", "--ftl", "bast", "-o"];
    for name in ["r.csv", "r.parquet"] {
        place.succeed(&[&run[..], &[name], &TINY].concat());
    }
    let csv = place.read("r.csv");
    let found = cells(&place, "r.parquet");
    assert_eq!(csv.lines().next().unwrap(), found[0].join(","));
    let name = "parameter.ftl.merge_copies".to_owned();
    assert!(found[0].contains(&name), "{found:?}");
}
