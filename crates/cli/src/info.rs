//! `destage trace info`: what a trace is like.

use std::time::Instant;

use destage_sim::settings::Origin;
use destage_trace::statistics::Number;
use destage_trace::{Reader, Statistics};
use serde_json::{Map, Value, json};

use crate::args::InfoArguments;
use crate::choices;
use crate::errors::Failure;
use crate::input::{self, Facts};
use crate::interrupt;
use crate::manifest::Manifest;
use crate::output::table::{Side, Table};
use crate::output::{self, json, numbers};

/// Runs the command.
pub(crate) fn run(arguments: &InfoArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let mut settings = choices::from_files(&arguments.settings)?;
    for pair in &arguments.settings.set {
        settings.set_pair(pair)?;
    }
    if let Some(text) = &arguments.page_bytes {
        let origin = Origin::Given(format!("--page-bytes {text}"));
        settings.set("flash.page_bytes", text, origin);
    }
    let config = settings.resolve()?;
    let options = input::read_options(&config, &arguments.reading)?;

    let mut reader = Reader::open(&arguments.trace, &options)?;
    let mut statistics = Statistics::new(config.global.integer("flash.page_bytes"));
    let mut batch = Vec::new();
    while reader.fill(&mut batch)? {
        interrupt::check()?;
        batch.iter().for_each(|request| statistics.add(request));
    }
    let facts = Facts::of_reader(&arguments.trace.display().to_string(), &reader);
    facts.warn();
    let rows = statistics.finish().rows();
    let format = reader.format();

    if arguments.json {
        let values = rows.iter().map(|row| {
            let value = match row.value {
                Number::Whole(number) => json!(number),
                Number::Decimal(number) => json!(number),
            };
            (row.name.to_owned(), value)
        });
        let values: Map<String, Value> = values.collect();
        let manifest = Manifest::new(vec![facts], config.global.integer("sim.seed"), started);
        let document = json!({ "manifest": manifest.single(), "statistics": values });
        return output::print(&json::text(&document));
    }
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left, Side::Left]);
    for row in &rows {
        let value = match row.value {
            Number::Whole(number) => numbers::whole(number),
            Number::Decimal(number) => numbers::real(number),
        };
        table.row([row.name, &value, row.unit, row.about]);
    }
    let digest = facts
        .digest
        .map(|digest| format!("sha256 {digest}\n"))
        .unwrap_or_default();
    output::print(&format!(
        "{}: {}, times in {}\n{digest}\n{}",
        facts.name,
        format.name,
        options.time_unit.unwrap_or(format.time_unit).name(),
        table.text()
    ))
}
