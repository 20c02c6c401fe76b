//! The text of the file, made from template, styles, scripts and data.

use serde_json::Value;

use super::content::Content;

const TEMPLATE: &str = include_str!("page/page.html");
/// The style sheets, in the order in which they apply.
const STYLES: [&str; 2] = [
    include_str!("page/page.css"),
    include_str!("page/print.css"),
];
/// The scripts. Each script uses only those before it. In the page, all scripts together are the body of one
/// function.
const SCRIPTS: [&str; 12] = [
    include_str!("page/elements.js"),
    include_str!("page/numbers.js"),
    include_str!("page/looks.js"),
    include_str!("page/files.js"),
    include_str!("page/chart.js"),
    include_str!("page/table.js"),
    include_str!("page/ranking.js"),
    include_str!("page/runs.js"),
    include_str!("page/explained.js"),
    include_str!("page/papers.js"),
    include_str!("page/trace.js"),
    include_str!("page/main.js"),
];
/// The chart library. README.md in the folder `vendored` says where it comes from.
const LIBRARY: &str = include_str!("vendored/echarts.min.js");
/// The characters with which each slot of the template begins.
const SLOT: &str = "{{";

/// The text of the whole file.
pub(super) fn text(content: &Content) -> String {
    let mut text = String::with_capacity(LIBRARY.len() + (1 << 19));
    // Only the template is searched for slots, so inserted text may contain any characters.
    let mut pieces = TEMPLATE.split(SLOT);
    text.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (slot, rest) = piece.split_once("}}").unwrap_or((piece, ""));
        match slot {
            "title" => text.push_str(&escape(&content.title)),
            "tab" => text.push_str(&escape(&content.tab())),
            "origin" => text.push_str(&escape(&content.origin)),
            "conclusions" => text.push_str(&paragraphs("conclusion", &content.conclusions)),
            "notes" => text.push_str(&notes(&content.notes)),
            "styles" => text.extend(STYLES),
            "library" => text.push_str(LIBRARY),
            "data" => text.push_str(&embedded(&content.data)),
            "scripts" => text.extend(SCRIPTS),
            _ => {}
        }
        text.push_str(rest);
    }
    text
}

/// If a page has more notes than this, they are folded, and a line gives their number.
const NOTES: usize = 3;

fn notes(sentences: &[String]) -> String {
    let all = paragraphs("note", sentences);
    match sentences.len() {
        0..=NOTES => all,
        count => {
            format!("<details><summary>{count} notes on these runs</summary>\n{all}</details>\n")
        }
    }
}

fn paragraphs(class: &str, sentences: &[String]) -> String {
    let one = |sentence: &String| format!("<p class=\"{class}\">{}</p>\n", escape(sentence));
    sentences.iter().map(one).collect()
}

/// `data` as JSON for a script element. Every `<` is escaped, because it could begin the end tag of the element.
fn embedded(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

/// `text`, escaped for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_name_ends_a_script_or_an_element() {
        let name = "</script><b a=\"{{library}}\">";
        let content = Content {
            title: name.to_owned(),
            inputs: name.to_owned(),
            origin: name.to_owned(),
            conclusions: vec![name.to_owned()],
            notes: Vec::new(),
            data: json!({ "name": name }),
        };
        let page = text(&content);
        assert!(!page.contains("<b a="), "escaped");
        // The page has three script elements: the library, the data and the scripts.
        assert_eq!(page.matches("</script>").count(), 3);
        assert_eq!(page.matches("Licensed to the Apache").count(), 1);
        let data = page.split("id=\"data\">").nth(1);
        let data = data.and_then(|rest| rest.split("</script>").next());
        let data: Value = serde_json::from_str(data.expect("data")).expect("JSON");
        assert_eq!(data["name"], name);
    }

    /// All scripts are in one function. If two scripts declared the same name, all scripts would use the later
    /// declaration.
    #[test]
    fn no_name_is_given_twice() {
        let lines = SCRIPTS.iter().flat_map(|script| script.lines());
        let named = lines.filter_map(|line| {
            let declared = ["function ", "const ", "let ", "class "];
            let rest = declared.iter().find_map(|word| line.strip_prefix(word))?;
            let is_end = |sign: char| !sign.is_alphanumeric() && sign != '_';
            rest.split(is_end).next().filter(|name| !name.is_empty())
        });
        let mut seen = std::collections::BTreeSet::new();
        let twice: Vec<_> = named.filter(|name| !seen.insert(*name)).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(
            seen.contains("spoken") && seen.contains("Chart"),
            "{seen:?}"
        );
    }

    #[test]
    fn the_library_is_the_file_that_was_given_away() {
        use std::fmt::Write as _;

        use sha2::{Digest, Sha256};

        let mut sum = String::new();
        for byte in Sha256::digest(LIBRARY) {
            let _ = write!(sum, "{byte:02x}");
        }
        let said = include_str!("vendored/README.md");
        assert!(said.contains(&format!("`{sum}`")), "{sum}");
    }

    #[test]
    fn every_slot_of_the_template_is_known() {
        let known = [
            "title",
            "tab",
            "origin",
            "conclusions",
            "notes",
            "styles",
            "library",
            "data",
            "scripts",
        ];
        for piece in TEMPLATE.split(SLOT).skip(1) {
            let slot = piece.split_once("}}").expect("an end").0;
            assert!(known.contains(&slot), "{slot}");
        }
        assert!(!LIBRARY.contains("</script"), "would end early");
        for script in SCRIPTS {
            assert!(!script.contains("</script"), "would end early");
        }
    }
}
