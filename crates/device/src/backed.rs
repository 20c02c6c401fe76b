//! The bytes of a device whose buffer is used in front of a disk of the user.
//!
//! A [`Backed`] is used in place of a [`Payload`](crate::payload::Payload). RAM has the pages that were accepted and
//! have not left the buffer. The disk has all other pages, each at the offset given by its number. When a record is
//! emitted, its pages, including padding, are written to the disk at once, in runs of consecutive pages. Therefore
//! effects on a page happen in the order of their emission, and the data that a flush covers are written before the
//! device answers the flush. The owner of the disk has to make the written data durable.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;
use destage_buffer::destage::{Destage, DestageCause};
pub use destage_nand::medium::Fault;

use crate::driver::Note;
use crate::request::{Request, RequestKind, Span};

/// A disk, with the operations that a device needs. Offsets and lengths are in bytes. Bytes beyond the end of the
/// disk read as zeros, and writes to them have no effect.
pub trait Backing: Send {
    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The error of the disk.
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Fault>;

    /// Writes `parts` one after the other from `offset` on, in one write if possible.
    ///
    /// # Errors
    /// The error of the disk. Some of the bytes may have been written.
    fn write(&self, offset: u64, parts: &[&[u8]]) -> Result<(), Fault>;

    /// Makes the `bytes` bytes from `offset` on read as zeros, and frees their space on the disk.
    ///
    /// # Errors
    /// The error of the disk. Some of the bytes may read as zeros already.
    fn discard(&self, offset: u64, bytes: u64) -> Result<(), Fault>;

    /// Whether the bytes from `offset` on are a hole, which has no data and reads as zeros. The second value is the
    /// end of the range for which this answer is valid. A range whose state is unknown counts as data.
    fn hole(&self, offset: u64) -> (bool, u64);
}

/// The kind of contents of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// Bytes that were written.
    Data,
    /// Zeros that were written.
    Zeros,
    /// Nothing was written, so the page reads as zeros.
    Nothing,
}

/// The request that is being submitted.
#[derive(Default)]
struct Accepted {
    span: Span,
    zeroes: bool,
    /// For a write, the bytes for each page of the span.
    data: Vec<Arc<[u8]>>,
    /// The number after the last page that the request changes.
    end: u64,
}

/// The bytes in RAM and on the disk. See the [module](self).
pub struct Backed {
    disk: Box<dyn Backing>,
    page_bytes: usize,
    sector_bytes: usize,
    accepted: Accepted,
    /// Pages that were accepted and are in the buffer.
    dirty: BTreeMap<Lpn, Arc<[u8]>>,
    /// Pages that were emitted, but that could not be written to the disk.
    unsaved: BTreeMap<Lpn, Arc<[u8]>>,
    /// The latest error of the disk for pages in `unsaved`.
    fault: Option<Fault>,
    /// The pages of a write that bypasses the buffer for which [`Note::Bypassed`] has arrived so far.
    passing: Vec<(Lpn, Arc<[u8]>)>,
    zeros: Arc<[u8]>,
}

impl Backed {
    /// An empty buffer in front of `disk`, with pages of `page_bytes` bytes and `sectors` sectors.
    ///
    /// # Panics
    /// If a page does not consist of whole sectors.
    #[must_use]
    pub fn new(disk: Box<dyn Backing>, page_bytes: usize, sectors: usize) -> Self {
        assert!(
            sectors > 0 && page_bytes.is_multiple_of(sectors),
            "a page of {page_bytes} bytes has no {sectors} sectors"
        );
        Self {
            disk,
            page_bytes,
            sector_bytes: page_bytes / sectors,
            accepted: Accepted::default(),
            dirty: BTreeMap::new(),
            unsaved: BTreeMap::new(),
            fault: None,
            passing: Vec::new(),
            zeros: vec![0; page_bytes].into(),
        }
    }

    /// The caller reports that `request` is submitted next. `pieces` has the bytes of a write, [cut
    /// up](crate::payload::cut_up). After the call, the contents of `pieces` are undefined.
    pub fn accept(&mut self, request: &Request, pieces: &mut Vec<Arc<[u8]>>) {
        core::mem::swap(&mut self.accepted.data, pieces);
        self.accepted.span = match request.kind {
            RequestKind::Trim => Span::whole(request.span.first, request.span.pages),
            _ => request.span,
        };
        let last = match request.kind {
            // A strict trim writes zeros only to the pages that it covers completely.
            RequestKind::Trim => request.span.whole_pages().end,
            _ => request.span.pages,
        };
        self.accepted.end = request.span.first + u64::from(last);
        self.accepted.zeroes = request.kind != RequestKind::Write;
    }

