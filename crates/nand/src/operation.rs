//! Flash operations as an FTL describes them: the physical page, its contents, and the use of its block.

mod detail;
mod merge;
mod tally;
mod tidy;
mod zones;

use alloc::vec::Vec;
use core::ops::Range;

use destage_base::Lpn;

pub use self::detail::{Content, Detail, Purpose, Role};
pub use self::merge::{Merge, MergeCause, MergeKind};
pub use self::tally::Tally;
use crate::array::Ppn;

/// The kinds of flash operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Read one page from the cells.
    Read,
    /// Program one page.
    Program,
    /// Erase one block.
    Erase,
}

/// The reason why an operation is done. Operations are counted by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Data that the host or the buffer reads or writes.
    Host,
    /// Padding: pages that complete a cluster, and fillers.
    Pad,
    /// Moves of valid pages: garbage collection and merges.
    Copy,
    /// Metadata: summary pages, pages of the map or of its journal, and the drive's own data.
    Map,
    /// Wear levelling.
    Wear,
    /// Repair of blocks during a mount.
    Mount,
}

impl Cause {
    /// All causes, in the order in which results list them.
    pub const ALL: [Self; 6] = [
        Self::Host,
        Self::Pad,
        Self::Copy,
        Self::Map,
        Self::Wear,
        Self::Mount,
    ];

    /// The word used in metric names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Pad => "pad",
            Self::Copy => "copy",
            Self::Map => "map",
            Self::Wear => "wear",
            Self::Mount => "mount",
        }
    }
}

/// The data that cross the bus of the die for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// Nothing: an erase, or a copy inside a plane.
    None,
    /// One page.
    Page,
    /// One sector: the summary of a block, or a spare area.
    Sector,
    /// Two pages: out of one plane and into another.
    TwoPages,
}

/// One flash operation, or a row of equal operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// The kind of operation.
    pub kind: Kind,
    /// The cause of the operation.
    pub cause: Cause,
    /// The data that cross the bus for the operation.
    pub transfer: Transfer,
    /// Number of equal operations that this value stands for, one after the other; 1 for a single operation.
    pub count: u32,
    /// Whether the cells hold one bit, in flash whose cells could hold more ([`Operations::hold_one_bit`]).
    pub one_bit: bool,
    /// The page that is read or programmed, or the first page of the block that is erased. The value has no meaning if
    /// `count` is above 1.
    pub at: Ppn,
}

impl Operation {
    /// One operation on cells that hold all their bits.
    #[inline(always)]
    #[must_use]
    pub fn one(kind: Kind, cause: Cause, transfer: Transfer, at: Ppn) -> Self {
        Self {
            kind,
            cause,
            transfer,
            count: 1,
            one_bit: false,
            at,
        }
    }
}

/// The lengths of the lists of a step at one moment. With the mark, later entries can be removed again. See
/// [`Operations::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    list: usize,
    lane_ends: usize,
    merges: usize,
    collections: usize,
    left: usize,
}

/// The operations of one step on one die, divided into *lanes*. The operations of a lane run one after the other, and
/// the lanes run in parallel.
///
/// The caller reuses the value from step to step, so that the path of a page request does not allocate.
#[derive(Clone, Debug)]
pub struct Operations {
    list: Vec<Operation>,
    /// The end of each lane in `list`, except that of the last lane.
    lane_ends: Vec<usize>,
    merges: Vec<Merge>,
    /// The garbage collections that a page operation contains: the places of their operations in `list`.
    collections: Vec<Range<usize>>,
    /// Whether equal operations in a row are stored as single operations, each on one page or block.
    is_spelled_out: bool,
    /// Whether every operation also has an entry in `details`.
    is_detailed: bool,
    details: Vec<Detail>,
    /// The logical page that the host reads or writes, for the details of operations.
    page: Lpn,
    /// The blocks of other dies that hold old copies of pages that this step writes or moves. An entry is the die and
    /// the first page of the block.
    left: Vec<(u32, Ppn)>,
    /// Whether the layer has no garbage to collect on the die of this step.
    is_tidy: bool,
}

