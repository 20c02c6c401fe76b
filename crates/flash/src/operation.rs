//! The words in which an FTL says what flash has to do.

use alloc::vec::Vec;

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
    /// Moving valid pages: cleaning, merging.
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

/// What crosses the element's data bus for an operation.
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

/// One flash operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// On whose behalf.
    pub cause: Cause,
    /// What crosses the bus.
    pub transfer: Transfer,
}

/// The operations of one step, in *lanes*: those of a lane run one after the other, lanes side by side.
///
/// Reused from step to step, so that the per-page path does not allocate.
#[derive(Debug, Default)]
pub struct Operations {
    list: Vec<Operation>,
    /// Where each lane but the last ends in `list`.
    lane_ends: Vec<usize>,
}

impl Operations {
    /// Forgets everything.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.lane_ends.clear();
    }

    /// Adds an operation to the present lane.
    #[inline]
    pub fn push(&mut self, kind: Kind, cause: Cause, transfer: Transfer) {
        self.list.push(Operation {
            kind,
            cause,
            transfer,
        });
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

/// How many operations of each kind and cause were done.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Page reads by [`Cause::ALL`] order.
    pub reads: [u64; 5],
    /// Page programs by [`Cause::ALL`] order.
    pub programs: [u64; 5],
    /// Block erases by [`Cause::ALL`] order.
    pub erases: [u64; 5],
}

impl Tally {
    /// Counts `operations`.
    #[inline]
    pub fn add(&mut self, operations: &[Operation]) {
        for operation in operations {
            let row = match operation.kind {
                Kind::Read => &mut self.reads,
                Kind::Program => &mut self.programs,
                Kind::Erase => &mut self.erases,
            };
            row[operation.cause as usize] += 1;
        }
    }
}
