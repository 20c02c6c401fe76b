//! Write order: effects on one page happen in the order in which they were emitted.
//!
//! An effect is a program of the page, with its own data or as padding, or a trim. Operations of one page join
//! the queue of one die, and a die serves its queue in order, so almost always nothing has to be done. The rest of this module is about effects that
//! cannot join their queue yet:
//!
//! * a record waits for its padding reads, or for the read that completes a partly written page;
//! * a layer that chooses the die of each write would send two programs of one page to two dies.
//!
//! Then later effects on the same pages wait for it. They join the tail of their queues when they may go.
//! Each wait is for something that was emitted before, so that no wait is cyclic.

use alloc::collections::{BTreeMap, VecDeque};
use core::ops::Range;

use destage_base::Lpn;

use crate::operation::PageOperation;

/// The next or present effect on a page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// A single operation that may go when it is first.
    Operation(PageOperation),
    /// A record that goes as a whole, after another effect on this page.
    Record(u32),
    /// A record that is first on this page and waits for something else.
    Turn(u32),
    /// The read of the part of the page that a partial write leaves out.
    Fill,
    /// The program of the page that is in service; the next must not begin before its end.
    Program,
    /// A trim that is queued or served at a die; the next must not begin before its end.
    Trim,
}

/// What is first on a page after something else has gone.
pub(crate) enum Next {
    /// Nobody waits for this page.
    Nobody,
    /// Somebody waits for something other than the page.
    Stays,
    /// This operation may go. Ask again.
    Operation(PageOperation),
    /// This record waits for one page less. Ask no more.
    Record(u32),
}

/// The pages on which effects wait, and the effects in their order.
#[derive(Default)]
pub(crate) struct WriteOrder {
    pages: BTreeMap<Lpn, VecDeque<Waiting>>,
}

impl WriteOrder {
    /// Whether nothing waits at all.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// Whether an effect on `page` emitted now has to wait.
    #[inline]
    pub fn has(&self, page: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&page)
    }

    /// The pages among `pages` on which effects wait.
    pub fn among(&self, pages: Range<u64>) -> impl Iterator<Item = Lpn> + '_ {
        let range = self.pages.range(Lpn(pages.start)..Lpn(pages.end));
        range.map(|(page, _)| *page)
    }

    /// `waiting` comes after everything that waits for `page`.
    pub fn push(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_back(waiting);
    }

    /// Record `id` waits for `page`, which was free if it `is_first`.
    pub fn push_record(&mut self, page: Lpn, id: u32, is_first: bool) {
        let waiting = match is_first {
            true => Waiting::Turn(id),
            false => Waiting::Record(id),
        };
        self.push(page, waiting);
    }

    /// The record that is first on `page` waits for the program in service after all.
    pub fn push_program_before_record(&mut self, page: Lpn) {
        let queue = self.pages.entry(page).or_default();
        if let Some(Waiting::Turn(id)) = queue.front().copied() {
            queue[0] = Waiting::Record(id);
        }
        queue.push_front(Waiting::Program);
    }

    /// `waiting` comes before everything that waits for `page`.
    pub fn push_first(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_front(waiting);
    }

    /// The first effect on `page` has gone.
    pub fn pop(&mut self, page: Lpn) {
        if let Some(queue) = self.pages.get_mut(&page) {
            queue.pop_front();
        }
    }

    /// A read for a partial write of `page` has ended; whether it was first.
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

    /// Whether the first effect on `page` goes on by itself.
    pub fn is_under_way(&self, page: Lpn) -> bool {
        let first = self.pages.get(&page).and_then(VecDeque::front);
        first.is_some_and(|first| !matches!(first, Waiting::Operation(_) | Waiting::Record(_)))
    }

    /// `operation` has ended; whether others waited for just that.
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

    /// What may proceed on `page` now. An operation is taken out; a record stays until it goes, and is named once.
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
