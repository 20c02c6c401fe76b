//! Merges, which layers name beside the operations they consist of.

/// How a merge made one block of several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeKind {
    /// The log block became the data block as it was.
    Switch,
    /// The log block became the data block after the rest of its pages was copied behind its own.
    Partial,
    /// All pages were copied to a new block.
    Full,
}

impl MergeKind {
    /// All kinds, in the order of results.
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

/// Why a merge was due.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeCause {
    /// The block's own log block could not take the page that was written.
    OwnLog,
    /// Another block needed room in the log.
    Room,
    /// Done before it was needed.
    Eager,
}

impl MergeCause {
    /// All causes, in the order of results.
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

/// A merge, named beside the operations it consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merge {
    /// The logical block of the device that was merged.
    pub block: u64,
    /// How.
    pub kind: MergeKind,
    /// Why.
    pub cause: MergeCause,
    /// Pages read and programmed elsewhere for it.
    pub copies: u32,
    /// Blocks erased for it.
    pub erases: u32,
}
