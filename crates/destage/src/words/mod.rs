//! Results in sentences.
//!
//! | module | content |
//! | --- | --- |
//! | `conclusions` | conclusions from the metrics of several runs |

mod conclusions;

use std::collections::{BTreeMap, BTreeSet};

use destage_sim::metrics::rows;

use crate::numbers;
use crate::record::Record;

pub use conclusions::conclusions;
pub(crate) use conclusions::of_curves;

/// A name of a trace with at most this many letters is shown whole.
const NAME: usize = 24;

/// A heading for `records` with the properties that are equal for all runs. The trace is on the first line. Buffer
/// size, translation layer and device are on the second line.
#[must_use]
pub fn heading(records: &[Record]) -> String {
    let Some(first) = records.first() else {
        return String::new();
    };
    let mut parts = Vec::new();
    let same = |value: fn(&Record) -> Option<String>| {
        let common = value(first);
        records
            .iter()
            .all(|record| value(record) == common)
            .then_some(common)
            .flatten()
    };
    let trace = same(|record| Some(format!("{}\n", record.trace))).unwrap_or_default();
    parts.extend(same(|record| {
        record
            .capacity()
            .map(|bytes| format!("buffer of {}", numbers::bytes(bytes)))
    }));
    parts.extend(same(|record| Some(format!("FTL {}", record.ftl))));
    parts.push(device(records));
    format!("{trace}{}", parts.join(", "))
}

/// The geometry of the device of all `records`. If the number of blocks is chosen from the input or the layer, it may
/// differ between runs. If only the buffer was simulated, the number of blocks is not known.
#[must_use]
pub fn device(records: &[Record]) -> String {
    let counts = |name: &'static str| records.iter().filter_map(move |record| record.whole(name));
    let count = |name| counts(name).next().unwrap_or(0);
    let blocks = || counts("flash.blocks_per_plane");
    let blocks = match (blocks().min(), blocks().max()) {
        (Some(least), Some(most)) if least < most => format!(" x {least} to {most} blocks x"),
        (Some(blocks), _) => format!(" x {blocks} blocks x"),
        _ => ", blocks of".to_owned(),
    };
    format!(
        "{} dies x {} planes{blocks} {} pages of {}",
        count("flash.dies"),
        count("flash.planes_per_die"),
        count("flash.pages_per_block"),
        numbers::bytes(count("flash.page_bytes"))
    )
}

/// The name of a run in words: the trace, the scheme, the buffer size and the translation layer.
#[must_use]
pub fn name(record: &Record) -> String {
    let size = record
        .capacity()
        .map(|bytes| format!(" of {}", numbers::bytes(bytes)));
    format!(
        "{} on {}{}, FTL {}",
        record.trace,
        record.buffer,
        size.unwrap_or_default(),
        record.ftl
    )
}

/// `word` with quotation marks if a shell needs them to read it as one word.
#[must_use]
pub fn for_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-+=:,./%@".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The runs that failed, with their errors; one sentence each.
#[must_use]
pub fn failures(records: &[Record]) -> Vec<String> {
    let failed = records.iter().filter_map(|record| {
        let error = record.error.as_ref().filter(|error| error.is_failure())?;
        Some(format!("{}: {error}", name(record)))
    });
    failed.collect()
}

/// Notes on the metrics of `records`, in sentences: warnings, runs without garbage collection, and failed runs.
#[must_use]
pub fn notes(records: &[Record]) -> Vec<String> {
    let remark = remark(records);
    let remark = remark.map(|text| text.trim_end_matches('.').to_owned());
    let all = warnings(records)
        .into_iter()
        .chain(remark)
        .chain(failures(records));
    all.map(|sentence| format!("{sentence}.")).collect()
}

