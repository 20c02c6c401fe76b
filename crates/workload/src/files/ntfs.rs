//! A file system like NTFS, with a file table, a log of changes, and a bitmap of used clusters.
//!
//! ```text
//! | boot | bitmap | data ... | file table, growing into its zone | data ... | log | data ... |
//! ```
//!
//! Data and metadata are written back after they have waited for a given number of write-backs. Data that is removed
//! while it waits is never written. A write-back has three steps. First it writes the data pages that have waited
//! long enough. Second it appends the changes of metadata since the last write-back to the log. If the last page of
//! the log is not full, the next write-back writes that page again. Third it writes the metadata pages that have
//! waited long enough: pages of the file table, of the bitmap and of directories. A file of at most 700 bytes is
//! stored in its record of the file table.
//!
//! The zone of the file table begins at a third of the volume. It has an eighth of the volume, which is reserved for
//! the table. The log begins in the middle of the volume. Its size is a hundredth of the volume, but at least 2 MiB
//! and at most 64 MiB. A record of the file table has 1 KiB. A page of a directory has about 40 names if it has 4
//! KiB. These numbers follow the published facts about NTFS 3.1. The allocation rules of NTFS are not published. In
//! this model, the new pages of a file are allocated in the first free run that can hold all of them. The search
//! begins at the end of the file, or for an empty file after the last allocation.

use super::commits::Commits;
use super::space::Space;
use super::{Disk, Entries, Extent, File, FileSystem};
use std::collections::VecDeque;

const RECORD_BYTES: u64 = 1024;
const RESIDENT_BYTES: u64 = 700;
/// Bytes of a directory entry with a name of about 15 characters.
const ENTRY_BYTES: u64 = 104;
/// Bytes of a log record for one changed page. The record contains the old and the new content of the change.
const LOG_BYTES_PER_CHANGE: u64 = 256;
const BOOT_BYTES: u64 = 8 << 10;
/// The log begins with two restart pages, which contain its current position.
const RESTART_PAGES: u64 = 2;
const MIB: u64 = 1 << 20;

/// Pages that wait to be written back.
#[derive(Clone, Debug, Default)]
struct Waiting {
    /// For each page of the volume, whether the page waits.
    waits: Vec<bool>,
    /// The waiting pages in groups, the oldest group first. The number of a group tells how many write-backs had
    /// happened when its pages began to wait.
    since: VecDeque<(u64, Vec<u64>)>,
}

impl Waiting {
    /// Adds a page that begins to wait after `now` write-backs. A page that already waits remains in its group.
    fn add(&mut self, page: u64, now: u64) {
        let index = usize::try_from(page).expect("a volume's pages fit in memory as bits");
        if index >= self.waits.len() {
            self.waits.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.waits[index], true) {
            return;
        }
        match self.since.back_mut() {
            Some((since, pages)) if *since == now => pages.push(page),
            _ => self.since.push_back((now, vec![page])),
        }
    }

    /// Removes the pages that began to wait after at most `latest` write-backs. Returns these pages in ascending
    /// order.
    fn due(&mut self, latest: u64) -> Vec<u64> {
        let mut due = Vec::new();
        while let Some((since, pages)) = self.since.front()
            && *since <= latest
        {
            for page in pages {
                self.waits[*page as usize] = false;
            }
            due.extend(pages);
            self.since.pop_front();
        }
        due.sort_unstable();
        due
    }

    fn is_empty(&self) -> bool {
        self.since.is_empty()
    }
}

/// The file table. Its pages are those from `first` on.
#[derive(Clone, Debug)]
struct Table {
    first: u64,
    /// The number of records for which the zone of the table has space. `records` tells which are in use.
    count: u64,
    records: Space,
}

impl Table {
    /// The page that contains `record`.
    fn page(&self, record: u64, page_bytes: u64) -> u64 {
        self.first + record * RECORD_BYTES / page_bytes
    }

    /// Allocates the first free record.
    fn take(&mut self) -> u64 {
        let run = self.records.take_run(0, 1);
        run.expect("the caller has made sure that there is a record")
            .first
    }
}