impl Default for Operations {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            lane_ends: Vec::new(),
            merges: Vec::new(),
            collections: Vec::new(),
            is_spelled_out: false,
            is_detailed: false,
            details: Vec::new(),
            page: Lpn(0),
            left: Vec::new(),
            is_tidy: false,
        }
    }
}

impl Operations {
    /// Operations that name every page and its contents, for a caller that carries out the operations on bytes. Every
    /// page of a run is then added on its own, which costs simulation time.
    #[must_use]
    pub fn detailed() -> Self {
        Self {
            is_detailed: true,
            ..Self::spelled_out()
        }
    }

    /// Operations that name every page, but not its contents, for a caller that computes the time of each operation.
    /// Every page of a run is then added on its own, which costs simulation time.
    #[must_use]
    pub fn spelled_out() -> Self {
        Self {
            is_spelled_out: true,
            ..Self::default()
        }
    }

    /// Removes all operations, merges, collections and noted old copies.
    #[inline]
    pub fn clear(&mut self) {
        self.list.clear();
        self.lane_ends.clear();
        self.merges.clear();
        self.collections.clear();
        self.left.clear();
    }

    /// Sets the logical page for the host's reads and writes that are added from now on.
    #[inline]
    pub fn set_page(&mut self, page: Lpn) {
        self.page = page;
    }

    #[inline(always)]
    fn push(&mut self, operation: Operation, detail: impl FnOnce(Lpn) -> Detail) {
        self.list.push(operation);
        if self.is_detailed {
            let detail = detail(self.page);
            self.keep(detail);
        }
    }

