//! Queries about the order in which the pages of a cluster entered the buffer.

use destage_base::Lpn;

use super::{ClusterId, Clusters};
use crate::destage::Slot;
use crate::scheme::Entry;

impl<Data: Copy + Default> Clusters<Data> {
    /// The page of `cluster` that entered first.
    #[inline]
    #[must_use]
    pub fn first(&self, cluster: ClusterId) -> Entry {
        let slot = self.clusters[cluster.index()].first;
        let offset = self.pages.get(slot).map_or(0, |page| page.offset);
        Entry {
            page: Lpn(self.first_page(cluster).0 + u64::from(offset)),
            slot: Slot(slot),
        }
    }

    /// Whether the cluster of the page in `slot` also has the page with the offset `offset`. The search follows the
    /// order of entry, beginning after `slot`. It is O(1) if the wanted page entered next, and otherwise O(k) for k
    /// pages.
    #[must_use]
    pub fn has_beside(&self, slot: Slot, offset: u32) -> bool {
        let mut others = self.pages.ring(slot.0).skip(1);
        others.any(|(_, page)| page.offset == offset)
    }
}
