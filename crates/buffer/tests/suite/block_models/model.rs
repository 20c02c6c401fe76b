//! A block-level buffer as a vector of clusters.

use crate::block_models::rules::{Cluster, Rule, largest, to_back};
use crate::common::Operation;

/// A buffer with the rule of a scheme, and those parameters that the buffer handles instead of the rule.
pub struct Model {
    pub rule: Box<dyn Rule>,
    pub capacity: usize,
    pub block_pages: u64,
    pub promotes_first: bool,
    pub headers: bool,
    /// Whether pages that are read enter the buffer, and reads count as accesses. If so, destaged pages stay as
    /// clean pages until other pages need their slots.
    pub reads: bool,
    pub eager: bool,
    pub bypass: usize,
    pub clusters: Vec<Cluster>,
    pub page_writes: u64,
    /// The dirty pages of each destage record.
    pub destages: Vec<Vec<u64>>,
}

impl Model {
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Write(pages) if self.bypass > 0 && pages.len() >= self.bypass => {
                for page in pages {
                    self.page_writes += 1;
                    self.trim(*page);
                }
            }
            Operation::Write(pages) => pages.iter().for_each(|page| self.write(*page)),
            Operation::Read(pages) if self.reads => {
                pages.iter().for_each(|page| self.enter(*page, false))
            }
            Operation::Read(_) => {}
            Operation::Trim(page) => self.trim(*page),
            Operation::Fua(page) => {
                self.write(*page);
                let at = self.find(*page).unwrap();
                self.destage(at, self.reads);
            }
            Operation::Flush | Operation::Drain => self.flush(),
            Operation::Idle => {
                if self.eager && self.clusters.first().is_some_and(|held| held.compensated) {
                    self.destage(0, false);
                }
            }
        }
    }

    /// The index of the cluster that holds `page`, or `None` if `page` is not buffered.
    fn find(&self, page: u64) -> Option<usize> {
        self.clusters
            .iter()
            .position(|held| held.pages.iter().any(|held| held.0 == page))
    }

    fn write(&mut self, page: u64) {
        self.page_writes += 1;
        self.enter(page, true);
    }

    fn enter(&mut self, page: u64, dirty: bool) {
        let block = page / self.block_pages;
        let offset = page % self.block_pages;
        if let Some(at) = self.find(page) {
            let held = self.clusters[at]
                .pages
                .iter_mut()
                .find(|held| held.0 == page)
                .unwrap();
            held.1 |= dirty;
            self.rule
                .used(&mut self.clusters, at, offset, false, self.page_writes);
            return;
        }
        while self.is_full_for(block) {
            if let (true, Some(own)) = (
                self.promotes_first,
                self.clusters.iter().position(|held| held.block == block),
            ) {
                to_back(&mut self.clusters, own);
            }
            let at = self.rule.victim(&mut self.clusters);
            self.destage(at, false);
        }
        let at = self
            .clusters
            .iter()
            .position(|held| held.block == block)
            .unwrap_or_else(|| {
                self.clusters.push(Cluster {
                    block,
                    pages: Vec::new(),
                    next: 0,
                    compensated: false,
                    writes: Vec::new(),
                    recent: false,
                    candidate: None,
                });
                self.clusters.len() - 1
            });
        self.clusters[at].pages.push((page, dirty));
        self.clusters[at].pages.sort_unstable();
        self.rule
            .used(&mut self.clusters, at, offset, true, self.page_writes);
    }

    fn is_full_for(&self, block: u64) -> bool {
        let pages: usize = self.clusters.iter().map(|held| held.pages.len()).sum();
        let is_new = self.clusters.iter().all(|held| held.block != block);
        let headers = if self.headers {
            self.clusters.len() + usize::from(is_new)
        } else {
            0
        };
        pages > 0 && pages + headers + 1 > self.capacity
    }

    fn destage(&mut self, at: usize, keep: bool) {
        let dirty: Vec<u64> = self.clusters[at]
            .pages
            .iter()
            .filter(|held| held.1)
            .map(|held| held.0)
            .collect();
        if !dirty.is_empty() {
            self.destages.push(dirty);
        }
        if keep {
            self.clusters[at]
                .pages
                .iter_mut()
                .for_each(|held| held.1 = false);
        } else {
            self.drop_cluster(at);
        }
    }

    fn drop_cluster(&mut self, at: usize) {
        self.rule.leaves(at, self.clusters.len() - 1);
        self.clusters.remove(at);
    }

    fn trim(&mut self, page: u64) {
        let Some(at) = self.find(page) else { return };
        let cluster = &mut self.clusters[at];
        cluster.pages.retain(|held| held.0 != page);
        cluster.next = -1;
        cluster.compensated = false;
        cluster.writes.clear();
        if cluster.pages.is_empty() {
            self.drop_cluster(at);
        }
    }

    fn flush(&mut self) {
        if self.reads {
            // The only scheme with clean pages destages the largest cluster first. A flush skips clusters without
            // dirty pages.
            let dirty = |held: &Cluster| held.pages.iter().any(|held| held.1);
            while let Some(at) = largest(&self.clusters, dirty) {
                self.destage(at, true);
            }
        }
        while !self.reads && !self.clusters.is_empty() {
            let at = self.rule.victim(&mut self.clusters);
            self.destage(at, false);
        }
    }
}
