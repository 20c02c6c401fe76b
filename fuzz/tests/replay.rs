//! Replays the corpus with many options. Also checks that the corpus has a valid file of every format.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::Random;
use destage_fuzz::budget;
use destage_fuzz::check::{format_of, options, survives};
use destage_fuzz::mutate::mutate;
use destage_trace::{Choices, FORMATS, Operation, ReadOptions};
use std::path::{Path, PathBuf};

#[global_allocator]
static MEMORY: destage_memory::Budget = destage_memory::Budget;

/// The files of the corpus. After this call, reading a file must not exceed the memory budget.
fn corpus() -> Vec<PathBuf> {
    budget::install();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_format_has_a_sound_file_that_is_read() {
    for format in FORMATS {
        let sound = |path: &&PathBuf| name(path) == format!("{}-sound", format.name);
        let paths = corpus();
        let Some(path) = paths.iter().find(sound) else {
            panic!("the corpus lacks {}-sound", format.name);
        };
        let options = ReadOptions {
            format: Some(format),
            choices: Choices {
                missing_operation: Some(Operation::Write),
                ..Choices::default()
            },
            ..ReadOptions::default()
        };
        let trace = destage_trace::read_all(path, &options).unwrap();
        assert!(trace.requests.len() >= 3, "{format:?}");
    }
}

#[test]
fn everything_in_the_corpus_is_survived() {
    let mut random = Random::new(1);
    for path in corpus() {
        for format in [None, format_of(&name(&path))] {
            for _ in 0..40 {
                let options = options(format, &mut random);
                survives(&path, &options)
                    .unwrap_or_else(|finding| panic!("{}: {finding}\n{options:?}", path.display()));
            }
        }
    }
}

#[test]
fn a_short_run_survives_and_reads_something() {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random::new(2));
    let mut read = 0;
    for round in 0..60 {
        for path in corpus() {
            let mut content = std::fs::read(&path).unwrap();
            mutate(&mut content, &mut random);
            let mutated = folder.path().join("input");
            std::fs::write(&mutated, content).unwrap();
            let options = options(format_of(&name(&path)), &mut random);
            read += survives(&mutated, &options)
                .unwrap_or_else(|finding| panic!("{} {round}: {finding}", path.display()));
        }
    }
    // After many of the mutations some requests are still valid. If no request were read, the test would show
    // nothing.
    assert!(read > 200, "{read}");
}
