//! `destage run --payload --cut-at-...`: cuts the power, and compares the contents after the mount with the
//! promises.

use destage::base::time::to_ms;
use destage::{Combination, CutAt, CutOutcome, CutPlan, Input};
use destage_sim::power::time_of_ms;
use destage_trace::request::SECTOR_BYTES;

use crate::args::{Noise, PowerArguments};
use crate::errors::{Failure, command, first_of};
use crate::explain;
use crate::logs::Logs;
use crate::output;
use crate::output::numbers;
use crate::output::report::{Form, ResultFile, Table};
use crate::output::table::Side;
use crate::progress::Progress;
use crate::run::{of_watched, warn_about};

impl PowerArguments {
    /// The planned cut; `None` if there is none.
    pub(crate) fn plan(&self, seed: u64) -> Result<Option<CutPlan>, Failure> {
        let time = self.cut_at_ms.map(|ms| {
            let time = time_of_ms(ms);
            time.ok_or_else(|| {
                Failure::input(format!(
                    "--cut-at-ms {ms}: expected milliseconds from 0 to less than 10^11"
                ))
            })
        });
        let at = [
            self.cut_at_program.map(CutAt::Program),
            self.cut_at_write.map(CutAt::Write),
            self.cut_at_flush.map(CutAt::Flush),
            time.transpose()?.map(CutAt::Time),
        ];
        let at = at.into_iter().flatten().next();
        Ok(at.map(|at| CutPlan {
            at,
            seed: self.seed.unwrap_or(seed),
        }))
    }
}

/// What becomes of the result of a run that loses its power.
pub(crate) struct Results {
    /// The file of `-o`.
    pub(crate) file: Option<ResultFile>,
    /// The page or the timeline of the run up to the loss.
    pub(crate) page: Option<ResultFile>,
    /// Whether standard output has JSON in place of a text.
    pub(crate) json: bool,
}

/// Runs until the power fails as `plan` says, and prints the result.
pub(crate) fn cut(
    input: &Input,
    combination: &Combination,
    plan: &CutPlan,
    noise: Noise,
    results: Results,
    mut logs: Logs,
) -> Result<(), Failure> {
    let progress = Progress::new(noise, input.expected_requests());
    let done = match results.page {
        None => destage::cut(input, combination, plan, None, &progress, &mut logs)
            .map(|outcome| (outcome, None))
            .map_err(Failure::from),
        Some(page) => destage_report::watch_cut(input, combination, plan, &progress, &mut logs)
            .map_err(Failure::from)
            .and_then(|(outcome, watched)| {
                let page = page.fill_with(|form| of_watched(&watched, form))?;
                Ok((outcome, Some(page)))
            }),
    };
    drop(progress);
    // As in a run without a loss of power, the error of a log goes before the error of the run.
    let mut files = logs.finish()?;
    let (mut outcome, page) = done?;
    files.extend(page);
    outcome.manifest.command = command();
    warn_about(&outcome.manifest, &outcome.record, noise);
    let content = |form| match form {
        Form::Table(Table::MarkedUp(markup)) => table(&outcome).marked_up(markup).into_bytes(),
        _ => outcome.to_json().into_bytes(),
    };
    let file = results.file.map(|file| file.fill_with(content));
    for file in files.into_iter().chain(file.transpose()?) {
        file.commit()?;
    }
    let shown = match results.json {
        true => output::print(outcome.to_json().as_bytes()),
        false => output::show(&for_people(&outcome)),
    };
    let verdict = match outcome.result.bad.len() {
        0 => Ok(()),
        bad => Err(Failure::Internal(format!(
            "{bad} sectors do not hold what was promised: this is a bug in destage; please report it with the command"
        ))),
    };
    first_of([verdict, shown])
}

/// The counts and times of the loss of power.
fn table(outcome: &CutOutcome) -> output::table::Table {
    let CutOutcome { plan, result, .. } = outcome;
    let ms = |ticks: u64| format!("{:.4} ms", to_ms(ticks));
    let mut table = output::table::Table::new(vec![Side::Left, Side::Right]);
    let mut row = |name: &str, value: String| table.row([name, &value]);
    row("power failed at", plan.at.to_string());
    row("time", ms(result.time));
    row("requests accepted", result.requests[0].to_string());
    row("requests answered", result.requests[1].to_string());
    row("programs begun", result.programs.to_string());
    row("programs cut off", result.cut.programs.to_string());
    row("erases cut off", result.cut.erases.to_string());
    if let Some(dump) = &result.dump {
        row("pages saved by the capacitor", dump.pages.to_string());
        row(
            "pages that the capacitor did not save",
            dump.left.to_string(),
        );
        row("energy", format!("{:.6} J", dump.energy as f64 / 1e12));
        row("time of the dump", ms(dump.time));
    }
    row("time to mount", ms(result.mount.time));
    row("spare areas read", result.mount.spare_reads.to_string());
    row("sectors ever changed", result.counts.sectors.to_string());
    row("of these with a promise", result.counts.must.to_string());
    row("newer versions without one", result.counts.may.to_string());
    row(
        "sectors whose newest answered write is gone",
        format!(
            "{} ({})",
            result.lost_answered,
            numbers::size(result.lost_answered * SECTOR_BYTES)
        ),
    );
    for (name, count) in &result.lost {
        row(&format!("sectors lost: {name}"), count.to_string());
    }
    row("sectors not as promised", result.bad.len().to_string());
    table
}

fn for_people(outcome: &CutOutcome) -> String {
    let mut text = table(outcome).text();
    text.push_str(&format!("\n{}\n", outcome.conclusion()));
    if outcome.result.counts.must == 0 {
        text.push_str("\nNo sector had a promise: no write was followed by an answered flush, and no forced write was answered. trace.flush_every_writes adds flushes to a trace.\n");
    }
    text.push_str(&explain::of_run(&outcome.record));
    text
}
