//! A medium whose pages outlive it, in a [`Store`].
//!
//! Behind what its owner keeps in the first bytes there are four tables, by physical block or page, dies one after the other:
//!
//! | table | entry | bytes |
//! | --- | --- | --- |
//! | blocks | how often it was erased, sum | 16 |
//! | synced | the program up to which all lasts, sum; one entry | 16 |
//! | pages | the spare area, the sum over the data, sum | 64 |
//! | data | the bytes of the page, unless they are a map or a summary | those of a page |
//!
//! A program writes the data first, then the entry of the page. An entry is of one life of its block, from an erase to the
//! next: to erase a block is to raise its count, which makes nothing of all its entries in one write. That waits until a page of
//! the block is programmed again, or the last block of the die that does not wait is used: what was copied out of it, or took the place of something in it, is made to last before. So
//! what is there after any number of writes, and a part of the next, is what a loss of power could have left; an entry that was
//! written in part has a wrong sum and is an unreadable page.
//!
//! If the machine crashes, of the writes that do not last yet any may be missing. Its owner [says](synced) after each sync up to which program all lasts; of pages programmed later the data are held against their sum.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use destage_base::Lpn;

use super::cells::{self, Block, Cell, Data, Stored};
use super::cut::{Done, Undo};
use super::keeper::{Fault, Store};
use super::{Medium, Spare, SpareKind, Spot};
use crate::geometry::Geometry;
use crate::operation::{Purpose, Role};

const BLOCK_BYTES: u64 = 16;
const PAGE_BYTES: u64 = 64;
/// Data begin at a multiple of this.
const ALIGNMENT: u64 = 4096;

const KINDS: [SpareKind; 6] = [
    SpareKind::Host,
    SpareKind::Copy,
    SpareKind::Zeros,
    SpareKind::Fill,
    SpareKind::Map,
    SpareKind::Summary,
];
const ROLES: [Role; 9] = [
    Role::Data,
    Role::Log,
    Role::SequentialLog,
    Role::Replacement,
    Role::Update,
    Role::Host,
    Role::Migrations,
    Role::Map,
    Role::Cache,
];
/// The kind of an entry whose page cannot be read.
const UNREADABLE: u8 = 6;
const HAS_DATA: u8 = 1;
const IS_TORN: u8 = 2;
const HAS_OWNER: u8 = 4;

/// Where what is in a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    blocks_per_die: u64,
    pages_per_block: u64,
    page_bytes: u64,
    blocks_at: u64,
    /// Where it says what lasts: see [`synced`].
    pub synced_at: u64,
    pages_at: u64,
    data_at: u64,
    /// Bytes of the whole store.
    pub bytes: u64,
}

impl Layout {
    /// Of a device of this `geometry` whose owner keeps the first `base` bytes; none if that is more than can be counted.
    #[must_use]
    pub fn new(geometry: &Geometry, base: u64) -> Option<Self> {
        let blocks_per_die = u64::from(geometry.blocks_per_die());
        let blocks = blocks_per_die * u64::from(geometry.dies);
        let pages_per_block = u64::from(geometry.pages_per_block);
        let pages = blocks.checked_mul(pages_per_block)?;
        let synced_at = base + blocks * BLOCK_BYTES;
        let pages_at = (synced_at + BLOCK_BYTES).next_multiple_of(ALIGNMENT);
        let data_at = pages.checked_mul(PAGE_BYTES)?.checked_add(pages_at)?;
        let data_at = data_at.checked_next_multiple_of(ALIGNMENT)?;
        let data = pages.checked_mul(geometry.page_bytes)?;
        Some(Self {
            blocks_per_die,
            pages_per_block,
            page_bytes: geometry.page_bytes,
            blocks_at: base,
            synced_at,
            pages_at,
            data_at,
            bytes: data.checked_add(data_at)?,
        })
    }

    fn block(&self, die: u32, block: u32) -> u64 {
        u64::from(die) * self.blocks_per_die + u64::from(block)
    }

