//! Conclusions from the metrics of several runs, in sentences.

use std::collections::BTreeMap;

use destage_sim::metrics::rows;

use super::{short_names, warnings};
use crate::numbers;
use crate::record::Record;

/// Conclusions from the metrics of `records`, in sentences, for each trace and translation layer separately. A single
/// run gives no conclusion, because there is no other run for a comparison. Failed runs and bounds are left out. Runs
/// with warnings are also left out, and the last sentence gives their number.
#[must_use]
pub fn conclusions(records: &[Record]) -> Vec<String> {
    let finished = || records.iter().filter(|record| record.error.is_none());
    let is_warned = |record: &&Record| !warnings(std::slice::from_ref(*record)).is_empty();
    let left_out: Vec<&Record> = finished().filter(is_warned).collect();
    let mut sentences = of_groups(finished().filter(|record| !is_warned(record)), &left_out);
    let mut bounds: Vec<&str> = Vec::new();
    for record in finished().filter(|record| record.is_of_bound()) {
        if !bounds.contains(&record.buffer.as_str()) {
            bounds.push(&record.buffer);
        }
    }
    if !bounds.is_empty() && !sentences.is_empty() {
        let them = match bounds.len() {
            1 => "it. It bounds",
            _ => "them. They bound",
        };
        sentences.push(format!(
            "These sentences leave out {}: no device can implement {them} the write hits of other schemes, and no other metric.",
            bounds.join(" and ")
        ));
    }
    if !left_out.is_empty() && finished().count() > 1 {
        let (have, them) = match left_out.len() {
            1 => ("has", "it"),
            _ => ("have", "them"),
        };
        sentences.push(format!(
            "{} of {} runs {have} warnings, and no conclusion is drawn from {them}.",
            left_out.len(),
            finished().count()
        ));
    }
    sentences
}

/// Conclusions from the metrics of `records`. The records `left_out` belong to the same comparison.
fn of_groups<'a>(records: impl Iterator<Item = &'a Record>, left_out: &[&Record]) -> Vec<String> {
    let mut groups: Vec<((&str, &str), Vec<&Record>)> = Vec::new();
    for record in records.filter(|record| !record.is_of_bound()) {
        let of = (record.trace.as_str(), record.ftl.as_str());
        match groups.iter_mut().find(|(other, _)| *other == of) {
            Some((_, group)) => group.push(record),
            None => groups.push((of, vec![record])),
        }
    }
    let is_one = groups.len() == 1;
    let names = &short_names(groups.iter().map(|((trace, _), _)| *trace));
    let sentences = groups.iter().flat_map(|((trace, ftl), group)| {
        let beside = |record: &&&Record| record.trace == *trace && record.ftl == *ftl;
        let beside: Vec<&Record> = left_out.iter().filter(beside).copied().collect();
        let of_group = of_group(group, &beside).into_iter();
        of_group.map(move |sentence| match is_one {
            true => sentence,
            false => format!("{}, FTL {ftl}: {sentence}", names[trace]),
        })
    });
    sentences.collect()
}

/// The mean response of a run in ms; infinite if the run has none.
fn response(record: &Record) -> f64 {
    let mean = record.number(&rows::RESPONSE.of("mean"));
    mean.unwrap_or(f64::INFINITY)
}

