//! `ref`: destages pages of blocks that were evicted from a moment ago: recently evicted first.
//!
//! A translation layer with few log blocks merges whenever it has to open one more. So among the pages that have not been used for long, those whose
//! block has a log block open leave first: the blocks of the latest victims. Only if the window has none does the least recent page leave, and its
//! block joins the list.
//!
//! ```text
//!   MRU [ 9 33 2 | 40 8 17 5 ] LRU        window: the last pages of the list
//!   victim blocks [ 4 2 ]                 8 is of block 2: it leaves before 17 and 5
//! ```
//!
//! In addition to the list, the pages of each block are kept in the order of their use, so a victim block shows its oldest page at once.
//!
//! [`bp-ref`](crate::schemes::block::bp_ref) chooses alike, and then takes and pads the whole block.
//!
//! Cost: O(1) per use; per victim O(victim blocks) and one step per page it takes.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{parameters, table};

use crate::clusters::{Clusters, Lbn};
use crate::destage::{Grouping, Slot};
use crate::order::SlotLists;
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

parameters! {
    /// The parameters of `ref`.
    pub struct Parameters {
        /// How many recently evicted blocks go on being victims; best the number of log blocks.
        ref_blocks: u32 = "7" in Kind::Integer { min: 0, max: 65536 }, "blocks", "Ours; 7 is the number of log blocks in BPLRU (FAST 2008).";
        /// Share of the buffer, rounded down, in which pages of victim blocks are looked for; at least 1 page.
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
    needs_future: false,
    sees: &[Sees::Clusters],
    build: &|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(RecentlyEvicted::new(config, &parameters, Unit::Page))
    },
};

/// The pages that leave at once.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// The page that was chosen.
    Page,
    /// All pages of its block, completed with pages read from flash or not.
    Block {
        /// Whether they are completed.
        pads: bool,
    },
}

/// The list of all pages is cut in two. Pages used lately, front: the latest.
const YOUNG: u32 = 0;
/// The window after them: as many of the least recent pages as it may have.
const WINDOW: u32 = 1;

#[derive(Clone, Copy)]
struct Page {
    last: u64,
    in_window: bool,
}

/// The scheme, by page or by block.
pub struct RecentlyEvicted {
    pages: SlotLists,
    /// By slot.
    uses: Vec<Page>,
    window: usize,
    window_max: usize,
    /// The pages of a block in the order of their use.
    clusters: Clusters,
    /// The victim blocks, front: the first to go from this list.
    blocks: VecDeque<Lbn>,
    blocks_max: usize,
    unit: Unit,
    clock: u64,
}

impl RecentlyEvicted {
    /// Empty.
    #[must_use]
    pub fn new(config: &SchemeConfig, parameters: &Parameters, unit: Unit) -> Self {
        let capacity = config.capacity_pages;
        let blocks = parameters.ref_blocks as usize;
        let window = parameters.ref_window * f64::from(capacity);
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

    /// Takes a page out of the list; the window may then be short of one.
    fn unlist(&mut self, slot: Slot) {
        self.leave_window(slot);
        self.pages.remove(slot);
    }

    /// A page is about to be elsewhere; the window may then be short of one.
    fn leave_window(&mut self, slot: Slot) {
        self.window -= usize::from(self.uses[slot.0 as usize].in_window);
    }

    /// Lets the oldest of the young into the window while that has room.
    fn fill_window(&mut self) {
        while self.window < self.window_max
            && let Some(oldest) = self.pages.back(YOUNG)
        {
            self.pages.move_to_front(WINDOW, oldest.slot);
            self.uses[oldest.slot.0 as usize].in_window = true;
            self.window += 1;
        }
    }

    /// The next victim: the least recent page of any victim block, if the window has one.
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
            // To the end of its block's order.
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
