//! `destage explain`: the meaning of a word or a message.

use destage::registries::{self, Explanation};
use destage_study::experiments;

use crate::args::ExplainArguments;
use crate::errors::Failure;
use crate::output::{self, json};

/// The options that are short forms of a parameter.
const OPTIONS: [(&str, &str); 6] = [
    ("buffer.kind", "--buffer NAME"),
    ("buffer.capacity_bytes", "--size BYTES"),
    ("ftl.kind", "--ftl NAME"),
    ("device.capacity_bytes", "--capacity BYTES"),
    ("device.op_percent", "--op PERCENT"),
    ("ftl.reserve_percent", "--op PERCENT"),
];

/// Runs the command.
pub(crate) fn run(arguments: &ExplainArguments) -> Result<(), Failure> {
    let mut found = registries::explain(&arguments.words.join(" "), &experiments()?)?;
    for explanation in &mut found {
        if let Some(typed) = typed(explanation) {
            explanation.facts.push(("typed", typed));
        }
    }
    output::print(&match arguments.json {
        true => json::text(&found.iter().map(Explanation::to_json).collect::<Vec<_>>()),
        false => found.iter().map(text_of).collect::<Vec<_>>().join("\n"),
    })
}

/// The words that a user types on the command line to use the explained name.
fn typed(explanation: &Explanation) -> Option<String> {
    let name = &explanation.name;
    let fact = |heading: &str| {
        let fact = explanation.facts.iter().find(|(of, _)| *of == heading);
        fact.map(|(_, text)| text.as_str())
    };
    Some(match explanation.kind {
        "parameter" => {
            let set = match (name.strip_prefix("workload."), fact("of")) {
                (Some(key), Some(owners)) => {
                    let owner = owners.split(',').next().unwrap_or(owners);
                    format!("--workload {owner}:{key}=VALUE")
                }
                _ => format!("--set {name}=VALUE"),
            };
            match OPTIONS.iter().find(|(key, _)| key == name) {
                Some((_, option)) => format!("{option}, or {set}"),
                None => set,
            }
        }
        "metric" if fact("of") == Some("a run") => format!(
            "destage size ... --goal '{name}<VALUE', destage compare ... --columns {name}, destage curve ... --metric {name}"
        ),
        "metric" => "destage trace info".to_owned(),
        "experiment" => format!("destage reproduce {name}"),
        "buffer" | "ftl" | "profile" | "workload" | "format" => {
            format!("--{} {name}", explanation.kind)
        }
        _ => return None,
    })
}

fn text_of(explanation: &Explanation) -> String {
    let what = match explanation.kind {
        "ftl" => "translation layer",
        kind => kind,
    };
    let mut text = format!("{} ({what})\n    {}\n", explanation.name, explanation.about);
    for (heading, fact) in &explanation.facts {
        text.push_str(&format!("    {}: {fact}\n", capitalised(heading)));
    }
    text
}

/// `heading` with a capital first letter.
fn capitalised(heading: &str) -> String {
    let (first, rest) = heading.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}
