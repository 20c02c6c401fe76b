//! A journalled file system like ext3. It has block groups, each with bitmaps and an inode table, and a journal.
//!
//! ```text
//! group 0: | super block | group descriptors | block bitmap | inode bitmap | inode table | journal | data ...
//! others:  | copies of both, in some         | block bitmap | inode bitmap | inode table | data ...
//! ```
//!
//! Metadata is written twice. At a commit, the changed pages of metadata are copied to the journal. At a later
//! checkpoint, each of these pages is written to its address outside the journal. Data is written once, in ascending
//! order of addresses, before the commit that makes it part of a file (`data=ordered`, the default of ext3). A data
//! page that is changed several times between two commits is written once. A data page that is freed before the next
//! commit is not written.
//!
//! The sizes are those that `mke2fs` of e2fsprogs 1.39 chooses. A group has as many pages as a page has bits. A group
//! has one inode of 128 bytes for every 8 KiB. The size of the journal depends on the size of the volume. Directories
//! are lists without an index. Files are allocated in the group of their directory (`fs/ext3/ialloc.c`). The search
//! for the first page of a file begins at one of sixteen positions in the group. The number of the process selects
//! the position (`ext3_find_near` in `fs/ext3/inode.c`). Therefore the files of one process are adjacent, and files
//! that different processes make in turn are far apart.

use super::commits::Commits;
use super::space::Space;
use super::{Disk, Entries, Extent, File, FileSystem};
use std::collections::BTreeSet;

const INODE_BYTES: u64 = 128;
const BYTES_PER_INODE: u64 = 8192;
const DESCRIPTOR_BYTES: u64 = 32;
/// Bytes of a directory entry with a name of about 18 characters.
const ENTRY_BYTES: u64 = 28;
/// The number of pages that an inode points to directly.
const DIRECT_PAGES: u64 = 12;
/// The number of positions in a group at which the search for free pages of a new file can begin.
pub const COLOURS: u64 = 16;
/// Bytes of a pointer in an indirect page. `TAG_BYTES` is the size of the tag that a descriptor page of the journal
/// has for each copied page.
const POINTER_BYTES: u64 = 4;
const TAG_BYTES: u64 = 8;

#[derive(Clone, Debug)]
struct Group {
    block_bitmap: u64,
    inode_bitmap: u64,
    inode_table: u64,
    /// The first page after the tables. `end` is the page after the last page of the group.
    data: u64,
    end: u64,
    inodes: Space,
    /// All pages of the group before this page are allocated.
    goal: u64,
    free: u64,
}

#[derive(Clone, Debug)]
struct Directory {
    group: usize,
    inode: u64,
    entries: Entries,
}

/// The journal, and the position at which it is written next.
#[derive(Clone, Debug)]
struct Journal {
    first: u64,
    pages: u64,
    /// The next page to write. The first page of the journal holds its super block.
    head: u64,
    /// The number of pages written since the last checkpoint.
    used: u64,
}

/// A volume with a file system like ext3.
#[derive(Clone, Debug)]
pub struct Ext {
    page_bytes: u64,
    pages: u64,
    group_pages: u64,
    inodes_per_group: u64,
    space: Space,
    groups: Vec<Group>,
    directories: Vec<Directory>,
    journal: Journal,
    /// Data pages that were written to files since the last commit.
    pending: Vec<u64>,
    /// Pages of metadata that were changed since the last commit.
    dirty: BTreeSet<u64>,
    /// Pages of metadata that are committed to the journal, but not yet written to their addresses outside the
    /// journal.
    committed: BTreeSet<u64>,
    commits: Commits,
    processes: Processes,
}

/// The processes, which make files in turn.
#[derive(Clone, Debug)]
struct Processes {
    count: u64,
    /// The number of files made so far.
    made: u64,
}

impl Processes {
    /// The process that makes the next file.
    fn next(&mut self) -> u64 {
        self.made += 1;
        (self.made - 1) % self.count
    }
}

