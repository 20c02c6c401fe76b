//! `destage size`: the smallest buffer that reaches a goal.

use std::fmt::Write as _;
use std::time::Instant;

use clap::ArgMatches;
use destage::{Answers, Goal, Record, SIZED_SCHEMES, SizePlan, size};

use crate::args::SizeArguments;
use crate::choices;
use crate::compare::split_items;
use crate::errors::Failure;
use crate::output::report::Form;
use crate::output::table::{Side, Table};
use crate::output::{html, numbers, summary};
use crate::work::Work;

/// Runs the command.
pub(crate) fn run(arguments: &SizeArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let settings = choices::settings(common, typed)?;
    let goals = arguments.goal.iter().map(|text| Goal::read(text));
    let plan = SizePlan {
        goals: goals.collect::<Result<_, _>>()?,
        buffers: match (&arguments.buffers, &common.device.buffer) {
            (Some(list), _) => split_items(list),
            (None, Some(one)) => vec![one.clone()],
            (None, None) => SIZED_SCHEMES.map(str::to_owned).to_vec(),
        },
        sizes: choices::sizes(arguments.sizes.as_deref()),
        settings,
    };
    let input = choices::input(arguments.trace.as_ref(), common)?;
    let work = Work::begin(started, common, arguments.trace.as_deref().into_iter())?;
    let mut answers = work.carry_out(|effort| size(&input, &plan, effort))?;
    work.sign(&mut answers.manifest);
    let found = answers.answers.iter().map(|answer| answer.record.clone());
    let records: Vec<Record> = found.chain(answers.missed.iter().cloned()).collect();
    let conclusion = conclusion(&answers);
    let content = |form| match form {
        Form::Json => answers.to_json().into_bytes(),
        Form::Table(table) => table.of(&records),
        Form::Html => html::runs(
            "The smallest buffer",
            &conclusion,
            &answers.manifest,
            &records,
        )
        .into_bytes(),
    };
    let text = || {
        let heading = summary::heading(&records);
        let words = conclusion.join("\n");
        format!("{heading}\n\n{words}\n\n{}", table(&answers))
    };
    work.deliver(&records, content, text)
}

/// The values of the goals' metrics in `record`.
fn values(answers: &Answers, record: &Record) -> String {
    let value = |goal: &Goal| match record.metrics.get(&goal.metric) {
        Some(number) => format!("{} = {}", goal.metric, numbers::metric(number)),
        None => format!("{} has no meaning", goal.metric),
    };
    let all: Vec<_> = answers.goals.iter().map(value).collect();
    all.join(", ")
}

fn with_size(record: &Record) -> String {
    match record.capacity() {
        Some(bytes) => format!("{} with {}", record.buffer, numbers::size(bytes)),
        None => record.buffer.clone(),
    }
}

/// The answer in words.
fn conclusion(answers: &Answers) -> Vec<String> {
    let goals: Vec<_> = answers.goals.iter().map(Goal::to_string).collect();
    let goals = goals.join(" and ");
    let largest = answers.sizes.last().copied().unwrap_or(0);
    let mut lines = Vec::new();
    let tried = format!(
        "{} runs; a grid of all schemes and sizes has {}.",
        answers.runs, answers.grid
    );
    let Some(best) = answers.answers.first() else {
        lines.push(format!(
            "Nothing reaches {goals} with up to {}.",
            numbers::size(largest)
        ));
        lines.push(tried);
        return lines;
    };
    lines.push(format!(
        "{} is the smallest buffer that reaches {goals}: {}.",
        with_size(&best.record),
        values(answers, &best.record)
    ));
    match answers.answers.get(1) {
        Some(next) => lines.push(format!(
            "Next comes {}: {}.",
            with_size(&next.record),
            values(answers, &next.record)
        )),
        None => lines.push(format!(
            "No other of these schemes reaches it with up to {}.",
            numbers::size(largest)
        )),
    }
    for (when, record) in [
        ("At twice the load", &answers.twice_the_load),
        ("On the second half of the input", &answers.second_half),
    ] {
        let Some(record) = record else { continue };
        let verdict = if answers.hold_in(record) {
            "still reaches"
        } else {
            "does not reach"
        };
        lines.push(format!(
            "{when} it {verdict} the goal: {}.",
            values(answers, record)
        ));
    }
    let at_risk = best.record.metric("device.at_risk_bytes_max");
    let oldest = best.record.metric("buffer.oldest_dirty_ms_max");
    if let Some((bytes, age)) = at_risk.zip(oldest) {
        lines.push(format!(
            "A loss of power takes {} at most, the oldest of it {} ms old.",
            numbers::size(bytes as u64),
            numbers::real(age)
        ));
    }
    if let Some(hold_up) = answers.hold_up {
        let mut line = String::new();
        // Writing to a text cannot fail.
        let _ = write!(
            line,
            "To save a full buffer takes {} ms and {} mJ, a capacitor of {} uF from 5 V to 3 V; what the layer cleans before comes on top.",
            numbers::real(hold_up.dump_ms),
            numbers::real(hold_up.energy_j * 1e3),
            numbers::real(hold_up.capacitance_f * 1e6)
        );
        lines.push(line);
    }
    lines.push(tried);
    lines
}

/// Those that reach the goals at their smallest size that was tried, then the others at the largest.
fn table(answers: &Answers) -> String {
    let mut sides = vec![Side::Left, Side::Right];
    sides.extend(answers.goals.iter().map(|_| Side::Right));
    sides.push(Side::Left);
    let mut table = Table::new(sides);
    let metrics = answers.goals.iter().map(|goal| goal.metric.clone());
    let head = ["buffer".to_owned(), "size".to_owned()].into_iter();
    table.row(head.chain(metrics).chain(["reached".to_owned()]));
    table.rule();
    let found = answers.answers.iter().map(|answer| (&answer.record, "yes"));
    for (record, reached) in found.chain(answers.missed.iter().map(|record| (record, "no"))) {
        let size = record.capacity().map_or("-".to_owned(), numbers::size);
        let numbers = answers.goals.iter().map(|goal| {
            let number = record.metrics.get(&goal.metric);
            number.map_or("-".to_owned(), numbers::metric)
        });
        let names = [record.buffer.clone(), size].into_iter();
        table.row(names.chain(numbers).chain([reached.to_owned()]));
    }
    table.text()
}
