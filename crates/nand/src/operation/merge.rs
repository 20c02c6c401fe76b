//! Merges. A layer reports a merge in addition to the operations of which it consists.

/// How a merge brings the pages of a logical block together in one block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeKind {
    /// The log block becomes the data block, and no page is copied.
    Switch,
    /// The missing pages are copied to the log block, after its own pages. The log block then becomes the data block.
    Partial,
    /// All pages are copied to a new block.
    Full,
}

impl MergeKind {
    /// All kinds, in the order in which results list them.
    pub const ALL: [Self; 3] = [Self::Switch, Self::Partial, Self::Full];

    /// The word used in metric names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}

/// The reason why a merge was done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeCause {
    /// The written page could not be stored in the log block of the merged logical block.
    OwnLog,
    /// Another logical block needed free pages in the log.
    Room,
    /// The merge was done before it was needed.
    Eager,
}

impl MergeCause {
    /// All causes, in the order in which results list them.
    pub const ALL: [Self; 3] = [Self::OwnLog, Self::Room, Self::Eager];

    /// The word used in metric names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnLog => "own_log",
            Self::Room => "room",
            Self::Eager => "eager",
        }
    }
}

/// A merge, reported in addition to the operations of which it consists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The logical block of the device that was merged.
    pub block: u64,
    /// The kind of the merge.
    pub kind: MergeKind,
    /// The cause of the merge.
    pub cause: MergeCause,
    /// Pages that the merge read and programmed elsewhere.
    pub copies: u32,
    /// Blocks that the merge erased.
    pub erases: u32,
}
