//! The result of a search in sentences.

use std::fmt::Write as _;

use destage_sim::metrics::rows;

use super::{Answers, Goal, NO_BUFFER, SIZED_SCHEMES};
use crate::numbers;
use crate::record::Record;
use crate::words::{device, stopped};

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
/// have no metrics, so the answer is false if any run was ended early. Forecasts without a clock do not count.
fn has_none(answers: &Answers, goal: &Goal) -> bool {
    let lacks = |record: &Record| record.metrics.get(&goal.metric).is_none();
    let has_clock = |record: &&Record| !has_text(record, "sim.costing", "op_count");
    let mut missed = answers.missed.iter().filter(has_clock).peekable();
    answers.spent.ended == 0 && missed.peek().is_some() && missed.all(lacks)
}

/// Whether the parameter `key` of `record` is `text`.
fn has_text(record: &Record, key: &str, text: &str) -> bool {
    let value = record.parameters.get(key);
    value.is_some_and(|value| value.to_string() == text)
}

/// Whether a goal depends on the work of the flash although the run of `record` erased no block.
fn lacks_erases(answers: &Answers, record: &Record) -> bool {
    let depends = |goal: &Goal| goal.is_of_flash() || goal.is_of_times();
    record.number(rows::FLASH_ERASES.name) == Some(0.0) && answers.goals.iter().any(depends)
}

/// The records of all schemes that were compared.
fn records(answers: &Answers) -> impl Iterator<Item = &Record> {
    let all = answers.answers.iter().chain(&answers.bounds);
    let all = all.map(|answer| &answer.record);
    all.chain(&answers.missed).chain(&answers.failed)
}

/// The largest size, in words that follow a verb; empty if no scheme buffers pages.
fn up_to(answers: &Answers) -> String {
    let largest = answers.sizes.last();
    largest.map_or_else(String::new, |largest| {
        format!(" with up to {}", numbers::size(*largest))
    })
}

/// The largest number of schemes that a sentence names.
const NAMED_SCHEMES: usize = 8;

