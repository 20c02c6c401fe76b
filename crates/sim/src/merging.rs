//! Pages of a trace that fall onto the same page of a device when the trace is shrunk.
//!
//! If several pages become one, the trace changes: the buffer can have a hit on a page that the trace never requested
//! before. So such pages are counted and reported.

use std::collections::BTreeSet;
use std::fmt;

use destage_device::Span;
use destage_trace::runs::{Along, Runs};

use crate::paging::{AddressMap, Addressing};

/// Maximum number of different spans that are stored. This number of spans needs about 32 MB.
const SPANS_MAX: usize = 1 << 20;

/// The different spans of pages that a trace reads and writes, in the addresses of the trace.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: BTreeSet<(u64, u32)>,
    /// Whether spans beyond [`SPANS_MAX`] were dropped.
    is_cut: bool,
}

/// The number of device pages onto which several pages of the trace fall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The number of these device pages; a lower bound if spans were dropped.
    pub pages: u64,
    /// Whether no span was dropped.
    pub is_exact: bool,
}

impl fmt::Display for Merged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = if self.is_exact { "" } else { "at least " };
        write!(
            out,
            "with trace.addr_map=shrink, {about}{} pages of the device each stand for several pages of the trace, so hits and rewrites are not those of the trace; a larger device keeps such pages apart",
            self.pages
        )
    }
}

/// The trace page that falls onto a page of the device, and whether other trace pages fall onto the same page.
#[derive(Clone, Copy, PartialEq)]
struct Origin {
    page: u64,
    is_shared: bool,
}

impl Along for Origin {
    fn along(self, distance: u64) -> Self {
        Self {
            page: self.page + distance,
            ..self
        }
    }
}

impl Spans {
    /// Adds a span, or notes that one was dropped.
    pub fn add(&mut self, span: Span) {
        if self.spans.len() < SPANS_MAX {
            self.spans.insert((span.first, span.pages));
        } else {
            self.is_cut |= !self.spans.contains(&(span.first, span.pages));
        }
    }

    /// The device pages onto which several trace pages fall, on a device of `device_pages` pages under
    /// `addressing`. `None` if addresses are not shrunk.
    #[must_use]
    pub fn merged(&self, addressing: &Addressing, device_pages: u64) -> Option<Merged> {
        if addressing.map != AddressMap::Shrink || addressing.span_pages <= device_pages {
            return None;
        }
        let mut origins = Runs::<Origin>::default();
        for (first, pages) in &self.spans {
            let start = addressing.shrunk(*first, *pages, device_pages);
            let last = (start + u64::from(*pages)).min(device_pages) - 1;
            origins.update(0, start, last, |offset, _, known| {
                let page = first + offset;
                let is_shared = known.is_some_and(|known| known.is_shared || known.page != page);
                Origin { page, is_shared }
            });
        }
        let mut pages = 0;
        origins.for_each(|_, length, origin| {
            pages += if origin.is_shared { length } else { 0 };
        });
        Some(Merged {
            pages,
            is_exact: !self.is_cut,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paging::Align;
    use destage_base::Random;
    use std::collections::BTreeMap;

    fn addressing(span_pages: u64) -> Addressing {
        Addressing {
            align: Align::Cover,
            unit_sectors: 0,
            map: AddressMap::Shrink,
            sectors_per_page: 8,
            span_pages,
        }
    }

    fn merged(spans: &[(u64, u32)], span_pages: u64, device_pages: u64) -> Option<u64> {
        let mut all = Spans::default();
        spans
            .iter()
            .for_each(|(first, pages)| all.add(Span::whole(*first, *pages)));
        let merged = all.merged(&addressing(span_pages), device_pages)?;
        assert!(merged.is_exact);
        Some(merged.pages)
    }

    #[test]
    fn requests_far_apart_stay_apart_and_neighbours_fall_together() {
        let far = [(0, 4), (250_000_000, 4)];
        assert_eq!(merged(&far, 250_000_004, 1000), Some(0));
        let near = [(0, 4), (4, 4), (250_000_000, 4)];
        assert_eq!(merged(&near, 250_000_004, 1000), Some(4));
        assert_eq!(merged(&near, 1000, 1000), None);
    }

    #[test]
    fn agrees_with_a_plain_count() {
        let mut random = Random::new(5);
        for _ in 0..200 {
            let spans: Vec<(u64, u32)> = (0..20)
                .map(|_| (random.below(190), 1 + random.below(10) as u32))
                .collect();
            let addressing = addressing(200);
            let mut origins: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
            for (first, pages) in &spans {
                let start = addressing.shrunk(*first, *pages, 50);
                for offset in 0..u64::from(*pages) {
                    let pages = origins.entry(start + offset).or_default();
                    pages.push(first + offset);
                    pages.sort_unstable();
                    pages.dedup();
                }
            }
            let shared = origins.values().filter(|pages| pages.len() > 1).count();
            assert_eq!(merged(&spans, 200, 50), Some(shared as u64));
        }
    }
}
