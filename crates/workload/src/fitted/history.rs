//! What requests have done so far, as far as later requests depend on it. A fit asks it where a request went, a
//! generator where one could go.

use std::collections::HashMap;

use super::order::Order;

/// Sectors of the page that a profile counts in.
pub(super) const PAGE_SECTORS: u64 = 8;
/// Pages of its block.
pub(super) const BLOCK_PAGES: u64 = 64;
pub(super) const BLOCK_SECTORS: u64 = PAGE_SECTORS * BLOCK_PAGES;

/// Where a new block lies from a touched one.
pub(super) const BESIDE: [i64; 8] = [1, -1, 2, -2, 3, -3, 4, -4];

/// A block that was touched.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Its number: its first sector by the sectors of a block.
    pub(super) number: u64,
    /// A bit for each page touched.
    pub(super) pages: u64,
    /// The pages touched, the last first.
    pub(super) recent: Vec<u8>,
    /// How recently it had been touched when it was touched last.
    pub(super) label: u8,
    /// Requests that began in it, those of equal start once, the last first: first sector and sectors.
    pub(super) last_start: u64,
    pub(super) last_end: u64,
    /// Requests that began in it, the last first.
    pub(super) items: Vec<u32>,
}

/// A request that was made, perhaps several times, by its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) start: u64,
    pub(super) sectors: u32,
    /// How it came to be used last.
    pub(super) label: u8,
}

impl Item {
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.sectors)
    }
}

/// How a request came to where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    Jump,
    On(usize),
    Again(usize),
}

/// Labels of items.
pub(super) const ITEM_LABELS: u32 = 32;
fn item_label(via: Via) -> u8 {
    let class = |d: usize| if d < 2 { d } else { (1 + d.ilog2() as usize).min(15) } as u8;
    match via {
        Via::Jump => 31,
        Via::On(d) => class(d).min(14),
        Via::Again(d) => 16 + class(d).min(14),
    }
}

/// Labels of blocks.
pub(super) const LABELS: u32 = 16;

fn label(depth: Option<usize>) -> u8 {
    match depth {
        None => 0,
        Some(0..4) => 1,
        Some(4..64) => 2,
        Some(_) => 3,
    }
}

impl Block {
    pub(super) fn fill(&self) -> u32 {
        match self.pages.count_ones() {
            0..=4 => 0,
            5..=16 => 1,
            17..=40 => 2,
            _ => 3,
        }
    }
    pub(super) fn label(&self) -> u32 {
        self.fill() * 4 + u32::from(self.label)
    }

    /// How many of its pages were touched since the page of `sector`, if that was.
    pub(super) fn rank(&self, sector: u64) -> Option<usize> {
        let page = (sector / PAGE_SECTORS % BLOCK_PAGES) as u8;
        if !self.has(u64::from(page)) {
            return None;
        }
        self.recent.iter().position(|other| *other == page)
    }

    /// Whether a page beside `from..until` was touched.
    pub(super) fn touches(&self, from: u64, until: u64) -> bool {
        (from > 0 && self.has(from - 1)) || (until < BLOCK_PAGES && self.has(until))
    }

    pub(super) fn has(&self, page: u64) -> bool {
        self.pages >> page & 1 == 1
    }
}

/// What requests of one kind touched.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    index: HashMap<u64, u32>,
    blocks: Vec<Block>,
    pub(super) order: Order,
    pub(super) items: Vec<Item>,
    starts: HashMap<u64, u32>,
    ends: HashMap<u64, u32>,
    pub(super) recent: Order,
}

