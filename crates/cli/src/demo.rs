//! `destage demo`: shows the purpose of the program in a few seconds.

use std::path::{Path, PathBuf};
use std::time::Instant;

use destage::words::{conclusions, heading};
use destage::{Effort, Grid, Input, Settings, compare};

use crate::args::DemoArguments;
use crate::errors::{Failure, command};
use crate::output::report::{Form, ResultFile, machine_form, page};
use crate::output::{self, summary};
use crate::progress::Progress;

/// The schemes of the demonstration, in addition to a run without a buffer. Names that the registry does not have
/// are skipped.
const SCHEMES: [&str; 8] = [
    "fifo", "lru", "fab", "bplru", "lb-clock", "bpac", "epo", "apu-lru",
];
/// Sizes from far below the size of the frequently written pages to about their size.
const SIZES: [&str; 3] = ["2MiB", "8MiB", "32MiB"];
const WORKLOAD: &str =
    "mixed:requests=200000,mean_interarrival_ms=4,stream_percent=2,random_pages=16384,skew=1";
/// A device that the workload nearly fills, so that garbage collection is needed.
const DEVICE: [&str; 1] = ["flash.blocks_per_plane=40"];

/// Runs the command.
pub(crate) fn run(arguments: &DemoArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let file = ResultFile::create(&arguments.output)?;
    let is_page = file.form() == Form::Html;
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
    let findings = conclusions(records);
    let content = |form| match form {
        Form::Json => results.to_json().into_bytes(),
        Form::Table(table) => table.of(records),
        Form::Html => page(
            &results.to_json(),
            Some("The effect of a write buffer on flash"),
        ),
    };
    file.fill_with(content)?.commit()?;
    match machine_form(arguments.machine) {
        Some(form) => output::print(&content(form)),
        None => output::show(&format!(
            "{}\n\n{}\n{}\n\n{}: {}\n",
            heading(records),
            summary::table(records),
            findings.join("\n"),
            match is_page {
                true => "Open the same results as a page in any browser",
                false => "The same results",
            },
            whole(&arguments.output).display()
        )),
    }
}

/// `path` as an absolute path, which a browser can open; unchanged if the system cannot resolve it.
fn whole(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
