//! Tests that the version of the model changes when results or defaults change. Stored results of an older version
//! are then not used.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use destage_base::parameter::Parameter;
use destage_buffer::{COMMON, SCHEMES};
use destage_ftl::FTLS;
use destage_sim::parameters::PARAMETERS;
use destage_workload::WORKLOADS;
use sha2::{Digest, Sha256};

fn golden(name: &str) -> PathBuf {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    golden.join(name)
}

#[test]
fn the_version_grows_when_results_change() {
    let runs = std::fs::read(golden("runs.txt")).unwrap();
    let digest: String = Sha256::digest(runs)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let text = std::fs::read_to_string(golden("model.txt")).unwrap();
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

/// A line for each parameter, with the owner, the name and the default.
fn defaults() -> BTreeSet<String> {
    let of = |owner: &str, rows: &[Parameter]| -> Vec<String> {
        let lines = rows.iter();
        lines
            .map(|row| format!("{owner} {} = {}", row.name, row.default))
            .collect()
    };
    let schemes = SCHEMES.iter().map(|row| (row.name, row.parameters));
    let layers = FTLS.iter().map(|row| (row.name, row.parameters));
    let workloads = WORKLOADS.iter().map(|row| (row.name, row.parameters));
    let rows = [("run", PARAMETERS), ("buffer", COMMON)].into_iter();
    rows.chain(schemes)
        .chain(layers)
        .chain(workloads)
        .flat_map(|(owner, rows)| of(owner, rows))
        .collect()
}

/// The key of a stored result does not contain parameters that have their defaults. If a default changes, `MODEL`
/// therefore has to grow. `DESTAGE_DEFAULTS=renew` adds new parameters to the file. If `MODEL` has grown, it writes
/// the whole file again.
#[test]
fn the_version_grows_when_a_default_changes() {
    let path = golden("defaults.txt");
    let now = defaults();
    let head = format!("# The defaults of version {} of the model", destage::MODEL);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let kept: BTreeSet<String> = text.lines().skip(1).map(str::to_owned).collect();
    let same_model = text.lines().next() == Some(&*head);
    let changed: Vec<_> = kept.difference(&now).collect();
    assert!(
        !same_model || changed.is_empty(),
        "{changed:#?}: changed or gone: let MODEL in crates/destage/src/manifest.rs grow"
    );
    if std::env::var("DESTAGE_DEFAULTS").as_deref() == Ok("renew") {
        let lines: Vec<_> = now.into_iter().collect();
        std::fs::write(&path, format!("{head}\n{}\n", lines.join("\n"))).unwrap();
        return;
    }
    let new: Vec<_> = now.difference(&kept).collect();
    assert!(
        same_model && new.is_empty(),
        "{new:#?}: DESTAGE_DEFAULTS=renew adds them to {}",
        path.display()
    );
}
