//! `ecr`: destages the oldest page of the die with the shortest queue, if this page is old enough.
//!
//! ```text
//!   by last write     [ young half        |  old half  ]
//!                       h   g   f   e     | d  c  b  a     a: the least recently written page
//!   die 0, queue 7:         f                 b  a
//!   die 1, queue 0:     g               d                the last page is d, which is old: d leaves
//!   die 2, queue 0:              e            .  .  .    the last page is e, which is young: a would leave
//! ```
//!
//! The load of a die indicates how long a destage has to wait. The order of writes indicates which pages will be
//! written again soon. Each die has a list of its pages, the latest write in front, as in
//! [`epo`](crate::schemes::die::epo). The die with the shortest queue is chosen. If the last page of its list is in
//! the old part of the order over all pages, this page is evicted. Otherwise the last page of the order over all
//! pages is evicted. Of dies with equal queues, the one with the oldest last page is chosen. On a device whose queues
//! are unknown, the scheme is therefore LRU by page.
//!
//! The order over all pages is stored as two lists, the young part and the old part. When the sizes of the two parts
//! are no longer in the required proportion, a page moves across the border. It is therefore never necessary to count
//! the position of a page.
//!
//! Cost: O(1) per page, O(dies) per victim. Memory: two list nodes and a stamp per slot.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{parameters, table};

use super::{STRIDE, Striping};
use crate::destage::Slot;
use crate::order::SlotLists;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

parameters! {
    /// The parameters of `ecr`.
    struct Parameters {
        stride: u64 as STRIDE;
        /// Share of the pages, from the least recently written on, that may leave because the queue of their die is
        /// short.
        ecr_old: u32 = "50" in Kind::Integer { min: 0, max: 100 }, "%", "ECR (2019/2021): the older half.";
    }
}

/// The row of `ecr`.
pub const ROW: SchemeRow = SchemeRow {
    name: "ecr",
    family: "device",
    about: "Destages the least recently written page of the die with the shortest queue; if that page is too young, the least recently written page of all.",
    source: "ECR, eviction-cost-aware replacement, Concurrency and Computation, 2019/2021.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Queues],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let striping = Striping::new(config, parameters.stride);
        Box::new(Ecr {
            recency: SlotLists::new(2, config.capacity_pages),
            queues: SlotLists::new(striping.dies(), config.capacity_pages),
            striping,
            old_percent: parameters.ecr_old as usize,
            old: 0,
            held: Vec::new(),
            spared: 0,
        })
    })
};

/// The young part of the order. Its back is adjacent to the front of the old part.
const YOUNG: u32 = 0;
/// The old part. Its pages may be evicted because the queue of their die is short.
const OLD: u32 = 1;

/// The state of the page in a slot.
#[derive(Clone, Copy)]
struct Held {
    /// The virtual time of the last write of the page.
    written: u64,
    is_old: bool,
}

struct Ecr {
    /// The order over all pages, in two parts.
    recency: SlotLists,
    /// One list per die. Front: the latest write.
    queues: SlotLists,
    striping: Striping,
    old_percent: usize,
    /// The number of pages in the old part.
    old: usize,
    /// The state of the page in each slot.
    held: Vec<Held>,
    /// The number of victims that were not the least recently written page.
    spared: u64,
}

impl Scheme for Ecr {
    fn insert(&mut self, entry: Entry, access: &Access) {
        self.note_write(entry.slot, access);
        self.recency.push_front(YOUNG, entry);
        let die = self.striping.die_of(entry.page);
        self.queues.push_front(die, entry);
        self.move_border();
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.old -= usize::from(self.held[entry.slot.0 as usize].is_old);
            self.note_write(entry.slot, access);
            self.recency.move_to_front(YOUNG, entry.slot);
            let die = self.striping.die_of(entry.page);
            self.queues.move_to_front(die, entry.slot);
            self.move_border();
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.old -= usize::from(self.held[entry.slot.0 as usize].is_old);
        self.recency.remove(entry.slot);
        self.queues.remove(entry.slot);
        self.move_border();
    }

    fn evict(&mut self, need: Need, _: &Access, view: &dyn View, victim: &mut Victim) {
        let chosen = match need {
            Need::FlushPage(entry) => Some(entry),
            Need::Evict(_) | Need::Flush => self.choose(view),
        };
        if let Some(entry) = chosen {
            self.remove(entry);
            victim.entries.push(entry);
        }
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("victims_by_queue", self.spared as f64);
    }

    fn reset_figures(&mut self) {
        self.spared = 0;
    }

    fn show(&self, shown: &mut Shown) {
        for (part, name, first, last) in [
            (YOUNG, "Young part", "latest write", ""),
            (
                OLD,
                "Old part",
                "",
                "leaves next, or the last page of the die with the shortest queue",
            ),
        ] {
            let list = shown.list(name, first, last);
            let row = list.group("", Frame::Row);
            for entry in self.recency.iter(part) {
                row.page(entry, format!("d{}", self.striping.die_of(entry.page)));
            }
        }
    }

    fn len(&self) -> usize {
        self.recency.len()
    }
}

impl Ecr {
    fn note_write(&mut self, Slot(slot): Slot, access: &Access) {
        let held = Held {
            written: access.virtual_time,
            is_old: false,
        };
        *table::at(&mut self.held, slot as usize, held) = held;
    }

    /// Moves one page across the border if the size of the old part is not correct. One page suffices after one page
    /// has entered, left or moved.
    fn move_border(&mut self) {
        let share = self.recency.len() * self.old_percent / 100;
        if self.old < share
            && let Some(entry) = self.recency.back(YOUNG)
        {
            self.recency.move_to_front(OLD, entry.slot);
            self.held[entry.slot.0 as usize].is_old = true;
            self.old += 1;
        } else if self.old > share
            && let Some(entry) = self.recency.front(OLD)
        {
            self.recency.move_to_back(YOUNG, entry.slot);
            self.held[entry.slot.0 as usize].is_old = false;
            self.old -= 1;
        }
    }

    fn choose(&mut self, view: &dyn View) -> Option<Entry> {
        let written = |entry: Entry| self.held[entry.slot.0 as usize].written;
        let last = (0..self.striping.dies()).filter_map(|die| {
            let entry = self.queues.back(die)?;
            Some((view.queue_length(die), written(entry), entry))
        });
        let (_, _, least_loaded) = last.min_by_key(|(queue, age, _)| (*queue, *age))?;
        let least_recent = self
            .recency
            .back(OLD)
            .or_else(|| self.recency.back(YOUNG))?;
        if self.held[least_loaded.slot.0 as usize].is_old {
            self.spared += u64::from(least_loaded != least_recent);
            Some(least_loaded)
        } else {
            Some(least_recent)
        }
    }
}
