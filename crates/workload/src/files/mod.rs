//! Small file systems: which pages of a disk are written when files are made, written and removed.
//!
//! | module | holds |
//! | --- | --- |
//! | `space` | which units of a disk are taken, and where free ones are |
//! | `disk` | the requests a file system has made and the trace has not yet given out |
//! | `fat` | two copies of an allocation table in front, next-fit behind |
//! | `ext` | block groups with bitmaps and inode tables, and a journal |
//! | `ntfs` | a file table, a log, a bitmap |
//!
//! They model places and the times at which metadata is written back, but not names, bytes or reading after a crash. The work of an application with
//! files is in `standins`.

pub(super) mod disk;
pub(super) mod ext;
pub(super) mod fat;
pub(super) mod ntfs;
pub(super) mod space;

pub(super) use disk::Disk;
pub(super) use space::Extent;

use std::collections::BTreeSet;

/// A file: where its pages are, in the order of its bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    /// The directory it is in.
    pub directory: usize,
    /// Its inode, table record or directory entry.
    pub slot: u64,
    /// Its place among its directory's entries.
    pub entry: u64,
    /// The process that made it, for file systems that use that.
    pub process: u64,
    pub bytes: u64,
    pub extents: Vec<Extent>,
    /// Pages that say where its pages are, if the file system keeps them apart.
    pub indirect: Vec<u64>,
}

impl File {
    /// Pages held for its bytes.
    pub fn pages(&self) -> u64 {
        self.extents.iter().map(|extent| extent.pages).sum()
    }

    /// The page after its last.
    pub fn end(&self) -> Option<u64> {
        self.extents
            .last()
            .map(|extent| extent.first + extent.pages)
    }

    /// Takes in pages behind its last.
    pub fn extend(&mut self, extent: Extent) {
        match self.extents.last_mut() {
            Some(last) if last.first + last.pages == extent.first => last.pages += extent.pages,
            _ => self.extents.push(extent),
        }
    }

    /// Where its pages from the `first` on are.
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
/// The caller that writes or makes a file has called [`FileSystem::fits`] before.
pub(super) trait FileSystem: Send {
    /// Bytes in a page.
    fn page_bytes(&self) -> u64;

    /// Whether one more directory and one more file of `bytes` bytes fit, whatever metadata they need included.
    fn fits(&self, bytes: u64) -> bool;

    /// Makes a directory.
    fn make_directory(&mut self) -> usize;

    /// Makes an empty file.
    fn create(&mut self, directory: usize) -> File;

    /// Finds room after the end of `file`, so that it holds `pages` pages at least.
    fn grow(&mut self, file: &mut File, pages: u64);

    /// Notes that the size or times of `file` are others now.
    fn touch(&mut self, file: &File);

    /// Takes data for pages of a file: to the disk at once, or when metadata is due.
    fn put(&mut self, piece: Extent, disk: &mut Disk);

    /// Notes that `pages` pages of data were written: metadata may be due.
    fn written(&mut self, pages: u64, disk: &mut Disk);

    /// Removes a file.
    fn remove(&mut self, file: File, disk: &mut Disk);

    /// Writes back all data and metadata that is due.
    fn sync(&mut self, disk: &mut Disk);

    /// Starts over with an empty disk, and writes the pages that formatting writes.
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

    /// Writes the existing `bytes` bytes of `file` from `offset` on once more.
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

/// The entries of a directory: pages that grow, and places that are used again.
#[derive(Clone, Debug, Default)]
struct Entries {
    pages: Vec<u64>,
    used: u64,
    holes: BTreeSet<u64>,
}

impl Entries {
    /// The place of a new entry, the lowest that is free.
    fn add(&mut self) -> u64 {
        self.holes.pop_first().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        })
    }

    /// Frees a place.
    fn remove(&mut self, entry: u64) {
        self.holes.insert(entry);
    }

    /// Whether the page for `entry`, of `per_page` entries, is still missing.
    fn lacks(&self, entry: u64, per_page: u64) -> bool {
        entry / per_page >= self.pages.len() as u64
    }

    /// The page that holds `entry`.
    fn page(&self, entry: u64, per_page: u64) -> u64 {
        self.pages[(entry / per_page) as usize]
    }
}

#[cfg(test)]
mod tests;
