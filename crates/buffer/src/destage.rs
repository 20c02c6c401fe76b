//! The destage record: one type for everything that a scheme can ask the flash to program.
//!
//! A [`Destage`] is a single page, a padded cluster, a batch with one page per die, or a set of pages that are
//! written back and stay in the buffer. The code that receives records therefore does not depend on the scheme.

use alloc::vec::Vec;

use destage_base::Lpn;

/// A slot for one page in the buffer's RAM, counted from 0. A caller that moves page contents stores the contents at
/// this index.
///
/// A page keeps its slot until its program has ended. While requests wait for room, slot numbers can therefore exceed
/// the capacity. A table by slot has to grow when a page with a higher slot number is inserted. The lists of
/// [`order`](crate::order) do so. Free slots are used again before new slot numbers are assigned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot(pub u32);

/// The reason why pages leave the buffer or are written back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DestageCause {
    /// The buffer needed room.
    Evict,
    /// The host issued a flush: all its writes have to be durable.
    Flush,
    /// The run ended.
    Drain,
    /// The device was idle.
    Idle,
    /// The write bypassed the buffer.
    Bypass,
    /// The host issued a write with FUA: this write has to be durable.
    Fua,
    /// The scheme programs pages as soon as they are written.
    Eager,
}

impl DestageCause {
    /// All causes, in the order in which results list them.
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

/// The relation between the pages of one record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Grouping {
    /// One page, or the pages of one host request. They are issued together, and their order has no effect.
    #[default]
    Pages,
    /// The pages of one logical block, which are programmed in ascending order together with their padding.
    Cluster,
    /// At most one page per die; the pages are issued in parallel.
    Batch,
}

/// A page of a record whose contents come from the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DirtyPage {
    /// The logical page number.
    pub page: Lpn,
    /// The slot that holds the contents when the record is issued. No other page uses the slot before the program
    /// completes. The exception is a buffer whose slots become free when programs are issued.
    pub slot: Slot,
}

/// The source of the contents of a page that is programmed to complete a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PadContent {
    /// The copy on flash is read first.
    Read,
    /// The page has contents on flash, but no read is charged, as if its contents were in RAM
    /// (`pad_charge_reads = false`).
    AtHand,
    /// The page was never written, and a filler is programmed.
    Filler,
}

/// A page programmed only to complete a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pad {
    /// The logical page number.
    pub page: Lpn,
    /// The source of the page's contents.
    pub content: PadContent,
}

/// One destage: the pages that leave the buffer, or are written back, in one step.
#[derive(Clone, Debug)]
pub struct Destage {
    /// The reason why the pages are destaged.
    pub cause: DestageCause,
    /// How the pages belong together.
    pub grouping: Grouping,
    /// Whether the pages stay in the buffer and become clean (a write-back). Otherwise they leave the buffer.
    pub retain: bool,
    /// The dirty pages, in the order in which they are issued. The list is never empty.
    pub pages: Vec<DirtyPage>,
    /// The padding pages in ascending order. All reads for padding precede the programs. Then `pages` and padding
    /// pages are programmed together, in page order.
    pub pads: Vec<Pad>,
}
