//! The best buffers of a long table, in the same ranking as on the page of a comparison.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use destage::Record;
use destage::sim::metrics::rows;
use destage::words::warnings_of;

use crate::output::numbers;

/// In a table with more rows than this, a reader cannot easily find the best rows.
pub(crate) const MANY: usize = 30;
/// The largest number of schemes that the sentence names.
const FEW: usize = 5;

/// Runs can be compared if these are equal: trace, translation layer, and capacity in bytes.
type Place<'a> = (&'a str, &'a str, Option<u64>);

/// A buffer, and the mean over all places of its distance from the best buffer of the place.
struct Ranked<'a> {
    buffer: &'a str,
    behind: f64,
    /// The value of the buffer. It has a meaning only if there is a single place.
    value: f64,
}

fn value(record: &Record, metric: &str) -> Option<f64> {
    record.metrics.get(metric).map(|number| number.as_f64())
}

/// A sentence with the buffers that have the best values of the first metric in the usual table of `records`, and
/// the key with which `--sort` sorts by this metric. Bounds and runs with warnings are not ranked, nor are buffers that
/// lack a run at one of the places. `None` if fewer than two buffers can be ranked.
pub(crate) fn best(records: &[Record]) -> Option<(String, String)> {
    let response = rows::RESPONSE.of("mean");
    let is_timed = records
        .iter()
        .any(|record| value(record, &response).is_some());
    // If no run has a clock, the first metric is the percentage of write hits. More write hits are better.
    let metric = match is_timed {
        true => &response,
        false => rows::BUFFER_WRITE_HITS_PERCENT.name,
    };
    let is_ranked = |record: &&Record| !record.is_of_bound() && warnings_of(record).is_empty();
    let known = records.iter().filter(is_ranked);
    let known = known.filter_map(|record| Some((record, value(record, metric)?)));
    let known: Vec<(&Record, f64)> = known.collect();
    let is_factor = is_timed && known.iter().all(|(_, value)| *value > 0.0);
    let places = places(&known);
    let behind = |value: f64, best: f64| match is_factor {
        true => (value / best).ln(),
        false => (value - best).abs(),
    };
    let mut ranked = ranked(&known, &places, !is_timed, behind);
    if ranked.len() < 2 {
        return None;
    }
    // The sort is stable, so equal buffers keep the order of the records.
    ranked.sort_by(|a, b| a.behind.total_cmp(&b.behind));
    let unit = if is_timed { "ms" } else { "%" };
    let told = ranked.iter().take(FEW).map(|of| match places.len() {
        1 => format!("{} {} {unit}", of.buffer, numbers::real(of.value)),
        _ if is_factor => format!("{} {}", of.buffer, numbers::real(of.behind.exp())),
        _ => format!("{} {}", of.buffer, numbers::real(of.behind)),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    let sentence = match places.len() {
        1 => format!("The best {metric}: {told}."),
        _ => format!(
            "Nearest to the best {metric} over all {}, with the mean {} to it: {told}.",
            over(&places),
            if is_factor { "factor" } else { "difference" }
        ),
    };
    let sign = if is_timed { "" } else { "-" };
    Some((sentence, format!("{sign}{metric}")))
}

/// The places of `known`. Runs without a size have the same value at every size. So they add a place only if no run
/// with the same trace and layer has a size.
fn places<'a>(known: &[(&'a Record, f64)]) -> BTreeSet<Place<'a>> {
    let of = |(record, _): &(&'a Record, f64)| {
        (
            record.trace.as_str(),
            record.ftl.as_str(),
            record.capacity(),
        )
    };
    let all: BTreeSet<Place<'a>> = known.iter().map(of).collect();
    let is_sized = |(trace, ftl, size): &Place<'a>| {
        let mut same = all
            .iter()
            .filter(|(other, layer, _)| other == trace && layer == ftl);
        size.is_some() || same.all(|(_, _, size)| size.is_none())
    };
    all.iter()
        .filter(|place| is_sized(place))
        .copied()
        .collect()
}

/// The buffers in the order of `known`. `behind` computes the distance of a value from the best value of its place.
fn ranked<'a>(
    known: &[(&'a Record, f64)],
    places: &BTreeSet<Place<'a>>,
    is_more_better: bool,
    behind: impl Fn(f64, f64) -> f64,
) -> Vec<Ranked<'a>> {
    let mut all: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
    for (trace, ftl, size) in places {
        let there = known.iter().filter(|(record, _)| {
            let is_here = record.capacity().is_none_or(|own| Some(own) == *size);
            record.trace == *trace && record.ftl == *ftl && is_here
        });
        let better = |a: &f64, b: &f64| -> Ordering {
            match is_more_better {
                true => b.total_cmp(a),
                false => a.total_cmp(b),
            }
        };
        let Some(best) = there.clone().map(|(_, value)| *value).min_by(better) else {
            continue;
        };
        for (record, value) in there {
            let behind = behind(*value, best);
            match all.iter_mut().find(|(buffer, _)| *buffer == record.buffer) {
                Some((_, values)) => values.push((behind, *value)),
                None => all.push((&record.buffer, vec![(behind, *value)])),
            }
        }
    }
    all.retain(|(_, values)| values.len() == places.len());
    let mean = |(buffer, values): (&'a str, Vec<(f64, f64)>)| Ranked {
        buffer,
        behind: values.iter().map(|(behind, _)| behind).sum::<f64>() / values.len() as f64,
        value: values.first().map_or(0.0, |(_, value)| *value),
    };
    all.into_iter().map(mean).collect()
}

/// The dimensions in which `places` differ, in words: traces, layers, sizes.
fn over(places: &BTreeSet<Place<'_>>) -> String {
    let several = [
        (
            places
                .iter()
                .map(|(trace, ..)| *trace)
                .collect::<BTreeSet<_>>()
                .len(),
            "traces",
        ),
        (
            places
                .iter()
                .map(|(_, ftl, _)| *ftl)
                .collect::<BTreeSet<_>>()
                .len(),
            "layers",
        ),
        (
            places
                .iter()
                .map(|(.., size)| *size)
                .collect::<BTreeSet<_>>()
                .len(),
            "sizes",
        ),
    ];
    let names: Vec<&str> = several
        .iter()
        .filter(|(count, _)| *count > 1)
        .map(|(_, name)| *name)
        .collect();
    names.join(" and ")
}
