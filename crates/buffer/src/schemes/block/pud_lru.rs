//! `pud-lru`: keeps blocks that are rewritten at short distances. Of the other blocks, the largest is evicted.
//!
//! The *predicted update distance* (PUD) of a block is the mean number of page writes between two consecutive writes
//! of the block. A block is *frequent* if its PUD is at most the mean PUD of all blocks, and its last write is not
//! longer ago than this mean. A frequent block will probably be written again soon, so programming it now would be
//! wasted. All other blocks are evicted by size, as in [`fab`](super::fab).
//!
//! ```text
//!   frequent   7 3 12          written twice or more; PUD and age at most the mean
//!   others     4: 0 9   2: 5   1: 8 2      by size; the largest leaves, of these the oldest
//!              far 9 5  stale 0            of these, blocks written twice or more, by the condition that fails
//! ```
//!
//! The mean is computed again after a fixed number of page writes. A block can then change between the frequent and
//! the other blocks for one of three reasons. For each reason, a heap gives the block that changes next:
//!
//! - frequent blocks by PUD, the longest first, because the mean may have become smaller than the PUD;
//! - *far* blocks by PUD, the shortest first, because the mean may have become larger than the PUD;
//! - *stale* blocks by age, the youngest first, because the mean may have become larger than the age. The PUD of a
//!   stale block is short enough.
//!
//! Until the mean is computed again, only ages change. Another heap gives the oldest frequent block.
//!
//! Cost: O(log n) amortised per call, and per block that changes between frequent and other blocks.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::parameter::Kind;
use destage_base::parameters;

use crate::clusters::{Buckets, ClusterId, Clusters, Place};
use crate::destage::Grouping;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `pud-lru`.
    struct Parameters {
        /// How often the mean of all predicted update distances is computed; before the first time, it is 0.
        pud_period: u64 = "1000" in Kind::Integer { min: 1, max: u64::MAX }, "page writes", "Ours.";
        pad: bool as super::PAD;
    }
}

/// The row of `pud-lru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "pud-lru",
    family: "block",
    about: "Keeps blocks that are written again within short distances; among the others the largest leaves.",
    source: "Hu, Jiang et al., PUD-LRU, MASCOTS 2010.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let largest = config.cluster_pages.min(config.capacity_pages);
        Box::new(PudLru {
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            sides: Buckets::new(3),
            distances: Buckets::new(1),
            others: Buckets::new(largest + 1),
            sum: 0,
            mean: 0,
            period: parameters.pud_period,
            period_end: parameters.pud_period,
            pads: parameters.pad,
        })
    })
};

/// Distances are stored in units of 1/1024 of a page write, rounded down.
const SCALE: u64 = 1024;

#[derive(Clone, Copy, Default)]
struct Block {
    first: u64,
    last: u64,
    writes: u64,
    /// The predicted update distance, in units of 1/[`SCALE`] page writes.
    distance: u64,
}

/// The bucket of blocks with a short distance and a recent write, the oldest first.
const FREQUENT: u32 = 0;
/// The bucket of blocks whose predicted distance is above the mean, the shortest distance first.
const FAR: u32 = 1;
/// The bucket of blocks with a short distance whose last write is too long ago, the youngest first.
const STALE: u32 = 2;

struct PudLru {
    clusters: Clusters<Block>,
    /// Blocks that were written at least twice, in three buckets. The bucket depends on the event that moves the
    /// block to another bucket.
    sides: Buckets,
    /// The frequent blocks by predicted distance, the longest first. For equal distances, the oldest block is first.
    distances: Buckets<(Reverse<u64>, u64)>,
    /// The other blocks by size. For equal sizes, the oldest block is first.
    others: Buckets,
    /// The sum of the predicted distances of all blocks.
    sum: u64,
    /// The mean distance that was computed at the end of the last period.
    mean: u64,
    period: u64,
    period_end: u64,
    pads: bool,
}

impl Scheme for PudLru {
    fn insert(&mut self, entry: Entry, access: &Access) {
        self.age(access.virtual_time);
        let place = self.clusters.insert(entry);
        if place.pages == 1 {
            self.clusters.data_mut(place.cluster).first = access.virtual_time;
        }
        self.written(place, access.virtual_time);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            self.age(access.virtual_time);
            self.written(self.clusters.place(entry.slot), access.virtual_time);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let Place { cluster, .. } = self.clusters.place(entry.slot);
        let Block { distance, last, .. } = *self.clusters.data(cluster);
        let Place { pages, .. } = self.clusters.remove(entry.slot);
        if pages == 0 {
            self.forget(cluster, distance);
        } else if self.others.bucket(cluster).is_some() {
            self.others.put(cluster, pages, last);
        }
    }

