//! The facts about an input that one reading gives. The decoded requests stay in memory if there is room for them.

use destage_sim::limits::Demand;
use destage_sim::paging::Addressing;
use destage_sim::settings::Config;
use destage_trace::page_bits::PageBits;
use destage_trace::{Operation, Request};

use crate::compare::Effort;
use crate::curve::{MOST_PAGES, default_sizes, enters};
use crate::error::Error;
use crate::facts::Facts;
use crate::grid::Combination;
use crate::input::Input;
use crate::progress::Counter;
use crate::survey::Survey;

/// The decoded requests may use the memory limit divided by this number. The set of written pages may use the same
/// amount.
const PART_OF_MEMORY: u64 = 4;
/// The largest memory of a page in the set of written pages, in bytes. In the worst case a page is the only page in
/// its word, and it is stored twice while the set grows.
const BYTES_OF_PAGE: u64 = 96;

/// The number of requests of the input, divided by the number of requests of an excerpt.
const PART: u64 = 16;
/// The largest number of windows of an excerpt. The windows have equal distances in the input.
const WINDOWS: u64 = 8;
/// The smallest number of requests in a window. Fewer requests would not be representative.
const LEAST_REQUESTS: u64 = 64;

/// The facts about an input that one reading gives.
pub(super) struct Whole {
    /// The input, decoded in memory if there is room.
    pub(super) input: Input,
    pub(super) requests: u64,
    pub(super) demand: Demand,
    pub(super) facts: Facts,
    /// The default sizes of the buffer, in bytes.
    pub(super) sizes: Vec<u64>,
    /// The pages that may enter a buffer: those that the input writes, or those that it writes or reads. `None` if they
    /// need too much memory.
    pages: Option<PageBits>,
    addressing: Addressing,
}

impl Whole {
    /// Reads all of `input` under `config`. With `reads_enter`, pages that are only read may enter a buffer.
    ///
    /// # Errors
    /// If the input cannot be read, or if the progress report asked to stop.
    pub(super) fn read(
        input: &Input,
        config: &Config,
        reads_enter: bool,
        effort: &Effort<'_>,
    ) -> Result<Self, Error> {
        let options = input.options(config)?;
        let counter = Counter::new(effort.progress, input.expected_requests());
        destage_memory::doing(format!("reading {}", input.name()));
        let mut source = input.open(config)?;
        let (addressing, strict_trim) = (config.addressing(0), config.has_strict_trim());
        let most = effort.memory / PART_OF_MEMORY / size_of::<Request>() as u64;
        let (mut kept, mut batch) = (Some(Vec::new()), Vec::new());
        let (mut demand, mut requests) = (Demand::default(), 0);
        let most_pages = (effort.memory / PART_OF_MEMORY / BYTES_OF_PAGE).max(MOST_PAGES);
        let (mut pages, mut footprint) = (Some(PageBits::default()), 0);
        while source.fill(&mut batch)? {
            requests += batch.len() as u64;
            if !counter.advance(batch.len() as u64) {
                return Err(Error::Interrupted);
            }
            for request in &batch {
                demand.add(&addressing, request, strict_trim);
                let enters = enters(request, reads_enter);
                let Some(known) = pages.as_mut().filter(|_| enters) else {
                    continue;
                };
                let span = addressing.span(request);
                known.insert(0, span.first, span.last());
                footprint = known.len();
                if footprint > most_pages {
                    pages = None;
                }
            }
            match &mut kept {
                Some(kept) if requests <= most => kept.extend_from_slice(&batch),
                _ => kept = None,
            }
        }
        let mut facts = Facts::of_source(&source, &options);
        if !config.follows_arrivals() {
            facts.forget_times();
        }
        Ok(Self {
            input: match kept {
                Some(kept) => input.decoded(kept),
                None => input.clone(),
            },
            requests,
            demand,
            facts,
            sizes: default_sizes(footprint, config),
            pages,
            addressing,
        })
    }

