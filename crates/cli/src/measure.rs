//! `destage drive measure`: the experiments on a drive.

use std::path::Path;

use destage::drive::{self, Cost, MeasurePlan, Measured, Modelled, SIMULATED, Scale, What};
use destage_base::parameter::read_bytes;
use destage_serve::measure::{Opened, open};

use crate::args::DriveMeasureArguments;
use crate::drive::settings;
use crate::errors::{Failure, report_line, warn};
use crate::output::table::{Side, Table};
use crate::output::{self, numbers};
use crate::progress::Progress;

/// Runs the command.
pub(crate) fn run(arguments: &DriveMeasureArguments) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    let Opened { mut target, holds } = opened(arguments)?;
    let target = &mut *target;
    let folder = arguments.output.as_path();
    let cost = plan.cost(target, folder)?;
    let shown = &arguments.drive;
    let may_go_on = cost.is_continued || arguments.overwrite || arguments.dry_run;
    if let (Some(holds), false) = (holds, may_go_on) {
        return Err(Failure::input(format!(
            "{shown}: {holds}, which a measurement would overwrite; expected an empty drive, or one that holds what an earlier measurement with -o {} has written, or --overwrite",
            folder.display()
        )));
    }
    if arguments.dry_run || !arguments.noise.quiet {
        let lines = announced(shown, &cost, target.is_real());
        if arguments.dry_run {
            return output::show(&(lines.join("\n") + "\n"));
        }
        for line in lines {
            report_line(&format!("destage: {line}"));
        }
    }
    let progress = Progress::new(arguments.noise, None);
    let tell = |step: &str| {
        if !arguments.noise.quiet {
            report_line(&format!("destage: {shown}: {step}"));
        }
    };
    let measured = drive::measure(target, &plan, folder, &progress, &tell);
    drop(progress);
    let measured = measured?;
    measured.left_out.iter().for_each(warn);
    if arguments.json {
        let path = folder.join("measured.json");
        let text = std::fs::read(&path);
        let text = text.map_err(|cause| Failure::input(format!("{}: {cause}", path.display())))?;
        return output::print(&text);
    }
    output::show(&for_people(&measured, folder))
}

/// The numbers that identify the drive, and the files that were written, as text.
fn for_people(measured: &Measured, folder: &Path) -> String {
    let mut text = String::new();
    if !measured.findings.values.is_empty() {
        let mut table = Table::new(vec![
            Side::Left,
            Side::Right,
            Side::Right,
            Side::Right,
            Side::Left,
        ]);
        table.row(["identified", "value", "low", "high", "unit"]);
        table.rule();
        for of in &measured.findings.values {
            let numbers = [of.value, of.low, of.high].map(numbers::real);
            let [value, low, high] = numbers;
            table.row([of.name.clone(), value, low, high, of.unit.clone()]);
        }
        text.push_str(&table.text());
        text.push('\n');
    }
    for sentence in &measured.findings.unknown {
        text.push_str(&format!("not identified: {sentence}\n"));
    }
    for file in &measured.files {
        text.push_str(&format!("{}\n", folder.join(file).display()));
    }
    text
}

fn plan(arguments: &DriveMeasureArguments) -> Result<MeasurePlan, Failure> {
    let what = What::named(&arguments.what, |word, names| {
        Failure::unknown(
            format!("--what {word}: no such experiment"),
            word,
            names.into_iter(),
        )
    })?;
    let used_bytes = arguments.extent.bytes.as_deref().map(|text| {
        read_bytes(text).ok_or_else(|| {
            Failure::input(format!(
                "--bytes {text}: expected a size in bytes, such as 64GiB"
            ))
        })
    });
    let default = MeasurePlan::of(&arguments.drive);
    Ok(MeasurePlan {
        name: arguments.name.clone(),
        what,
        used_bytes: used_bytes.transpose()?,
        passes: arguments.extent.passes,
        requests: arguments.extent.requests.unwrap_or(default.requests),
        seconds: arguments.extent.seconds,
        seed: arguments.extent.seed,
    })
}

/// Opens the drive that the user named.
fn opened(arguments: &DriveMeasureArguments) -> Result<Opened, Failure> {
    let text = arguments.drive.as_str();
    let Some(profile) = text.strip_prefix(SIMULATED) else {
        if let Some(pair) = arguments.set.first() {
            return Err(Failure::input(format!(
                "--set {pair}: {text} is no simulated drive, so its parameters cannot be set; expected model:PROFILE with --set"
            )));
        }
        return Ok(open(text, arguments.control.as_deref())?);
    };
    if let Some(control) = &arguments.control {
        return Err(Failure::input(format!(
            "--control {}: {text} counts its programmed bytes by itself; expected the URI of an NBD server with --control",
            control.display()
        )));
    }
    let settings = settings("the profile after model:", profile, &arguments.set)?;
    Ok(Opened {
        target: Box::new(Modelled::new(text, &settings, Scale::default())?),
        holds: None,
    })
}

/// Sentences that announce how much data the measurement will write, and how long it will take.
fn announced(drive: &str, cost: &Cost, is_real: bool) -> Vec<String> {
    let used = numbers::size(cost.used_bytes);
    let fills = cost.used_bytes.saturating_mul(cost.fills);
    let mut lines = vec![format!(
        "{drive}: the measurement uses {used}, whose contents are lost. It overwrites them {} times, {}, and its {} loads write at most {} more.",
        cost.fills,
        numbers::size(fills),
        cost.loads,
        numbers::size(cost.load_bytes),
    )];
    if is_real {
        let minutes = |seconds: f64| (seconds / 60.0).ceil();
        let at = |mib_per_s: f64| minutes(fills as f64 / mib_per_s / f64::from(1 << 20));
        lines.push(format!(
            "The loads take {} minutes at most; the writes before them take {} minutes at 1000 MiB/s, or {} at 100 MiB/s. If the measurement is interrupted, the same command continues it.",
            minutes(cost.load_seconds),
            at(1000.0),
            at(100.0),
        ));
    }
    lines
}