/// Conclusions from runs of one trace over one layer. `left_out` are further runs of the group, which have warnings.
fn of_group(records: &[&Record], left_out: &[&Record]) -> Vec<String> {
    let mut by_size: BTreeMap<u64, Vec<&Record>> = BTreeMap::new();
    for record in records.iter().copied() {
        if let Some(size) = record.capacity() {
            by_size.entry(size).or_default().push(record);
        }
    }
    // For each size, the record with the lowest mean response. Among equal records it is the one of the scheme that is
    // the best at the next smaller size, or else the first: with large buffers all schemes may be equal.
    let mut fastest: BTreeMap<u64, &Record> = BTreeMap::new();
    for (size, group) in &by_size {
        let before = fastest
            .last_key_value()
            .map(|(_, best)| best.buffer.as_str());
        let least = group
            .iter()
            .copied()
            .map(response)
            .fold(f64::INFINITY, f64::min);
        let mut equal = group
            .iter()
            .copied()
            .filter(|record| response(record) <= least);
        let kept = equal
            .clone()
            .find(|record| Some(record.buffer.as_str()) == before);
        if let Some(best) = kept.or_else(|| equal.next()) {
            fastest.insert(*size, best);
        }
    }
    let (Some((&smallest, &quick)), Some((&largest, &best))) =
        (fastest.first_key_value(), fastest.last_key_value())
    else {
        return Vec::new();
    };
    let at_smallest = || by_size.get(&smallest).into_iter().flatten().copied();
    let without = records.iter().find(|record| record.capacity().is_none());
    // Without a clock there are no response times.
    let is_timed = |record: &&Record| response(record) > 0.0 && response(record).is_finite();
    let mut sentences = Vec::new();
    if let (true, Some(without)) = (is_timed(&best), without) {
        sentences.push(format!(
            "With {} of buffer, {} has a mean response of {} ms; without a buffer it is {} ms{}.",
            numbers::bytes(largest),
            best.buffer,
            numbers::real(response(best)),
            numbers::real(response(without)),
            match best.number(rows::BUFFER_DESTAGED_PAGES.name) {
                // Nothing was written to flash. At the end of a longer run there would be erases.
                Some(0.0) => String::new(),
                _ => change(
                    "erases",
                    without.number(rows::FLASH_ERASES.name),
                    best.number(rows::FLASH_ERASES.name)
                ),
            },
        ));
    }
    if smallest < largest {
        let small = at_smallest().find(|record| record.buffer == best.buffer);
        let hits = small
            .and_then(Record::write_hit_percent)
            .zip(best.write_hit_percent());
        if let Some((few, many)) = hits.filter(|(few, many)| few != many) {
            sentences.push(format!(
                "From {} to {}, the share of page writes that {} absorbs goes from {few:.1} % to {many:.1} %.",
                numbers::bytes(smallest),
                numbers::bytes(largest),
                best.buffer
            ));
        }
    }
    let slow = at_smallest().max_by(|a, b| response(a).total_cmp(&response(b)));
    if let (true, Some(slow)) = (is_timed(&quick), slow)
        && response(quick) < response(slow)
    {
        sentences.push(format!(
            "At {}, the choice of scheme alone makes a difference of a factor of {} in the mean response: {} ms with {}, {} ms with {}.",
            numbers::bytes(smallest),
            numbers::real(response(slow) / response(quick)),
            numbers::real(response(quick)),
            quick.buffer,
            numbers::real(response(slow)),
            slow.buffer
        ));
        sentences.extend(best_by_size(&fastest, left_out));
    }
    sentences
}

/// Which scheme has the lowest mean response at which size, if there are several sizes. Nothing is said of a size at
/// which one of the runs `left_out` might be faster: its mean is lower, or it stopped early, so its mean is not that of
/// the whole input.
fn best_by_size(fastest: &BTreeMap<u64, &Record>, left_out: &[&Record]) -> Option<String> {
    let sizes = left_out.iter().filter_map(|record| record.capacity());
    let mut all: BTreeMap<u64, Option<&str>> = sizes.map(|size| (size, None)).collect();
    for (size, best) in fastest {
        let is_sure = left_out.iter().all(|record| {
            record.capacity() != Some(*size)
                || !record.stopped_early() && response(record) > response(best)
        });
        all.insert(*size, is_sure.then_some(best.buffer.as_str()));
    }
    let all: Vec<(u64, Option<&str>)> = all.into_iter().collect();
    let [(_, first), others @ ..] = all.as_slice() else {
        return None;
    };
    if others.is_empty() {
        return None;
    }
    if let Some(first) = first
        && others.iter().all(|(_, buffer)| *buffer == Some(first))
    {
        return Some(format!(
            "{first} has the lowest mean response at every size."
        ));
    }
    let parts = all.chunk_by(|(_, a), (_, b)| a == b).filter_map(|same| {
        let (from, to) = (same[0].0, same[same.len() - 1].0);
        let buffer = same[0].1?;
        Some(match from == to {
            true => format!("{buffer} at {}", numbers::bytes(from)),
            false => format!(
                "{buffer} from {} to {}",
                numbers::bytes(from),
                numbers::bytes(to)
            ),
        })
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty())
        .then(|| format!("The lowest mean response is that of {}.", parts.join(", ")))
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
/// and the size at which this scheme already absorbs nearly as many. `range` gives the interval in which the percentage
/// of write hits of a point lies: for an estimate that of its samples, and for an exact value the value itself. Points
/// whose intervals overlap are not ranked.
pub(crate) fn of_curves(
    records: &[Record],
    range: impl Fn(&Record) -> Option<[f64; 2]>,
) -> Vec<String> {
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
    let ranges = range(best).zip(range(worst));
    let differ = ranges.is_some_and(|([low, _], [_, high])| low > high);
    if !differ && share(&best) > share(&worst) {
        return vec![format!(
            "With {}, the samples do not tell which scheme absorbs most page writes: the estimates lie between {:.1} % ({}) and {:.1} % ({}), and {}.",
            numbers::size(largest),
            share(&worst),
            worst.buffer,
            share(&best),
            best.buffer,
            match ranges {
                Some(_) => "their intervals overlap",
                None => "they have no intervals",
            }
        )];
    }
    let mut sentences = vec![match differ {
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
            "{} reaches nine tenths of its share with {}.",
            best.buffer,
            numbers::size(size)
        ));
    }
    sentences
}

/// A size absorbs nearly as many page writes as the largest buffer if it has this fraction of the hits of the largest
/// buffer.
const NEARLY: f64 = 0.9;
