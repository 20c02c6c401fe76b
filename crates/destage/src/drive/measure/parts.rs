//! Experiments whose results are numbers that identify the drive.
//!
//! The methods are from Queenie (single reads and writes, SYSTOR 2022) and SSDcheck (MICRO 2018). If a number cannot
//! be identified on a drive, the result gives the reason.

use destage_base::time::{TICKS_PER_MS, TICKS_PER_NS, TICKS_PER_US};
use destage_base::{Random, Ticks};
use serde::{Deserialize, Serialize};

use super::super::experiment::BLOCK;
use super::fill::Written;
use super::load::{BLOCK_BYTES, Bench};
use super::target::Action;
use super::times::rounded;
use crate::error::Error;

/// The number of reads of random blocks, with one command outstanding.
const READS: usize = 3_000;
/// The number of writes, and of reads of the blocks just written, with one command outstanding.
const WRITES: u64 = 400;
/// A drive is assumed to be idle if it has received no command for this long.
const REST: Ticks = 20 * TICKS_PER_MS;
/// Two sizes of a write, in blocks of [`BLOCK`] bytes. The difference of their times separates the time of a block
/// from the time of a command.
const SIZES: [u64; 2] = [1, 8];
/// Two times count as different if one is less than this fraction of the other.
const APART: f64 = 0.8;
/// The times of two page types differ by at least this fraction.
const TYPES_APART: f64 = 0.08;
/// Each page type has at least this fraction of the reads.
const TYPE_SHARE: f64 = 0.04;
/// The largest number of sequential writes whose rate is measured.
const IN_ORDER: u64 = 20_000;
/// The name of the rate of sequential writes.
pub(super) const IN_ORDER_RATE: &str = "writes_in_order_per_s";
/// The name of the mean time of a page read.
const PAGE_MEAN: &str = "page_read_mean_us";
/// Outstanding writes while the write buffer is filled.
const FILLING_DEPTH: u32 = 256;
/// The rate of this many first writes counts as the rate of a drive with room in its buffer.
const FIRST: usize = 16;
/// The number of writes in the first attempt to fill the buffer.
const LEAST_FILLING: u64 = 1024;
/// The number of times that the write buffer is filled.
const FILLINGS: usize = 5;
/// The size of the buffer can be measured only if the drive accepts writes faster than it programs them, by at least
/// this factor.
const FASTER: f64 = 1.5;
/// Values to try for the largest gap between two completions in one group of writes. The value with which the largest
/// fraction of groups has the same size is used.
const TOGETHER: [Ticks; 4] = [
    200 * TICKS_PER_NS,
    TICKS_PER_US,
    5 * TICKS_PER_US,
    20 * TICKS_PER_US,
];
/// The number of writes whose completions are grouped.
const UNIT_WRITES: u64 = 12_000;
/// The number of blocks that [`alone`] writes, and that [`unit`] writes, at most.
pub(super) const ALONE_BLOCKS: u64 = WRITES * (SIZES[0] + SIZES[1]) + IN_ORDER;
pub(super) const UNIT_BLOCKS: u64 = UNIT_WRITES + UNIT_WRITES / 4;
/// Writes count as completing in groups of a program unit if at least this fraction of the groups has the same size.
const UNIT_SHARE: f64 = 0.5;
/// A cache of fast blocks counts as full when the rate of the first fill falls below this fraction of its median so
/// far.
const CLIFF: f64 = 0.7;

/// A number that identifies the drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Identified {
    /// The name of the number.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit of the value.
    pub unit: String,
    /// The lower bound of the value.
    pub low: f64,
    /// The upper bound of the value.
    pub high: f64,
    /// How the value was found.
    pub method: String,
}

impl Identified {
    fn new(name: &str, unit: &str, (value, low, high): (f64, f64, f64), method: &str) -> Self {
        Self {
            name: name.to_owned(),
            value: rounded(value),
            unit: unit.to_owned(),
            low: rounded(low.min(value)),
            high: rounded(high.max(value)),
            method: method.to_owned(),
        }
    }
}

