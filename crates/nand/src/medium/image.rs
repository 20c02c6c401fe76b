//! How the pages of a medium outlive the process, in a [`Store`].
//!
//! The first bytes of the store are used by its owner. They are followed by two places for a [mark](Mark), and by
//! three tables. The tables have an entry for each physical block or page, die after die.
//!
//! | table | entry | bytes |
//! | --- | --- | --- |
//! | marks | number of the mark; the program up to which everything is durable; counts of page entries and of erases up to this program; checksum. Two places, written in turn | 4096 |
//! | blocks | erase count; count of page entries of the earlier lives of the block; checksum. Two places, written in turn | 32 |
//! | pages | the spare area, checksum of the data, checksum of the entry | 64 |
//! | data | the bytes of the page; not written for a page of the map or a summary | bytes of a page |
//!
//! A program writes the data first, and then the entry of the page. The *life* of a block lasts from one erase to the
//! next, and a page entry belongs to one life of its block. An erase increases the erase count of the block. This one
//! write invalidates all page entries of the life before. The erase is written to the store only when a page of the
//! block is programmed again, or when its pool, the blocks among which the layer looks for its next free block, has no
//! other erased block. Before the erase is written, the store makes copies of pages of the block, and data that
//! replaced its pages, durable.
//!
//! The sequence of writes can break off at any point, even within a write. The store then holds contents that a loss
//! of power could also have left on flash. A partly written entry has a wrong checksum, and its page is unreadable.
//!
//! If the machine crashes, any write that is not durable yet may be missing. After each sync, a mark is written. The
//! mark gives the program up to which everything is durable, and the number of page entries at that time. This number
//! is the sum over earlier lives, which the table of blocks counts, and present lives. An erase moves the entries of
//! the present life of its block to the earlier lives, so the sum never decreases.
//!
//! A crash cannot remove durable entries or erases. If an opened store has fewer entries or erases than its mark
//! gives, the store has [damage](Damage). The data of pages programmed after the mark are compared with their
//! checksums. A page whose data do not match, or whose entry is not whole, is unreadable from then on. A write of a
//! mark, or of a block entry, never overwrites the latest durable mark or entry.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use destage_base::Lpn;

use super::cells::{self, Block, Cell, Data, Stored};
use super::cut::{Done, Undo};
use super::erased::{Erased, Pools};
use super::keeper::{Fault, Store};
use super::{Medium, Spare, SpareKind, Spot};
use crate::geometry::Geometry;
use crate::operation::{Purpose, Role};

const BLOCK_BYTES: u64 = 32;
const PAGE_BYTES: u64 = 64;
/// The unit, in bytes, that a disk may lose as a whole. Data begin at a multiple of this number, and each mark
/// occupies this many bytes.
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
/// The kind that marks an entry of an unreadable page.
const UNREADABLE: u8 = 6;
const HAS_DATA: u8 = 1;
const IS_TORN: u8 = 2;
const HAS_OWNER: u8 = 4;

/// The layout of a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    geometry: Geometry,
    marks_at: u64,
    blocks_at: u64,
    pages_at: u64,
    /// Offset in the store at which the data of pages begin, in bytes.
    pub data_at: u64,
    /// Size of the whole store, in bytes.
    pub bytes: u64,
}

impl Layout {
    /// The layout for a device of this geometry, in a store whose owner uses the first `base` bytes. `None` if the
    /// size does not fit into 64 bits.
    #[must_use]
    pub fn new(geometry: &Geometry, base: u64) -> Option<Self> {
        let blocks = u64::from(geometry.blocks_per_die()) * u64::from(geometry.dies);
        let pages = blocks.checked_mul(u64::from(geometry.pages_per_block))?;
        let marks_at = base.next_multiple_of(ALIGNMENT);
        let blocks_at = marks_at + 2 * ALIGNMENT;
        let pages_at = (blocks_at + blocks * 2 * BLOCK_BYTES).next_multiple_of(ALIGNMENT);
        let data_at = pages.checked_mul(PAGE_BYTES)?.checked_add(pages_at)?;
        let data_at = data_at.checked_next_multiple_of(ALIGNMENT)?;
        let data = pages.checked_mul(geometry.page_bytes)?;
        Some(Self {
            geometry: *geometry,
            marks_at,
            blocks_at,
            pages_at,
            data_at,
            bytes: data.checked_add(data_at)?,
        })
    }

    fn blocks_per_die(&self) -> u64 {
        u64::from(self.geometry.blocks_per_die())
    }

