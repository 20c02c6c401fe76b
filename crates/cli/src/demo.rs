//! `destage demo`: what the program is for, in a few seconds.

use std::time::Instant;

use destage::{Effort, Grid, Input, Record, Settings, compare};

use crate::args::DemoArguments;
use crate::errors::{Failure, command};
use crate::output::report::{Form, ResultFile, machine_form};
use crate::output::{self, html, numbers, summary};
use crate::progress::Progress;

/// The schemes worth showing, where the registry has them, besides no buffer at all.
const SCHEMES: [&str; 8] = [
    "fifo", "lru", "fab", "bplru", "lb-clock", "bpac", "epo", "apu-lru",
];
/// From much smaller than what is popular to about as large.
const SIZES: [&str; 3] = ["2MiB", "8MiB", "32MiB"];
const WORKLOAD: &str =
    "mixed:requests=200000,mean_interarrival_ms=4,stream_percent=2,random_pages=16384,skew=1";
/// A device the workload nearly fills, so that it has to clean.
const DEVICE: [&str; 1] = ["flash.blocks_per_plane=40"];

/// Runs the command.
pub(crate) fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let file = ResultFile::create(&arguments.output)?;
    let mut settings = Settings::new();
    for pair in DEVICE {
        settings.set_pair(pair)?;
    }
    let names = SCHEMES.into_iter();
    let names = names.filter(|name| destage_buffer::find(name).is_some());
    let buffers: Vec<_> = ["nocache"].into_iter().chain(names).collect();
    let combinations = Grid::new(settings)
        .buffers(buffers)
        .sizes(SIZES)
        .combinations()?;
    let input = Input::workload(WORKLOAD, &[])?;
    let progress = Progress::new(arguments.noise, input.expected_requests());
    let effort = Effort {
        threads: arguments.threads.map_or(0, usize::from),
        progress: &progress,
        ..Effort::default()
    };
    let results = compare(&[input], &combinations, &effort);
    drop(progress);
    let mut results = results?;
    results.manifest.command = command();
    results.manifest.wall_time_s = started.elapsed().as_secs_f64();

    let records = &results.runs;
    let findings = findings(records);
    let content = |form| match form {
        Form::Json => results.to_json().into_bytes(),
        Form::Table(table) => table.of(records),
        Form::Html => html::runs(
            "What a write buffer does for flash",
            &findings,
            &results.manifest,
            records,
        )
        .into_bytes(),
    };
    file.fill_with(content)?.commit()?;
    match machine_form(arguments.machine) {
        Some(form) => output::print(&content(form)),
        None => output::show(&format!(
            "{}\n\n{}\n{}\n\nThe same with charts: {}\n",
            summary::heading(records),
            summary::table(records),
            findings.join("\n"),
            arguments.output.display()
        )),
    }
}

/// What the numbers say, in sentences.
fn findings(records: &[Record]) -> Vec<String> {
    let mut sentences = Vec::new();
    let buffered = || records.iter().filter(|record| record.capacity().is_some());
    let Some(largest) = buffered().filter_map(Record::capacity).max() else {
        return sentences;
    };
    let Some(smallest) = buffered().filter_map(Record::capacity).min() else {
        return sentences;
    };
    let response = |record: &Record| record.metric("response.mean_ms").unwrap_or(f64::INFINITY);
    let at = |size: u64| buffered().filter(move |record| record.capacity() == Some(size));
    let fastest = |size: u64| at(size).min_by(|a, b| response(a).total_cmp(&response(b)));
    let without = records.iter().find(|record| record.capacity().is_none());
    if let (Some(best), Some(without)) = (fastest(largest), without) {
        sentences.push(format!(
            "With {} of buffer, {} answers in {} ms on average; without a buffer it is {} ms{}.",
            numbers::bytes(largest),
            best.buffer,
            numbers::real(response(best)),
            numbers::real(response(without)),
            change(
                "erases",
                without.metric("flash.erases"),
                best.metric("flash.erases")
            ),
        ));
        let small = at(smallest).find(|record| record.buffer == best.buffer);
        let hits = small
            .and_then(Record::write_hit_percent)
            .zip(best.write_hit_percent());
        if let Some((few, many)) = hits {
            sentences.push(format!(
                "From {} to {}, the share of page writes it absorbs goes from {few:.1} % to {many:.1} %.",
                numbers::bytes(smallest),
                numbers::bytes(largest)
            ));
        }
    }
    if let (Some(best), Some(worst)) = (
        fastest(smallest),
        at(smallest).max_by(|a, b| response(a).total_cmp(&response(b))),
    ) && best.buffer != worst.buffer
    {
        sentences.push(format!(
            "At {}, the choice of scheme alone makes a factor of {}: {} ms with {}, {} ms with {}.",
            numbers::bytes(smallest),
            numbers::real(response(worst) / response(best)),
            numbers::real(response(best)),
            best.buffer,
            numbers::real(response(worst)),
            worst.buffer
        ));
    }
    sentences
}

/// `, and erases go from 9 to 3`, if both are known and differ.
fn change(what: &str, before: Option<f64>, after: Option<f64>) -> String {
    match before.zip(after) {
        Some((before, after)) if before != after => {
            format!(
                ", and {what} go from {} to {}",
                numbers::whole(before as u64),
                numbers::whole(after as u64)
            )
        }
        _ => String::new(),
    }
}
