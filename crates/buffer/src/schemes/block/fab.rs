//! `fab`: destages the block with the most buffered pages. Among blocks of equal size, destages the least recently
//! written.
//!
//! Such a destage frees the most slots, and a translation layer that merges blocks copies the fewest pages. But
//! recency is ignored. A hot block with many pages is evicted before a cold block with few pages, and a block with
//! few pages may stay forever. During a long sequential write, the block that is being filled soon is the largest. It
//! is then evicted before it is full.
//!
//! The original scheme serves a media player and also caches reads. The parameter `fab_reads` enables this: a read
//! that misses enters as a clean page, reads count as uses, and clean pages count for the size. Clean pages are
//! evicted without a program. Flush and FUA then write pages back and keep the pages in the buffer as clean pages.
//! The blocks that may have dirty pages are also in a second order of the same kind, so that a flush need not search
//! for these blocks.
//!
//! Cost: O(1) per call, O(k) for a victim of k pages; a trim O(log n).

use alloc::boxed::Box;
use alloc::format;

use destage_base::parameters;

use crate::clusters::{BySize, Clusters, Place};
use crate::destage::Grouping;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `fab`.
    struct Parameters {
        /// Whether reads that miss enter as clean pages, and reads count as uses of their block.
        fab_reads: bool = "false", "", "FAB (2006) caches reads and writes; as a write buffer it ignores reads.";
        pad: bool as super::PAD;
    }
}

/// The row of `fab`.
pub const ROW: SchemeRow = SchemeRow {
    name: "fab",
    family: "block",
    about: "Destages the block with the most buffered pages; among equals, the least recently written.",
    source: "Jo, Kang, Park, Kim and Lee, FAB, IEEE Transactions on Consumer Electronics, 2006.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let largest = config.cluster_pages.min(config.capacity_pages);
        let parameters = Parameters::from_values(config.values);
        Box::new(Fab {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            order: BySize::new(largest),
            written: parameters.fab_reads.then(|| BySize::new(largest)),
            pads: parameters.pad,
        })
    })
};

struct Fab {
    clusters: Clusters,
    order: BySize,
    /// The clusters of `order` that may have dirty pages. `None` if all clusters have dirty pages.
    written: Option<BySize>,
    pads: bool,
}

impl Fab {
    #[inline]
    fn renew(&mut self, place: Place, operation: AccessKind) {
        self.order.put(place.cluster, place.pages);
        if let Some(written) = &mut self.written
            && (operation == AccessKind::Write || written.contains(place.cluster))
        {
            written.put(place.cluster, place.pages);
        }
    }
}

impl Scheme for Fab {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: self.written.is_some(),
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        let place = self.clusters.insert(entry);
        self.renew(place, access.kind);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write || self.written.is_some() {
            let place = self.clusters.place(entry.slot);
            self.renew(place, access.kind);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let place = self.clusters.remove(entry.slot);
        self.order.resize(place.cluster, place.pages);
        if let Some(written) = &mut self.written {
            written.resize(place.cluster, place.pages);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
        let cluster = match (need, &mut self.written) {
            (Need::FlushPage(entry), _) => Some(self.clusters.place(entry.slot).cluster),
            (Need::Flush, Some(written)) => written.largest(),
            (Need::Evict(_) | Need::Flush, _) => self.order.largest(),
        };
        let Some(cluster) = cluster else { return };
        if let Some(written) = &mut self.written {
            written.remove(cluster);
            if !matches!(need, Need::Evict(_)) {
                victim.retain = true;
                self.clusters.append_pages(cluster, &mut victim.entries);
                return;
            }
        }
        self.order.remove(cluster);
        self.clusters.take(cluster, &mut victim.entries);
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order
            .visit(&mut |cluster| self.clusters.visit_pages(cluster, visit));
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Blocks by size", "smallest", "largest leaves next");
        self.order.visit(&mut |cluster| {
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
