//! The division of requests among miniatures.

use std::collections::HashMap;

use destage_base::sample::Samples;
use destage_device::RequestKind;
use destage_trace::{Passed, Request, Sieve};

use super::block_counts::BlockCounts;
use crate::error::SimError;
use crate::measured::HostCounts;
use crate::paging::{Addressing, Align};
use crate::settings::Config;

/// The part of a batch of requests that goes to one miniature.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The requests.
    pub requests: Vec<Request>,
    /// For each request: the number of page writes of the whole input to other blocks since the miniature's previous
    /// request. The virtual time of the miniature advances by this number.
    pub passed: Vec<u64>,
}

/// Requested pages, of reads or of writes.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Pages of the whole input.
    pub all: f64,
    /// Pages of each sample.
    pub of_samples: Vec<f64>,
    /// Pages of the blocks of all samples.
    pub of_blocks: BlockCounts,
}

/// A block of a sample.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Number of the block in the miniature.
    place: u64,
    page_reads: u64,
    page_writes: u64,
}

/// Divides requests among miniatures. A miniature numbers the blocks of its sample in the order of their first
/// requests, so that sequential writes stay sequential.
pub struct Splitter {
    origin: String,
    addressing: Addressing,
    strict_trim: bool,
    device_pages: u64,
    block_pages: u64,
    samples: Samples,
    /// For each sample: its blocks, by their numbers on the full device. No result depends on the order of the map.
    blocks: Vec<HashMap<u64, Block>>,
    host: HostCounts,
    page_reads: Vec<u64>,
    page_writes: Vec<u64>,
    /// For each sample: the number of page writes of the whole input up to the latest page that the sample received.
    heard: Vec<u64>,
}

impl Splitter {
    /// A splitter for requests that errors call `origin`. `config` divides requests into pages of a device of
    /// `device_pages`, and `samples` chooses among its blocks of `block_pages` pages.
    #[must_use]
    pub fn new(
        origin: &str,
        config: &Config,
        device_pages: u64,
        block_pages: u64,
        samples: Samples,
    ) -> Self {
        let count = samples.count() as usize;
        Self {
            origin: origin.to_owned(),
            addressing: config.addressing(0),
            strict_trim: config.has_strict_trim(),
            device_pages,
            block_pages: block_pages.max(1),
            samples,
            blocks: vec![HashMap::new(); count],
            host: HostCounts::default(),
            page_reads: vec![0; count],
            page_writes: vec![0; count],
            heard: vec![0; count],
        }
    }

    /// The requests and pages of the whole input, sampled or not.
    #[must_use]
    pub fn host(&self) -> &HostCounts {
        &self.host
    }

    /// The requested pages of the whole input, of each sample and of each block: first of reads, then of writes.
    #[must_use]
    pub fn asked(&self) -> [Asked; 2] {
        let of_blocks = |count: fn(&Block) -> u64| {
            let blocks = self.blocks.iter().flat_map(HashMap::values);
            BlockCounts::new(blocks.map(count).collect())
        };
        let as_number = |count: &u64| *count as f64;
        [
            Asked {
                all: self.host.page_reads as f64,
                of_samples: self.page_reads.iter().map(as_number).collect(),
                of_blocks: of_blocks(|block| block.page_reads),
            },
            Asked {
                all: self.host.page_writes as f64,
                of_samples: self.page_writes.iter().map(as_number).collect(),
                of_blocks: of_blocks(|block| block.page_writes),
            },
        ]
    }

