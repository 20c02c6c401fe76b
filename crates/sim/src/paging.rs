//! From a host request in sectors to the pages it touches.

use destage_base::choices;
use destage_device::{RequestKind, Span};
use destage_trace::{Operation, Request};

use crate::error::SimError;

choices! {
    /// How requests that do not begin and end on page boundaries are treated.
    pub enum Align {
        /// Every touched page counts as a whole page.
        Cover = "cover",
        /// As many pages as the size is nearest to, from the page the start lies in.
        Nearest = "nearest",
        /// As `Cover`, and a partly written page is first read if the flash has contents of it.
        ReadModifyWrite = "rmw",
    }
}

choices! {
    /// How pages beyond the device are treated.
    pub enum AddressMap {
        /// An error.
        Refuse = "error",
        /// Wrapped round.
        Modulo = "modulo",
        /// All addresses shrunk evenly so that the trace's span fits.
        Shrink = "shrink",
    }
}

/// Splits requests into pages of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addressing {
    /// Treatment of boundaries.
    pub align: Align,
    /// Treatment of what lies beyond the device.
    pub map: AddressMap,
    /// Sectors of 512 bytes in a page.
    pub sectors_per_page: u64,
    /// Pages the trace spans, for [`AddressMap::Shrink`].
    pub span_pages: u64,
}

impl Addressing {
    /// `request` as a request for a device of `device_pages`; `origin` names the trace in an error.
    ///
    /// # Errors
    /// [`SimError::BeyondDevice`] for a request that ends beyond the device where that is refused, and
    /// [`SimError::LongerThanDevice`] for one that would lie over itself.
    #[inline]
    pub fn request(
        &self,
        request: &Request,
        device_pages: u64,
        origin: impl FnOnce() -> String,
    ) -> Result<destage_device::Request, SimError> {
        let kind = match request.operation {
            Operation::Read => RequestKind::Read,
            Operation::Write => RequestKind::Write,
            Operation::Trim => RequestKind::Trim,
            Operation::Flush => RequestKind::Flush,
        };
        let mut span = self.span(request);
        if span.first + u64::from(span.pages) > device_pages && kind != RequestKind::Flush {
            if self.map == AddressMap::Refuse {
                return Err(self.beyond(request, device_pages, origin()));
            }
            if u64::from(span.pages) > device_pages {
                return Err(self.longer(request, device_pages, origin()));
            }
            if self.map == AddressMap::Modulo {
                span.first %= device_pages;
            }
        }
        if self.map == AddressMap::Shrink && self.span_pages > device_pages {
            span.first = self.shrunk(span.first, span.pages, device_pages);
        }
        Ok(destage_device::Request {
            kind,
            span,
            fua: request.fua,
        })
    }

    /// Whether addresses are shrunk where they span more than the device.
    pub(crate) fn shrinks(&self) -> bool {
        self.map == AddressMap::Shrink
    }

    /// Where a span of `pages` from page `first` of the trace on begins on a device onto which the trace is shrunk. A request
    /// keeps its length, and stays within the device.
    pub(crate) fn shrunk(&self, first: u64, pages: u32, device_pages: u64) -> u64 {
        let shrunk = u128::from(first) * u128::from(device_pages) / u128::from(self.span_pages);
        (shrunk as u64).min(device_pages.saturating_sub(u64::from(pages)))
    }

    #[cold]
    fn beyond(&self, request: &Request, device_pages: u64, origin: String) -> SimError {
        SimError::BeyondDevice {
            origin,
            line: request.line,
            sector: request.sector,
            sectors: request.sectors,
            device_sectors: device_pages * self.sectors_per_page,
            device_pages,
        }
    }

    #[cold]
    fn longer(&self, request: &Request, device_pages: u64, origin: String) -> SimError {
        SimError::LongerThanDevice {
            origin,
            line: request.line,
            sectors: request.sectors,
            device_sectors: device_pages * self.sectors_per_page,
        }
    }

