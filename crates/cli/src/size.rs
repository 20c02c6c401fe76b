//! `destage size`: finds the smallest buffer that reaches the goals.

use std::time::Instant;

use clap::ArgMatches;
use destage::{Answers, Goal, Record, SIZED_SCHEMES, SizePlan, size, words};

use crate::args::SizeArguments;
use crate::choices;
use crate::compare::{check_any, split_items};
use crate::errors::{Failure, warn};
use crate::output::numbers;
use crate::output::report::{Form, page};
use crate::output::table::{Side, Table};
use crate::work::Work;

/// Runs the command.
pub(crate) fn run(arguments: &SizeArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let mut settings = choices::settings(common, typed)?;
    let input = choices::input(arguments.trace.as_ref(), common)?;
    input.set_host(&mut settings);
    let goals = arguments.goal.iter().map(|text| Goal::read(text));
    let plan = SizePlan {
        goals: goals.collect::<Result<_, _>>()?,
        buffers: match (&arguments.buffers, &common.device.buffer) {
            (Some(list), _) => split_items(list),
            (None, Some(one)) => vec![one.clone()],
            (None, None) => SIZED_SCHEMES.map(str::to_owned).to_vec(),
        },
        sizes: choices::only_sizes(arguments.sizes.as_deref(), common)?,
        settings,
    };
    let work = Work::begin(started, common, &plan.settings, &arguments.trace)?;
    let mut answers = work.carry_out(|effort| size(&input, &plan, effort))?;
    work.sign(&mut answers.manifest);
    if answers.answers.is_empty() && answers.missed.is_empty() {
        check_any(&answers.failed)?;
    }
    let (records, reached): (Vec<Record>, Vec<String>) = rows(&answers)
        .map(|(record, reached)| (record.clone(), reached.to_owned()))
        .unzip();
    let others = answers.sensitivity.runs().chain(&answers.closest).cloned();
    let runs: Vec<Record> = records.iter().cloned().chain(others).collect();
    words::warnings(&runs).iter().for_each(warn);
    answers.manifest.unused.iter().for_each(warn);
    let conclusion = answers.conclusions();
    let content = |form| match form {
        Form::Json => answers.to_json().into_bytes(),
        Form::Table(form) => {
            let reached = [("reached", reached.clone())];
            form.with(&records, &reached, || table(&answers))
        }
        Form::Html => page(&answers.to_json(), None),
    };
    let text = || {
        let (heading, words) = (answers.heading(), conclusion.join("\n"));
        format!("{heading}\n\n{words}\n\n{}", table(&answers).text())
    };
    work.deliver(&records, content, text)
}

/// The runs, each with a word that tells whether it reaches the goals. First the schemes that reach the goals, or seem
/// to reach them, each at the smallest such size. Then the bounds. Then the other schemes at their largest size.
fn rows(answers: &Answers) -> impl Iterator<Item = (&Record, &'static str)> {
    let found = answers.answers.iter().map(|answer| {
        let reached = if answer.confirmed {
            "yes"
        } else {
            "yes, without a clock"
        };
        (&answer.record, reached)
    });
    let bounds = answers.bounds.iter();
    let bounds = bounds.map(|answer| (&answer.record, "a bound"));
    let missed = answers.missed.iter().map(|record| {
        let reached = match record.stopped_early() {
            true => "no, stopped early",
            false => "no",
        };
        (record, reached)
    });
    let failed = answers.failed.iter().map(|record| (record, "failed"));
    found.chain(bounds).chain(missed).chain(failed)
}

/// The table of the [rows].
fn table(answers: &Answers) -> Table {
    let mut sides = vec![Side::Left, Side::Right];
    sides.extend(answers.goals.iter().map(|_| Side::Right));
    sides.push(Side::Left);
    let mut table = Table::new(sides);
    let metrics = answers.goals.iter().map(|goal| goal.metric.clone());
    let head = ["buffer".to_owned(), "size".to_owned()].into_iter();
    table.row(head.chain(metrics).chain(["reached".to_owned()]));
    table.rule();
    for (record, reached) in rows(answers) {
        let size = record.capacity().map_or("-".to_owned(), numbers::size);
        let numbers = answers.goals.iter().map(|goal| {
            let number = record.metrics.get(&goal.metric);
            number.map_or("-".to_owned(), numbers::metric)
        });
        let names = [record.buffer.clone(), size].into_iter();
        table.row(names.chain(numbers).chain([reached.to_owned()]));
    }
    table
}
