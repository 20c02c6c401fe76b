//! The selection of the operations that a die with parallel units serves together.
//!
//! Each page occurs at most once among the reads of a batch, and at most once among its writes. Further reads or
//! writes of such a page are repeated operations: they end together with the first one, and the newest contents are
//! programmed. In the reference simulator a repeated operation is done at once.
//!
//! If a batch first writes and then trims a page, the trim takes effect after the write. However, if the batch writes
//! the page again after the trim, the trim has no effect. Any other trim takes effect before the batch. Trims need no
//! time.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use destage_base::Lpn;
use destage_nand::Cause;
use destage_nand::batch::Batch;

use crate::operation::PageOperation;

/// The largest number of reads, and the largest number of writes, in one batch.
const BATCH_LIMIT: usize = 100;

/// When an operation ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    /// At once, before the batch is served.
    AtOnce,
    /// Together with the read of this index.
    Read(usize),
    /// Together with the write of this index.
    Write(usize),
    /// Together with the write of this index. The operation is a trim that takes effect after this write.
    TrimBehind(usize),
}

/// The lists of the batch that is being formed. The lists are reused, so that a new batch allocates no memory.
#[derive(Default)]
pub(crate) struct BatchLists {
    /// The operations taken from the queue, in the order of the queue.
    taken: Vec<(PageOperation, Part)>,
    /// The pages to read, each page once.
    pub read_pages: Vec<Lpn>,
    /// The pages to write, each page once.
    pub write_pages: Vec<(Lpn, Cause)>,
    reads: usize,
    writes: usize,
}

impl BatchLists {
    /// Moves operations from the head of `queue` to these lists, up to the limit of a batch. If `repeats_at_once` is
    /// set, a repeated operation on a page is done at once.
    pub fn fill(&mut self, queue: &mut VecDeque<PageOperation>, repeats_at_once: bool) {
        self.taken.clear();
        self.read_pages.clear();
        self.write_pages.clear();
        (self.reads, self.writes) = (0, 0);
        while self.reads < BATCH_LIMIT && self.writes < BATCH_LIMIT {
            let Some(operation) = queue.pop_front() else {
                break;
            };
            let part = self.part_of(operation, repeats_at_once);
            self.taken.push((operation, part));
        }
    }

    /// Whether no operation was taken.
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    fn part_of(&mut self, operation: PageOperation, repeats_at_once: bool) -> Part {
        let page = operation.page();
        let written = self
            .write_pages
            .iter()
            .position(|(other, _)| *other == page);
        if operation.is_trim() {
            self.writes += 1;
            return match written {
                Some(index) if !repeats_at_once => Part::TrimBehind(index),
                _ => Part::AtOnce,
            };
        }
        if let Some(cause) = operation.write_cause() {
            self.writes += 1;
            return match written {
                Some(_) if repeats_at_once => Part::AtOnce,
                Some(index) => {
                    // The contents of the latest write are programmed, so the cause of the latest write is counted.
                    self.write_pages[index].1 = cause;
                    Part::Write(index)
                }
                None => {
                    self.write_pages.push((page, cause));
                    Part::Write(self.write_pages.len() - 1)
                }
            };
        }
        self.reads += 1;
        match self.read_pages.iter().position(|other| *other == page) {
            Some(_) if repeats_at_once => Part::AtOnce,
            Some(index) => Part::Read(index),
            None => {
                self.read_pages.push(page);
                Part::Read(self.read_pages.len() - 1)
            }
        }
    }

    /// The trims that take effect before the writes.
    pub fn trims_before(&self) -> impl Iterator<Item = PageOperation> + '_ {
        let first = self.taken.iter();
        first
            .filter(|(operation, part)| *part == Part::AtOnce && operation.is_trim())
            .map(|(operation, _)| *operation)
    }

    /// The trims that take effect after the writes. A trim is left out if a later write of the batch writes its page
    /// again.
    pub fn trims_behind(&self) -> impl Iterator<Item = PageOperation> + '_ {
        let trims = self.taken.iter().enumerate();
        trims.filter_map(|(position, (operation, part))| {
            let Part::TrimBehind(index) = *part else {
                return None;
            };
            let is_void = self.taken[position..]
                .iter()
                .any(|(_, later)| *later == Part::Write(index));
            (!is_void).then_some(*operation)
        })
    }

    /// Called if the layer had room for only the first `served` writes. The other writes, and all writes and trims
    /// that end with them, are returned to the head of `queue`.
    pub fn give_back(&mut self, served: usize, queue: &mut VecDeque<PageOperation>) {
        if served == self.write_pages.len() {
            return;
        }
        self.write_pages.truncate(served);
        let stays = |part: Part| match part {
            Part::AtOnce | Part::Read(_) => true,
            Part::Write(index) | Part::TrimBehind(index) => index < served,
        };
        for (operation, part) in self.taken.iter().rev() {
            if !stays(*part) {
                queue.push_front(*operation);
            }
        }
        self.taken.retain(|(_, part)| stays(*part));
    }

    /// Assigns positions to the operations. The operations that end at once have the first positions, and the other
    /// operations follow in the order of `batch`. A repeated operation is added to `followers`, with the position of
    /// the operation with which it ends. Returns the number of operations that end at once.
    pub fn arrange(
        &self,
        batch: &Batch,
        positions: &mut Vec<PageOperation>,
        followers: &mut Vec<(u16, PageOperation)>,
    ) -> u32 {
        positions.clear();
        followers.clear();
        let at_once = self.taken.iter().filter(|(_, part)| *part == Part::AtOnce);
        positions.extend(at_once.map(|(operation, _)| *operation));
        let count = positions.len() as u32;
        for entry in &batch.entries {
            let position = positions.len() as u16;
            let is_part = |part: Part| match part {
                Part::AtOnce => false,
                Part::Read(index) => !entry.write && index == entry.index,
                Part::Write(index) | Part::TrimBehind(index) => entry.write && index == entry.index,
            };
            let mut ended = self.taken.iter().filter(|(_, part)| is_part(*part));
            // The first operation on a page gets the position, and repeated operations on this page become followers.
            positions.extend(ended.next().map(|(operation, _)| *operation));
            followers.extend(ended.map(|(operation, _)| (position, *operation)));
        }
        count
    }
}
