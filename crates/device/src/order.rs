//! Write order: effects on one page happen in the order in which they were emitted.
//!
//! An effect is a program of the page, with its own data or as padding, or a trim. Operations of one page join
//! the queue of one die, and a die serves its queue in order, so almost always nothing has to be done. What
//! remains is an effect that cannot join its queue yet:
//!
//! * a record waits for its padding reads, or for the read that completes a partly written page;
//! * a layer that chooses the die of each write would send two programs of one page to two dies.
//!
//! Then later effects on the same pages wait behind it. They join the tail of their queues when they may go.
//! Whoever waits does so for something emitted before, so no wait is cyclic.

use alloc::collections::{BTreeMap, VecDeque};

use destage_base::Lpn;

use crate::operation::PageOperation;

/// What happens to a page next, or is happening.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// A single operation that may go when it is first.
    Operation(PageOperation),
    /// A record that goes as a whole.
    Record(u32),
    /// The read of what a partial write leaves out of the page.
    Fill,
    /// An operation that is queued or served at a die; the next must not begin before its end.
    Running,
}

/// Who is first on a page after something else has gone.
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

    /// `waiting` comes behind everything that waits for `page`.
    pub fn push(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_back(waiting);
    }

    /// `waiting` comes before everything that waits for `page`.
    pub fn push_first(&mut self, page: Lpn, waiting: Waiting) {
        self.pages.entry(page).or_default().push_front(waiting);
    }

    /// What comes first on `page` has gone.
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

    /// Whether an operation on `page` is running that others wait for.
    pub fn is_running(&self, page: Lpn) -> bool {
        let first = self.pages.get(&page).and_then(VecDeque::front);
        matches!(first, Some(Waiting::Running))
    }

    /// Who may go on `page` now. An operation is taken out; a record stays until it goes.
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
            Some(Waiting::Record(record)) => Next::Record(record),
            Some(Waiting::Fill | Waiting::Running) => Next::Stays,
        }
    }
}
