//! The pool of free pages, counted as in the printed algorithm of EPO.
//!
//! Figure 3 of the paper adds `dies - 1` to the pool, because one page of each queue leaves and the page of the miss
//! uses one of the free slots. This count has two errors. The figure adds `dies - 1` after every miss, whether or not
//! pages left. It also counts a page of every queue, whether or not the queue had a page. The pool then counts slots
//! that do not exist, and the buffer grows beyond its capacity.
//!
//! ```text
//!   capacity 4, 4 dies      every_queue      printed
//!                           pages  free    pages  free
//!   4 misses on one die       4      0       4     16
//!   a 5th                     4      3       5     19
//!   3 more                    7      0       8     28
//! ```

use destage_base::choices;

choices! {
    /// The values of `epo_pool`: which of the two errors are kept.
    pub enum Counting {
        /// No error is kept: a slot is free if no page is in it. The scheme then has no [`Pool`].
        Corrected = "corrected",
        /// An eviction counts a page of every queue, also of an empty one.
        EveryQueue = "every_queue",
        /// An eviction counts a page of every queue, also of an empty one, and so does every miss without an
        /// eviction.
        Printed = "printed",
    }
}

/// The count of free pages, for a buffer with at least one of the errors.
pub struct Pool {
    /// The number of pages that count as free.
    free: u64,
    dies: u64,
    /// Whether every miss adds to the pool, including a miss without an eviction.
    at_every_miss: bool,
    capacity: usize,
    /// The largest number of pages that exceeded the capacity at the same time.
    beyond_max: usize,
}

impl Pool {
    /// The pool of an empty buffer. Returns `None` if the scheme counts its free slots correctly, since only wrong
    /// counts need a pool.
    pub fn new(counting: Counting, capacity_pages: u32, dies: u32) -> Option<Self> {
        let at_every_miss = match counting {
            Counting::Corrected => return None,
            Counting::EveryQueue => false,
            Counting::Printed => true,
        };
        Some(Self {
            free: u64::from(capacity_pages),
            dies: u64::from(dies),
            at_every_miss,
            capacity: capacity_pages as usize,
            beyond_max: 0,
        })
    }

    /// Whether the next miss first has to evict.
    pub fn is_empty(&self) -> bool {
        self.free == 0
    }

    /// Notes that a batch has been evicted because of a miss.
    pub fn note_batch(&mut self) {
        if !self.at_every_miss {
            self.free += self.dies;
        }
    }

    /// Notes that a page has entered, and that the buffer now has `pages` pages.
    pub fn note_miss(&mut self, pages: usize) {
        if self.at_every_miss {
            self.free += self.dies - 1;
        } else {
            self.free = self.free.saturating_sub(1);
        }
        self.beyond_max = self.beyond_max.max(pages.saturating_sub(self.capacity));
    }

    /// Notes that a page has left for a reason other than a miss.
    pub fn give_back(&mut self) {
        self.free += 1;
    }

    /// Emits the size of the pool and the maximum number of pages beyond the capacity.
    pub fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("pool_pages", self.free as f64);
        emit("beyond_capacity_pages_max", self.beyond_max as f64);
    }

    /// Resets the maximum for a buffer that now has `pages` pages.
    pub fn reset_maximum(&mut self, pages: usize) {
        self.beyond_max = pages.saturating_sub(self.capacity);
    }
}
