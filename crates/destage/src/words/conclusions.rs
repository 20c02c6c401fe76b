//! Conclusions from the metrics of several runs, in sentences.

use destage_sim::metrics::rows;

use super::{short, warnings};
use crate::numbers;
use crate::record::Record;

/// Conclusions from the metrics of `records`, in sentences, for each trace and translation layer separately. A single
/// run gives no conclusion, because there is no other run for a comparison. Failed runs and bounds are left out. Runs
/// with warnings are also left out, and the last sentence gives their number.
#[must_use]
pub fn conclusions(records: &[Record]) -> Vec<String> {
    let finished = || records.iter().filter(|record| record.error.is_none());
    let is_warned = |record: &&Record| !warnings(std::slice::from_ref(*record)).is_empty();
    let warned = finished().filter(is_warned).count();
    let mut sentences = of_groups(finished().filter(|record| !is_warned(record)));
    if warned > 0 && finished().count() > 1 {
        sentences.push(format!(
            "{warned} of {} runs have warnings, and no conclusion is drawn from them.",
            finished().count()
        ));
    }
    sentences
}

/// Conclusions from the metrics of `records`, without regard to warnings.
fn of_groups<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<String> {
    let mut groups: Vec<((&str, &str), Vec<&Record>)> = Vec::new();
    for record in records.filter(|record| !record.is_of_bound()) {
        let of = (record.trace.as_str(), record.ftl.as_str());
        match groups.iter_mut().find(|(other, _)| *other == of) {
            Some((_, group)) => group.push(record),
            None => groups.push((of, vec![record])),
        }
    }
    let is_one = groups.len() == 1;
    let sentences = groups.iter().flat_map(|((trace, ftl), group)| {
        let of_group = of_group(group).into_iter();
        of_group.map(move |sentence| match is_one {
            true => sentence,
            false => format!("{}, FTL {ftl}: {sentence}", short(trace)),
        })
    });
    sentences.collect()
}

fn of_group(records: &[&Record]) -> Vec<String> {
    let mut sentences = Vec::new();
    let buffered = || {
        let records = records.iter().copied();
        records.filter(|record| record.capacity().is_some())
    };
    let Some(largest) = buffered().filter_map(Record::capacity).max() else {
        return sentences;
    };
    let Some(smallest) = buffered().filter_map(Record::capacity).min() else {
        return sentences;
    };
    let response = |record: &Record| {
        record
            .number(&rows::RESPONSE.of("mean"))
            .unwrap_or(f64::INFINITY)
    };
    let at = |size: u64| buffered().filter(move |record| record.capacity() == Some(size));
    let fastest = |size: u64| at(size).min_by(|a, b| response(a).total_cmp(&response(b)));
    let without = records.iter().find(|record| record.capacity().is_none());
    let best = fastest(largest);
    // Without a clock there are no response times.
    let is_timed = |record: &&Record| response(record) > 0.0 && response(record).is_finite();
    if let (Some(best), Some(without)) = (best.filter(is_timed), without) {
        sentences.push(format!(
            "With {} of buffer, {} answers in {} ms on average; without a buffer it is {} ms{}.",
            numbers::bytes(largest),
            best.buffer,
            numbers::real(response(best)),
            numbers::real(response(without)),
            change(
                "erases",
                without.number(rows::FLASH_ERASES.name),
                best.number(rows::FLASH_ERASES.name)
            ),
        ));
    }
    if let Some(best) = best.filter(|_| smallest < largest) {
        let small = at(smallest).find(|record| record.buffer == best.buffer);
        let hits = small
            .and_then(Record::write_hit_percent)
            .zip(best.write_hit_percent());
        if let Some((few, many)) = hits.filter(|(few, many)| few != many) {
            let is_named = without.is_some() && is_timed(&best);
            let who = if is_named { "it" } else { &best.buffer };
            sentences.push(format!(
                "From {} to {}, the share of page writes that {who} absorbs goes from {few:.1} % to {many:.1} %.",
                numbers::bytes(smallest),
                numbers::bytes(largest)
            ));
        }
    }
    if let (Some(best), Some(worst)) = (
        fastest(smallest).filter(is_timed),
        at(smallest).max_by(|a, b| response(a).total_cmp(&response(b))),
    ) && response(best) < response(worst)
    {
        sentences.push(format!(
            "At {}, the choice of scheme alone makes a difference of a factor of {}: {} ms with {}, {} ms with {}.",
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

/// The text `, and erases go from 9 to 3` for `what` = `erases`. Empty if a value is unknown or the values are equal.
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

/// Conclusions from the points of curves. They name the scheme that absorbs most page writes with the largest buffer,
/// and the size at which this scheme already absorbs nearly as many.
#[must_use]
pub fn of_curves(records: &[Record]) -> Vec<String> {
    let hits = |record: &&Record| Some((record.capacity()?, record.write_hit_percent()?));
    let chosen = records.iter().filter(|record| !record.is_of_bound());
    let sized = chosen.filter(|record| hits(record).is_some());
    let sized: Vec<&Record> = sized.collect();
    let Some(largest) = sized.iter().filter_map(|record| record.capacity()).max() else {
        return Vec::new();
    };
    let share = |record: &&&Record| record.write_hit_percent().unwrap_or(0.0);
    let at = || {
        sized
            .iter()
            .filter(|record| record.capacity() == Some(largest))
    };
    let better = |a: &&&Record, b: &&&Record| share(a).total_cmp(&share(b));
    // Of several equally good schemes, the first one is named.
    let best = at().rev().max_by(better);
    let (Some(best), Some(worst)) = (best, at().min_by(better)) else {
        return Vec::new();
    };
    let mut sentences = vec![match share(&best) > share(&worst) {
        true => format!(
            "With {}, {} absorbs {:.1} % of page writes and {} {:.1} %.",
            numbers::size(largest),
            best.buffer,
            share(&best),
            worst.buffer,
            share(&worst)
        ),
        false => format!(
            "With {}, {} absorbs {:.1} % of page writes.",
            numbers::size(largest),
            best.buffer,
            share(&best)
        ),
    }];
    let mut own = sized.iter().filter(|record| record.buffer == best.buffer);
    let nearly = own.find(|record| share(record) >= NEARLY * share(&best));
    if let Some(size) = nearly
        .and_then(|record| record.capacity())
        .filter(|size| *size < largest && share(&best) > 0.0)
    {
        sentences.push(format!(
            "{} reaches nine tenths of that with {}.",
            best.buffer,
            numbers::size(size)
        ));
    }
    sentences
}

/// A size absorbs nearly as many page writes as the largest buffer if it has this fraction of the hits of the largest
/// buffer.
const NEARLY: f64 = 0.9;