    fn page(&self, spot: Spot) -> u64 {
        self.block(spot.die, spot.block) * self.pages_per_block + u64::from(spot.page)
    }

    fn data_of(&self, spot: Spot) -> u64 {
        self.data_at + self.page(spot) * self.page_bytes
    }
}

/// The store of a medium.
#[derive(Clone)]
pub(super) struct Kept {
    store: Arc<dyn Store>,
    layout: Layout,
    /// A page did not hold what was programmed there.
    damage: Arc<AtomicBool>,
    /// Blocks that are erased, and not in the store: how often, and the programs before.
    unwritten: BTreeMap<(u32, u32), (u32, u64)>,
    /// By die, blocks that are erased in the store as well.
    erased: Vec<u32>,
}

impl Kept {
    /// The `length` bytes of `stored`, which is at `spot`; zeros if they are not what was programmed.
    pub fn read(&self, spot: Spot, stored: &Stored, length: usize) -> Arc<[u8]> {
        let mut bytes = vec![0; length];
        self.store.read(self.layout.data_of(spot), &mut bytes);
        let is_whole = matches!(stored.data, Data::Filed(sum) if stored.is_torn || sum == cells::digest(&bytes));
        if !is_whole {
            bytes.fill(0);
            self.damage.store(true, Ordering::Relaxed);
        }
        bytes.into()
    }

    /// Once something is damaged, what is written may be made of it.
    fn write(&self, offset: u64, bytes: &[u8]) {
        if !self.damage.load(Ordering::Relaxed) {
            self.store.write(offset, bytes);
        }
    }

    /// `stored` is programmed at `spot`, in the life of the block behind `erases` erases. Its bytes are here from now on.
    /// `begins`: it is the first page in that life.
    pub fn program(&mut self, spot: Spot, stored: &mut Stored, erases: u32, begins: bool) {
        let waits = self.unwritten.contains_key(&(spot.die, spot.block));
        let of_die = (spot.die, 0)..=(spot.die, u32::MAX);
        // A mount needs an erased block, and what waits is none yet.
        let is_last = begins && self.erased[spot.die as usize] <= 1;
        if waits || (is_last && self.unwritten.range(of_die).next().is_some()) {
            self.write_erases();
        }
        if begins {
            let erased = &mut self.erased[spot.die as usize];
            *erased = erased.saturating_sub(1);
        }
        if let Data::Here(bytes) = &stored.data {
            self.write(self.layout.data_of(spot), bytes);
            stored.data = Data::Filed(cells::digest(bytes));
        }
        self.record(spot, &entry_of(stored, erases));
        self.store.mark(stored.spare.program);
    }

    /// The block has been erased so often, after so many programs. The store hears of it when it is used again.
    pub fn erase(&mut self, die: u32, block: u32, erases: u32, programs: u64) {
        self.unwritten.insert((die, block), (erases, programs));
    }

    /// Writes which blocks are erased, behind everything that has replaced their pages and before anything new is in them.
    fn write_erases(&mut self) {
        let last = self.unwritten.values().map(|(_, programs)| *programs).max();
        if last > Some(self.store.synced()) {
            self.store.sync();
        }
        for ((die, block), (erases, _)) in core::mem::take(&mut self.unwritten) {
            self.count(die, block, erases);
            self.erased[die as usize] += 1;
        }
        self.store.sync();
    }

    fn count(&self, die: u32, block: u32, erases: u32) {
        let mut entry = [0; BLOCK_BYTES as usize];
        entry[..4].copy_from_slice(&erases.to_le_bytes());
        seal(&mut entry);
        let at = self.layout.blocks_at + self.layout.block(die, block) * BLOCK_BYTES;
        self.write(at, &entry);
    }

    fn record(&self, spot: Spot, entry: &[u8; PAGE_BYTES as usize]) {
        let at = self.layout.pages_at + self.layout.page(spot) * PAGE_BYTES;
        self.write(at, entry);
    }

