//! How a mount reads the spare areas, and sets the places of the logical pages.

use destage_base::lazy::LazyTable;

use super::blocks::Blocks;
use super::cells::{Block, Cell};
use super::fill::AtFirst;
use super::{Entry, Medium, Spare};
use crate::found::{Found, FoundBlock, FoundPages, Place, Scan};

impl Medium {
    /// The findings of a mount that reads the spare areas of all pages.
    #[must_use]
    pub fn scan(&self) -> Scan {
        let of_die = |blocks: &Blocks| blocks.iter().map(|block| self.found(block)).collect();
        let dies = self.dies.iter().map(|die| of_die(&die.blocks));
        Scan::new(dies.collect(), self.page_bits)
    }

    fn found(&self, block: &Block) -> FoundBlock {
        let pages = match block.is_erased() {
            true => 0,
            false => self.pages_per_block,
        };
        let found = |page| match block.cell(page) {
            Cell::Erased => Found::Erased,
            Cell::Unknown | Cell::Unreadable => Found::Unreadable,
            Cell::Filled(page) => Found::Page(Spare::filled(page), false),
            Cell::Stored(stored) => Found::Page(stored.spare, stored.is_torn),
        };
        FoundBlock {
            pages: match block.as_filled() {
                Some(filled) => FoundPages::filled(filled.clone(), pages),
                None => (0..pages).map(found).collect(),
            },
            erases: block.erases,
        }
    }

    /// Called before a mount chooses a copy of each logical page. Every page that a fill has programmed gets the
    /// place of its filled copy in `scan`, because a mount chooses most of these copies.
    pub fn expect_places(&mut self, scan: &Scan) {
        let rule = AtFirst::Found(scan.filled.clone());
        self.pages = LazyTable::new(self.pages.len(), rule);
    }

    /// Called when a mount has chosen the copy at `place`.
    pub fn settle(&mut self, place: &Place) {
        let entry = Entry::new(Some((place.die, place.at.0)), place.rank.version);
        let index = place.page.0 as usize;
        if self.pages.get(index) != entry {
            *self.pages.get_mut(index) = entry;
        }
    }
}