/// The log of metadata changes.
#[derive(Clone, Debug)]
struct Log {
    first: u64,
    pages: u64,
    /// The position at which the next log record is written, in bytes after the restart pages.
    byte: u64,
    /// The number of metadata changes since the last write-back. The next write-back appends them to the log.
    changes: u64,
}

impl Log {
    /// Appends the changes since the last write-back. At the end of the log, writing continues behind its restart
    /// pages.
    fn append(&mut self, page_bytes: u64, disk: &mut Disk) {
        let log_bytes = (self.pages - RESTART_PAGES) * page_bytes;
        let mut left = (self.changes * LOG_BYTES_PER_CHANGE).min(log_bytes);
        while left > 0 {
            let part = left.min(log_bytes - self.byte);
            let first = self.byte / page_bytes;
            let end = (self.byte + part).div_ceil(page_bytes);
            disk.write_unmerged(self.first + RESTART_PAGES + first, end - first);
            self.byte = (self.byte + part) % log_bytes;
            left -= part;
        }
        self.changes = 0;
    }

    /// Writes the restart pages, which contain the current position.
    fn write_position(&self, disk: &mut Disk) {
        disk.write_unmerged(self.first, RESTART_PAGES);
    }
}

/// A volume with a file system like NTFS.
#[derive(Clone, Debug)]
pub struct Ntfs {
    page_bytes: u64,
    pages: u64,
    bitmap_first: u64,
    table: Table,
    log: Log,
    space: Space,
    next: u64,
    directories: Vec<(u64, Entries)>,
    /// Data pages that wait to be written back. `dirty` contains the metadata pages that wait.
    data: Waiting,
    dirty: Waiting,
    /// The number of write-backs that a page waits for. `write_backs` is the number of write-backs so far.
    wait_commits: u64,
    write_backs: u64,
    commits: Commits,
}

impl Ntfs {
    /// Creates a volume of `pages` pages. A write-back follows every `commit_pages` pages of data. Every
    /// `checkpoint_commits`-th write-back of metadata also writes the restart pages of the log. Returns `None` if
    /// `pages` is too small.
    pub fn new(
        pages: u64,
        page_bytes: u64,
        commit_pages: u64,
        checkpoint_commits: u64,
    ) -> Option<Self> {
        let bytes = pages * page_bytes;
        let bitmap_first = BOOT_BYTES.div_ceil(page_bytes);
        let bitmap_pages = pages.div_ceil(page_bytes * 8);
        let table_first = pages / 3;
        let table_pages = pages / 8;
        let log_pages = (bytes / 100).clamp(2 * MIB, 64 * MIB).div_ceil(page_bytes);
        let log_first = pages / 2;
        if table_pages == 0
            || log_pages <= RESTART_PAGES
            || bitmap_first + bitmap_pages > table_first
            || log_first + log_pages > pages
        {
            return None;
        }
        let mut this = Self {
            page_bytes,
            pages,
            bitmap_first,
            table: Table {
                first: table_first,
                count: table_pages * page_bytes / RECORD_BYTES,
                records: Space::new(0),
            },
            log: Log {
                first: log_first,
                pages: log_pages,
                byte: 0,
                changes: 0,
            },
            space: Space::new(0),
            next: 0,
            directories: Vec::new(),
            data: Waiting::default(),
            dirty: Waiting::default(),
            wait_commits: 1,
            write_backs: 0,
            commits: Commits::new(commit_pages, checkpoint_commits),
        };
        this.clear();
        (this.table.count > 0).then_some(this)
    }

    /// Sets the number of write-backs that a page waits for; the default is 1.
    pub fn waiting(mut self, commits: u64) -> Self {
        self.wait_commits = commits;
        self
    }

    fn clear(&mut self) {
        self.space = Space::new(self.pages);
        let data = self.bitmap_first + self.pages.div_ceil(self.page_bytes * 8);
        self.space.take(0, data);
        self.space.take(self.table.first, self.pages / 8);
        self.space.take(self.log.first, self.log.pages);
        self.table.records = Space::new(self.table.count);
        self.directories.clear();
        self.data = Waiting::default();
        self.dirty = Waiting::default();
        (self.next, self.log.byte, self.log.changes) = (data, 0, 0);
        self.commits.restart();
        self.write_backs = 0;
    }

