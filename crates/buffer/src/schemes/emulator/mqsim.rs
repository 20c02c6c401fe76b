//! `mqsim`: programs the first write of a page at once, and keeps only pages that are written again.
//!
//! ```text
//!   writes     5   9   5   5   9   7
//!   programs   5   9               7         the first write of each page in this second
//!   buffer             5   5   5 9 5 9       written again: stays until it is the LRU page of a full buffer
//! ```
//!
//! A filter contains every page that was written since the filter was last emptied, which happens once a second. If a
//! written page is not in the filter, it is considered cold. A cold page enters the buffer, which answers the write,
//! and its program is issued at the same moment. A page that is in the filter remains in the buffer. Such pages are
//! in the order of their last use, which may be a read or a write.
//!
//! When the filter has reached its maximum age, it is emptied after the next write request. The pages of this request
//! are removed from the filter, too.
//!
//! Cost: O(1) amortised per page. Memory: one list node per slot, and 25 bytes for each page of the filter.

use alloc::boxed::Box;
use alloc::format;

use destage_base::parameter::Kind;
use destage_base::time::TICKS_PER_US;
use destage_base::{Ticks, parameters};

use crate::order::SlotList;
use crate::page_map::PageMap;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `mqsim`.
    struct Parameters {
        /// How long the filter of written pages lasts before it is emptied; 0: it is emptied after each request, so
        /// nearly every write is programmed at once.
        mqsim_filter_us: u64 = "1000000" in Kind::Integer { min: 0, max: u64::MAX / TICKS_PER_US }, "us", "MQSim, `bloom_filter_reset_step`.";
    }
}

/// The row of `mqsim`.
pub const ROW: SchemeRow = SchemeRow {
    name: "mqsim",
    family: "emulator",
    about: "Programs the first write of a page at once, and keeps pages that are written again within a second; the least recently used of them leave first.",
    source: "CMU-SAFARI/MQSim, src/ssd/Data_Cache_Manager_Flash_Advanced.cpp at 7ec40e3b.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Time],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(MqSim {
            order: SlotList::new(config.capacity_pages),
            filter: empty(),
            period: parameters.mqsim_filter_us * TICKS_PER_US,
            goes_on_until: 0,
            request: 0,
            taken_in_at: 0,
            cold: None,
            first_writes: 0,
        })
    })
};

fn empty() -> PageMap<()> {
    PageMap::with_capacity(0)
}

struct MqSim {
    /// Front: the page used last. Back: the next victim.
    order: SlotList,
    /// The pages written since the filter was last emptied.
    filter: PageMap<()>,
    period: Ticks,
    /// If a write request arrives later than this time, the filter is emptied after that request.
    goes_on_until: Ticks,
    /// The number of the latest write request. `taken_in_at` is the arrival of this request.
    request: u64,
    taken_in_at: Ticks,
    /// The page that was just written, if it was not in the filter.
    cold: Option<Entry>,
    first_writes: u64,
}

impl Scheme for MqSim {
    fn properties(&self) -> Properties {
        Properties {
            is_eager: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.order.push_front(entry);
        self.note_write(entry, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.order.move_to_front(entry.slot);
        if access.kind == AccessKind::Write {
            self.note_write(entry, access);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
        self.cold = self.cold.filter(|cold| *cold != entry);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let chosen = match need {
            Need::Evict(_) | Need::Flush => self.order.back(),
            Need::FlushPage(entry) => Some(entry),
        };
        if let Some(entry) = chosen {
            self.remove(entry);
            victim.entries.push(entry);
        }
    }

    fn eager(&mut self, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Some(entry) = self.cold.take() {
            self.order.remove(entry.slot);
            self.first_writes += 1;
            victim.entries.push(entry);
        }
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order.iter_back().all(visit);
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("first_writes", self.first_writes as f64);
    }

    fn reset_figures(&mut self) {
        self.first_writes = 0;
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Written again", "latest use", "leaves next");
        list.note(format!("{} pages in the filter", self.filter.len()));
        list.row(self.order.iter());
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}

impl MqSim {
    fn note_write(&mut self, entry: Entry, access: &Access) {
        if access.request != self.request {
            if self.taken_in_at > self.goes_on_until {
                self.filter = empty();
                self.goes_on_until = self.taken_in_at.saturating_add(self.period);
            }
            self.request = access.request;
            self.taken_in_at = access.now;
        }
        let (position, held) = self.filter.locate(entry.page);
        self.cold = None;
        if held.is_none() {
            let number = self.filter.len() as u32;
            self.filter.set_at(position, entry.page, number, ());
            self.cold = Some(entry);
        }
    }
}