/// The names of the schemes that were compared, in alphabetical order.
fn names(answers: &Answers) -> Vec<&str> {
    let names = records(answers).map(|record| record.buffer.as_str());
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether the schemes that were compared are those that are compared by default.
fn are_of_papers(answers: &Answers) -> bool {
    let mut papers = SIZED_SCHEMES;
    papers.sort_unstable();
    names(answers) == papers
}

/// The input on a line, and the layer and the device on another. The records of forecasts may have no layer, so full
/// runs come first.
pub(super) fn heading(answers: &Answers) -> String {
    let best = answers.answers.iter().map(|answer| &answer.record);
    let all: Vec<&Record> = best
        .chain(&answers.closest)
        .chain(records(answers))
        .collect();
    let Some(first) = all.first() else {
        return String::new();
    };
    let with_layer = all.iter().filter(|record| record.ftl == first.ftl);
    let with_layer: Vec<Record> = with_layer.map(|record| (*record).clone()).collect();
    let device = device(&with_layer);
    format!("{}\nFTL {}, {device}", first.trace, first.ftl)
}

/// A duration that is given in milliseconds.
fn duration(milliseconds: f64) -> String {
    match milliseconds >= 10_000.0 {
        true => format!("{} s", numbers::real(milliseconds / 1000.0)),
        false => format!("{} ms", numbers::real(milliseconds)),
    }
}

/// The number of schemes that were compared, with their names if there are few.
fn schemes(answers: &Answers) -> String {
    let names = names(answers);
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

/// The sentence that no run reached the goals; `None` if all runs failed, so that nothing is known.
fn miss(answers: &Answers, goals: &str) -> Option<String> {
    if answers.missed.is_empty() {
        return None;
    }
    let up_to = up_to(answers);
    Some(match answers.untried.is_empty() {
        false => format!("No run reached {goals}{up_to} at the sizes that were tried."),
        true if answers.spent.runs < answers.grid => format!(
            "No run reached {goals}{up_to}; by their forecasts, the sizes that were not run in full miss it too."
        ),
        true => format!("No scheme reaches {goals}{up_to}."),
    })
}

/// The largest number of runs that a sentence names.
const NAMED_RUNS: usize = 3;

/// A sentence about the runs that miss the goals because they stopped before the end of their input; `None` if there
/// are none. Their values may meet the goals, so without this sentence the reader would look for an error.
fn stops(answers: &Answers) -> Option<String> {
    let mut runs = answers.missed.iter().filter_map(|record| {
        let why = stopped(record)?;
        Some(format!("{}: {why}", with_size(record)))
    });
    let named: Vec<String> = runs.by_ref().take(NAMED_RUNS).collect();
    let others = match runs.count() {
        0 => String::new(),
        others => format!("; and {}", counted(others, "other run")),
    };
    (!named.is_empty()).then(|| {
        format!(
            "A run that stops before the end of its input reaches no goal, whatever its values are: {}{others}.",
            named.join("; ")
        )
    })
}

/// The result of the search in sentences.
pub(super) fn conclusions(answers: &Answers) -> Vec<String> {
    let goals: Vec<_> = answers.goals.iter().map(Goal::to_string).collect();
    let goals = goals.join(" and ");
    let up_to = up_to(answers);
    let mut lines = Vec::new();
    let early = match answers.spent.ended {
        0 => String::new(),
        ended => format!(", {ended} of them ended early because the goals were out of reach"),
    };
    let at_sizes = match answers.sizes.len() {
        0 => String::new(),
        sizes => format!(" at {}", counted(sizes, "size")),
    };
    let mut tried = format!(
        "{}{at_sizes} were compared. That took {}{early}; a grid of all schemes and sizes has {}.",
        schemes(answers),
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
            " These schemes were not run in full, since they seem to need at least as large a buffer: {}.",
            unconfirmed.join(", ")
        );
    }
    if are_of_papers(answers) {
        tried.push_str(" These are the schemes that the papers compare; another may do with less (buffers = all compares all that can be built).");
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
    let Some(best) = answers.answers.iter().find(|answer| answer.confirmed) else {
        lines.extend(miss(answers, &goals));
        if let Some(run) = &answers.closest {
            let values = values(answers, run);
            lines.push(format!("The nearest run is {}: {values}.", with_size(run)));
        }
        lines.extend(stops(answers));
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
                sizes => format!(
                    " It is the smallest of the {sizes} sizes, so no smaller one was tried."
                ),
            },
            Some(Some(size)) => format!(
                " The next smaller of the {} sizes is {}.",
                answers.sizes.len(),
                numbers::size(*size)
            ),
        }
    ));
    if lacks_erases(answers, &best.record) {
        let is_filled = best
            .record
            .parameters
            .get("sim.precondition")
            .is_some_and(|fill| fill.to_string().starts_with("random"));
        let filled = match is_filled {
            true => "",
            false => {
                ", or a device that is overwritten before the run (sim.precondition = random_fill:1)"
            }
        };
        lines.push(format!("The run of this answer erased no block, so no garbage was collected: a longer input, or a smaller device{filled}, may need another buffer."));
    }
    lines.extend(untried(answers));
    let next = answers.answers.get(1).filter(|next| next.confirmed);
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
            "Of the others, {nearest} came nearest to the goal there, and does not reach it{up_to}. Whether another scheme reaches it was not tried."
        ),
        (None, None) if answers.missed.is_empty() && answers.failed.is_empty() => {
            match answers.bounds.is_empty() {
                true => "No other scheme was tried.".to_owned(),
                false => "No other scheme was tried, apart from bounds.".to_owned(),
            }
        }
        (None, None) if answers.spent.runs < answers.grid => format!(
            "No run of another scheme reached the goal{up_to}; by their forecasts, the other sizes miss it as well."
        ),
        (None, None) => {
            format!("None of the other schemes reaches the goal{up_to}.")
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
    if let Some(record) = answers.sensitivity.without_buffer.as_ref()
        && record.error.is_none()
    {
        let values = values(answers, record);
        lines.push(match answers.goals.iter().all(|goal| goal.is_met_by(record)) {
            true => format!("Without a buffer ({NO_BUFFER}) the device reaches {goals}, too: {values}. So no buffer is needed for that."),
            false => format!("Without a buffer ({NO_BUFFER}) the device does not reach {goals}: {values}."),
        });
    }
    let sums = answers.sums();
    for (when, record, sums) in [
        (
            "At twice the load",
            &answers.sensitivity.twice_the_load,
            &[][..],
        ),
        (
            "On the second half of the input",
            &answers.sensitivity.second_half,
            &sums[..],
        ),
    ] {
        let Some(record) = record else { continue };
        if let Some(error) = &record.error {
            lines.push(format!("{when} the scheme cannot be run: {error}."));
            continue;
        }
        let values = values(answers, record);
        lines.push(match sums {
            [] if answers.hold_in(record) => {
                format!("{when} the scheme still reaches the goal: {values}.")
            }
            [] => format!("{when} the scheme does not reach the goal: {values}."),
            _ => format!(
                "{when} the scheme has {values}. That is not compared with the goal, because {} over the requests.",
                match sums {
                    [only] => format!("{only} adds up"),
                    several => format!("{} add up", several.join(" and ")),
                }
            ),
        });
    }
    lines.extend(stops(answers));
    let at_risk = best.record.number("device.at_risk_bytes_max");
    let oldest = best.record.number("buffer.oldest_dirty_ms_max");
    if let Some((bytes, age)) = at_risk.zip(oldest) {
        let has_capacitor = has_text(&best.record, "buffer.flush_mode", "ignore");
        lines.push(format!(
            "A loss of power {} at most {}{}, the oldest of it {} old{}.",
            match has_capacitor {
                true => "would destroy",
                false => "destroys",
            },
            numbers::size(bytes as u64),
            match bytes as u64 > best.bytes {
                true => " (the buffer, and pages on their way to flash)",
                false => "",
            },
            duration(age),
            match has_capacitor {
                true => ", without the capacitor that buffer.flush_mode = ignore assumes",
                false => "",
            }
        ));
    }
    let buffers = best.record.buffer != NO_BUFFER;
    if let Some(hold_up) = answers.hold_up.filter(|_| buffers) {
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
