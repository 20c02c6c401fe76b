//! What a claim was measured on, and how that is run again.

use std::collections::BTreeSet;

use crate::study::formula::Context;
use crate::study::rows::{Rows, spoken};
use crate::study::{BASE, InputFacts};

/// The runs that a claim goes over, under the paper's own settings and with the first seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ran {
    /// The experiment whose runs they are, if it goes over any.
    pub experiment: Option<String>,
    /// What they read, and what that is to the paper, in words.
    pub on: String,
    /// What they read.
    pub inputs: BTreeSet<InputFacts>,
    /// How many they are, and the values of each axis: `2 runs: input uniform; buffer lru, fab; seed 1`. Empty without any.
    pub runs: String,
    /// What makes them again, and what each command does; DIR and FILE stand for where traces are.
    pub commands: Vec<Command>,
}

/// A command with what it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As it is typed.
    pub command: String,
    /// What it does, in the third person.
    pub does: String,
}

/// Axes in the order in which a reader asks for them; what a study varies besides comes behind them, and the seed last.
const FIRST: [&str; 5] = ["input", "variant", "buffer", "size", "ftl"];
const LAST: &str = "seed";

/// How many `runs` of `rows` there are, and the values of each axis in the order of the study.
pub(super) fn listed(rows: &Rows, runs: &BTreeSet<Context>) -> String {
    let Some(first) = runs.first() else {
        return String::new();
    };
    let place = |axis: &&String| {
        let place = FIRST.iter().position(|name| *name == axis.as_str());
        (*axis == LAST, place.unwrap_or(FIRST.len()))
    };
    let mut axes: Vec<_> = first.keys().collect();
    axes.sort_by_key(place);
    let values = |axis: &String| {
        let of_axis = |value: &String| runs.iter().any(|run| run.get(axis) == Some(value));
        let all = rows.values_of(axis, &Context::new()).into_iter();
        let some: Vec<_> = all
            .filter(of_axis)
            .filter(|value| axis != "variant" || value != BASE)
            .map(|value| spoken(axis, &value))
            .collect();
        (!some.is_empty()).then(|| format!("{axis} {}", some.join(", ")))
    };
    let axes: Vec<_> = axes.into_iter().filter_map(values).collect();
    let count = match runs.len() {
        1 => "1 run".to_owned(),
        count => format!("{count} runs"),
    };
    format!("{count}: {}", axes.join("; "))
}

/// What makes the runs of `experiment` of `paper` again, which read `inputs`, or would read the trace `missing`; `has_rules` if the
/// paper leaves rules open, which are tried on all of its claims together.
pub(super) fn commands(
    paper: &str,
    experiment: &str,
    inputs: &BTreeSet<InputFacts>,
    missing: Option<&str>,
    has_rules: bool,
) -> Vec<Command> {
    let is_read = inputs.iter().any(|input| input.digest.is_some());
    let traces = match missing {
        Some(trace) => format!(" --trace {trace}=FILE"),
        None if is_read => " --traces DIR".to_owned(),
        None => String::new(),
    };
    let with = |what: &str, does: &str| Command {
        command: format!("destage reproduce {what}{traces}"),
        does: does.to_owned(),
    };
    let mut all = vec![with(
        &format!("{paper}/{experiment}"),
        "makes these runs again, and judges the claim on them",
    )];
    if has_rules {
        all.push(with(
            paper,
            "also tries every combination of the rules that the paper leaves open",
        ));
    }
    all
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::study::Role;
    use crate::study::rows::Row;

    fn labels(of: &[(&str, &str)]) -> Context {
        let owned = of
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
        owned.collect()
    }

    fn input(digest: Option<&str>) -> InputFacts {
        InputFacts {
            name: "made".to_owned(),
            digest: digest.map(str::to_owned),
            role: Role::Made,
            differs: String::new(),
        }
    }

    #[test]
    fn runs_are_listed_by_axis_in_the_order_of_the_study() {
        let run = |variant: &str, size: &str| {
            labels(&[
                ("buffer", "lru"),
                ("input", "made"),
                ("seed", "1"),
                ("size", size),
                ("variant", variant),
            ])
        };
        let all = [
            run(BASE, "8388608"),
            run(BASE, "134217728"),
            run("slow", "8388608"),
        ];
        let rows = Rows {
            all: all
                .iter()
                .map(|labels| Row {
                    labels: labels.clone(),
                    input: input(None),
                    result: Arc::new(json!({})),
                })
                .collect(),
            ..Rows::default()
        };
        let two: BTreeSet<_> = all[..2].iter().cloned().collect();
        assert_eq!(
            listed(&rows, &two),
            "2 runs: input made; buffer lru; size 8 MiB, 128 MiB; seed 1"
        );
        let slow = BTreeSet::from([all[2].clone()]);
        assert_eq!(
            listed(&rows, &slow),
            "1 run: input made; variant slow; buffer lru; size 8 MiB; seed 1"
        );
        assert_eq!(listed(&rows, &BTreeSet::new()), "");
    }

    #[test]
    fn a_command_names_what_it_reads() {
        let typed = |inputs, missing, has_rules| {
            let all = commands("p", "e", &BTreeSet::from([inputs]), missing, has_rules);
            all.into_iter().map(|each| each.command).collect::<Vec<_>>()
        };
        assert_eq!(typed(input(None), None, false), ["destage reproduce p/e"]);
        assert_eq!(
            typed(input(Some("sha256:0")), None, true),
            [
                "destage reproduce p/e --traces DIR",
                "destage reproduce p --traces DIR"
            ]
        );
        assert_eq!(
            typed(input(None), Some("real"), false),
            ["destage reproduce p/e --trace real=FILE"]
        );
    }
}
