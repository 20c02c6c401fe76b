//! The result of a search in sentences.

use std::fmt::Write as _;

use destage_sim::metrics::rows;

use super::{Answers, Goal};
use crate::numbers;
use crate::record::Record;

/// The values of the goals' metrics in `record`, in words.
fn values(answers: &Answers, record: &Record) -> String {
    let value = |goal: &Goal| match record.metrics.get(&goal.metric) {
        Some(number) => format!("{} = {}", goal.metric, numbers::metric(number)),
        None => format!("{} has no meaning", goal.metric),
    };
    let mut all: Vec<_> = answers.goals.iter().map(value).collect();
    if record.stopped_early() {
        all.push("in the part of the input that was served before the run stopped".to_owned());
    }
    all.join(", ")
}

fn with_size(record: &Record) -> String {
    match record.capacity() {
        Some(bytes) => format!("{} with {}", record.buffer, numbers::size(bytes)),
        None => record.buffer.clone(),
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Whether no run has the metric of `goal`, for example because the input has no reads. Runs that were ended early
/// have no metrics, so the answer is false if any run was ended early.
fn has_none(answers: &Answers, goal: &Goal) -> bool {
    let knows = |record: &Record| record.metrics.get(&goal.metric).is_some();
    answers.spent.ended == 0 && !answers.missed.iter().any(knows)
}

/// Whether a goal is about the work of the flash although the run of `record` erased no block.
fn lacks_erases(answers: &Answers, record: &Record) -> bool {
    let is_of_flash = |goal: &Goal| {
        let mut sections = ["waf.", "flash.", "ftl.", "wear."].iter();
        sections.any(|section| goal.metric.starts_with(section))
    };
    record.number(rows::FLASH_ERASES.name) == Some(0.0) && answers.goals.iter().any(is_of_flash)
}

/// The largest number of schemes that a sentence names.
const NAMED_SCHEMES: usize = 8;

/// The number of schemes that were compared, with their names if there are few.
fn schemes(answers: &Answers) -> String {
    let all = answers.answers.iter().chain(&answers.bounds);
    let all = all.map(|answer| &answer.record);
    let all = all.chain(&answers.missed).chain(&answers.failed);
    let mut names: Vec<&str> = all.map(|record| record.buffer.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    match names.len() {
        1 => format!("Runs of {}", names[0]),
        several @ 2..=NAMED_SCHEMES => format!("{several} schemes ({})", names.join(", ")),
        several => format!("{several} schemes"),
    }
}

/// A sentence about the sizes that were not tried; `None` if there are no such sizes.
fn untried(answers: &Answers) -> Option<String> {
    let of = |(buffer, sizes): &(String, Vec<u64>)| format!("{} of {buffer}", sizes.len());
    let untried: Vec<_> = answers.untried.iter().map(of).collect();
    (!untried.is_empty()).then(|| {
        let which = match answers.answers.is_empty() {
            true => "Sizes",
            false => "Smaller sizes",
        };
        format!(
            "{which} that were not tried, on the assumption that a larger buffer does better: {}.",
            untried.join(", ")
        )
    })
}

/// The result of the search in sentences.
pub(super) fn conclusions(answers: &Answers) -> Vec<String> {
    let goals: Vec<_> = answers.goals.iter().map(Goal::to_string).collect();
    let goals = goals.join(" and ");
    let largest = answers.sizes.last().copied().unwrap_or(0);
    let mut lines = Vec::new();
    let early = match answers.spent.ended {
        0 => String::new(),
        ended => format!(", {ended} of them ended early because the goals were out of reach"),
    };
    let mut tried = format!(
        "{} at {} were compared. That took {}{early}; a grid of all schemes and sizes has {}.",
        schemes(answers),
        counted(answers.sizes.len(), "size"),
        counted(answers.spent.runs, "full run"),
        answers.grid
    );
    if answers.spent.trials > 0 {
        // Writing to a string cannot fail.
        let _ = write!(
            tried,
            " {} without a clock, or on an excerpt of the input, chose which sizes to run in full.",
            counted(answers.spent.trials, "run")
        );
    }
    let unconfirmed = answers.answers.iter().filter(|answer| !answer.confirmed);
    let unconfirmed: Vec<_> = unconfirmed
        .map(|answer| answer.record.buffer.clone())
        .collect();
    if !unconfirmed.is_empty() {
        let _ = write!(
            tried,
            " Not run in full, since they seem to need as large a buffer or a larger one: {}.",
            unconfirmed.join(", ")
        );
    }
    let failed = answers.failed.iter().map(|record| {
        let error = record.error.as_ref().map(ToString::to_string);
        format!(
            "It is not known whether {} reaches {goals}: its run with {} failed: {}.",
            record.buffer,
            numbers::size(record.capacity().unwrap_or(0)),
            error.unwrap_or_default()
        )
    });
    let failed: Vec<String> = failed.collect();
    let Some(best) = answers.answers.first() else {
        let largest = numbers::size(largest);
        lines.push(match answers.untried.is_empty() {
            true => format!("No scheme reaches {goals} with up to {largest}."),
            false => {
                format!("No scheme reaches {goals} at the sizes that were tried, up to {largest}.")
            }
        });
        if let Some(run) = &answers.closest {
            let values = values(answers, run);
            lines.push(format!("The nearest run is {}: {values}.", with_size(run)));
        }
        lines.extend(untried(answers));
        let unknown = answers.goals.iter().filter(|goal| has_none(answers, goal));
        lines.extend(unknown.map(|goal| {
            format!(
                "No run has {}: there is nothing to measure it on.",
                goal.metric
            )
        }));
        lines.extend(failed);
        lines.push(tried);
        return lines;
    };
    let smaller = |capacity| answers.sizes.iter().rfind(|size| **size < capacity);
    lines.push(format!(
        "{} is the smallest buffer{} that reaches {goals}: {}.{}",
        with_size(&best.record),
        if answers.untried.is_empty() {
            ""
        } else {
            " tried"
        },
        values(answers, &best.record),
        match best.record.capacity().map(smaller) {
            None => String::new(),
            Some(None) => match answers.sizes.len() {
                1 => " No other size was tried.".to_owned(),
                sizes => format!(" It is the smallest of the {sizes} sizes."),
            },
            Some(Some(size)) => format!(
                " The next smaller of the {} sizes is {}.",
                answers.sizes.len(),
                numbers::size(*size)
            ),
        }
    ));
    if lacks_erases(answers, &best.record) {
        lines.push("The run of this answer erased no block, so no garbage was collected: a longer input, a smaller device, or a device that is filled before the run (sim.precondition), may need another buffer.".to_owned());
    }
    lines.extend(untried(answers));
    let next = answers.answers.get(1).filter(|next| next.confirmed);
    let largest = numbers::size(largest);
    let untried = "Whether another scheme needs less was not tried.";
    lines.push(match (next, &answers.nearest) {
        (Some(next), None) => format!(
            "Next comes {}: {}.",
            with_size(&next.record),
            values(answers, &next.record)
        ),
        (Some(next), Some(nearest)) => format!(
            "Of the others, {nearest} came nearest to the goal there. It reaches the goal with {}: {}. {untried}",
            numbers::size(next.bytes),
            values(answers, &next.record)
        ),
        (None, Some(nearest)) => format!(
            "Of the others, {nearest} came nearest to the goal there, and does not reach it with up to {largest}. Whether another scheme reaches it was not tried."
        ),
        (None, None) if answers.missed.is_empty() && answers.failed.is_empty() => {
            match answers.bounds.is_empty() {
                true => "No other scheme was tried.".to_owned(),
                false => "No other scheme was tried, apart from bounds.".to_owned(),
            }
        }
        (None, None) => {
            format!("None of the other schemes reaches the goal with up to {largest}.")
        }
    });
    if !answers.bounds.is_empty() {
        let bounds = answers.bounds.iter().map(|bound| with_size(&bound.record));
        let bounds: Vec<_> = bounds.collect();
        lines.push(format!(
            "These bounds, which no device can have, reach the goal: {}.",
            bounds.join(", ")
        ));
    }
    for (when, record) in [
        ("At twice the load", &answers.sensitivity.twice_the_load),
        (
            "On the second half of the input",
            &answers.sensitivity.second_half,
        ),
    ] {
        let Some(record) = record else { continue };
        if let Some(error) = &record.error {
            lines.push(format!("{when} the scheme cannot be run: {error}."));
            continue;
        }
        let verdict = if answers.hold_in(record) {
            "still reaches"
        } else {
            "does not reach"
        };
        lines.push(format!(
            "{when} the scheme {verdict} the goal: {}.",
            values(answers, record)
        ));
    }
    let at_risk = best.record.number("device.at_risk_bytes_max");
    let oldest = best.record.number("buffer.oldest_dirty_ms_max");
    if let Some((bytes, age)) = at_risk.zip(oldest) {
        lines.push(format!(
            "A loss of power destroys at most {}{}, the oldest of it {} ms old.",
            numbers::size(bytes as u64),
            match bytes as u64 > best.bytes {
                true => " (the buffer, and pages on their way to flash)",
                false => "",
            },
            numbers::real(age)
        ));
    }
    if let Some(hold_up) = answers.hold_up {
        let dump = numbers::real(hold_up.dump_ms);
        let dump = match hold_up.is_least {
            true => format!("at least {dump}"),
            false => dump,
        };
        let program = numbers::real(hold_up.program_ms);
        let line = match hold_up.energy {
            Some(energy) => format!(
                "To save a full buffer takes {dump} ms and {} mJ, which needs a capacitor of {} uF that discharges from 5 V to 3 V; garbage collection that is needed first comes on top.",
                numbers::real(energy.joules * 1e3),
                numbers::real(energy.capacitance_f * 1e6)
            ),
            None => format!(
                "To save a full buffer takes {dump} ms; garbage collection that is needed first comes on top. The energy is not known: flash.program_uj is the default, for flash that is programmed in 0.2 ms, but a program takes {program} ms here."
            ),
        };
        lines.push(line);
    }
    lines.extend(failed);
    lines.push(tried);
    lines
}
