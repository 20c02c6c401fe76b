//! Program units in layers that map by block. The pages of a program unit are programmed together.
//!
//! Such a layer skips pages of a block. The skipped pages of a unit are programmed without content. The layer also
//! switches between blocks at any time, so several blocks of a die may have an incomplete unit. The number of
//! these blocks is limited: before a further block begins, the block that was programmed longest ago is completed.
//! Before a block is erased, its own units are completed, since requests may wait for pages of these units. If the
//! power may fail, the units of all blocks are completed before an erase, since the pages to be erased may be
//! needed until then.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::Blocks;
use crate::FtlConfig;
use destage_nand::array::{BlockSlot, Ppn};
use destage_nand::operation::{Cause, Mark, Operations, Purpose, Role};

/// A block with pages whose last program pass has not happened yet.
#[derive(Clone, Copy)]
struct Open {
    block: BlockSlot,
    /// The page after the last page with content.
    end: u32,
    purpose: Purpose,
}

/// The units of a die.
#[derive(Clone)]
pub(super) struct Units {
    /// Pages per unit.
    pages: u32,
    /// Passes in which a unit is programmed. The second pass of a unit is done when the next unit of the block is
    /// programmed.
    passes: u32,
    /// Units of the mapping that share a page of flash.
    units_per_page: u32,
    power_may_fail: bool,
    most_open: usize,
    /// The blocks with an incomplete unit; the block that was programmed last is at the end.
    open: VecDeque<Open>,
    /// Blocks whose units were completed with fillers and that [`Blocks::take_completed`] has not returned yet.
    completed: Vec<BlockSlot>,
}

/// Maximum number of blocks of a die that have an incomplete unit at the same time: with copy-back one for each
/// plane, otherwise one for the die.
pub(crate) fn most_open(config: &FtlConfig<'_>) -> u32 {
    match config.copy_back {
        true => config.geometry.planes,
        false => 1,
    }
}

impl Units {
    /// The units of a die of `config`; `None` if each page is programmed alone and in one pass.
    pub fn of(config: &FtlConfig<'_>) -> Option<Self> {
        let (pages, passes) = (config.program_unit, config.program_passes);
        (pages > 1 || passes > 1).then(|| Self {
            pages,
            passes,
            units_per_page: config.units_per_page,
            power_may_fail: config.power_may_fail,
            most_open: most_open(config) as usize,
            open: VecDeque::new(),
            completed: Vec::new(),
        })
    }

    /// The pages that have to be programmed without content before `page`, so that no unit is partly programmed. All
    /// pages of the block before page `next` are programmed. With two passes, the returned pages are `next..page`,
    /// since the second pass of a unit is done when the next unit is programmed.
    fn left_out(&self, next: u32, page: u32) -> impl Iterator<Item = u32> + use<> {
        let (behind, ahead) = match self.passes {
            1 => {
                let behind = next.next_multiple_of(self.pages).min(page);
                (next..behind, behind.max(page - page % self.pages)..page)
            }
            _ => (next..page, page..page),
        };
        behind.chain(ahead)
    }

    fn take(&mut self, block: BlockSlot) -> Option<Open> {
        let place = self.open.iter().position(|open| open.block == block)?;
        self.open.remove(place)
    }
}

impl Blocks {
    /// [`Blocks::program`] for pages that are programmed together.
    #[cold]
    pub(super) fn program_in_unit(
        &mut self,
        block: BlockSlot,
        page: u32,
        purpose: Purpose,
        cause: Cause,
        operations: &mut Operations,
    ) {
        let next = self.programmed(block);
        if let Some(units) = &self.units {
            for page in units.left_out(next, page) {
                self.program_filler(block, page, purpose, operations);
            }
        }
        self.make_way(block, operations);
        self.nand.program(block, page);
        self.push_program(block, page, purpose, cause, operations);
        self.note_programs(block, purpose);
    }

    /// Emits the fillers that complete the units of pages that were copied to `block`. Before the copies, exactly the
    /// pages before page `next` were programmed. The copies were emitted since `mark`, and the [nand](Blocks::nand)
    /// counts the copied pages as programmed.
    pub fn copied(
        &mut self,
        block: BlockSlot,
        next: u32,
        purpose: Purpose,
        mark: Mark,
        operations: &mut Operations,
    ) {
        let Some(units) = &self.units else {
            return;
        };
        if self.programmed(block) == next {
            return;
        }
        let mut next = next;
        let left_out = |Ppn(at): Ppn, fillers: &mut Vec<Ppn>| {
            let (other, page) = self.split(at);
            if other == block {
                let pages = units.left_out(next, page);
                fillers.extend(pages.map(|page| self.ppn(block, page)));
                next = page + 1;
            }
        };
        let together = |one: Ppn, other: Ppn| {
            let of_flash = |Ppn(at): Ppn| {
                let (block, page) = self.split(at);
                (block, page / units.units_per_page)
            };
            units.units_per_page > 1 && of_flash(one) == of_flash(other)
        };
        operations.complete_since(mark, purpose, left_out, together);
        self.make_way(block, operations);
        self.note_programs(block, purpose);
    }

