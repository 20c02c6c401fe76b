//! The requests of each miniature.

use std::collections::HashMap;

use destage_base::sample::Samples;
use destage_device::RequestKind;
use destage_trace::{Passed, Request, Sieve};

use crate::error::SimError;
use crate::measured::Measured;
use crate::paging::{Addressing, Align};

/// Divides requests among miniatures. Blocks of a sample follow one another on its miniature in the order of their first
/// request, so that what was written in a row still is.
pub struct Splitter {
    origin: String,
    addressing: Addressing,
    device_pages: u64,
    block_pages: u64,
    samples: Samples,
    /// By sample: where the miniature has a block. Looked up, never walked.
    places: Vec<HashMap<u64, u64>>,
    host: Measured,
    page_writes: Vec<u64>,
}

impl Splitter {
    /// For requests of what is called `origin` in errors, made pages of by `addressing` for a device of `device_pages`, of
    /// which `samples` takes blocks of `block_pages`.
    #[must_use]
    pub fn new(
        origin: &str,
        addressing: Addressing,
        device_pages: u64,
        block_pages: u64,
        samples: Samples,
    ) -> Self {
        let count = samples.count() as usize;
        Self {
            origin: origin.to_owned(),
            addressing,
            device_pages,
            block_pages: block_pages.max(1),
            samples,
            places: vec![HashMap::new(); count],
            host: Measured::default(),
            page_writes: vec![0; count],
        }
    }

    /// What all requests ask for, sampled or not.
    #[must_use]
    pub fn host(&self) -> &Measured {
        &self.host
    }

    /// Page writes of each sample.
    #[must_use]
    pub fn page_writes(&self) -> &[u64] {
        &self.page_writes
    }

    /// The samples.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// How much samples differ in the blocks that were asked for: standard deviation over mean.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let blocks = || self.places.iter().map(|of| of.len() as f64);
        let count = self.places.len() as f64;
        let mean = blocks().sum::<f64>() / count;
        let squares: f64 = blocks().map(|of| (of - mean).powi(2)).sum();
        if mean > 0.0 && count > 1.0 {
            (squares / (count - 1.0)).sqrt() / mean
        } else {
            0.0
        }
    }

    /// What drops requests that are in no sample before they come here; none where a request may not be the page it lies in.
    #[must_use]
    pub fn sieve(&self) -> Option<Sieve> {
        let Addressing {
            align,
            unit_sectors,
            sectors_per_page,
            ..
        } = self.addressing;
        let is_plain = align != Align::Nearest
            && unit_sectors == 0
            && sectors_per_page.is_power_of_two()
            && self.block_pages == 1
            && self.device_pages == u64::MAX;
        is_plain.then(|| Sieve {
            samples: self.samples.clone(),
            page_shift: sectors_per_page.trailing_zeros(),
        })
    }

    /// Counts requests that the sieve dropped.
    pub fn pass(&mut self, passed: Passed) {
        self.host.pass(passed);
    }

    /// Replaces the content of `parts`, one for each sample, by what its miniature gets of `requests`.
    ///
    /// # Errors
    /// What is wrong with a request.
    pub fn split(
        &mut self,
        requests: &[Request],
        parts: &mut [Vec<Request>],
    ) -> Result<(), SimError> {
        parts.iter_mut().for_each(Vec::clear);
        for request in requests {
            let origin = || self.origin.clone();
            let asked = self
                .addressing
                .request(request, self.device_pages, origin)?;
            self.host.requests += 1;
            self.host.completed += 1;
            self.host.count_pages(request, asked.span.pages);
            if asked.kind == RequestKind::Flush {
                parts.iter_mut().for_each(|part| part.push(*request));
                continue;
            }
            let span = &asked.span;
            let (mut at, end) = (span.first, span.first + u64::from(span.pages));
            while at < end {
                let block = at / self.block_pages;
                let next = end.min((block + 1) * self.block_pages);
                for sample in self.samples.of(block) {
                    let sample = sample as usize;
                    let places = &mut self.places[sample];
                    let new = places.len() as u64;
                    let place = *places.entry(block).or_insert(new);
                    let page = place * self.block_pages + at % self.block_pages;
                    let per_page = self.addressing.sectors_per_page;
                    let head = if at == span.first { span.head } else { 0 };
                    let tail = if next == end { span.tail } else { 0 };
                    let sectors = (next - at) * per_page - u64::from(head) - u64::from(tail);
                    if asked.kind == RequestKind::Write {
                        self.page_writes[sample] += next - at;
                    }
                    parts[sample].push(Request {
                        sector: page * per_page + u64::from(head),
                        sectors: u32::try_from(sectors).unwrap_or(u32::MAX),
                        ..*request
                    });
                }
                at = next;
            }
        }
        Ok(())
    }
}
