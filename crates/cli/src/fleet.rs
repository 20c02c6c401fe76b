//! `destage fleet`: a buffer for each of many volumes, compared with one buffer that all volumes share.

use std::time::Instant;

use destage::sim::metrics;
use destage::{Effort, json};
use destage_study::fleet::{Fleet, FleetCurve, FleetPlan, FleetReport};
use destage_study::{Shard, Share, Store};
use serde_json::json;

use crate::choices;
use crate::compare::split_items;
use crate::errors::{Failure, command, warn};
use crate::fleet_args::FleetArguments;
use crate::output::report::{Form, ResultFile, machine_form, page};
use crate::output::table::{Side, Table};
use crate::output::{self, numbers};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &FleetArguments) -> Result<(), Failure> {
    let started = Instant::now();
    if let Err(error) = metrics::require(&arguments.metric) {
        return Err(Failure::input(format!("--metric: {error}")));
    }
    let shard = arguments.shard.as_deref().map(Shard::read).transpose()?;
    let plan = FleetPlan {
        settings: choices::plain(&arguments.settings, None)?,
        buffers: arguments.buffers.as_deref().map(split_items),
        sizes: choices::sizes(arguments.sizes.as_deref()),
    };
    let fleet = Fleet::open(&arguments.folder)?.prepare(&plan)?;
    let file = arguments.sent.output.as_deref().map(ResultFile::create);
    let file = file.transpose()?;
    let store = Store::open(&arguments.results)?;
    fleet.keep_plan(&store)?;
    let progress = Progress::new(arguments.noise, None);
    let effort = Effort {
        threads: arguments.threads.map_or(0, usize::from),
        progress: &progress,
        ..Effort::default()
    };
    let whole = Shard { index: 1, of: 1 };
    let share = fleet.carry_out_part(&store, shard.unwrap_or(whole), &effort);
    drop(progress);
    store.damaged().iter().for_each(warn);
    let Share {
        runs, own, made, ..
    } = share?;
    if let Some(Shard { index, of }) = shard {
        return match arguments.sent.machine.json {
            true => output::print(&json::text(&json!({
                "shard": index, "of": of, "curves": runs, "own": own, "made": made,
            }))),
            false => output::show(&format!(
                "{}: part {index} of {of} has {own} of {runs} curves; {made} {} made, {} existed already\n",
                arguments.folder.display(),
                if made == 1 { "was" } else { "were" },
                own - made
            )),
        };
    }
    let mut report = fleet.report(&store)?;
    report.manifest.command = command();
    report.manifest.wall_time_s = started.elapsed().as_secs_f64();
    let content = |form| match form {
        Form::Json => report.to_json().into_bytes(),
        Form::Table(table) => table.of(&report.records()),
        Form::Html => page(&report.to_json(), None),
    };
    if let Some(file) = file {
        file.fill_with(content)?.commit()?;
    }
    match machine_form(arguments.sent.machine) {
        Some(form) => output::print(&content(form)),
        None => output::show(&text(&report, &arguments.metric)),
    }
}

/// A table for each scheme, and the conclusions.
fn text(report: &FleetReport, metric: &str) -> String {
    let requests: u64 = report
        .volumes
        .iter()
        .map(|volume| volume.file.requests)
        .sum();
    let mut text = format!(
        "{} requests of {} volumes\n",
        numbers::whole(requests),
        numbers::whole(report.volumes.len() as u64)
    );
    for curve in &report.fleet {
        text.push_str(&format!(
            "\n{}, {metric}\n\n{}",
            curve.buffer,
            table(curve, metric)
        ));
    }
    text.push_str("\nown: each volume has a buffer of its own, all of one size. shared: one buffer for all.\n");
    text.push_str("split: each volume has a buffer of its own, with sizes chosen so that together they absorb as many writes as possible; memory that would absorb no further writes is not used.\n");
    for sentence in report.conclusions() {
        text.push_str(&format!("\n{sentence}\n"));
    }
    text
}

/// A row for each size, and a column for each division of the memory.
fn table(curve: &FleetCurve, metric: &str) -> String {
    let mut table = Table::new(vec![Side::Right; 5]);
    table.row(["each", "in all", "own", "shared", "split"]);
    table.rule();
    for point in &curve.points {
        let sizes = [point.each_bytes, point.bytes].map(numbers::size);
        let value = |metrics: &destage::Metrics| {
            let number = metrics.get(metric);
            number.map_or_else(|| "-".to_owned(), numbers::metric)
        };
        table.row(
            sizes
                .into_iter()
                .chain(point.ways().map(|(_, metrics)| value(metrics))),
        );
    }
    table.text()
}
