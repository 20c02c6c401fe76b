//! Tells the medium where a layer has placed the pages of a device that is filled before the first request.

use alloc::boxed::Box;

use destage_base::Lpn;
use destage_nand::array::Ppn;
use destage_nand::medium::Placement;
use destage_nand::operation::{Content, Operations};

use crate::Ftl;

/// A copy of the layer, from which the medium reads the physical page of each logical page.
pub struct Filling(Box<dyn Ftl>);

impl Filling {
    /// The placement of pages by `ftl` in its present state.
    #[must_use]
    pub fn of(ftl: &dyn Ftl) -> Self {
        Self(ftl.copied())
    }
}

impl Placement for Filling {
    fn pages(&self) -> u64 {
        self.0.pages()
    }

    /// # Panics
    /// If the layer emits no read for the page.
    fn place_of(&self, page: Lpn, operations: &mut Operations) -> (u32, Ppn) {
        operations.clear();
        self.0.peek(page, operations);
        let mut commands = operations.commands();
        match commands.find(|(_, _, detail)| detail.content == Content::Host(page)) {
            Some((_, read, _)) => (self.0.home_of(page), read.at),
            None => panic!("page {} of a filled device has no contents", page.0),
        }
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        self.0.erases(emit);
    }

    fn copied(&self) -> Box<dyn Placement> {
        Box::new(Self::of(&*self.0))
    }
}
