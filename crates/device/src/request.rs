//! The requests that a host sends to the device.

use core::ops::Range;

use destage_base::Lpn;

/// The pages of one request. They are consecutive, and continue at page 0 after the last page of the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// The first page; smaller than the number of pages of the device.
    pub first: u64,
    /// Number of pages; at least 1.
    pub pages: u32,
    /// Number of sectors of the first page that lie before the request.
    pub head: u32,
    /// Number of sectors of the last page that lie after the request.
    pub tail: u32,
}

impl Span {
    /// A span of `pages` whole pages from `first` on.
    #[must_use]
    pub fn whole(first: u64, pages: u32) -> Self {
        Self {
            first,
            pages,
            head: 0,
            tail: 0,
        }
    }

    /// The number of the last page, without wrapping at the end of the device.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.first + u64::from(self.pages) - 1
    }

    /// Whether the request covers only some sectors of page `offset` of the span.
    #[must_use]
    #[inline]
    pub fn is_partial(&self, offset: u32) -> bool {
        (offset == 0 && self.head > 0) || (offset + 1 == self.pages && self.tail > 0)
    }

    /// The range of bytes of page `offset` that the span covers. A page has `page_bytes` bytes, and a sector
    /// `sector_bytes`.
    #[must_use]
    pub(crate) fn covered(
        &self,
        offset: u32,
        sector_bytes: usize,
        page_bytes: usize,
    ) -> Range<usize> {
        let head = if offset == 0 { self.head } else { 0 };
        let is_last = offset + 1 == self.pages;
        let tail = if is_last { self.tail } else { 0 };
        head as usize * sector_bytes..page_bytes - tail as usize * sector_bytes
    }

    /// The logical page for page `offset` of the span, on a device of `device_pages` pages.
    #[must_use]
    #[inline]
    pub fn page(&self, offset: u32, device_pages: u64) -> Lpn {
        let page = self.first + u64::from(offset);
        Lpn(if page < device_pages {
            page
        } else {
            page % device_pages
        })
    }

    /// Whether `page` is in the span, on a device of `device_pages` pages.
    #[must_use]
    pub fn has(&self, page: Lpn, device_pages: u64) -> bool {
        let first = self.first % device_pages;
        let offset = match page.0 >= first {
            true => page.0 - first,
            false => page.0 + device_pages - first,
        };
        offset < u64::from(self.pages)
    }

    /// The pages that the span covers completely, as a range of offsets in the span.
    #[must_use]
    pub fn whole_pages(&self) -> Range<u32> {
        let first = u32::from(self.head > 0);
        let end = self.pages - u32::from(self.tail > 0);
        first..end.max(first)
    }

    /// The pages that the span covers completely, as ranges of pages on a device of `device_pages` pages. If the span
    /// wraps at the end of the device, there is one range for each section between two wraps.
    pub fn whole_parts(&self, device_pages: u64) -> impl Iterator<Item = Range<u64>> + use<> {
        let whole = self.whole_pages();
        let mut at = self.first + u64::from(whole.start);
        let end = self.first + u64::from(whole.end);
        core::iter::from_fn(move || {
            let start = at % device_pages;
            let part = start..start + (end - at).min(device_pages - start);
            at += part.end - part.start;
            (!part.is_empty()).then_some(part)
        })
    }
}

/// The kind of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestKind {
    /// Reads the newest contents.
    Read,
    /// Writes new contents.
    Write,
    /// Writes zeros. The zeros are buffered and programmed like written data.
    WriteZeroes,
    /// Tells the device that the contents are not needed any more.
    Trim,
    /// Makes all writes durable that have been answered so far.
    Flush,
}

/// One host request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The kind of the request.
    pub kind: RequestKind,
    /// The pages of the request. The span has no meaning for a flush.
    pub span: Span,
    /// Force unit access: the request is answered only when its own data are durable.
    pub fua: bool,
}

impl Request {
    /// The write that is presented to the buffer for this request; `None` if no write is presented. With
    /// `strict_trim`, a trim writes zeros to the pages that it covers completely.
    #[must_use]
    pub fn as_write(&self, strict_trim: bool) -> Option<Self> {
        match self.kind {
            RequestKind::Write | RequestKind::WriteZeroes => Some(*self),
            RequestKind::Trim if strict_trim => {
                let whole = self.span.whole_pages();
                let first = self.span.first + u64::from(whole.start);
                (!whole.is_empty()).then(|| Self {
                    kind: RequestKind::WriteZeroes,
                    span: Span::whole(first, whole.len() as u32),
                    fua: self.fua,
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_partial_where_the_request_leaves_sectors_out() {
        let span = Span {
            first: 6,
            pages: 3,
            head: 2,
            tail: 0,
        };
        assert_eq!(
            [0, 1, 2].map(|page| span.is_partial(page)),
            [true, false, false]
        );
        assert_eq!(span.whole_pages(), 1..3);
        let parts = |span: Span, pages| {
            span.whole_parts(pages)
                .map(|part| (part.start, part.end))
                .collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(parts(span, 100), [(7, 9)]);
        assert_eq!(parts(span, 8), [(7, 8), (0, 1)]);
        assert_eq!(
            parts(Span::whole(2, 8), 3),
            [(2, 3), (0, 3), (0, 3), (0, 1)]
        );
        assert_eq!([0, 1, 2].map(|page| span.page(page, 8).0), [6, 7, 0]);
        let has = [0, 1, 5, 6, 7].map(|page| span.has(Lpn(page), 8));
        assert_eq!(has, [true, false, false, true, true]);
        let within = Span {
            first: 0,
            pages: 1,
            head: 1,
            tail: 1,
        };
        assert!(within.is_partial(0));
        assert!(within.whole_pages().is_empty());
        assert!(parts(within, 8).is_empty());
    }
}
