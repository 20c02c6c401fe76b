//! The division of a host request in sectors into the pages that it touches.

use destage_base::{Lpn, choices};
use destage_device::{RequestKind, Span};
use destage_trace::{Operation, Request};

use crate::error::SimError;

choices! {
    /// Treatment of requests that do not begin and end at page boundaries.
    pub enum Align {
        /// Every touched page counts as a whole page.
        Cover = "cover",
        /// The size of the request is rounded to the nearest number of pages. The first page is the page of the first
        /// sector.
        Nearest = "nearest",
        /// Every touched page counts. A page that is written only in part is read first, if the flash has contents of
        /// the page.
        ReadModifyWrite = "rmw",
    }
}

choices! {
    /// Treatment of requests that end beyond the device.
    pub enum AddressMap {
        /// The request is an error.
        Refuse = "error",
        /// The address of the first page is taken modulo the size of the device.
        Modulo = "modulo",
        /// All addresses shrink evenly, so that the span of the trace fits the device.
        Shrink = "shrink",
    }
}

/// Splits requests into pages of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addressing {
    /// Treatment of requests that do not begin and end at page boundaries.
    pub align: Align,
    /// The unit, in sectors, to which requests are aligned before they are divided into pages. With 0,
    /// [`Align::Nearest`] rounds to pages, and the other rules do not enlarge requests.
    pub unit_sectors: u64,
    /// Treatment of requests that end beyond the device.
    pub map: AddressMap,
    /// The number of sectors of 512 bytes in a page.
    pub sectors_per_page: u64,
    /// The number of pages that the trace spans, for [`AddressMap::Shrink`].
    pub span_pages: u64,
}

impl Addressing {
    /// Converts `request` to a request for a device of `device_pages` pages; error messages call the trace `origin`.
    ///
    /// # Errors
    /// [`SimError::BeyondDevice`] if the request ends beyond the device and [`AddressMap::Refuse`] applies;
    /// [`SimError::LongerThanDevice`] if it is longer than the device, so that it would overlap itself.
    #[inline]
    pub fn request(
        &self,
        request: &Request,
        device_pages: u64,
        origin: impl FnOnce() -> String,
    ) -> Result<destage_device::Request, SimError> {
        let mut asked = self.asked(request);
        if !self.fits(&asked.span, device_pages) {
            asked.span.first = self.mapped(request, asked.span, device_pages, origin)?;
        }
        Ok(asked)
    }

    /// The first page of `span` on the device. The span belongs to `request`, and its addresses have to be mapped to
    /// the device.
    #[inline(never)]
    fn mapped(
        &self,
        request: &Request,
        mut span: Span,
        device_pages: u64,
        origin: impl FnOnce() -> String,
    ) -> Result<u64, SimError> {
        let is_beyond = span.first + u64::from(span.pages) > device_pages;
        if is_beyond && request.operation != Operation::Flush {
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
        Ok(span.first)
    }

    /// Converts `request` to a device request at the addresses of the trace.
    #[inline(always)]
    pub(crate) fn asked(&self, request: &Request) -> destage_device::Request {
        destage_device::Request {
            kind: match request.operation {
                Operation::Read => RequestKind::Read,
                Operation::Write => RequestKind::Write,
                Operation::Trim => RequestKind::Trim,
                Operation::Flush => RequestKind::Flush,
            },
            span: self.span(request),
            fua: request.fua,
        }
    }

    /// Whether `span` keeps its addresses on a device of `device_pages` pages.
    #[inline(always)]
    pub(crate) fn fits(&self, span: &Span, device_pages: u64) -> bool {
        span.first + u64::from(span.pages) <= device_pages && self.map != AddressMap::Shrink
    }

    /// Replaces the content of `pages` with the first page of each of `requests`, at the addresses of the trace
    /// and before alignment.
    #[inline(never)]
    pub(crate) fn first_pages(&self, requests: &[Request], pages: &mut Vec<Lpn>) {
        let first = |request: &Request| Lpn(self.split(request.sector).0);
        pages.clear();
        pages.extend(requests.iter().map(first));
    }

    /// Whether addresses shrink if their span exceeds the device.
    pub(crate) fn shrinks(&self) -> bool {
        self.map == AddressMap::Shrink
    }

    /// A span of `pages` pages begins at page `first` of the trace. Returns the first page of the span on a device to
    /// which the trace is shrunk. The span keeps its length, and stays within the device.
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

    /// The pages that `request` touches, at the addresses of the trace. A request of 0 sectors, such as a flush,
    /// counts as one sector.
    #[must_use]
    #[inline(always)]
    pub fn span(&self, request: &Request) -> Span {
        let (sector, sectors) = match self.unit_sectors {
            0 => (request.sector, u64::from(request.sectors.max(1))),
            _ => self.aligned(request),
        };
        if self.align != Align::Nearest {
            return self.cover(sector, sectors);
        }
        if self.unit_sectors > 0 {
            let touched = self.cover(sector, sectors);
            return Span::whole(touched.first, touched.pages);
        }
        let pages = nearest(u64::from(request.sectors), self.sectors_per_page);
        Span::whole(self.split(request.sector).0, pages as u32)
    }

    /// The sectors of `request` after alignment to units: the first sector and the number of sectors. The two numbers
    /// are returned in registers. A whole span would be written to memory and read back for every request.
    #[inline(never)]
    fn aligned(&self, request: &Request) -> (u64, u64) {
        let (unit, sectors) = (self.unit_sectors, u64::from(request.sectors.max(1)));
        let start = request.sector / unit * unit;
        if self.align == Align::Nearest {
            return (start, nearest(sectors, unit) * unit);
        }
        // A trim is not aligned, because a larger trim would destroy data that the host did not trim.
        if request.operation == Operation::Trim {
            return (request.sector, sectors);
        }
        let end = (request.sector + sectors).next_multiple_of(unit);
        (start, end - start)
    }

    /// The span of all pages that contain one of `sectors` sectors, beginning with `sector`.
    #[inline]
    fn cover(&self, sector: u64, sectors: u64) -> Span {
        let (first, head) = self.split(sector);
        let (last, in_last) = self.split(sector + sectors - 1);
        Span {
            first,
            // A span that exceeds 32 bits gets the largest number of pages, which no device has.
            pages: u32::try_from(last - first + 1).unwrap_or(u32::MAX),
            head: head as u32,
            tail: (self.sectors_per_page - 1 - in_last) as u32,
        }
    }

    /// The page of `sector`, and the index of the sector within the page. The size of a page is almost always a power
    /// of two, so no division is needed. This saves more time than any other optimisation in this file.
    #[inline]
    fn split(&self, sector: u64) -> (u64, u64) {
        let per_page = self.sectors_per_page;
        let mask = per_page - 1;
        if per_page & mask == 0 {
            (sector >> per_page.trailing_zeros(), sector & mask)
        } else {
            (sector / per_page, sector % per_page)
        }
    }
}

/// The number of units of `unit` sectors that is nearest to `sectors`, at least 1. A half is rounded to the even
/// number, so that rounding has no drift.
#[inline]
fn nearest(sectors: u64, unit: u64) -> u64 {
    let (whole, rest) = (sectors / unit, sectors % unit);
    let up = 2 * rest > unit || (2 * rest == unit && whole % 2 == 1);
    (whole + u64::from(up)).max(1)
}

#[cfg(test)]
mod tests {
    use destage_trace::Operation;

