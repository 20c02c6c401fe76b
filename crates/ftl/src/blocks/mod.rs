//! The physical blocks of one die: the base of all layers that map by block or use log blocks.

pub(super) mod data;
mod free;
pub(super) mod log_block;
pub(super) mod logged;
pub(super) mod mount;
mod owners;
pub(super) mod page_log;
pub(super) mod parameters;
pub(super) mod striped;
pub(super) mod units;

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use destage_base::archived;

use self::free::FreePool;
use self::units::Units;
use crate::{FtlConfig, NoSpace, Shortage};
use destage_nand::array::{BlockSlot, Nand, Ppn, Wear};
use destage_nand::geometry::Geometry;
use destage_nand::operation::{Cause, Merge, MergeCause, MergeKind, Operations, Purpose, Transfer};

/// No block: the value of empty table entries.
pub(super) const NONE: u32 = u32::MAX;

/// How the wear of blocks is levelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WearLevelling {
    /// Wear is not levelled.
    None,
    /// The least worn free block is used first.
    Dynamic,
    /// The least worn free block is used first. Besides, after every `period` erases, the data of the least worn
    /// data block move into the most worn free block, if the erase counts of these blocks differ by more than
    /// `gap`.
    Static { period: u32, gap: u32 },
}

/// A logical page of a die, in a layer that maps by block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogicalPage {
    /// The number of the logical block within the die.
    pub block: u32,
    /// The offset of the page in the logical block.
    pub offset: u32,
}

archived!(LogicalPage { block, offset } vacant Self { block: NONE, offset: 0 });

/// The physical blocks of one die: the state of their cells, the free blocks, and the operations on them.
#[derive(Clone)]
pub(super) struct Blocks {
    /// The number of the die.
    die: u32,
    pub nand: Nand,
    free: FreePool,
    /// Free blocks that are not erased yet; empty if the power cannot fail. These blocks are used before erased
    /// blocks.
    ///
    /// After a power loss, a mount finds trimmed pages again, so a block of trimmed pages is no longer free. Since
    /// such blocks are used first, a mount finds as many erased blocks as if nothing had been trimmed, and can
    /// merge into them.
    unerased: VecDeque<BlockSlot>,
    power_may_fail: bool,
    geometry: Geometry,
    page_bits: u32,
    /// Pages that are copied within their plane do not cross the bus.
    copy_back: bool,
    /// The program units; `None` if each page is programmed alone and in one pass.
    units: Option<Box<Units>>,
    /// A block with this many erases is retired.
    retire_at: u32,
    levelling: WearLevelling,
    erases_to_levelling: u32,
    free_min: u32,
    /// A block may retire in the next step, so a write may find too few free blocks.
    is_near_end: bool,
}

archived!(Blocks { nand, free, erases_to_levelling, free_min } fixed { die, unerased, power_may_fail, geometry, page_bits, copy_back, units, retire_at, levelling, is_near_end });

/// One more than the maximum number of erases of one block in one step.
const ERASES_OF_A_STEP: u32 = 3;

impl Blocks {
    /// The blocks of die `die`, with `logical` logical blocks. In a filled device, as many blocks are full: the first
    /// block of each plane in turn, then the second block of each plane, and so on.
    pub fn new(
        config: &FtlConfig<'_>,
        die: u32,
        logical: u32,
        levelling: WearLevelling,
        in_order: bool,
    ) -> Self {
        let geometry = config.geometry;
        let full_blocks = if config.filled { logical } else { 0 };
        let free = FreePool::new(
            geometry.planes,
            geometry.blocks_per_plane,
            full_blocks,
            levelling != WearLevelling::None,
        );
        Self {
            die,
            nand: if in_order {
                Nand::new(&geometry, full_blocks)
            } else {
                Nand::with_any_order(&geometry, full_blocks)
            },
            free_min: free.count(),
            free,
            unerased: VecDeque::new(),
            power_may_fail: config.power_may_fail,
            geometry,
            page_bits: geometry.page_bits(),
            // If several units of the mapping share a page of flash, copy-back cannot be used, because units that
            // move are packed into new pages.
            copy_back: config.copy_back && config.units_per_page == 1,
            units: Units::of(config).map(Box::new),
            retire_at: if config.retire {
                config.endurance
            } else {
                u32::MAX
            },
            levelling,
            erases_to_levelling: match levelling {
                WearLevelling::Static { period, .. } => period,
                _ => u32::MAX,
            },
            is_near_end: config.retire && config.endurance <= ERASES_OF_A_STEP,
        }
    }

