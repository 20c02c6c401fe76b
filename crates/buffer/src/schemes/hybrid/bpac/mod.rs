//! `bpac`: keeps hot pages singly and all other pages in clusters. Only old clusters are evicted by size.
//!
//! The block-page adaptive cache (BPAC) keeps pages that were hit in a list of single pages. One hot page therefore
//! does not keep its whole block in the buffer. All other pages are in clusters. A cluster that was used recently is
//! *size-independent*: it is not evicted because of its size. Of the other clusters, the largest is evicted first.
//! Two thresholds, one for pages and one for clusters, define what "recently" means. The scheme learns the thresholds
//! from the distances between uses (see `monitor`).
//!
//! ```text
//!   P-list (pages)    MRU [ 20 9 33 ] LRU  --- not hit for PIRD_thd writes ---+
//!        ^                                                                    v
//!        | hit        +----- size-independent -----+---- size-dependent -----+
//!   B-list (clusters) | {4 5}  {12 13 14}  {40}    |  {8 9 10}  {28}  {0 1}   |
//!                     +-- last used at most BIRD_thd writes ago ----+---------+
//!   victim: a full sequential cluster; the largest size-dependent; the oldest; the LRU page
//! ```
//!
//! Sequential clusters wait until they are complete, and are size-independent whatever their age. A hit ends this
//! state. If the hit continues a loop, the cluster becomes looping and counts as used now. Otherwise the cluster
//! becomes random, and its age does not change. Age and region are therefore stored separately.
//!
//! Clusters are in the order of their last use in two queues. One queue has the clusters that received a page from
//! the host. The other has the clusters that were made for a page from the P-list. Pages leave the P-list in the
//! order of their last use. Clusters therefore enter each queue only at its young end, unless a threshold grows. To
//! find clusters that have become old, only the old ends of the two queues have to be checked, and the queues are
//! never sorted.
//!
//! Cost: O(1) amortised per call. O(log n) if a cluster of the size-dependent region changes. A threshold that grows
//! makes clusters size-independent again, once per period. Memory: up to 102 bytes per page in addition to the memory
//! of the buffer, if every page is in a cluster of its own.

mod monitor;
mod parameters;
mod periods;
#[cfg(test)]
mod samples;
mod shown;
mod victims;

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::{Lpn, table};

use crate::clusters::{Buckets, ClusterId, Clusters, Lbn, Rings};
use crate::destage::Slot;
use crate::order::SlotList;
use crate::page_map::PageMap;
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Series, Victim};
use crate::shown::Shown;
use crate::view::View;

use monitor::{Monitor, NEVER, Rule, distance, has_expired};
use parameters::{Ages, Fallback, HotVictim, LonePage, Parameters, Scope, Update};
use periods::Periods;

/// The row of `bpac`.
pub const ROW: SchemeRow = SchemeRow {
    name: "bpac",
    family: "hybrid",
    about: "Keeps hot pages singly, and evicts clusters by size once they are older than a learned threshold.",
    source: "Wu, Eckart and He, BPAC, MSST 2010.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| Box::new(Bpac::new(config)))
};

/// The order in which the pages of a cluster were written.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Class {
    /// The pages were written in ascending order without a gap.
    Sequential,
    /// The cluster is sequential, and is being written again from its start.
    Looping,
    /// Any other order.
    #[default]
    Random,
}

#[derive(Clone, Copy, Default)]
struct Cluster {
    /// The virtual time of the last use.
    last: u64,
    /// The offset of the cluster's first page in the block.
    start: u32,
    /// The offset of the page that would continue the sequence.
    next: u32,
    /// The offset of the page that would continue the loop.
    loop_next: u32,
    class: Class,
    /// Whether the last use of the cluster is longer ago than the threshold.
    is_old: bool,
    /// Whether the cluster is in the size-dependent region.
    is_dependent: bool,
    /// Whether the cluster is in a bucket of `by_size`. This field saves a search.
    is_sorted: bool,
}

/// The queue of clusters that are not old and that received a page from the host. `COOLED` is the queue of clusters
/// that are not old and that were made for a page from the P-list. Front: the youngest.
const WRITTEN: u32 = 0;
const COOLED: u32 = 1;
/// Added to the number of one of these queues, it gives the number of the queue for its old clusters.
const OLD: u32 = 2;

/// The rule that chose a victim. The scheme counts evictions by rule.
#[derive(Clone, Copy)]
enum Reason {
    Sequential,
    Largest,
    Fallback,
    Hot,
}