/// The numbers that were identified, and those that could not be identified.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Findings {
    /// The identified numbers.
    pub values: Vec<Identified>,
    /// The numbers that could not be identified, with the reason; one sentence each.
    pub unknown: Vec<String>,
}

impl Findings {
    /// The number `name`; `None` if it was not identified.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Identified> {
        self.values.iter().find(|value| value.name == name)
    }

    pub(super) fn and(&mut self, other: Self) {
        self.values.extend(other.values);
        self.unknown.extend(other.unknown);
    }
}

fn us(ticks: Ticks) -> f64 {
    ticks as f64 / TICKS_PER_US as f64
}

/// The median, the tenth and the ninetieth percentile of `times`, in microseconds.
fn middle(times: &mut [Ticks]) -> (f64, f64, f64) {
    times.sort_unstable();
    let at = |share: f64| us(times[((times.len() - 1) as f64 * share) as usize]);
    (at(0.5), at(0.1), at(0.9))
}

/// Splits `times`, which are in ascending order, at gaps of more than [`TYPES_APART`]. Returns the median in
/// microseconds, and the fraction of all times, of each group that has at least [`TYPE_SHARE`] of the times.
fn types(times: &[Ticks]) -> Vec<(f64, f64)> {
    let mut groups = Vec::new();
    let mut begin = 0;
    for end in 1..=times.len() {
        let is_end = times
            .get(end)
            .is_none_or(|next| *next as f64 > times[end - 1] as f64 * (1.0 + TYPES_APART));
        if is_end {
            let share = (end - begin) as f64 / times.len() as f64;
            if share >= TYPE_SHARE {
                groups.push((us(times[usize::midpoint(begin, end - 1)]), share));
            }
            begin = end;
        }
    }
    groups
}

/// Measures single commands on an idle drive: the time of a command, the time of each block of it, and the time of a
/// flash page.
pub(super) fn alone(bench: &mut Bench<'_>, seed: u64) -> Result<Findings, Error> {
    let mut random = Random::new(seed);
    let blocks = bench.used / BLOCK;
    let mut found = Findings::default();
    bench.alone(Action::Flush, 0, 0)?;
    bench.rest(REST)?;
    let mut reads = Vec::with_capacity(READS);
    for _ in 0..READS {
        reads.push(bench.alone(Action::Read, random.below(blocks) * BLOCK, BLOCK_BYTES)?);
    }
    let mean = us(reads.iter().sum()) / reads.len() as f64;
    let read = middle(&mut reads);
    found.values.push(Identified::new(
        "read_us",
        "us",
        read,
        "median time of single reads of a random block of 4 KiB; low and high: the tenth and the ninetieth percentile",
    ));
    let (mut hits, mut writes) = (Vec::new(), SIZES.map(|_| Vec::new()));
    for number in 0..WRITES {
        for (size, times) in SIZES.into_iter().zip(&mut writes) {
            // After the flush and the pause there is room in the buffer.
            bench.alone(Action::Flush, 0, 0)?;
            bench.rest(REST / 10)?;
            let place = number % (blocks / size) * size * BLOCK;
            times.push(bench.alone(Action::Write, place, (size * BLOCK) as u32)?);
            if size == 1 {
                hits.push(bench.alone(Action::Read, place, BLOCK_BYTES)?);
            }
        }
    }
    let hit = middle(&mut hits);
    if hit.0 < APART * read.0 {
        found.values.push(Identified::new(
            "buffered_read_us",
            "us",
            hit,
            "median time of single reads of the block written just before, which need no page of flash",
        ));
        let apart = types(&reads);
        let page = |name: &str, time: f64| {
            let of = (time - hit.0, time - hit.2, time - hit.1);
            Identified::new(
                name,
                "us",
                of,
                "read_us less buffered_read_us: the time to read a page of flash and to move it to the controller",
            )
        };
        if apart.len() > 1 {
            for (place, (time, _)) in apart.iter().enumerate() {
                let name = format!("page_read_{}_us", place + 1);
                found.values.push(page(&name, *time));
            }
        }
        found.values.push(page("page_read_us", read.0));
        found.values.push(Identified::new(
            PAGE_MEAN,
            "us",
            (mean - hit.0, mean - hit.2, mean - hit.1),
            "mean time of the same reads less buffered_read_us: the mean over all types of page",
        ));
    } else {
        found.unknown.push(format!(
            "page_read_us: a read of a block written just before takes {} us, and any other read takes {} us: the time of the page cannot be separated from the time of the command",
            rounded(hit.0),
            rounded(read.0)
        ));
    }
    found.values.push(in_order(bench)?);
    let [write, long] = writes.each_mut().map(|times| middle(times));
    found.values.push(Identified::new(
        "write_us",
        "us",
        write,
        "median time of single writes of a block of 4 KiB, with pauses between; low and high: the tenth and the ninetieth percentile",
    ));
    let more = (SIZES[1] - SIZES[0]) as f64;
    let block = (long.0 - write.0) / more;
    found.values.push(Identified::new(
        "write_block_us",
        "us",
        (block, (long.1 - write.2) / more, (long.2 - write.1) / more),
        "time that each further block adds to a write: the median time for eight blocks less that for one block, divided by seven",
    ));
    found.values.push(Identified::new(
        "write_command_us",
        "us",
        (write.0 - block, write.1 - block, write.2 - block),
        "write_us less write_block_us: the time of a write command, whatever its length",
    ));
    Ok(found)
}

