//! Tests that the programs in the documentation equal the examples of this crate. The examples are compiled with the
//! tests.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::path::Path;

/// The text of `example`. Panics if `page` does not show this text.
fn shown(example: &str, page: &str) -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = std::fs::read_to_string(here.join("examples").join(example)).unwrap();
    let page = std::fs::read_to_string(here.join("../../docs").join(page)).unwrap();
    assert!(page.contains(&format!("```rust\n{example}```")));
    example
}

#[test]
fn pages_show_the_examples() {
    let short = shown("two_schemes.rs", "LIBRARY.md");
    assert!(short.lines().count() <= 30);
    shown("own_scheme.rs", "guides/add-a-scheme.md");
}
