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
    // The parameters of a workload are typed without their section.
    let typed = match what {
        "workload" => format!(
            "Typed: --workload {}:KEY=VALUE, or --set workload.KEY=VALUE\n",
            page.name
        ),
        _ => String::new(),
    };
    output::print(&if arguments.json {
        json::text(&page.to_json())
    } else {
        text_of(&page, &typed)
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

/// The text of `page`. `typed` is a line about the form in which its parameters are typed; it may be empty.
fn text_of(page: &Page, typed: &str) -> String {
    let mut text = format!("{}: {}\n", page.name, page.about);
    if !page.source.is_empty() {
        text.push_str(&format!("Source: {}\n", page.source));
    }
    match page.parts.iter().all(|(_, entries)| entries.is_empty()) {
        true => text.push_str("It has no parameters.\n"),
        false => text.push_str(typed),
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
    let value = entry.set.as_ref().map(|(value, _)| value.to_string());
    let mut line = match value.as_deref().unwrap_or(row.default) {
        "" => format!("{} = (empty)", entry.name),
        shown => format!("{} = {}", entry.name, registries::quantity(shown, row.unit)),
    };
    match (entry.has_example, value.is_some()) {
        (true, false) => line.push_str("  (an example; not set unless given)"),
        (false, true) => {
            let default = if row.default.is_empty() {
                "empty"
            } else {
                row.default
            };
            line.push_str(&format!("  (default {default})"));
        }
        _ => {}
    }
    if !entry.owners.is_empty() {
        line.push_str(&format!("  (of {})", entry.owners.join(", ")));
    }
    if let Some(by) = entry.replaced_by {
        line.push_str(&format!(
            "\n    It gives way to {by}, which is set as well."
        ));
    }
    line.push_str(&format!(
        "\n    {}\n    Expected: {}.",
        row.about,
        entry.expected()
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
