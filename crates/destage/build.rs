//! Passes the commit of the sources to the program, or `unknown` if git does not give one. Uncommitted changes add
//! `-dirty`.

use std::path::Path;
use std::process::Command;

/// The folders and files on which a result can depend, relative to the root of the sources.
const SOURCES: [&str; 13] = [
    "crates/base",
    "crates/buffer",
    "crates/destage",
    "crates/device",
    "crates/nand",
    "crates/ftl",
    "crates/memory",
    "crates/sim",
    "crates/study",
    "crates/trace",
    "crates/workload",
    "experiments",
    "profiles",
];

fn main() {
    // If the sources are unpacked inside another repository, git would give the commit of that repository.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git");
    let mut commit = "unknown".to_owned();
    if repository.exists() {
        if let Some(head) = git(&["rev-parse", "--short=12", "HEAD"]) {
            commit = head;
        }
        let mut status = vec!["status", "--porcelain", "--"];
        let paths = SOURCES.map(|source| format!("../../{source}"));
        status.extend(paths.iter().map(String::as_str));
        if git(&status).is_some_and(|changes| !changes.is_empty()) {
            commit.push_str("-dirty");
        }
        for path in &paths {
            println!("cargo::rerun-if-changed={path}");
        }
        // The file logs/HEAD changes with every commit; the file HEAD changes only when the branch changes. Git gives
        // the paths of both files, because in a separate worktree .git is a file that names another folder.
        for name in ["HEAD", "logs/HEAD"] {
            let path = git(&["rev-parse", "--git-path", name]);
            if let Some(path) = path.filter(|path| Path::new(path).exists()) {
                println!("cargo::rerun-if-changed={path}");
            }
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=DESTAGE_COMMIT={commit}");
}

/// The output of git, without surrounding blanks; `None` if git fails.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output.status.success().then(|| text.trim().to_owned())
}