    /// The page at `spot` is about to be programmed. If the step, of which `done` is done, has erased its block, and the power
    /// fails before that erase has begun, what it held is there again: it is kept in what undoes the erase.
    pub fn hold_overwritten(&self, done: &mut [Done], spot: Spot, page_bits: u32, length: usize) {
        let of_block = done
            .iter_mut()
            .filter(|done| done.operation.at.0 >> page_bits == spot.block);
        let mut erases = of_block.filter_map(|done| match &mut done.undo {
            Undo::Erase(before) => Some(before),
            Undo::Nothing | Undo::Program(_) => None,
        });
        if let Some(before) = erases.next_back()
            && let Some(stored) = before.stored(spot.page)
            && matches!(stored.data, Data::Filed(_))
        {
            let bytes = self.read(spot, stored, length);
            before.hold(spot.page, bytes);
        }
    }
}

/// What says that all up to `program` lasts.
#[must_use]
pub fn synced(program: u64) -> [u8; 16] {
    let mut entry = [0; BLOCK_BYTES as usize];
    entry[..8].copy_from_slice(&program.to_le_bytes());
    seal(&mut entry);
    entry
}

/// The sum over all words but the last becomes the last; it is never 0.
fn seal(entry: &mut [u8]) {
    let (words, sum) = entry.split_at_mut(entry.len() - 8);
    sum.copy_from_slice(&(cells::digest(words) | 1).to_le_bytes());
}

fn is_sealed(entry: &[u8]) -> bool {
    let (words, sum) = entry.split_at(entry.len() - 8);
    sum == (cells::digest(words) | 1).to_le_bytes()
}

fn entry_of(stored: &Stored, erases: u32) -> [u8; PAGE_BYTES as usize] {
    let Spare {
        kind,
        page,
        version,
        program,
        purpose,
    } = stored.spare;
    let sum = match stored.data {
        Data::Filed(sum) => Some(sum),
        Data::Zeros | Data::Here(_) => None,
    };
    let mut flags = 0;
    for (is, flag) in [
        (sum.is_some(), HAS_DATA),
        (stored.is_torn, IS_TORN),
        (purpose.owner.is_some(), HAS_OWNER),
    ] {
        flags |= if is { flag } else { 0 };
    }
    let mut entry = unreadable(erases);
    entry[4] = KINDS.iter().position(|one| *one == kind).unwrap_or(0) as u8;
    entry[5] = ROLES
        .iter()
        .position(|one| *one == purpose.role)
        .unwrap_or(0) as u8;
    entry[6] = flags;
    entry[8..12].copy_from_slice(&purpose.owner.unwrap_or(0).to_le_bytes());
    let words = [
        page.map_or(u64::MAX, |page| page.0),
        version,
        program,
        sum.unwrap_or(0),
    ];
    for (at, word) in entry[16..48].chunks_mut(8).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    seal(&mut entry);
    entry
}

fn unreadable(erases: u32) -> [u8; PAGE_BYTES as usize] {
    let mut entry = [0; PAGE_BYTES as usize];
    entry[..4].copy_from_slice(&erases.to_le_bytes());
    entry[4] = UNREADABLE;
    seal(&mut entry);
    entry
}

/// An entry of the table of pages.
enum Entry {
    /// Nothing was ever written.
    Nothing,
    /// It was written in part, by nobody knows which life of the block.
    Broken,
    /// The page cannot be read, in the life behind so many erases.
    Unreadable(u32),
    /// The page, in the life behind so many erases.
    Page(u32, Stored),
}

