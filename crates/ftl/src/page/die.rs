//! One die of the page-mapped device: its maps, its blocks, and the physical page of the next write.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::lazy::{CHUNK, LazyTable, Same, parts};
use destage_base::{Random, Ticks};

mod build;
mod cache;
mod choice;
mod copies;
mod front;
mod journal;
mod mount;
mod overwrite;
mod room;
mod streams;
mod units;

pub(crate) use self::build::Layout;
use self::front::Front;
use self::journal::Journal;
pub use self::streams::Separation;
use self::streams::Streams;
pub use self::units::Units;
use super::free::FreeBlocks;
use super::levelling::ByWear;
use super::shape::{InitialBlock, InitialMap, InitialOwner, NONE, Shape};
use super::victims::Victims;
use crate::NoSpace;
use destage_nand::array::{Nand, Ppn};
use destage_nand::divide::Divider;
use destage_nand::operation::{Cause, Operations, Purpose, Role};

/// A stream of pages; pages of different streams do not share blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// Pages that the buffer or the host writes. If writes are divided into streams, only the pages of the first
    /// stream.
    Host,
    /// Pages that garbage collection moves, if moved pages have blocks of their own.
    Migrations,
    /// Pages of the map or of its journal.
    Map,
    /// Pages that the buffer or the host writes to a stream other than the first.
    FurtherHost(u8),
    /// If placement handles are isolated: pages of a handle other than the first that garbage collection moves.
    FurtherMigrations(u8),
}

impl Stream {
    /// The use of the blocks of the stream.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Host => Purpose::shared(Role::Host),
            Self::Migrations => Purpose::shared(Role::Migrations),
            Self::Map => Purpose::shared(Role::Map),
            Self::FurtherHost(number) => Purpose::owned(Role::Host, u32::from(number) + 1),
            Self::FurtherMigrations(number) => {
                Purpose::owned(Role::Migrations, u32::from(number) + 1)
            }
        }
    }
}

/// The open block of a stream in a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    block: u32,
    /// Next page of the block; equal to the number of data pages once the block is sealed.
    page: u32,
}

archived!(Open { block, page });

/// Numbers of free blocks of a pool at which garbage collection starts and ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watermarks {
    /// Garbage collection is needed as soon as fewer blocks are free.
    pub low: u32,
    /// Garbage collection is no longer needed as soon as this many blocks are free.
    pub high: u32,
}

/// The blocks among which the next page of a stream is placed: a plane, or without copy-back the whole die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    pub first_block: u32,
    pub blocks: u32,
    pub active_block: u32,
    /// Next page of the active block; equal to the number of data pages once the block is sealed.
    pub active_page: u32,
    /// Sequence number of the active block; 0 if the active block was erased and no other block has been opened
    /// since.
    pub active_sequence: u32,
    /// Number of free blocks as garbage collection counts them: see [`DieRules::counts_first_open`].
    pub free: u32,
    /// The block at which the search for a free block begins.
    pub pointer: u32,
    /// Number of valid pages; only counted if [`DieRules::most_valid`] limits them.
    valid: u32,
}

archived!(Pool { active_block, active_page, active_sequence, free, pointer, valid } fixed { first_block, blocks });

/// Further data of a pool. They are not in [`Pool`], because only some writes need them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aside {
    /// The open blocks of the streams [`Stream::Migrations`] and [`Stream::Map`].
    open: [Open; 2],
    /// The pool needs garbage collection.
    pub needs_gc: bool,
    /// Number of erases so far.
    pub erased: u64,
}

archived!(Aside {
    open,
    needs_gc,
    erased
});

impl Pool {
    /// Number of free pages, by which the pool of a write is chosen.
    #[inline]
    fn room(&self, pages_per_block: u32) -> u32 {
        self.free * pages_per_block + pages_per_block - self.active_page
    }

    /// Whether the active page was allocated after the copy `old`.
    #[inline]
    fn is_behind(&self, old: Old) -> bool {
        (self.active_sequence > old.sequence)
            | ((self.active_block == old.block) & (self.active_page > old.page))
    }
}

/// Those properties of the copy to be replaced on which the choice of a pool for the write depends.
#[derive(Clone, Copy)]
pub(crate) struct Old {
    pub block: u32,
    page: u32,
    sequence: u32,
}

