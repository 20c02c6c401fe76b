//! Write order: effects on one page happen in the order in which they were emitted.
//!
//! An effect is a program of the page (with its own data or as padding), or a trim. Almost always, all operations of
//! one page join the queue of one die, and the die serves its queue in order, so the order is kept without further
//! work. This module is for effects that cannot join a queue yet. There are two reasons:
//!
//! * A record waits for its padding reads, or for the read that completes a partly written page.
//! * A layer that chooses the die of each write could send two programs of one page to two dies.
//!
//! Later effects on the same pages then wait, too. When a waiting effect may go, it joins the tail of its queue. An
//! effect waits only for effects that were emitted earlier, so effects never wait for each other in a cycle.

use alloc::collections::{BTreeMap, VecDeque};
use core::ops::Range;

use destage_base::Lpn;

use crate::operation::PageOperation;

/// An effect on a page that waits or is in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// A single operation. It may go when it is the first effect on the page.
    Operation(PageOperation),
    /// A record that waits for an earlier effect on this page. All programs of the record go together.
    Record(u32),
    /// A record that is the first effect on this page, but waits for its padding or for other pages.
    Turn(u32),
    /// The read of the sectors of the page that a partial write does not cover.
    Fill,
    /// The program of the page that is in service. The next effect must not begin before the end of the program.
    Program,
    /// A trim that is queued or served at a die. The next effect must not begin before the end of the trim.
    Trim,
}

/// The next effect on a page, after another effect has gone.
pub(crate) enum Next {
    /// No effect waits for this page.
    Nobody,
    /// The first effect has to remain in the list: it is in progress, or waits for something other than the page.
    Stays,
    /// This operation may go. The caller has to ask for the next effect as well.
    Operation(PageOperation),
    /// The number of pages for which this record waits decreases by one. The caller need not ask for the next effect.
    Record(u32),
}

/// The pages on which effects wait, and the effects on each page in their order.
#[derive(Default)]
pub(crate) struct WriteOrder {
    pages: BTreeMap<Lpn, VecDeque<Waiting>>,
}

impl WriteOrder {
    /// Whether no effect waits on any page.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether an effect on `page` that is emitted now has to wait.
    #[inline]
    pub fn has(&self, page: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&page)
    }

    /// Those of `pages` on which effects wait.
    pub fn among(&self, pages: Range<u64>) -> impl Iterator<Item = Lpn> + '_ {
        let range = self.pages.range(Lpn(pages.start)..Lpn(pages.end));
        range.map(|(page, _)| *page)
    }

    /// Appends `waiting` to the effects on `page`.
    pub fn push(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_back(waiting);
    }

    /// Appends record `id` to the effects on `page`. `is_first` says whether no effect waits on the page yet.
    pub fn push_record(&mut self, page: Lpn, id: u32, is_first: bool) {
        let waiting = match is_first {
            true => Waiting::Turn(id),
            false => Waiting::Record(id),
        };
        self.push(page, waiting);
    }

    /// Inserts the program in service before the record that is first on `page`. The record has to wait for this
    /// program.
    pub fn push_program_before_record(&mut self, page: Lpn) {
        let queue = self.pages.entry(page).or_default();
        if let Some(Waiting::Turn(id)) = queue.front().copied() {
            queue[0] = Waiting::Record(id);
        }
        queue.push_front(Waiting::Program);
    }

    /// Inserts `waiting` before all effects on `page`.
    pub fn push_first(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_front(waiting);
    }

    /// Removes the first effect on `page`, which has gone.
    pub fn pop(&mut self, page: Lpn) {
        if let Some(queue) = self.pages.get_mut(&page) {
            queue.pop_front();
        }
    }

    /// Removes a read for a partial write of `page` after the read has ended. Returns whether this read was the first
    /// effect on the page.
    pub fn fill_ended(&mut self, page: Lpn) -> bool {
        let Some(queue) = self.pages.get_mut(&page) else {
            return false;
        };
        let position = queue
            .iter()
            .position(|waiting| matches!(waiting, Waiting::Fill));
        if let Some(position) = position {
            queue.remove(position);
        }
        position == Some(0)
    }

    /// Whether the first effect on `page` is in progress, or waits for something other than the page.
    pub fn is_under_way(&self, page: Lpn) -> bool {
        let first = self.pages.get(&page).and_then(VecDeque::front);
        first.is_some_and(|first| !matches!(first, Waiting::Operation(_) | Waiting::Record(_)))
    }

    /// Called when `operation` has ended. If the first entry of its page stands for this operation, removes the entry
    /// and returns `true`; otherwise returns `false`.
    pub fn effect_ended(&mut self, operation: PageOperation) -> bool {
        let Some(queue) = self.pages.get_mut(&operation.page()) else {
            return false;
        };
        let is_awaited = match queue.front() {
            Some(Waiting::Program) => operation.write_cause().is_some(),
            Some(Waiting::Trim) => operation.is_trim(),
            _ => false,
        };
        if is_awaited {
            queue.pop_front();
        }
        is_awaited
    }

    /// The effect that may go on `page` now. An operation is removed from the list. A record remains in the list
    /// until it goes, but is returned only once.
    pub fn next(&mut self, page: Lpn) -> Next {
        let Some(queue) = self.pages.get_mut(&page) else {
            return Next::Nobody;
        };
        match queue.front().copied() {
            None => {
                self.pages.remove(&page);
                Next::Nobody
            }
            Some(Waiting::Operation(operation)) => {
                queue.pop_front();
                Next::Operation(operation)
            }
            Some(Waiting::Record(record)) => {
                queue[0] = Waiting::Turn(record);
                Next::Record(record)
            }
            Some(Waiting::Turn(_) | Waiting::Fill | Waiting::Program | Waiting::Trim) => {
                Next::Stays
            }
        }
    }
}