    /// Completes the unit that is begun in `block`.
    pub fn complete_unit(&mut self, block: BlockSlot, operations: &mut Operations) {
        let Some(units) = &mut self.units else {
            return;
        };
        match units.take(block) {
            Some(open) => self.complete(open, operations),
            None => {
                let end = self.programmed(block);
                let purpose = Purpose::shared(Role::Log);
                let open = Open {
                    block,
                    end,
                    purpose,
                };
                self.complete(open, operations);
            }
        }
    }

    /// Completes the units that have to be on flash before `block` is erased.
    #[cold]
    pub(super) fn complete_before_erase(&mut self, block: BlockSlot, operations: &mut Operations) {
        let Some(units) = &mut self.units else {
            return;
        };
        if units.power_may_fail {
            for open in core::mem::take(&mut units.open) {
                self.complete(open, operations);
            }
        } else if let Some(open) = units.take(block) {
            self.complete(open, operations);
        }
    }

    /// Whether an erase also completes units of other blocks.
    pub fn completes_units(&self) -> bool {
        let units = self.units.as_ref();
        units.is_some_and(|units| units.power_may_fail)
    }

    /// Forgets all incomplete units. All their pages then count as completely programmed, and no request waits for
    /// these pages.
    pub fn forget_units(&mut self) {
        if let Some(units) = &mut self.units {
            units.open.clear();
        }
    }

    /// Removes a block from the list of blocks that fillers have completed, and returns the block.
    pub fn take_completed(&mut self) -> Option<BlockSlot> {
        self.units.as_mut()?.completed.pop()
    }

    /// After programs in `block`, notes whether the block has an incomplete unit.
    fn note_programs(&mut self, block: BlockSlot, purpose: Purpose) {
        let (end, pages) = (self.programmed(block), self.pages());
        let Some(units) = &mut self.units else {
            return;
        };
        units.take(block);
        let is_whole = units.passes == 1 && end.is_multiple_of(units.pages);
        if !is_whole && end < pages {
            units.open.push_back(Open {
                block,
                end,
                purpose,
            });
        }
    }

    /// If `block` has no incomplete unit yet, and the maximum number of other blocks have one, completes the block
    /// that was programmed longest ago.
    fn make_way(&mut self, block: BlockSlot, operations: &mut Operations) {
        let Some(units) = &mut self.units else {
            return;
        };
        let is_open = units.open.iter().any(|open| open.block == block);
        if !is_open
            && units.open.len() >= units.most_open
            && let Some(first) = units.open.pop_front()
        {
            self.complete(first, operations);
        }
    }

    /// Programs pages without content after those of the block of `open`, so that the last page with content gets
    /// its last pass.
    fn complete(&mut self, open: Open, operations: &mut Operations) {
        let (next, pages) = (self.programmed(open.block), self.pages());
        let Some(units) = &mut self.units else {
            return;
        };
        let last = open.end.saturating_sub(1) / units.pages;
        let end = ((last + units.passes) * units.pages).min(pages);
        if next < end && !units.completed.contains(&open.block) {
            units.completed.push(open.block);
        }
        for page in next..end {
            self.program_filler(open.block, page, open.purpose, operations);
        }
    }

    fn program_filler(
        &mut self,
        block: BlockSlot,
        page: u32,
        purpose: Purpose,
        operations: &mut Operations,
    ) {
        self.nand.program(block, page);
        operations.push_filler(self.ppn(block, page), || purpose);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn units(pages: u32, passes: u32) -> Units {
        Units {
            pages,
            passes,
            units_per_page: 1,
            power_may_fail: false,
            most_open: 1,
            open: VecDeque::new(),
            completed: Vec::new(),
        }
    }

    #[test]
    fn units_that_a_page_passes_over_are_whole_or_left_alone() {
        let left_out =
            |passes, next, page| -> Vec<u32> { units(4, passes).left_out(next, page).collect() };
        assert_eq!(left_out(1, 5, 6), [5]);
        assert_eq!(left_out(1, 5, 8), [5, 6, 7]);
        // Units 2 and 3 are skipped as a whole; of the unit of page 18, pages 16 and 17 are left out.
        assert_eq!(left_out(1, 5, 18), [5, 6, 7, 16, 17]);
        assert_eq!(left_out(1, 8, 13), [12]);
        assert_eq!(left_out(2, 5, 10), [5, 6, 7, 8, 9]);
    }
}
