//! The arguments of the fuzzing loops and their initial inputs.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the corpus, the running time, and the seed (1 if it is not given), from the arguments
/// `CORPUS SECONDS [SEED]`.
///
/// # Errors
/// Says what was expected.
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

/// The files of `corpus`, sorted by name, so that the order is the same on every machine.
///
/// # Errors
/// Says which file cannot be read, or that the corpus is empty.
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
