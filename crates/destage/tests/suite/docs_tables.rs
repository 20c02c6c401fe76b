//! Tables of results in docs/ are those of the experiments' READMEs, which `make reproduce` writes.

use std::path::Path;

/// The lines below `### heading` of the README of `paper`, up to the next heading.
fn of_readme(root: &Path, paper: &str, heading: &str) -> String {
    let path = root.join("experiments").join(paper).join("README.md");
    let text = std::fs::read_to_string(&path).expect("the README is written by `make reproduce`");
    let title = format!("### {heading}");
    let lines = text.lines().skip_while(|line| *line != title).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn tables_in_docs_are_those_of_the_experiments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut tables = 0;
    for page in root.join("docs").read_dir().unwrap() {
        let path = page.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for block in text.split("\n<!-- table ").skip(1) {
            let (place, rest) = block.split_once(" -->\n").unwrap();
            let (paper, heading) = place.split_once(": ").unwrap();
            let (shown, _) = rest.split_once("<!-- /table -->").unwrap();
            let expected = of_readme(&root, paper, heading);
            assert!(expected.contains('|'), "{}: {place}", path.display());
            assert!(
                shown == expected,
                "{}: {place}: differs from the experiment's README; run `make reproduce`",
                path.display()
            );
            tables += 1;
        }
    }
    assert!(tables >= 8, "{tables} tables found");
}
