//! The destage record: everything a scheme can ask of the flash, in one type.
//!
//! A single page, a padded cluster, a batch of one page per die, a round of write-backs whose pages stay: each is a [`Destage`], so that the code
//! downstream does not depend on the scheme.

use alloc::vec::Vec;

use destage_base::Lpn;

/// A place in the buffer's RAM, counted from 0. Real bytes, where there are any, live at this index.
///
/// A page whose program has not ended keeps its slot, so while requests wait for room there are more slots than the capacity has pages:
/// a table by slot grows when a page with a higher one is inserted, as the lists of [`order`](crate::order) do. Slots that have become free
/// are used again first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// Why pages leave or are written back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestageCause {
    /// Room was needed.
    Evict,
    /// The host asked for durability of everything.
    Flush,
    /// The end of the run.
    Drain,
    /// The device had nothing else to do.
    Idle,
    /// The write never entered the buffer.
    Bypass,
    /// The host asked for durability of this one write.
    Fua,
    /// The scheme has pages programmed as soon as they were written.
    Eager,
}

impl DestageCause {
    /// All causes, in the order of results.
    pub const ALL: [Self; 7] = [
        Self::Evict,
        Self::Flush,
        Self::Drain,
        Self::Idle,
        Self::Bypass,
        Self::Fua,
        Self::Eager,
    ];

    /// The word used in logs and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Evict => "evict",
            Self::Flush => "flush",
            Self::Drain => "drain",
            Self::Idle => "idle",
            Self::Bypass => "bypass",
            Self::Fua => "fua",
            Self::Eager => "eager",
        }
    }
}

/// How the pages of one record belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grouping {
    /// One page, or the pages of one host request: they are issued together, and their order does not matter.
    #[default]
    Pages,
    /// Pages of one logical block, to be programmed in ascending order, pads included.
    Cluster,
    /// At most one page per die, issued side by side.
    Batch,
}

/// One page of a record that carries data from the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirtyPage {
    /// Which page.
    pub page: Lpn,
    /// Where its bytes are when the record is issued; no other page takes the slot before the program
    /// completes, unless slots are released at issue.
    pub slot: Slot,
}

/// The source of a page's contents that is programmed to complete a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PadContent {
    /// Its newest copy is read from flash first.
    Read,
    /// The newest copy is at hand, and no read is charged for it.
    AtHand,
    /// It was never written: a filler is programmed.
    Filler,
}

/// A page programmed only to complete a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pad {
    /// Which page.
    pub page: Lpn,
    /// Where its contents come from.
    pub content: PadContent,
}

/// One destage: the pages that leave the buffer, or are written back, in one step.
#[derive(Clone, Debug)]
pub struct Destage {
    /// Why.
    pub cause: DestageCause,
    /// How the pages belong together.
    pub grouping: Grouping,
    /// The pages stay in the buffer and become clean (write-back) instead of leaving it.
    pub retain: bool,
    /// The dirty pages in the order they are issued. Never empty.
    pub pages: Vec<DirtyPage>,
    /// Padding, ascending; programmed in page order among `pages`. Reads precede all programs.
    pub pads: Vec<Pad>,
}
