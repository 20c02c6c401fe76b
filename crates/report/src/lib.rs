//! Results as one HTML file that needs nothing but itself.
//!
//! A page is made from the JSON that a command prints, so whoever has that can have the page. The words are put into it here; tables
//! and charts are drawn by its scripts when it is opened.
//!
//! | module | holds |
//! | --- | --- |
//! | `table` | runs as columns: what they differ in, and their metrics |
//! | `content` | what each kind of results shows |
//! | `page` | the file: template, styles, scripts, data |
//! | [`watch`](watch()), [`Watched`] | a run whose beginning is recorded, as a page that shows the device work |

mod content;
mod page;
mod table;
mod watch;

use serde_json::{Value, json};

use content::Content;
use destage::Error;

pub use watch::{Watched, watch};

/// The page of `document`, which is what `destage run`, `compare`, `curve`, `fleet`, `size`, `study`, `reproduce` or `trace info` prints
/// with `--json`. `title` stands in place of the usual one. Equal documents give equal pages, to the byte.
///
/// # Errors
/// If it is no JSON, or none of these.
pub fn html(document: &str, title: Option<&str>) -> Result<String, Error> {
    let mut content = read(document)?;
    if let Some(title) = title {
        title.clone_into(&mut content.title);
        content.inputs.clear();
    }
    Ok(page::text(&content))
}

/// What stands at the head of that page, and its table, as JSON: `{"kind", "title", "origin", "heading", "conclusions", "notes", "table",
/// "statistics"}`; of the last three and the heading what such a page has. A table is `{"columns": [{"name", "kind", "unit", "about"}], "rows": [[...]],
/// "same": {...}}`, statistics are rows of name, value, unit and meaning.
///
/// # Errors
/// As [`html`].
pub fn outline(document: &str) -> Result<String, Error> {
    let mut content = read(document)?;
    let mut outline = json!({
        "title": content.title,
        "origin": content.origin,
        "conclusions": content.conclusions,
        "notes": content.notes,
    });
    for name in ["kind", "heading", "table", "statistics", "goals"] {
        let part = content.data[name].take();
        if !part.is_null() {
            outline[name] = part;
        }
    }
    Ok(outline.to_string())
}

fn read(document: &str) -> Result<Content, Error> {
    let wrong = |what: &str| {
        Error::Input(format!(
            "{what}; expected what destage run, compare, curve, fleet, size, study, reproduce or trace info prints as JSON"
        ))
    };
    let mut document: Value =
        serde_json::from_str(document).map_err(|error| wrong(&format!("no JSON: {error}")))?;
    Content::of(&mut document).ok_or_else(|| wrong("no results"))
}
