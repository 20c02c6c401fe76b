//! A device that was filled before its first request.

use destage_base::Lpn;

use super::cells::{Block, Cell};
use super::{Medium, Payload, SpareKind};
use crate::ftl::Ftl;
use crate::operation::{Content, Detail, Operation, Operations, Purpose, Role};

impl Medium {
    /// Makes this the medium of a device that was filled before: every page holds zeros of version 0 where
    /// `ftl` has it. What else blocks hold nobody knows: it may be read as a map, and programmed where the order of pages
    /// lets it.
    ///
    /// # Panics
    /// If the medium was used before, or the layer does not read each page in a place of its own.
    pub fn fill_from(&mut self, ftl: &dyn Ftl) {
        assert_eq!(self.programs, 0, "only a new medium is filled");
        let mut operations = Operations::detailed();
        for page in (0..ftl.pages()).map(Lpn) {
            let die = ftl.home_of(page);
            operations.clear();
            ftl.peek(page, &mut operations);
            let is_place =
                |(_, _, detail): &(u32, &Operation, &Detail)| detail.content == Content::Host(page);
            let Some((_, read, _)) = operations.commands().find(is_place) else {
                panic!("page {} of a filled device has no contents", page.0);
            };
            let at = read.at.0;
            let (block, offset) = self.split(at);
            let payload = Payload::internal(SpareKind::Zeros, Some(page));
            let stored = payload.stored(Purpose::shared(Role::Data), 0);
            let block = &mut self.dies[die as usize].blocks[block];
            assert!(
                matches!(block.cell(offset), Cell::Erased),
                "{at} of die {die} holds two pages"
            );
            block.put(offset, self.pages_per_block, stored);
            self.pages.get_mut(page.0 as usize).place = Some((die, at));
        }
        ftl.erases(&mut |die, block, erases| {
            self.dies[die as usize].blocks[block].erases = erases;
        });
        for die in &mut self.dies {
            die.blocks.for_each_mut(Block::fill_up);
        }
    }
}