/// Measures how many blocks per second are written to flash if garbage collection moves no pages.
fn in_order(bench: &mut Bench<'_>) -> Result<Identified, Error> {
    let blocks = (bench.used / BLOCK).min(IN_ORDER);
    let (mut next, mut ends) = (0, Vec::new());
    let place = || {
        next += 1;
        (next <= blocks).then_some((next - 1) * BLOCK)
    };
    bench.queue(
        Action::Write,
        BLOCK_BYTES,
        FILLING_DEPTH,
        place,
        |_, end| {
            ends.push(end);
        },
    )?;
    ends.sort_unstable();
    let rate = |part: &[Ticks]| {
        let ticks = part[part.len() - 1] - part[0];
        (part.len() - 1) as f64 / us(ticks.max(1)) * 1e6
    };
    let later = &ends[ends.len() / 2..];
    let (one, other) = later.split_at(later.len() / 2);
    let (one, other) = (rate(one), rate(other));
    Ok(Identified::new(
        IN_ORDER_RATE,
        "blocks/s",
        (rate(later), one.min(other), one.max(other)),
        "rate of sequential writes with several outstanding; low and high: the rates of its two halves",
    ))
}

/// Measures the time of a flush, and the number of bytes that the drive accepts before writes have to wait for flash.
/// `in_order` is the rate, in blocks per second, at which blocks are written to flash if garbage collection moves no
/// pages.
pub(super) fn buffer(bench: &mut Bench<'_>, seed: u64, in_order: f64) -> Result<Findings, Error> {
    let mut random = Random::new(seed);
    let mut found = Findings::default();
    let mut idle = Vec::new();
    for _ in 0..WRITES / 8 {
        bench.alone(Action::Flush, 0, 0)?;
        bench.rest(REST / 10)?;
        idle.push(bench.alone(Action::Flush, 0, 0)?);
    }
    let idle = middle(&mut idle);
    found.values.push(Identified::new(
        "flush_idle_us",
        "us",
        idle,
        "median time of a flush with nothing to write",
    ));
    let mut full = Vec::new();
    for number in 0..WRITES / 8 {
        bench.alone(Action::Write, number * BLOCK, BLOCK_BYTES)?;
        full.push(bench.alone(Action::Flush, 0, 0)?);
        bench.rest(REST / 10)?;
    }
    let full = middle(&mut full);
    found.values.push(Identified::new(
        "flush_us",
        "us",
        full,
        "median time of a flush after a write of one block; equal to flush_idle_us where RAM is protected and a flush does nothing",
    ));
    let blocks = bench.used / BLOCK;
    let mut written = LEAST_FILLING;
    while written <= blocks / 4 {
        let mut knees = Vec::new();
        for _ in 0..FILLINGS {
            knees.extend(knee(&filling(bench, &mut random, written)?, in_order));
        }
        if knees.len() == FILLINGS {
            knees.sort_by(|one, other| one.0.total_cmp(&other.0));
            let half = (knees[0].0 / 2.0) as u64;
            filling(bench, &mut random, half)?;
            bench.rest(REST)?;
            let flush = us(bench.alone(Action::Flush, 0, 0)?);
            // If the flush lasts at least half as long as writing `half` blocks to flash, the blocks stayed in the
            // buffer during the pause.
            let stays = flush > idle.0 + half as f64 / in_order * 1e6 / 2.0;
            let is_emptied = full.0 > idle.0 / APART + 1.0;
            found.and(size_of(&knees, is_emptied, stays));
            return Ok(found);
        }
        written *= 2;
    }
    found.unknown.push(
        "buffer_bytes: after a pause, writes are answered no faster than blocks are written to flash, so the size of the write buffer cannot be seen".to_owned(),
    );
    Ok(found)
}

