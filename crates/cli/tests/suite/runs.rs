//! Tests of a fixed set of runs with all schemes, layers and profiles. The metrics of these runs must not change in
//! any digit.
//!
//! If you change results on purpose, say which results change and why, and renew the digests. With
//! `DESTAGE_RUNS=renew` this test writes the new digests to the table.

use crate::common;

use std::path::Path;

use common::Place;
use serde_json::Value;

/// Name, digest and arguments of a run.
type Run = (String, String, Vec<String>);

fn table() -> (std::path::PathBuf, Vec<Run>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/runs.txt");
    let text = std::fs::read_to_string(&path).expect("the table of runs");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let runs = lines.map(|line| {
        let mut words = line.split(' ').map(str::to_owned);
        let name = words.next().expect("a name");
        let digest = words.next().expect("a digest");
        (name, digest, words.collect())
    });
    (path, runs.collect())
}

/// The FNV-1a digest of `text`, of 64 bits.
fn digest(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn metrics_of(arguments: &[String]) -> String {
    let mut all = vec!["run", "--json", "--quiet"];
    all.extend(arguments.iter().map(String::as_str));
    let outcome = Place::new().run(&all);
    assert_eq!(outcome.status, 0, "{arguments:?}: {}", outcome.errors);
    let result: Value = serde_json::from_str(&outcome.output).expect("JSON");
    result["metrics"].to_string()
}

#[test]
fn results_are_what_they_were() {
    let (path, runs) = table();
    assert!(runs.len() >= 100, "{} runs", runs.len());
    let mut renewed = String::from("# name, digest of the metrics, arguments of `destage run`\n");
    let mut changed = Vec::new();
    for (name, expected, arguments) in runs {
        let found = digest(&metrics_of(&arguments));
        renewed += &format!("{name} {found} {}\n", arguments.join(" "));
        if found != expected {
            changed.push(format!("{name}: {found}, and was {expected}"));
        }
    }
    if std::env::var("DESTAGE_RUNS").as_deref() == Ok("renew") {
        std::fs::write(path, renewed).expect("the table is written");
        return;
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}