    fn pages_per_block(&self) -> u64 {
        u64::from(self.geometry.pages_per_block)
    }

    fn block(&self, die: u32, block: u32) -> u64 {
        u64::from(die) * self.blocks_per_die() + u64::from(block)
    }

    fn page(&self, spot: Spot) -> u64 {
        self.block(spot.die, spot.block) * self.pages_per_block() + u64::from(spot.page)
    }

    fn data_of(&self, spot: Spot) -> u64 {
        self.data_at + self.page(spot) * self.geometry.page_bytes
    }

    /// Offset of the entry of block `number` for its life after `erases` erases. The two places of the entry are used
    /// in turn.
    fn block_at(&self, number: u64, erases: u32) -> u64 {
        self.blocks_at + (2 * number + u64::from(erases & 1)) * BLOCK_BYTES
    }
}

/// Bytes of a [mark](Mark).
const MARK_BYTES: usize = 40;

/// How far the sequence of writes to a store has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// The number of the latest program.
    pub program: u64,
    /// Number of page entries, including entries of earlier lives.
    entries: u64,
    /// Number of erases of blocks.
    erases: u64,
}

/// The marks of a store. The owner of the store writes the [next](Marks::next) mark after each sync.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    marks_at: u64,
    number: u64,
    latest: Mark,
}

impl Marks {
    /// The marks of a new store of this `layout`. The caller has to write [`Marks::head`].
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        Self {
            marks_at: layout.marks_at,
            number: 0,
            latest: Mark::default(),
        }
    }

    /// The marks of an existing store. `read` reads the bytes of the store from an offset on. `None` if no mark is
    /// whole; the store then has damage.
    pub fn find(layout: &Layout, mut read: impl FnMut(u64, &mut [u8])) -> Option<Self> {
        let mut marks = Self::new(layout);
        let mut is_found = false;
        for place in 0..2 {
            let mut entry = [0; MARK_BYTES];
            read(layout.marks_at + place * ALIGNMENT, &mut entry);
            let number = word_at(&entry, 0);
            if is_sealed(&entry) && (!is_found || number > marks.number) {
                is_found = true;
                marks.number = number;
                marks.latest = Mark {
                    program: word_at(&entry, 8),
                    entries: word_at(&entry, 16),
                    erases: word_at(&entry, 24),
                };
            }
        }
        is_found.then_some(marks)
    }

    /// The latest mark.
    #[must_use]
    pub fn latest(&self) -> Mark {
        self.latest
    }

    /// The offset of the latest mark, and its bytes.
    #[must_use]
    pub fn head(&self) -> (u64, [u8; MARK_BYTES]) {
        let Mark {
            program,
            entries,
            erases,
        } = self.latest;
        let mut entry = [0; MARK_BYTES];
        put_words(&mut entry, &[self.number, program, entries, erases]);
        seal(&mut entry);
        (self.marks_at + (self.number & 1) * ALIGNMENT, entry)
    }

    /// Makes `mark` the latest mark; everything up to `mark` has to be durable. Returns the offset and the bytes to
    /// write; `None` if `mark` is the latest mark already.
    pub fn next(&mut self, mark: Mark) -> Option<(u64, [u8; MARK_BYTES])> {
        if mark == self.latest {
            return None;
        }
        self.number += 1;
        self.latest = mark;
        Some(self.head())
    }
}

/// The reason why a store does not hold all data that were written to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// No mark is whole.
    NoMark,
    /// This many erases of blocks are missing.
    Erases(u64),
    /// This many entries of pages are missing.
    Entries(u64),
    /// The entry of this page belongs to a life of its block that has not begun according to the block entry.
    Life(Spot),
    /// A mount has copied a page that did not hold its programmed data.
    Data,
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMark => out.write_str("nothing says which of its data are durable"),
            Self::Erases(count) => write!(out, "{count} erases of blocks are missing"),
            Self::Entries(count) => write!(out, "{count} programmed pages are missing"),
            Self::Life(Spot { die, block, page }) => write!(
                out,
                "page {page} of block {block} of die {die} was programmed after an erase that is missing"
            ),
            Self::Data => out.write_str("a page does not hold its programmed data"),
        }
    }
}

/// An erase that is not written to the store yet.
#[derive(Clone, Copy, Default)]
struct Waiting {
    /// Erase count of the block, including this erase.
    erases: u32,
    /// Number of page entries of the lives before this erase.
    earlier: u64,
    /// Number of programs on all dies before the erase.
    programs: u64,
    /// Number of erases of the block since its latest entry in the store.
    times: u64,
}

