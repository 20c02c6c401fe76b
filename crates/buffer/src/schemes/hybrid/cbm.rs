//! `cbm`: keeps pages singly until enough pages of one block are buffered, and then as a cluster. Clusters are
//! evicted first.
//!
//! Cooperative buffer management (CBM) divides the buffer into two regions without a fixed border. The page region
//! orders single pages by their last use. The block region has clusters, which can be destaged in large pieces.
//! Random pages remain in the page region. When enough pages of a block are buffered, all pages of the block move to
//! the block region.
//!
//! ```text
//!   page region    MRU [ 33 9 20* 40 ] LRU
//!                          | as soon as thr_migrate pages of a block are here
//!                          v
//!   block region   MRU [ {4* 5* 6*} {12 13*} ] LRU   <-- the LRU cluster leaves first; without clusters the LRU page
//! ```
//!
//! Reads enter as clean pages and count as uses. Flush and FUA write pages back and keep the pages in the buffer as
//! clean pages. Clusters with dirty pages, and dirty single pages, are also in separate lists, which a flush uses.
//!
//! Cost: O(1) per call, plus one step per page that moves to the block region or is evicted.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use destage_base::{choices, parameters, table};

use crate::clusters::{ClusterId, Clusters, Rings};
use crate::destage::{Grouping, Slot};
use crate::order::SlotLists;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The words of `cbm_join`.
    enum Join {
        Block = "block",
        Page = "page",
    }
}

parameters! {
    /// The parameters of `cbm`.
    struct Parameters {
        /// How many pages of one block move it from the page region to the block region; 0 means a quarter of a
        /// cluster.
        thr_migrate: u32 = "0", "pages", "Ours.";
        /// Where a new page goes if its block already has a cluster: to this cluster, or to the page region.
        cbm_join: Join = "block", "", "Ours.";
    }
}

/// The row of `cbm`.
pub const ROW: SchemeRow = SchemeRow {
    name: "cbm",
    family: "hybrid",
    about: "Keeps pages singly until a block has enough of them, and evicts such blocks first; buffers reads too.",
    source: "Wei et al., CBM, MSST 2013.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let capacity = config.capacity_pages;
        let threshold = match parameters.thr_migrate {
            0 => (config.cluster_pages / 4).max(1),
            pages => pages,
        };
        Box::new(Cbm {
            pages: Clusters::new(capacity, config.cluster_pages),
            page_order: SlotLists::new(1, capacity),
            written_pages: SlotLists::new(1, capacity),
            clusters: Clusters::new(capacity, config.cluster_pages),
            cluster_order: Rings::new(1, 0),
            written_clusters: Rings::new(1, 0),
            is_dirty: Vec::new(),
            threshold,
            joins: parameters.cbm_join == Join::Block,
            migrants: Vec::new(),
        })
    })
};

/// The number of the list, in each structure below that has only one list.
const LIST: u32 = 0;

struct Cbm {
    /// The pages of the page region, by block.
    pages: Clusters,
    /// The pages of the page region. Front: the page used last.
    page_order: SlotLists,
    /// The dirty pages of the page region, in the same order.
    written_pages: SlotLists,
    /// The block region. The data of each cluster is the number of its dirty pages.
    clusters: Clusters<u32>,
    /// The clusters of the block region. Front: the cluster used last.
    cluster_order: Rings,
    /// The clusters with dirty pages, in the order of `cluster_order`.
    written_clusters: Rings,
    /// Whether the page in each slot is dirty.
    is_dirty: Vec<bool>,
    threshold: u32,
    joins: bool,
    /// The pages that are moving to the block region. They are a field so that the memory can be used again.
    migrants: Vec<Entry>,
}