impl Entry {
    /// `pages` is the number of logical pages.
    fn read(entry: &[u8], pages: u64) -> Self {
        if entry.iter().all(|byte| *byte == 0) {
            return Self::Nothing;
        }
        let half = |at: usize| entry[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        if !is_sealed(entry) {
            return Self::Broken;
        }
        let (kind, role) = (
            KINDS.get(usize::from(entry[4])),
            ROLES.get(usize::from(entry[5])),
        );
        let (Some(kind), Some(role)) = (kind, role) else {
            return Self::Unreadable(half(0));
        };
        let page = Some(Lpn(word(16))).filter(|page| page.0 != u64::MAX);
        let is_map = *kind == SpareKind::Map;
        if !is_map && page.is_some_and(|page| page.0 >= pages) {
            return Self::Unreadable(half(0));
        }
        let flags = entry[6];
        let spare = Spare {
            kind: *kind,
            page,
            version: word(24),
            program: word(32),
            purpose: Purpose {
                role: *role,
                owner: (flags & HAS_OWNER != 0).then(|| half(8)),
            },
        };
        Self::Page(
            half(0),
            Stored {
                spare,
                data: match flags & HAS_DATA {
                    0 => Data::Zeros,
                    _ => Data::Filed(word(40)),
                },
                is_torn: flags & IS_TORN != 0,
            },
        )
    }
}

impl Medium {
    /// Makes this, which was just made, the medium that `store` keeps, and keeps there from now on what becomes of it. The
    /// device has `pages` logical pages, `layout` is that of its geometry. A mount has to follow.
    pub fn keep_in(&mut self, store: Arc<dyn Store>, layout: Layout, pages: u64) {
        let kept = Kept {
            store,
            layout,
            damage: Arc::default(),
            unwritten: BTreeMap::new(),
            erased: Vec::new(),
        };
        let per_block = layout.pages_per_block * PAGE_BYTES;
        let tables = [
            (layout.blocks_at..layout.synced_at, BLOCK_BYTES),
            (layout.pages_at..layout.data_at, per_block),
        ];
        let all = self.dies.len() as u64 * layout.blocks_per_die;
        for (table, per_block) in tables {
            let mut from = table.start;
            while let Some(range) = kept.store.written(from..table.end) {
                let first = (range.start - table.start) / per_block;
                let end = (range.end - table.start).div_ceil(per_block);
                for block in first..end.min(all) {
                    self.load(&kept, block, pages);
                }
                from = (table.start + end * per_block).min(table.end);
            }
        }
        let mut entry = [0; BLOCK_BYTES as usize];
        kept.store.read(layout.synced_at, &mut entry);
        if is_sealed(&entry) {
            let synced = u64::from_le_bytes(entry[..8].try_into().unwrap_or_default());
            self.lose_unwritten(&kept, synced);
            // What is programmed from now on does not last yet.
            self.programs = self.programs.max(synced);
        } else {
            self.lose_unwritten(&kept, 0);
        }
        kept.store.mark(self.programs);
        self.kept = Some(kept);
        self.count_erased();
    }

    /// Counts what is erased in the store.
    fn count_erased(&mut self) {
        let Some(kept) = &mut self.kept else { return };
        let all = kept.layout.blocks_per_die as u32;
        let of_die = |(die, state): (u32, &super::Die)| {
            let used = state.blocks.made().filter(|(_, block)| !block.is_erased());
            let waiting = kept.unwritten.range((die, 0)..=(die, u32::MAX)).count() as u32;
            all - used.count() as u32 - waiting
        };
        kept.erased = (0..).zip(&self.dies).map(of_die).collect();
    }

    /// Of pages programmed after the first `synced` ones the data may be missing: these are unreadable.
    fn lose_unwritten(&mut self, kept: &Kept, synced: u64) {
        let mut bytes = vec![0; self.zeros.len()];
        for die in 0..self.dies.len() as u32 {
            let mut spoilt = Vec::new();
            for (block, of_block) in self.dies[die as usize].blocks.made() {
                for (page, stored) in of_block.all() {
                    let Data::Filed(sum) = stored.data else {
                        continue;
                    };
                    if stored.spare.program <= synced || stored.is_torn {
                        continue;
                    }
                    let spot = Spot { die, block, page };
                    kept.store.read(kept.layout.data_of(spot), &mut bytes);
                    if cells::digest(&bytes) != sum {
                        spoilt.push((block, page));
                    }
                }
            }
            for (block, page) in spoilt {
                self.dies[die as usize].blocks[block].lose(page);
            }
        }
    }

