//! Small file systems: which pages of a disk are written when files are made, written and removed.
//!
//! | module | holds |
//! | --- | --- |
//! | `space` | which units of a disk are taken, and the search for free ones |
//! | `disk` | the requests that a file system has made and the workload has not yet returned |
//! | `fat` | two copies of an allocation table in front, next-fit allocation behind them |
//! | `ext` | block groups with bitmaps and inode tables, and a journal |
//! | `ntfs` | a file table, a log, a bitmap |
//!
//! These models contain addresses and the times at which metadata is written, but no names, no bytes and no
//! recovery after a crash. `standins` models the applications that use the files.

pub(super) mod disk;
pub(super) mod ext;
pub(super) mod fat;
pub(super) mod ntfs;
pub(super) mod space;

pub(super) use disk::Disk;
pub(super) use space::Extent;

use std::collections::BTreeSet;

/// A file, and the addresses of its pages in the order of its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// The number of its directory.
    pub directory: usize,
    /// The number of its inode or its record in the file table.
    pub slot: u64,
    /// The index of its entry in the directory.
    pub entry: u64,
    /// The process that made the file, for file systems that use it.
    pub process: u64,
    pub bytes: u64,
    pub extents: Vec<Extent>,
    /// Pages that hold the addresses of the file's pages, if the file system has such pages.
    pub indirect: Vec<u64>,
}

impl File {
    /// The number of pages that are allocated for the data of the file.
    pub fn pages(&self) -> u64 {
        self.extents.iter().map(|extent| extent.pages).sum()
    }

    /// The page after the last page of the file; `None` if it has no pages.
    pub fn end(&self) -> Option<u64> {
        self.extents
            .last()
            .map(|extent| extent.first + extent.pages)
    }

    /// Adds `extent` at the end of the file.
    pub fn extend(&mut self, extent: Extent) {
        match self.extents.last_mut() {
            Some(last) if last.first + last.pages == extent.first => last.pages += extent.pages,
            _ => self.extents.push(extent),
        }
    }

    /// The addresses of `pages` pages of the file, from page `first` of the file on.
    fn pieces(&self, first: u64, pages: u64) -> impl Iterator<Item = Extent> + '_ {
        let (end, mut start) = (first + pages, 0);
        self.extents.iter().filter_map(move |extent| {
            let (from, to) = (first.max(start), end.min(start + extent.pages));
            let piece = (from < to).then(|| Extent {
                first: extent.first + from - start,
                pages: to - from,
            });
            start += extent.pages;
            piece
        })
    }
}

/// The operations that applications use.
///
/// Before a call that writes or makes a file, the caller must have called [`FileSystem::fits`].
pub(super) trait FileSystem: Send {
    /// The size of a page in bytes.
    fn page_bytes(&self) -> u64;

    /// Whether one more directory and one more file of `bytes` bytes fit, with all metadata that they need.
    fn fits(&self, bytes: u64) -> bool;

    /// Makes a directory, and returns its number.
    fn make_directory(&mut self) -> usize;

    /// Makes an empty file in `directory`.
    fn create(&mut self, directory: usize) -> File;

    /// Allocates pages at the end of `file`, so that it has at least `pages` pages.
    fn grow(&mut self, file: &mut File, pages: u64);

    /// Records that the size or the times of `file` have changed.
    fn touch(&mut self, file: &File);

    /// Writes the data of pages of a file: at once, or with the next write-back, depending on the file system.
    fn put(&mut self, piece: Extent, disk: &mut Disk);

    /// Records that `pages` pages of data were written, so that a write-back of metadata may be due.
    fn written(&mut self, pages: u64, disk: &mut Disk);

    /// Removes a file and frees its pages.
    fn remove(&mut self, file: File, disk: &mut Disk);

    /// Writes data and metadata that wait, as at a regular write-back.
    fn sync(&mut self, disk: &mut Disk);

    /// Makes the volume empty, and writes the pages that formatting writes.
    fn format(&mut self, disk: &mut Disk);

    /// Writes `bytes` more bytes at the end of `file`.
    fn append(&mut self, file: &mut File, bytes: u64, disk: &mut Disk) {
        let offset = file.bytes;
        file.bytes += bytes;
        let pages = file.bytes.div_ceil(self.page_bytes());
        if pages > file.pages() {
            self.grow(file, pages);
        }
        self.overwrite(file, offset, bytes, disk);
    }

    /// Writes `bytes` existing bytes of `file` again, from `offset` on.
    fn overwrite(&mut self, file: &File, offset: u64, bytes: u64, disk: &mut Disk) {
        self.touch(file);
        let page_bytes = self.page_bytes();
        let first = offset / page_bytes;
        let pages = (offset + bytes).div_ceil(page_bytes) - first;
        for piece in file.pieces(first, pages) {
            self.put(piece, disk);
        }
        self.written(pages, disk);
    }

    /// Reads `bytes` bytes of `file` from `offset` on.
    fn read(&mut self, file: &File, offset: u64, bytes: u64, disk: &mut Disk) {
        let page_bytes = self.page_bytes();
        let first = offset / page_bytes;
        let pages = (offset + bytes).div_ceil(page_bytes) - first;
        for piece in file.pieces(first, pages) {
            disk.read(piece.first, piece.pages);
        }
    }
}

/// The entries of a directory: its pages, and which entries are free and can be used again.
#[derive(Clone, Debug, Default)]
struct Entries {
    pages: Vec<u64>,
    used: u64,
    holes: BTreeSet<u64>,
}

impl Entries {
    /// The index of a new entry: the lowest one that is free.
    fn add(&mut self) -> u64 {
        self.holes.pop_first().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        })
    }

    /// Frees an entry.
    fn remove(&mut self, entry: u64) {
        self.holes.insert(entry);
    }

    /// Whether the directory does not yet have the page for `entry`. A page has `per_page` entries.
    fn lacks(&self, entry: u64, per_page: u64) -> bool {
        entry / per_page >= self.pages.len() as u64
    }

    /// The page that contains `entry`.
    fn page(&self, entry: u64, per_page: u64) -> u64 {
        self.pages[(entry / per_page) as usize]
    }
}

#[cfg(test)]
mod tests;
