//! Operations of a layer that knows zones, said of the blocks that a zone consists of.

use super::{Content, Kind, Mark, Operation, Operations};
use crate::array::Ppn;

impl Operations {
    /// In the operations since `mark`, all in one lane, a place in a zone becomes a `place` in a block, and the erase of a zone becomes one of each of
    /// its `blocks` blocks, which `block` names by the zone's place and a number. A zone with an old copy becomes its first block, with which the others
    /// are erased.
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