    /// The new contents of page `offset` of the accepted request. Sectors that the request does not cover keep their
    /// contents.
    fn written(&self, page: Lpn, offset: u32) -> Result<Arc<[u8]>, Fault> {
        let Accepted {
            span,
            zeroes,
            ref data,
            ..
        } = self.accepted;
        let is_partial = span.is_partial(offset);
        if zeroes && !is_partial {
            return Ok(self.zeros.clone());
        }
        if !is_partial {
            return Ok(data[offset as usize].clone());
        }
        let mut bytes = vec![0; self.page_bytes];
        self.look(page, &mut bytes)?;
        let changed = &mut bytes[span.covered(offset, self.sector_bytes, self.page_bytes)];
        match zeroes {
            true => changed.fill(0),
            false => changed.copy_from_slice(&data[offset as usize]),
        }
        Ok(bytes.into())
    }

    fn look(&self, page: Lpn, out: &mut [u8]) -> Result<(), Fault> {
        match self.dirty.get(&page).or_else(|| self.unsaved.get(&page)) {
            Some(bytes) => out.copy_from_slice(bytes),
            None => self.disk.read(page.0 * self.page_bytes as u64, out)?,
        }
        Ok(())
    }

    /// The kind of contents of `page`, and the end of the range of pages for which this kind is valid.
    #[must_use]
    pub fn holds(&self, page: Lpn) -> (Holds, Lpn) {
        let next = Lpn(page.0 + 1);
        if let Some(bytes) = self.dirty.get(&page).or_else(|| self.unsaved.get(&page)) {
            let holds = match Arc::ptr_eq(bytes, &self.zeros) {
                true => Holds::Zeros,
                false => Holds::Data,
            };
            return (holds, next);
        }
        let held = [&self.dirty, &self.unsaved].map(|pages| pages.range(next..).next());
        let held = held.into_iter().flatten().map(|(page, _)| *page).min();
        let size = self.page_bytes as u64;
        let (is_hole, end) = self.disk.hole(page.0 * size);
        // A page counts as a hole only if the whole page is in a hole.
        let (holds, end) = match is_hole && end / size > page.0 {
            true => (Holds::Nothing, end / size),
            false if is_hole => (Holds::Data, next.0),
            false => (Holds::Data, end.div_ceil(size).max(next.0)),
        };
        (holds, held.map_or(Lpn(end), |held| held.min(Lpn(end))))
    }

    /// Appends the newest `bytes` bytes from `offset` on to `out`.
    ///
    /// # Errors
    /// The error of the disk, if it cannot read. `out` is then unchanged.
    pub fn read(&self, offset: u64, bytes: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
        let size = self.page_bytes as u64;
        let end = offset + bytes as u64;
        let pages = || Lpn(offset / size)..Lpn(end.div_ceil(size));
        let begin = out.len();
        out.resize(begin + bytes, 0);
        let count = pages().end.0 - pages().start.0;
        if (self.dirty.range(pages()).count() as u64) < count
            && let Err(fault) = self.disk.read(offset, &mut out[begin..])
        {
            out.truncate(begin);
            return Err(fault);
        }
        for (page, held) in self.unsaved.range(pages()).chain(self.dirty.range(pages())) {
            let start = page.0 * size;
            let (from, to) = (start.max(offset), (start + size).min(end));
            let at = begin + (from - offset) as usize;
            let part = &held[(from - start) as usize..(to - start) as usize];
            out[at..at + part.len()].copy_from_slice(part);
        }
        Ok(())
    }

    // ---- events of the device ----------------------------------------------------------------------------

    /// Handles the events of [`Driver::note`](crate::Driver::note) that concern contents.
    ///
    /// # Errors
    /// The error of the disk, if it cannot read the other sectors of a partly written page. The page then keeps its
    /// old contents.
    pub fn note(&mut self, note: &Note<'_>) -> Result<(), Fault> {
        match *note {
            Note::TakenIn { page, offset } => self.taken_in(page, offset)?,
            Note::Bypassed { page, offset } => self.bypassed(page, offset)?,
            Note::Trimming(span) => self.trimming(span),
            Note::Emitted(record, _) => self.record(record),
            _ => {}
        }
        Ok(())
    }