    /// Out of line, because a caller that only counts operations never calls it.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, detail: Detail) {
        // `clear` does not remove details, so that it costs nothing for a caller that only counts operations. Details
        // of an earlier step are removed here.
        self.details.truncate(self.list.len() - 1);
        self.details.push(detail);
    }

    #[inline]
    fn push_read(&mut self, cause: Cause, transfer: Transfer, at: Ppn, content: Content) {
        let operation = Operation::one(Kind::Read, cause, transfer, at);
        self.push(operation, |_| Detail {
            content,
            purpose: None,
        });
    }

    /// Adds the host's read of the [page](Operations::set_page), at the physical page `at`.
    #[inline]
    pub fn push_host_read(&mut self, at: Ppn) {
        let operation = Operation::one(Kind::Read, Cause::Host, Transfer::Page, at);
        self.push(operation, |page| Detail {
            content: Content::Host(page),
            purpose: None,
        });
    }

    /// Adds a host's read of a logical page that has no contents. The die transfers zeros over the bus.
    pub fn push_read_of_zeros(&mut self) {
        self.push_read(Cause::Host, Transfer::Page, Ppn(0), Content::None);
    }

    /// Adds the read of page `map_page` of the map, at the physical page `at`.
    pub fn push_map_read(&mut self, at: Ppn, map_page: u32) {
        self.push_read(Cause::Map, Transfer::Page, at, Content::Map(map_page));
    }

    /// Adds the read of a spare area that holds mapping information.
    pub fn push_spare_read(&mut self, at: Ppn) {
        self.push_read(Cause::Map, Transfer::Sector, at, Content::Spare);
    }

    /// Adds the program of the [page](Operations::set_page) that the host writes, in a block whose use is `purpose`.
    #[inline(always)]
    pub fn push_host_program(&mut self, cause: Cause, at: Ppn, purpose: impl FnOnce() -> Purpose) {
        let operation = Operation::one(Kind::Program, cause, Transfer::Page, at);
        self.push(operation, |page| Detail {
            content: Content::Host(page),
            purpose: Some(purpose()),
        });
    }

    /// Adds the program of a filler: a page without contents, programmed because the pages of a block have to be
    /// programmed in order.
    pub fn push_filler(&mut self, at: Ppn, purpose: impl FnOnce() -> Purpose) {
        let operation = Operation::one(Kind::Program, Cause::Pad, Transfer::Page, at);
        self.push(operation, |_| Detail {
            content: Content::Filler,
            purpose: Some(purpose()),
        });
    }

    /// Adds the program of a page that the drive uses itself, such as the parity of other pages.
    pub fn push_own(&mut self, at: Ppn, purpose: impl FnOnce() -> Purpose) {
        let operation = Operation::one(Kind::Program, Cause::Map, Transfer::Page, at);
        self.push(operation, |_| Detail {
            content: Content::Summary,
            purpose: Some(purpose()),
        });
    }

    /// Adds the program of page `map_page` of the map, at the physical page `at`.
    pub fn push_map_program(&mut self, at: Ppn, map_page: u32) {
        let operation = Operation::one(Kind::Program, Cause::Map, Transfer::Page, at);
        self.push(operation, |_| Detail {
            content: Content::Map(map_page),
            purpose: Some(Purpose::shared(Role::Map)),
        });
    }

    /// Adds the program of a block's summary page.
    pub fn push_summary(&mut self, at: Ppn, purpose: impl FnOnce() -> Purpose) {
        let operation = Operation::one(Kind::Program, Cause::Map, Transfer::Sector, at);
        self.push(operation, |_| Detail {
            content: Content::Summary,
            purpose: Some(purpose()),
        });
    }

    /// Adds the erase of the block whose first page is `first`.
    #[inline]
    pub fn push_erase(&mut self, cause: Cause, first: Ppn) {
        let operation = Operation::one(Kind::Erase, cause, Transfer::None, first);
        self.push(operation, |_| Detail {
            content: Content::None,
            purpose: None,
        });
    }

    /// Adds the copy of one page: a read at `from` and a program at `to`. `transfer` says which data cross the bus.
    #[inline]
    pub fn push_copy(
        &mut self,
        cause: Cause,
        transfer: Transfer,
        from: Ppn,
        to: Ppn,
        purpose: impl FnOnce() -> Purpose,
    ) {
        self.push_read(cause, Transfer::None, from, Content::Copy(from));
        self.push_program_of_copy(cause, transfer, from, to, purpose);
    }

    /// Adds only the program of [`Operations::push_copy`], for a page that was read together with another page.
    #[inline]
    pub fn push_program_of_copy(
        &mut self,
        cause: Cause,
        transfer: Transfer,
        from: Ppn,
        to: Ppn,
        purpose: impl FnOnce() -> Purpose,
    ) {
        let operation = Operation::one(Kind::Program, cause, transfer, to);
        self.push(operation, |_| Detail {
            content: Content::Copy(from),
            purpose: Some(purpose()),
        });
    }

    /// Adds the move of one page: a read at `from`, and a program at `to` in a block whose use is `purpose`. The read
    /// is on the die `die`; on the die of this step if `die` is `None`. If `is_read` is set, the page was read
    /// together with the page moved before, and no read is added. The time of the read counts for this step, even if
    /// another die reads.
    #[inline]
    pub fn push_move(
        &mut self,
        (cause, transfer): (Cause, Transfer),
        (die, from): (Option<u32>, Ppn),
        is_read: bool,
        (to, purpose): (Ppn, Purpose),
    ) {
        let content = match die {
            None => Content::Copy(from),
            Some(die) => Content::CopyFrom(die, from),
        };
        if !is_read {
            self.push_read(cause, Transfer::None, from, content);
        }
        let operation = Operation::one(Kind::Program, cause, transfer, to);
        self.push(operation, |_| Detail {
            content,
            purpose: Some(purpose),
        });
    }

    /// Adds the copies of `count` pages to a block whose use is `purpose`. Each page is read and then programmed at
    /// its destination. `transfer` says which data cross the bus. `places` yields the source and the destination of
    /// each page, and is used only if operations are [spelled out](Operations::spelled_out).
    #[inline]
    pub fn push_copies(
        &mut self,
        cause: Cause,
        transfer: Transfer,
        count: u32,
        purpose: Purpose,
        places: impl Iterator<Item = (Ppn, Ppn)>,
    ) {
        if self.is_spelled_out {
            let before = self.list.len();
            for (from, to) in places {
                self.push_copy(cause, transfer, from, to, || purpose);
            }
            let named = self.list.len() - before;
            debug_assert!(
                named == 2 * count as usize,
                "{named} / 2 of {count} copies named"
            );
        } else if count > 0 {
            for (kind, transfer) in [(Kind::Read, Transfer::None), (Kind::Program, transfer)] {
                self.list.push(Operation {
                    count,
                    ..Operation::one(kind, cause, transfer, Ppn(0))
                });
            }
        }
    }

    /// Completes the operations added since `mark`, if operations name every page. `left_out` gives the fillers that
    /// have to be programmed before a page; their programs are added before the program of this page, in blocks whose
    /// use is `purpose`. A read is removed if `together` says that its page is read together with the page of the
    /// read before.
    pub fn complete_since(
        &mut self,
        mark: Mark,
        purpose: Purpose,
        mut left_out: impl FnMut(Ppn, &mut Vec<Ppn>),
        together: impl Fn(Ppn, Ppn) -> bool,
    ) {
        if !self.is_spelled_out {
            return;
        }
        let details = match self.is_detailed {
            true => self.details[mark.list..self.list.len()].to_vec(),
            false => Vec::new(),
        };
        let (mut fillers, mut last) = (Vec::new(), None);
        for (index, operation) in self.list.split_off(mark.list).into_iter().enumerate() {
            if operation.kind == Kind::Program {
                left_out(operation.at, &mut fillers);
                for filler in fillers.drain(..) {
                    self.push_filler(filler, || purpose);
                }
            } else if operation.kind == Kind::Read {
                let before = last.replace(operation.at);
                if before.is_some_and(|before| together(before, operation.at)) {
                    continue;
                }
            }
            self.push(operation, |_| details[index]);
        }
    }

    /// Sets `one_bit` of all operations from number `first` on. `holds` says whether the cells of a physical page
    /// hold one bit.
    pub fn hold_one_bit(&mut self, first: usize, holds: impl Fn(Ppn) -> bool) {
        for operation in &mut self.list[first..] {
            operation.one_bit = holds(operation.at);
        }
    }

    /// Notes that a page that this step writes or moves has an old copy on another die. The old copy is on `die`, in
    /// the block whose first page is `first`.
    pub fn leave(&mut self, die: u32, first: Ppn) {
        if !self.left.contains(&(die, first)) {
            self.left.push((die, first));
        }
    }

    /// Removes and returns one of the blocks noted by [`Operations::leave`]: the die, and the first page of the
    /// block.
    pub fn take_left(&mut self) -> Option<(u32, Ppn)> {
        self.left.pop()
    }

    /// The first page of each block that these operations erase.
    pub fn erased(&self) -> impl Iterator<Item = Ppn> + '_ {
        let erases = self.list.iter().filter(|of| of.kind == Kind::Erase);
        erases.map(|erase| erase.at)
    }

    /// Removes, in each lane, the first erase and all operations after it, because these operations may program the
    /// erased blocks. Returns the removed operations.
    #[must_use]
    pub fn split_off_erases(&mut self) -> Self {
        debug_assert!(self.collections.is_empty());
        let empty = || Self {
            is_spelled_out: self.is_spelled_out,
            is_detailed: self.is_detailed,
            ..Self::default()
        };
        let (mut copies, mut erases) = (empty(), empty());
        let mut lane_ends = self.lane_ends.iter().peekable();
        let mut is_behind = false;
        for (index, operation) in self.list.iter().enumerate() {
            while lane_ends.next_if(|end| **end <= index).is_some() {
                copies.next_lane();
                erases.next_lane();
                is_behind = false;
            }
            is_behind |= operation.kind == Kind::Erase;
            let part = match is_behind {
                true => &mut erases,
                false => &mut copies,
            };
            part.list.push(*operation);
            part.details.extend(self.details.get(index).copied());
        }
        copies.merges = core::mem::take(&mut self.merges);
        copies.left = core::mem::take(&mut self.left);
        debug_assert!(
            copies.left.is_empty() || erases.list.iter().all(|of| of.kind == Kind::Erase),
            "the operations after an erase do not leave old copies on other dies"
        );
        *self = copies;
        erases
    }

    /// Inserts an operation without contents at a position where no layer would add it.
    #[cfg(test)]
    pub(crate) fn insert_for_test(&mut self, index: usize, kind: Kind, at: Ppn) {
        let operation = Operation {
            kind,
            cause: Cause::Copy,
            transfer: Transfer::None,
            count: 1,
            one_bit: false,
            at,
        };
        let detail = Detail {
            content: Content::None,
            purpose: None,
        };
        self.list.insert(index, operation);
        self.details.insert(index, detail);
    }

    /// Removes an operation that every layer would add.
    #[cfg(test)]
    pub(crate) fn remove_for_test(&mut self, index: usize) {
        self.list.remove(index);
        self.details.remove(index);
    }

    /// The present lengths of the lists, for [`Operations::go_back`].
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            list: self.list.len(),
            lane_ends: self.lane_ends.len(),
            merges: self.merges.len(),
            collections: self.collections.len(),
            left: self.left.len(),
        }
    }

    /// Removes the operations, lanes, merges, collections and noted old copies added since `mark`.
    pub fn go_back(&mut self, mark: Mark) {
        self.list.truncate(mark.list);
        self.lane_ends.truncate(mark.lane_ends);
        self.merges.truncate(mark.merges);
        self.collections.truncate(mark.collections);
        self.left.truncate(mark.left);
    }

    /// Notes that operations of this step merged a block.
    pub fn push_merge(&mut self, merge: Merge) {
        self.merges.push(merge);
    }

    /// The merges of this step, in the order in which they were added.
    #[must_use]
    #[inline]
    pub fn merges(&self) -> &[Merge] {
        &self.merges
    }

    /// Notes that the operations from number `first` on are a garbage collection, which is a part of a page operation.
    /// After this, no operation before the end of the collection may be added or removed.
    pub fn push_collection(&mut self, first: usize) {
        self.collections.push(first..self.list.len());
    }

    /// The garbage collections that a page operation contains, each as the numbers of its operations.
    #[must_use]
    #[inline]
    pub fn collections(&self) -> &[Range<usize>] {
        &self.collections
    }

    /// Begins a new lane. The operations added from now on run in parallel with the operations of earlier lanes.
    pub fn next_lane(&mut self) {
        self.lane_ends.push(self.list.len());
    }

    /// All operations, lane after lane.
    #[must_use]
    #[inline]
    pub fn all(&self) -> &[Operation] {
        &self.list
    }

    /// The details of the operations of [`Operations::all`], one for each operation; empty unless the operations
    /// are [detailed](Operations::detailed).
    #[must_use]
    pub fn details(&self) -> &[Detail] {
        let known = self.list.len().min(self.details.len());
        &self.details[..known]
    }

    /// The [detailed](Operations::detailed) operations, each with the number of its lane.
    pub fn commands(&self) -> impl Iterator<Item = (u32, &Operation, &Detail)> {
        let mut lane = 0;
        let named = self.list.iter().zip(&self.details).enumerate();
        named.map(move |(index, (operation, detail))| {
            while self.lane_ends.get(lane).is_some_and(|end| *end <= index) {
                lane += 1;
            }
            (lane as u32, operation, detail)
        })
    }

    /// Whether there is only one lane.
    #[must_use]
    #[inline]
    pub fn is_single_lane(&self) -> bool {
        self.lane_ends.is_empty()
    }

    /// The operations of each lane, in the order of the lanes. A lane may be empty.
    pub fn lanes(&self) -> impl Iterator<Item = &[Operation]> {
        let ends = self.lane_ends.iter().copied().chain([self.list.len()]);
        let starts = [0].into_iter().chain(self.lane_ends.iter().copied());
        starts.zip(ends).map(|(start, end)| &self.list[start..end])
    }
}
