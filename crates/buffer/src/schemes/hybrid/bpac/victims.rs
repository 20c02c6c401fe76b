//! The choice of the victim: four rules that are applied in order, and the pages that are evicted together with the
//! victim.

use super::{Bpac, COOLED, Fallback, HotVictim, OLD, Reason, WRITTEN};
use crate::clusters::{ClusterId, Lbn};
use crate::config::part_of_rounded_up;
use crate::destage::Grouping;
use crate::scheme::{Entry, Victim};

impl Bpac {
    /// Removes the next victim and adds its pages to `victim`. Returns the rule that chose it.
    pub(super) fn pop(&mut self, victim: &mut Victim) -> Reason {
        if let Some((cluster, bucket)) = self.by_size.highest() {
            self.take(cluster, victim);
            return if bucket == self.full {
                Reason::Sequential
            } else {
                Reason::Largest
            };
        }
        if let Some(cluster) = self.fallback() {
            self.take(cluster, victim);
            return Reason::Fallback;
        }
        if let Some(page) = self.hot.back() {
            self.take_hot(page, victim);
        }
        Reason::Hot
    }

    /// The victim if the size-dependent region is empty and no sequential cluster is full.
    fn fallback(&mut self) -> Option<ClusterId> {
        match self.parameters.bpac_fallback {
            Fallback::Lru => self.oldest_first().next(),
            Fallback::Largest => self.young_by_size.as_mut()?.highest().map(|found| found.0),
            Fallback::LargestTail => {
                let clusters = self.clusters.count() as u32;
                let count = part_of_rounded_up(self.parameters.bpac_tail, clusters) as usize;
                let pages = |id: &ClusterId| self.clusters.pages(*id);
                let larger = |best, next| {
                    if pages(&next) > pages(&best) {
                        next
                    } else {
                        best
                    }
                };
                self.oldest_first().take(count.max(1)).reduce(larger)
            }
        }
    }

    /// All clusters, the oldest first. This order is used only while no cluster is in a bucket. Old clusters can
    /// still exist in this case, because old sequential clusters wait until they are complete.
    fn oldest_first(&self) -> impl Iterator<Item = ClusterId> + '_ {
        self.aged_alike(OLD).chain(self.aged_alike(0))
    }

    /// The old clusters if `age` is [`OLD`], or the other clusters if `age` is 0. The oldest is first.
    fn aged_alike(&self, age: u32) -> impl Iterator<Item = ClusterId> + '_ {
        let mut written = self.queues.iter_back(WRITTEN + age).peekable();
        let mut cooled = self.queues.iter_back(COOLED + age).peekable();
        let last = |id: &ClusterId| self.clusters.data(*id).last;
        core::iter::from_fn(move || match (written.peek(), cooled.peek()) {
            (Some(one), Some(other)) if last(other) < last(one) => cooled.next(),
            (Some(_), _) => written.next(),
            (None, _) => cooled.next(),
        })
    }

    pub(super) fn take(&mut self, cluster: ClusterId, victim: &mut Victim) {
        let block = self.clusters.block(cluster);
        let was_dependent = self.clusters.data(cluster).is_dependent;
        self.forget(cluster, was_dependent);
        self.clusters.take(cluster, &mut victim.entries);
        victim.grouping = Grouping::Cluster;
        if self.parameters.evict_hot_with_cluster {
            self.take_hot_block(block, victim);
            victim.entries.sort_unstable_by_key(|entry| entry.page);
        }
    }

    fn take_hot(&mut self, page: Entry, victim: &mut Victim) {
        if self.parameters.bpac_plist_victim == HotVictim::Block {
            let (block, _) = self.clusters.split(page.page);
            self.take_hot_block(block, victim);
            victim.grouping = Grouping::Cluster;
        } else {
            victim.entries.push(self.cool(page.slot));
        }
    }

    fn take_hot_block(&mut self, block: Lbn, victim: &mut Victim) {
        let Some(blocks) = &mut self.hot_blocks else {
            return;
        };
        if let Some(pages) = blocks.find(block) {
            let start = victim.entries.len();
            blocks.take(pages, &mut victim.entries);
            for entry in &victim.entries[start..] {
                self.hot.remove(entry.slot);
            }
        }
    }
}
