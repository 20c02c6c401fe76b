//! `destage curve`: a metric over the size of the buffer.

use std::time::Instant;

use clap::ArgMatches;
use destage::sim::metrics;
use destage::{
    Curve, CurvePlan, Curves, Number, Rate, Record, Sampling, check_metric, curve, words,
};

use crate::args::CurveArguments;
use crate::choices;
use crate::compare::{check_any, split_items};
use crate::errors::{Failure, warn};
use crate::output::report::{Form, Table as Rows, page};
use crate::output::table::{Side, Table};
use crate::output::{numbers, summary};
use crate::work::Work;

/// Runs the command.
pub(crate) fn run(arguments: &CurveArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let mut settings = choices::settings(common, typed)?;
    let input = choices::input(arguments.trace.as_ref(), common)?;
    input.set_host(&mut settings);
    let plan = CurvePlan {
        settings,
        buffers: arguments.buffers.as_deref().map(split_items),
        sizes: choices::only_sizes(arguments.sizes.as_deref(), common)?,
        sampling: sampling(arguments)?,
    };
    if let Err(error) = metrics::require(&arguments.metric) {
        return Err(Failure::input(format!("--metric: {error}")));
    }
    if plan.sampling.is_some() {
        check_metric(&arguments.metric)?;
    }
    let work = Work::begin(started, common, &plan.settings, &arguments.trace)?;
    let mut curves = work.carry_out(|effort| curve(&input, &plan, effort))?;
    work.sign(&mut curves.manifest);
    curves.manifest.unused.iter().for_each(warn);
    let records = curves.records();
    check_any(&records)?;
    words::warnings(&records).iter().for_each(warn);
    let content = |form| match form {
        Form::Json => curves.to_json().into_bytes(),
        Form::Table(Rows::MarkedUp(markup)) => {
            // A table in a text has no line above it that names the metric.
            let metric = &arguments.metric;
            let corner = match metrics::find(metric).map_or("", |row| row.unit) {
                "" => format!("{metric} by size"),
                unit => format!("{metric} ({unit}) by size"),
            };
            let table = table(&curves, metric, &corner);
            table.marked_up(markup).into_bytes()
        }
        Form::Table(rows) => rows.of(&curves.rows()),
        Form::Html => page(&curves.to_json(), None),
    };
    let text = || {
        let heading = words::heading(&records);
        // The columns are divided into several tables if the terminal is too narrow for one table.
        let tables = table(&curves, &arguments.metric, "size").within(summary::width());
        let metric = &arguments.metric;
        let conclusion = match &curves.conclusions()[..] {
            [] => String::new(),
            sentences => format!("\n{}\n", sentences.join("\n")),
        };
        let unmeasured = unmeasured(&curves, &records, &arguments.metric).unwrap_or_default();
        format!(
            "{heading}\n\n{metric}\n\n{tables}\n{unmeasured}{}{conclusion}",
            ways(&curves)
        )
    };
    work.deliver(&records, content, text)
}

/// The sampling of the input; `None` if the curve is not estimated.
fn sampling(arguments: &CurveArguments) -> Result<Option<Sampling>, Failure> {
    let wrong = |option: &str, text: &str, expected: &str| {
        Failure::input(format!("--{option} {text:?}: expected {expected}"))
    };
    let rate = match (&arguments.sample, &arguments.error) {
        (Some(text), _) => Rate::Share(Rate::read_share(text).ok_or_else(|| {
            wrong(
                "sample",
                text,
                "a share above 0 and at most 1, such as 0.01 or 1%",
            )
        })?),
        (None, Some(text)) => {
            let number = text.strip_suffix('%').unwrap_or(text).trim().parse();
            Rate::Error {
                percent: number.map_err(|_| wrong("error", text, "percent, such as 5%"))?,
                metric: arguments.metric.clone(),
            }
        }
        (None, None) => return Ok(None),
    };
    Ok(Some(Sampling {
        rate,
        salts: arguments.salts,
    }))
}

/// The text of a point of the curve: the value at a size, and its interval if the value is estimated.
fn cell(curve: &Curve, bytes: u64, metric: &str) -> Option<String> {
    let number: Number = curve.at(bytes)?.metrics.get(metric)?;
    let value = numbers::metric(number);
    Some(match curve.range(bytes, metric) {
        Some(range) => {
            let [low, high] = range.map(numbers::metric);
            format!("{value} ({low} to {high})")
        }
        None => value,
    })
}

/// A table of `metric`, with one row for each size and one column for each scheme. `corner` is the head of the sizes.
fn table(curves: &Curves, metric: &str, corner: &str) -> Table {
    let columns: Vec<Vec<String>> = curves
        .curves
        .iter()
        .map(|curve| {
            let cells = curves
                .sizes
                .iter()
                .map(|bytes| cell(curve, *bytes, metric).unwrap_or_else(|| "-".to_owned()));
            std::iter::once(curve.buffer.clone()).chain(cells).collect()
        })
        .collect();
    let sizes = curves.sizes.iter().map(|bytes| numbers::size(*bytes));
    let sizes: Vec<String> = std::iter::once(corner.to_owned()).chain(sizes).collect();
    let mut table = Table::new(vec![Side::Right; columns.len() + 1]);
    for (index, size) in sizes.iter().enumerate() {
        table.row(std::iter::once(size).chain(columns.iter().map(|column| &column[index])));
        if index == 0 {
            table.rule();
        }
    }
    table
}

/// The reason why no size has a value of `metric`; `None` if a size has one.
fn unmeasured(curves: &Curves, records: &[Record], metric: &str) -> Option<String> {
    let lacks = |record: &Record| record.metrics.get(metric).is_none();
    let is_simulated = |record: &Record| record.ftl != "none";
    let because = match (
        curves.curves.iter().all(Curve::has_every_size),
        records.iter().any(is_simulated),
    ) {
        _ if !records.iter().all(lacks) => return None,
        (true, _) if metric.starts_with("buffer.") => "one pass over all sizes does not give it",
        (_, false) => "without --ftl there is no flash, and no time passes",
        (_, true) => "there is nothing to measure it on",
    };
    Some(format!("No size has {metric}: {because}.\n"))
}

/// Sentences that say how the curves were computed.
fn ways(curves: &Curves) -> String {
    if let Some(how) = &curves.sampled {
        return how.to_string();
    }
    let named = |every: bool| -> Vec<&str> {
        let of = curves
            .curves
            .iter()
            .filter(|curve| curve.has_every_size() == every);
        of.map(|curve| &*curve.buffer).collect()
    };
    let mut text = String::new();
    match &named(true)[..] {
        [] => {}
        all => text.push_str(&format!(
            "{}: every size from one pass, exact.\n",
            all.join(", ")
        )),
    }
    match &named(false)[..] {
        [] => {}
        all => text.push_str(&format!(
            "{}: a run for each size, exact at these.\n",
            all.join(", ")
        )),
    }
    text
}
