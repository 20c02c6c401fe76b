//! `ref`: destages old pages of the blocks from which pages were evicted recently.
//!
//! A translation layer with few log blocks has to merge whenever it needs another log block. A block from which pages
//! were evicted recently still has an open log block. Such a block is called a *victim block*. Among the least
//! recently used pages (the *window*), the pages of victim blocks are evicted first. If the window has no page of a
//! victim block, the least recently used page is evicted, and its block becomes a victim block.
//!
//! ```text
//!   MRU [ 9 33 2 | 40 8 17 5 ] LRU        window: the last pages of the list
//!   victim blocks [ 4 2 ]                 8 is of block 2: it leaves before 17 and 5
//! ```
//!
//! The pages of each block are also in a separate order of their use, so the oldest page of a victim block is found
//! at once.
//!
//! [`bp-ref`](crate::schemes::block::bp_ref) chooses in the same way, but evicts and pads the whole block of the
//! chosen page.
//!
//! Cost: O(1) per use. Per victim O(victim blocks), plus one step per page that is evicted.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{parameters, table};

use crate::clusters::{Clusters, Lbn};
use crate::config::part_of;
use crate::destage::{Grouping, Slot};
use crate::order::SlotLists;
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

parameters! {
    /// The parameters of `ref`.
    pub struct Parameters {
        /// How many blocks count as recently evicted; the number of log blocks is best.
        ref_blocks: u32 = "7" in Kind::Integer { min: 0, max: 65536 }, "blocks", "Ours; 7 is the number of log blocks in BPLRU (FAST 2008).";
        /// Share of the buffer, from the least recently used page on, that is searched for pages of victim blocks;
        /// rounded down, at least 1 page.
        ref_window: f64 = "0.5" in Kind::Number { min: 0.0, max: 1.0 }, "", "Ours.";
    }
}

/// The row of `ref`.
pub const ROW: SchemeRow = SchemeRow {
    name: "ref",
    family: "page",
    about: "Destages old pages of recently evicted blocks first, so that few log blocks are open.",
    source: "Seo and Shin, Recently-Evicted-First, IEEE Transactions on Consumer Electronics, 2008.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(RecentlyEvicted::new(config, &parameters, Unit::Page))
    })
};

/// The pages that are evicted together.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// The page that was chosen.
    Page,
    /// All pages of the block of the chosen page.
    Block {
        /// Whether padding completes the block.
        pads: bool,
    },
}

/// The list of the more recently used pages. Front: the page used last. The order of all pages consists of this list
/// and the window.
const YOUNG: u32 = 0;
/// The window: the least recently used pages, at most as many as the window may hold.
const WINDOW: u32 = 1;

#[derive(Clone, Copy)]
struct Page {
    last: u64,
    in_window: bool,
}

/// The scheme, for single pages or whole blocks.
pub struct RecentlyEvicted {
    pages: SlotLists,
    /// The last use of the page in each slot.
    uses: Vec<Page>,
    window: usize,
    window_max: usize,
    /// The pages of each block, in the order of their use.
    clusters: Clusters,
    /// The victim blocks. Front: the block that is removed from this list first.
    blocks: VecDeque<Lbn>,
    blocks_max: usize,
    unit: Unit,
    clock: u64,
}

impl RecentlyEvicted {
    /// An empty buffer.
    #[must_use]
    pub fn new(config: &SchemeConfig, parameters: &Parameters, unit: Unit) -> Self {
        let capacity = config.capacity_pages;
        let blocks = parameters.ref_blocks as usize;
        let window = part_of(parameters.ref_window, capacity);
        Self {
            pages: SlotLists::new(2, capacity),
            uses: Vec::with_capacity(table::prepared(capacity)),
            window: 0,
            window_max: (window as usize).max(1),
            clusters: Clusters::new(capacity, config.cluster_pages),
            blocks: VecDeque::with_capacity(blocks + 1),
            blocks_max: blocks,
            unit,
            clock: 0,
        }
    }

    fn set_use(&mut self, slot: Slot, in_window: bool) {
        self.clock += 1;
        let page = Page {
            last: self.clock,
            in_window,
        };
        *table::at(&mut self.uses, slot.0 as usize, page) = page;
    }

