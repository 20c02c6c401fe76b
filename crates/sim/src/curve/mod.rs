//! Results for all sizes of a page-level LRU buffer, from one pass over the requests.
//!
//! The results equal those of one run for each size, request by request, including flushes, forced writes, trims and
//! writes that bypass the buffer. Every page in a buffer of `n` pages is also in every larger buffer. So one number
//! describes a page: the size of the smallest buffer that holds it. Each event then counts either for all sizes from
//! some size on, or for all smaller sizes. `stack.rs` finds this size.

mod marks;
mod peak;
mod stack;

use destage_base::Lpn;
use destage_base::parameter::Value;
use destage_buffer::config::FlushMode;
use destage_buffer::destage::DestageCause;
use destage_buffer::{Counts, Dropped};
use destage_device::{Request as Asked, RequestKind, Span};
use destage_trace::Request;

use self::peak::Peak;
use self::stack::Stack;
use crate::error::SimError;
use crate::measured::{BufferFigures, HostCounts, Measured};
use crate::metrics::{FrontScope, Metrics, Scope, collect, rows};
use crate::paging::Addressing;
use crate::settings::Config;

/// Numbers of events by buffer size in pages. An event of a size counts either for all buffers of at least this size,
/// or for all smaller buffers.
#[derive(Default)]
struct BySize(Vec<u64>);

impl BySize {
    #[inline]
    fn add(&mut self, size: u32) {
        *destage_base::table::at(&mut self.0, size as usize, 0) += 1;
    }

    /// For each buffer size: the number of events whose size is at most the buffer size.
    fn up_to(mut self, sizes: usize) -> Vec<u64> {
        self.0.resize(sizes, 0);
        let mut sum = 0;
        for count in &mut self.0 {
            sum += *count;
            *count = sum;
        }
        self.0
    }

    /// For each buffer size: the number of events whose size is larger than the buffer size.
    fn above(mut self, sizes: usize) -> Vec<u64> {
        self.0.resize(sizes, 0);
        let mut sum = 0;
        for count in self.0.iter_mut().rev() {
            sum += std::mem::replace(count, sum);
        }
        self.0
    }
}

/// The treatment of requests.
struct Rules {
    /// Writes of this many pages or more bypass the buffer; 0: none do.
    bypass_pages: u32,
    honors_flush: bool,
    forces_all: bool,
    strict_trim: bool,
    drains: bool,
}

/// The counts of all events by size.
#[derive(Default)]
struct Sizes {
    write_hits: BySize,
    read_hits: BySize,
    evictions: BySize,
    forced: BySize,
    flushed: BySize,
    drained: BySize,
    trimmed: BySize,
    superseded: BySize,
}

/// A pass that has begun. Its memory grows with the number of pages that were written and have not been flushed or
/// trimmed since.
pub struct OnePass {
    origin: String,
    addressing: Addressing,
    scope: Scope,
    rules: Rules,
    stack: Stack,
    /// Maximum number of dirty pages for each buffer size. `None` until a page leaves the buffers in a way other than
    /// by eviction. Before that, each buffer of up to `largest` pages has been full, so its maximum equals its size.
    peak: Option<Peak>,
    host: HostCounts,
    sizes: Sizes,
    /// Pages and requests that bypassed the buffer.
    bypassed: [u64; 2],
    largest: u32,
}

/// The results of all sizes.
pub struct Curve {
    host: HostCounts,
    scope: Scope,
    bypassed: [u64; 2],
    write_hits: Vec<u64>,
    read_hits: Vec<u64>,
    evictions: Vec<u64>,
    forced: Vec<u64>,
    flushed: Vec<u64>,
    drained: Vec<u64>,
    trimmed: Vec<u64>,
    superseded: Vec<u64>,
    dirty: Vec<u64>,
    dirty_max: Vec<u64>,
}

