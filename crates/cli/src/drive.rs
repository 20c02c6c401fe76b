//! `destage drive check` and `destage drive fit`: compare a profile with measurements of a drive, or fit a profile to
//! the measurements.

use std::path::Path;
use std::time::Instant;

use destage::drive::{
    self, Check, CheckPlan, Compared, Fit, FitPlan, Measurements, Scale, Shape, Summary, Use,
};
use destage::{Effort, Settings};

use crate::args::{DriveCheckArguments, DriveFitArguments, ModelledDrive};
use crate::choices;
use crate::errors::{Failure, command, of_profile, warn};
use crate::output::report::check_distinct;
use crate::output::table::{Side, Table};
use crate::output::{self, numbers};
use crate::progress::Progress;
use destage::files::PendingFile;

/// The columns that identify a row, for each shape of file.
fn telling(shape: Shape) -> &'static [&'static str] {
    match shape {
        Shape::Latency => &["offered_writes_per_s"],
        Shape::Fill => &["run", "used_gib", "pattern", "drive_writes"],
        Shape::Depth => &["block_bytes", "iodepth", "jobs"],
        Shape::Rates => &["capacity"],
    }
}

/// Whether the table shows this metric. Rarely used percentiles are only in JSON and CSV.
fn is_shown(compared: &Compared) -> bool {
    let shown = ["p50", "p90", "p99", "p99.9"];
    match compared.what.split_once(' ') {
        Some(("read" | "write", percentile)) => shown.contains(&percentile),
        _ => true,
    }
}

/// The settings of `profile`, which the command calls `name`, overridden by the `pairs` of the command line.
pub(crate) fn settings(name: &str, profile: &str, pairs: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::new();
    let loaded = settings.load_profile(profile);
    loaded.map_err(|error| of_profile(name, error))?;
    for pair in pairs {
        settings.set_pair(pair)?;
    }
    Ok(settings)
}

fn scale(model: &ModelledDrive) -> Scale {
    Scale {
        superblocks: model.superblocks,
        ..Scale::default()
    }
}

