//! Tests of completion scripts, manual pages, version information, and traces on standard output.

use crate::common;

use common::Place;

const WORKLOAD: [&str; 4] = [
    "trace",
    "generate",
    "--workload",
    "uniform:requests=50,footprint_pages=20",
];

#[test]
fn every_shell_is_given_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.succeed(&["completions", shell]);
        for word in ["compare", "curve", "reproduce", "memory-limit"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let place = Place::new();
    assert!(place.succeed(&["man"]).contains(".TH destage 1"));
    place.succeed(&["man", "-o", "pages"]);
    let page = place.read("pages/destage-run.1");
    assert!(page.contains("\\-\\-buffer"), "{page}");
    assert!(place.read("pages/destage-trace-info.1").contains(".TH"));
}

#[test]
fn the_version_names_what_results_depend_on() {
    let place = Place::new();
    let json = place.json(&["version", "--json"]);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    let text = place.succeed(&["version"]);
    assert!(text.contains(&format!("model {}", json["model"])), "{text}");
}

#[test]
fn a_trace_on_standard_output_is_that_of_a_file() {
    let place = Place::new();
    place.succeed(&[&WORKLOAD[..], &["-o", "one.csv"]].concat());
    let text = place.succeed(&[&WORKLOAD[..], &["-o", "-", "--to", "csv", "--quiet"]].concat());
    assert_eq!(text, place.read("one.csv"));
    let outcome = place.run(&[&WORKLOAD[..], &["-o", "-"]].concat());
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.errors.contains("expected --to"),
        "{}",
        outcome.errors
    );
}
