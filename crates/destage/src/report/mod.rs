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

mod content;
mod page;
mod table;

use serde_json::Value;

use crate::error::Error;
use content::Content;

/// The page of `document`, which is what `destage run`, `compare`, `curve`, `fleet`, `size`, `study`, `reproduce` or `trace info` prints
/// with `--json`. `title` stands in place of the usual one. Equal documents give equal pages, to the byte.
///
/// # Errors
/// If it is no JSON, or none of these.
pub fn html(document: &str, title: Option<&str>) -> Result<String, Error> {
    let wrong = |what: &str| {
        Error::Input(format!(
            "{what}; expected what destage run, compare, curve, fleet, size, study, reproduce or trace info prints as JSON"
        ))
    };
    let mut document: Value =
        serde_json::from_str(document).map_err(|error| wrong(&format!("no JSON: {error}")))?;
    let mut content = Content::of(&mut document).ok_or_else(|| wrong("no results"))?;
    if let Some(title) = title {
        title.clone_into(&mut content.title);
    }
    Ok(page::text(&content))
}
