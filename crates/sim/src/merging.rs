//! Pages of a trace that become one page of a device onto which it is shrunk.
//!
//! A shrunk trace is another trace where that happens: a page may be found in the buffer that was never asked for. So it is counted, and reported.

use std::collections::BTreeSet;
use std::fmt;

use destage_device::Span;
use destage_trace::runs::{Along, Runs};

use crate::paging::{AddressMap, Addressing};

/// Most different spans that are kept: 32 MB of them.
const SPANS_MAX: usize = 1 << 20;

/// The different spans of pages that a trace reads and writes, in its own addresses.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    spans: BTreeSet<(u64, u32)>,
    /// Whether there were more.
    is_cut: bool,
}

/// Pages of a device that several pages of the trace fall onto.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Merged {
    /// Their number; a lower bound if not all spans were searched.
    pub pages: u64,
    /// Whether all spans were searched.
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

/// The page of the trace that a page of the device holds, and whether there are others.
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
    /// Takes one more.
    pub fn add(&mut self, span: Span) {
        if self.spans.len() < SPANS_MAX {
            self.spans.insert((span.first, span.pages));
        } else {
            self.is_cut |= !self.spans.contains(&(span.first, span.pages));
        }
    }

    /// The pages that become one page on a device of `device_pages` under `addressing`. `None` if addresses are not shrunk.
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
        let shared = origins.iter().filter(|(_, _, origin)| origin.is_shared);
        Some(Merged {
            pages: shared.map(|(_, length, _)| length).sum(),
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