/// The store of a medium, and the state of the medium's writes to the store.
#[derive(Clone)]
pub(super) struct Kept {
    store: Arc<dyn Store>,
    layout: Layout,
    /// Whether a page was read that did not hold its programmed data.
    damage: Arc<AtomicBool>,
    /// The erases that are not written to the store yet, by die and block.
    unwritten: BTreeMap<(u32, u32), Waiting>,
    /// The blocks that are erased in the store.
    erased: Erased,
    /// The mark for the writes so far.
    mark: Mark,
}

impl Kept {
    /// The `length` bytes of the page `stored` at `spot`. If the store does not hold the programmed bytes, returns
    /// zeros and records the damage.
    pub fn read(&self, spot: Spot, stored: &Stored, length: usize) -> Arc<[u8]> {
        let mut bytes = vec![0; length];
        self.store.read(self.layout.data_of(spot), &mut bytes);
        let is_whole = matches!(stored.data, Data::Filed(sum) if sum == cells::digest(&bytes));
        if !is_whole {
            bytes.fill(0);
            self.damage.store(true, Ordering::Relaxed);
        }
        bytes.into()
    }

    /// Writes `bytes`, unless the store has damage: then later writes may derive from damaged data.
    fn write(&self, offset: u64, bytes: &[u8]) {
        if !self.damage.load(Ordering::Relaxed) {
            self.store.write(offset, bytes);
        }
    }

    /// Writes the page `stored`, which is programmed at `spot` in the life of its block after `erases` erases. From
    /// then on only the store has the bytes of the page. `begins` says whether the page is the first page of that
    /// life.
    pub fn program(&mut self, spot: Spot, stored: &mut Stored, erases: u32, begins: bool) {
        if !self.unwritten.is_empty() && self.needs_erases(spot) {
            self.write_erases();
        }
        if begins {
            self.erased.remove(spot.die, spot.block);
        }
        if let Data::Here(bytes) = &stored.data {
            self.write(self.layout.data_of(spot), bytes);
            stored.data = Data::Filed(cells::digest(bytes));
        }
        self.record(spot, &entry_of(stored, erases));
        self.mark.program = stored.spare.program;
        self.mark.entries += 1;
        self.tell_mark();
    }

    /// Whether erases have to be written before the page at `spot` is programmed. A mount needs erased blocks in each
    /// pool. For a mount, a block whose erase is not written yet is not erased: its pages that were trimmed, or that
    /// were replaced by lost pages, are valid again.
    fn needs_erases(&self, Spot { die, block, .. }: Spot) -> bool {
        let of_die = self.unwritten.range((die, 0)..=(die, u32::MAX));
        let pool = self.erased.pool_of(die, block);
        let mut of_pool = of_die.filter(|((_, waits), _)| self.erased.pool_of(die, *waits) == pool);
        self.unwritten.contains_key(&(die, block))
            || !self.erased.has_enough_without(die, block) && of_pool.next().is_some()
    }

    /// Passes the mark to the store, unless the store has damage: then data are no longer written, and cannot become
    /// durable.
    fn tell_mark(&self) {
        if !self.damage.load(Ordering::Relaxed) {
            self.store.mark(self.mark);
        }
    }

    /// Records an erase of `block` of `die`, after `programs` programs. `is` is the state of the block after the
    /// erase, and `was_erased` says whether it was erased before. The erase is written to the store later
    /// ([`Kept::write_erases`]).
    pub fn erase(&mut self, (die, block): (u32, u32), was_erased: bool, is: &Block, programs: u64) {
        if was_erased && !self.unwritten.contains_key(&(die, block)) {
            self.erased.remove(die, block);
        }
        let waiting = self.unwritten.entry((die, block)).or_default();
        *waiting = Waiting {
            erases: is.erases,
            earlier: is.earlier,
            programs,
            times: waiting.times + 1,
        };
    }

    /// Writes the erases that are not written yet. Before, it makes everything durable that has replaced pages of the
    /// erased blocks. The erases are durable when the method returns, so that new pages may be written to the blocks.
    pub fn write_erases(&mut self) {
        let last = self
            .unwritten
            .values()
            .map(|waiting| waiting.programs)
            .max();
        if last > Some(self.store.synced()) {
            self.store.sync();
        }
        for ((die, block), waiting) in core::mem::take(&mut self.unwritten) {
            let entry = block_entry(waiting.erases, waiting.earlier);
            self.put_block(die, block, waiting.erases, &entry);
            self.mark.erases += waiting.times;
            self.erased.insert(die, block);
        }
        self.tell_mark();
        self.store.sync();
    }

