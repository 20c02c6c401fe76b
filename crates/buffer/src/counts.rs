//! The counts of a buffer.

use destage_base::Ticks;

use crate::destage::DestageCause;

/// The number of padding pages, by the source of their contents.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pads {
    /// Pages read from flash.
    pub read: u64,
    /// Pages that were never written and are programmed as fillers.
    pub filled: u64,
}

/// The number of pages that were dropped without a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Dropped {
    /// Dirty pages that the host trimmed.
    pub trimmed: u64,
    /// Dirty pages that became stale because a write bypassed the buffer.
    pub superseded: u64,
    /// Clean pages. The flash has the same contents.
    pub clean: u64,
}

/// Sums since the buffer was created, and some present values.
///
/// Except while a page is entering,
///
/// `page_writes = write_hits - rewrites_of_clean + destaged + dropped.trimmed + dropped.superseded + dirty`.
///
/// The reason is that each page write has one of three outcomes. It overwrites a dirty copy, or its page is later
/// destaged or dropped, or its page is still dirty in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// The number of page writes, including those that bypass the buffer. It is also the virtual time.
    pub page_writes: u64,
    /// Page reads, hits and misses.
    pub page_reads: u64,
    /// Page writes that found their page resident.
    pub write_hits: u64,
    /// Write hits on a page that was clean, or that was being written back.
    pub rewrites_of_clean: u64,
    /// Page reads served from RAM.
    pub read_hits: u64,
    /// The number of dirty pages destaged, by cause in the order of [`DestageCause::ALL`]. Padding does not count.
    pub destaged_pages: [u64; DestageCause::ALL.len()],
    /// The number of records emitted, by cause in the order of [`DestageCause::ALL`].
    pub records: [u64; DestageCause::ALL.len()],
    /// Padding pages.
    pub pads: Pads,
    /// Pages dropped without a program.
    pub dropped: Dropped,
    /// Present number of resident pages.
    pub resident: u32,
    /// The present number of dirty resident pages. Pages that are being programmed do not count.
    pub dirty: u32,
    /// The largest number of resident pages that were dirty at the same time. It never exceeds the capacity.
    pub dirty_max: u32,
    /// The longest time, in ticks, from the write that made a page dirty until the page was programmed or dropped.
    pub oldest_dirty_max: Ticks,
}

impl Counts {
    /// The counts since the earlier state `earlier`. Present values and maxima are those of `self`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let each = |now: &[u64; DestageCause::ALL.len()], then: &[u64; DestageCause::ALL.len()]| {
            core::array::from_fn(|cause| now[cause] - then[cause])
        };
        Self {
            page_writes: self.page_writes - earlier.page_writes,
            page_reads: self.page_reads - earlier.page_reads,
            write_hits: self.write_hits - earlier.write_hits,
            rewrites_of_clean: self.rewrites_of_clean - earlier.rewrites_of_clean,
            read_hits: self.read_hits - earlier.read_hits,
            destaged_pages: each(&self.destaged_pages, &earlier.destaged_pages),
            records: each(&self.records, &earlier.records),
            pads: Pads {
                read: self.pads.read - earlier.pads.read,
                filled: self.pads.filled - earlier.pads.filled,
            },
            dropped: Dropped {
                trimmed: self.dropped.trimmed - earlier.dropped.trimmed,
                superseded: self.dropped.superseded - earlier.dropped.superseded,
                clean: self.dropped.clean - earlier.dropped.clean,
            },
            resident: self.resident,
            dirty: self.dirty,
            dirty_max: self.dirty_max,
            oldest_dirty_max: self.oldest_dirty_max,
        }
    }

    /// The number of records emitted because room was needed. Papers call it the eviction count.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.records[DestageCause::Evict as usize]
    }

    /// The number of dirty pages destaged, for all causes together.
    #[must_use]
    pub fn destaged(&self) -> u64 {
        self.destaged_pages.iter().sum()
    }

    /// Whether the equation in the description of [`Counts`] holds.
    #[must_use]
    pub fn are_balanced(&self) -> bool {
        self.page_writes + self.rewrites_of_clean
            == self.write_hits
                + self.destaged()
                + self.dropped.trimmed
                + self.dropped.superseded
                + u64::from(self.dirty)
    }
}
