//! `destage run --payload --cut-at-...`: cuts the power, and compares the contents after the mount with the
//! promises.

use destage::base::time::to_ms;
use destage::{Combination, CutAt, CutOutcome, CutPlan, Input, Observer};
use destage_sim::power::time_of_ms;
use destage_trace::request::SECTOR_BYTES;

use crate::args::{Noise, PowerArguments};
use crate::errors::{Failure, command};
use crate::output;
use crate::output::numbers;
use crate::output::table::{Side, Table};
use crate::progress::Progress;

impl PowerArguments {
    /// The planned cut; `None` if there is none.
    pub(crate) fn plan(&self, seed: u64) -> Result<Option<CutPlan>, Failure> {
        let time = self.cut_at_ms.map(|ms| {
            let time = time_of_ms(ms);
            time.ok_or_else(|| {
                Failure::input(format!(
                    "--cut-at-ms {ms}: expected milliseconds from 0 to 10^14"
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

/// Runs until the power fails as `plan` says, and prints the result.
pub(crate) fn cut(
    input: &Input,
    combination: &Combination,
    plan: &CutPlan,
    noise: Noise,
    json: bool,
    observer: &mut dyn Observer,
) -> Result<(), Failure> {
    let progress = Progress::new(noise, input.expected_requests());
    let outcome = destage::cut(input, combination, plan, &progress, observer);
    drop(progress);
    let mut outcome = outcome?;
    outcome.manifest.command = command();
    if json {
        output::print(outcome.to_json().as_bytes())?;
    } else {
        output::show(&for_people(&outcome))?;
    }
    match outcome.result.bad.len() {
        0 => Ok(()),
        bad => Err(Failure::Internal(format!(
            "{bad} sectors do not hold what was promised: this is a bug in destage; please report it with the command"
        ))),
    }
}

fn for_people(outcome: &CutOutcome) -> String {
    let CutOutcome { plan, result, .. } = outcome;
    let ms = |ticks: u64| format!("{:.4} ms", to_ms(ticks));
    let mut table = Table::new(vec![Side::Left, Side::Right]);
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
    let mut text = table.text();
    if result.counts.must == 0 {
        text.push_str("\nNo sector had a promise: no write was followed by an answered flush, and no forced write was answered. trace.flush_every_writes adds flushes to a trace.\n");
    }
    text
}
