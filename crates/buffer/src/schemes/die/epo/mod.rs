//! `epo`: destages one page of every die at once, so that all dies program in parallel.
//!
//! For each die of the device, the scheme has a queue of the buffered pages that will be programmed on this die, with
//! the latest write at the front. When the buffer is full, the page at the back of every non-empty queue is evicted,
//! all in one batch. The next misses then need no destage.
//!
//! The scheme follows the numbered steps of Xie and Koshia (2011). It differs from them in four cases in which the
//! steps cannot be meant literally. The key of a page is its *logical* number, because a page that is programmed
//! again gets a new physical address and would never be found. An empty queue contributes no page. Pages are evicted
//! only if no slot is free. A page is found with the buffer's map, and not by searching a queue. Parameters restore
//! the first three steps as printed, so that their cost can be measured.
//!
//! Cost: O(1) per page, O(dies) per batch. Memory: one list node per slot, and a list per die.

mod pool;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{Lpn, choices, parameters, table};

use crate::destage::{Grouping, Slot};
use crate::order::SlotLists;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

use pool::{Counting, Pool};

choices! {
    /// The values of `epo_key`.
    pub enum Key {
        /// The logical page number.
        Logical = "logical",
        /// The flash address of the page's latest write.
        Physical = "physical",
    }
}

parameters! {
    /// The parameters of `epo`.
    struct Parameters {
        /// How many consecutive logical pages are on one die before the next die follows.
        stride: u64 = "1" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "pages", "Ours: EPO (2011) asks the translation layer, which cannot know where a page will be programmed.";
        /// The maximum number of pages of a batch, which takes them from the longest queues; 0: no limit.
        epo_batch_max: u32 = "0", "pages", "Ours; EPO (2011) takes one page of every queue.";
        /// The key of a page: its logical number, or the flash address of its latest write, with which a rewrite is
        /// never found.
        epo_key: Key = "logical", "", "Ours; EPO (2011) stands below the translation layer, and knows its addresses.";
        /// How free pages are counted: `corrected` counts the free slots; `every_queue` assumes that each eviction
        /// frees a page of every queue, also of an empty one; `printed` assumes this of every miss.
        epo_pool: Counting = "corrected", "", "Ours; EPO (2011), figure 3, prints the last.";
    }
}

/// The row of `epo`.
pub const ROW: SchemeRow = SchemeRow {
    name: "epo",
    family: "die",
    about: "Destages the least recently written page of every die in one batch.",
    source: "Xie and Koshia, EPO, 2011, figure 3.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let dies = config.dies.max(1);
        let batch_max = match parameters.epo_batch_max {
            0 => dies,
            limit => limit.min(dies),
        };
        Box::new(Epo {
            queues: SlotLists::new(dies, config.capacity_pages),
            dies: u64::from(dies),
            stride: parameters.stride,
            limit: (batch_max < dies).then(|| Limit {
                batch_max: batch_max as usize,
                lengths: vec![0; dies as usize],
                written: Vec::new(),
                longest: Vec::with_capacity(dies as usize),
            }),
            knows_addresses: parameters.epo_key == Key::Physical,
            pool: Pool::new(parameters.epo_pool, config.capacity_pages, dies),
        })
    })
};

struct Epo {
    /// One list per die. Front: the latest write. Back: the next victim.
    queues: SlotLists,
    dies: u64,
    stride: u64,
    /// Present only if a batch is limited to fewer pages than there are queues.
    limit: Option<Limit>,
    knows_addresses: bool,
    /// Present only if free pages are not counted as `corrected` counts them.
    pool: Option<Pool>,
}

/// The data for choosing queues when a batch is limited.
struct Limit {
    batch_max: usize,
    /// The number of pages of each queue.
    lengths: Vec<u32>,
    /// By slot: the virtual time of the last write. Of two queues of equal length, the one whose last page is older
    /// is chosen.
    written: Vec<u64>,
    /// Memory that is used again for each choice.
    longest: Vec<u32>,
}

impl Scheme for Epo {
    fn properties(&self) -> Properties {
        Properties {
            is_unbounded: self.pool.is_some(),
            knows_addresses: self.knows_addresses,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        let queue = self.die_of(entry.page);
        self.queues.push_front(queue, entry);
        if let Some(limit) = &mut self.limit {
            limit.lengths[queue as usize] += 1;
            limit.note_write(entry.slot, access);
        }
        if let Some(pool) = &mut self.pool {
            pool.note_miss(self.queues.len());
        }
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            let queue = self.die_of(entry.page);
            self.queues.move_to_front(queue, entry.slot);
            if let Some(limit) = &mut self.limit {
                limit.note_write(entry.slot, access);
            }
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.take(entry);
    }

    fn is_full_for(&self, _: Lpn, free: usize) -> bool {
        free == 0 || self.pool.as_ref().is_some_and(Pool::is_empty)
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Need::FlushPage(entry) = need {
            self.take(entry);
            victim.entries.push(entry);
            return;
        }
        victim.grouping = Grouping::Batch;
        if let Some(limit) = &mut self.limit {
            limit.choose(&self.queues);
            for &queue in &limit.longest {
                limit.lengths[queue as usize] -= 1;
                victim.entries.extend(self.queues.pop_back(queue));
            }
        } else {
            for queue in 0..self.dies as u32 {
                victim.entries.extend(self.queues.pop_back(queue));
            }
        }
        if let Some(pool) = &mut self.pool {
            if need == Need::Flush {
                victim.entries.iter().for_each(|_| pool.give_back());
            } else {
                pool.note_batch();
            }
        }
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        if let Some(pool) = &self.pool {
            pool.report(emit);
        }
    }

    fn reset_figures(&mut self) {
        if let Some(pool) = &mut self.pool {
            pool.reset_maximum(self.queues.len());
        }
    }

    fn show(&self, shown: &mut Shown) {
        for die in 0..self.dies as u32 {
            let list = shown.list(
                format!("Die {die}"),
                "latest write",
                "leaves in the next batch",
            );
            list.row(self.queues.iter(die));
        }
    }

    fn len(&self) -> usize {
        self.queues.len()
    }
}

impl Epo {
    #[inline]
    fn die_of(&self, page: Lpn) -> u32 {
        (page.0 / self.stride % self.dies) as u32
    }

    fn take(&mut self, entry: Entry) {
        let queue = self.die_of(entry.page);
        self.queues.remove(entry.slot);
        if let Some(limit) = &mut self.limit {
            limit.lengths[queue as usize] -= 1;
        }
        if let Some(pool) = &mut self.pool {
            pool.give_back();
        }
    }
}

impl Limit {
    fn note_write(&mut self, slot: Slot, access: &Access) {
        *table::at(&mut self.written, slot.0 as usize, 0) = access.virtual_time;
    }

    /// Puts the numbers of the longest non-empty queues into `longest`, in ascending order. Their number is limited
    /// to the size of a batch.
    fn choose(&mut self, queues: &SlotLists) {
        let Self {
            batch_max,
            lengths,
            written,
            longest,
        } = self;
        longest.clear();
        longest.extend((0..lengths.len() as u32).filter(|queue| lengths[*queue as usize] > 0));
        if longest.len() > *batch_max {
            let tail = |queue: u32| {
                queues
                    .back(queue)
                    .map(|entry| written[entry.slot.0 as usize])
            };
            longest.select_nth_unstable_by_key(*batch_max, |queue| {
                (u32::MAX - lengths[*queue as usize], tail(*queue))
            });
            longest.truncate(*batch_max);
            longest.sort_unstable();
        }
    }
}
