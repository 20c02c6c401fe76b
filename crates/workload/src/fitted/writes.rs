//! Where writes go: into the block that the map of the phase names, at the place in it that brings the new pages that
//! are due.

use std::collections::{HashMap, VecDeque};

use destage_base::Random;

use super::deck::{Deck, in_bin};
use super::history::{BLOCK_PAGES, BLOCK_SECTORS, Block, History, PAGE_SECTORS, Via};
use super::profile::{Kind, Phase, Profile, WRITES};
use super::slots::{Slot, slots};

/// Cost of a place from where on it has new pages and none is due, or none and some are.
const WRONG: u64 = 8 * MOST_OFF;
/// New pages too many or too few count up to so many.
const MOST_OFF: u64 = 64;
/// Requests up to so many sectors keep no distance of whole lengths.
const NO_GRID: u32 = 8;

/// The writes of the phase, and what they go by.
#[derive(Debug)]
pub(super) struct Writes {
    slots: [VecDeque<Slot>; WRITES],
    agains: Deck,
    olds: Deck,
    /// New pages that are due in each block of the phase.
    debt: HashMap<u32, i64>,
    /// Where in a block its first write began, if not at its start.
    places: Deck,
}

impl Writes {
    pub(super) fn new(profile: &Profile) -> Self {
        Self {
            slots: Default::default(),
            agains: Deck::default(),
            olds: Deck::default(),
            debt: HashMap::new(),
            places: Deck::of(&profile.places),
        }
    }

    pub(super) fn enter(&mut self, phase: &Phase, sizes: &[u32], random: &mut Random) {
        self.slots = slots(phase, sizes, random);
        self.agains = Deck::of(&phase.agains);
        self.olds = Deck::of(&phase.olds);
        self.debt.clear();
    }

    /// The next write of a kind, or of any other if there is none: first sector, sectors, how it came there.
    pub(super) fn place(
        &mut self,
        kind: Kind,
        addresses: &[u64],
        written: &History,
        random: &mut Random,
    ) -> Option<(u64, u32, Via)> {
        let slot = self.slots[kind as usize]
            .pop_front()
            .or_else(|| self.slots.iter_mut().find_map(VecDeque::pop_front))?;
        let from = addresses[slot.block as usize] * BLOCK_SECTORS;
        let debt = self.debt.entry(slot.block).or_default();
        *debt += slot.new as i64;
        let due = *debt;
        let (mut sector, mut via) = (from, Via::Jump);
        if let Some((_, block)) = written.find(from) {
            let aim = Aim {
                slot,
                due,
                written,
                block,
            };
            sector = self.in_block(&aim, random);
            if let Some((depth, _)) = written.began(sector) {
                via = Via::Again(depth);
            }
        } else if !slot.on {
            sector += self.places.draw(random).map_or(0, u64::from);
        }
        let paid = written.new_pages(sector, slot.size) as i64;
        self.debt.insert(slot.block, due - paid);
        Some((sector, slot.size, via))
    }

    /// The place in a block that was written before.
    fn in_block(&mut self, aim: &Aim<'_>, random: &mut Random) -> u64 {
        let slot = aim.slot;
        let mut best = aim.behind_last();
        if best.0 > 0 && (slot.again || aim.due <= 0) && !aim.block.items.is_empty() {
            let rank = self
                .agains
                .draw(random)
                .map_or(0, |bin| in_bin(random, bin));
            if slot.again {
                best = aim.at_earlier(rank.min(aim.block.items.len() - 1), best);
            }
        }
        if best.0 < WRONG && (slot.again || best.0 == 0) {
            return best.1;
        }
        if aim.due > 0 {
            return aim.at_page((u64::MAX, best.1), random);
        }
        if let Some(bin) = self.olds.draw(random) {
            best = aim.on_old(in_bin(random, bin), best);
        }
        if best.0 >= WRONG {
            best.1 = aim.at_page(best, random);
        }
        best.1
    }
}

/// A write, and the block that it goes to. Places are pairs of cost and sector.
struct Aim<'a> {
    slot: Slot,
    /// New pages that are due.
    due: i64,
    written: &'a History,
    block: &'a Block,
}

impl Aim<'_> {
    /// How far from the new pages that are due a write at `sector` is.
    fn off(&self, sector: u64) -> u64 {
        let new = self.written.new_pages(sector, self.slot.size) as i64;
        let off = (new - self.due).unsigned_abs().min(MOST_OFF);
        if (new > 0) == (self.due > 0) {
            off
        } else {
            MOST_OFF + off
        }
    }

    fn first(&self) -> u64 {
        self.block.number * BLOCK_SECTORS
    }

    /// Where the last request in the block ended, if the write is to go on there.
    fn behind_last(&self) -> (u64, u64) {
        let end = self.block.last_end;
        if !self.slot.on || end >= self.first() + BLOCK_SECTORS {
            return (u64::MAX, self.first());
        }
        let off = self.off(end);
        let fits = off < MOST_OFF || self.due > 0;
        (if fits { 0 } else { off }, end)
    }

    /// Where an earlier request began, best the one that `rank` others began after.
    fn at_earlier(&self, rank: usize, mut best: (u64, u64)) -> (u64, u64) {
        let octave = |rank: usize| (rank.max(1) as u64 * 2).ilog2();
        for (index, item) in self.block.items.iter().enumerate() {
            let item = self.written.items[*item as usize];
            let cost = 8 * self.off(item.start)
                + 24 * u64::from(item.sectors != self.slot.size)
                + 4 * u64::from(octave(index).abs_diff(octave(rank)))
                + 2 * (index.abs_diff(rank).min(8) as u64) / 4;
            if cost < best.0 {
                best = (cost, item.start);
            }
        }
        best
    }

    /// How far behind the start of a page the last request began.
    fn align(&self) -> u64 {
        self.block.last_start % PAGE_SECTORS
    }

    /// On the page that `rank` others were written after.
    fn on_old(&self, rank: usize, best: (u64, u64)) -> (u64, u64) {
        let Some(last) = self.block.recent.len().checked_sub(1) else {
            return best;
        };
        let page = u64::from(self.block.recent[rank.min(last)]);
        let sector = self.first() + page * PAGE_SECTORS + self.align();
        (8 * self.off(sector), sector)
    }

    /// On any page: the best, or one of those that are equally good.
    fn at_page(&self, mut best: (u64, u64), random: &mut Random) -> u64 {
        let size = self.slot.size;
        let pages = u64::from(size).div_ceil(PAGE_SECTORS);
        let mut equals = 0;
        for page in 0..BLOCK_PAGES {
            let until = (page + pages).min(BLOCK_PAGES);
            let sector = self.first() + page * PAGE_SECTORS + self.align();
            let is_on_grid = size > NO_GRID
                && self
                    .block
                    .last_start
                    .abs_diff(sector)
                    .is_multiple_of(u64::from(size));
            let cost = 8 * self.off(sector)
                + 4 * u64::from(!is_on_grid)
                + 2 * u64::from(!self.block.touches(page, until));
            if cost < best.0 {
                equals = 1;
                best = (cost, sector);
            } else if cost == best.0 {
                equals += 1;
                if random.below(equals) == 0 {
                    best.1 = sector;
                }
            }
        }
        best.1
    }
}
