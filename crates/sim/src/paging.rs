//! From a host request in sectors to the pages it touches.

use destage_base::Lpn;
use destage_trace::{Operation, Request};

use crate::error::SimError;

/// How requests that do not begin and end on page boundaries are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Align {
    /// Every touched page counts as a whole page.
    Cover,
    /// As many pages as the size is nearest to, from the page the start lies in.
    Nearest,
    /// As `Cover`, and a partly written page is first read if the flash has contents of it.
    ReadModifyWrite,
}

/// How pages beyond the device are treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressMap {
    /// An error.
    Refuse,
    /// Wrapped round.
    Modulo,
    /// All addresses shrunk evenly so that the trace's span fits.
    Shrink,
}

/// The pages of one request: consecutive in the trace's address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// First page.
    pub first: u64,
    /// How many pages; at least 1.
    pub pages: u32,
    /// The first page is only partly covered.
    pub partial_first: bool,
    /// The last page is only partly covered.
    pub partial_last: bool,
}

impl Span {
    /// Whether page `offset` of the span is only partly covered.
    #[must_use]
    pub fn is_partial(&self, offset: u32) -> bool {
        (offset == 0 && self.partial_first)
            || (offset > 0 && offset + 1 == self.pages && self.partial_last)
    }

    /// Refuses a span that ends beyond the device, if `map` does.
    ///
    /// # Errors
    /// [`SimError::BeyondDevice`] of `request`.
    #[inline]
    pub fn check(
        &self,
        request: &Request,
        device_pages: u64,
        paging: &Paging,
        map: AddressMap,
        origin: impl FnOnce() -> String,
    ) -> Result<(), SimError> {
        let end = self.first + u64::from(self.pages);
        if map != AddressMap::Refuse || end <= device_pages || request.operation == Operation::Flush
        {
            return Ok(());
        }
        Err(SimError::BeyondDevice {
            origin: origin(),
            line: request.line,
            sector: request.sector,
            sectors: request.sectors,
            device_sectors: device_pages * paging.sectors_per_page,
            device_pages,
        })
    }
}

impl AddressMap {
    /// Page `offset` of `span` on a device of `device_pages`, for a trace that spans `span_pages`.
    #[inline]
    #[must_use]
    pub fn page(self, span: &Span, offset: u32, device_pages: u64, span_pages: u64) -> Lpn {
        let page = span.first + u64::from(offset);
        Lpn(match self {
            Self::Modulo => page % device_pages,
            Self::Shrink if span_pages > device_pages => {
                (u128::from(page) * u128::from(device_pages) / u128::from(span_pages)) as u64
            }
            Self::Refuse | Self::Shrink => page,
        })
    }
}

/// Splits requests into pages.
#[derive(Clone, Copy, Debug)]
pub struct Paging {
    /// Treatment of boundaries.
    pub align: Align,
    /// Sectors of 512 bytes in a page.
    pub sectors_per_page: u64,
}

impl Paging {
    /// The pages of `request`, which has at least one sector (a flush may have none).
    #[must_use]
    pub fn span(&self, request: &Request) -> Span {
        let per_page = self.sectors_per_page;
        let end = request.sector + u64::from(request.sectors.max(1));
        let first = request.sector / per_page;
        if self.align == Align::Nearest {
            let sectors = u64::from(request.sectors);
            let (whole, rest) = (sectors / per_page, sectors % per_page);
            // Half goes to the even neighbour, so that rounding has no drift.
            let up = 2 * rest > per_page || (2 * rest == per_page && whole % 2 == 1);
            let pages = (whole + u64::from(up)).max(1) as u32;
            return Span {
                first,
                pages,
                partial_first: false,
                partial_last: false,
            };
        }
        let last = (end - 1) / per_page;
        Span {
            first,
            pages: (last - first + 1) as u32,
            partial_first: !request.sector.is_multiple_of(per_page)
                || (last == first && !end.is_multiple_of(per_page)),
            partial_last: last > first && !end.is_multiple_of(per_page),
        }
    }
}

#[cfg(test)]
mod tests {
    use destage_trace::Operation;

    use super::*;

    fn span(align: Align, sector: u64, sectors: u32) -> (u64, u32, bool, bool) {
        let request = Request {
            arrival: 0,
            sector,
            sectors,
            volume: 0,
            line: 1,
            operation: Operation::Write,
            fua: false,
            stream: 0,
        };
        let span = Paging {
            align,
            sectors_per_page: 8,
        }
        .span(&request);
        (
            span.first,
            span.pages,
            span.partial_first,
            span.partial_last,
        )
    }

    #[test]
    fn cover_takes_every_touched_page() {
        assert_eq!(span(Align::Cover, 8, 8), (1, 1, false, false));
        assert_eq!(span(Align::Cover, 7, 2), (0, 2, true, true));
        assert_eq!(span(Align::Cover, 8, 1), (1, 1, true, false));
        assert_eq!(span(Align::Cover, 8, 12), (1, 2, false, true));
    }

    #[test]
    fn nearest_rounds_the_size_and_half_to_even() {
        let pages: Vec<_> = [1, 4, 5, 12, 13, 20, 28]
            .map(|n| span(Align::Nearest, 7, n).1)
            .into();
        assert_eq!(pages, [1, 1, 1, 2, 2, 2, 4]);
    }
}
