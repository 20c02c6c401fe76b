//! Results as one HTML file that needs no other file.
//!
//! A page is made from the JSON that a command prints, so it can also be made later from this JSON. This crate puts
//! the text into the page. The scripts of the page draw tables and charts when it is opened.
//!
//! | module | holds |
//! | --- | --- |
//! | `table` | runs as a table: the settings in which they differ, and their metrics |
//! | `content` | the content of the page for each kind of results |
//! | `page` | the file: template, styles, scripts, data |
//! | [`watch`](watch()), [`Watched`] | a run whose beginning is recorded, as a page that shows the device at work |

mod content;
mod page;
mod table;
mod watch;

use serde_json::{Value, json};

use content::Content;
use destage::Error;

pub use watch::{Watched, watch};

/// The page of `document`, which is the output of `destage run`, `compare`, `curve`, `fleet`, `size`, `study`,
/// `reproduce` or `trace info` with `--json`. `title` replaces the usual title. Equal documents give pages that are
/// equal to the byte.
///
/// # Errors
/// If `document` is not JSON, or not one of these outputs.
pub fn html(document: &str, title: Option<&str>) -> Result<String, Error> {
    let mut content = read(document)?;
    if let Some(title) = title {
        title.clone_into(&mut content.title);
        content.inputs.clear();
    }
    Ok(page::text(&content))
}

/// The head of the page of `document`, and its table, as JSON:
/// `{"kind", "title", "origin", "heading", "conclusions", "notes", "table", "statistics", "goals"}`. The heading
/// and the last three are there only if the page has them. A table is
/// `{"columns": [{"name", "kind", "unit", "about"}], "rows": [[...]], "same": {...}}`. Statistics are rows of name,
/// value, unit and meaning.
///
/// # Errors
/// As for [`html`].
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