/// The largest number of blocks that [`buffer`] writes if `used` blocks are used. Each filling is twice as large as the
/// one before, and the largest has a quarter of the used blocks, so that all together have less than half of them.
pub(super) fn buffer_blocks(used: u64) -> u64 {
    FILLINGS as u64 * (used / 2) + used / 16 + WRITES / 8
}

/// The completion times of `left` random writes, in ascending order and relative to the first submission. A flush
/// and a pause precede them.
fn filling(bench: &mut Bench<'_>, random: &mut Random, mut left: u64) -> Result<Vec<Ticks>, Error> {
    let blocks = bench.used / BLOCK;
    bench.alone(Action::Flush, 0, 0)?;
    bench.rest(REST)?;
    let begun = bench.target.now();
    let mut ends = Vec::new();
    let place = || {
        left = left.checked_sub(1)?;
        Some(random.below(blocks) * BLOCK)
    };
    let ended = |_, end: Ticks| ends.push(end - begun);
    bench.queue(Action::Write, BLOCK_BYTES, FILLING_DEPTH, place, ended)?;
    ends.sort_unstable();
    Ok(ends)
}

/// The number of blocks that the drive accepted at full speed, and the fraction of these blocks that it wrote to
/// flash meanwhile. `ends` are the completion times of writes after a pause. `None` if the drive accepts writes
/// hardly faster than `in_order` blocks per second, or does not become slower in the first half of the writes.
fn knee(ends: &[Ticks], in_order: f64) -> Option<(f64, f64)> {
    let fast = FIRST as f64 / us(ends[FIRST - 1].max(1)) * 1e6;
    if fast < FASTER * in_order {
        return None;
    }
    let slow = FASTER * FIRST as f64 / fast * 1e6;
    let some = FIRST..ends.len() / 2;
    let mut behind = some.filter(|number| us(ends[*number] - ends[number - FIRST]) > slow);
    Some((behind.next()? as f64, in_order / fast))
}