/// A line that describes the run of `record`: trace, scheme, buffer size, translation layer and device.
#[must_use]
pub fn describe(record: &Record) -> String {
    let buffer = match record.capacity() {
        Some(bytes) => format!("{} of {}", record.buffer, numbers::bytes(bytes)),
        None => record.buffer.clone(),
    };
    format!(
        "{} on {buffer}, FTL {}, {}",
        record.trace,
        record.ftl,
        device(std::slice::from_ref(record))
    )
}

/// Warnings about the metrics of `records`, each with the name of its run. If more than three runs have a warning of
/// the same kind, only the first warning is given, with the number of other runs.
#[must_use]
pub fn warnings(records: &[Record]) -> Vec<String> {
    let of_kind = |kind: &fn(&Record) -> Option<String>| {
        let told = |record: &Record| Some(format!("{}: {}", name(record), kind(record)?));
        together(records.iter().filter_map(told).collect())
    };
    KINDS.iter().flat_map(of_kind).collect()
}

/// Warnings about the metrics of one run, without the name of the run.
#[must_use]
pub fn warnings_of(record: &Record) -> Vec<String> {
    KINDS.iter().filter_map(|kind| kind(record)).collect()
}

/// The kinds of warnings. Either the run ended before all requests were served, because of saturation or wear, or the
/// device receives more requests than it can serve.
const KINDS: [fn(&Record) -> Option<String>; 3] = [saturated, worn_out, overload];

/// The reason why the run [stopped early](Record::stopped_early), as its warning says it; `None` if it did not.
#[must_use]
pub fn stopped(record: &Record) -> Option<String> {
    saturated(record).or_else(|| worn_out(record))
}

fn saturated(record: &Record) -> Option<String> {
    record.is_true(rows::HOST_SATURATED).then(|| {
        format!(
            "stopped when host.saturation = {} requests were outstanding; its metrics cover the {} that had arrived",
            record.whole("host.saturation").unwrap_or(0),
            count(record, rows::HOST_REQUESTS.name)
        )
    })
}

fn worn_out(record: &Record) -> Option<String> {
    record.is_true(rows::DEVICE_WORN_OUT).then(|| {
        format!(
            "worn out: {} of {} blocks were erased flash.endurance = {} times and retired; its metrics cover the {} requests that had completed",
            count(record, rows::WEAR_BLOCKS_RETIRED.name),
            numbers::whole(blocks(record)),
            record.whole("flash.endurance").unwrap_or(0),
            count(record, rows::HOST_COMPLETED.name)
        )
    })
}

fn overload(record: &Record) -> Option<String> {
    let all = record.number(&rows::RESPONSE.of("mean"))?;
    let within = record.number(&rows::DEVICE_RESPONSE.of("mean"))?;
    // The unit of times is known for a generated workload, so it cannot be the cause.
    let why = match record.whole("workload.requests") {
        Some(_) => {
            "the device gets more requests than it can serve (a larger host.time_scale gives it time)"
        }
        None => {
            "either the device gets more requests than it can serve, or the times of the trace are in another unit (trace.time_unit, host.time_scale)"
        }
    };
    (all > OVERLOAD * within).then(|| {
        format!(
            "overload: a request takes {} ms on average, {} ms of them in the device and the rest waiting for the device; {why}",
            numbers::real(all),
            numbers::real(within)
        )
    })
}

/// All `warnings`, which are of one kind. If there are more than three, only the first, with the number of other
/// runs.
fn together(mut warnings: Vec<String>) -> Vec<String> {
    const MOST: usize = 3;
    let others = warnings.len().saturating_sub(1);
    if warnings.len() > MOST {
        warnings.truncate(1);
        let others = format!("; the same holds for {others} other runs");
        warnings
            .iter_mut()
            .for_each(|first| first.push_str(&others));
    }
    warnings
}

/// A run is overloaded if the mean response time is more than this many times the mean time within the device.
const OVERLOAD: f64 = 10.0;