impl Scheme for Cbm {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        let is_write = access.kind == AccessKind::Write;
        *table::at(&mut self.is_dirty, entry.slot.0 as usize, false) = is_write;
        let (block, _) = self.pages.split(entry.page);
        if self.joins && self.clusters.find(block).is_some() {
            let cluster = self.join(entry);
            self.renew(cluster);
            return;
        }
        self.page_order.push_front(LIST, entry);
        if is_write {
            self.written_pages.push_front(LIST, entry);
        }
        let place = self.pages.insert(entry);
        if place.pages >= self.threshold {
            self.migrate(place.cluster);
        }
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let is_write = access.kind == AccessKind::Write;
        let dirty = &mut self.is_dirty[entry.slot.0 as usize];
        let was_dirty = *dirty;
        *dirty |= is_write;
        if self.clusters.contains(entry.slot) {
            let cluster = self.clusters.place(entry.slot).cluster;
            *self.clusters.data_mut(cluster) += u32::from(is_write && !was_dirty);
            self.renew(cluster);
            return;
        }
        self.page_order.move_to_front(LIST, entry.slot);
        if was_dirty {
            self.written_pages.move_to_front(LIST, entry.slot);
        } else if is_write {
            self.written_pages.push_front(LIST, entry);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.clean(entry.slot);
        if self.clusters.contains(entry.slot) {
            let place = self.clusters.remove(entry.slot);
            if place.pages == 0 {
                self.cluster_order.remove(place.cluster);
            }
        } else {
            self.pages.remove(entry.slot);
            self.page_order.remove(entry.slot);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::Evict(_) => {
                if let Some(cluster) = self.cluster_order.pop_back(LIST) {
                    if self.written_clusters.contains(cluster) {
                        self.written_clusters.remove(cluster);
                    }
                    self.clusters.take(cluster, &mut victim.entries);
                    victim.grouping = Grouping::Cluster;
                } else if let Some(entry) = self.page_order.back(LIST) {
                    self.remove(entry);
                    victim.entries.push(entry);
                }
            }
            Need::Flush => {
                if let Some(cluster) = self.written_clusters.back(LIST) {
                    self.write_back(cluster, victim);
                } else if let Some(entry) = self.written_pages.back(LIST) {
                    self.clean(entry.slot);
                    victim.entries.push(entry);
                }
                victim.retain = true;
            }
            Need::FlushPage(entry) => {
                if self.clusters.contains(entry.slot) {
                    self.write_back(self.clusters.place(entry.slot).cluster, victim);
                } else {
                    self.clean(entry.slot);
                    victim.entries.push(entry);
                }
                victim.retain = true;
            }
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Page region", "latest use", "leaves if there is no block");
        list.row(self.page_order.iter(LIST));
        let list = shown.list("Block region", "latest use", "leaves next");
        list.note(format!(
            "a block is kept as a whole from {} of its pages on",
            self.threshold
        ));
        for cluster in self.cluster_order.iter(LIST) {
            let label = format!("dirty {}", self.clusters.data(cluster));
            self.clusters.show(cluster, label, list);
        }
    }

    fn len(&self) -> usize {
        self.pages.len() + self.clusters.len()
    }
}

impl Cbm {
    /// Puts a page into the block region. Returns the cluster of the page.
    fn join(&mut self, entry: Entry) -> ClusterId {
        let cluster = self.clusters.insert(entry).cluster;
        *self.clusters.data_mut(cluster) += u32::from(self.is_dirty[entry.slot.0 as usize]);
        cluster
    }

    fn renew(&mut self, cluster: ClusterId) {
        self.cluster_order.bring_to_front(LIST, cluster);
        if *self.clusters.data(cluster) > 0 {
            self.written_clusters.bring_to_front(LIST, cluster);
        }
    }

    /// Moves all pages of a block from the page region to the block region.
    fn migrate(&mut self, pages: ClusterId) {
        let mut migrants = core::mem::take(&mut self.migrants);
        self.pages.take(pages, &mut migrants);
        for entry in migrants.drain(..) {
            self.page_order.remove(entry.slot);
            if self.is_dirty[entry.slot.0 as usize] {
                self.written_pages.remove(entry.slot);
            }
            let cluster = self.join(entry);
            self.renew(cluster);
        }
        self.migrants = migrants;
    }

    /// Names the dirty pages of `cluster`. They remain in the buffer as clean pages.
    fn write_back(&mut self, cluster: ClusterId, victim: &mut Victim) {
        self.clusters.append_pages(cluster, &mut victim.entries);
        victim
            .entries
            .retain(|entry| self.is_dirty[entry.slot.0 as usize]);
        for entry in &victim.entries {
            self.clean(entry.slot);
        }
        victim.grouping = Grouping::Cluster;
    }

    /// Marks a page as clean. The page was written back, or is about to leave.
    fn clean(&mut self, slot: Slot) {
        if !core::mem::take(&mut self.is_dirty[slot.0 as usize]) {
            return;
        }
        if !self.clusters.contains(slot) {
            self.written_pages.remove(slot);
            return;
        }
        let cluster = self.clusters.place(slot).cluster;
        let dirty = self.clusters.data_mut(cluster);
        *dirty -= 1;
        if *dirty == 0 {
            self.written_clusters.remove(cluster);
        }
    }
}
