//! The map of a phase: its writes, block by block.

use std::collections::BTreeMap;

use super::profile::{SLICES, Segment};

/// What a profile keeps of a write until its phase is over.
pub(super) struct Mark {
    pub(super) phase: usize,
    /// Its block, in the order in which blocks were first written.
    pub(super) block: u32,
    /// New pages.
    pub(super) new: u32,
    /// Whether it went on where the last one in its block ended.
    pub(super) on: bool,
    /// Whether it began where an earlier one did.
    pub(super) again: bool,
    pub(super) sectors: u32,
}

/// What the writes of a phase have in common: successive blocks that are written alike are one segment.
pub(super) fn segments(marks: &[Mark]) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    for segment in blocks(marks) {
        match out.last_mut().filter(|last| is_alike(last, &segment)) {
            Some(last) => join(last, &segment),
            None => out.push(segment),
        }
    }
    out
}

/// A segment for each block.
fn blocks(marks: &[Mark]) -> impl Iterator<Item = Segment> {
    let total = marks.len().max(1) as u64;
    let mut of: BTreeMap<u32, (Segment, u64)> = BTreeMap::new();
    for (at, mark) in marks.iter().enumerate() {
        let slice = (at as u64 * u64::from(SLICES) / total) as u32;
        let new = Segment {
            block: mark.block,
            blocks: 1,
            from: slice,
            ..Segment::default()
        };
        let (segment, sectors) = of.entry(mark.block).or_insert((new, 0));
        segment.writes += 1;
        segment.new += mark.new;
        segment.on += u32::from(mark.on);
        segment.again += u32::from(mark.again && !mark.on);
        segment.until = slice + 1;
        *sectors += u64::from(mark.sectors);
    }
    of.into_values().map(|(mut segment, sectors)| {
        let mean = (sectors / u64::from(segment.writes)).max(1);
        let octave = mean.ilog2();
        segment.size = 2 * octave + u32::from(mean * mean >= 2 << (2 * octave));
        segment
    })
}

/// Whether `next`, of one block, goes on as `last` does: as much on each block, at the same pace.
fn is_alike(last: &Segment, next: &Segment) -> bool {
    // Within a quarter of the larger.
    let alike = |all: u32, one: u32| {
        let one_of_last = all / last.blocks.max(1);
        one_of_last.abs_diff(one) <= one_of_last.max(one) / 4
    };
    last.block + last.blocks == next.block
        && last.size.abs_diff(next.size) <= 1
        && alike(last.writes, next.writes)
        && alike(last.new, next.new)
        && alike(last.on, next.on)
        && alike(last.again, next.again)
        && next.from >= last.from
        && next.from <= last.until + 1
        && next.until >= last.until
        && next.until - next.from <= (last.until - last.from) / last.blocks + 2
}

fn join(last: &mut Segment, next: &Segment) {
    last.blocks += next.blocks;
    last.writes += next.writes;
    last.new += next.new;
    last.on += next.on;
    last.again += next.again;
    last.until = next.until;
}
