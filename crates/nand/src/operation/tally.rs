//! `Tally`: how many operations there were.

use super::{Cause, Kind, Merge, Operation, Operations};

/// How many operations of each kind and cause were done, and which merges they were part of.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Page reads by [`Cause::ALL`] order.
    pub reads: [u64; Cause::ALL.len()],
    /// Page programs by [`Cause::ALL`] order.
    pub programs: [u64; Cause::ALL.len()],
    /// Block erases by [`Cause::ALL`] order.
    pub erases: [u64; Cause::ALL.len()],
    /// Merges by [`MergeKind::ALL`](super::MergeKind::ALL) order.
    pub merges: [u64; 3],
    /// Merges by [`MergeCause::ALL`](super::MergeCause::ALL) order.
    pub merge_causes: [u64; 3],
    /// Pages read and programmed elsewhere by merges.
    pub merge_copies: u64,
    /// Blocks erased by merges.
    pub merge_erases: u64,
}

impl Tally {
    /// The counts since the state `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        fn each<const N: usize>(now: &[u64; N], then: &[u64; N]) -> [u64; N] {
            core::array::from_fn(|row| now[row] - then[row])
        }
        Self {
            reads: each(&self.reads, &earlier.reads),
            programs: each(&self.programs, &earlier.programs),
            erases: each(&self.erases, &earlier.erases),
            merges: each(&self.merges, &earlier.merges),
            merge_causes: each(&self.merge_causes, &earlier.merge_causes),
            merge_copies: self.merge_copies - earlier.merge_copies,
            merge_erases: self.merge_erases - earlier.merge_erases,
        }
    }

    /// Adds the counts of `other`.
    pub fn add_all(&mut self, other: &Self) {
        fn each<const N: usize>(own: &mut [u64; N], other: &[u64; N]) {
            for (own, other) in own.iter_mut().zip(other) {
                *own += other;
            }
        }
        each(&mut self.reads, &other.reads);
        each(&mut self.programs, &other.programs);
        each(&mut self.erases, &other.erases);
        each(&mut self.merges, &other.merges);
        each(&mut self.merge_causes, &other.merge_causes);
        self.merge_copies += other.merge_copies;
        self.merge_erases += other.merge_erases;
    }

    /// Counts `operations`.
    #[inline]
    pub fn add(&mut self, operations: &Operations) {
        for operation in operations.all() {
            self.add_operation(operation);
        }
        self.add_merges(operations.merges());
    }

    /// Counts one operation, or one run of equal ones.
    #[inline]
    fn add_operation(&mut self, operation: &Operation) {
        let row = match operation.kind {
            Kind::Read => &mut self.reads,
            Kind::Program => &mut self.programs,
            Kind::Erase => &mut self.erases,
        };
        row[operation.cause as usize] += u64::from(operation.count);
    }

    /// Counts `merges`.
    #[inline]
    pub fn add_merges(&mut self, merges: &[Merge]) {
        for merge in merges {
            self.merges[merge.kind as usize] += 1;
            self.merge_causes[merge.cause as usize] += 1;
            self.merge_copies += u64::from(merge.copies);
            self.merge_erases += u64::from(merge.erases);
        }
    }
}