impl Ext {
    /// Creates a volume of `pages` pages. A commit follows every `commit_pages` pages of data, and a checkpoint
    /// follows every `checkpoint_commits` commits. A commit or a checkpoint happens earlier if the journal has too
    /// little space. Returns `None` if `pages` is too small.
    pub fn new(
        pages: u64,
        page_bytes: u64,
        commit_pages: u64,
        checkpoint_commits: u64,
    ) -> Option<Self> {
        let group_pages = (page_bytes * 8).min(pages);
        let inodes_per_page = page_bytes / INODE_BYTES;
        let inodes_per_group = (group_pages * page_bytes / BYTES_PER_INODE)
            .div_ceil(inodes_per_page)
            * inodes_per_page;
        let mut this = Self {
            page_bytes,
            pages,
            group_pages,
            inodes_per_group,
            space: Space::new(0),
            groups: Vec::new(),
            directories: Vec::new(),
            journal: Journal {
                first: 0,
                pages: journal_pages(pages),
                head: 1,
                used: 0,
            },
            pending: Vec::new(),
            dirty: BTreeSet::new(),
            committed: BTreeSet::new(),
            commits: Commits::new(commit_pages, checkpoint_commits),
            processes: Processes { count: 1, made: 0 },
        };
        this.lay_out().then_some(this)
    }

    /// Sets the number of processes that make files in turn; the default is 1.
    pub fn used_by(mut self, processes: u64) -> Self {
        self.processes.count = processes;
        self
    }

    /// Lays out an empty volume. Returns `false` if the first group has no space for the journal and for data.
    fn lay_out(&mut self) -> bool {
        self.space = Space::new(self.pages);
        self.groups.clear();
        self.directories.clear();
        self.pending.clear();
        self.dirty.clear();
        self.committed.clear();
        self.commits.restart();
        self.processes.made = 0;
        let table_pages = self.inodes_per_group * INODE_BYTES / self.page_bytes;
        let descriptor_pages =
            (self.pages.div_ceil(self.group_pages) * DESCRIPTOR_BYTES).div_ceil(self.page_bytes);
        let mut first = 0;
        while first < self.pages {
            let number = self.groups.len() as u64;
            let end = self.pages.min(first + self.group_pages);
            let copies = if has_super_block(number) {
                1 + descriptor_pages
            } else {
                0
            };
            let block_bitmap = first + copies;
            let mut data = block_bitmap + 2 + table_pages;
            if number == 0 {
                self.journal = Journal {
                    first: data,
                    head: 1,
                    used: 0,
                    ..self.journal
                };
                data += self.journal.pages;
            }
            if data >= end {
                // If the last group has no space for data, it is not used. If the only group has no space for data,
                // the volume cannot be created.
                self.space.take(first, end - first);
                return number > 0;
            }
            self.space.take(first, data - first);
            self.groups.push(Group {
                block_bitmap,
                inode_bitmap: block_bitmap + 1,
                inode_table: block_bitmap + 2,
                data,
                end,
                inodes: Space::new(self.inodes_per_group),
                goal: data,
                free: end - data,
            });
            first = end;
        }
        true
    }

    /// The page at which the search for free pages begins, for a new file of `process` in `group`.
    fn goal_for_process(&self, group: usize, process: u64) -> u64 {
        let colour = process % COLOURS * (self.group_pages / COLOURS);
        self.groups[group]
            .goal
            .max(group as u64 * self.group_pages + colour)
    }

    /// The group that contains a page.
    fn group_of(&self, page: u64) -> usize {
        (page / self.group_pages) as usize
    }

    /// The page that contains the descriptor of `group`.
    fn descriptor_page(&self, group: usize) -> u64 {
        1 + group as u64 * DESCRIPTOR_BYTES / self.page_bytes
    }

    fn inode_page(&self, inode: u64) -> u64 {
        let group = &self.groups[(inode / self.inodes_per_group) as usize];
        group.inode_table + inode % self.inodes_per_group * INODE_BYTES / self.page_bytes
    }

    /// Allocates up to `pages` consecutive pages. The search for free pages begins at `goal`.
    fn take(&mut self, goal: u64, pages: u64) -> Extent {
        let extent = self
            .space
            .take_run(goal, pages)
            .expect("the caller has made sure that there is room");
        self.change(extent, |group, extent| {
            group.free -= extent.pages;
            if group.goal == extent.first {
                group.goal = extent.first + extent.pages;
            }
        });
        extent
    }

    fn release(&mut self, extent: Extent) {
        for page in extent.first..extent.first + extent.pages {
            // Metadata in a freed page is no longer needed, so it is not written.
            self.dirty.remove(&page);
            self.committed.remove(&page);
        }
        self.space.release(extent.first, extent.pages);
        self.change(extent, |group, extent| {
            group.free += extent.pages;
            group.goal = group.goal.min(extent.first);
        });
    }