/// The size of the buffer, from `knees`, the results of several fillings in ascending order. `is_emptied` is whether
/// a flush empties the buffer. `stays` is whether blocks stay in the buffer until it needs room.
fn size_of(knees: &[(f64, f64)], is_emptied: bool, stays: bool) -> Findings {
    let mut found = Findings::default();
    let (least, share) = knees[0];
    let (taken, _) = knees[knees.len() / 2];
    let (largest, _) = knees[knees.len() - 1];
    let bytes = |blocks: f64| (blocks * BLOCK as f64).round();
    found.values.push(Identified::new(
        "burst_bytes",
        "bytes",
        (bytes(taken), bytes(least), bytes(largest)),
        "bytes of random writes that are answered at full speed after a flush and a pause: median, least and most of five trials",
    ));
    match (is_emptied, stays) {
        (true, true) => found.values.push(Identified::new(
            "buffer_bytes",
            "bytes",
            (bytes(taken), bytes(least), bytes(largest)),
            "burst_bytes: a flush after half as many bytes takes as long as writing those bytes to flash, so blocks are written only when the buffer needs room",
        )),
        (true, false) => found.values.push(Identified::new(
            "buffer_bytes",
            "bytes",
            (
                bytes(taken * (1.0 - share / 2.0)),
                bytes(least * (1.0 - share)),
                bytes(largest),
            ),
            "burst_bytes, less half of the bytes that the drive can write to flash during the burst; low: less all of these bytes, high: less none",
        )),
        (false, _) => found.unknown.push(format!(
            "buffer_bytes: a flush does nothing, so the buffer may hold data after a pause; it has {} bytes at least",
            bytes(least)
        )),
    }
    found
}

/// Measures how many pages are programmed together. The drive is in steady state, and more writes are outstanding
/// than it serves at a time.
pub(super) fn unit(bench: &mut Bench<'_>, seed: u64) -> Result<Findings, Error> {
    let mut random = Random::new(seed);
    let blocks = bench.used / BLOCK;
    let mut left = UNIT_BLOCKS;
    let mut ends = Vec::with_capacity(left as usize);
    let place = || {
        left -= 1;
        (left > 0).then(|| random.below(blocks) * BLOCK)
    };
    bench.queue(
        Action::Write,
        BLOCK_BYTES,
        FILLING_DEPTH,
        place,
        |_, end| {
            ends.push(end);
        },
    )?;
    ends.sort_unstable();
    let ends = &ends[(UNIT_WRITES / 4) as usize..ends.len() - FILLING_DEPTH as usize];
    let counts = TOGETHER.map(|time| most_frequent(ends, time));
    let best = counts
        .into_iter()
        .max_by(|one, other| one.1.total_cmp(&other.1));
    let (unit, share) = best.unwrap_or_default();
    let mut found = Findings::default();
    if unit < 2 || share < UNIT_SHARE {
        found.unknown.push(format!(
            "program_unit_bytes: writes in steady state do not end in groups of equal size; the most frequent size is {unit}, with {:.0} % of the groups",
            100.0 * share
        ));
        return Ok(found);
    }
    let bytes = (unit * BLOCK) as f64;
    found.values.push(Identified::new(
        "program_unit_bytes",
        "bytes",
        (bytes, bytes, bytes),
        "many outstanding random writes complete in groups, and this is the most frequent size of a group: one program makes room for one group",
    ));
    Ok(found)
}

/// Puts writes into one group if each completes within `time` of the previous one. Returns the most frequent size of
/// a group, and the fraction of groups that have this size. If the size is 1, the fraction is 0.
fn most_frequent(ends: &[Ticks], time: Ticks) -> (u64, f64) {
    let together = ends.chunk_by(|one, next| next - one <= time);
    let mut sizes: Vec<usize> = together.map(<[Ticks]>::len).collect();
    sizes.sort_unstable();
    let same = sizes.chunk_by(|one, other| one == other);
    let most = same.max_by_key(|group| group.len()).unwrap_or_default();
    match most.first() {
        Some(&size) if size > 1 => (size as u64, most.len() as f64 / sizes.len() as f64),
        _ => (1, 0.0),
    }
}

