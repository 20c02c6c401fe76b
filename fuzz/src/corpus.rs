//! The arguments of the fuzzing loops and their initial inputs.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads the arguments `CORPUS SECONDS [SEED]`: the folder of the corpus, the running time, and the seed, which is 1
/// by default.
///
/// # Errors
/// If the arguments are wrong. The text says which arguments are expected.
pub fn arguments() -> Result<(PathBuf, Duration, u64), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<u64> = arguments
        .iter()
        .skip(1)
        .flat_map(|text| text.parse())
        .collect();
    let ([corpus, ..], [seconds, seed @ ..]) = (&arguments[..], &numbers[..]) else {
        return Err(
            "expected the folder of the corpus, how many seconds to run, and perhaps a seed"
                .to_owned(),
        );
    };
    let seed = seed.first().copied().unwrap_or(1);
    Ok((PathBuf::from(corpus), Duration::from_secs(*seconds), seed))
}

/// The files of `corpus`. They are sorted by name, so that their order is equal on every machine.
///
/// # Errors
/// If a file cannot be read, or if the corpus is empty. The text says which.
pub fn read(corpus: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let failed = |cause: std::io::Error| format!("{}: {cause}", corpus.display());
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(corpus).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        inputs.push((name.into_owned(), std::fs::read(&path).map_err(failed)?));
    }
    if inputs.is_empty() {
        return Err(format!("{}: the corpus is empty", corpus.display()));
    }
    inputs.sort();
    Ok(inputs)
}