    fn put_block(&self, die: u32, block: u32, erases: u32, entry: &[u8; BLOCK_BYTES as usize]) {
        let number = self.layout.block(die, block);
        self.write(self.layout.block_at(number, erases), entry);
    }

    fn record(&self, spot: Spot, entry: &[u8; PAGE_BYTES as usize]) {
        let at = self.layout.pages_at + self.layout.page(spot) * PAGE_BYTES;
        self.write(at, entry);
    }

    /// Called before the page at `spot` is programmed. If an operation in `done` erases the block of this page, and
    /// the power fails before that erase has begun, the old contents have to be restored. Therefore the old bytes of
    /// the page are stored in the undo data of the erase.
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

fn word_at(entry: &[u8], at: usize) -> u64 {
    entry[at..at + 8].try_into().map_or(0, u64::from_le_bytes)
}

fn put_words(entry: &mut [u8], words: &[u64]) {
    for (at, word) in entry.chunks_mut(8).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
}

/// The entry of a block with `erases` erases and `earlier` page entries in its earlier lives; all zeros for a block
/// that was never erased.
fn block_entry(erases: u32, earlier: u64) -> [u8; BLOCK_BYTES as usize] {
    let mut entry = [0; BLOCK_BYTES as usize];
    if erases > 0 {
        put_words(&mut entry, &[u64::from(erases), earlier]);
        seal(&mut entry);
    }
    entry
}

/// Computes the checksum over all words except the last, and writes it into the last word. The checksum is never 0.
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
    let mut entry = unreadable_entry(erases);
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
    put_words(&mut entry[16..48], &words);
    seal(&mut entry);
    entry
}

fn unreadable_entry(erases: u32) -> [u8; PAGE_BYTES as usize] {
    let mut entry = [0; PAGE_BYTES as usize];
    entry[..4].copy_from_slice(&erases.to_le_bytes());
    entry[4] = UNREADABLE;
    seal(&mut entry);
    entry
}

/// An entry of the table of pages.
enum Entry {
    /// The entry was never written.
    Nothing,
    /// The entry is only partly written, so the life of the block to which it belongs is unknown.
    Broken,
    /// The page is unreadable, in the life of the block after this number of erases.
    Unreadable(u32),
    /// The contents of the page, in the life of the block after this number of erases.
    Page(u32, Stored),
}