    /// Pages of a block that hold data.
    pub fn pages(&self) -> u32 {
        self.geometry.data_pages()
    }

    /// The physical number of page `page` of `block`.
    #[inline]
    pub fn ppn(&self, block: BlockSlot, page: u32) -> Ppn {
        Ppn(block << self.page_bits | page)
    }

    /// The block of a physical page, and the page in that block.
    #[inline]
    pub fn split(&self, ppn: u32) -> (BlockSlot, u32) {
        (ppn >> self.page_bits, ppn & ((1 << self.page_bits) - 1))
    }

    /// The page after the last one programmed in `block`.
    #[inline]
    pub fn programmed(&self, block: BlockSlot) -> u32 {
        u32::from(self.nand.block(block).programmed)
    }

    fn plane(&self, block: BlockSlot) -> u32 {
        block / self.geometry.blocks_per_plane
    }

    /// Whether a step may find no free block. This is only possible if blocks retire and a block is about to
    /// retire.
    #[inline]
    pub fn is_near_end(&self) -> bool {
        self.is_near_end
    }

    /// The smallest number of free blocks since the start or the last reset.
    pub fn free_min(&self) -> u32 {
        self.free_min
    }

    /// Takes a free block for logical block `logical`, if possible in the plane of that logical block. Erases the
    /// block first if it was released without an erase.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    pub fn allocate(
        &mut self,
        logical: u32,
        operations: &mut Operations,
    ) -> Result<BlockSlot, NoSpace> {
        let plane = logical % self.geometry.planes;
        loop {
            let unerased = self.unerased.pop_front();
            let Some(block) = unerased.or_else(|| self.free.take(plane)) else {
                return Err(self.exhausted());
            };
            self.free_min = self.free_min.min(self.count_free());
            if self.nand.block(block).programmed == 0 {
                return Ok(block);
            }
            self.wipe(block, 0, Cause::Copy, operations);
            if self.nand.block(block).erases < self.retire_at {
                return Ok(block);
            }
        }
    }

    /// Number of free blocks, erased or not.
    fn count_free(&self) -> u32 {
        self.free.count() + self.unerased.len() as u32
    }

    #[cold]
    fn exhausted(&self) -> NoSpace {
        Shortage::Spare {
            blocks: self.geometry.blocks_per_die(),
            retired: self.retired(),
            endurance: self.retire_at,
        }
        .into()
    }

    /// Number of retired blocks.
    pub fn retired(&self) -> u32 {
        let erases = self.nand.erases();
        erases.filter(|erases| *erases >= self.retire_at).count() as u32
    }

    /// Erases `block`, but does not make it free. `live` is the number of pages in the block that are still
    /// needed; a value other than 0 is a bug.
    #[inline(always)]
    pub fn wipe(&mut self, block: BlockSlot, live: u32, cause: Cause, operations: &mut Operations) {
        if self.units.is_some() {
            self.complete_before_erase(block, operations);
        }
        self.nand.erase(block, live);
        let erases = self.nand.block(block).erases;
        self.note_erases(erases);
        operations.push_erase(cause, self.ppn(block, 0));
        self.erases_to_levelling = self.erases_to_levelling.saturating_sub(1);
    }

    /// Notes that a block was erased, `erases` times in all.
    #[inline]
    fn note_erases(&mut self, erases: u32) {
        self.is_near_end |= erases.saturating_add(ERASES_OF_A_STEP) >= self.retire_at;
    }

    /// Erases `block` and makes it free, unless it retires. `live` is the number of pages in the block that are
    /// still needed; a value other than 0 is a bug.
    pub fn erase(
        &mut self,
        block: BlockSlot,
        live: u32,
        cause: Cause,
        operations: &mut Operations,
    ) {
        self.wipe(block, live, cause, operations);
        let erases = self.nand.block(block).erases;
        if erases < self.retire_at {
            self.free.put(self.plane(block), block, erases);
        }
    }

    /// Makes `block` free without erasing it; no page of the block is needed any more. The block is erased when it
    /// is used again.
    pub fn release(&mut self, block: BlockSlot) {
        if self.power_may_fail && self.programmed(block) > 0 {
            self.unerased.push_back(block);
            return;
        }
        let erases = self.nand.block(block).erases;
        self.free.put(self.plane(block), block, erases);
    }

    /// Programs `page` of `block` with data that the host or the buffer writes. `purpose` is the use of the
    /// block.
    #[inline]
    pub fn program(
        &mut self,
        block: BlockSlot,
        page: u32,
        purpose: Purpose,
        cause: Cause,
        operations: &mut Operations,
    ) {
        if self.units.is_some() {
            return self.program_in_unit(block, page, purpose, cause, operations);
        }
        self.nand.program(block, page);
        self.push_program(block, page, purpose, cause, operations);
    }

    /// Emits the program of a written page, for a caller that programs the cells as part of a
    /// [run](Nand::program_run).
    #[inline]
    pub fn push_program(
        &self,
        block: BlockSlot,
        page: u32,
        purpose: Purpose,
        cause: Cause,
        operations: &mut Operations,
    ) {
        operations.push_host_program(cause, self.ppn(block, page), || purpose);
    }

    /// Reads `page` of `block` for the host.
    #[inline]
    pub fn read(&self, block: BlockSlot, page: u32, operations: &mut Operations) {
        self.nand.read(block, page);
        operations.push_host_read(self.ppn(block, page));
    }

    /// Reports that the operations just emitted were a merge of logical block `logical`.
    pub fn emit_merge(
        &self,
        logical: u32,
        kind: MergeKind,
        cause: MergeCause,
        copies: u32,
        erases: u32,
        operations: &mut Operations,
    ) {
        operations.push_merge(Merge {
            block: u64::from(logical) * u64::from(self.geometry.dies) + u64::from(self.die),
            kind,
            cause,
            copies,
            erases,
        });
    }

    /// The data that cross the bus when pages are copied from `sources` to `target`: none if copy-back is on and
    /// `target` and all `sources` are in one plane.
    pub fn copy_transfer(
        &self,
        mut sources: impl Iterator<Item = BlockSlot>,
        target: BlockSlot,
    ) -> Transfer {
        let plane = self.plane(target);
        if self.copy_back && sources.all(|source| self.plane(source) == plane) {
            Transfer::None
        } else {
            Transfer::TwoPages
        }
    }

    /// If a check of static wear levelling is due, removes the most worn free block and returns it with a limit.
    /// The data of a block may move into the returned block if the erase count of their block is at most the
    /// limit. Returns `None` if no check is due, or if no erase count can be low enough. The next check is due
    /// after another period. The caller has to [release](Blocks::release) the returned block if it does not use
    /// it.
    #[inline]
    pub fn levelling_due(&mut self) -> Option<(BlockSlot, u32)> {
        if self.erases_to_levelling > 0 {
            return None;
        }
        let WearLevelling::Static { period, gap } = self.levelling else {
            return None;
        };
        self.erases_to_levelling = period;
        let (block, erases) = self.free.take_most_worn()?;
        match erases.checked_sub(gap + 1) {
            Some(limit) => Some((block, limit)),
            None => {
                self.free.put(self.plane(block), block, erases);
                None
            }
        }
    }

    /// Sets all erase counts to 0, and forgets all incomplete units.
    pub fn reset_wear(&mut self) {
        self.nand.reset_wear();
        self.is_near_end = self.retire_at <= ERASES_OF_A_STEP;
        self.forget_units();
    }

    /// Resets the smallest number of free blocks to the present number.
    pub fn reset_figures(&mut self) {
        self.free_min = self.count_free();
    }

    /// Erase counts over all blocks.
    pub fn wear(&self) -> Wear {
        self.nand.wear()
    }
}
