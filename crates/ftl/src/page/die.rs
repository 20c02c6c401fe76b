//! One die of the page-mapped device: its maps, its blocks, and the place of the next page.

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::lazy::{Initial, LazyTable};
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
use self::streams::Streams;
pub use self::streams::Telling;
pub use self::units::Units;
use super::free::FreeBlocks;
use super::levelling::ByWear;
use super::shape::{InitialBlock, InitialMap, InitialOwner, NONE, Shape};
use super::victims::Victims;
use crate::NoSpace;
use destage_nand::array::{Nand, Ppn};
use destage_nand::divide::Divider;
use destage_nand::operation::{Cause, Operations, Purpose, Role};

/// Whose pages share blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stream {
    /// Pages written by the buffer or the host.
    Host,
    /// Pages that garbage collection copies, if they have blocks of their own.
    Migrations,
    /// The layer's own pages.
    Map,
    /// Pages written by the buffer or the host that are not in the first group.
    Told(u8),
    /// Pages of other groups that garbage collection copies, if they have blocks of their own.
    Kept(u8),
}

impl Stream {
    /// The use of its blocks.
    pub fn purpose(self) -> Purpose {
        match self {
            Self::Host => Purpose::shared(Role::Host),
            Self::Migrations => Purpose::shared(Role::Migrations),
            Self::Map => Purpose::shared(Role::Map),
            Self::Told(number) => Purpose::owned(Role::Host, u32::from(number) + 1),
            Self::Kept(number) => Purpose::owned(Role::Migrations, u32::from(number) + 1),
        }
    }
}

/// The block a stream's next page goes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    block: u32,
    /// Next page of the block; the number of data pages once it is sealed.
    page: u32,
}

archived!(Open { block, page });

/// How many free blocks a pool is to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Watermarks {
    /// Garbage collection is needed once there are fewer.
    pub low: u32,
    /// The bound no longer holds once there are that many.
    pub high: u32,
}

/// Blocks among which the next page of a stream is placed: a plane, or without copy-back the die.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pool {
    pub first_block: u32,
    pub blocks: u32,
    pub active_block: u32,
    /// Next page of the active block; the number of data pages once it is sealed.
    pub active_page: u32,
    /// Sequence number of the active block; 0 once it was erased while still pointed at.
    pub active_sequence: u32,
    /// Free blocks as the garbage collection rules count them.
    pub free: u32,
    /// Where the search for a free block goes on.
    pub pointer: u32,
    /// Valid pages, where they are limited by [`DieRules::most_valid`].
    valid: u32,
}

archived!(Pool { active_block, active_page, active_sequence, free, pointer, valid } fixed { first_block, blocks });

/// Data of a pool that only some writes read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aside {
    /// The blocks that the streams besides [`Stream::Host`] go to.
    open: [Open; 2],
    /// It needs garbage collection.
    pub needs_gc: bool,
    /// Erases so far.
    pub erased: u64,
}

archived!(Aside {
    open,
    needs_gc,
    erased
});

