//! `destage trace info`: statistics of a trace.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::time::Instant;

use destage::{Facts, Input, Inspection, Manifest, Origin};
use destage_trace::{Collector, SoFar};

use crate::args::InfoArguments;
use crate::choices;
use crate::errors::{Failure, command, warn};
use crate::interrupt;
use crate::output::report::{Form, ResultFile, check_distinct, page};
use crate::output::table::{Side, Table};
use crate::output::{self, numbers};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &InfoArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let mut settings = choices::plain(&arguments.settings, None)?;
    if let Some(text) = &arguments.page_bytes {
        let origin = Origin::Given(format!("--page-bytes {text}"));
        settings.set("flash.page_bytes", text, origin);
    }
    let unused = choices::remove_unused(&mut settings, &["trace.", "flash.", "ftl."])?;
    let config = settings.resolve()?;
    let files = choices::files([&arguments.trace], &arguments.settings, None, &settings)?;
    let input = Input::trace(&arguments.trace).read(choices::reading(&arguments.reading))?;
    let options = input.options(&config)?;

    let mut inspection = Inspection::new(&config)?;
    let file = arguments
        .output
        .as_ref()
        .map(|path| result_file(path, &files))
        .transpose()?;
    destage_memory::doing(format!("reading {}", arguments.trace.display()));
    let mut source = input.open_ahead(&config)?;
    let mut batch = Vec::new();
    let progress = Progress::new(arguments.noise, arguments.reading.slice.limit);
    while source.fill(&mut batch)? {
        interrupt::check()?;
        progress.advance(batch.len() as u64);
        inspection.add(&batch);
    }
    drop(progress);
    let name = arguments.trace.display().to_string();
    let facts = Facts::of_source(&source, &options);
    facts.warnings_of_reading().iter().for_each(warn);
    let read = source.so_far().map(columns).unwrap_or_default();
    let digest = facts.digest.clone();
    let manifest = Manifest {
        command: command(),
        inputs: vec![facts],
        unused,
        notes: Vec::new(),
        seed: config.typed.sim.seed,
        wall_time_s: started.elapsed().as_secs_f64(),
    };
    if file.is_some() || arguments.json {
        let document = inspection.to_json(&manifest);
        if let Some(file) = file {
            destage_memory::doing(format!(
                "writing the statistics of {}",
                arguments.trace.display()
            ));
            file.fill_with(|form| match form {
                Form::Html => page(&document, None),
                _ => document.clone().into_bytes(),
            })?
            .commit()?;
        }
        if arguments.json {
            return output::print(&document);
        }
    }
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Left, Side::Left]);
    for row in inspection.rows() {
        let value = numbers::statistic(row.value);
        table.row([row.of.name, &value, row.of.unit, row.of.about]);
    }
    let digest = digest
        .map(|digest| format!("sha256 {digest}\n"))
        .unwrap_or_default();
    let conclusions = inspection.conclusions().join("\n");
    output::show(&format!(
        "{name}: {read}\n{digest}\n{conclusions}\n\n{}{}",
        table.text(),
        by_volume(&inspection.collector)
    ))
}

/// The format of a trace, the unit of its times, and the columns that are not used.
fn columns(read: SoFar) -> String {
    let skipped = match read.unknown_columns.as_slice() {
        [] => String::new(),
        names => format!("; columns not used: {}", names.join(", ")),
    };
    let (format, unit) = (read.format.name, read.time_unit.name());
    format!("{format}, times in {unit}{skipped}")
}

/// Opens the file that `-o` names, which must not be one of `files`.
fn result_file(path: &PathBuf, files: &[PathBuf]) -> Result<ResultFile, Failure> {
    check_distinct(&[("-o", path)], files)?;
    ResultFile::page("-o", path, "statistics")
}

/// A table of the volumes with the most requests; empty if there is only one volume.
fn by_volume(collector: &Collector) -> String {
    const SHOWN: usize = 10;
    let mut volumes: Vec<_> = collector.by_volume().collect();
    if volumes.len() < 2 {
        return String::new();
    }
    volumes.sort_by_key(|volume| (Reverse(volume.requests), volume.volume));
    let mut table = Table::new(vec![Side::Right; 4]);
    table.row(["volume", "requests", "bytes_read", "bytes_written"]);
    for volume in volumes.iter().take(SHOWN) {
        let counts = [volume.requests, volume.bytes_read, volume.bytes_written];
        let [requests, read, written] = counts.map(numbers::whole);
        table.row([&volume.volume.to_string(), &requests, &read, &written]);
    }
    let left = match volumes.len().saturating_sub(SHOWN) {
        0 => String::new(),
        left => format!("and {left} more volumes, none of them with more requests\n"),
    };
    format!("\n{}{left}", table.text())
}
