//! A FAT file system. The volume begins with two copies of the allocation table. Directories and data follow in
//! clusters, which are allocated next-fit.
//!
//! ```text
//! | boot | table, copy 1 | table, copy 2 | root directory | clusters ...
//! ```
//!
//! The table entry of a cluster contains the number of the next cluster of the file. Growing a file therefore changes
//! three pages: a page of the table in both copies, and the page with the directory entry of the file. These pages
//! are far from the data, and they are written again and again. Data is written immediately, as on a removable
//! medium.
//!
//! Volumes below 2 GiB are FAT16. A cluster of FAT16 has one page or a power of two of pages. The smallest such size
//! that gives at most 65524 clusters is used. Larger volumes are FAT32 with clusters of 4, 8, 16 or 32 KiB, depending
//! on the size of the volume (Microsoft, "FAT: General Overview of On-Disk Format", 1.03). In this model, the root
//! directory of FAT32 has a fixed size, too.

use super::space::Space;
use super::{Disk, Entries, Extent, File, FileSystem};
use std::collections::BTreeSet;

/// Bytes of the directory entries of a file with a long name: two entries of 32 bytes for the name, and one for the
/// file.
const ENTRY_BYTES: u64 = 3 * 32;
/// The root directory has 512 entries of 32 bytes.
const ROOT_BYTES: u64 = 16 << 10;
const FAT16_CLUSTERS: u64 = 65_524;
const GIB: u64 = 1 << 30;

/// A FAT volume.
#[derive(Clone, Debug)]
pub struct Fat {
    page_bytes: u64,
    cluster_pages: u64,
    table_first: u64,
    table_pages: u64,
    entries_per_page: u64,
    data_first: u64,
    clusters: Space,
    cluster_count: u64,
    /// The cluster after the last allocation. The next search for free clusters begins here.
    next: u64,
    directories: Vec<Entries>,
    /// Changed pages of directories and of the first copy of the table. The second copy changes in the corresponding
    /// pages.
    dirty: BTreeSet<u64>,
    commit_pages: u64,
    since_commit: u64,
}

impl Fat {
    /// Creates a volume of `pages` pages. It writes changed metadata after every `commit_pages` pages of data.
    /// Returns `None` if `pages` is too small.
    pub fn new(pages: u64, page_bytes: u64, commit_pages: u64) -> Option<Self> {
        let bytes = pages * page_bytes;
        let (mut cluster_bytes, entry_bytes) = match bytes {
            ..=0x7FFF_FFFF => (page_bytes, 2),
            _ if bytes <= 8 * GIB => (page_bytes.max(4 << 10), 4),
            _ if bytes <= 16 * GIB => (page_bytes.max(8 << 10), 4),
            _ if bytes <= 32 * GIB => (page_bytes.max(16 << 10), 4),
            _ => (page_bytes.max(32 << 10), 4),
        };
        let entries_per_page = page_bytes / entry_bytes;
        let root_pages = ROOT_BYTES.div_ceil(page_bytes);
        let (cluster_pages, table_pages, data_first, cluster_count) = loop {
            let cluster_pages = cluster_bytes / page_bytes;
            let table_pages = (pages / cluster_pages).div_ceil(entries_per_page);
            let data_first = 1 + 2 * table_pages + root_pages;
            let count = pages.checked_sub(data_first)? / cluster_pages;
            if entry_bytes == 4 || count <= FAT16_CLUSTERS {
                break (cluster_pages, table_pages, data_first, count);
            }
            cluster_bytes *= 2;
        };
        if cluster_count == 0 {
            return None;
        }
        let mut this = Self {
            page_bytes,
            cluster_pages,
            table_first: 1,
            table_pages,
            entries_per_page,
            data_first,
            clusters: Space::new(cluster_count),
            cluster_count,
            next: 0,
            directories: Vec::new(),
            dirty: BTreeSet::new(),
            commit_pages,
            since_commit: 0,
        };
        this.clear();
        Some(this)
    }

