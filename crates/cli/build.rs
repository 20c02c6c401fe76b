//! Tells the program which commit it was built from, where that can be known.

use std::path::Path;
use std::process::Command;

fn main() {
    // Unpacked inside somebody else's repository, the sources must not claim that one's commit.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git");
    let mut commit = "unknown".to_owned();
    if repository.exists() {
        if let Ok(output) = Command::new("git")
            .args(["rev-parse", "--short=12", "HEAD"])
            .output()
            && output.status.success()
        {
            commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        }
        // The log moves with every commit; HEAD itself only when the branch changes.
        for name in ["HEAD", "logs/HEAD"] {
            let path = repository.join(name);
            if path.exists() {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=DESTAGE_COMMIT={commit}");
}
