//! Units of pages that are programmed together, on a device whose power may fail.
//!
//! A page of a unit is in RAM until the last pass of the unit, and its source or its old copy is needed until then. So before a block is erased, all
//! units of the die that hold a page are completed with fillers.

use super::{Die, Open, Stream};
use crate::FtlConfig;
use crate::page::shape::NONE;
use destage_nand::array::Ppn;
use destage_nand::operation::Operations;

/// How pages are programmed together.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Pages of a unit.
    pub pages: u32,
    /// Number of passes: the second comes with the next unit of the block, or with the first if there is none.
    pub passes: u32,
    /// Blocks that are filled in turn, unit by unit.
    pub blocks: u32,
}

impl Units {
    /// The units of a device whose power may fail.
    pub fn of(config: &FtlConfig<'_>) -> Option<Self> {
        let (pages, passes) = (config.program_unit, config.program_passes);
        (config.power_may_fail && (pages > 1 || passes > 1)).then_some(Self {
            pages,
            passes,
            blocks: 1,
        })
    }

    /// Units after that of a page that have to be programmed before the page has had its last pass.
    fn behind(&self) -> u32 {
        (self.passes - 1) * self.blocks
    }

    /// Fillers that an open block takes at most before an erase.
    pub fn most_fillers(&self) -> u32 {
        self.pages * (1 + self.behind()) - 1
    }
}

impl Die {
    /// Completes the units of all open blocks with a page whose last pass has not come, so that an erase may follow.
    #[inline]
    pub fn finish_units(&mut self, operations: &mut Operations) {
        if let Some(units) = self.rules.units {
            self.finish_open(&units, operations);
        }
    }

    #[cold]
    fn finish_open(&mut self, units: &Units, operations: &mut Operations) {
        // No mount needs pages of the map.
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
        // A stream that has filled its block, or has none, points behind the last page.
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

    /// Programs fillers into the open block of `stream` up to page `end`, and after the last page of data the pages that have to follow it.
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
                // It is the last page of the last unit.
                self.program_summary(block, stream, operations);
            }
            let valid = self.blocks.get(block as usize).valid;
            self.offer(block, valid);
        }
    }

    /// For `block`, all of whose pages are moved to an erased block: the page up to which the gaps between them are filled there, so that all have
    /// their last pass; 0 if pages are not programmed together.
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