impl OnePass {
    /// A new pass. Errors call the requests `origin`. `None` if `config` needs one run for each size. This is so if
    /// the scheme is not LRU by pages, if the layer has flash, or if the run has a prepass, a warm-up or dirty ages.
    #[must_use]
    pub fn new(config: &Config, origin: &str) -> Option<Self> {
        let is_page_lru = config.scheme.name == "lru"
            && config
                .buffer_parameter("lru_unit")
                .is_some_and(|unit| *unit == Value::Text("page".to_owned()));
        let sim = &config.typed.sim;
        let one = is_page_lru
            && !config.has_flash()
            && !config.needs_prepass()
            && sim.warmup_requests == 0
            && !sim.dirty_ages;
        let common = config.common();
        one.then(|| Self {
            origin: origin.to_owned(),
            addressing: config.addressing(0),
            scope: Scope {
                timed: false,
                flash: false,
                prepared_pages: 0,
                merges: None,
                page_bytes: config.typed.flash.page_bytes,
                retires: false,
                front: FrontScope::default(),
            },
            rules: Rules {
                bypass_pages: common.bypass_pages,
                honors_flush: common.flush_mode == FlushMode::Honor,
                forces_all: !config.has_volatile_cache(),
                strict_trim: config.has_strict_trim(),
                drains: sim.drain,
            },
            stack: Stack::new(),
            peak: None,
            host: HostCounts::default(),
            sizes: Sizes::default(),
            bypassed: [0; 2],
            largest: 0,
        })
    }

    /// The smallest size, in pages, from which on all buffers have had the same results so far.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// Adds `requests`, which follow the requests of earlier calls.
    ///
    /// # Errors
    /// An error in a request.
    pub fn feed(&mut self, requests: &[Request]) -> Result<(), SimError> {
        for request in requests {
            let origin = || self.origin.clone();
            let asked = self.addressing.request(request, u64::MAX, origin)?;
            self.host.requests += 1;
            self.host.completed += 1;
            let strict_trim = self.rules.strict_trim;
            self.host.count_pages(request, &asked, strict_trim);
            match asked.as_write(strict_trim) {
                Some(write) => self.write(&write),
                None => self.other(&asked),
            }
        }
        Ok(())
    }

    fn other(&mut self, asked: &Asked) {
        let span = &asked.span;
        match asked.kind {
            RequestKind::Read => {
                for page in pages(span, 0..span.pages) {
                    if let Some(depth) = self.stack.depth(page) {
                        self.sizes.read_hits.add(depth);
                    }
                }
            }
            RequestKind::Flush if self.rules.honors_flush => self.leave_all(true),
            RequestKind::Trim => {
                for page in pages(span, span.whole_pages()) {
                    if let Some(depth) = self.leave(page) {
                        self.sizes.trimmed.add(depth);
                    }
                }
            }
            RequestKind::Flush | RequestKind::Write | RequestKind::WriteZeroes => {}
        }
    }

    fn write(&mut self, request: &Asked) {
        let span = &request.span;
        if self.rules.bypass_pages > 0 && span.pages >= self.rules.bypass_pages {
            self.bypassed[0] += u64::from(span.pages);
            self.bypassed[1] += 1;
            for page in pages(span, 0..span.pages) {
                if let Some(depth) = self.leave(page) {
                    self.sizes.superseded.add(depth);
                }
            }
            return;
        }
        for page in pages(span, 0..span.pages) {
            let written = self.stack.write(page);
            self.sizes.evictions.add(written.room);
            if let Some(depth) = written.hit {
                self.sizes.write_hits.add(depth);
            }
            self.largest = self.largest.max(written.room);
            if let Some(peak) = &mut self.peak {
                match written.hit {
                    Some(depth) if depth == written.room => {}
                    hit => {
                        // Buffers that held the page already do not gain a page.
                        if let Some(depth) = hit {
                            peak.add(depth, -1);
                        }
                        peak.add(written.room, 1);
                    }
                }
            }
        }
        if (request.fua || self.rules.forces_all) && self.rules.honors_flush {
            for page in pages(span, 0..span.pages) {
                if let Some(depth) = self.leave(page) {
                    self.sizes.forced.add(depth);
                }
            }
        }
    }

    /// Removes `page` from all buffers that hold it. Returns the size of the smallest of these buffers, in pages;
    /// `None` if no buffer holds the page.
    fn leave(&mut self, page: Lpn) -> Option<u32> {
        let depth = self.stack.depth(page)?;
        let largest = self.largest as usize;
        let peak = self.peak.get_or_insert_with(|| Peak::full(largest));
        peak.add(depth, -1);
        self.stack.remove(page)
    }

