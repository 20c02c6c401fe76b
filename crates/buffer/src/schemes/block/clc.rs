//! `clc`: destages the largest cold block. Recently written blocks are not evicted because of their size.
//!
//! ```text
//!   written -> [ latest .. size-independent .. oldest ] -> size-dependent: 1 | 2 | 3 | ..  -> largest leaves
//!                 at most alpha of all clusters              by pages, oldest first
//! ```
//!
//! The scheme is between [`fab`](super::fab), which considers only the size (`alpha` 0), and
//! [`block_lru`](super::block_lru), which considers only recency (`alpha` 1). A write to any page of a cluster moves
//! the cluster to the front of the size-independent list. If the list becomes too long, the clusters at its end leave
//! the list and are then ordered by size. Only a write moves a cluster back to the list. The maximum length of the
//! list depends on the number of clusters, so it decreases when clusters leave the buffer. The list may then be
//! longer than its maximum until the next write. With `clc_rebalance = always` the list is shortened at once.
//!
//! The maximum length is computed in millionths of the clusters and rounded up, so floating-point rounding has no
//! influence.
//!
//! Cost: O(1) per call, O(k) for a victim of k pages; a trim O(log n).

use alloc::boxed::Box;
use alloc::format;

use destage_base::parameter::Kind;
use destage_base::{choices, parameters};

use crate::clusters::{BySize, ClusterId, Clusters, Place};
use crate::config::millionths;
use crate::destage::Grouping;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The values of `clc_rebalance`.
    enum Rebalance {
        Write = "write",
        Always = "always",
    }
}

parameters! {
    /// The parameters of `clc`.
    struct Parameters {
        /// Share of the buffered blocks, latest first, among which no victim is chosen by its size; to a millionth,
        /// rounded up to whole blocks.
        alpha: f64 = "0.1" in Kind::Number { min: 0.0, max: 1.0 }, "", "CLC (2009); the default is the best value found there.";
        /// Whether blocks above the share lose this protection only at a write, or also when other blocks leave,
        /// which makes a difference in a flush.
        clc_rebalance: Rebalance = "write", "", "Ours; the paper does not say.";
        pad: bool as super::PAD;
    }
}

/// The row of `clc`.
pub const ROW: SchemeRow = SchemeRow {
    name: "clc",
    family: "block",
    about: "Destages the largest block that is not among the most recently written ones.",
    source: "Kang, Park, Jung, Shim and Cha, CLC, IEEE Transactions on Computers, 2009.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(Clc {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            order: BySize::new(config.cluster_pages.min(config.capacity_pages)),
            share: millionths(parameters.alpha),
            rebalances_always: parameters.clc_rebalance == Rebalance::Always,
            pads: parameters.pad,
        })
    })
};

const MILLION: u64 = 1_000_000;

struct Clc {
    clusters: Clusters,
    /// The size-independent clusters are unranked, the latest write first. All other clusters are ordered by size.
    order: BySize,
    /// The share of all clusters that may be unranked, in millionths.
    share: u64,
    rebalances_always: bool,
    pads: bool,
}

impl Clc {
    #[inline]
    fn renew(&mut self, place: Place) {
        self.order.put_unranked(place.cluster);
        self.rebalance();
    }

    #[inline]
    fn rebalance(&mut self) {
        let limit = (self.clusters.count() as u64 * self.share).div_ceil(MILLION);
        while self.order.unranked() as u64 > limit
            && let Some(oldest) = self.order.oldest_unranked()
        {
            self.order.put(oldest, self.clusters.pages(oldest));
        }
    }

    /// Removes `cluster`, which has left the buffer, from the order.
    fn forget(&mut self, cluster: ClusterId) {
        self.order.remove(cluster);
        if self.rebalances_always {
            self.rebalance();
        }
    }
}

impl Scheme for Clc {
    fn insert(&mut self, entry: Entry, _: &Access) {
        let place = self.clusters.insert(entry);
        self.renew(place);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            let place = self.clusters.place(entry.slot);
            self.renew(place);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let place = self.clusters.remove(entry.slot);
        if place.pages == 0 {
            self.forget(place.cluster);
        } else {
            self.order.resize(place.cluster, place.pages);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let cluster = match need {
            Need::FlushPage(entry) => Some(self.clusters.place(entry.slot).cluster),
            Need::Evict(_) | Need::Flush => {
                let coldest = self.order.largest();
                coldest.or_else(|| self.order.oldest_unranked())
            }
        };
        let Some(cluster) = cluster else { return };
        self.clusters.take(cluster, &mut victim.entries);
        self.forget(cluster);
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order
            .visit(&mut |cluster| self.clusters.visit_pages(cluster, visit));
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list(
            "Size-independent",
            "latest write",
            "next to be compared by size",
        );
        for cluster in self.order.iter_unranked() {
            self.clusters.show(cluster, "", list);
        }
        let list = shown.list("Size-dependent", "smallest", "largest leaves next");
        self.order.visit_ranked(&mut |cluster| {
            let label = format!("{} pages", self.clusters.pages(cluster));
            self.clusters.show(cluster, label, list);
            true
        });
        list.groups.reverse();
    }

    fn len(&self) -> usize {
        self.clusters.len()
    }
}
