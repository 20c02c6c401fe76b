//! The volume that IOzone writes to, modelled on NTFS. The model has the addresses of files, the time at which the
//! clusters of deleted files become free, and the writes of metadata.

use crate::files::Extent;
use crate::files::space::Space;
use std::collections::VecDeque;

/// Sectors in a cluster. A cluster is a page of the file system.
pub(super) const CLUSTER: u64 = 8;
/// Clusters for data. They suffice for two files of the largest size and some more clusters. This space is necessary,
/// because the clusters of a deleted file remain allocated for a while.
const DATA: u64 = 300_000;
/// The first cluster of data. It is not at the start of a block, because a file system does not know where blocks
/// begin.
const FIRST_DATA: u64 = 80 * 64 + 12;
/// Clusters in the volume.
pub(super) const CLUSTERS: u64 = FIRST_DATA + DATA;
/// The first of the two restart pages of the log, which are written in turn. `LOG` is the first page of the log and
/// `LOG_PAGES` its length. The log is written as a ring.
const RESTART: u64 = 34;
const LOG: u64 = 1040;
const LOG_PAGES: u64 = 4000;
/// The pages that a checkpoint writes, except those of the log, as first page and number of pages. Three kinds of
/// checkpoints alternate. Two of them write a record of the file table. The third writes pages of the bitmap and of
/// indices.
const CHECKPOINTS: [&[(u64, u64)]; 3] = [
    &[(33, 1)],
    &[(170, 1)],
    &[(32, 1), (163, 1), (308, 1), (311, 2)],
];
/// The time between two checkpoints of NTFS in ms.
const CHECKPOINT_MS: f64 = 5000.0;

/// A write, and its time in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub at_ms: f64,
    pub sector: u64,
    pub sectors: u64,
}

/// The volume, and the writes that the workload has not yet returned.
#[derive(Clone, Debug)]
pub(super) struct Volume {
    /// The current time in ms.
    pub now_ms: f64,
    writes: VecDeque<Write>,
    space: Space,
    file: Vec<Extent>,
    /// The clusters of files that were deleted before the last checkpoint. The second list is for files deleted since
    /// then.
    left: [Vec<Extent>; 2],
    checkpoints: usize,
    next_checkpoint_ms: f64,
    log_page: u64,
    restart: u64,
}

impl Volume {
    /// Creates an empty volume.
    pub fn new(now_ms: f64) -> Self {
        Self {
            now_ms,
            writes: VecDeque::new(),
            space: Space::new(DATA),
            file: Vec::new(),
            left: [Vec::new(), Vec::new()],
            checkpoints: 0,
            next_checkpoint_ms: now_ms + CHECKPOINT_MS,
            log_page: 0,
            restart: 0,
        }
    }

    pub fn pop(&mut self) -> Option<Write> {
        self.writes.pop_front()
    }

    /// Makes the file again with `sectors` sectors. The file occupies the first free clusters, in as many extents as
    /// necessary.
    pub fn make(&mut self, sectors: u64) {
        self.remove();
        let mut left = sectors / CLUSTER;
        while left > 0 {
            if let Some(extent) = self.space.take_run(0, left) {
                left -= extent.pages;
                self.file.push(extent);
            } else {
                // If no cluster is free, deleted clusters are released without waiting for checkpoints. Two files of
                // the largest size always fit.
                self.release();
                self.release();
            }
        }
    }

    /// Empties the volume. The current time and the waiting writes do not change.
    pub fn format(&mut self) {
        let writes = std::mem::take(&mut self.writes);
        *self = Self {
            writes,
            ..Self::new(self.now_ms)
        };
    }

    /// Deletes the file. Its clusters become free at the second checkpoint from now. Until then, the log may still
    /// have to undo the deletion.
    pub fn remove(&mut self) {
        self.left[1].append(&mut self.file);
    }

    /// Writes sectors of the file, with one request for each extent of the file.
    pub fn write(&mut self, offset: u64, sectors: u64) {
        self.check();
        let (mut from, end, mut base) = (offset, offset + sectors, 0);
        for extent in &self.file {
            let behind = base + extent.pages * CLUSTER;
            if (base..behind).contains(&from) && from < end {
                let sectors = behind.min(end) - from;
                self.writes.push_back(Write {
                    at_ms: self.now_ms,
                    sector: (FIRST_DATA + extent.first) * CLUSTER + from - base,
                    sectors,
                });
                from += sectors;
            }
            base = behind;
        }
    }

    /// Adds a cluster to a file of another program. The cluster remains allocated.
    pub fn grow_another(&mut self) {
        if let Some(extent) = self.space.take_run(0, 1) {
            self.write_pages(FIRST_DATA + extent.first, 1);
        }
    }

    /// Ends a flush. For a new file, writes the state of the file to the log. Then writes a restart page.
    pub fn commit(&mut self, is_new: bool) {
        self.check();
        if is_new {
            self.log();
        }
        self.restart();
    }

    /// Writes the checkpoints that are due by now.
    fn check(&mut self) {
        while self.next_checkpoint_ms <= self.now_ms {
            let now_ms = std::mem::replace(&mut self.now_ms, self.next_checkpoint_ms);
            for (page, pages) in CHECKPOINTS[self.checkpoints % CHECKPOINTS.len()] {
                self.write_pages(*page, *pages);
            }
            self.log();
            self.restart();
            self.release();
            self.checkpoints += 1;
            self.next_checkpoint_ms += CHECKPOINT_MS;
            self.now_ms = now_ms;
        }
    }

    fn release(&mut self) {
        for extent in self.left[0].drain(..) {
            self.space.release(extent.first, extent.pages);
        }
        self.left.swap(0, 1);
    }

    fn log(&mut self) {
        self.write_pages(LOG + self.log_page, 1);
        self.log_page = (self.log_page + 2) % LOG_PAGES;
    }

    fn restart(&mut self) {
        self.write_pages(RESTART + self.restart, 1);
        self.restart ^= 1;
    }

    fn write_pages(&mut self, page: u64, pages: u64) {
        self.writes.push_back(Write {
            at_ms: self.now_ms,
            sector: page * CLUSTER,
            sectors: pages * CLUSTER,
        });
    }
}
