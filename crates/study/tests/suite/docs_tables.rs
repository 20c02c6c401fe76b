//! Tests of the tables of results that `make reproduce` inserts into the pages in docs/. Each table has to occur
//! in only one page. The README of the paper has to contain a link to this page, and not the table itself.

use std::collections::BTreeMap;
use std::path::Path;

/// The text between the line `### HEADING` in `text`, with the given heading, and the next heading.
fn below(text: &str, heading: &str) -> String {
    let title = format!("### {heading}");
    let lines = text.lines().skip_while(|line| *line != title).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_table_of_results_stands_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut placed = BTreeMap::new();
    for page in root.join("docs").read_dir().unwrap() {
        let path = page.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n<!-- table ").skip(1) {
            let (place, rest) = block.split_once(" -->\n").unwrap();
            let (shown, _) = rest.split_once("<!-- /table -->").unwrap();
            assert!(
                shown.contains("| --- |"),
                "{name}: {place}: there is no table; run `make reproduce`"
            );
            let before = placed.insert(place.to_owned(), name.clone());
            assert_eq!(before, None, "{name}: {place}: it stands in another page");
        }
    }
    assert!(placed.len() >= 8, "{} tables found", placed.len());
    for (place, page) in placed {
        let (paper, heading) = place.split_once(": ").unwrap();
        let path = root.join("experiments").join(paper).join("README.md");
        let readme = std::fs::read_to_string(path).expect("`make reproduce` writes it");
        let shown = below(&readme, heading);
        assert!(
            shown.contains(&format!("(../../docs/{page}#")) && !shown.contains('|'),
            "{paper}: {heading}: the README has no link to {page}; run `make reproduce`"
        );
    }
}