/// Properties of a die that are fixed when the die is built.
#[derive(Clone, Copy)]
pub(crate) struct DieRules {
    pub watermarks: Watermarks,
    pub plane_divider: Divider,
    /// Maximum number of erases of a block.
    pub endurance: u32,
    /// A block with this many erases is retired.
    pub retire_at: u32,
    /// Maximum number of valid pages in a pool; with at most this number, garbage collection can always reach its
    /// high watermark. There is no limit in two cases: with the parameters of the reference simulator, whose
    /// garbage collection may get stuck; and if the number cannot be exceeded with any choice of pools.
    pub most_valid: u32,
    /// Pages that garbage collection moves have blocks of their own.
    pub separate_migrations: bool,
    /// A page that is copied within its plane does not cross the bus.
    pub free_inside_planes: bool,
    /// Units of the mapping that share a page of flash.
    pub units_per_page: u32,
    /// The program units, if pages are programmed together and the power may fail.
    pub units: Option<Units>,
    pub summary_page: bool,
    /// At the start, the open block counts as free, as in the reference simulator without copy-back.
    pub counts_first_open: bool,
    /// Whether pages that garbage collection and wear levelling move are noted.
    pub notes_moves: bool,
    /// Maximum number of blocks that have to be opened for the pages that move out of one block.
    pub most_for_copies: u32,
    /// The hard threshold: if fewer blocks of a pool are free, garbage collection yields to no operation.
    pub floor: u32,
}

/// The free blocks.
#[derive(Clone)]
pub(crate) struct Free {
    pub blocks: FreeBlocks,
    /// The free blocks by wear; `None` if wear is not levelled.
    pub by_wear: Option<ByWear>,
}

archived!(Free { blocks, by_wear });

/// Further data of all pools. They are not in [`Pool`], because only some writes need them.
#[derive(Clone)]
pub(crate) struct Rest {
    /// The further data of each pool.
    pub asides: Vec<Aside>,
    /// Number of pools that need garbage collection. With this number, one comparison shows that no pool needs it,
    /// which is the usual case.
    pub needy: u32,
    /// By pool: the block that is being collected in steps, and the page at which its collection continues.
    pub begun: Vec<Option<(u32, u32)>>,
}

archived!(Rest { asides, needy } fixed { begun });

/// The search for the pool of the next write. Its first pool rotates over all pools.
#[derive(Clone)]
pub(crate) struct Search {
    /// The pool at which the search begins.
    pub pointer: u32,
    /// The value of `pointer` before the last choice.
    pub before: u32,
    front: Front,
}

archived!(Search { pointer, before } fixed { front });

/// Data that a die only has with some parameters.
#[derive(Clone)]
pub(crate) struct Extras {
    /// The time at which each block was last erased; only with wear-aware garbage collection.
    pub last_erase: Option<LazyTable<Same<Ticks>>>,
    /// Logical pages that garbage collection and wear levelling have moved, if the map is in flash.
    pub migrated: Option<Vec<u32>>,
    /// The streams of the host and of isolated handles, if there is more than one stream.
    pub streams: Option<Streams>,
    /// The journal of changes of the map, if the layer has a journal.
    pub journal: Option<Journal>,
}

archived!(Extras { last_erase, migrated } fixed { streams, journal });

/// The whole state of one die.
#[derive(Clone)]
pub(crate) struct Die {
    pub rules: DieRules,
    pub shape: Shape,
    pub map: LazyTable<InitialMap>,
    pub owner: LazyTable<InitialOwner>,
    pub blocks: LazyTable<InitialBlock>,
    pub nand: Nand,
    pub free: Free,
    pub victims: Victims,
    pub pools: Vec<Pool>,
    pub rest: Rest,
    /// Random numbers for [`super::Policy::GreedyWear`].
    pub random: Random,
    next_sequence: u32,
    pub search: Search,
    pub extras: Extras,
}

archived!(Die {
    map, owner, blocks, nand, free, victims, pools, rest, random, next_sequence, search, extras,
} fixed { rules, shape });

impl Die {
    /// Whether each pool has a maximum number of valid pages.
    #[inline]
    pub fn limits_pools(&self) -> bool {
        self.rules.most_valid != u32::MAX
    }

    /// The pool to which `block` belongs.
    pub fn pool_of(&self, block: u32) -> usize {
        if self.pools.len() == 1 {
            0
        } else {
            self.plane_of(block) as usize
        }
    }

    #[inline]
    pub fn plane_of(&self, block: u32) -> u32 {
        self.rules.plane_divider.split(block).0
    }

    /// Reads `page` for the host; returns whether `page` has contents.
    #[inline]
    pub fn read(&self, page: u32, operations: &mut Operations) -> bool {
        let place = self.read_place(page);
        if let Some(place) = place {
            operations.push_host_read(place);
        }
        place.is_some()
    }