    use super::*;

    fn request(sector: u64, sectors: u32) -> Request {
        Request {
            sector,
            sectors,
            operation: Operation::Write,
            ..Request::BLANK
        }
    }

    fn addressing(align: Align, map: AddressMap) -> Addressing {
        Addressing {
            align,
            unit_sectors: 0,
            map,
            sectors_per_page: 8,
            span_pages: 100,
        }
    }

    /// The first page, the number of pages, and the sectors at the head and at the tail that the request does not
    /// touch.
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

    /// Does the same as [`span`] for pages of `per_page` sectors, and with requests aligned to units of 4 KiB.
    fn span_of_units(
        align: Align,
        per_page: u64,
        sector: u64,
        sectors: u32,
    ) -> (u64, u32, u32, u32) {
        let addressing = Addressing {
            unit_sectors: 8,
            sectors_per_page: per_page,
            ..addressing(align, AddressMap::Refuse)
        };
        let span = addressing.span(&request(sector, sectors));
        (span.first, span.pages, span.head, span.tail)
    }

    #[test]
    fn units_may_be_larger_or_smaller_than_pages() {
        use Align::{Cover, Nearest, ReadModifyWrite};
        // A request of 12 sectors from sector 6 on touches 3 units, and 2 units are nearest to its length.
        assert_eq!(span_of_units(Cover, 2, 6, 12), (0, 12, 0, 0));
        assert_eq!(span_of_units(Nearest, 2, 6, 12), (0, 8, 0, 0));
        assert_eq!(span_of_units(Cover, 8, 6, 12), (0, 3, 0, 0));
        assert_eq!(span_of_units(ReadModifyWrite, 16, 6, 12), (0, 2, 0, 8));
        assert_eq!(span_of_units(Nearest, 16, 6, 12), (0, 1, 0, 0));
        assert_eq!(span_of_units(Nearest, 16, 13, 12), (0, 2, 0, 0));
        assert_eq!(span_of_units(Cover, 1, 7, u32::MAX), (0, u32::MAX, 0, 0));
    }

    #[test]
    fn a_unit_of_a_page_rounds_as_pages_do() {
        for sectors in 1..100 {
            let of_units = span_of_units(Align::Nearest, 8, 5, sectors);
            assert_eq!(of_units, span(Align::Nearest, 5, sectors));
        }
    }

    #[test]
    fn a_trim_is_not_enlarged() {
        let addressing = Addressing {
            unit_sectors: 8,
            sectors_per_page: 2,
            ..addressing(Align::Cover, AddressMap::Refuse)
        };
        let trim = Request {
            operation: Operation::Trim,
            ..request(10, 4)
        };
        assert_eq!(addressing.span(&trim), Span::whole(5, 2));
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
                "t:1: a request of 4294967295 sectors is longer than the device, which has 80 sectors; expected requests that fit the device, or a larger device (flash.blocks_per_plane)"
            );
            assert!(asked(81).is_err());
        }
    }
}