    /// Removes a page from the list. The caller has to fill the window afterwards.
    fn unlist(&mut self, slot: Slot) {
        self.leave_window(slot);
        self.pages.remove(slot);
    }

    /// Notes that a page leaves the window, if the page is in the window. The caller has to fill the window
    /// afterwards.
    fn leave_window(&mut self, slot: Slot) {
        self.window -= usize::from(self.uses[slot.0 as usize].in_window);
    }

    /// Moves pages from the back of the list [`YOUNG`] to the window while the window has room.
    fn fill_window(&mut self) {
        while self.window < self.window_max
            && let Some(oldest) = self.pages.back(YOUNG)
        {
            self.pages.move_to_front(WINDOW, oldest.slot);
            self.uses[oldest.slot.0 as usize].in_window = true;
            self.window += 1;
        }
    }

    /// The next victim. If pages of victim blocks are in the window, it is the least recently used of these pages.
    /// Otherwise it is the least recently used page of all.
    fn choose(&mut self) -> Option<Entry> {
        let mut chosen: Option<(u64, Entry)> = None;
        for block in &self.blocks {
            let Some(cluster) = self.clusters.find(*block) else {
                continue;
            };
            let oldest = self.clusters.first(cluster);
            let page = self.uses[oldest.slot.0 as usize];
            if page.in_window && chosen.is_none_or(|(last, _)| page.last < last) {
                chosen = Some((page.last, oldest));
            }
        }
        if let Some((_, entry)) = chosen {
            return Some(entry);
        }
        let oldest = self.pages.back(WINDOW)?;
        self.blocks.push_back(self.clusters.split(oldest.page).0);
        if self.blocks.len() > self.blocks_max {
            self.blocks.pop_front();
        }
        Some(oldest)
    }

    fn take(&mut self, entry: Entry, victim: &mut Victim) {
        match self.unit {
            Unit::Page => {
                self.clusters.remove(entry.slot);
                victim.entries.push(entry);
            }
            Unit::Block { pads } => {
                let place = self.clusters.place(entry.slot);
                self.clusters.take(place.cluster, &mut victim.entries);
                victim.grouping = Grouping::Cluster;
                victim.pad = pads;
            }
        }
        for entry in &victim.entries {
            self.unlist(entry.slot);
        }
        self.fill_window();
    }
}

impl Scheme for RecentlyEvicted {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.set_use(entry.slot, false);
        self.pages.push_front(YOUNG, entry);
        self.clusters.insert(entry);
        self.fill_window();
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Read {
            return;
        }
        self.leave_window(entry.slot);
        self.pages.move_to_front(YOUNG, entry.slot);
        self.set_use(entry.slot, false);
        if self.clusters.place(entry.slot).pages > 1 {
            // Inserting the page again makes it the most recently used page of its block.
            self.clusters.remove(entry.slot);
            self.clusters.insert(entry);
        }
        self.fill_window();
    }

    fn remove(&mut self, entry: Entry) {
        self.unlist(entry.slot);
        self.clusters.remove(entry.slot);
        self.fill_window();
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let chosen = match need {
            Need::FlushPage(entry) => Some(entry),
            Need::Evict(_) | Need::Flush => self.choose(),
        };
        if let Some(entry) = chosen {
            self.take(entry, victim);
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Used lately", "latest use", "");
        list.row(self.pages.iter(YOUNG));
        let list = shown.list(
            "Window",
            "",
            "the oldest page marked v leaves next, or else the last page",
        );
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|block| format!("{}", block.0))
            .collect();
        list.note(format!(
            "v: page of a victim block; victim blocks: {}",
            blocks.join(" ")
        ));
        let row = list.group("", Frame::Row);
        for entry in self.pages.iter(WINDOW) {
            let is_of_victim = self.blocks.contains(&self.clusters.split(entry.page).0);
            row.page(entry, if is_of_victim { "v" } else { "" });
        }
    }

    fn len(&self) -> usize {
        self.pages.len()
    }
}
