//! `destage drive check`: a profile compared with what a drive was measured to do.

use std::time::Instant;

use destage::drive::{self, Check, CheckPlan, Compared, Measurements, Scale, Shape};
use destage::{Effort, Settings};

use crate::args::DriveCheckArguments;
use crate::errors::{Failure, command, warn};
use crate::output::report::check_distinct;
use crate::output::table::{Side, Table};
use crate::output::{self, numbers};
use crate::progress::Progress;
use destage::files::PendingFile;

/// Columns that tell the rows of a file apart, by its shape.
fn telling(shape: Shape) -> &'static [&'static str] {
    match shape {
        Shape::Latency => &["offered_writes_per_s"],
        Shape::Fill => &["run", "used_gib", "pattern", "drive_writes"],
        Shape::Depth => &["iodepth", "jobs"],
        Shape::Rates => &["capacity"],
    }
}

/// What is shown row by row: everything but percentiles that people rarely ask for, which stand in JSON and CSV.
fn is_shown(compared: &Compared) -> bool {
    let shown = ["p50", "p90", "p99", "p99.9"];
    match compared.what.split_once(' ') {
        Some(("read" | "write", percentile)) => shown.contains(&percentile),
        _ => true,
    }
}

/// Runs `destage drive check`.
pub(crate) fn check(arguments: &DriveCheckArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let against = arguments.against.as_path();
    let output = arguments.output.as_ref();
    let outputs: Vec<_> = output.iter().map(|path| ("-o", *path)).collect();
    check_distinct(&outputs, &[against])?;
    let is_json = match output.map(|path| path.extension().and_then(|ending| ending.to_str())) {
        None | Some(Some("json")) => true,
        Some(Some("csv")) => false,
        Some(_) => {
            let path = output.map_or_else(Default::default, |path| path.display().to_string());
            return Err(Failure::input(format!(
                "-o {path}: the ending names no form of these results; expected .json or .csv"
            )));
        }
    };
    let mut settings = Settings::new();
    settings.load_profile(&arguments.profile)?;
    for pair in &arguments.set {
        settings.set_pair(pair)?;
    }
    let measurements = Measurements::read(against, arguments.drive.as_deref())?;
    let file = output.map(|path| PendingFile::create(path)).transpose()?;
    let progress = Progress::new(arguments.noise, None);
    let plan = CheckPlan {
        scale: Scale {
            superblocks: arguments.superblocks,
            ..Scale::default()
        },
        requests: arguments.requests,
        ..CheckPlan::new(settings)
    };
    let effort = Effort {
        threads: arguments.threads.map_or(0, usize::from),
        progress: &progress,
        ..Effort::default()
    };
    let checked = drive::check(measurements, &plan, &effort);
    drop(progress);
    let mut checked = checked?;
    checked.manifest.command = command();
    checked.manifest.wall_time_s = started.elapsed().as_secs_f64();
    checked.left_out.iter().for_each(warn);
    if let Some(mut file) = file {
        file.put(match is_json {
            true => checked.to_json().into_bytes(),
            false => checked.to_csv().into_bytes(),
        })?;
        file.commit()?;
    }
    match arguments.json {
        true => output::print(checked.to_json().as_bytes()),
        false => output::show(&for_people(&checked, &arguments.profile)),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// The summary, and below it the rows.
fn for_people(checked: &Check, profile: &str) -> String {
    let measurements = &checked.measurements;
    let heading = format!(
        "{}: {}, compared with {profile}\n{}",
        measurements.drive(),
        measurements.shape.words(),
        checked.manifest.line(),
    );
    let mut summary = Table::new(vec![Side::Left, Side::Right, Side::Right, Side::Right]);
    summary.row(["error of", "rows", "median %", "90 % within %"]);
    summary.rule();
    for of in checked.summary() {
        let cells = [
            of.what,
            of.rows.to_string(),
            percent(of.median),
            percent(of.p90),
        ];
        summary.row(cells);
    }
    let columns = telling(measurements.shape);
    let sides = columns.iter().map(|_| Side::Left).chain([Side::Left]);
    let mut rows = Table::new(sides.chain([Side::Right; 3]).collect());
    let heads = columns.iter().copied();
    rows.row(heads.chain(["what", "measured", "modelled", "error %"]));
    rows.rule();
    for compared in checked.rows.iter().filter(|compared| is_shown(compared)) {
        let row = &measurements.rows[compared.row];
        let texts = columns
            .iter()
            .map(|column| measurements.text(row, column).to_owned());
        let value = |value: Option<f64>| value.map_or("-".to_owned(), numbers::real);
        let error = compared
            .error
            .map_or("-".to_owned(), |error| format!("{:+.1}", 100.0 * error));
        let rest = [
            compared.what.clone(),
            value(Some(compared.measured)),
            value(compared.modelled),
            error,
        ];
        rows.row(texts.chain(rest));
    }
    let note = match measurements.shape {
        Shape::Latency => {
            "Latencies are in us. Summed up are the loads below saturation, where the drive did less than 98 % of the most it did; the table shows all loads.\n"
        }
        Shape::Fill | Shape::Depth | Shape::Rates => "",
    };
    format!("{heading}\n\n{}\n{}{note}", summary.text(), rows.text())
}
