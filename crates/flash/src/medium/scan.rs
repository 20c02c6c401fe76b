//! What a mount reads, and the places it has found.

use super::Medium;
use super::blocks::Blocks;
use super::cells::{Block, Cell};
use crate::mount::{Found, FoundBlock, Place, Scan};

impl Medium {
    /// The spare areas of all pages.
    #[must_use]
    pub fn scan(&self) -> Scan {
        let of_die = |blocks: &Blocks| blocks.iter().map(|block| self.found(block)).collect();
        Scan {
            dies: self.dies.iter().map(|die| of_die(&die.blocks)).collect(),
            page_bits: self.page_bits,
        }
    }

    fn found(&self, block: &Block) -> FoundBlock {
        let pages = match block.is_erased() {
            true => 0,
            false => self.pages_per_block,
        };
        let found = |page| match block.cell(page) {
            Cell::Erased => Found::Erased,
            Cell::Unknown | Cell::Unreadable => Found::Unreadable,
            Cell::Stored(stored) => Found::Page(stored.spare, stored.is_torn),
        };
        FoundBlock {
            pages: (0..pages).map(found).collect(),
            erases: block.erases,
        }
    }

    /// From now on each page has the place in `places`, and no other has one.
    pub fn settle(&mut self, places: &[Place]) {
        for place in places {
            let entry = self.pages.get_mut(place.page.0 as usize);
            entry.place = Some((place.die, place.at.0));
            entry.version = place.rank.version;
        }
        self.make_found_last();
    }
}
