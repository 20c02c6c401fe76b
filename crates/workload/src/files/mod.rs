//! Models of small file systems. A model determines which pages of a disk are written when an application makes,
//! writes or removes files.
//!
//! | module | holds |
//! | --- | --- |
//! | `space` | the bitmap of the allocated units of a disk, and the search for free units |
//! | `commits` | when a file system commits metadata, and when it makes a checkpoint |
//! | `disk` | the queue of requests that a file system has issued and the workload has not yet returned |
//! | `fat` | FAT: two copies of an allocation table, then clusters with next-fit allocation |
//! | `ext` | a file system like ext3: block groups with bitmaps and inode tables, and a journal |
//! | `ntfs` | a file system like NTFS: a file table, a log, a bitmap |
//!
//! The models contain the addresses of pages and the times at which metadata is written. They contain no file names
//! and no bytes, and they do not recover from a crash. The module `standins` models the applications that use the
//! files.

mod commits;
pub(super) mod disk;
pub(super) mod ext;
pub(super) mod fat;
pub(super) mod ntfs;
pub(super) mod space;

pub(super) use disk::Disk;
pub(super) use space::Extent;

use std::collections::BTreeSet;

/// A file with the addresses of its pages, in the order of the file's bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// The number of the directory that contains the file.
    pub directory: usize,
    /// The number of the file's inode (ext) or of the file's record in the file table (NTFS).
    pub slot: u64,
    /// The index of the file's entry in the directory.
    pub entry: u64,
    /// The process that made the file. Only the ext model uses it.
    pub process: u64,
    pub bytes: u64,
    pub extents: Vec<Extent>,
    /// Pages that contain the addresses of the file's data pages. Only the ext model has such pages.
    pub indirect: Vec<u64>,
}

impl File {
    /// The number of pages that are allocated for the data of the file.
    pub fn pages(&self) -> u64 {
        self.extents.iter().map(|extent| extent.pages).sum()
    }

    /// The page after the last page of the file; `None` if the file has no pages.
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

    /// The addresses of `pages` pages of the file, beginning with page `first` of the file.
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

/// The operations of a file system that applications use.
///
/// Before a call that makes or extends a file, the caller must check with [`FileSystem::fits`] that the volume has
/// enough space.
pub(super) trait FileSystem: Send {
    /// The size of a page in bytes.
    fn page_bytes(&self) -> u64;

    /// Whether the volume has space for one more directory and one more file of `bytes` bytes, including their
    /// metadata.
    fn fits(&self, bytes: u64) -> bool;

    /// Makes a directory, and returns its number.
    fn make_directory(&mut self) -> usize;

    /// Makes an empty file in `directory`.
    fn create(&mut self, directory: usize) -> File;

    /// Allocates pages at the end of `file` until the file has at least `pages` pages.
    fn grow(&mut self, file: &mut File, pages: u64);

    /// Records that the size or the timestamps of `file` have changed.
    fn touch(&mut self, file: &File);

    /// Writes data pages of a file. Depending on the file system, they are written immediately or at a later
    /// write-back.
    fn put(&mut self, piece: Extent, disk: &mut Disk);

    /// Records that `pages` pages of data were written. If enough pages were written since the last write-back, a
    /// write-back of metadata follows.
    fn written(&mut self, pages: u64, disk: &mut Disk);

    /// Removes a file and frees its pages.
    fn remove(&mut self, file: File, disk: &mut Disk);

    /// Writes the data and metadata that wait, as a regular write-back does.
    fn sync(&mut self, disk: &mut Disk);

    /// Empties the volume, and writes the pages that formatting writes.
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

    /// Overwrites `bytes` existing bytes of `file`, beginning at `offset`.
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

    /// Reads `bytes` bytes of `file`, beginning at `offset`.
    fn read(&mut self, file: &File, offset: u64, bytes: u64, disk: &mut Disk) {
        let page_bytes = self.page_bytes();
        let first = offset / page_bytes;
        let pages = (offset + bytes).div_ceil(page_bytes) - first;
        for piece in file.pieces(first, pages) {
            disk.read(piece.first, piece.pages);
        }
    }
}

/// The entries of a directory: the pages of the directory, the number of entries, and the freed entries that can be
/// used again.
#[derive(Clone, Debug, Default)]
struct Entries {
    pages: Vec<u64>,
    used: u64,
    holes: BTreeSet<u64>,
}

impl Entries {
    /// Allocates an entry and returns its index. This is the lowest freed entry, or else a new entry at the end.
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

    /// Whether the directory still needs a page for `entry`. A page has `per_page` entries.
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