    /// The pages of `request` in the addresses of the trace. It has at least one sector; a flush may have none.
    #[must_use]
    #[inline]
    pub fn span(&self, request: &Request) -> Span {
        let per_page = self.sectors_per_page;
        let (first, head) = self.split(request.sector);
        if self.align == Align::Nearest {
            let sectors = u64::from(request.sectors);
            let (whole, rest) = (sectors / per_page, sectors % per_page);
            // Half goes to the even neighbour, so that rounding has no drift.
            let up = 2 * rest > per_page || (2 * rest == per_page && whole % 2 == 1);
            return Span::whole(first, (whole + u64::from(up)).max(1) as u32);
        }
        let (last, in_last) = self.split(request.sector + u64::from(request.sectors.max(1)) - 1);
        Span {
            first,
            pages: (last - first + 1) as u32,
            head: head as u32,
            tail: (per_page - 1 - in_last) as u32,
        }
    }

    /// The page of `sector`, and the sector within it. A page is a power of two almost always, and divisions cost a
    /// request more than anything else here.
    #[inline]
    fn split(&self, sector: u64) -> (u64, u64) {
        let per_page = self.sectors_per_page;
        if per_page.is_power_of_two() {
            (sector >> per_page.trailing_zeros(), sector & (per_page - 1))
        } else {
            (sector / per_page, sector % per_page)
        }
    }
}

#[cfg(test)]
mod tests {
    use destage_trace::Operation;

    use super::*;

    fn request(sector: u64, sectors: u32) -> Request {
        Request {
            arrival: 0,
            sector,
            sectors,
            volume: 0,
            line: 1,
            operation: Operation::Write,
            fua: false,
            stream: 0,
        }
    }

    fn addressing(align: Align, map: AddressMap) -> Addressing {
        Addressing {
            align,
            map,
            sectors_per_page: 8,
            span_pages: 100,
        }
    }

    /// First page, pages, sectors left out at the head and at the tail.
    fn span(align: Align, sector: u64, sectors: u32) -> (u64, u32, u32, u32) {
        let span = addressing(align, AddressMap::Refuse).span(&request(sector, sectors));
        (span.first, span.pages, span.head, span.tail)
    }

    #[test]
    fn cover_takes_every_touched_page() {
        assert_eq!(span(Align::Cover, 8, 8), (1, 1, 0, 0));
        assert_eq!(span(Align::Cover, 7, 2), (0, 2, 7, 7));
        assert_eq!(span(Align::Cover, 8, 1), (1, 1, 0, 7));
        assert_eq!(span(Align::Cover, 8, 12), (1, 2, 0, 4));
    }

    #[test]
    fn nearest_rounds_the_size_and_half_to_even() {
        let pages: Vec<_> = [1, 4, 5, 12, 13, 20, 28]
            .map(|n| span(Align::Nearest, 7, n).1)
            .into();
        assert_eq!(pages, [1, 1, 1, 2, 2, 2, 4]);
    }

    #[test]
    fn a_request_beyond_the_device_is_refused_wrapped_or_shrunk_as_a_whole() {
        let first = |map| {
            let asked = addressing(Align::Cover, map).request(&request(400, 24), 10, String::new);
            asked.map(|asked| (asked.span.first, asked.span.pages))
        };
        assert!(first(AddressMap::Refuse).is_err());
        assert_eq!(first(AddressMap::Modulo).ok(), Some((0, 3)));
        assert_eq!(first(AddressMap::Shrink).ok(), Some((5, 3)));
        let last = addressing(Align::Cover, AddressMap::Shrink).request(
            &request(776, 24),
            10,
            String::new,
        );
        assert_eq!(last.map(|asked| asked.span.first).ok(), Some(7));
    }

    #[test]
    fn a_request_longer_than_the_device_is_refused_and_one_as_long_is_not() {
        for map in [AddressMap::Modulo, AddressMap::Shrink] {
            let asked = |sectors| {
                addressing(Align::Cover, map).request(&request(16, sectors), 10, || "t".to_owned())
            };
            assert_eq!(asked(80).map(|asked| asked.span.pages).ok(), Some(10));
            assert_eq!(
                asked(u32::MAX).unwrap_err().to_string(),
                "t:1: a request of 4294967295 sectors is longer than the device, which has 80 sectors; expected requests that fit the device, or a larger one (flash.blocks_per_plane)"
            );
            assert!(asked(81).is_err());
        }
    }
}
