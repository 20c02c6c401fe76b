//! `lar`: destages the block that was used by the fewest requests. Among equals, destages the one with the most dirty
//! pages.
//!
//! Locality-aware replacement (LAR) is designed for a buffer that serves reads and writes. The *popularity* of a
//! block is the number of requests, not of pages, that used the block while it was in the buffer. A long sequential
//! request therefore makes no block popular. Of the blocks with the lowest popularity, the one with the most dirty
//! pages is evicted, because it fills a flash block best. If several blocks have equally many dirty pages, the one
//! whose last use is oldest is evicted.
//!
//! ```text
//!   popularity 1:  {4* 5* 6*} {0* 1*} {9}      * dirty; the leftmost is the victim
//!   popularity 2:  {12* 13}
//! ```
//!
//! All pages of a block leave together: the dirty pages in one record, the clean pages without a program. Reads enter
//! as clean pages and count as uses. Flush and FUA write pages back and keep the pages in the buffer as clean pages.
//! A second heap orders the blocks that have dirty pages.
//!
//! Cost: O(log n) amortised per call.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::{parameters, table};

use crate::clusters::{Buckets, ClusterId, Clusters};
use crate::destage::Grouping;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `lar`.
    struct Parameters {
        pad: bool as super::PAD;
    }
}

/// The row of `lar`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lar",
    family: "block",
    about: "Destages the block that the fewest requests touched; among equals, the one with the most dirty pages; buffers reads too.",
    source: "Wei et al., FlashCoop, ICPP 2010.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        Box::new(Lar {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            order: Buckets::new(1),
            written: Buckets::new(1),
            is_dirty: Vec::new(),
            clock: 0,
            pads: Parameters::from_values(config.values).pad,
        })
    })
};

#[derive(Clone, Copy, Default)]
struct Block {
    /// The number of requests that used the block.
    popularity: u64,
    /// The number of the latest of these requests.
    request: u64,
    last: u64,
    dirty: u32,
}

/// The block with the smallest rank is the next victim.
type Rank = (u64, Reverse<u32>, u64);

struct Lar {
    clusters: Clusters<Block>,
    order: Buckets<Rank>,
    /// The blocks with dirty pages, in the same order.
    written: Buckets<Rank>,
    /// Whether the page in each slot is dirty.
    is_dirty: Vec<bool>,
    /// The number of uses so far.
    clock: u64,
    pads: bool,
}

impl Scheme for Lar {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        *table::at(&mut self.is_dirty, entry.slot.0 as usize, false) = false;
        let place = self.clusters.insert(entry);
        self.used(entry, place.cluster, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let place = self.clusters.place(entry.slot);
        self.used(entry, place.cluster, access);
    }

    fn remove(&mut self, entry: Entry) {
        let cluster = self.clusters.place(entry.slot).cluster;
        let was_dirty = self.is_dirty[entry.slot.0 as usize];
        self.clusters.data_mut(cluster).dirty -= u32::from(was_dirty);
        if self.clusters.remove(entry.slot).pages == 0 {
            self.forget(cluster);
        } else {
            self.sort_in(cluster);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let (chosen, keeps) = match need {
            Need::Evict(_) => (self.order.least(0), false),
            Need::Flush => (self.written.least(0), true),
            Need::FlushPage(entry) => (Some(self.clusters.place(entry.slot).cluster), true),
        };
        let Some(cluster) = chosen else { return };
        if keeps {
            self.clusters.append_pages(cluster, &mut victim.entries);
            let is_dirty = &mut self.is_dirty;
            victim
                .entries
                .retain(|entry| core::mem::take(&mut is_dirty[entry.slot.0 as usize]));
            self.clusters.data_mut(cluster).dirty = 0;
            self.sort_in(cluster);
        } else {
            self.forget(cluster);
            self.clusters.take(cluster, &mut victim.entries);
        }
        victim.retain = keeps;
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list(
            "Blocks by popularity",
            "used by most requests",
            "leaves next",
        );
        let rank = |cluster: &ClusterId| {
            let block = self.clusters.data(*cluster);
            Reverse((block.popularity, Reverse(block.dirty), block.last))
        };
        let mut clusters: Vec<_> = self.clusters.ids().collect();
        clusters.sort_by_key(rank);
        for cluster in clusters {
            let Block {
                popularity, dirty, ..
            } = *self.clusters.data(cluster);
            let label = format!("requests {popularity}, dirty {dirty}");
            self.clusters.show(cluster, label, list);
        }
    }

    fn len(&self) -> usize {
        self.clusters.len()
    }
}

impl Lar {
    fn used(&mut self, entry: Entry, cluster: ClusterId, access: &Access) {
        self.clock += 1;
        let block = self.clusters.data_mut(cluster);
        block.last = self.clock;
        if block.request != access.request {
            block.request = access.request;
            block.popularity += 1;
        }
        if access.kind == AccessKind::Write {
            let was_dirty = core::mem::replace(&mut self.is_dirty[entry.slot.0 as usize], true);
            block.dirty += u32::from(!was_dirty);
        }
        self.sort_in(cluster);
    }

    fn sort_in(&mut self, cluster: ClusterId) {
        let block = self.clusters.data(cluster);
        let rank = (block.popularity, Reverse(block.dirty), block.last);
        self.order.put(cluster, 0, rank);
        if block.dirty > 0 {
            self.written.put(cluster, 0, rank);
        } else {
            self.written.remove(cluster);
        }
    }

    fn forget(&mut self, cluster: ClusterId) {
        self.order.remove(cluster);
        self.written.remove(cluster);
    }
}
