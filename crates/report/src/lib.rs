//! Results as one HTML file that needs no other file.
//!
//! A page is made from the JSON that a command prints. A user can store this JSON and make the page later. This crate
//! writes texts and data into the page. When the page is opened, its scripts draw the tables and charts.
//!
//! | module | contents |
//! | --- | --- |
//! | `table` | runs as a table: settings in which the runs differ, and metrics |
//! | `content` | content of the page for each kind of results |
//! | `page` | text of the file, from template, styles, scripts and data |
//! | [`watch`](watch()), [`Watched`] | page that shows the device at work, from a recording of the beginning of a run |

mod content;
mod page;
mod table;
mod watch;

use serde_json::{Value, json};

use content::Content;
use destage::Error;

pub use watch::{Watched, watch, watch_cut};

/// The page for `document`, which is the output of `destage run`, `compare`, `curve`, `fleet`, `size`, `study`,
/// `reproduce` or `trace info` with `--json`. If `title` is given, it replaces the default title. Equal arguments
/// give equal pages, byte by byte.
///
/// # Errors
/// If `document` is not JSON, or not the output of one of these commands.
pub fn html(document: &str, title: Option<&str>) -> Result<String, Error> {
    let mut content = read(document)?;
    if let Some(title) = title {
        title.clone_into(&mut content.title);
        content.inputs.clear();
    }
    Ok(page::text(&content))
}

/// The head and the table of the page for `document`, as JSON: `{"kind", "title", "origin", "heading", "conclusions",
/// "notes", "table", "statistics", "goals"}`. The fields `heading`, `table`, `statistics` and `goals` exist only if
/// the page has them. A table is `{"columns": [{"name", "kind", "unit", "about"}], "rows": [[...]], "same": {...}}`.
/// `statistics` is a list of rows with name, value, unit and meaning.
///
/// # Errors
/// The errors are those of [`html`].
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