    /// The physical page that holds `page`, marked as read; `None` if `page` has no contents.
    #[inline]
    fn read_place(&self, page: u32) -> Option<Ppn> {
        let ppn = self.map.get(page as usize);
        if ppn == NONE {
            return None;
        }
        let (block, place) = (
            ppn >> self.shape.page_bits,
            ppn & ((1 << self.shape.page_bits) - 1),
        );
        self.nand.read(block, place);
        Some(Ppn(ppn))
    }

    /// The properties of the newest copy of `page` that [`Die::choose_pool`] needs.
    #[inline(always)]
    pub fn old_copy(&self, page: u32) -> Option<Old> {
        let ppn = self.map.get(page as usize);
        if ppn == NONE {
            return None;
        }
        let block = ppn >> self.shape.page_bits;
        let page = ppn & ((1 << self.shape.page_bits) - 1);
        Some(Old {
            block,
            page,
            sequence: self.blocks.get(block as usize).sequence,
        })
    }

    /// Number of pages that can be written to `pool` before garbage collection has to free a block. One free block
    /// is not counted: it is for the pages that garbage collection moves.
    pub fn pages_left(&self, pool: usize) -> u32 {
        let pool = &self.pools[pool];
        pool.free.saturating_sub(1) * self.shape.data_pages + self.shape.data_pages
            - pool.active_page
    }

    /// Writes logical `page` to `pool` for the host; its old copy becomes invalid. Returns whether the block was
    /// sealed.
    #[inline(always)]
    pub fn write(
        &mut self,
        pool: usize,
        page: u32,
        old: Option<Old>,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let target = self.next_of(pool, Stream::Host)?;
        if let Some(old) = old {
            self.invalidate_in(old.block);
        }
        operations.push_host_program(cause, target, || Stream::Host.purpose());
        Ok(self.program(pool, Stream::Host, page, operations))
    }

