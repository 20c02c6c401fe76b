//! The buffered pages grouped by logical block, for all block-level schemes.
//!
//! A *cluster* is the buffered pages of one logical block. A logical block is `cluster_pages` consecutive logical
//! pages. Clusters are numbered, and the number of a removed cluster is used again. Therefore a scheme can store the
//! data of its clusters in an array.
//!
//! ```text
//!   block 3 --index--> cluster 1          pages by slot (cluster, before, after, offset)
//!                      +-----------+
//!                      | first  7 --+--> slot 7: offset 0 <--> slot 2: offset 3 <--> back to slot 7
//!                      | pages  2  |
//!                      | data      |      the scheme's own
//!                      +-----------+
//! ```
//!
//! The pages of a cluster form a ring over slots, in the order in which they entered the buffer. The memory therefore
//! depends on the number of pages and not on the size of a block. A block with one buffered page needs the memory of
//! one page. Each slot names its cluster, so only a page that enters needs a lookup by block. The pages of a victim
//! have to be in ascending order. The pages of most clusters were written in that order. The other clusters are
//! sorted when they are evicted.
//!
//! Cost: O(1) per call, except for [`append_pages`](Clusters::append_pages) and [`take`](Clusters::take). These are
//! O(k) for k pages that were written in ascending order, and O(k log k) for others. Memory per page of the capacity,
//! if every page is in a cluster of its own: 16 bytes by slot, 8 bytes and the scheme's data by cluster, and 18 to 28
//! bytes in the index.
//!
//! [`rings`] stores clusters in lists. [`by_size`] finds the largest cluster. [`buckets`] finds the largest cluster
//! if clusters of equal size are ordered by a key.

pub mod buckets;
pub mod by_size;
mod entry_order;
pub mod rings;

use alloc::string::String;
use alloc::vec::Vec;

use destage_base::list::Links;
use destage_base::{Lpn, table};

use crate::destage::Slot;
use crate::page_map::PageMap;
use crate::scheme::Entry;
use crate::shown::{Frame, ShownList};

pub use buckets::Buckets;
pub use by_size::BySize;
pub use rings::Rings;

/// A logical block number: the logical page number divided by `cluster_pages`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Lbn(pub u64);

/// The number of a cluster. When the cluster has been removed, a new cluster can get the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ClusterId(pub u32);

impl ClusterId {
    /// The number as an index of an array that has one element per cluster.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The position of a page in its cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The cluster of the page.
    pub cluster: ClusterId,
    /// The number of the page within its block.
    pub offset: u32,
    /// The present number of pages in the cluster.
    pub pages: u32,
}

/// Memory is reserved for one cluster per this many pages, and grows if there are more clusters. A small index stays
/// in the cache of the processor. Few buffers have only clusters of one page.
const PAGES_PER_CLUSTER: usize = 16;

#[derive(Clone, Copy)]
struct Cluster<Data> {
    /// The slot of the page that entered first. In a removed cluster, the number of the cluster that was removed
    /// before this one.
    first: u32,
    pages: u32,
    data: Data,
}

/// The data stored with the links of a page in the ring of its cluster.
#[derive(Clone, Copy, Default)]
struct Page {
    cluster: u32,
    offset: u32,
}

/// Marks the end of the chain of removed clusters.
const NO_CLUSTER: u32 = u32::MAX;

/// All clusters. Each cluster has `Data` that belongs to the scheme.
pub struct Clusters<Data = ()> {
    /// The map from block numbers to clusters. The keys of this page map are block numbers.
    index: PageMap<()>,
    clusters: Vec<Cluster<Data>>,
    /// The cluster that was removed last. Its number is used again first, because its entry is still in the cache of
    /// the processor. `first` of each removed cluster is the number of the cluster that was removed before it.
    free: u32,
    /// By slot: one ring per cluster, in the order in which the pages entered.
    pages: Links<Page>,
    len: usize,
    cluster_pages: u32,
    /// The number of bits by which a page number is shifted right to get its block number. `None` if `cluster_pages`
    /// is not a power of two.
    shift: Option<u32>,
}

impl<Data: Copy + Default> Clusters<Data> {
    /// Creates an empty set of clusters, with memory reserved for a buffer of `capacity_pages` pages.
    ///
    /// # Panics
    /// If `cluster_pages` is 0.
    #[must_use]
    pub fn new(capacity_pages: u32, cluster_pages: u32) -> Self {
        assert!(cluster_pages > 0, "a cluster has at least 1 page");
        let prepared = table::prepared(capacity_pages);
        Self {
            index: PageMap::with_capacity(prepared / PAGES_PER_CLUSTER),
            clusters: Vec::with_capacity(prepared / PAGES_PER_CLUSTER),
            free: NO_CLUSTER,
            pages: Links::new(capacity_pages),
            len: 0,
            cluster_pages,
            shift: cluster_pages
                .is_power_of_two()
                .then(|| cluster_pages.trailing_zeros()),
        }
    }

