//! Tests that the commands in README.md and docs/TOUR.md work, and that they print the output that the pages show.

use crate::common;

use std::path::Path;

use common::{Place, page_writes};

/// The code blocks of a page in the language `name`, in the order of the page. Each block has the text after the
/// block.
fn blocks<'a>(text: &'a str, name: &str) -> Vec<(&'a str, &'a str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("```") {
        let Some((block, after)) = from.split_once("\n```") else {
            break;
        };
        if let Some((language, content)) = block.split_once('\n')
            && language == name
        {
            found.push((content, after));
        }
        rest = after;
    }
    found
}

/// The arguments of each call of `destage` in `line`. Comments and the commands after a pipe are removed.
fn commands(line: &str) -> Vec<Vec<&str>> {
    let line = line.split("  #").next().unwrap_or(line);
    let line = line.split(" | ").next().unwrap_or(line);
    let all = line.split(';').map(|command| command.split_whitespace());
    // The quotes are removed, as a shell would remove them.
    all.filter_map(|mut words| {
        let is_ours = words.next() == Some("destage");
        is_ours.then(|| words.map(|word| word.trim_matches('\'')).collect())
    })
    .collect()
}

#[test]
fn every_command_of_readme_can_be_typed_and_every_table_is_printed() {
    run_all("README.md", 3, 1);
}

#[test]
fn every_command_of_the_tour_can_be_typed_and_every_table_is_printed() {
    run_all("docs/TOUR.md", 10, 1);
}

/// Runs the commands of a page. The page must have at least `least` commands, and must show the output of at least
/// `tables` of them.
fn run_all(page: &str, least: usize, tables: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let text = std::fs::read_to_string(path).expect("the page");
    let place = Place::new();
    let writes = page_writes(&(0..300).map(|page| page * 37 % 1000).collect::<Vec<_>>());
    place.write("my.trace", &writes);
    let packed = zstd::encode_all(writes.as_bytes(), 1).expect("zstd");
    place.write("my.trace.zst", packed);
    let (mut ran, mut printed) = (0, 0);
    for (block, after) in blocks(&text, "sh") {
        for line in block.lines() {
            for words in commands(line) {
                let output = place.succeed(&words);
                ran += 1;
                if let Some(table) = after.trim_start().strip_prefix("```text\n") {
                    let table = table.split("\n```").next().unwrap_or(table);
                    assert_eq!(output.trim_end(), table, "{line}");
                    printed += 1;
                }
            }
        }
    }
    assert!(
        ran >= least && printed >= tables,
        "{page}: {ran} commands, {printed} tables"
    );
}
