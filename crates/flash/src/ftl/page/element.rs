//! One element of the page-mapped device: its maps, its blocks, and where the next page goes.

use alloc::format;
use alloc::vec::Vec;

use destage_base::Ticks;
use destage_base::lazy::{Initial, LazyTable};

use super::free::FreeBlocks;
use super::victims::Victims;
use crate::divide::Divider;
use crate::ftl::NoSpace;
use crate::geometry::Geometry;
use crate::nand::{Nand, Ppn};
use crate::operation::{Cause, Kind, Operations, Transfer};

/// No physical page, or no logical page.
pub(super) const NONE: u32 = u32::MAX;

/// The numbers of an element that every table's initial rule needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub planes: u32,
    pub blocks_per_plane: u32,
    /// Blocks of each plane that hold the exported pages at the start.
    pub usable_per_plane: u32,
    pub pages_per_block: u32,
    pub data_pages: u32,
    pub page_bits: u32,
    /// Logical pages all have contents before the first request, or none has.
    pub filled: bool,
}

impl Shape {
    pub fn new(geometry: &Geometry, usable_per_plane: u32, filled: bool) -> Self {
        Self {
            planes: geometry.planes,
            blocks_per_plane: geometry.blocks_per_plane,
            usable_per_plane,
            pages_per_block: geometry.pages_per_block,
            data_pages: geometry.data_pages(),
            page_bits: geometry.page_bits(),
            filled,
        }
    }

    /// Blocks of each plane that are full at the start.
    pub fn full_per_plane(&self) -> u32 {
        if self.filled {
            self.usable_per_plane
        } else {
            0
        }
    }

    /// Logical pages of the element.
    pub fn pages(&self) -> u32 {
        self.usable_per_plane * self.planes * self.data_pages
    }
}

/// Logical page -> physical page at the start: in order, blocks striped over planes.
pub(super) struct InitialMap(Shape);
impl Initial for InitialMap {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        if !self.0.filled {
            return NONE;
        }
        let page = index as u32;
        let (block, offset) = (page / self.0.data_pages, page % self.0.data_pages);
        let slot = block % self.0.planes * self.0.blocks_per_plane + block / self.0.planes;
        slot << self.0.page_bits | offset
    }
}

/// Physical page -> logical page at the start: the inverse.
pub(super) struct InitialOwner(Shape);
impl Initial for InitialOwner {
    type Entry = u32;
    fn at(&self, index: usize) -> u32 {
        let (slot, offset) = (
            index as u32 >> self.0.page_bits,
            index as u32 & ((1 << self.0.page_bits) - 1),
        );
        let (plane, index) = (
            slot / self.0.blocks_per_plane,
            slot % self.0.blocks_per_plane,
        );
        if index >= self.0.full_per_plane() || offset >= self.0.data_pages {
            return NONE;
        }
        (index * self.0.planes + plane) * self.0.data_pages + offset
    }
}

/// What the FTL knows of a block; what is programmed and how worn it is, the NAND knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Rank of its allocation in the element, from 1; 0 for a free block.
    pub sequence: u32,
    /// Pages that hold the newest copy of their logical page.
    pub valid: u16,
}

pub(super) struct InitialBlock(Shape);
impl Initial for InitialBlock {
    type Entry = Block;
    fn at(&self, slot: usize) -> Block {
        let (plane, index) = (
            slot as u32 / self.0.blocks_per_plane,
            slot as u32 % self.0.blocks_per_plane,
        );
        if index < self.0.full_per_plane() {
            Block {
                sequence: index * self.0.planes + plane + 1,
                valid: self.0.data_pages as u16,
            }
        } else {
            Block {
                sequence: 0,
                valid: 0,
            }
        }
    }
}

/// Blocks among which the next page of a stream is placed: a plane, or without copy-back the element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub first_block: u32,
    pub blocks: u32,
    pub active_block: u32,
    /// Next page of the active block; the number of data pages once it is sealed.
    pub active_page: u32,
    /// Sequence number of the active block; 0 once it was erased while still pointed at.
    pub active_sequence: u32,
    /// Free blocks as the cleaning rules count them.
    pub free: u32,
    /// Where the search for a free block goes on.
    pub pointer: u32,
}

impl Pool {
    /// Free pages: the score by which a pool is chosen for a write.
    #[inline]
    fn room(&self, pages_per_block: u32) -> u32 {
        self.free * pages_per_block + pages_per_block - self.active_page
    }
}

/// The write that is about to replace a page, as far as the choice of a pool depends on it.
#[derive(Clone, Copy)]
pub(super) struct Old {
    block: u32,
    page: u32,
    sequence: u32,
}

/// All state of one element.
pub(super) struct Element {
    pub shape: Shape,
    pub map: LazyTable<InitialMap>,
    pub owner: LazyTable<InitialOwner>,
    pub blocks: LazyTable<InitialBlock>,
    pub nand: Nand,
    pub free: FreeBlocks,
    pub victims: Victims,
    pub pools: Vec<Pool>,
    /// Free blocks at or under which a pool asks for cleaning.
    pub low_water: u32,
    /// How many pools are at or under `low_water`; kept so that the usual "none" costs one comparison.
    pub low_pools: u32,
    pub plane_divider: Divider,
    /// Erases a block survives.
    pub endurance: u32,
    next_sequence: u32,
    /// Where the search for the next pool begins.
    write_pointer: u32,
    summary_page: bool,
    /// When each block was last erased; kept only for wear-aware cleaning.
    pub last_erase: Option<LazyTable<NeverErased>>,
}

