//! `destage curve`: metrics over the size of the buffer.

use std::time::Instant;

use clap::ArgMatches;
use destage::sim::metrics;
use destage::{CurvePlan, Curves, Number, curve, words};

use crate::args::CurveArguments;
use crate::choices;
use crate::compare::{check_any, split_items};
use crate::errors::Failure;
use crate::output::report::{Form, page};
use crate::output::table::{Side, Table};
use crate::output::{numbers, summary};
use crate::work::Work;

/// Runs the command.
pub(crate) fn run(arguments: &CurveArguments, typed: &ArgMatches) -> Result<(), Failure> {
    let started = Instant::now();
    let common = &arguments.common;
    let plan = CurvePlan {
        settings: choices::settings(common, typed)?,
        buffers: arguments.buffers.as_deref().map(split_items),
        sizes: choices::sizes(arguments.sizes.as_deref()),
    };
    if let Err(error) = metrics::require(&arguments.metric) {
        return Err(Failure::input(format!("--metric: {error}")));
    }
    let input = choices::input(arguments.trace.as_ref(), common)?;
    let work = Work::begin(started, common, arguments.trace.as_deref().into_iter())?;
    let mut curves = work.carry_out(|effort| curve(&input, &plan, effort))?;
    work.sign(&mut curves.manifest);
    let records = curves.records();
    check_any(&records)?;
    let content = |form| match form {
        Form::Json => curves.to_json().into_bytes(),
        Form::Table(table) => {
            let points = curves.curves.iter().flat_map(destage::Curve::points);
            table.of(&points.collect::<Vec<_>>())
        }
        Form::Html => page(&curves.to_json(), None),
    };
    let text = || {
        let heading = words::heading(&records);
        let tables = tables(&curves, &arguments.metric);
        let conclusion = match &curves.conclusions()[..] {
            [] => String::new(),
            sentences => format!("\n{}\n", sentences.join("\n")),
        };
        format!("{heading}\n\n{tables}\n{}{conclusion}", ways(&curves))
    };
    work.deliver(&records, content, text)
}

/// A line a size, a column a scheme; as many tables as a terminal wants.
fn tables(curves: &Curves, metric: &str) -> String {
    let columns: Vec<Vec<String>> = curves
        .curves
        .iter()
        .map(|curve| {
            let value = |bytes: &u64| {
                let number: Option<Number> = curve.at(*bytes)?.metrics.get(metric);
                number.map(numbers::metric)
            };
            let cells = curves
                .sizes
                .iter()
                .map(|bytes| value(bytes).unwrap_or_else(|| "-".to_owned()));
            std::iter::once(curve.buffer.clone()).chain(cells).collect()
        })
        .collect();
    let sizes = curves.sizes.iter().map(|bytes| numbers::size(*bytes));
    let sizes: Vec<String> = std::iter::once("size".to_owned()).chain(sizes).collect();
    let wide = |column: &Vec<String>| column.iter().map(String::len).max().unwrap_or(0) + 2;
    let mut text = format!("{metric}\n\n");
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let mut room = summary::width().saturating_sub(wide(&sizes));
        let fits = rest.iter().take_while(|column| {
            let wide = wide(column);
            let fits = wide <= room;
            room = room.saturating_sub(wide);
            fits
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        let mut table = Table::new(vec![Side::Right; now.len() + 1]);
        for (index, size) in sizes.iter().enumerate() {
            table.row(std::iter::once(size).chain(now.iter().map(|column| &column[index])));
            if index == 0 {
                table.rule();
            }
        }
        text.push_str(&table.text());
        rest = later;
        if !rest.is_empty() {
            text.push('\n');
        }
    }
    text
}

/// How the curves came to be, in words.
fn ways(curves: &Curves) -> String {
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