    fn clear(&mut self) {
        self.clusters = Space::new(self.cluster_count);
        self.next = 0;
        let root = 1 + 2 * self.table_pages..self.data_first;
        self.directories = vec![Entries {
            pages: root.collect(),
            ..Entries::default()
        }];
        self.dirty.clear();
        self.since_commit = 0;
    }

    fn entries_in_page(&self) -> u64 {
        (self.page_bytes / ENTRY_BYTES).max(1)
    }

    /// Allocates up to `clusters` consecutive clusters, and marks the changed pages of the table as dirty. The search
    /// for free clusters begins after the last allocation.
    fn take(&mut self, clusters: u64) -> Extent {
        let run = self
            .clusters
            .take_run(self.next, clusters)
            .expect("the caller has made sure that there is room");
        self.next = run.first + run.pages;
        self.change_table(run.first, run.pages);
        Extent {
            first: self.data_first + run.first * self.cluster_pages,
            pages: run.pages * self.cluster_pages,
        }
    }

    fn change_table(&mut self, cluster: u64, clusters: u64) {
        let first = cluster / self.entries_per_page;
        let last = (cluster + clusters - 1) / self.entries_per_page;
        self.dirty
            .extend((first..=last).map(|page| self.table_first + page));
    }
}

impl FileSystem for Fat {
    fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn fits(&self, bytes: u64) -> bool {
        // Four more clusters may be needed: the first cluster of a new directory, one cluster for each of the two new
        // directory entries, and one for the end of the file.
        let clusters = bytes.div_ceil(self.page_bytes * self.cluster_pages) + 4;
        clusters <= self.clusters.free()
    }

    fn make_directory(&mut self) -> usize {
        self.directories.push(Entries::default());
        self.directories.len() - 1
    }

    fn create(&mut self, directory: usize) -> File {
        let per_page = self.entries_in_page();
        let entry = self.directories[directory].add();
        if self.directories[directory].lacks(entry, per_page) {
            let cluster = self.take(1);
            self.directories[directory]
                .pages
                .extend(cluster.first..cluster.first + cluster.pages);
        }
        let file = File {
            directory,
            entry,
            ..File::default()
        };
        self.touch(&file);
        file
    }

    fn grow(&mut self, file: &mut File, pages: u64) {
        // The allocation is next-fit over the whole volume. The search begins after the last allocation, even if that
        // allocation was for another file.
        let mut missing = (pages - file.pages()).div_ceil(self.cluster_pages);
        while missing > 0 {
            let extent = self.take(missing);
            missing -= extent.pages / self.cluster_pages;
            file.extend(extent);
        }
    }

    fn touch(&mut self, file: &File) {
        let page = self.directories[file.directory].page(file.entry, self.entries_in_page());
        self.dirty.insert(page);
    }

    fn put(&mut self, piece: Extent, disk: &mut Disk) {
        disk.write(piece.first, piece.pages);
    }

    fn written(&mut self, pages: u64, disk: &mut Disk) {
        self.since_commit += pages;
        if self.since_commit >= self.commit_pages {
            self.sync(disk);
        }
    }

    fn remove(&mut self, file: File, disk: &mut Disk) {
        self.touch(&file);
        for extent in &file.extents {
            let cluster = (extent.first - self.data_first) / self.cluster_pages;
            let clusters = extent.pages / self.cluster_pages;
            self.clusters.release(cluster, clusters);
            self.change_table(cluster, clusters);
        }
        self.directories[file.directory].remove(file.entry);
        self.written(1, disk);
    }

    fn sync(&mut self, disk: &mut Disk) {
        self.since_commit = 0;
        let table_end = self.table_first + self.table_pages;
        let table: Vec<u64> = self.dirty.range(..table_end).copied().collect();
        disk.write_all(table.iter().copied());
        disk.write_all(table.iter().map(|page| page + self.table_pages));
        disk.write_all(self.dirty.range(table_end..).copied());
        self.dirty.clear();
    }

    fn format(&mut self, disk: &mut Disk) {
        self.clear();
        disk.write(0, self.data_first);
    }
}