    /// Removes every page from all buffers: for a flush, or at the end.
    fn leave_all(&mut self, is_flush: bool) {
        let largest = self.largest as usize;
        let peak = self.peak.get_or_insert_with(|| Peak::full(largest));
        let counted = match is_flush {
            true => &mut self.sizes.flushed,
            false => &mut self.sizes.drained,
        };
        for depth in self.stack.depths() {
            counted.add(depth);
            peak.add(depth, -1);
        }
        self.stack.clear();
    }

    /// Ends the pass, after the last request. Returns the results.
    #[must_use]
    pub fn finish(mut self) -> Curve {
        if self.rules.drains {
            self.leave_all(false);
        }
        let sizes = self.largest as usize + 1;
        let mut held = BySize::default();
        self.stack.depths().for_each(|depth| held.add(depth));
        let dirty_max = match self.peak.take() {
            Some(peak) => peak.most(sizes),
            None => (0..sizes as u64).collect(),
        };
        Curve {
            host: self.host,
            scope: self.scope,
            bypassed: self.bypassed,
            write_hits: self.sizes.write_hits.up_to(sizes),
            read_hits: self.sizes.read_hits.up_to(sizes),
            evictions: self.sizes.evictions.above(sizes),
            forced: self.sizes.forced.up_to(sizes),
            flushed: self.sizes.flushed.up_to(sizes),
            drained: self.sizes.drained.up_to(sizes),
            trimmed: self.sizes.trimmed.up_to(sizes),
            superseded: self.sizes.superseded.up_to(sizes),
            dirty: held.up_to(sizes),
            dirty_max,
        }
    }
}

fn pages(span: &Span, offsets: std::ops::Range<u32>) -> impl Iterator<Item = Lpn> + use<> {
    let span = *span;
    offsets.map(move |offset| span.page(offset, u64::MAX))
}

impl Curve {
    /// The smallest size, in pages, from which on all buffers have the same results.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.write_hits.len() as u32 - 1
    }

    /// Sizes, in pages, whose results differ from the results of the next smaller size. Size 1 is always included.
    pub fn changes(&self) -> impl Iterator<Item = u32> {
        (1..=self.largest().max(1)).filter(|size| {
            let differs = |counts: &Vec<u64>| counts[*size as usize] != counts[*size as usize - 1];
            *size == 1 || self.all().into_iter().any(differs)
        })
    }

    fn all(&self) -> [&Vec<u64>; 10] {
        [
            &self.write_hits,
            &self.read_hits,
            &self.evictions,
            &self.forced,
            &self.flushed,
            &self.drained,
            &self.trimmed,
            &self.superseded,
            &self.dirty,
            &self.dirty_max,
        ]
    }

    /// The results of a run with a buffer of `pages` pages, 1 or more. The age of the oldest dirty page is not
    /// included.
    #[must_use]
    pub fn at(&self, pages: u32) -> Metrics {
        let size = pages.min(self.largest()) as usize;
        let [mut destaged_pages, mut records] = [[0; DestageCause::ALL.len()]; 2];
        for (cause, counts) in [
            (DestageCause::Evict, &self.evictions),
            (DestageCause::Fua, &self.forced),
            (DestageCause::Flush, &self.flushed),
            (DestageCause::Drain, &self.drained),
        ] {
            destaged_pages[cause as usize] = counts[size];
            records[cause as usize] = counts[size];
        }
        let [bypassed_pages, bypassed_requests] = self.bypassed;
        destaged_pages[DestageCause::Bypass as usize] = bypassed_pages;
        records[DestageCause::Bypass as usize] = bypassed_requests;
        let counts = Counts {
            page_writes: self.host.page_writes,
            page_reads: self.host.page_reads,
            write_hits: self.write_hits[size],
            read_hits: self.read_hits[size],
            destaged_pages,
            records,
            dropped: Dropped {
                trimmed: self.trimmed[size],
                superseded: self.superseded[size],
                clean: 0,
            },
            dirty: self.dirty[size] as u32,
            dirty_max: self.dirty_max[size] as u32,
            ..Counts::default()
        };
        let measured = Measured {
            host: self.host,
            buffer: BufferFigures {
                counts: Some(counts),
                ..BufferFigures::default()
            },
            ..Measured::default()
        };
        let metrics = collect(&measured, &self.scope);
        let of_age = rows::BUFFER_OLDEST_DIRTY_MS_MAX.name;
        let known = metrics.iter().filter(|(name, _)| *name != of_age);
        known
            .map(|(name, number)| (name.to_owned(), number))
            .collect()
    }
}