struct Bpac {
    /// The P-list. Front: the page used last.
    hot: SlotList,
    /// The pages of the P-list by block. Present only if a rule evicts the hot pages of a block together.
    hot_blocks: Option<Clusters>,
    /// The B-list.
    clusters: Clusters<Cluster>,
    queues: Rings,
    /// The size-dependent clusters by size. The highest bucket has the full sequential clusters of both regions.
    by_size: Buckets,
    /// The other clusters by size. Present only if the fallback rule needs them.
    young_by_size: Option<Buckets>,
    /// The bucket of full sequential clusters.
    full: u32,
    /// By slot: the virtual time of the last write of the page.
    last: Vec<u64>,
    /// The number of clusters in the size-dependent region.
    dependent_clusters: usize,
    monitor: Monitor,
    /// The virtual time of the last use of each block. Present only if BIRD is sampled over all blocks that were ever
    /// used.
    history: Option<PageMap<u64>>,
    parameters: Parameters,
    /// The number of evictions by [`Reason`].
    evictions: [u64; 4],
}

impl Scheme for Bpac {
    fn insert(&mut self, entry: Entry, access: &Access) {
        let time = access.virtual_time;
        self.advance(time);
        self.set_last(entry.slot, time);
        let place = self.clusters.insert(entry);
        let cluster = self.clusters.data_mut(place.cluster);
        let before = *cluster;
        cluster.last = time;
        if place.pages == 1 {
            cluster.class = Class::Sequential;
            cluster.start = place.offset;
            cluster.next = place.offset + 1;
            if self.history.is_some() {
                self.note_block_use(place.cluster, None, time);
            }
        } else {
            if before.class != Class::Random && place.offset == before.next {
                cluster.next += 1;
            } else {
                cluster.class = Class::Random;
            }
            self.note_block_use(place.cluster, Some(before.last), time);
        }
        self.renew(place.cluster);
        self.end_write(time);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Read {
            return;
        }
        let time = access.virtual_time;
        self.advance(time);
        let last = self.last[entry.slot.0 as usize];
        self.monitor.pird.samples.push(distance(last, time));
        self.last[entry.slot.0 as usize] = time;
        if self.parameters.bird_update == Update::Any {
            self.hit_block(entry.page, time);
        }
        if self.clusters.contains(entry.slot) {
            self.hit_in_cluster(entry, time);
        } else {
            self.hot.move_to_front(entry.slot);
        }
        self.end_write(time);
    }

    fn remove(&mut self, entry: Entry) {
        if self.clusters.contains(entry.slot) {
            self.leave_cluster(entry.slot);
        } else {
            self.cool(entry.slot);
        }
    }

    fn evict(&mut self, need: Need, access: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::FlushPage(entry) if self.clusters.contains(entry.slot) => {
                let place = self.clusters.place(entry.slot);
                self.take(place.cluster, victim);
            }
            Need::FlushPage(entry) => victim.entries.push(self.cool(entry.slot)),
            Need::Evict(_) => {
                self.advance(access.virtual_time);
                let reason = self.pop(victim);
                self.evictions[reason as usize] += 1;
            }
            Need::Flush => _ = self.pop(victim),
        }
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        for (name, threshold) in [
            ("pird_threshold", self.monitor.pird.threshold),
            ("bird_threshold", self.monitor.bird.threshold),
        ] {
            if threshold != NEVER {
                emit(name, threshold as f64);
            }
        }
        if let Some(share) = self.monitor.periods.mean_alpha() {
            emit("alpha", share);
        }
        let [sequential, largest, fallback, hot] = self.evictions;
        emit("evicted_sequential", sequential as f64);
        emit("evicted_largest", largest as f64);
        emit("evicted_fallback", fallback as f64);
        emit("evicted_hot", hot as f64);
    }

    fn series(&self, emit: &mut dyn FnMut(Series)) {
        self.monitor.periods.series(emit);
    }

    fn reset_figures(&mut self) {
        self.monitor.periods = Periods::default();
        self.evictions = [0; 4];
    }

    fn show(&self, shown: &mut Shown) {
        self.show_regions(shown);
    }

    fn len(&self) -> usize {
        self.hot.len() + self.clusters.len()
    }
}

