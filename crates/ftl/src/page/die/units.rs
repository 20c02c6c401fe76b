//! Program units on a device whose power may fail. The pages of a unit are programmed together.
//!
//! A page stays in RAM until the last pass of its unit. Until then, the source of a moved page and the old copy of
//! a written page are needed. So before a block is erased, all incomplete units of the die are completed with
//! fillers.

use super::{Die, Open, Stream};
use crate::FtlConfig;
use crate::page::shape::NONE;
use destage_nand::array::Ppn;
use destage_nand::operation::Operations;

/// The program units of a device.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Pages per unit.
    pub pages: u32,
    /// Number of passes. The second pass of a unit is done when the next unit of the block is programmed. For the
    /// last unit of a block, it is done together with the first pass.
    pub passes: u32,
    /// Number of blocks that are filled together, unit by unit in rotation.
    pub blocks: u32,
}

impl Units {
    /// The units of a device; `None` if the power cannot fail, or if each page is programmed alone and in one
    /// pass.
    pub fn of(config: &FtlConfig<'_>) -> Option<Self> {
        let (pages, passes) = (config.program_unit, config.program_passes);
        (config.power_may_fail && (pages > 1 || passes > 1)).then_some(Self {
            pages,
            passes,
            blocks: 1,
        })
    }

    /// Number of units that have to be programmed after the unit of a page before the page has had its last pass.
    fn behind(&self) -> u32 {
        (self.passes - 1) * self.blocks
    }

    /// Maximum number of fillers that an open block receives before an erase.
    pub fn most_fillers(&self) -> u32 {
        self.pages * (1 + self.behind()) - 1
    }
}

impl Die {
    /// Completes the incomplete units of all open blocks. An erase may only follow after this.
    #[inline]
    pub fn finish_units(&mut self, operations: &mut Operations) {
        if let Some(units) = self.rules.units {
            self.finish_open(&units, operations);
        }
    }

    #[cold]
    fn finish_open(&mut self, units: &Units, operations: &mut Operations) {
        // Pages of the map need not be completed, since a mount does not use them.
        for stream in self.all_streams().filter(|stream| *stream != Stream::Map) {
            for pool in 0..self.pools.len() {
                self.finish_stream(pool, stream, units, operations);
            }
        }
    }

    fn finish_stream(
        &mut self,
        pool: usize,
        stream: Stream,
        units: &Units,
        operations: &mut Operations,
    ) {
        let Open { block, page } = self.open_page(pool, stream);
        let data_pages = self.shape.data_pages;
        // The page number of a stream without an open block is past the last page.
        if page == 0 || page >= data_pages {
            return;
        }
        let first = block << self.shape.page_bits;
        let looked_at = page.saturating_sub(units.pages * (1 + units.behind()))..page;
        let holds = |page: &u32| self.owner.get((first | *page) as usize) != NONE;
        let Some(last) = looked_at.rev().find(holds) else {
            return;
        };
        let end = (last / units.pages + 1 + units.behind()) * units.pages;
        self.fill_up_to(pool, stream, end, operations);
        self.search.front.forget();
    }

    /// Programs fillers into the open block of `stream` until `end` is the next page to be programmed. If the block is
    /// full then, programs its summary page and seals it.
    pub(super) fn fill_up_to(
        &mut self,
        pool: usize,
        stream: Stream,
        end: u32,
        operations: &mut Operations,
    ) {
        let Open { block, page } = self.open_page(pool, stream);
        let end = end.min(self.shape.data_pages);
        if end <= page {
            return;
        }
        for page in page..end {
            let place = Ppn(block << self.shape.page_bits | page);
            self.program_filler(place);
            operations.push_filler(place, || stream.purpose());
        }
        match stream {
            Stream::Host => self.pools[pool].active_page = end,
            _ => self.set_open(pool, stream, Open { block, page: end }),
        }
        if end == self.shape.data_pages {
            if self.rules.summary_page {
                // The summary page is the last page of the last unit.
                self.program_summary(block, stream, operations);
            }
            let valid = self.blocks.get(block as usize).valid;
            self.offer(block, valid);
        }
    }

    /// Called when all valid pages of `block` move to an erased block, each to its own offset. Returns the page up
    /// to which the gaps in the erased block have to be filled, so that each moved page has its last pass. 0 if
    /// pages are not programmed together.
    pub fn fills_gaps_to(&self, block: u32) -> u32 {
        let Some(units) = self.rules.units else {
            return 0;
        };
        let (first, data_pages) = (block << self.shape.page_bits, self.shape.data_pages);
        let mut pages = (0..data_pages).rev();
        let last = pages.find(|page| self.valid_at(first | *page).is_some());
        let end = last.map_or(0, |last| last / units.pages + 1 + units.behind());
        (end * units.pages).min(data_pages)
    }
}