/// A remark on what the metrics of `records` cannot show: that no buffer had to evict a page, or that no block was
/// erased in some runs. `None` if there is nothing to remark.
#[must_use]
pub fn remark(records: &[Record]) -> Option<String> {
    let holds_all = |record: &Record| {
        let metrics = [rows::BUFFER_EVICTIONS, rows::BUFFER_DESTAGED_PAGES];
        let mut counts = metrics.iter().map(|metric| record.number(metric.name));
        let writes = record.number(rows::HOST_PAGE_WRITES.name);
        writes > Some(0.0) && record.capacity().is_some() && counts.all(|count| count == Some(0.0))
    };
    let mut sized = records.iter().filter(|record| record.capacity().is_some());
    let all_hold = sized.clone().next().is_some() && sized.all(holds_all);
    let held = all_hold.then(|| {
        "The buffer holds all pages that the input writes, so no written page has to be evicted. A smaller buffer, or a longer trace, shows which pages a scheme evicts.".to_owned()
    });
    let unerased = unerased(records.iter().filter(|record| !holds_all(record)));
    let both = held.into_iter().chain(unerased);
    both.reduce(|one, other| format!("{one} {other}"))
}

/// A sentence about the runs among `records` in which no block was erased; `None` if there are no such runs.
fn unerased<'a>(records: impl Iterator<Item = &'a Record> + Clone) -> Option<String> {
    let with_flash = || {
        let erases = records
            .clone()
            .map(|record| record.number(rows::FLASH_ERASES.name));
        erases.flatten()
    };
    let (clean, all) = (
        with_flash().filter(|erases| *erases == 0.0).count(),
        with_flash().count(),
    );
    let which = match (clean, all) {
        (0, _) => return None,
        (1, 1) => "No block was erased".to_owned(),
        _ if clean == all => "No block was erased in any run".to_owned(),
        _ => format!("No block was erased in {clean} of {all} runs"),
    };
    Some(format!(
        "{which}: no garbage had to be collected, so erases and WAF mean nothing yet. A smaller device (flash.blocks_per_plane), a longer trace, or a device that is full before the first request (sim.precondition = random_fill:1) needs garbage collection."
    ))
}

fn count(record: &Record, metric: &str) -> String {
    numbers::whole(record.number(metric).unwrap_or(0.0) as u64)
}

/// The number of blocks of the device.
fn blocks(record: &Record) -> u64 {
    let keys = [
        "flash.dies",
        "flash.planes_per_die",
        "flash.blocks_per_plane",
    ];
    keys.iter()
        .map(|key| record.whole(key).unwrap_or(0))
        .product()
}

/// For each of `traces`, its [`short`] name. If several traces have the same short name, such as files of one name
/// in different folders, their names are as many of the last folders and the file as tell them apart.
#[must_use]
pub fn short_names<'a>(traces: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let all: BTreeSet<&str> = traces.collect();
    let is_told = |name: &str, is_it: &dyn Fn(&str) -> bool| {
        !name.is_empty() && all.iter().filter(|other| is_it(other)).count() == 1
    };
    let name = |trace: &'a str| {
        let brief = short(trace);
        if is_told(&brief, &|other| short(other) == brief) {
            return (trace, brief);
        }
        let mut ends = trace.rmatch_indices('/').map(|(at, _)| &trace[at + 1..]);
        let end = ends.find(|end| is_told(end, &|other| other.ends_with(*end)));
        (trace, end.unwrap_or(trace).to_owned())
    };
    all.iter().copied().map(name).collect()
}

/// The name of the trace file without its folder. Of a long name only the end is given, because long names usually
/// differ at the end.
#[must_use]
pub fn short(trace: &str) -> String {
    let is_path = !trace.contains(':');
    let name = trace
        .rsplit('/')
        .next()
        .filter(|_| is_path)
        .unwrap_or(trace);
    let count = name.chars().count();
    if count <= NAME {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count - NAME + 2).collect();
    format!("..{end}")
}
