//! The version of the model is held to the golden results: results kept under an older one are not taken for today's.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::path::Path;

use sha2::{Digest, Sha256};

#[test]
fn the_version_grows_when_results_change() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let runs = std::fs::read(golden.join("runs.txt")).unwrap();
    let digest: String = Sha256::digest(runs)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let text = std::fs::read_to_string(golden.join("model.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let versions: Vec<(u64, &str)> = lines
        .map(|line| {
            let (version, digest) = line.split_once(' ').unwrap();
            (version.parse().unwrap(), digest)
        })
        .collect();
    assert!(
        versions.windows(2).all(|pair| pair[0].0 < pair[1].0),
        "{text}"
    );
    assert_eq!(
        versions.last(),
        Some(&(destage::MODEL, digest.as_str())),
        "runs.txt has changed: let MODEL in crates/destage/src/manifest.rs grow and add its line to model.txt; \
         if only runs were added, the last line of model.txt changes alone"
    );
}
