//! Translation of operations on zones to operations on the blocks of the zones.

use super::{Content, Kind, Mark, Operation, Operations};
use crate::array::Ppn;

impl Operations {
    /// Translates the operations added since `mark` from zones to blocks. These operations have to be in one lane.
    /// `place` gives the page of a block for a page of a zone. The erase of a zone becomes the erases of its `blocks`
    /// blocks. `block` gives the first page of a block, for the first page of the zone and the number of the block in
    /// the zone. If a zone is noted as holding an old copy, the first block of the zone is noted in its stead: all
    /// blocks of a zone are erased together.
    pub fn say_of_blocks(
        &mut self,
        mark: Mark,
        blocks: u32,
        place: impl Fn(Ppn) -> Ppn,
        block: impl Fn(Ppn, u32) -> Ppn,
    ) {
        let first = mark.list;
        for (_, zone) in &mut self.left[mark.left..] {
            *zone = block(*zone, 0);
        }
        let (list, details) = (&mut self.list, &mut self.details);
        if self.is_detailed {
            for detail in &mut details[first..list.len()] {
                if let Content::Copy(from) = &mut detail.content {
                    *from = place(*from);
                }
            }
        }
        let mut index = first;
        while index < list.len() {
            let operation = list[index];
            if operation.kind != Kind::Erase {
                list[index].at = place(operation.at);
                index += 1;
                continue;
            }
            let erase = |number| Operation {
                at: block(operation.at, number),
                ..operation
            };
            list.splice(index..=index, (0..blocks).map(erase));
            if self.is_detailed {
                let detail = details[index];
                let more = blocks.saturating_sub(1) as usize;
                details.splice(index..index, core::iter::repeat_n(detail, more));
            }
            index += blocks as usize;
        }
    }
}