pub(super) struct NeverErased;
impl Initial for NeverErased {
    type Entry = Ticks;
    fn at(&self, _: usize) -> Ticks {
        0
    }
}

/// How an element's pools and tables are to be made.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub shape: Shape,
    pub copy_back: bool,
    pub low_water: u32,
    pub endurance: u32,
    pub keeps_erase_times: bool,
}

impl Element {
    pub fn new(geometry: &Geometry, layout: &Layout) -> Self {
        let shape = layout.shape;
        let blocks = geometry.blocks_per_element();
        let full = shape.full_per_plane();
        let mut free = FreeBlocks::none(blocks);
        for plane in 0..shape.planes {
            for index in full..shape.blocks_per_plane {
                free.set(plane * shape.blocks_per_plane + index, true);
            }
        }
        let mut victims = Victims::none(shape.planes, shape.blocks_per_plane);
        victims.fill(full, shape.data_pages as u16);

        let mut element = Self {
            shape,
            map: LazyTable::new(shape.pages() as usize, InitialMap(shape)),
            owner: LazyTable::new((blocks as usize) << shape.page_bits, InitialOwner(shape)),
            blocks: LazyTable::new(blocks as usize, InitialBlock(shape)),
            nand: Nand::new(geometry, full * shape.planes),
            free,
            victims,
            pools: Vec::new(),
            low_water: layout.low_water,
            low_pools: 0,
            plane_divider: Divider::new(shape.blocks_per_plane),
            endurance: layout.endurance,
            next_sequence: full * shape.planes + 1,
            write_pointer: 0,
            summary_page: geometry.summary_page,
            last_erase: layout
                .keeps_erase_times
                .then(|| LazyTable::new(blocks as usize, NeverErased)),
        };
        if layout.copy_back {
            for plane in 0..shape.planes {
                let first = plane * shape.blocks_per_plane;
                element.add_pool(
                    first,
                    shape.blocks_per_plane,
                    shape.blocks_per_plane - full - 1,
                );
            }
        } else {
            // The reference simulator marks the first active block used without lowering the count.
            element.add_pool(0, blocks, blocks - full * shape.planes);
        }
        element
    }

    /// A pool whose first free block is open from the start.
    fn add_pool(&mut self, first_block: u32, blocks: u32, free: u32) {
        let active = first_block + self.shape.full_per_plane();
        self.free.set(active, false);
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.blocks.get_mut(active as usize).sequence = sequence;
        self.low_pools += u32::from(free <= self.low_water);
        self.pools.push(Pool {
            first_block,
            blocks,
            active_block: active,
            active_page: 0,
            active_sequence: sequence,
            free,
            pointer: first_block,
        });
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
        self.plane_divider.split(block).0
    }

    /// Where the present copy of `page` is, for [`Element::choose_pool`].
    #[inline]
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

    /// Chooses the pool for the next write: of those whose active page was allocated after the present
    /// copy, the one with most free pages; of equals the first from the rotating pointer on.
    ///
    /// With `same_plane` the page stays in its plane; a page without a copy goes to the plane it would lie
    /// in on a device filled in order, so that no plane gets more data than it has room for.
    ///
    /// `given` counts writes already given to a pool by the batch under way (0 outside a batch).
    #[inline]
    pub fn choose_pool(
        &mut self,
        page: u32,
        old: Option<Old>,
        same_plane: bool,
        given: impl Fn(usize) -> u32,
    ) -> usize {
        let count = self.pools.len();
        if count == 1 {
            return 0;
        }
        let chosen = match old {
            Some(old) if same_plane => self.plane_of(old.block) as usize,
            Some(old) => self
                .roomiest(&given, |pool| {
                    pool.active_sequence > old.sequence
                        || (pool.active_block == old.block && pool.active_page > old.page)
                })
                // Every active block was erased while still pointed at: any pool may open a new one.
                .or_else(|| self.roomiest(&given, |_| true))
                .unwrap_or(0),
            None if same_plane => (page / self.shape.data_pages % self.shape.planes) as usize,
            None => self.roomiest(&given, |_| true).unwrap_or(0),
        };
        self.write_pointer = if chosen + 1 == count {
            0
        } else {
            chosen as u32 + 1
        };
        chosen
    }

    #[inline]
    fn roomiest(
        &self,
        given: impl Fn(usize) -> u32,
        eligible: impl Fn(&Pool) -> bool,
    ) -> Option<usize> {
        let start = self.write_pointer as usize;
        // Chosen pool and its room; the room of "none" is below every room.
        let mut best = (usize::MAX, i64::MIN);
        let (before, from) = self.pools.split_at(start);
        let after = from
            .iter()
            .enumerate()
            .map(|(step, pool)| (start + step, pool));
        for (index, pool) in after.chain(before.iter().enumerate()) {
            let room = i64::from(pool.room(self.shape.pages_per_block)) - i64::from(given(index));
            if eligible(pool) && room > best.1 {
                best = (index, room);
            }
        }
        (best.0 != usize::MAX).then_some(best.0)
    }