impl History {
    pub(super) fn record(&mut self, sector: u64, sectors: u32, via: Via) {
        let end = sector + u64::from(sectors);
        let item = self.use_item(sector, sectors, via);
        let first = sector / BLOCK_SECTORS;
        for number in first..end.div_ceil(BLOCK_SECTORS) {
            let new = self.blocks.len() as u32;
            let index = *self.index.entry(number).or_insert(new);
            if index == new {
                self.blocks.push(Block {
                    number,
                    pages: 0,
                    recent: Vec::new(),
                    label: 0,
                    last_start: sector,
                    last_end: 0,
                    items: Vec::new(),
                });
            }
            let depth = (index != new).then(|| self.order.depth(index));
            self.order.touch(index);
            let block = &mut self.blocks[index as usize];
            block.label = label(depth);
            let base = number * BLOCK_SECTORS;
            let from = sector.max(base) - base;
            let until = (end - base).min(BLOCK_SECTORS);
            let (low, high) = (from / PAGE_SECTORS, until.div_ceil(PAGE_SECTORS));
            block.last_end = end.min(base + BLOCK_SECTORS);
            block.pages |= u64::MAX >> (64 - (high - low)) << low;
            for page in low..high {
                let page = page as u8;
                let at = block.recent.iter().position(|other| *other == page);
                let at = at.unwrap_or_else(|| {
                    block.recent.push(page);
                    block.recent.len() - 1
                });
                block.recent[..=at].rotate_right(1);
                block.recent[0] = page;
            }
            if number == first {
                block.last_start = sector;
                block.items.retain(|other| *other != item);
                block.items.truncate(63);
                block.items.insert(0, item);
            }
        }
    }

    fn use_item(&mut self, start: u64, sectors: u32, via: Via) -> u32 {
        let new = self.items.len() as u32;
        let id = *self.starts.entry(start).or_insert(new);
        let item = Item {
            start,
            sectors,
            label: item_label(via),
        };
        if id == new {
            self.items.push(item);
        } else {
            let old = std::mem::replace(&mut self.items[id as usize], item);
            if old.sectors != sectors && self.ends.get(&old.end()) == Some(&id) {
                self.ends.remove(&old.end());
            }
        }
        self.ends.insert(item.end(), id);
        self.recent.touch(id);
        id
    }

    /// Pages of `sector..end` that were never touched.
    pub(super) fn new_pages(&self, sector: u64, sectors: u32) -> u64 {
        let end = sector + u64::from(sectors);
        (sector / BLOCK_SECTORS..end.div_ceil(BLOCK_SECTORS))
            .map(|number| {
                let base = number * BLOCK_SECTORS;
                let low = (sector.max(base) - base) / PAGE_SECTORS;
                let high = (end - base).min(BLOCK_SECTORS).div_ceil(PAGE_SECTORS);
                let mask = u64::MAX >> (64 - (high - low)) << low;
                let pages = self.find(base).map_or(0, |(_, b)| b.pages);
                u64::from((mask & !pages).count_ones())
            })
            .sum()
    }

    /// The last request that began at `sector`: how many others were used since.
    pub(super) fn began(&self, sector: u64) -> Option<(usize, Item)> {
        let id = *self.starts.get(&sector)?;
        Some((self.recent.depth(id), self.items[id as usize]))
    }

    /// The last request that ended before `sector`.
    pub(super) fn ended(&self, sector: u64) -> Option<(usize, Item)> {
        let id = *self.ends.get(&sector)?;
        Some((self.recent.depth(id), self.items[id as usize]))
    }

    pub(super) fn item(&self, depth: usize) -> Item {
        self.items[self.recent.at(depth) as usize]
    }

    /// The block with `sector`, if it was touched.
    pub(super) fn find(&self, sector: u64) -> Option<(u32, &Block)> {
        let index = *self.index.get(&(sector / BLOCK_SECTORS))?;
        Some((index, &self.blocks[index as usize]))
    }

    /// Whether the page of `sector` was touched.
    pub(super) fn has_page(&self, sector: u64) -> bool {
        self.find(sector)
            .is_some_and(|(_, block)| block.has(sector / PAGE_SECTORS % BLOCK_PAGES))
    }

    pub(super) fn block_count(&self) -> usize {
        self.blocks.len()
    }

    pub(super) fn layout(&self) -> Vec<u32> {
        (0..self.blocks.len())
            .map(|i| {
                let before = self.blocks[i]
                    .number
                    .checked_sub(1)
                    .and_then(|n| self.index.get(&n));
                before
                    .filter(|b| (**b as usize) < i)
                    .map_or(0, |b| (i - *b as usize) as u32)
            })
            .collect()
    }

    pub(super) fn places(&self) -> Vec<u64> {
        self.layout()
            .iter()
            .zip(&self.blocks)
            .filter(|(k, _)| **k == 0)
            .map(|(_, b)| b.number * BLOCK_SECTORS)
            .collect()
    }

    /// The block that so many others were touched after.
    pub(super) fn at(&self, depth: usize) -> &Block {
        &self.blocks[self.order.at(depth) as usize]
    }
}
