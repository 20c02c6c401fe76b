//! A source that reads on a separate thread must give the same batches as a source without this thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use destage_sim::source::Source;
use destage_trace::{BadLines, Operation, ReadOptions, Reader, Request};

const LINES: u64 = 40_000;

/// The name of a trace file, the lines that are changed in it, and the treatment of bad lines.
type Case = (&'static str, &'static [(u64, &'static str)], BadLines);

fn line(number: u64) -> String {
    format!("{}.25 0 {} 8 {}\n", number / 3, number * 8, number % 2)
}

/// Writes a file of [`LINES`] lines, of which those in `changed` are replaced.
fn trace(name: &str, changed: &[(u64, &str)]) -> PathBuf {
    let text = (1..=LINES).fold(String::new(), |mut text, number| {
        match changed.iter().find(|(at, _)| *at == number) {
            Some((_, other)) => text.push_str(other),
            None => text.push_str(&line(number)),
        }
        text
    });
    let path = std::env::temp_dir().join(format!("destage-ahead-{}-{name}", std::process::id()));
    std::fs::write(&path, text).expect("room for a trace");
    path
}

fn reading(path: &Path, bad_lines: BadLines) -> Source<'static> {
    let options = ReadOptions {
        bad_lines,
        ..ReadOptions::default()
    };
    Source::reading("test", Reader::open(path, &options).expect("a trace"))
}

/// The result of one call of `fill`, the batch from this call, and the facts about the trace that the source knows
/// after the call.
type Step = (Result<bool, String>, Vec<Request>, String);

fn step(source: &mut Source<'_>) -> Step {
    let mut batch = Vec::new();
    let filled = source.fill(&mut batch).map_err(|error| error.to_string());
    // After an error nothing uses the facts about the trace, so these facts may differ between the two sources.
    let so_far = filled.is_ok().then(|| source.so_far());
    (filled, batch, format!("{so_far:?}"))
}

#[test]
fn batches_errors_and_what_is_known_after_each_are_the_same() {
    let cases: [Case; 4] = [
        ("sound.disksim", &[], BadLines::Stop),
        ("bad.disksim", &[(30_001, "nonsense\n")], BadLines::Stop),
        (
            "skipped.disksim",
            &[
                (1000, "nonsense\n"),
                (30_001, "0.5 0 8 8 0\n"),
                (39_999, "1e9 1 8 8 0\n"),
            ],
            BadLines::Skip,
        ),
        ("back.disksim", &[(20_000, "1.0 0 8 8 0\n")], BadLines::Stop),
    ];
    for (name, changed, bad_lines) in cases {
        let path = trace(name, changed);
        let mut direct = reading(&path, bad_lines);
        let mut ahead = reading(&path, bad_lines).ahead();
        let so_far = |source: &Source<'_>| format!("{:?}", source.so_far());
        assert_eq!(so_far(&direct), so_far(&ahead), "{name}");
        let mut batches = 0;
        loop {
            let (one, other) = (step(&mut direct), step(&mut ahead));
            assert_eq!(one, other, "{name}, batch {batches}");
            if one.0 != Ok(true) {
                break;
            }
            batches += 1;
        }
        assert!(batches > 5, "{name} has only {batches} batches");
        assert_eq!(step(&mut ahead).0, Ok(false), "{name}: there is no more");
        std::fs::remove_file(path).unwrap();
    }
}

fn requests(end: u64, panics_at: u64) -> Source<'static> {
    let request = move |number| {
        assert!(number != panics_at, "no such request");
        Request {
            arrival: number,
            sectors: 8,
            operation: Operation::Write,
            ..Request::BLANK
        }
    };
    Source::generated("test", Box::new((0..end).map(request))).ahead()
}

#[test]
fn whoever_stops_early_waits_for_nothing() {
    let mut source = requests(u64::MAX, u64::MAX);
    let mut batch = Vec::new();
    assert_eq!(source.fill(&mut batch).ok(), Some(true));
    drop(source);
    drop(requests(u64::MAX, u64::MAX));
}

#[test]
fn a_panic_of_the_thread_is_one_of_whoever_takes_from_it() {
    let mut source = requests(100_000, 50_000);
    let taken = catch_unwind(AssertUnwindSafe(|| {
        let (mut batch, mut all) = (Vec::new(), 0);
        while source.fill(&mut batch).unwrap() {
            all += batch.len();
        }
        all
    }));
    assert!(taken.is_err());
}