    /// Pages that can be written to `pool` before one of its blocks has to be cleaned; a free block is left
    /// for the pages that cleaning moves.
    pub fn pages_left(&self, pool: usize) -> u32 {
        let pool = &self.pools[pool];
        pool.free.saturating_sub(1) * self.shape.data_pages + self.shape.data_pages
            - pool.active_page
    }

    /// Writes logical `page` to `pool` for the host; its old copy becomes invalid. Says whether the
    /// block was sealed.
    #[inline]
    pub fn write(
        &mut self,
        pool: usize,
        page: u32,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        self.make_active(pool)?;
        self.invalidate(page);
        operations.push(Kind::Program, cause, Transfer::Page, self.next_of(pool));
        Ok(self.program(pool, page, operations))
    }

    /// The physical page that [`Element::program`] will program in `pool`, whose active block has room.
    #[inline]
    pub fn next_of(&self, pool: usize) -> Ppn {
        let pool = &self.pools[pool];
        Ppn(pool.active_block << self.shape.page_bits | pool.active_page)
    }

    /// Makes sure `pool` has an active block with a free page.
    #[inline]
    pub fn make_active(&mut self, pool: usize) -> Result<(), NoSpace> {
        if self.pools[pool].active_page == self.shape.data_pages {
            self.open_block(pool)?;
        }
        Ok(())
    }

    /// The logical page whose newest copy is at `ppn`, if there is one: the page last put there, unless it
    /// has moved on since. (Not forgetting it when it moves saves every overwrite a far memory access.)
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
        let block = ppn >> self.shape.page_bits;
        let state = self.blocks.get_mut(block as usize);
        state.valid -= 1;
        self.victims.lower(block, state.valid);
    }

    /// Puts logical `page` on the active page of `pool` and says whether that sealed the block.
    #[inline]
    pub fn program(&mut self, pool: usize, page: u32, operations: &mut Operations) -> bool {
        let data_pages = self.shape.data_pages;
        let pool = &mut self.pools[pool];
        let block = pool.active_block;
        let ppn = block << self.shape.page_bits | pool.active_page;
        self.nand.program(block, pool.active_page);
        *self.map.get_mut(page as usize) = ppn;
        *self.owner.get_mut(ppn as usize) = page;
        let state = self.blocks.get_mut(block as usize);
        state.valid += 1;
        let valid = state.valid;
        pool.active_page += 1;
        let sealed = pool.active_page == data_pages;
        if sealed {
            if self.summary_page {
                self.nand.program(block, data_pages);
                let summary = Ppn(block << self.shape.page_bits | data_pages);
                operations.push(Kind::Program, Cause::Map, Transfer::Sector, summary);
            }
            if self.nand.block(block).erases < self.endurance {
                self.victims.insert(block, valid);
            }
        }
        sealed
    }

    #[cold]
    fn open_block(&mut self, index: usize) -> Result<(), NoSpace> {
        let pool = &mut self.pools[index];
        let end = pool.first_block + pool.blocks;
        let found = self
            .free
            .first_in(pool.pointer, end)
            .or_else(|| self.free.first_in(pool.first_block, pool.pointer));
        let Some(block) = found else {
            return Err(NoSpace {
                explanation: format!(
                    "no free block is left among {} blocks; the data does not fit with cleaning at this reserve: raise ftl.reserve_percent or use a larger device",
                    pool.blocks
                )
                .into(),
            });
        };
        self.free.set(block, false);
        pool.pointer = if block + 1 == end {
            pool.first_block
        } else {
            block + 1
        };
        pool.free -= 1;
        self.low_pools += u32::from(pool.free == self.low_water);
        pool.active_block = block;
        pool.active_page = 0;
        pool.active_sequence = self.next_sequence;
        self.blocks.get_mut(block as usize).sequence = self.next_sequence;
        self.next_sequence += 1;
        Ok(())
    }

    /// Erases `block`, which holds no valid page, and makes it free.
    pub fn erase(&mut self, block: u32, at: Ticks) {
        self.erase_keeping(block, at);
        let index = self.pool_of(block);
        let pool = &mut self.pools[index];
        self.free.set(block, true);
        self.low_pools -= u32::from(pool.free == self.low_water);
        pool.free += 1;
    }

    /// Erases `block` without making it free: it receives other contents at once.
    pub fn erase_keeping(&mut self, block: u32, at: Ticks) {
        let state = self.blocks.get_mut(block as usize);
        state.sequence = 0;
        self.nand.erase(block, u32::from(state.valid));
        self.victims.remove(block);
        if let Some(times) = &mut self.last_erase {
            *times.get_mut(block as usize) = at;
        }
        let pool = self.pool_of(block);
        let pool = &mut self.pools[pool];
        if pool.active_block == block {
            pool.active_sequence = 0;
        }
    }
}
