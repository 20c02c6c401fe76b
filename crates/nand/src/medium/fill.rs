//! A device that was filled before its first request. The layer gives the place of each logical page. The contents of
//! a block are stored as [`Filled`](crate::filled::Filled), in little memory, until an operation changes the block.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::Lpn;
use destage_base::lazy::{Initial, LazyTable};

use super::cells::{Block, Cell};
use super::{Entry, Medium};
use crate::array::Ppn;
use crate::found::FilledPlaces;
use crate::operation::Operations;

/// The places of the logical pages on a device that was filled before its first request. The layer that filled the
/// device provides them.
pub trait Placement: Send {
    /// Number of logical pages.
    fn pages(&self) -> u64;

    /// Die and physical page of `page`. The layer uses `operations` as scratch memory.
    fn place_of(&self, page: Lpn, operations: &mut Operations) -> (u32, Ppn);

    /// Calls `emit` for every block, with its die, its number and its erase count.
    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32));

    /// A copy of this value.
    fn copied(&self) -> Box<dyn Placement>;
}

/// The places of those logical pages that have not been written or moved since a fill or a mount.
pub(super) enum AtFirst {
    Nowhere,
    /// The places in which this layer has filled the pages.
    Filled(Box<dyn Placement>),
    /// The places in which a mount has found filled pages.
    Found(Arc<FilledPlaces>),
}

impl Clone for AtFirst {
    fn clone(&self) -> Self {
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::Filled(filling) => Self::Filled(filling.copied()),
            Self::Found(places) => Self::Found(places.clone()),
        }
    }
}

impl AtFirst {
    /// The place of the logical page `index`. The layer uses `operations` as scratch memory.
    fn place(&self, index: usize, operations: &mut Operations) -> Entry {
        let page = Lpn(index as u64);
        let place = match self {
            Self::Nowhere => None,
            Self::Filled(filling) => (page.0 < filling.pages()).then(|| {
                let (die, at) = filling.place_of(page, operations);
                (die, at.0)
            }),
            Self::Found(places) => places.of(page).map(|(die, at)| (die, at.0)),
        };
        Entry::new(place, 0)
    }
}

impl Initial for AtFirst {
    type Entry = Entry;

    fn at(&self, index: usize) -> Entry {
        self.place(index, &mut Operations::detailed())
    }

    fn of_all(&self) -> Option<Entry> {
        matches!(self, Self::Nowhere).then(|| Entry::new(None, 0))
    }

    fn fill(&self, of: Range<usize>, entries: &mut Vec<Entry>) {
        let operations = &mut Operations::detailed();
        entries.extend(of.map(|index| self.place(index, operations)));
    }
}

impl Medium {
    /// Makes this the medium of a device that was filled before its first request. Every logical page holds zeros of
    /// version 0, at the place given by `filling`. The contents of all other physical pages are unknown. Such a page
    /// may be read as a page of the map, and may be programmed if the order of pages allows this.
    ///
    /// # Panics
    /// If the medium was used before, or if `filling` gives two logical pages the same place.
    pub fn fill_from(&mut self, filling: impl Placement + 'static) {
        assert_eq!(self.programs, 0, "only a new medium is filled");
        let operations = &mut Operations::detailed();
        for page in (0..filling.pages()).map(Lpn) {
            let (die, at) = filling.place_of(page, operations);
            let (block, offset) = self.split(at.0);
            let block = &mut self.dies[die as usize].blocks[block];
            assert!(
                matches!(block.cell(offset), Cell::Erased | Cell::Unknown),
                "{} of die {die} holds two pages",
                at.0
            );
            block.fill(offset, page, self.pages_per_block);
        }
        filling.erases(&mut |die, block, erases| {
            self.dies[die as usize].blocks[block].erases = erases;
        });
        self.pages = LazyTable::new(self.pages.len(), AtFirst::Filled(Box::new(filling)));
        for die in &mut self.dies {
            die.blocks.for_each_mut(Block::fill_up);
        }
    }
}