    fn taken_in(&mut self, page: Lpn, offset: u32) -> Result<(), Fault> {
        let written = self.written(page, offset)?;
        self.dirty.insert(page, written);
        Ok(())
    }

    fn bypassed(&mut self, page: Lpn, offset: u32) -> Result<(), Fault> {
        let written = self.written(page, offset);
        if let Ok(written) = &written {
            self.dirty.remove(&page);
            self.passing.push((page, written.clone()));
        } else if let Some(kept) = self.dirty.remove(&page) {
            self.passing.push((page, kept));
        }
        if page.0 + 1 == self.accepted.end {
            let passing = core::mem::take(&mut self.passing);
            self.save(passing);
        }
        written.map(|_| ())
    }

    fn trimming(&mut self, span: &Span) {
        let whole = span.whole_pages();
        if whole.is_empty() {
            return;
        }
        let (first, pages) = (span.first + u64::from(whole.start), whole.len() as u64);
        let trims = Lpn(first)..Lpn(first + pages);
        for held in [&mut self.dirty, &mut self.unsaved] {
            while let Some((page, _)) = held.range(trims.clone()).next() {
                let page = *page;
                held.remove(&page);
            }
        }
        let size = self.page_bytes as u64;
        if let Err(fault) = self.disk.discard(first * size, pages * size) {
            self.fault = Some(fault);
            let zeros = (first..first + pages).map(|page| (Lpn(page), self.zeros.clone()));
            self.unsaved.extend(zeros);
        }
    }

    fn record(&mut self, record: &Destage) {
        if record.cause == DestageCause::Bypass {
            return;
        }
        let mut leaving = Vec::with_capacity(record.pages.len() + record.pads.len());
        for dirty in &record.pages {
            // A page has no bytes in RAM if it was written back before, or if its other sectors could not be read.
            // The disk then has the contents of the page.
            if let Some(bytes) = self.dirty.remove(&dirty.page) {
                leaving.push((dirty.page, bytes));
            }
        }
        for pad in &record.pads {
            let mut bytes = vec![0; self.page_bytes];
            let at = pad.page.0 * self.page_bytes as u64;
            match self.unsaved.get(&pad.page) {
                Some(kept) => leaving.push((pad.page, kept.clone())),
                None if self.disk.read(at, &mut bytes).is_ok() => {
                    leaving.push((pad.page, bytes.into()));
                }
                // A page of padding that cannot be read is not written.
                None => {}
            }
        }
        self.save(leaving);
    }

    // ---- the disk ----------------------------------------------------------------------------------------

    fn save(&mut self, mut pages: Vec<(Lpn, Arc<[u8]>)>) {
        pages.sort_unstable_by_key(|(page, _)| *page);
        for run in pages.chunk_by(|(one, _), (next, _)| one.0 + 1 == next.0) {
            let parts: Vec<&[u8]> = run.iter().map(|(_, bytes)| &**bytes).collect();
            match self.disk.write(run[0].0.0 * self.page_bytes as u64, &parts) {
                Ok(()) => {
                    for (page, _) in run {
                        self.unsaved.remove(page);
                    }
                }
                Err(fault) => {
                    self.fault = Some(fault);
                    self.unsaved.extend(run.iter().cloned());
                }
            }
        }
    }

    /// Tries again to write the pages that could not be written to the disk.
    ///
    /// # Errors
    /// The error of the disk, if a page still cannot be written. Such pages remain in RAM, where reads find them.
    pub fn settle(&mut self) -> Result<(), Fault> {
        if self.unsaved.is_empty() {
            return Ok(());
        }
        let unsaved = core::mem::take(&mut self.unsaved);
        self.save(unsaved.into_iter().collect());
        if self.unsaved.is_empty() {
            self.fault = None;
        }
        self.fault.map_or(Ok(()), Err)
    }

    /// The error of the disk, if a page that has left the buffer could not be written to the disk.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.fault.filter(|_| !self.unsaved.is_empty())
    }
}