    /// Divides `extent` at the boundaries of groups, and calls `change` for the pages in each group. The block bitmap
    /// and the descriptor of each of these groups become dirty.
    fn change(&mut self, extent: Extent, change: impl Fn(&mut Group, Extent)) {
        let (mut first, end) = (extent.first, extent.first + extent.pages);
        while first < end {
            let index = self.group_of(first);
            let descriptor = self.descriptor_page(index);
            let group = &mut self.groups[index];
            let pages = end.min(group.end) - first;
            change(group, Extent { first, pages });
            self.dirty.extend([group.block_bitmap, descriptor]);
            first += pages;
        }
    }

    /// Allocates the first free inode of `group`. If `group` has none, the next group with a free inode is used.
    fn take_inode(&mut self, group: usize) -> u64 {
        let index = (group..self.groups.len())
            .chain(0..group)
            .find(|index| self.groups[*index].inodes.free() > 0)
            .expect("the caller has made sure that there is an inode");
        let group = &mut self.groups[index];
        let run = group.inodes.take_run(0, 1).expect("one is free");
        let bitmap = group.inode_bitmap;
        let inode = index as u64 * self.inodes_per_group + run.first;
        let descriptor = self.descriptor_page(index);
        self.dirty
            .extend([bitmap, descriptor, self.inode_page(inode)]);
        inode
    }

    /// The number of free inodes.
    fn free_inodes(&self) -> u64 {
        self.groups.iter().map(|group| group.inodes.free()).sum()
    }

    /// The group for a new directory. It is the group of the last directory if that group has at least half of the
    /// average number of free pages of a group. Otherwise it is the group with the most free pages.
    fn group_for_directory(&self) -> usize {
        let last = self.directories.last().map_or(0, |last| last.group);
        let average = self.space.free() / self.groups.len() as u64;
        if self.groups[last].free >= average / 2 {
            return last;
        }
        let emptiest = (0..self.groups.len()).rev();
        emptiest
            .max_by_key(|index| self.groups[*index].free)
            .unwrap_or(last)
    }

    /// Commits: writes data pages to their addresses, then copies changed metadata to the journal.
    fn commit(&mut self, disk: &mut Disk) {
        self.commits.begin();
        disk.write_all(self.space.settle(&mut self.pending));
        if self.dirty.is_empty() {
            return;
        }
        let changed = self.dirty.len() as u64;
        let descriptors = changed.div_ceil(self.page_bytes / TAG_BYTES);
        let pages = descriptors + changed + 1;
        if self.journal.used + pages >= self.journal.pages {
            self.checkpoint(disk);
        }
        // The last page marks the commit as complete. It is therefore written after all other pages of the commit.
        for part in [pages - 1, 1] {
            self.write_journal(part, disk);
        }
        self.committed.append(&mut self.dirty);
        if self.commits.count_commit() {
            self.checkpoint(disk);
        }
    }

    /// Writes `pages` pages to the journal. At the end of the journal, writing continues at the start of the journal.
    fn write_journal(&mut self, pages: u64, disk: &mut Disk) {
        let journal = &mut self.journal;
        journal.used += pages;
        let mut left = pages;
        while left > 0 {
            let part = left.min(journal.pages - journal.head);
            disk.write_unmerged(journal.first + journal.head, part);
            journal.head += part;
            if journal.head == journal.pages {
                journal.head = 1;
            }
            left -= part;
        }
    }

    /// Writes committed metadata to its addresses outside the journal, and updates the super block of the journal.
    fn checkpoint(&mut self, disk: &mut Disk) {
        disk.write_all(std::mem::take(&mut self.committed));
        disk.write(self.journal.first, 1);
        self.journal.used = 0;
    }

    /// The number of changed metadata pages at which a commit begins: a quarter of the pages of the journal.
    fn transaction_pages(&self) -> usize {
        (self.journal.pages / 4) as usize
    }
}

/// The number of journal pages that `ext2fs_default_journal_size` chooses for a volume of `pages` pages.
fn journal_pages(pages: u64) -> u64 {
    match pages {
        ..32_768 => 1024,
        32_768..262_144 => 4096,
        262_144..524_288 => 8192,
        524_288..1_048_576 => 16_384,
        _ => 32_768,
    }
}

/// Whether a group has a copy of the super block. Groups 0 and 1 have one, and all groups whose number is a power of
/// 3, 5 or 7.
fn has_super_block(group: u64) -> bool {
    group <= 1
        || [3, 5, 7].into_iter().any(|base: u64| {
            let mut power = base;
            while power < group {
                power *= base;
            }
            power == group
        })
}

