//! The writes of a phase in their order, from the segments of its map.

use std::collections::VecDeque;

use destage_base::Random;

use super::profile::{Kind, Phase, Segment, WRITES};

/// A slice of a phase, cut finely enough for every write to have a time of its own.
const SLICE: u64 = 1 << 32;

/// A write to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Where it stands in its phase.
    key: u64,
    /// Its block, in the order in which blocks were first written.
    pub(super) block: u32,
    /// Sectors.
    pub(super) size: u32,
    /// How large writes of its segment are.
    class: u32,
    /// New pages that are due with it.
    pub(super) new: u64,
    /// Whether it goes on where the last one in its block ended.
    pub(super) on: bool,
    /// Whether it begins where an earlier one did.
    pub(super) again: bool,
}

/// The writes of a phase in order, by kind.
pub(super) fn slots(phase: &Phase, sizes: &[u32], random: &mut Random) -> [VecDeque<Slot>; WRITES] {
    let mut slots = Vec::new();
    for segment in &phase.map {
        for index in 0..segment.blocks {
            push_block(&mut slots, segment, index, random);
        }
    }
    give_sizes(&mut slots, phase, sizes, random);
    slots.sort_by_key(|slot| slot.key);
    let mut of: [VecDeque<Slot>; WRITES] = Default::default();
    for slot in slots {
        of[Kind::of_write(slot.size) as usize].push_back(slot);
    }
    of
}

/// The `index`th of `of` nearly equal parts of `count`; all of them together are `count`.
fn part(count: u64, index: u64, of: u64) -> u64 {
    (index + 1) * count / of - index * count / of
}

/// The writes of one block of a segment: its share of each count, in its share of the time.
fn push_block(slots: &mut Vec<Slot>, segment: &Segment, index: u32, random: &mut Random) {
    let (at, blocks) = (u64::from(index), u64::from(segment.blocks));
    let share = |count: u32| part(u64::from(count), at, blocks);
    let (writes, new) = (share(segment.writes), share(segment.new));
    let (on, again) = (share(segment.on), share(segment.again));
    if writes == 0 {
        return;
    }
    let (from, until) = (
        u64::from(segment.from) * SLICE,
        u64::from(segment.until) * SLICE,
    );
    let low = from + (until - from) * at / blocks;
    let width = (from + (until - from) * (at + 1) / blocks - low) / writes;
    // Streams keep their beat; all else comes when it comes.
    let is_stream = 2 * u64::from(segment.on) > u64::from(segment.writes);
    for turn in 0..writes {
        let within = if is_stream {
            width / 2
        } else {
            random.below(width.max(1))
        };
        slots.push(Slot {
            key: low + width * turn + within,
            block: segment.block + index,
            size: 0,
            class: segment.size,
            new: part(new, turn, writes),
            // From the first write on, and so that old and new come by turns, up to the last.
            on: ((turn + 1) * on).div_ceil(writes) != (turn * on).div_ceil(writes),
            again: part(again, turn, writes) > 0,
        });
    }
}

/// The smallest sizes go where writes are smallest.
fn give_sizes(slots: &mut [Slot], phase: &Phase, sizes: &[u32], random: &mut Random) {
    let mut all: Vec<u32> = phase
        .sizes
        .iter()
        .flat_map(|(size, count)| std::iter::repeat_n(sizes[*size as usize], *count as usize))
        .collect();
    all.sort_unstable();
    let mut order: Vec<(u32, u64, usize)> = slots
        .iter()
        .enumerate()
        .map(|(index, slot)| (slot.class, random.next_u64(), index))
        .collect();
    order.sort_unstable();
    for ((_, _, index), size) in order.into_iter().zip(all) {
        slots[index].size = size;
    }
}
