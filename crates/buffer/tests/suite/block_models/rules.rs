//! The rules of the block-level schemes, which the model of a buffer calls.

#[derive(Clone, Debug)]
pub struct Cluster {
    pub block: u64,
    /// Page numbers, ascending, and for each page whether it is dirty.
    pub pages: Vec<(u64, bool)>,
    /// BPLRU: the offset of the page that would continue the run, or -1.
    pub next: i64,
    /// BPLRU: whether the cluster was compensated and has not changed since.
    pub compensated: bool,
    /// BPLRU: for each write of the current burst, the offset of the page and the number of the page write.
    pub writes: Vec<(u64, u64)>,
    /// CLC: whether the cluster is in the size-independent list. LB-CLOCK: the recency bit.
    pub recent: bool,
    /// LB-CLOCK: the number of the cluster in the order in which clusters became candidates.
    pub candidate: Option<u64>,
}

/// The rule of a scheme. If the scheme keeps its clusters in order, `clusters[0]` is evicted first.
pub trait Rule {
    /// The page at `offset` of `clusters[at]` was written, or was read in a buffer that reads enter.
    fn used(
        &mut self,
        clusters: &mut Vec<Cluster>,
        at: usize,
        offset: u64,
        entered: bool,
        write: u64,
    );
    /// Returns the index of the cluster to evict.
    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize;
    /// `clusters[at]` is about to be removed.
    fn leaves(&mut self, _at: usize, _left: usize) {}
}

/// The index of the largest cluster that `allowed` accepts; of equally large clusters, the first.
pub fn largest(clusters: &[Cluster], allowed: impl Fn(&Cluster) -> bool) -> Option<usize> {
    let most = clusters
        .iter()
        .filter(|held| allowed(held))
        .map(|held| held.pages.len())
        .max()?;
    clusters
        .iter()
        .position(|held| allowed(held) && held.pages.len() == most)
}

pub fn to_back(clusters: &mut Vec<Cluster>, at: usize) {
    let cluster = clusters.remove(at);
    clusters.push(cluster);
}

pub struct Bplru {
    pub detector: &'static str,
    pub block_pages: u64,
}

impl Rule for Bplru {
    fn used(
        &mut self,
        clusters: &mut Vec<Cluster>,
        at: usize,
        offset: u64,
        entered: bool,
        write: u64,
    ) {
        to_back(clusters, at);
        let cluster = clusters.last_mut().unwrap();
        cluster.compensated = false;
        let in_full = match self.detector {
            "strict" => {
                if offset as i64 == cluster.next {
                    cluster.next += 1;
                } else if offset == 0 {
                    cluster.next = 1;
                } else {
                    cluster.next = -1;
                }
                cluster.next == self.block_pages as i64
            }
            "complete" => entered && cluster.pages.len() as u64 == self.block_pages,
            "burst" => {
                if cluster
                    .writes
                    .last()
                    .is_some_and(|last| last.1 + 1 != write)
                {
                    cluster.writes.clear();
                }
                cluster.writes.push((offset, write));
                let done = (0..self.block_pages)
                    .all(|offset| cluster.writes.iter().any(|held| held.0 == offset));
                if done {
                    cluster.writes.clear();
                }
                done
            }
            _ => false,
        };
        if in_full {
            let mut cluster = clusters.pop().unwrap();
            cluster.compensated = true;
            clusters.insert(0, cluster);
        }
    }

    fn victim(&mut self, _: &mut Vec<Cluster>) -> usize {
        0
    }
}

pub struct Fab;

impl Rule for Fab {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, _: u64, _: bool, _: u64) {
        to_back(clusters, at);
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        largest(clusters, |_| true).unwrap()
    }
}

/// CLC. The share of size-independent clusters is a fraction of two integers, so that it is exact.
pub struct Clc {
    pub share: (usize, usize),
    pub always: bool,
}

impl Clc {
    fn rebalance(&self, clusters: &mut [Cluster]) {
        let (part, whole) = self.share;
        while clusters.iter().filter(|held| held.recent).count() * whole
            >= clusters.len() * part + whole
        {
            clusters.iter_mut().find(|held| held.recent).unwrap().recent = false;
        }
    }
}

impl Rule for Clc {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, _: u64, _: bool, _: u64) {
        clusters[at].recent = true;
        to_back(clusters, at);
        self.rebalance(clusters);
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        if self.always {
            self.rebalance(clusters);
        }
        largest(clusters, |held| !held.recent).unwrap_or(0)
    }
}

/// LB-CLOCK. The clusters form a circle, and the clock hand is at the cluster with index `hand`.
pub struct LbClock {
    pub hint: &'static str,
    pub hand: usize,
    pub named: u64,
    pub block_pages: u64,
}

impl Rule for LbClock {
    fn used(&mut self, clusters: &mut Vec<Cluster>, at: usize, offset: u64, entered: bool, _: u64) {
        let mut at = at;
        if entered && clusters[at].pages.len() == 1 {
            // The model appended the new cluster to the vector. In the circle the new cluster must be just behind
            // the hand, which is the last position that a sweep reaches.
            let cluster = clusters.remove(at);
            clusters.insert(self.hand, cluster);
            at = self.hand;
            self.hand = (self.hand + 1) % clusters.len();
        }
        let complete = clusters[at].pages.len() as u64 == self.block_pages;
        let cluster = &mut clusters[at];
        cluster.candidate = None;
        cluster.recent = !match self.hint {
            "last_page" => offset == self.block_pages - 1,
            "full" => entered && complete,
            _ => false,
        };
    }

    fn victim(&mut self, clusters: &mut Vec<Cluster>) -> usize {
        while clusters.iter().all(|held| held.candidate.is_none()) {
            for step in 0..clusters.len() {
                let place = (self.hand + step) % clusters.len();
                if clusters[place].recent {
                    clusters[place].recent = false;
                } else {
                    self.named += 1;
                    clusters[place].candidate = Some(self.named);
                }
            }
        }
        let candidates = clusters
            .iter()
            .enumerate()
            .filter(|held| held.1.candidate.is_some());
        candidates
            .min_by_key(|(_, held)| (usize::MAX - held.pages.len(), held.candidate))
            .unwrap()
            .0
    }

    fn leaves(&mut self, at: usize, left: usize) {
        if at < self.hand {
            self.hand -= 1;
        }
        self.hand = if left == 0 { 0 } else { self.hand % left };
    }
}