impl FileSystem for Ext {
    fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    fn fits(&self, bytes: u64) -> bool {
        let pages = bytes.div_ceil(self.page_bytes);
        // The file also needs indirect pages, and up to four pages for directories and directory entries.
        let indirect = pages.div_ceil(self.page_bytes / POINTER_BYTES) + 1;
        pages + indirect + 4 <= self.space.free() && self.free_inodes() >= 2
    }

    fn make_directory(&mut self) -> usize {
        let group = self.group_for_directory();
        let inode = self.take_inode(group);
        let group = (inode / self.inodes_per_group) as usize;
        self.directories.push(Directory {
            group,
            inode,
            entries: Entries::default(),
        });
        self.directories.len() - 1
    }

    fn create(&mut self, directory: usize) -> File {
        let per_page = self.page_bytes / ENTRY_BYTES;
        let Directory { group, inode, .. } = self.directories[directory];
        let entry = self.directories[directory].entries.add();
        if self.directories[directory].entries.lacks(entry, per_page) {
            let page = self.take(self.groups[group].goal, 1).first;
            self.directories[directory].entries.pages.push(page);
        }
        let page = self.directories[directory].entries.page(entry, per_page);
        self.dirty.extend([page, self.inode_page(inode)]);
        let process = self.processes.next();
        File {
            directory,
            slot: self.take_inode(group),
            entry,
            process,
            ..File::default()
        }
    }

    fn grow(&mut self, file: &mut File, pages: u64) {
        let pointers = self.page_bytes / POINTER_BYTES;
        let mut held = file.pages();
        while held < pages {
            let group = self.directories[file.directory].group;
            let goal = file
                .end()
                .unwrap_or_else(|| self.goal_for_process(group, file.process));
            // Each step allocates pages up to the next page of the file for which a new indirect page is needed.
            let until = if held < DIRECT_PAGES {
                DIRECT_PAGES
            } else {
                let behind = held - DIRECT_PAGES;
                if behind.is_multiple_of(pointers) {
                    let page = self.take(goal, 1).first;
                    file.indirect.push(page);
                }
                DIRECT_PAGES + (behind / pointers + 1) * pointers
            };
            let goal = file.indirect.last().map_or(goal, |page| goal.max(page + 1));
            let extent = self.take(goal, pages.min(until) - held);
            held += extent.pages;
            file.extend(extent);
            self.dirty.extend(file.indirect.last());
        }
    }

    fn touch(&mut self, file: &File) {
        let page = self.inode_page(file.slot);
        self.dirty.insert(page);
    }

    fn put(&mut self, piece: Extent, _: &mut Disk) {
        self.pending.extend(piece.first..piece.first + piece.pages);
    }

    fn written(&mut self, pages: u64, disk: &mut Disk) {
        let is_due = self.commits.count_pages(pages);
        if is_due || self.dirty.len() >= self.transaction_pages() {
            self.commit(disk);
        }
    }

    fn remove(&mut self, file: File, disk: &mut Disk) {
        self.touch(&file);
        let per_page = self.page_bytes / ENTRY_BYTES;
        let directory = &mut self.directories[file.directory];
        directory.entries.remove(file.entry);
        let page = directory.entries.page(file.entry, per_page);
        self.dirty.insert(page);
        for extent in &file.extents {
            self.release(*extent);
        }
        for page in &file.indirect {
            self.release(Extent {
                first: *page,
                pages: 1,
            });
        }
        let group = (file.slot / self.inodes_per_group) as usize;
        self.groups[group]
            .inodes
            .release(file.slot % self.inodes_per_group, 1);
        self.dirty.insert(self.groups[group].inode_bitmap);
        self.written(1, disk);
    }

    fn sync(&mut self, disk: &mut Disk) {
        self.commit(disk);
    }

    fn format(&mut self, disk: &mut Disk) {
        self.lay_out();
        for group in &self.groups {
            let first = group.block_bitmap;
            disk.write(first, group.data - first);
        }
    }
}

#[cfg(test)]
impl Ext {
    pub(super) fn inode_page_of(&self, file: &File) -> u64 {
        self.inode_page(file.slot)
    }

    pub(super) fn in_journal(&self, page: u64) -> bool {
        (self.journal.first..self.journal.first + self.journal.pages).contains(&page)
    }
}