impl Pool {
    /// Free pages: the score by which a pool is chosen for a write.
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

/// The write that is about to replace a page, as far as the choice of a pool depends on it.
#[derive(Clone, Copy)]
pub(crate) struct Old {
    pub block: u32,
    page: u32,
    sequence: u32,
}

/// Decisions about a die that are fixed when it is built.
#[derive(Clone, Copy)]
pub(crate) struct DieRules {
    pub watermarks: Watermarks,
    pub plane_divider: Divider,
    /// Erases a block survives.
    pub endurance: u32,
    /// Erases after which a block is not used any more.
    pub retire_at: u32,
    /// Valid pages a pool may hold so that garbage collection can always reach its high watermark; no limit in the
    /// reference, which may get stuck, or where no choice of pools can exceed it.
    pub most_valid: u32,
    /// Pages that garbage collection moves have blocks of their own.
    pub separate_migrations: bool,
    /// A page that moves inside its plane does not cross the bus.
    pub free_inside_planes: bool,
    /// Pages that share a page of flash.
    pub units_per_page: u32,
    /// How pages are programmed together, if they are and the power may fail.
    pub units: Option<Units>,
    pub summary_page: bool,
    /// The first open block counts as free, as in the reference simulator without copy-back.
    pub counts_first_open: bool,
    /// Whether the pages that garbage collection and levelling move are reported.
    pub notes_moves: bool,
    /// Blocks that the copies of one block open at most.
    pub most_for_copies: u32,
    /// With fewer free blocks in a pool than this, garbage collection does not wait.
    pub floor: u32,
}

/// The free blocks.
#[derive(Clone)]
pub(crate) struct Free {
    pub blocks: FreeBlocks,
    /// The free blocks by wear; none if no rule asks for wear.
    pub by_wear: Option<ByWear>,
}

archived!(Free { blocks, by_wear });

/// Data of the pools that only some writes read.
#[derive(Clone)]
pub(crate) struct Rest {
    /// By pool.
    pub asides: Vec<Aside>,
    /// How many pools need garbage collection; counted so that the usual answer "none" costs one comparison.
    pub needy: u32,
    /// By pool, the block that is collected in steps, and the page at which that continues.
    pub begun: Vec<Option<(u32, u32)>>,
}

archived!(Rest { asides, needy } fixed { begun });

/// The search for the pool of the next write.
#[derive(Clone)]
pub(crate) struct Search {
    /// Where it begins.
    pub pointer: u32,
    /// Where it began before the last choice.
    pub before: u32,
    front: Front,
}

archived!(Search { pointer, before } fixed { front });

/// Data that only some dies keep.
#[derive(Clone)]
pub(crate) struct Extras {
    /// When each block was last erased; kept only for wear-aware garbage collection.
    pub last_erase: Option<LazyTable<NeverErased>>,
    /// Logical pages that garbage collection and levelling have moved, if a caller needs them.
    pub migrated: Option<Vec<u32>>,
    /// Streams besides those that every die has.
    pub streams: Option<Streams>,
    /// Changes of the map are noted in flash.
    pub journal: Option<Journal>,
}

archived!(Extras { last_erase, migrated } fixed { streams, journal });

/// All state of one die.
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
    /// Draws of [`super::Policy::GreedyWear`].
    pub random: Random,
    next_sequence: u32,
    pub search: Search,
    pub extras: Extras,
}

archived!(Die {
    map, owner, blocks, nand, free, victims, pools, rest, random, next_sequence, search, extras,
} fixed { rules, shape });

#[derive(Clone)]
pub(crate) struct NeverErased;
impl Initial for NeverErased {
    type Entry = Ticks;
    fn at(&self, _: usize) -> Ticks {
        0
    }
}

impl Die {
    /// Whether every pool is kept from getting more data than it can be cleaned with.
    #[inline]
    pub fn limits_pools(&self) -> bool {
        self.rules.most_valid != u32::MAX
    }

    /// The pool of `block`.
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

    /// Reads `page` for the host, and says whether it has contents.
    #[inline]
    pub fn read(&self, page: u32, operations: &mut Operations) -> bool {
        let place = self.read_place(page);
        if let Some(place) = place {
            operations.push_host_read(place);
        }
        place.is_some()
    }

    /// The physical page of `page`, which is read there, if it has contents.
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

    /// Where the present copy of `page` is, for [`Die::choose_pool`].
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

    /// Pages that can be written to `pool` before one of its blocks has to be cleaned; a free block is left
    /// for the pages that garbage collection moves.
    pub fn pages_left(&self, pool: usize) -> u32 {
        let pool = &self.pools[pool];
        pool.free.saturating_sub(1) * self.shape.data_pages + self.shape.data_pages
            - pool.active_page
    }

    /// Writes logical `page` to `pool` for the host; its old copy becomes invalid. Says whether the
    /// block was sealed.
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

    /// Writes page `page` of the map; its old copy becomes invalid.
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

    /// Reads page `page` of the map, and says whether it was ever written.
    pub fn read_map(&self, page: u32, operations: &mut Operations) -> bool {
        let place = self.read_place(self.shape.numbers() + page);
        if let Some(place) = place {
            operations.push_map_read(place, page);
        }
        place.is_some()
    }