    fn load(&mut self, kept: &Kept, number: u64, pages: u64) {
        let layout = &kept.layout;
        let mut entry = [0; BLOCK_BYTES as usize];
        kept.store
            .read(layout.blocks_at + number * BLOCK_BYTES, &mut entry);
        let erases = entry[..4].try_into().map_or(0, u32::from_le_bytes);
        let per_block = layout.pages_per_block * PAGE_BYTES;
        let mut table = vec![0; per_block as usize];
        kept.store
            .read(layout.pages_at + number * per_block, &mut table);
        let entries: Vec<Entry> = table
            .chunks(PAGE_BYTES as usize)
            .map(|entry| Entry::read(entry, pages))
            .collect();
        // The count of a block is written before anything of its next life.
        let of_entries = entries.iter().filter_map(|entry| match entry {
            Entry::Page(erases, _) | Entry::Unreadable(erases) => Some(*erases),
            Entry::Nothing | Entry::Broken => None,
        });
        let erases = if is_sealed(&entry) { erases } else { 0 };
        let erases = of_entries.fold(erases, u32::max);
        let mut block = Block::new();
        block.erases = erases;
        let mut found: Vec<(u32, Stored)> = Vec::new();
        for (page, entry) in (0..).zip(entries) {
            match entry {
                Entry::Page(life, stored) if life == erases => found.push((page, stored)),
                Entry::Unreadable(life) if life == erases => {
                    block.spoil(page, self.pages_per_block);
                }
                Entry::Broken => block.spoil(page, self.pages_per_block),
                Entry::Nothing | Entry::Page(..) | Entry::Unreadable(_) => {}
            }
        }
        found.sort_unstable_by_key(|(_, stored)| stored.spare.program);
        for (page, stored) in found {
            self.programs = self.programs.max(stored.spare.program);
            block.put(page, self.pages_per_block, stored);
        }
        let die = (number / layout.blocks_per_die) as usize;
        self.dies[die].blocks[(number % layout.blocks_per_die) as u32] = block;
    }

    /// Writes everything about `blocks`, each with its die, again, after something in them never was.
    pub(super) fn record_again(&mut self, blocks: &[(u32, u32)]) {
        let Some(kept) = self.kept.as_mut().filter(|_| !blocks.is_empty()) else {
            return;
        };
        kept.unwritten.retain(|block, _| !blocks.contains(block));
        kept.write_erases();
        for (die, number) in blocks.iter().copied() {
            let block = &mut self.dies[die as usize].blocks[number];
            let spot = |page| Spot {
                die,
                block: number,
                page,
            };
            block.file_all(|page, bytes| kept.write(kept.layout.data_of(spot(page)), bytes));
            kept.count(die, number, block.erases);
            for page in 0..self.pages_per_block {
                let entry = match block.cell(page) {
                    Cell::Erased | Cell::Unknown => [0; PAGE_BYTES as usize],
                    Cell::Unreadable => unreadable(block.erases),
                    Cell::Stored(stored) => entry_of(stored, block.erases),
                };
                kept.record(spot(page), &entry);
            }
        }
        self.count_erased();
    }

    /// What the store could not do, if this has one.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.kept.as_ref().and_then(|kept| kept.store.fault())
    }

    /// Whether a page that was read did not hold what was programmed there. Then nothing is kept any more, unless it was
    /// [forgiven](Self::forgive_damage).
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| kept.damage.load(Ordering::Relaxed))
    }

    /// Nothing was made of what was read: it was for somebody who hears of the damage.
    pub fn forgive_damage(&self) {
        if let Some(kept) = &self.kept {
            kept.damage.store(false, Ordering::Relaxed);
        }
    }
}