    fn evict(&mut self, need: Need, access: &Access, _: &dyn View, victim: &mut Victim) {
        let time = access.virtual_time;
        self.age(time);
        let chosen = match need {
            Need::FlushPage(entry) => Some(self.clusters.place(entry.slot).cluster),
            Need::Evict(_) | Need::Flush => self.choose(time),
        };
        let Some(cluster) = chosen else { return };
        self.forget(cluster, self.clusters.data(cluster).distance);
        self.clusters.take(cluster, &mut victim.entries);
        victim.grouping = Grouping::Cluster;
        victim.pad = self.pads;
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("pud_mean", self.mean as f64 / SCALE as f64);
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Frequent", "latest write", "oldest write");
        list.note(format!("mean distance {}", self.mean / SCALE));
        let last = |cluster: &ClusterId| self.clusters.data(*cluster).last;
        let is_other = |cluster: &ClusterId| self.others.bucket(*cluster).is_some();
        let (mut others, mut frequent): (Vec<_>, Vec<_>) = self.clusters.ids().partition(is_other);
        frequent.sort_by_key(|cluster| Reverse(last(cluster)));
        for cluster in frequent {
            let label = format!("distance {}", self.clusters.data(cluster).distance / SCALE);
            self.clusters.show(cluster, label, list);
        }
        let list = shown.list("Others", "smallest", "largest leaves next");
        others.sort_by_key(|cluster| (self.clusters.pages(*cluster), Reverse(last(cluster))));
        for cluster in others {
            self.clusters.show(
                cluster,
                format!("{} pages", self.clusters.pages(cluster)),
                list,
            );
        }
    }

    fn len(&self) -> usize {
        self.clusters.len()
    }
}

impl PudLru {
    /// Moves frequent blocks that have become too old to the other blocks. This has to be called before anything else
    /// happens at `time`.
    #[inline]
    fn age(&mut self, time: u64) {
        if time > self.period_end {
            // The write that ended the period bypassed the buffer.
            self.close_period(time - 1);
        }
        while let Some(oldest) = self.sides.least(FREQUENT)
            && self.age_of(oldest, time) > self.mean
        {
            self.assign(oldest, time);
        }
    }

    fn age_of(&self, cluster: ClusterId, time: u64) -> u64 {
        (time - self.clusters.data(cluster).last) * SCALE
    }

    fn written(&mut self, place: Place, time: u64) {
        let block = self.clusters.data_mut(place.cluster);
        block.writes += 1;
        block.last = time;
        self.sum -= block.distance;
        block.distance = (time - block.first) * SCALE / (block.writes - 1).max(1);
        self.sum += block.distance;
        self.others.remove(place.cluster);
        self.assign(place.cluster, time);
        if time >= self.period_end {
            self.close_period(time);
        }
    }

    /// Puts a block into the bucket of frequent, far or stale blocks.
    fn assign(&mut self, cluster: ClusterId, time: u64) {
        let Block {
            distance,
            last,
            writes,
            ..
        } = *self.clusters.data(cluster);
        let (side, key) = if distance > self.mean {
            (FAR, distance)
        } else if self.age_of(cluster, time) > self.mean {
            (STALE, !last)
        } else {
            (FREQUENT, last)
        };
        if writes >= 2 {
            self.sides.put(cluster, side, key);
        }
        if writes >= 2 && side == FREQUENT {
            self.others.remove(cluster);
            self.distances.put(cluster, 0, (Reverse(distance), last));
        } else {
            self.distances.remove(cluster);
            if self.others.bucket(cluster).is_none() {
                self.others.put(cluster, self.clusters.pages(cluster), last);
            }
        }
    }

    #[cold]
    fn close_period(&mut self, time: u64) {
        self.mean = self.sum / self.clusters.count().max(1) as u64;
        self.period_end = (time / self.period + 1) * self.period;
        while let Some(farthest) = self.distances.least(0)
            && self.clusters.data(farthest).distance > self.mean
        {
            self.assign(farthest, time);
        }
        // If a block is both stale and far, it moves to the far blocks. No block moves back.
        while let Some(youngest) = self.sides.least(STALE)
            && self.age_of(youngest, time) <= self.mean
        {
            self.assign(youngest, time);
        }
        while let Some(nearest) = self.sides.least(FAR)
            && self.clusters.data(nearest).distance <= self.mean
        {
            self.assign(nearest, time);
        }
        self.age(time);
    }

    fn choose(&mut self, time: u64) -> Option<ClusterId> {
        if let Some((cluster, _)) = self.others.highest() {
            return Some(cluster);
        }
        // The first block of one of these two heaps has the greatest distance or age of all frequent blocks.
        let oldest = self.sides.least(FREQUENT)?;
        let farthest = self.distances.least(0)?;
        let is_farther = self.clusters.data(farthest).distance > self.age_of(oldest, time);
        Some(if is_farther { farthest } else { oldest })
    }

    fn forget(&mut self, cluster: ClusterId, distance: u64) {
        self.sum -= distance;
        self.sides.remove(cluster);
        self.distances.remove(cluster);
        self.others.remove(cluster);
    }
}
