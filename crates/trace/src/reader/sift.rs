//! Reads a trace of which only sampled pages are needed. Most requests to other pages are counted without being
//! decoded.

use destage_base::Ticks;
use destage_base::sample::Samples;

use super::{Reader, Stage};
use crate::decode::State;
use crate::error::TraceError;
use crate::format::Encoding;
use crate::request::Request;

/// The sampled pages, which are needed.
#[derive(Clone, Debug)]
pub struct Sieve {
    /// The samples; they select pages by number.
    pub samples: Samples,
    /// The binary logarithm of the number of sectors in a page.
    pub page_shift: u32,
}

impl Sieve {
    /// Whether the `sectors` sectors from `sector` on are within one page that is in no sample. `sectors` must
    /// not be 0.
    #[inline]
    #[must_use]
    pub fn drops(&self, sector: u64, sectors: u32) -> bool {
        let page = sector >> self.page_shift;
        (sector + u64::from(sectors) - 1) >> self.page_shift == page && !self.samples.has(page)
    }
}

/// Requests that were counted and not decoded. Each request is within one page, and all requests have the same
/// operation.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Passed {
    /// The number of requests.
    pub requests: u64,
    /// The number of their sectors.
    pub sectors: u64,
    /// Whether the requests are writes; otherwise they are reads.
    pub is_write: bool,
}

/// The result of sifting a block.
pub(crate) struct Sifted {
    /// The number of bytes of the records that were counted or decoded.
    pub(crate) consumed: usize,
    /// The arrival of the last record that was counted or decoded, in ticks.
    pub(crate) latest: Ticks,
    pub(crate) passed: Passed,
}

/// A function that counts or decodes the records of a block that are valid and do not arrive earlier than the
/// given time. The function stops before the first record that is invalid or too early.
pub(crate) type Sift = fn(&[u8], &mut State, &Sieve, Ticks, &mut Vec<Request>) -> Sifted;

impl Reader {
    /// The sifting function of the format. `None` if the format has no such function, or if other parts of the
    /// reader, such as sorting or a limit, need each request.
    fn sifting(&self) -> Option<Sift> {
        let Encoding::Binary(binary) = self.format.encoding else {
            return None;
        };
        let operation = self.state.choices.missing_operation;
        let is_plain = self.stage == Stage::Reading
            // The first request must be decoded, because it sets the origin of all times.
            && self.epoch.is_some()
            && self.admission.is_plain()
            && self.slice.has_all(operation)
            && self.injection.is_none()
            && self.array.is_none()
            && self.faults.pending.is_none();
        binary.sift.filter(|_| is_plain)
    }

    /// Whether the format has a sifting function, so that [`Reader::sift`] can be faster than [`Reader::fill`].
    #[must_use]
    pub fn can_be_sifted(&self) -> bool {
        matches!(self.format.encoding, Encoding::Binary(binary) if binary.sift.is_some())
    }

    /// Does the same as [`Reader::fill`], but most of the requests that `sieve` drops are only counted, and not
    /// added to `batch`. Returns `None`, with an empty batch, at the end of the trace.
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
            // At the end of the file, the call of `fill` below finds the end again.
            if self.file.needs_more()
                && let Err(error) = self.file.refill()
            {
                self.faults.pending = Some(self.no_more_bytes(error));
                self.admission.finish();
            }
            let (block, latest) = (self.file.blocks.lines(), self.admission.latest());
            let sifted = sift(block, &mut self.state, sieve, latest, batch);
            self.file.blocks.consume(sifted.consumed);
            if sifted.consumed > 0 {
                let done = sifted.passed.requests + batch.len() as u64;
                self.admission.pass(done, sifted.latest);
                self.returned.count += done;
                self.make_relative(batch);
                return Ok(Some(sifted.passed));
            }
        }
        Ok(self.fill(batch)?.then(Passed::default))
    }
}
