//! Requests of which few are wanted: a request that is in no sample is counted and skipped before it is decoded.

use destage_base::Ticks;
use destage_base::sample::Samples;

use super::{Reader, Stage};
use crate::decode::State;
use crate::error::TraceError;
use crate::format::Encoding;
use crate::request::{Operation, Request};

/// The wanted pages.
#[derive(Clone, Debug)]
pub struct Sieve {
    /// By the number of the page.
    pub samples: Samples,
    /// Sectors of a page: two to the power of this.
    pub page_shift: u32,
}

impl Sieve {
    /// Whether `sectors` sectors from `sector` on, at least one, lie in one page that is in no sample.
    #[inline]
    #[must_use]
    pub fn drops(&self, sector: u64, sectors: u32) -> bool {
        let page = sector >> self.page_shift;
        (sector + u64::from(sectors) - 1) >> self.page_shift == page && !self.samples.has(page)
    }
}

/// Requests of a page each that were passed over. All of them do the same.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Passed {
    /// How many.
    pub requests: u64,
    /// Their sectors.
    pub sectors: u64,
    /// Whether they write; otherwise they read.
    pub is_write: bool,
}

/// The outcome of a block.
pub(crate) struct Sifted {
    /// Bytes of the records that are done.
    pub(crate) consumed: usize,
    /// When the last of them arrived.
    pub(crate) latest: Ticks,
    pub(crate) passed: Passed,
}

/// Decodes the records of a block that need no closer look and are later than the given time: stops before the first other one.
pub(crate) type Sift = fn(&[u8], &mut State, &Sieve, Ticks, &mut Vec<Request>) -> Sifted;

impl Reader {
    /// The function that sifts, if no other part reads requests one by one.
    fn sifting(&self) -> Option<Sift> {
        let Encoding::Binary(binary) = self.format.encoding else {
            return None;
        };
        let operation = self.state.choices.missing_operation;
        let is_plain = self.stage == Stage::Reading
            // The first request sets the time that all count from.
            && self.epoch.is_some()
            && self.admission.is_plain()
            && self.skip == 0
            && self.left.is_none()
            && !(self.writes_only && operation == Some(Operation::Read))
            && self.injection.is_none()
            && self.array.is_none()
            && self.faults.pending.is_none();
        binary.sift.filter(|_| is_plain)
    }

    /// Whether [`Reader::sift`] passes over records faster than they are read.
    #[must_use]
    pub fn can_be_sifted(&self) -> bool {
        matches!(self.format.encoding, Encoding::Binary(binary) if binary.sift.is_some())
    }

    /// Does what [`Reader::fill`] does, but only counts most of the requests that `sieve` drops, and leaves them out of `batch`. Returns `None`,
    /// with an empty batch, at the end.
    ///
    /// # Errors
    /// The errors of [`Reader::fill`].
    pub fn sift(
        &mut self,
        sieve: &Sieve,
        batch: &mut Vec<Request>,
    ) -> Result<Option<Passed>, TraceError> {
        batch.clear();
        if let Some(sift) = self.sifting() {
            if self.starved || self.blocks.lines().is_empty() {
                match self.blocks.refill() {
                    Ok(true) => self.starved = false,
                    // Found again below.
                    Ok(false) => {}
                    Err(error) => {
                        self.faults.pending = Some(self.no_more_bytes(error));
                        self.admission.finish();
                    }
                }
            }
            let (block, latest) = (self.blocks.lines(), self.admission.latest());
            let sifted = sift(block, &mut self.state, sieve, latest, batch);
            self.blocks.consume(sifted.consumed);
            if sifted.consumed > 0 {
                let done = sifted.passed.requests + batch.len() as u64;
                self.admission.pass(done, sifted.latest);
                self.handed_out += done;
                self.make_relative(batch);
                return Ok(Some(sifted.passed));
            }
        }
        Ok(self.fill(batch)?.then(Passed::default))
    }
}