impl Bpac {
    fn new(config: &SchemeConfig) -> Self {
        let parameters = Parameters::from_values(config.values);
        let largest = config.cluster_pages.min(config.capacity_pages);
        let buckets = || Buckets::new(largest + 2);
        let finds_hot_by_block =
            parameters.bpac_plist_victim == HotVictim::Block || parameters.evict_hot_with_cluster;
        let learning = Rule::new(
            parameters.bpac_period,
            parameters.bpac_cover,
            parameters.bpac_min_samples,
            parameters.bpac_adapts,
        );
        Self {
            hot: SlotList::new(config.capacity_pages),
            hot_blocks: finds_hot_by_block.then(|| Clusters::new(0, config.cluster_pages)),
            clusters: Clusters::new(config.capacity_pages, config.cluster_pages),
            queues: Rings::new(4, 0),
            by_size: buckets(),
            young_by_size: (parameters.bpac_fallback == Fallback::Largest).then(buckets),
            full: largest + 1,
            last: Vec::with_capacity(table::prepared(config.capacity_pages)),
            dependent_clusters: 0,
            // The conversion to an integer turns numbers that are too large, including infinity, into the largest
            // integer.
            monitor: Monitor::new(
                learning,
                parameters.bpac_pird_thd as u64,
                parameters.bpac_bird_thd as u64,
            ),
            history: (parameters.bird_scope == Scope::History).then(|| PageMap::with_capacity(0)),
            parameters,
            evictions: [0; 4],
        }
    }

    /// Begins the page write `time`. If it has already begun, the call has no effect. Hot pages that have expired
    /// leave the P-list, and clusters age.
    #[inline]
    fn advance(&mut self, time: u64) {
        if self.monitor.is_over(time.saturating_sub(1)) {
            // The write that ended the period bypassed the buffer.
            self.close_period(time - 1);
        }
        let threshold = self.monitor.pird.threshold;
        while let Some(page) = self.hot.back()
            && has_expired(self.last[page.slot.0 as usize], time, threshold)
        {
            self.demote(page);
        }
        self.age(time);
    }

    fn end_write(&mut self, time: u64) {
        if self.monitor.is_over(time) {
            self.close_period(time);
        }
    }

    #[cold]
    fn close_period(&mut self, time: u64) {
        let clusters = self.clusters.count();
        let independent = clusters - self.dependent_clusters;
        self.monitor.close_period(time, independent, clusters);
        self.age(time);
        self.rejuvenate(time);
    }

    /// Marks the clusters that have become old. If the rules allow a cluster to age, it enters the size-dependent
    /// region.
    #[inline]
    fn age(&mut self, time: u64) {
        let threshold = self.monitor.bird.threshold;
        for queue in [WRITTEN, COOLED] {
            while let Some(cluster) = self.queues.back(queue)
                && has_expired(self.clusters.data(cluster).last, time, threshold)
            {
                self.queues.remove(cluster);
                self.queues.push_front(queue + OLD, cluster);
                self.clusters.data_mut(cluster).is_old = true;
                self.sort_in(cluster);
            }
        }
    }

    /// Marks the clusters that are no longer old because a threshold has grown. They leave the size-dependent region.
    fn rejuvenate(&mut self, time: u64) {
        let threshold = self.monitor.bird.threshold;
        for queue in [WRITTEN, COOLED] {
            while let Some(cluster) = self.queues.front(queue + OLD)
                && !has_expired(self.clusters.data(cluster).last, time, threshold)
            {
                self.queues.remove(cluster);
                self.queues.push_back(queue, cluster);
                self.clusters.data_mut(cluster).is_old = false;
                self.sort_in(cluster);
            }
        }
    }

    /// Moves a page from the P-list to the cluster of its block. The age of that cluster does not change.
    fn demote(&mut self, entry: Entry) {
        self.cool(entry.slot);
        let place = self.clusters.insert(entry);
        if place.pages == 1 {
            self.clusters.data_mut(place.cluster).last = self.last[entry.slot.0 as usize];
            self.queues.push_front(COOLED, place.cluster);
        }
        self.sort_in(place.cluster);
    }

    /// Removes a page from the P-list.
    fn cool(&mut self, slot: Slot) -> Entry {
        if let Some(blocks) = &mut self.hot_blocks {
            blocks.remove(slot);
        }
        self.hot.remove(slot)
    }

    fn hit_in_cluster(&mut self, entry: Entry, time: u64) {
        let place = self.clusters.place(entry.slot);
        let cluster = self.clusters.data_mut(place.cluster);
        if cluster.class == Class::Sequential && place.pages > 1 && place.offset == cluster.start {
            cluster.class = Class::Looping;
            cluster.loop_next = place.offset;
        }
        if cluster.class == Class::Looping && cluster.loop_next == place.offset {
            cluster.last = time;
            let goes_on = self.clusters.has_beside(entry.slot, place.offset + 1);
            let cluster = self.clusters.data_mut(place.cluster);
            cluster.loop_next = if goes_on {
                place.offset + 1
            } else {
                cluster.start
            };
            self.renew(place.cluster);
            if let Some(history) = &mut self.history {
                remember(history, self.clusters.block(place.cluster), time);
            }
        } else {
            cluster.class = Class::Random;
            self.leave_cluster(entry.slot);
            self.hot.push_front(entry);
            if let Some(blocks) = &mut self.hot_blocks {
                blocks.insert(entry);
            }
        }
    }