    /// The number of pages in all clusters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no cluster.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of clusters.
    #[must_use]
    pub fn count(&self) -> usize {
        self.index.len()
    }

    /// The number of pages of a logical block.
    #[must_use]
    pub fn cluster_pages(&self) -> u32 {
        self.cluster_pages
    }

    /// The block of `page`, and the number of the page within the block.
    #[inline]
    #[must_use]
    pub fn split(&self, page: Lpn) -> (Lbn, u32) {
        let pages = u64::from(self.cluster_pages);
        match self.shift {
            Some(shift) => (Lbn(page.0 >> shift), (page.0 & (pages - 1)) as u32),
            None => (Lbn(page.0 / pages), (page.0 % pages) as u32),
        }
    }

    /// The cluster of `block`; `None` if no page of the block is buffered.
    #[inline]
    #[must_use]
    pub fn find(&self, block: Lbn) -> Option<ClusterId> {
        self.index.get(Lpn(block.0)).map(ClusterId)
    }

    /// The block of `cluster`.
    #[inline]
    #[must_use]
    pub fn block(&self, cluster: ClusterId) -> Lbn {
        let block = self.index.page_of(cluster.0);
        debug_assert!(block.is_some(), "{cluster:?} was never made");
        Lbn(block.unwrap_or_default().0)
    }

    /// The number of pages in `cluster`.
    #[inline]
    #[must_use]
    pub fn pages(&self, cluster: ClusterId) -> u32 {
        self.clusters[cluster.index()].pages
    }

    /// Whether `cluster` has all pages of its block.
    #[inline]
    #[must_use]
    pub fn is_complete(&self, cluster: ClusterId) -> bool {
        self.pages(cluster) == self.cluster_pages
    }

    /// The scheme's data of `cluster`.
    #[inline]
    #[must_use]
    pub fn data(&self, cluster: ClusterId) -> &Data {
        &self.clusters[cluster.index()].data
    }

    /// The scheme's data of `cluster`, mutable.
    #[inline]
    pub fn data_mut(&mut self, cluster: ClusterId) -> &mut Data {
        &mut self.clusters[cluster.index()].data
    }

    /// The position of the page in `slot`.
    ///
    /// # Panics
    /// If the page in that slot is in no cluster.
    #[inline]
    #[must_use]
    pub fn place(&self, slot: Slot) -> Place {
        let Some(page) = self.pages.get(slot.0) else {
            panic!("slot {} is in no cluster", slot.0);
        };
        let cluster = ClusterId(page.cluster);
        Place {
            cluster,
            offset: page.offset,
            pages: self.pages(cluster),
        }
    }

    /// Whether the page in `slot` is in a cluster. A scheme may also have pages that are in no cluster.
    #[inline]
    #[must_use]
    pub fn contains(&self, slot: Slot) -> bool {
        self.pages.is_linked(slot.0)
    }

    /// Puts `entry`, which is in no cluster, into the cluster of its block. Returns the position of the page. If the
    /// cluster has only this page, the cluster is new, and its data is the default.
    #[inline]
    pub fn insert(&mut self, entry: Entry) -> Place {
        debug_assert!(
            !self.contains(entry.slot),
            "{entry:?} is in a cluster already"
        );
        let (block, offset) = self.split(entry.page);
        let slot = entry.slot.0;
        let (position, found) = self.index.locate(Lpn(block.0));
        let id = match found {
            Some(id) => {
                let cluster = &mut self.clusters[id as usize];
                cluster.pages += 1;
                let page = Page {
                    cluster: id,
                    offset,
                };
                self.pages.insert_before(cluster.first, slot, page);
                id
            }
            None => {
                let cluster = Cluster {
                    first: slot,
                    pages: 1,
                    data: Data::default(),
                };
                let id = if self.free == NO_CLUSTER {
                    let id = self.clusters.len();
                    *table::at(&mut self.clusters, id, cluster) = cluster;
                    id as u32
                } else {
                    let id = self.free;
                    let place = &mut self.clusters[id as usize];
                    self.free = core::mem::replace(place, cluster).first;
                    id
                };
                self.index.set_at(position, Lpn(block.0), id, ());
                let page = Page {
                    cluster: id,
                    offset,
                };
                self.pages.begin(slot, page);
                id
            }
        };
        self.len += 1;
        Place {
            cluster: ClusterId(id),
            offset,
            pages: self.clusters[id as usize].pages,
        }
    }