    /// Gives each candidate the number of blocks that the whole input needs, so that runs on excerpts of the input
    /// use the same device as full runs.
    ///
    /// # Errors
    /// If the input cannot be read, or if the progress report asked to stop.
    pub(super) fn fit(
        &mut self,
        candidates: &mut [Vec<Combination>],
        effort: &Effort<'_>,
    ) -> Result<(), Error> {
        let counter = Counter::new(effort.progress, Some(self.requests));
        let all = || candidates.iter().flatten();
        let configs: Vec<&Config> = all().map(|each| &each.config).collect();
        let (known, _) = Survey::of(&self.input, &configs, &counter)?.split();
        let merged = known.merged.iter();
        merged.for_each(|merged| self.facts.add_merged(merged));
        self.facts.sizing = known.sizing;
        let combinations = candidates.iter_mut().flatten();
        for (combination, config) in combinations.zip(known.configs) {
            combination.config = config;
        }
        Ok(())
    }

    /// The input without reads of pages that never enter a buffer. If these pages are not known, the whole input.
    pub(super) fn of_entering_pages(&self) -> Input {
        let Some(pages) = &self.pages else {
            return self.input.clone();
        };
        self.input.without(|request| {
            let span = self.addressing.span(request);
            request.operation == Operation::Read && !pages.has_one_of(0, span.first, span.last())
        })
    }

    /// Excerpts of the input that represent the whole input; the whole input if it is short.
    pub(super) fn excerpt(&self) -> Input {
        let windows = (self.requests / LEAST_REQUESTS / PART).min(WINDOWS);
        match windows {
            0 => self.input.clone(),
            windows => self.input.excerpt(windows, self.requests / PART / windows),
        }
    }
}

#[cfg(test)]
mod tests {
    use destage_sim::settings::Settings;

    use super::*;
    use crate::progress::Silent;

    /// The facts about an input that writes `pages` pages and reads one other page. The memory limit is low. With
    /// `reads_enter`, pages that are only read may enter a buffer.
    fn whole(pages: u64, reads_enter: bool) -> Whole {
        let request = |line: u64, operation, first: u64, pages: u64| Request {
            arrival: line,
            sector: 8 * first,
            sectors: 8 * pages as u32,
            line: line as u32,
            operation,
            ..Request::BLANK
        };
        let writes = (0..pages).step_by(1000);
        let write = |first| request(first, Operation::Write, first, 1000.min(pages - first));
        let mut requests: Vec<Request> = writes.map(write).collect();
        requests.push(request(pages, Operation::Read, 2 * pages, 1));
        let input = Input::requests("requests", requests);
        let effort = Effort {
            threads: 1,
            memory: 1 << 20,
            progress: &Silent,
        };
        let config = Settings::new().resolve().unwrap();
        Whole::read(&input, &config, reads_enter, &effort).unwrap()
    }

    #[test]
    fn read_pages_count_if_they_enter_a_buffer() {
        let whole = whole(500, true);
        let config = Settings::new().resolve().unwrap();
        assert_eq!(whole.sizes, default_sizes(501, &config));
        let entering = whole.of_entering_pages();
        assert_eq!(entering.expected_requests(), Some(whole.requests));
    }

    #[test]
    fn written_pages_are_kept_while_they_are_few() {
        let requests = |input: Input| input.expected_requests();
        for (pages, kept) in [(MOST_PAGES - 500, true), (MOST_PAGES + 500, false)] {
            let whole = whole(pages, false);
            assert_eq!(whole.pages.is_some(), kept);
            let config = Settings::new().resolve().unwrap();
            assert_eq!(whole.sizes, default_sizes(pages, &config));
            let read = u64::from(!kept);
            assert_eq!(
                requests(whole.of_entering_pages()),
                Some(whole.requests - 1 + read)
            );
        }
    }
}
