//! `destage show`: parameters with default, unit, range and source.

use destage::registries::{self, Entry, Page};

use crate::args::{ShowArguments, Shown};
use crate::errors::Failure;
use crate::output::{self, json};

/// Runs the command.
pub(crate) fn run(arguments: &ShowArguments) -> Result<(), Failure> {
    let name = arguments.name.as_deref().unwrap_or_default();
    let page = match arguments.what {
        Shown::Parameters if !name.is_empty() => {
            return Err(Failure::input(format!(
                "show parameters {name:?}: expected no name, or show buffer, ftl, profile or workload"
            )));
        }
        Shown::Parameters => registries::parameters(),
        Shown::Buffer => registries::buffer(name)?,
        Shown::Ftl => registries::ftl(name)?,
        Shown::Profile => registries::profile(name)?,
        Shown::Workload => registries::workload(name)?,
    };
    output::print(&if arguments.json {
        json::text(&page.to_json())
    } else {
        text_of(&page)
    })
}

fn text_of(page: &Page) -> String {
    let mut text = format!("{}: {}\n", page.name, page.about);
    if !page.source.is_empty() {
        text.push_str(&format!("Source: {}\n", page.source));
    }
    if page.parts.iter().all(|(_, entries)| entries.is_empty()) {
        text.push_str("It has no parameters.\n");
    }
    for (title, entries) in &page.parts {
        if entries.is_empty() {
            continue;
        }
        text.push('\n');
        if !title.is_empty() {
            text.push_str(&format!("{title}:\n\n"));
        }
        for entry in entries {
            text.push_str(&line_of(entry));
        }
    }
    text
}

fn line_of(entry: &Entry) -> String {
    let row = entry.row;
    let value = entry.set.as_ref().map(|(value, _)| output::setting(value));
    let shown = value.as_deref().unwrap_or(row.default);
    let mut line = format!("{} = {shown}", entry.name);
    // A size such as 4KiB has said its unit.
    let says_its_own = row.unit == "bytes" && shown.ends_with('B');
    if !row.unit.is_empty() && !says_its_own {
        line.push_str(&format!(" {}", row.unit));
    }
    if entry.has_example {
        line.push_str("  (an example; not set unless given)");
    }
    if value.is_some() {
        line.push_str(&format!("  (default {})", row.default));
    }
    line.push_str(&format!(
        "\n    {}\n    Expected: {}.",
        row.about,
        row.expected()
    ));
    let source = entry.source();
    if !source.is_empty() {
        line.push_str(&format!(" Source: {source}"));
        if !source.ends_with('.') {
            line.push('.');
        }
    }
    line.push('\n');
    for need in entry.needs() {
        line.push_str(&format!("    Needs {need}.\n"));
    }
    for (with, because) in entry.excludes() {
        line.push_str(&format!("    Excludes {with}: {because}.\n"));
    }
    line
}