    /// The first page of the block with the newest copy of logical `page`, if there is one.
    pub fn block_of(&self, page: u32) -> Option<Ppn> {
        let at = self.map.get(page as usize);
        let bits = self.shape.page_bits;
        (at != NONE).then_some(Ppn(at >> bits << bits))
    }

    /// The contents of logical `page` are not needed here any more; whether there were any.
    pub fn forget(&mut self, page: u32) -> bool {
        let is_mapped = self.map.get(page as usize) != NONE;
        if is_mapped {
            self.invalidate(page);
            *self.map.get_mut(page as usize) = NONE;
        }
        is_mapped
    }

    /// Emits the logical pages among `pages` that have contents, in ascending order.
    pub fn mapped(&self, pages: Range<u32>, emit: &mut dyn FnMut(u32)) {
        let pages = pages.start..pages.end.min(self.shape.pages()).max(pages.start);
        if self.shape.filled {
            // Untouched pages have contents here.
            let held = pages.filter(|page| self.map.get(*page as usize) != NONE);
            return held.for_each(emit);
        }
        let touched = self
            .map
            .touched_in(pages.start as usize..pages.end as usize);
        let held = touched.filter(|(_, place)| *place != NONE);
        held.for_each(|(page, _)| emit(page as u32));
    }

    /// The physical page that [`Die::program`] will program in `pool` next, in a block opened for it if
    /// the last one is full.
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
            Stream::Told(_) | Stream::Kept(_) => self.open_told(pool, stream),
        }
    }

    /// The logical page whose newest copy is at `ppn`, if there is one: the page last programmed there, unless it has moved since. (Not forgetting it
    /// when it moves saves every overwrite a far memory access.)
    pub fn valid_at(&self, ppn: u32) -> Option<u32> {
        let page = self.owner.get(ppn as usize);
        (page != NONE && self.map.get(page as usize) == ppn).then_some(page)
    }

    /// The copy of logical `page` is no longer the newest.
    #[inline]
    pub fn invalidate(&mut self, page: u32) {
        let ppn = self.map.get(page as usize);
        if ppn == NONE {
            return;
        }
        self.invalidate_in(ppn >> self.shape.page_bits);
    }

    /// A copy in `block` is no longer the newest.
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

    /// Puts logical `page` on the page that [`Die::next_of`] named, and says whether that sealed the
    /// block.
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
            Stream::Told(_) | Stream::Kept(_) => {
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

    /// Programs the summary of `block`, which `stream` has filled.
    pub fn program_summary(&mut self, block: u32, stream: Stream, operations: &mut Operations) {
        let page = self.shape.data_pages;
        self.nand.program(block, page);
        let summary = Ppn(block << self.shape.page_bits | page);
        operations.push_summary(summary, || stream.purpose());
    }

    /// `block`, full and with `valid` valid pages, may be cleaned from now on, unless it is worn out.
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
                // Nothing, or the page of the summary.
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

    /// The free blocks of `pool` are to be above the low watermark only, after a garbage collection that could not do more.
    pub fn settle(&mut self, pool: usize) {
        let (pool, aside) = (&self.pools[pool], &mut self.rest.asides[pool]);
        if aside.needs_gc && pool.free >= self.rules.watermarks.low {
            aside.needs_gc = false;
            self.rest.needy -= 1;
        }
    }

    /// `block` is free, or not any more.
    pub fn set_free(&mut self, block: u32, free: bool) {
        self.free.blocks.set(block, free);
        let pool = self.pool_of(block);
        if let Some(by_wear) = &mut self.free.by_wear {
            by_wear.set(pool, block, self.nand.block(block).erases, free);
        }
    }

    /// Blocks of `pool`, and their remaining lives summed up.
    pub fn life_of_pool(&self, pool: usize) -> (u64, u64) {
        let blocks = u64::from(self.pools[pool].blocks);
        let lives = blocks * u64::from(self.rules.endurance);
        (blocks, lives.saturating_sub(self.rest.asides[pool].erased))
    }

    /// Forgets all erases so far.
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

    /// Erases `block` without making it free: it receives other contents at once.
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