    /// Writes page `page` of the map or of its journal; the old copy of the page becomes invalid.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    pub fn write_map(
        &mut self,
        page: u32,
        same_plane: bool,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let map_page = page;
        let page = self.shape.numbers() + map_page;
        let old = self.old_copy(page);
        let pool = self.next_pool(page, old, same_plane);
        let target = match self.next_of(pool, Stream::Map) {
            Ok(target) => target,
            Err(full) => {
                self.search.pointer = self.search.before;
                return Err(full);
            }
        };
        self.invalidate(page);
        operations.push_map_program(target, map_page);
        self.program(pool, Stream::Map, page, operations);
        Ok(())
    }

    /// Reads page `page` of the map; returns whether that page was ever written.
    pub fn read_map(&self, page: u32, operations: &mut Operations) -> bool {
        let place = self.read_place(self.shape.numbers() + page);
        if let Some(place) = place {
            operations.push_map_read(place, page);
        }
        place.is_some()
    }

    /// The first physical page of the block with the newest copy of logical `page`; `None` if there is no copy.
    pub fn block_of(&self, page: u32) -> Option<Ppn> {
        let at = self.map.get(page as usize);
        let bits = self.shape.page_bits;
        (at != NONE).then_some(Ppn(at >> bits << bits))
    }

    /// Forgets logical `page`, whose contents are not needed on this die any more; returns whether it had
    /// contents.
    pub fn forget(&mut self, page: u32) -> bool {
        let is_mapped = self.map.get(page as usize) != NONE;
        if is_mapped {
            self.invalidate(page);
            *self.map.get_mut(page as usize) = NONE;
        }
        is_mapped
    }

    /// [Forgets](Die::forget) all of the logical `pages`. The pages of whole chunks of the map use no memory afterwards.
    pub fn forget_all(&mut self, pages: Range<u32>) {
        let mut copies: Vec<u32> = Vec::with_capacity(CHUNK);
        for part in parts(&(pages.start as usize..pages.end as usize)) {
            self.map.replace_all(&part, NONE, |ppn| copies.push(ppn));
            for ppn in copies.drain(..) {
                self.invalidate_in(ppn >> self.shape.page_bits);
            }
        }
    }

    /// Emits the logical pages among `pages` that have contents, in ascending order.
    pub fn mapped(&self, pages: Range<u32>, emit: &mut dyn FnMut(u32)) {
        let pages = pages.start..pages.end.min(self.shape.pages()).max(pages.start);
        if self.shape.filled {
            // On a filled device, pages that the run has not written yet have contents too.
            let held = pages.filter(|page| self.map.get(*page as usize) != NONE);
            return held.for_each(emit);
        }
        let touched = self
            .map
            .touched_in(pages.start as usize..pages.end as usize);
        let held = touched.filter(|(_, place)| *place != NONE);
        held.for_each(|(page, _)| emit(page as u32));
    }

    /// The physical page of `pool` that [`Die::program`] will program next for `stream`; opens another block if
    /// the open block is full.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    #[inline(always)]
    pub fn next_of(&mut self, pool: usize, stream: Stream) -> Result<Ppn, NoSpace> {
        if self.open_page(pool, stream).page == self.shape.data_pages {
            self.open_block(pool, stream)?;
        }
        let open = self.open_page(pool, stream);
        Ok(Ppn(open.block << self.shape.page_bits | open.page))
    }

    #[inline]
    fn open_page(&self, pool: usize, stream: Stream) -> Open {
        match stream {
            Stream::Host => Open {
                block: self.pools[pool].active_block,
                page: self.pools[pool].active_page,
            },
            Stream::Migrations => self.rest.asides[pool].open[0],
            Stream::Map => self.rest.asides[pool].open[1],
            Stream::FurtherHost(_) | Stream::FurtherMigrations(_) => {
                self.open_of_further(pool, stream)
            }
        }
    }

    /// The logical page whose newest copy is at `ppn`, if there is one. When a copy becomes invalid, its entry in
    /// the table of owners is not cleared, since this would cost every overwrite a cache miss. So an entry only
    /// counts if the map agrees with it.
    pub fn valid_at(&self, ppn: u32) -> Option<u32> {
        let page = self.owner.get(ppn as usize);
        (page != NONE && self.map.get(page as usize) == ppn).then_some(page)
    }

    /// Notes that the copy of logical `page` is no longer the newest.
    #[inline]
    pub fn invalidate(&mut self, page: u32) {
        let ppn = self.map.get(page as usize);
        if ppn == NONE {
            return;
        }
        self.invalidate_in(ppn >> self.shape.page_bits);
    }

    /// Notes that a copy in `block` is no longer the newest.
    #[inline(always)]
    fn invalidate_in(&mut self, block: u32) {
        let state = self.blocks.get_mut(block as usize);
        state.valid -= 1;
        self.victims.lower(block);
        if self.limits_pools() {
            let pool = self.pool_of(block);
            self.pools[pool].valid -= 1;
        }
    }

    /// Programs logical `page` at the physical page that [`Die::next_of`] returned; returns whether this page
    /// sealed the block.
    #[inline(always)]
    pub fn program(
        &mut self,
        pool: usize,
        stream: Stream,
        page: u32,
        operations: &mut Operations,
    ) -> bool {
        let data_pages = self.shape.data_pages;
        let Open { block, page: place } = self.open_page(pool, stream);
        let ppn = block << self.shape.page_bits | place;
        self.nand.program(block, place);
        *self.map.get_mut(page as usize) = ppn;
        *self.owner.get_mut(ppn as usize) = page;
        let state = self.blocks.get_mut(block as usize);
        state.valid += 1;
        let valid = state.valid;
        match stream {
            Stream::Host => {
                self.pools[pool].active_page += 1;
                self.search.front.lower(pool);
            }
            Stream::Migrations => self.rest.asides[pool].open[0].page += 1,
            Stream::Map => self.rest.asides[pool].open[1].page += 1,
            Stream::FurtherHost(_) | Stream::FurtherMigrations(_) => {
                let page = place + 1;
                self.set_open(pool, stream, Open { block, page });
            }
        }
        if self.limits_pools() {
            self.pools[pool].valid += 1;
        }
        let sealed = place + 1 == data_pages;
        if sealed {
            if self.rules.summary_page {
                self.program_summary(block, stream, operations);
            }
            self.offer(block, valid);
        }
        sealed
    }

    /// Programs the summary page of `block`, which `stream` has filled.
    pub fn program_summary(&mut self, block: u32, stream: Stream, operations: &mut Operations) {
        let page = self.shape.data_pages;
        self.nand.program(block, page);
        let summary = Ppn(block << self.shape.page_bits | page);
        operations.push_summary(summary, || stream.purpose());
    }

    /// Makes `block`, which is full and has `valid` valid pages, a candidate for garbage collection, unless it is
    /// worn out.
    pub fn offer(&mut self, block: u32, valid: u16) {
        if self.nand.block(block).erases < self.rules.retire_at {
            self.victims.insert(block, valid);
        }
    }

    #[cold]
    fn open_block(&mut self, index: usize, stream: Stream) -> Result<(), NoSpace> {
        let pool = &self.pools[index];
        let end = pool.first_block + pool.blocks;
        let found = match &self.free.by_wear {
            Some(by_wear) => by_wear.least(index),
            None => self
                .free
                .blocks
                .first_in(pool.pointer, end)
                .or_else(|| self.free.blocks.first_in(pool.first_block, pool.pointer)),
        };
        let Some(block) = found else {
            return Err(self.exhausted(index));
        };
        let pool = &mut self.pools[index];
        pool.pointer = if block + 1 == end {
            pool.first_block
        } else {
            block + 1
        };
        let room = pool.room(self.shape.pages_per_block);
        pool.free -= 1;
        let aside = &mut self.rest.asides[index];
        if pool.free < self.rules.watermarks.low && !aside.needs_gc {
            aside.needs_gc = true;
            self.rest.needy += 1;
        }
        self.set_free(block, false);
        let pool = &mut self.pools[index];
        let open = Open { block, page: 0 };
        match stream {
            Stream::Host => {
                pool.active_block = block;
                pool.active_page = 0;
                pool.active_sequence = self.next_sequence;
                // `room` of the pool is unchanged, or one page smaller because of the summary page.
                match room - pool.room(self.shape.pages_per_block) {
                    0 => {}
                    1 => self.search.front.lower(index),
                    _ => self.search.front.forget(),
                }
            }
            _ => self.set_open(index, stream, open),
        }
        if stream != Stream::Host {
            self.search.front.forget();
        }
        self.blocks.get_mut(block as usize).sequence = self.next_sequence;
        self.next_sequence += 1;
        Ok(())
    }

    /// Called after a garbage collection that could not reach the high watermark: `pool` no longer needs garbage
    /// collection if it has at least as many free blocks as the low watermark.
    pub fn settle(&mut self, pool: usize) {
        let (pool, aside) = (&self.pools[pool], &mut self.rest.asides[pool]);
        if aside.needs_gc && pool.free >= self.rules.watermarks.low {
            aside.needs_gc = false;
            self.rest.needy -= 1;
        }
    }

    /// Marks `block` as free or as used.
    pub fn set_free(&mut self, block: u32, free: bool) {
        self.free.blocks.set(block, free);
        let pool = self.pool_of(block);
        if let Some(by_wear) = &mut self.free.by_wear {
            by_wear.set(pool, block, self.nand.block(block).erases, free);
        }
    }

    /// The number of blocks of `pool`, and the number of erases that these blocks can still have in total.
    pub fn life_of_pool(&self, pool: usize) -> (u64, u64) {
        let blocks = u64::from(self.pools[pool].blocks);
        let lives = blocks * u64::from(self.rules.endurance);
        (blocks, lives.saturating_sub(self.rest.asides[pool].erased))
    }

    /// Sets all erase counts to 0.
    pub fn reset_wear(&mut self) {
        if let Some(by_wear) = &mut self.free.by_wear {
            by_wear.reset();
        }
        self.nand.reset_wear();
        self.rest
            .asides
            .iter_mut()
            .for_each(|aside| aside.erased = 0);
    }

    /// Erases `block`, which holds no valid page, and makes it free.
    pub fn erase(&mut self, block: u32, at: Ticks) {
        self.erase_keeping(block, at);
        self.set_free(block, true);
        let index = self.pool_of(block);
        let pool = &mut self.pools[index];
        pool.free += 1;
        self.search.front.forget();
        let aside = &mut self.rest.asides[index];
        if aside.needs_gc && pool.free >= self.rules.watermarks.high {
            aside.needs_gc = false;
            self.rest.needy -= 1;
        }
    }

    /// Erases `block` without making it free. The caller uses the block at once.
    pub fn erase_keeping(&mut self, block: u32, at: Ticks) {
        let state = self.blocks.get_mut(block as usize);
        state.sequence = 0;
        self.nand.erase(block, u32::from(state.valid));
        self.victims.remove(block);
        if let Some(by_wear) = &mut self.free.by_wear {
            by_wear.count_erase();
        }
        if let Some(times) = &mut self.extras.last_erase {
            *times.get_mut(block as usize) = at;
        }
        let pool = self.pool_of(block);
        self.rest.asides[pool].erased += 1;
        let pool = &mut self.pools[pool];
        if pool.active_block == block {
            pool.active_sequence = 0;
        }
    }
}