impl Entry {
    /// Decodes an entry. The device has `pages` logical pages.
    fn read(entry: &[u8], pages: u64) -> Self {
        if entry.iter().all(|byte| *byte == 0) {
            return Self::Nothing;
        }
        let half = |at: usize| entry[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let word = |at: usize| word_at(entry, at);
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

/// The findings when a block is loaded from a store.
#[derive(Default)]
struct Loaded {
    /// Number of entries that count as durable: entries of earlier lives, entries of unreadable pages, and entries of
    /// programs up to the mark.
    lasting: u64,
    /// A page whose entry belongs to a life of the block that has not begun.
    ahead: Option<u32>,
    /// Pages whose entries are not whole, or belong to a life of the block that has not begun.
    broken: Vec<u32>,
}

impl Medium {
    /// Loads this new medium from `store`, and from then on writes all changes of the medium to `store`. The device
    /// has `pages` logical pages, its layer takes free blocks from `pools`, and `layout` is the layout for its geometry.
    /// The caller has to mount the device afterwards.
    ///
    /// # Errors
    /// If durable data are missing.
    pub fn keep_in(
        &mut self,
        store: Arc<dyn Store>,
        layout: Layout,
        pages: u64,
        pools: Pools,
    ) -> Result<(), Damage> {
        let marks = Marks::find(&layout, |at, out| store.read(at, out));
        let mark = marks.ok_or(Damage::NoMark)?.latest();
        let erased = Erased::new(&layout.geometry, pools);
        let kept = Kept {
            store,
            layout,
            damage: Arc::default(),
            unwritten: BTreeMap::new(),
            erased,
            mark,
        };
        let mut unreadable = self.load_all(&kept, pages)?;
        unreadable.extend(self.lose_unwritten(&kept));
        for spot in unreadable {
            let erases = self.dies[spot.die as usize].blocks[spot.block].erases;
            kept.record(spot, &unreadable_entry(erases));
        }
        // New programs are not durable yet, so their numbers have to be above the number in the mark.
        self.programs = self.programs.max(mark.program);
        self.kept = Some(kept);
        self.mark_all();
        Ok(())
    }

    /// Loads every block with an entry in the store. Returns the pages whose entry is invalid.
    fn load_all(&mut self, kept: &Kept, pages: u64) -> Result<Vec<Spot>, Damage> {
        let layout = &kept.layout;
        let tables = [
            (layout.blocks_at..layout.pages_at, 2 * BLOCK_BYTES),
            (
                layout.pages_at..layout.data_at,
                layout.pages_per_block() * PAGE_BYTES,
            ),
        ];
        let all = self.dies.len() as u64 * layout.blocks_per_die();
        let mut numbers = BTreeSet::new();
        for (table, per_block) in tables {
            let mut from = table.start;
            while let Some(range) = kept.store.written(from..table.end) {
                let first = (range.start - table.start) / per_block;
                let end = (range.end - table.start).div_ceil(per_block);
                numbers.extend(first..end.min(all));
                from = (table.start + end * per_block).min(table.end);
            }
        }
        let (mut entries, mut erases, mut broken) = (0, 0, Vec::new());
        for number in numbers {
            let (die, block) = (
                (number / layout.blocks_per_die()) as u32,
                (number % layout.blocks_per_die()) as u32,
            );
            let (is, loaded) = self.load(kept, number, pages);
            let spot = |page| Spot { die, block, page };
            // If the mark is 0, the program ended while it wrote the effects of a loss of power. Such entries are
            // then no damage.
            if let Some(page) = loaded.ahead.filter(|_| kept.mark.program > 0) {
                return Err(Damage::Life(spot(page)));
            }
            entries += loaded.lasting;
            erases += u64::from(is.erases);
            broken.extend(loaded.broken.into_iter().map(spot));
            self.dies[die as usize].blocks[block] = is;
        }
        if erases < kept.mark.erases {
            return Err(Damage::Erases(kept.mark.erases - erases));
        }
        if entries < kept.mark.entries {
            return Err(Damage::Entries(kept.mark.entries - entries));
        }
        Ok(broken)
    }

    /// Counts the entries and erases in the store again, and makes the contents of the store durable.
    fn mark_all(&mut self) {
        self.count_erased();
        let Some(kept) = &mut self.kept else { return };
        let mut mark = Mark {
            program: self.programs,
            ..Mark::default()
        };
        for (_, block) in self.dies.iter().flat_map(|die| die.blocks.made()) {
            mark.entries += block.earlier + block.entries();
            mark.erases += u64::from(block.erases);
        }
        kept.mark = mark;
        kept.tell_mark();
        kept.store.sync();
    }

    /// Notes which blocks are erased in the store.
    fn count_erased(&mut self) {
        let Some(kept) = &mut self.kept else { return };
        kept.erased.reset();
        for (die, state) in (0..).zip(&self.dies) {
            for (block, of_block) in state.blocks.made() {
                if !of_block.is_erased() || kept.unwritten.contains_key(&(die, block)) {
                    kept.erased.remove(die, block);
                }
            }
        }
    }

    /// Checks the pages that were programmed after the mark. Pages whose data do not match their checksum become
    /// unreadable and are returned.
    fn lose_unwritten(&mut self, kept: &Kept) -> Vec<Spot> {
        let mut bytes = vec![0; self.zeros.len()];
        let mut spoilt = Vec::new();
        for (die, state) in (0..).zip(&self.dies) {
            for (block, of_block) in state.blocks.made() {
                for (page, stored) in of_block.all() {
                    let Data::Filed(sum) = stored.data else {
                        continue;
                    };
                    if stored.spare.program <= kept.mark.program {
                        continue;
                    }
                    let spot = Spot { die, block, page };
                    kept.store.read(kept.layout.data_of(spot), &mut bytes);
                    if cells::digest(&bytes) != sum {
                        spoilt.push(spot);
                    }
                }
            }
        }
        for spot in &spoilt {
            self.dies[spot.die as usize].blocks[spot.block].lose(spot.page, self.pages_per_block);
        }
        spoilt
    }

    /// Loads block `number` from the store.
    fn load(&mut self, kept: &Kept, number: u64, pages: u64) -> (Block, Loaded) {
        let layout = &kept.layout;
        let mut block = Block::new();
        for place in 0..2 {
            let mut entry = [0; BLOCK_BYTES as usize];
            kept.store.read(layout.block_at(number, place), &mut entry);
            let erases = word_at(&entry, 0) as u32;
            if is_sealed(&entry) && erases > block.erases {
                block.erases = erases;
                block.earlier = word_at(&entry, 8);
            }
        }
        let mut loaded = Loaded {
            lasting: block.earlier,
            ..Loaded::default()
        };
        let per_block = layout.pages_per_block() * PAGE_BYTES;
        let mut table = vec![0; per_block as usize];
        kept.store
            .read(layout.pages_at + number * per_block, &mut table);
        let mut found: Vec<(u32, Stored)> = Vec::new();
        for (page, entry) in (0..).zip(table.chunks(PAGE_BYTES as usize)) {
            match Entry::read(entry, pages) {
                Entry::Nothing => {}
                // The entry may belong to the present life of the block.
                Entry::Broken => {
                    block.spoil(page, self.pages_per_block);
                    loaded.broken.push(page);
                }
                Entry::Page(life, _) | Entry::Unreadable(life) if life < block.erases => {}
                Entry::Page(life, _) | Entry::Unreadable(life) if life > block.erases => {
                    loaded.ahead = Some(page);
                    block.spoil(page, self.pages_per_block);
                    loaded.broken.push(page);
                }
                Entry::Unreadable(_) => {
                    loaded.lasting += 1;
                    block.spoil(page, self.pages_per_block);
                }
                Entry::Page(_, stored) => {
                    loaded.lasting += u64::from(stored.spare.program <= kept.mark.program);
                    found.push((page, stored));
                }
            }
        }
        found.sort_unstable_by_key(|(_, stored)| stored.spare.program);
        for (page, stored) in found {
            self.programs = self.programs.max(stored.spare.program);
            block.put(page, self.pages_per_block, stored);
        }
        (block, loaded)
    }

    /// Makes the findings of a mount durable, so that the next mount after a crash has the same findings.
    pub fn keep_findings(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.write_erases();
        }
    }

    /// Writes all entries and data of `blocks` again, after operations in these blocks were undone. A block is given
    /// by its die and its number. Until the writes are complete, the mark says that nothing is durable.
    pub(super) fn rewrite_blocks(&mut self, blocks: &[(u32, u32)]) {
        let Some(kept) = self.kept.as_mut().filter(|_| !blocks.is_empty()) else {
            return;
        };
        kept.unwritten.retain(|block, _| !blocks.contains(block));
        kept.write_erases();
        kept.mark = Mark::default();
        kept.tell_mark();
        kept.store.sync();
        for (die, number) in blocks.iter().copied() {
            let block = &mut self.dies[die as usize].blocks[number];
            let spot = |page| Spot {
                die,
                block: number,
                page,
            };
            block.file_all(|page, bytes| kept.write(kept.layout.data_of(spot(page)), bytes));
            // An undone erase may have been written to the store. Therefore the block entry of the next life is
            // cleared.
            kept.put_block(die, number, block.erases + 1, &block_entry(0, 0));
            let entry = block_entry(block.erases, block.earlier);
            kept.put_block(die, number, block.erases, &entry);
            for page in 0..self.pages_per_block {
                let entry = match block.cell(page) {
                    Cell::Erased | Cell::Unknown => [0; PAGE_BYTES as usize],
                    Cell::Unreadable => unreadable_entry(block.erases),
                    Cell::Filled(page) => entry_of(&Stored::filled(page), block.erases),
                    Cell::Stored(stored) => entry_of(stored, block.erases),
                };
                kept.record(spot(page), &entry);
            }
        }
        self.mark_all();
    }

    /// The first failure of the store, if the medium has a store and the store has failed.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.kept.as_ref().and_then(|kept| kept.store.fault())
    }

    /// Whether a store keeps the data.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.kept.is_some()
    }

    /// Whether a read page did not hold its programmed data. After such a read nothing is written to the store,
    /// unless the damage is [forgiven](Self::forgive_damage).
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| kept.damage.load(Ordering::Relaxed))
    }

    /// Whether the store [is damaged](Self::is_damaged). The damage is then forgiven: the store is written again. The
    /// caller may do this if the damaged data are not used, or if the client that read them gets an error.
    pub fn forgive_damage(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| kept.damage.swap(false, Ordering::Relaxed))
    }
}
