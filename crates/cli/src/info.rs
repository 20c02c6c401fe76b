//! `destage trace info`: what a trace is like.

use std::time::Instant;

use destage_sim::settings::{Config, Origin};
use destage_trace::statistics::{Number, Shape};
use destage_trace::{Collector, Reader};
use serde_json::{Map, Value, json};

use crate::args::InfoArguments;
use crate::choices;
use crate::errors::Failure;
use crate::input::{self, Facts};
use crate::interrupt;
use crate::manifest::Manifest;
use crate::output::plot::Plot;
use crate::output::table::{Side, Table};
use crate::output::{self, json, numbers};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &InfoArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let mut settings = choices::plain(&arguments.settings, None)?;
    if let Some(text) = &arguments.page_bytes {
        let origin = Origin::Given(format!("--page-bytes {text}"));
        settings.set("flash.page_bytes", text, origin);
    }
    let config = settings.resolve()?;
    let options = input::read_options(&config, &arguments.reading)?;

    let page_bytes = config.global.integer("flash.page_bytes");
    let block_pages = block_pages(&config);
    let plot = arguments
        .plot
        .as_ref()
        .map(|path| Plot::create(path, &arguments.trace))
        .transpose()?;
    let mut shape = plot.as_ref().map(|_| Shape::new(page_bytes, block_pages));
    destage_memory::doing(format!("reading {}", arguments.trace.display()));
    let mut reader = Reader::open(&arguments.trace, &options)?;
    let mut collector = Collector::new(page_bytes);
    let mut batch = Vec::new();
    let progress = Progress::new(arguments.noise, arguments.reading.slice.limit);
    while reader.fill(&mut batch)? {
        interrupt::check()?;
        progress.advance(batch.len() as u64);
        batch.iter().for_each(|request| collector.add(request));
        if let Some(shape) = &mut shape {
            batch.iter().for_each(|request| shape.add(request));
        }
    }
    drop(progress);
    let facts = Facts::of_reader(&arguments.trace.display().to_string(), &reader);
    facts.warn();
    let statistics = collector.finish();
    let rows = statistics.rows();
    let format = reader.format();
    let digest = facts.digest.clone();
    let name = facts.name.clone();
    let manifest = Manifest::new(vec![facts], config.global.integer("sim.seed"), started);
    if let (Some(plot), Some(shape)) = (plot, shape) {
        destage_memory::doing(format!("drawing {}", arguments.trace.display()));
        plot.draw(&manifest, &statistics, &shape, block_pages)?;
    }

    if arguments.json {
        let values = rows.iter().map(|row| {
            let value = match row.value {
                Number::Whole(number) => json!(number),
                Number::Decimal(number) => json!(number),
            };
            (row.name.to_owned(), value)
        });
        let values: Map<String, Value> = values.collect();
        let document = json!({ "manifest": manifest.single(), "statistics": values });
        return output::print(&json::text(&document));
    }
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left, Side::Left]);
    for row in &rows {
        let value = numbers::statistic(row.value);
        table.row([row.name, &value, row.unit, row.about]);
    }
    let digest = digest
        .map(|digest| format!("sha256 {digest}\n"))
        .unwrap_or_default();
    output::show(&format!(
        "{}: {}, times in {}\n{digest}\n{}",
        name,
        format.name,
        options.time_unit.unwrap_or(format.time_unit).name(),
        table.text()
    ))
}

/// Pages of a block that hold data.
fn block_pages(config: &Config) -> u64 {
    let summary = u64::from(config.global.flag("flash.summary_page"));
    config.global.integer("flash.pages_per_block") - summary
}
