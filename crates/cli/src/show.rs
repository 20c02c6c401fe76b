//! `destage show`: shows parameters with default, unit, range and source.

use destage::registries::{self, Entry, Page};

use crate::args::ShowArguments;
use crate::errors::Failure;
use crate::output::{self, json};

/// Runs the command.
pub(crate) fn run(arguments: &ShowArguments) -> Result<(), Failure> {
    let what = arguments.what.as_str();
    let name = arguments.name.as_deref();
    let page = match (what, name) {
        ("parameters", None) => registries::parameters(),
        ("buffer", Some(name)) => registries::buffer(name)?,
        ("ftl", Some(name)) => registries::ftl(name)?,
        ("profile", Some(name)) => registries::profile(name)?,
        ("workload", Some(name)) => registries::workload(name)?,
        ("buffer" | "ftl" | "profile" | "workload", None) => {
            return Err(Failure::input(format!(
                "show {what}: expected a name after it, from `destage list {what}s`"
            )));
        }
        (_, Some(name)) => {
            return Err(Failure::input(format!(
                "show {what} {name:?}: expected one name alone, or show buffer, ftl, profile or workload with a name"
            )));
        }
        (key, None) => return keys(key, arguments.json),
    };
    output::print(&if arguments.json {
        json::text(&page.to_json())
    } else {
        text_of(&page)
    })
}

/// Prints the parameters that `key` names: one parameter, or those of a section.
fn keys(key: &str, as_json: bool) -> Result<(), Failure> {
    let entries = registries::parameters_named(key)?;
    output::print(&match as_json {
        true => json::text(&entries.iter().map(Entry::to_json).collect::<Vec<_>>()),
        false => entries.iter().map(line_of).collect(),
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
    // A size such as 4KiB already contains its unit.
    let says_its_own = row.unit == "bytes" && shown.ends_with('B');
    let mut line = match (shown, row.unit) {
        ("", _) => format!("{} = (empty)", entry.name),
        (_, "") => format!("{} = {shown}", entry.name),
        _ if says_its_own => format!("{} = {shown}", entry.name),
        // Only words have a plural: `us` and `GB/s` are no words.
        ("1", unit) if unit.len() > 2 && !unit.contains('/') => {
            let ending = if unit.ends_with("sses") { "es" } else { "s" };
            let one = unit.strip_suffix(ending).unwrap_or(unit);
            format!("{} = 1 {one}", entry.name)
        }
        (_, unit) => format!("{} = {shown} {unit}", entry.name),
    };
    if entry.has_example {
        line.push_str("  (an example; not set unless given)");
    }
    if value.is_some() {
        let default = if row.default.is_empty() {
            "empty"
        } else {
            row.default
        };
        line.push_str(&format!("  (default {default})"));
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
