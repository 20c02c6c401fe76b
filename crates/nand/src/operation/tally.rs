//! `Tally`: counts of operations and merges.

use super::{Cause, Kind, Merge, Operation, Operations};

/// Counts of operations by kind and cause; counts of merges by kind, and by cause.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Page reads, in the order of [`Cause::ALL`].
    pub reads: [u64; Cause::ALL.len()],
    /// Page programs, in the order of [`Cause::ALL`].
    pub programs: [u64; Cause::ALL.len()],
    /// Block erases, in the order of [`Cause::ALL`].
    pub erases: [u64; Cause::ALL.len()],
    /// Merges, in the order of [`MergeKind::ALL`](super::MergeKind::ALL).
    pub merges: [u64; 3],
    /// Merges, in the order of [`MergeCause::ALL`](super::MergeCause::ALL).
    pub merge_causes: [u64; 3],
    /// Pages that merges read and programmed elsewhere.
    pub merge_copies: u64,
    /// Blocks that merges erased.
    pub merge_erases: u64,
}

impl Tally {
    /// These counts minus the `earlier` counts.
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

    /// Adds `operations`, with their merges, to the counts.
    #[inline]
    pub fn add(&mut self, operations: &Operations) {
        for operation in operations.all() {
            self.add_operation(operation);
        }
        self.add_merges(operations.merges());
    }

    /// Adds one operation, or several equal ones, to the counts.
    #[inline]
    fn add_operation(&mut self, operation: &Operation) {
        let row = match operation.kind {
            Kind::Read => &mut self.reads,
            Kind::Program => &mut self.programs,
            Kind::Erase => &mut self.erases,
        };
        row[operation.cause as usize] += u64::from(operation.count);
    }

    /// Adds `merges` to the counts.
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
