//! The program of the documentation is the example, which is compiled and run by the tests.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::path::Path;

#[test]
fn the_page_shows_the_example() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = std::fs::read_to_string(here.join("examples/two_schemes.rs")).unwrap();
    let page = std::fs::read_to_string(here.join("../../docs/LIBRARY.md")).unwrap();
    assert!(page.contains(&format!("```rust\n{example}```")));
    assert!(example.lines().count() <= 30);
}
