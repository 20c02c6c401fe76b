//! When a file system commits metadata, and when it makes a checkpoint.

/// Counts the pages of data between two commits, and the commits between two checkpoints.
#[derive(Clone, Debug)]
pub(super) struct Commits {
    /// The number of pages of data after which a commit is due. `pages` is the number of pages since the last commit.
    every_pages: u64,
    pages: u64,
    /// The number of commits after which a checkpoint is due. `commits` is the number of commits so far.
    per_checkpoint: u64,
    commits: u64,
}

impl Commits {
    pub fn new(every_pages: u64, per_checkpoint: u64) -> Self {
        Self {
            every_pages,
            pages: 0,
            per_checkpoint,
            commits: 0,
        }
    }

    /// Forgets all pages and commits, because the volume is formatted.
    pub fn restart(&mut self) {
        (self.pages, self.commits) = (0, 0);
    }

    /// Counts pages of data. Returns whether a commit is due.
    pub fn count_pages(&mut self, pages: u64) -> bool {
        self.pages += pages;
        self.pages >= self.every_pages
    }

    /// Counts the pages of data from 0 on again, because a commit begins.
    pub fn begin(&mut self) {
        self.pages = 0;
    }

    /// Counts a commit that has written metadata. Returns whether a checkpoint is due.
    pub fn count_commit(&mut self) -> bool {
        self.commits += 1;
        self.commits.is_multiple_of(self.per_checkpoint)
    }
}
