//! The words in which an FTL says what flash has to do.

use alloc::vec::Vec;

use crate::nand::Ppn;

/// What a flash operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Read one page from the cells.
    Read,
    /// Program one page.
    Program,
    /// Erase one block.
    Erase,
}

/// On whose behalf an operation runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Data the host or the buffer asked for.
    Host,
    /// Padding of a cluster.
    Pad,
    /// Moving valid pages: garbage collection, merging.
    Copy,
    /// Mapping information: summary pages, translation pages.
    Map,
    /// Wear levelling.
    Wear,
}

impl Cause {
    /// All causes, in the order of results.
    pub const ALL: [Self; 5] = [Self::Host, Self::Pad, Self::Copy, Self::Map, Self::Wear];

    /// The word used in metric names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Pad => "pad",
            Self::Copy => "copy",
            Self::Map => "map",
            Self::Wear => "wear",
        }
    }
}

/// What crosses the die's data bus for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// Nothing: erases, and copies inside a plane.
    None,
    /// One page.
    Page,
    /// One sector: the summary of a block.
    Sector,
    /// Out of one plane and into another: two pages.
    TwoPages,
}

/// One flash operation, or a run of equal ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// On whose behalf.
    pub cause: Cause,
    /// What crosses the bus.
    pub transfer: Transfer,
    /// How many of them, one after the other.
    pub count: u32,
    /// The page it reads or programs, the first page of the block it erases. Of a run (`count` above 1)
    /// nothing.
    pub at: Ppn,
}

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

/// A merge, said beside the operations it consists of.
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

/// The operations of one step, in *lanes*: those of a lane run one after the other, lanes side by side.
///
/// Reused from step to step, so that the per-page path does not allocate.
#[derive(Debug, Default)]
pub struct Operations {
    list: Vec<Operation>,
    /// Where each lane but the last ends in `list`.
    lane_ends: Vec<usize>,
    merges: Vec<Merge>,
    /// Runs are spelled out.
    detailed: bool,
    /// The die on which the page written leaves an old copy, if that is another one.
    left_die: Option<u32>,
}

impl Operations {
    /// Operations that name every page, for one who carries out what they say; runs cost a step a page.
    #[must_use]
    pub fn detailed() -> Self {
        Self {
            detailed: true,
            ..Self::default()
        }
    }

    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.lane_ends.clear();
        self.merges.clear();
    }

    /// Adds an operation to the present lane.
    #[inline]
    pub fn push(&mut self, kind: Kind, cause: Cause, transfer: Transfer, at: Ppn) {
        self.list.push(Operation {
            kind,
            cause,
            transfer,
            count: 1,
            at,
        });
    }

    /// Adds the moves of `count` pages: each read, then programmed at its new place, crossing the bus as
    /// `transfer` says. `moves` gives the places, from and to; it is asked only where they are wanted.
    #[inline]
    pub fn push_moves(
        &mut self,
        cause: Cause,
        transfer: Transfer,
        count: u32,
        moves: impl Iterator<Item = (Ppn, Ppn)>,
    ) {
        if self.detailed {
            let before = self.list.len();
            for (from, to) in moves {
                self.push(Kind::Read, cause, Transfer::None, from);
                self.push(Kind::Program, cause, transfer, to);
            }
            let named = self.list.len() - before;
            debug_assert!(
                named == 2 * count as usize,
                "{named} / 2 of {count} moves named"
            );
        } else if count > 0 {
            for (kind, transfer) in [(Kind::Read, Transfer::None), (Kind::Program, transfer)] {
                self.list.push(Operation {
                    kind,
                    cause,
                    transfer,
                    count,
                    at: Ppn(0),
                });
            }
        }
    }

    /// Says that the page written leaves an old copy on `die`, which is another one.
    pub fn leave_die(&mut self, die: u32) {
        self.left_die = Some(die);
    }

    /// Takes the die on which the page written leaves an old copy.
    pub fn take_left_die(&mut self) -> Option<u32> {
        self.left_die.take()
    }

    /// Takes out all erases: what runs before them stays, lane by lane.
    #[must_use]
    pub fn split_off_erases(&mut self) -> Self {
        let mut erases = Self {
            detailed: self.detailed,
            ..Self::default()
        };
        let mut copies = Self {
            detailed: self.detailed,
            ..Self::default()
        };
        for (number, lane) in self.lanes().enumerate() {
            if number > 0 {
                erases.next_lane();
                copies.next_lane();
            }
            let (ends, begins): (Vec<Operation>, Vec<_>) = lane
                .iter()
                .partition(|operation| operation.kind == Kind::Erase);
            erases.list.extend(ends);
            copies.list.extend(begins);
        }
        core::mem::swap(&mut copies.merges, &mut self.merges);
        *self = copies;
        erases
    }

    /// Says that operations of this step merged a block.
    pub fn push_merge(&mut self, merge: Merge) {
        self.merges.push(merge);
    }

    /// The merges of this step, in their order.
    #[must_use]
    #[inline]
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// What follows runs at the same time as what came before.
    pub fn next_lane(&mut self) {
        self.lane_ends.push(self.list.len());
    }

    /// All operations, lane after lane.
    #[must_use]
    #[inline]
    pub fn all(&self) -> &[Operation] {
        &self.list
    }

    /// Whether there is only one lane.
    #[must_use]
    #[inline]
    pub fn is_single_lane(&self) -> bool {
        self.lane_ends.is_empty()
    }

    /// The lanes, in order; a lane may be empty.
    pub fn lanes(&self) -> impl Iterator<Item = &[Operation]> {
        let ends = self.lane_ends.iter().copied().chain([self.list.len()]);
        let starts = [0].into_iter().chain(self.lane_ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &self.list[start..end])
    }
}

/// How many operations of each kind and cause were done, and which merges they were part of.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Page reads by [`Cause::ALL`] order.
    pub reads: [u64; 5],
    /// Page programs by [`Cause::ALL`] order.
    pub programs: [u64; 5],
    /// Block erases by [`Cause::ALL`] order.
    pub erases: [u64; 5],
    /// Merges by [`MergeKind::ALL`] order.
    pub merges: [u64; 3],
    /// Merges by [`MergeCause::ALL`] order.
    pub merge_causes: [u64; 3],
    /// Pages read and programmed elsewhere by merges.
    pub merge_copies: u64,
    /// Blocks erased by merges.
    pub merge_erases: u64,
}

impl Tally {
    /// Counts `operations`.
    #[inline]
    pub fn add(&mut self, operations: &Operations) {
        for operation in operations.all() {
            let row = match operation.kind {
                Kind::Read => &mut self.reads,
                Kind::Program => &mut self.programs,
                Kind::Erase => &mut self.erases,
            };
            row[operation.cause as usize] += u64::from(operation.count);
        }
        for merge in operations.merges() {
            self.merges[merge.kind as usize] += 1;
            self.merge_causes[merge.cause as usize] += 1;
            self.merge_copies += u64::from(merge.copies);
            self.merge_erases += u64::from(merge.erases);
        }
    }
}