    fn change(&mut self, page: u64) {
        self.dirty.add(page, self.write_backs);
        self.log.changes += 1;
    }

    fn change_bitmap(&mut self, extent: Extent) {
        let per_page = self.page_bytes * 8;
        let last = (extent.first + extent.pages - 1) / per_page;
        for page in extent.first / per_page..=last {
            self.change(self.bitmap_first + page);
        }
    }

    fn record_page(&self, record: u64) -> u64 {
        self.table.page(record, self.page_bytes)
    }

    fn take(&mut self, goal: u64, pages: u64) -> Extent {
        let extent = self
            .space
            .take_whole(goal, pages)
            .or_else(|| self.space.take_run(goal, pages))
            .expect("the caller has made sure that there is room");
        self.next = extent.first + extent.pages;
        self.change_bitmap(extent);
        extent
    }

    fn take_record(&mut self) -> u64 {
        let record = self.table.take();
        self.change(self.record_page(record));
        record
    }
}

impl FileSystem for Ntfs {
    fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn fits(&self, bytes: u64) -> bool {
        bytes.div_ceil(self.page_bytes) + 2 <= self.space.free() && self.table.records.free() >= 2
    }

    fn make_directory(&mut self) -> usize {
        let record = self.take_record();
        self.directories.push((record, Entries::default()));
        self.directories.len() - 1
    }

    fn create(&mut self, directory: usize) -> File {
        let per_page = (self.page_bytes / ENTRY_BYTES).max(1);
        let entry = self.directories[directory].1.add();
        if self.directories[directory].1.lacks(entry, per_page) {
            let page = self.take(self.next, 1).first;
            self.directories[directory].1.pages.push(page);
            self.change(self.record_page(self.directories[directory].0));
        }
        self.change(self.directories[directory].1.page(entry, per_page));
        File {
            directory,
            slot: self.take_record(),
            entry,
            ..File::default()
        }
    }

    fn grow(&mut self, file: &mut File, pages: u64) {
        if file.bytes <= RESIDENT_BYTES {
            return;
        }
        let mut missing = pages - file.pages();
        while missing > 0 {
            let extent = self.take(file.end().unwrap_or(self.next), missing);
            missing -= extent.pages;
            file.extend(extent);
        }
    }

    fn touch(&mut self, file: &File) {
        self.change(self.record_page(file.slot));
    }

    fn put(&mut self, piece: Extent, _: &mut Disk) {
        for page in piece.first..piece.first + piece.pages {
            self.data.add(page, self.write_backs);
        }
    }

    fn written(&mut self, pages: u64, disk: &mut Disk) {
        if self.commits.count_pages(pages) {
            self.sync(disk);
        }
    }

    fn remove(&mut self, file: File, disk: &mut Disk) {
        self.touch(&file);
        let per_page = (self.page_bytes / ENTRY_BYTES).max(1);
        self.change(
            self.directories[file.directory]
                .1
                .page(file.entry, per_page),
        );
        self.directories[file.directory].1.remove(file.entry);
        for extent in &file.extents {
            self.space.release(extent.first, extent.pages);
            self.change_bitmap(*extent);
        }
        self.table.records.release(file.slot, 1);
        self.written(1, disk);
    }

    fn sync(&mut self, disk: &mut Disk) {
        self.commits.begin();
        self.write_backs += 1;
        // `latest` is `None` if there were too few write-backs for any page to have waited long enough.
        let latest = self.write_backs.checked_sub(self.wait_commits);
        if let Some(latest) = latest {
            let due = self.data.due(latest).into_iter();
            disk.write_all(due.filter(|page| self.space.is_taken(*page)));
        }
        if self.dirty.is_empty() {
            return;
        }
        self.log.append(self.page_bytes, disk);
        if let Some(latest) = latest {
            disk.write_all(self.dirty.due(latest));
        }
        if self.commits.count_commit() {
            self.log.write_position(disk);
        }
    }

    fn format(&mut self, disk: &mut Disk) {
        self.clear();
        disk.write(0, self.next);
        disk.write(
            self.table.first,
            (16 * RECORD_BYTES).div_ceil(self.page_bytes),
        );
        disk.write(self.log.first, self.log.pages);
    }
}