/// The number of bytes that the first fill of a drive wrote before the rate fell for the rest of the fill. `used` is
/// the used capacity in bytes.
pub(super) fn cliff(written: &Written, used: u64) -> Findings {
    let mut found = Findings::default();
    let parts = &written.parts;
    let mut before: Vec<f64> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let mut sorted = before.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.get(sorted.len() / 2).copied();
        let stays = parts[place..]
            .iter()
            .all(|later| middle.is_none_or(|middle| later.mib_per_s < CLIFF.sqrt() * middle));
        if let Some(middle) = middle
            && part.mib_per_s < CLIFF * middle
            && stays
        {
            let bytes = |place: usize| match place {
                0 => 0.0,
                place => parts[place - 1].drive_writes * used as f64,
            };
            let ends = (bytes(place), bytes(place - 1), bytes(place + 1));
            found.values.push(Identified::new(
                "fast_fill_bytes",
                "bytes",
                ends,
                "bytes that the first sequential fill wrote before its rate fell for good: a cache of blocks with one bit a cell",
            ));
            return found;
        }
        before.push(part.mib_per_s);
    }
    found.unknown.push(
        "fast_fill_bytes: the rate of the first sequential fill does not fall, so no cache of fast blocks can be seen".to_owned(),
    );
    found
}

/// The over-provisioning, computed from the write amplification of the last random overwrite.
pub(super) fn spare(last: Option<&Written>) -> Findings {
    let mut found = Findings::default();
    // Only the second half of the overwrite counts, because the drive may still be filling its spare flash in the
    // first half.
    let parts = last.map_or(&[][..], |last| &last.parts[last.parts.len() / 2..]);
    let wafs: Option<Vec<f64>> = parts.iter().map(|part| part.waf).collect();
    let Some(mut wafs) = wafs.filter(|wafs| !wafs.is_empty()) else {
        found.unknown.push(
            "waf, spare_percent: the drive has no readable counter of programmed bytes, or was not overwritten at random".to_owned(),
        );
        return found;
    };
    let mean = wafs.iter().sum::<f64>() / wafs.len() as f64;
    wafs.sort_by(f64::total_cmp);
    let (low, high) = (wafs[0], wafs[wafs.len() - 1]);
    found.values.push(Identified::new(
        "waf",
        "",
        (mean, low, high),
        "bytes programmed over bytes written, in the second half of the last random overwrite; low and high: the least and the most of its parts",
    ));
    let spare = |waf: f64| {
        // `valid` is the fraction of valid pages in a block that is collected. Under greedy garbage collection of
        // large blocks it determines the over-provisioning (Desnoyers, SYSTOR 2012).
        let valid = 1.0 - 1.0 / waf.max(1.000_001);
        100.0 * (-libm::log(valid) / (1.0 - valid) - 1.0)
    };
    found.values.push(Identified::new(
        "spare_percent",
        "%",
        (spare(mean), spare(high), spare(low)),
        "over-provisioning at which greedy garbage collection has this write amplification: the percentage by which the flash for data exceeds the measured part",
    ));
    found
}

/// A number of dies, computed from the rate of saturated random reads and the mean time of a page read.
pub(super) fn dies(reads_per_s: Option<f64>, found: &Findings) -> Findings {
    let mut more = Findings::default();
    if let (Some(rate), Some(page)) = (reads_per_s, found.get(PAGE_MEAN)) {
        let busy = rate * page.value / 1e6;
        more.values.push(Identified::new(
            "reads_at_a_time",
            "",
            (busy, rate * page.low / 1e6, rate * page.high / 1e6),
            "rate of saturated random reads times page_read_mean_us: at most this many dies, or independent planes, are busy; the drive may have more",
        ));
    }
    more.unknown.push(
        "dies and program time: writes show how many bytes all dies program in a second, but not how long one of them takes".to_owned(),
    );
    more
}
