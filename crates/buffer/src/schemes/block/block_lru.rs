//! `block-lru`: destages the block whose last write is oldest. All buffered pages of the block leave together.
//!
//! The order is that of [`lru`](crate::schemes::page::lru), but it is an order of erase blocks. The pages of one
//! block are therefore written to one log block together, and are not spread over many log blocks. A write to a
//! block, hit or miss, makes the block the most recently used. A read does not change the order. The scheme
//! [`bplru`](super::bplru) is built on this scheme, and adds padding and compensation.
//!
//! The scheme makes room before the write counts as a use of its block. The block that is being written may therefore
//! be the victim. If it is the oldest block, its buffered pages are evicted, and the block then starts again with the
//! written page. Only this order of steps reproduces the table of merges in the paper on BPLRU. With
//! `touch_order = promote_first`, the block becomes the most recently used before a victim is chosen.
//!
//! Cost: O(1) per call, O(k) for a victim of k pages.

use alloc::boxed::Box;

use destage_base::{Lpn, choices, parameters};

use crate::clusters::{ClusterId, Clusters, Place, Rings};
use crate::destage::Grouping;
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The values of `touch_order`.
    pub(super) enum TouchOrder {
        EvictFirst = "evict_first",
        PromoteFirst = "promote_first",
    }
}

parameters! {
    /// The parameters of this scheme and of those built on it.
    pub(super) struct Rules {
        /// Whether a write that needs room evicts a victim before or after its own block becomes the most recently
        /// used.
        touch_order: TouchOrder = "evict_first", "", "Ours; only evict_first gives the 7 merges of BPLRU (FAST 2008), Table 1.";
        /// Whether every buffered block uses one page of the capacity for its header.
        header_uses_node: bool = "false", "", "BPLRU (FAST 2008), section 4: headers and pages share one pool of nodes.";
    }
}

parameters! {
    /// The parameters of `block-lru`.
    struct Parameters {
        pad: bool as super::PAD;
        rules: Rules;
    }
}

/// The row of `block-lru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "block-lru",
    family: "block",
    about: "Destages the block whose last write is oldest, all its pages at once.",
    source: "Kim and Ahn, BPLRU, FAST 2008, section 3.1.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let (pads, rules) = (parameters.pad, &parameters.rules);
        Box::new(BlockLru::<()>::new(config, pads, rules))
    })
};

/// Clusters ordered by their last write. `Data` is the data that a scheme built on this one stores for each cluster.
pub(super) struct BlockLru<Data> {
    pub(super) clusters: Clusters<Data>,
    /// One list. Front: the latest write. Back: the next victim.
    order: Rings,
    pads: bool,
    promotes_first: bool,
    header_uses_node: bool,
}

impl<Data: Copy + Default> BlockLru<Data> {
    pub(super) fn new(config: &SchemeConfig, pads: bool, rules: &Rules) -> Self {
        Self {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            order: Rings::new(1, 0),
            pads,
            promotes_first: rules.touch_order == TouchOrder::PromoteFirst,
            header_uses_node: rules.header_uses_node,
        }
    }

    /// Inserts `entry`, and makes its cluster the most recently used. Returns the position of the page.
    #[inline]
    pub(super) fn enter(&mut self, entry: Entry) -> Place {
        let place = self.clusters.insert(entry);
        self.order.bring_to_front(0, place.cluster);
        place
    }

    /// The page in the slot of `entry` is written again. Makes its cluster the most recently used. Returns the
    /// position of the page.
    #[inline]
    pub(super) fn renew(&mut self, entry: Entry) -> Place {
        let place = self.clusters.place(entry.slot);
        self.order.bring_to_front(0, place.cluster);
        place
    }

    /// Makes `cluster` the next victim.
    pub(super) fn expose(&mut self, cluster: ClusterId) {
        self.order.bring_to_back(0, cluster);
    }

    /// The next victim; `None` if there is no cluster.
    pub(super) fn oldest(&self) -> Option<ClusterId> {
        self.order.back(0)
    }

    /// Removes only the page of `entry`. Returns the position that the page had.
    pub(super) fn drop_page(&mut self, entry: Entry) -> Place {
        let place = self.clusters.remove(entry.slot);
        if place.pages == 0 {
            self.order.remove(place.cluster);
        }
        place
    }

    /// Removes `cluster` and names its pages in `victim`.
    pub(super) fn name(&mut self, cluster: ClusterId, victim: &mut Victim) {
        self.order.remove(cluster);
        self.clusters.take(cluster, &mut victim.entries);
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
    }

    /// Names the pages for `need`.
    #[inline]
    pub(super) fn choose(&mut self, need: Need, victim: &mut Victim) {
        if let (true, Need::Evict(page)) = (self.promotes_first, need) {
            let (block, _) = self.clusters.split(page);
            if let Some(own) = self.clusters.find(block) {
                self.order.bring_to_front(0, own);
            }
        }
        let cluster = match need {
            Need::FlushPage(entry) => Some(self.clusters.place(entry.slot).cluster),
            Need::Evict(_) | Need::Flush => self.oldest(),
        };
        if let Some(cluster) = cluster {
            self.name(cluster, victim);
        }
    }

    /// Whether `page` has no room if `free` slots are free, considering that headers of blocks may use slots.
    #[inline]
    pub(super) fn lacks_room(&self, page: Lpn, free: usize) -> bool {
        if !self.header_uses_node {
            return free == 0;
        }
        let (block, _) = self.clusters.split(page);
        let headers = self.clusters.count() + usize::from(self.clusters.find(block).is_none());
        free < headers + 1
    }

    /// Shows `visit` the pages, beginning with those of the next victim.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order
            .iter_back(0)
            .all(|cluster| self.clusters.visit_pages(cluster, visit));
    }

    /// Shows the list of clusters. `label` makes the label of each cluster from the data of the cluster.
    pub(super) fn show_order(&self, shown: &mut Shown, label: impl Fn(&Data) -> &'static str) {
        let list = shown.list("Recency of blocks", "latest write", "leaves next");
        for cluster in self.order.iter(0) {
            let label = label(self.clusters.data(cluster));
            self.clusters.show(cluster, label, list);
        }
    }
}

impl Scheme for BlockLru<()> {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.enter(entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.renew(entry);
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.drop_page(entry);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        self.choose(need, victim);
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.visit(visit);
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        self.lacks_room(page, free)
    }

    fn show(&self, shown: &mut Shown) {
        self.show_order(shown, |_| "");
    }

    fn len(&self) -> usize {
        self.clusters.len()
    }
}