fn effort<'a>(model: &ModelledDrive, progress: &'a Progress) -> Effort<'a> {
    Effort {
        threads: model.threads.map_or(0, usize::from),
        progress,
        ..Effort::default()
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
    let settings = settings("PROFILE", &arguments.profile, &arguments.model.set)?;
    let measurements = Measurements::read(against, arguments.drive.as_deref())?;
    let file = output.map(|path| PendingFile::create(path)).transpose()?;
    let progress = Progress::new(arguments.noise, None);
    let plan = CheckPlan {
        scale: scale(&arguments.model),
        requests: arguments.requests,
        ..CheckPlan::new(settings)
    };
    let effort = effort(&arguments.model, &progress);
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

/// Runs `destage drive fit`.
pub(crate) fn fit(arguments: &DriveFitArguments) -> Result<(), Failure> {
    let started = Instant::now();
    let output = &arguments.output;
    let settings = settings("--start", &arguments.start, &arguments.model.set)?;
    let profiles = choices::files_of_profile(&arguments.start)?;
    let inputs: Vec<_> = arguments.files.iter().cloned().chain(profiles).collect();
    check_distinct(&[("-o", output)], &inputs)?;
    if output.extension().is_none_or(|ending| ending != "toml") {
        return Err(Failure::input(format!(
            "-o {}: the name of a profile has to end in .toml; expected such a name",
            output.display()
        )));
    }
    let mut files = Vec::new();
    for path in &arguments.files {
        files.push(Measurements::read(path, arguments.drive.as_deref())?);
    }
    let mut file = PendingFile::create(output)?;
    let progress = Progress::new(arguments.noise, None);
    let plan = FitPlan {
        scale: scale(&arguments.model),
        requests: arguments.requests,
        all_rows: arguments.all_rows,
        ..FitPlan::new(settings, arguments.start.clone())
    };
    let effort = effort(&arguments.model, &progress);
    let fitted = drive::fit(files, &plan, &effort);
    drop(progress);
    let mut fitted = fitted?;
    fitted.manifest.command = command();
    fitted.manifest.wall_time_s = started.elapsed().as_secs_f64();
    let left_out = fitted.checks.iter().flat_map(|check| &check.left_out);
    left_out.for_each(warn);
    file.put(fitted.profile.clone().into_bytes())?;
    file.commit()?;
    match arguments.json {
        true => output::print(fitted.to_json().as_bytes()),
        false => output::show(&fitted_for_people(&fitted, output)),
    }
}

/// The fitted numbers, a summary of the errors on the rows that were not used for the fit, and all rows, as text.
fn fitted_for_people(fitted: &Fit, output: &Path) -> String {
    let mut numbers_table = Table::new(vec![
        Side::Left,
        Side::Right,
        Side::Right,
        Side::Right,
        Side::Left,
    ]);
    numbers_table.row(["fitted", "value", "low", "high", "not told apart from"]);
    numbers_table.rule();
    for of in &fitted.parameters {
        let [value, low, high] = [of.value, of.low, of.high].map(numbers::real);
        numbers_table.row([of.key.clone(), value, low, high, of.tied.join(", ")]);
    }
    let drive = fitted
        .checks
        .first()
        .map(|check| check.measurements.drive());
    let mut text = format!(
        "{}: fitted in {} trials, written to {}\n{}\n\n{}\n{}",
        drive.unwrap_or_default(),
        fitted.trials,
        output.display(),
        fitted.manifest.line(),
        numbers_table.text(),
        summary_text(&fitted.summary()),
    );
    for (check, uses) in fitted.checks.iter().zip(&fitted.uses) {
        text.push('\n');
        text.push_str(&rows_text(check, Some(uses)));
    }
    text
}

/// The summary of a check, and below it the rows, as text.
fn for_people(checked: &Check, profile: &str) -> String {
    let measurements = &checked.measurements;
    let heading = format!(
        "{}: {}, compared with {profile}\n{}",
        measurements.drive(),
        measurements.shape.words(),
        checked.manifest.line(),
    );
    let note = match measurements.shape {
        Shape::Latency => {
            "Latencies are in us. The summary covers the loads below saturation, which is where the drive delivered less than 98 % of its saturated rate; the table shows all loads.\n"
        }
        Shape::Fill | Shape::Depth | Shape::Rates => "",
    };
    format!(
        "{heading}\n\n{}\n{}{note}",
        summary_text(&checked.summary()),
        rows_text(checked, None)
    )
}

fn summary_text(summary: &[Summary]) -> String {
    let mut table = Table::new(vec![Side::Left, Side::Right, Side::Right, Side::Right]);
    table.row(["error of", "rows", "median %", "90 % within %"]);
    table.rule();
    for of in summary {
        let cells = [
            of.what.clone(),
            of.rows.to_string(),
            percent(of.median),
            percent(of.p90),
        ];
        table.row(cells);
    }
    table.text()
}

/// The rows of a check as a table. For a fit, a column says what each row was used for.
fn rows_text(checked: &Check, uses: Option<&Vec<Use>>) -> String {
    let measurements = &checked.measurements;
    let columns = telling(measurements.shape);
    let sides = columns.iter().map(|_| Side::Left).chain([Side::Left]);
    let sides = sides
        .chain([Side::Right; 3])
        .chain(uses.map(|_| Side::Left));
    let mut rows = Table::new(sides.collect());
    let heads = columns.iter().copied();
    let heads = heads.chain(["what", "measured", "modelled", "error %"]);
    rows.row(heads.chain(uses.map(|_| "for")));
    rows.rule();
    for (place, compared) in checked.rows.iter().enumerate() {
        if !is_shown(compared) {
            continue;
        }
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
        let of = uses.map(|uses| uses[place].word().to_owned());
        rows.row(texts.chain(rest).chain(of));
    }
    rows.text()
}