    /// Counts a hit as a use of the block, if the block has a cluster or the scheme has a history.
    fn hit_block(&mut self, page: Lpn, time: u64) {
        let (block, _) = self.clusters.split(page);
        let Some(cluster) = self.clusters.find(block) else {
            if let Some(history) = &mut self.history {
                let before = remember(history, block, time);
                let distances = before.map(|before| distance(before, time));
                self.monitor.bird.samples.extend(distances);
            }
            return;
        };
        let before = core::mem::replace(&mut self.clusters.data_mut(cluster).last, time);
        self.note_block_use(cluster, Some(before), time);
        self.renew(cluster);
    }

    /// Samples the distance between two uses of a block. With a history, the earlier use is the one in the history.
    /// Otherwise it is `before`.
    fn note_block_use(&mut self, cluster: ClusterId, before: Option<u64>, time: u64) {
        let before = match &mut self.history {
            Some(history) => remember(history, self.clusters.block(cluster), time),
            None => before,
        };
        let distances = before.map(|before| distance(before, time));
        self.monitor.bird.samples.extend(distances);
    }

    /// Makes the cluster, which is being used now, the youngest.
    #[inline]
    fn renew(&mut self, cluster: ClusterId) {
        self.queues.bring_to_front(WRITTEN, cluster);
        self.clusters.data_mut(cluster).is_old = false;
        self.sort_in(cluster);
    }

    /// Puts a changed cluster into its region and its bucket.
    #[inline]
    fn sort_in(&mut self, id: ClusterId) {
        let cluster = self.clusters.data(id);
        let pages = self.clusters.pages(id);
        let is_sequential = cluster.class == Class::Sequential;
        let is_random = pages == 1 && self.parameters.bpac_lone_page == LonePage::Random;
        let is_sequence = is_sequential && !is_random;
        let ages = !is_sequence || self.parameters.bpac_ages == Ages::All;
        let is_dependent = cluster.is_old && ages;
        let bucket = if is_sequential && self.clusters.is_complete(id) {
            Some(self.full)
        } else {
            is_dependent.then_some(pages)
        };
        let Cluster {
            last,
            is_sorted,
            is_dependent: was_dependent,
            ..
        } = *cluster;
        self.dependent_clusters += usize::from(is_dependent);
        self.dependent_clusters -= usize::from(was_dependent);
        match bucket {
            Some(bucket) => self.by_size.put(id, bucket, last),
            None if is_sorted => _ = self.by_size.remove(id),
            None => {}
        }
        let cluster = self.clusters.data_mut(id);
        cluster.is_sorted = bucket.is_some();
        cluster.is_dependent = is_dependent;
        if let Some(young) = &mut self.young_by_size {
            match bucket {
                Some(_) => _ = young.remove(id),
                None => young.put(id, pages, last),
            }
        }
    }

    /// Removes a page from its cluster. Removes the cluster too if no page remains.
    fn leave_cluster(&mut self, slot: Slot) {
        let before = self.clusters.place(slot);
        let was_dependent = self.clusters.data(before.cluster).is_dependent;
        let place = self.clusters.remove(slot);
        if place.pages == 0 {
            self.forget(place.cluster, was_dependent);
        } else {
            self.sort_in(place.cluster);
        }
    }

    /// Removes a cluster that no longer exists from all orders.
    fn forget(&mut self, cluster: ClusterId, was_dependent: bool) {
        self.dependent_clusters -= usize::from(was_dependent);
        self.queues.remove(cluster);
        self.by_size.remove(cluster);
        if let Some(young) = &mut self.young_by_size {
            young.remove(cluster);
        }
    }

    #[inline]
    fn set_last(&mut self, slot: Slot, time: u64) {
        *table::at(&mut self.last, slot.0 as usize, time) = time;
    }
}

/// Notes that `block` is used at `time`. Returns the time of the previous use; `None` if there was none.
fn remember(history: &mut PageMap<u64>, block: Lbn, time: u64) -> Option<u64> {
    let (position, place) = history.locate(Lpn(block.0));
    match place {
        Some(place) => {
            let before = history.stamp(place);
            history.set_stamp(place, time);
            Some(before)
        }
        None => {
            // Blocks are never removed from the history, so the next unused place is the number of blocks.
            let place = history.len() as u32;
            history.set_at(position, Lpn(block.0), place, time);
            None
        }
    }
}
