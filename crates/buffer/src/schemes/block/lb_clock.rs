//! `lb-clock`: a clock over blocks. Of the blocks that were not written recently, the one with the most pages is
//! evicted.
//!
//! ```text
//!            hand
//!             v
//!   [A 1] -> [B 0] -> [C 1] -> [D 0] -> new clusters enter here, just behind the hand
//!               \________________\____________  candidates of the latest sweep, by pages
//! ```
//!
//! Every cluster has a bit that a write sets. When a victim is needed and no candidates exist, the hand moves around
//! the clock once. Clusters whose bit is clear become candidates, and all set bits are cleared. The candidates are
//! then evicted, the largest first, before the hand moves again. A write to a candidate removes it from the
//! candidates. A write of the last page of a block clears the bit, because this write probably ends a sequential run
//! (`lb_seq_hint`).
//!
//! A sweep ends where it began, and a new cluster is inserted just behind the hand. The circle can therefore be
//! stored as a list in the order of arrival, and the hand is always before the first cluster. If the first cluster is
//! evicted, the next cluster becomes the first.
//!
//! Cost: O(1) amortised. A sweep visits a cluster for one of two reasons: a write has set its bit since the last
//! sweep, or the sweep makes it a candidate. A candidate remains a candidate until it is written or evicted. A trim
//! costs O(log n).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::{choices, parameters};

use crate::clusters::{BySize, ClusterId, Clusters, Place, Rings};
use crate::destage::Grouping;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The values of `lb_seq_hint`.
    enum Hint {
        LastPage = "last_page",
        Full = "full",
        Off = "off",
    }
}

parameters! {
    /// The parameters of `lb-clock`.
    struct Parameters {
        /// Which write marks its block as finished: the write of its last page, the write that completes it, or none.
        lb_seq_hint: Hint = "last_page", "", "LB-CLOCK (2009) clears the bit at the last page.";
        pad: bool as super::PAD;
    }
}

/// The row of `lb-clock`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lb-clock",
    family: "block",
    about: "Destages the block with the most pages among those that a clock finds not recently written.",
    source: "Debnath, Subramanya, Du and Lilja, LB-CLOCK, MASCOTS 2009; the exact steps are ours.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(LbClock {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            clock: Rings::new(1, 0),
            candidates: BySize::new(config.cluster_pages.min(config.capacity_pages)),
            hint: parameters.lb_seq_hint,
            pads: parameters.pad,
        })
    })
};

struct LbClock {
    /// All clusters. The data of each cluster says whether it was written since the hand last passed it.
    clusters: Clusters<bool>,
    /// One list. Front: the cluster at the hand. Back: the latest cluster.
    clock: Rings,
    candidates: BySize,
    hint: Hint,
    pads: bool,
}

impl LbClock {
    /// The page at `place` was written. `entered` says that the page was not in the buffer before.
    #[inline]
    fn written(&mut self, place: Place, entered: bool) {
        let last_offset = self.clusters.cluster_pages() - 1;
        let is_passed = match self.hint {
            Hint::LastPage => place.offset == last_offset,
            Hint::Full => entered && place.pages > last_offset,
            Hint::Off => false,
        };
        *self.clusters.data_mut(place.cluster) = !is_passed;
        self.candidates.remove(place.cluster);
    }

    /// Moves the hand around the clock once.
    fn sweep(&mut self) {
        for cluster in self.clock.iter(0) {
            let recent = core::mem::take(self.clusters.data_mut(cluster));
            if !recent {
                self.candidates.put(cluster, self.clusters.pages(cluster));
            }
        }
    }

    fn largest_candidate(&mut self) -> Option<ClusterId> {
        // The second sweep always finds a candidate, because the first sweep clears all bits.
        for _ in 0..2 {
            if !self.candidates.is_empty() {
                break;
            }
            self.sweep();
        }
        self.candidates.largest()
    }
}

impl Scheme for LbClock {
    fn insert(&mut self, entry: Entry, _: &Access) {
        let place = self.clusters.insert(entry);
        if place.pages == 1 {
            self.clock.push_back(0, place.cluster);
        }
        self.written(place, true);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            let place = self.clusters.place(entry.slot);
            self.written(place, false);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let place = self.clusters.remove(entry.slot);
        self.candidates.resize(place.cluster, place.pages);
        if place.pages == 0 {
            self.clock.remove(place.cluster);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let cluster = match need {
            Need::FlushPage(entry) => Some(self.clusters.place(entry.slot).cluster),
            Need::Evict(_) | Need::Flush => self.largest_candidate(),
        };
        let Some(cluster) = cluster else { return };
        self.clock.remove(cluster);
        self.candidates.remove(cluster);
        self.clusters.take(cluster, &mut victim.entries);
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
    }

    /// Shows the candidates first. Then shows the clusters that the next sweep makes candidates, and then the
    /// clusters that the sweep after that makes candidates.
    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        let mut show = |cluster| self.clusters.visit_pages(cluster, visit);
        if !self.candidates.visit(&mut show) {
            return;
        }
        let others = self.clock.iter(0);
        let mut others: Vec<_> = others
            .filter(|cluster| !self.candidates.contains(*cluster))
            .collect();
        // The sort is stable, so clusters of equal size remain in the order of the clock.
        others.sort_by_key(|cluster| {
            let recent = *self.clusters.data(*cluster);
            (recent, Reverse(self.clusters.pages(*cluster)))
        });
        others.into_iter().all(show);
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Clock", "the hand is here", "newest");
        list.note("the largest candidate leaves next; without a candidate the hand moves on");
        for cluster in self.clock.iter(0) {
            let label = match (
                self.candidates.contains(cluster),
                *self.clusters.data(cluster),
            ) {
                (true, _) => "candidate",
                (false, true) => "bit 1",
                (false, false) => "bit 0",
            };
            self.clusters.show(cluster, label, list);
        }
    }

    fn len(&self) -> usize {
        self.clusters.len()
    }
}
