//! `femu`: destages the least recently written pages in batches when a watermark is reached.
//!
//! ```text
//!   latest                            oldest
//!   [ D  A | C  B ]      4 slots, 75 %: the watermark is 3 pages, and a batch is the remaining 1 page
//!   write A, B, C     the buffer holds three pages
//!   write A           a hit; A moves to the front
//!   write D           the watermark is reached: a batch of one page, B, leaves; then D enters
//! ```
//!
//! The buffer never becomes full. The slots above the watermark are for pages that are being programmed. With a
//! watermark of 100 %, a batch is one page, and the scheme is the same as [`lru`](crate::schemes::page::lru).
//!
//! Cost: O(1) per page. Memory: one list node per slot.

use alloc::boxed::Box;
use alloc::format;

use destage_base::parameter::Kind;
use destage_base::parameters;

use crate::order::SlotList;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;
use destage_base::Lpn;

parameters! {
    /// The parameters of `femu`.
    struct Parameters {
        /// The watermark, as a share of the buffer's pages: when it is reached, a batch is destaged before the next
        /// page enters. A batch has as many pages as there are slots above the watermark.
        femu_watermark_percent: u32 = "90" in Kind::Integer { min: 1, max: 100 }, "%", "FEMU, property `buffer_thres_pcent`.";
    }
}

/// The row of `femu`.
pub const ROW: SchemeRow = SchemeRow {
    name: "femu",
    family: "emulator",
    about: "Destages the least recently written pages in batches once a watermark is reached.",
    source: "MoatLab/FEMU, hw/femu/bbssd/ftl-datapath.c at 0ee6d211.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let capacity = u64::from(config.capacity_pages);
        let share = capacity * u64::from(parameters.femu_watermark_percent) / 100;
        let watermark = share.max(1) as usize;
        Box::new(Femu {
            order: SlotList::new(config.capacity_pages),
            watermark,
            batch: (capacity as usize).saturating_sub(watermark).max(1),
        })
    })
};

struct Femu {
    /// Front: the latest write. Back: the page that is evicted next.
    order: SlotList,
    /// When the buffer has this many pages, a batch is evicted before another page enters.
    watermark: usize,
    /// The number of pages in a batch.
    batch: usize,
}

impl Scheme for Femu {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.order.push_front(entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.order.move_to_front(entry.slot);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::FlushPage(entry) => victim.entries.push(self.order.remove(entry.slot)),
            Need::Evict(_) | Need::Flush => {
                let batch = core::iter::from_fn(|| self.order.pop_back());
                victim.entries.extend(batch.take(self.batch));
            }
        }
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order.iter_back().all(visit);
    }

    fn is_full_for(&self, _: Lpn, free: usize) -> bool {
        free == 0 || self.order.len() >= self.watermark
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Order of last write", "latest write", "leaves next");
        list.note(format!(
            "{} of {} pages up to the watermark; {} leave together",
            self.order.len(),
            self.watermark,
            self.batch
        ));
        list.row(self.order.iter());
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}