    /// Removes the page in `slot` from its cluster. Removes the cluster too if no page remains. Returns the position
    /// that the page had, with the number of pages that remain.
    ///
    /// # Panics
    /// If the page in that slot is in no cluster.
    #[inline]
    pub fn remove(&mut self, slot: Slot) -> Place {
        let Place {
            cluster,
            offset,
            pages,
        } = self.place(slot);
        let after = self.pages.next(slot.0);
        self.pages.remove(slot.0);
        self.len -= 1;
        if pages == 1 {
            self.free(cluster);
        } else {
            let held = &mut self.clusters[cluster.index()];
            held.pages -= 1;
            if held.first == slot.0 {
                held.first = after;
            }
        }
        Place {
            cluster,
            offset,
            pages: pages - 1,
        }
    }

    /// Appends the pages of `cluster` to `entries`, in ascending order.
    pub fn append_pages(&self, cluster: ClusterId, entries: &mut Vec<Entry>) {
        let mut pages = Ascending::after(entries, self.first_page(cluster));
        let ring = self.pages.ring(self.clusters[cluster.index()].first);
        ring.for_each(|(slot, page)| pages.push(slot, page.offset));
        pages.finish();
    }

    /// Appends the pages of `cluster` to `entries`, in ascending order, and removes the cluster.
    pub fn take(&mut self, cluster: ClusterId, entries: &mut Vec<Entry>) {
        let mut pages = Ascending::after(entries, self.first_page(cluster));
        let Cluster {
            first, pages: held, ..
        } = self.clusters[cluster.index()];
        self.pages
            .take_ring(first, held, |slot, page| pages.push(slot, page.offset));
        self.len -= pages.finish();
        self.free(cluster);
    }

    /// The first page of the block of `cluster`.
    #[inline]
    fn first_page(&self, cluster: ClusterId) -> Lpn {
        Lpn(self.block(cluster).0 * u64::from(self.cluster_pages))
    }

    /// Shows `visit` the pages of `cluster`, in ascending order, until `visit` returns `false`. Returns `false` if
    /// `visit` returned `false`.
    pub fn visit_pages(&self, cluster: ClusterId, visit: &mut dyn FnMut(Entry) -> bool) -> bool {
        let mut entries = Vec::new();
        self.append_pages(cluster, &mut entries);
        entries.into_iter().all(visit)
    }

    /// All clusters, in the order of their numbers.
    pub fn ids(&self) -> impl Iterator<Item = ClusterId> + '_ {
        let ids = (0..self.clusters.len() as u32).map(ClusterId);
        ids.filter(|cluster| self.pages(*cluster) > 0)
    }

    /// Adds `cluster` to `list` as its last group.
    pub fn show(&self, cluster: ClusterId, label: impl Into<String>, list: &mut ShownList) {
        let block = Frame::Block {
            first: self.first_page(cluster),
            pages: self.cluster_pages,
        };
        let group = list.group(label, block);
        self.visit_pages(cluster, &mut |entry| {
            group.page(entry, "");
            true
        });
    }

    fn free(&mut self, cluster: ClusterId) {
        let removed = self.index.remove_if(Lpn(self.block(cluster).0), cluster.0);
        debug_assert!(removed, "{cluster:?} was gone already");
        let place = &mut self.clusters[cluster.index()];
        place.pages = 0;
        place.first = core::mem::replace(&mut self.free, cluster.0);
    }
}

/// Appends the pages of one block to `entries`. Sorts them at the end if they were not appended in ascending order.
struct Ascending<'a> {
    entries: &'a mut Vec<Entry>,
    start: usize,
    block: Lpn,
    ascends: bool,
    least: u32,
}

impl<'a> Ascending<'a> {
    #[inline]
    fn after(entries: &'a mut Vec<Entry>, block: Lpn) -> Self {
        Self {
            start: entries.len(),
            entries,
            block,
            ascends: true,
            least: 0,
        }
    }

    #[inline]
    fn push(&mut self, slot: u32, offset: u32) {
        self.ascends &= offset >= self.least;
        self.least = offset;
        self.entries.push(Entry {
            page: Lpn(self.block.0 + u64::from(offset)),
            slot: Slot(slot),
        });
    }

    /// Sorts the appended pages if necessary. Returns the number of appended pages.
    #[inline]
    fn finish(self) -> usize {
        let pages = &mut self.entries[self.start..];
        if !self.ascends {
            pages.sort_unstable_by_key(|entry| entry.page);
        }
        pages.len()
    }
}

#[cfg(test)]
mod tests;