    /// The samples.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// How much samples differ in the number of requested blocks: the standard deviation divided by the mean.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let blocks = || self.blocks.iter().map(|of| of.len() as f64);
        let count = self.blocks.len() as f64;
        let mean = blocks().sum::<f64>() / count;
        let squares: f64 = blocks().map(|of| (of - mean).powi(2)).sum();
        if mean > 0.0 && count > 1.0 {
            (squares / (count - 1.0)).sqrt() / mean
        } else {
            0.0
        }
    }

    /// The filter that drops requests outside all samples before they reach this splitter. `None` unless the page of
    /// a sector is computed by a shift alone, a block is one page, and no device bounds the addresses.
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

    /// Divides `requests` among `parts`, one part for each sample. Replaces the contents of each part with the
    /// requests of its miniature.
    ///
    /// # Errors
    /// If a request has an error.
    pub fn split(&mut self, requests: &[Request], parts: &mut [Part]) -> Result<(), SimError> {
        for part in parts.iter_mut() {
            part.requests.clear();
            part.passed.clear();
        }
        for request in requests {
            let origin = || self.origin.clone();
            let asked = self
                .addressing
                .request(request, self.device_pages, origin)?;
            let writes_before = self.host.page_writes;
            self.host.requests += 1;
            self.host.completed += 1;
            let strict_trim = self.strict_trim;
            self.host.count_pages(request, &asked, strict_trim);
            let asked = asked.as_write(strict_trim).unwrap_or(asked);
            if asked.kind == RequestKind::Flush {
                for (part, heard) in parts.iter_mut().zip(&mut self.heard) {
                    part.requests.push(*request);
                    part.passed.push(writes_before - *heard);
                    *heard = writes_before;
                }
                continue;
            }
            let is_write = matches!(asked.kind, RequestKind::Write | RequestKind::WriteZeroes);
            let span = &asked.span;
            let (mut at, end) = (span.first, span.first + u64::from(span.pages));
            while at < end {
                let block = at / self.block_pages;
                let next = end.min((block + 1) * self.block_pages);
                for sample in self.samples.of(block) {
                    let sample = sample as usize;
                    let blocks = &mut self.blocks[sample];
                    let new = Block {
                        place: blocks.len() as u64,
                        page_reads: 0,
                        page_writes: 0,
                    };
                    let known = blocks.entry(block).or_insert(new);
                    let page = known.place * self.block_pages + at % self.block_pages;
                    let per_page = self.addressing.sectors_per_page;
                    let head = if at == span.first { span.head } else { 0 };
                    let tail = if next == end { span.tail } else { 0 };
                    let sectors = (next - at) * per_page - u64::from(head) - u64::from(tail);
                    let mut writes = writes_before;
                    let part = &mut parts[sample];
                    let heard = &mut self.heard[sample];
                    match asked.kind {
                        RequestKind::Write | RequestKind::WriteZeroes => {
                            known.page_writes += next - at;
                            self.page_writes[sample] += next - at;
                            writes += at - span.first;
                        }
                        RequestKind::Read => {
                            known.page_reads += next - at;
                            self.page_reads[sample] += next - at;
                        }
                        RequestKind::Flush | RequestKind::Trim => {}
                    }
                    part.passed.push(writes - *heard);
                    *heard = writes + if is_write { next - at } else { 0 };
                    part.requests.push(Request {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use destage_trace::Operation;

    #[test]
    fn samples_hear_of_all_page_writes() {
        let config = Settings::new().resolve().unwrap();
        let samples = Samples::new(64, 0.25, 4, 1);
        let mut splitter = Splitter::new("a test", &config, 256, 4, samples);
        let mut random = destage_base::Random::new(3);
        let requests = (0..500).map(|line| Request {
            sector: 8 * random.below(240),
            sectors: 8 * (1 + random.below(12) as u32),
            line,
            operation: match random.below(10) {
                0 => Operation::Flush,
                1 | 2 => Operation::Read,
                _ => Operation::Write,
            },
            ..Request::BLANK
        });
        let requests: Vec<Request> = requests.collect();
        let (mut parts, mut clocks) = (vec![Part::default(); 4], [0; 4]);
        let mut written = 0;
        for request in &requests {
            splitter
                .split(std::slice::from_ref(request), &mut parts)
                .unwrap();
            let pages = u64::from(request.sectors / 8);
            for (part, clock) in parts.iter().zip(&mut clocks) {
                for (own, passed) in part.requests.iter().zip(&part.passed) {
                    // The virtual time of a sample is between the number of page writes before the request and the
                    // number after it.
                    *clock += passed;
                    assert!((written..=written + pages).contains(clock));
                    if own.operation == Operation::Write {
                        *clock += u64::from(own.sectors / 8);
                    }
                }
            }
            written += match request.operation {
                Operation::Write => pages,
                _ => 0,
            };
        }
        // A flush goes to every sample. After the flush, the virtual time of each sample is the number of all page
        // writes.
        let flush = Request {
            sectors: 0,
            operation: Operation::Flush,
            ..requests[0]
        };
        splitter.split(&[flush], &mut parts).unwrap();
        for (part, clock) in parts.iter().zip(clocks) {
            assert_eq!(clock + part.passed[0], written);
        }
        assert_eq!(splitter.host().page_writes, written);
    }
}
