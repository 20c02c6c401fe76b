//! The pages of a block, and the checksum of their contents.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;

use super::Spare;
use crate::filled::Filled;

/// Code of a page that has not been programmed since the last erase.
const ERASED: u16 = u16::MAX;
/// Code of a page of a filled device that holds no logical page. It is unknown whether the page was programmed.
const UNKNOWN: u16 = u16::MAX - 1;
/// Code of an unreadable page: its program, or the erase of its block, was cut off. Neither its data nor its spare
/// area can be read.
const UNREADABLE: u16 = u16::MAX - 2;
/// Code of a page that holds the contents of a fill.
const FILLED: u16 = u16::MAX - 3;
/// The offset in entries of `stored` whose page has become unreadable.
const LOST: u32 = u32::MAX;

/// The bytes of a programmed page.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Zeros that are not stored: the page is a map or a summary.
    Zeros,
    /// The bytes themselves.
    Here(Arc<[u8]>),
    /// The bytes are in the store of the medium. The number is their checksum.
    Filed(u64),
}

/// The contents of a programmed page.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub spare: Spare,
    pub data: Data,
    /// Whether the program was cut off, and the drive does not notice this.
    pub is_torn: bool,
}

impl Stored {
    /// The contents of a page that a fill has programmed as the logical `page`.
    pub fn filled(page: Lpn) -> Self {
        Self {
            spare: Spare::filled(page),
            data: Data::Zeros,
            is_torn: false,
        }
    }
}

/// What is known about a page.
pub(super) enum Cell<'a> {
    Erased,
    Unknown,
    Unreadable,
    /// A fill before the first request has programmed this logical page here.
    Filled(Lpn),
    Stored(&'a Stored),
}

/// The state of a block. A block that was never programmed allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The contents that a fill has programmed before the first request; `Nothing` after the next erase of the block.
    filled: Filled,
    /// For each page its position in `stored`, or one of the codes above. Empty until, after the fill or the last
    /// erase, a page is programmed or becomes unreadable.
    cells: Vec<u16>,
    /// The programmed pages with their offsets, in the order of programming.
    stored: Vec<(u32, Stored)>,
    /// The number after the last programmed page.
    end: u32,
    /// Whether the contents of all pages are unknown, so that pages may be both read and programmed.
    is_unknown: bool,
    /// How often the block was erased.
    pub erases: u32,
    /// Number of pages that were programmed or became unreadable before the latest erase, counted over all erases.
    pub earlier: u64,
}

/// Those fields of a block that the program of a page changes, with their values before the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    end: u32,
    is_unknown: bool,
}

impl Block {
    /// A block that was never programmed.
    pub const fn new() -> Self {
        Self {
            filled: Filled::Nothing,
            cells: Vec::new(),
            stored: Vec::new(),
            end: 0,
            is_unknown: false,
            erases: 0,
            earlier: 0,
        }
    }

    pub fn cell(&self, page: u32) -> Cell<'_> {
        match self.code(page) {
            ERASED => Cell::Erased,
            UNKNOWN => Cell::Unknown,
            UNREADABLE => Cell::Unreadable,
            FILLED => self.filled.at(page).map_or(Cell::Unknown, Cell::Filled),
            position => Cell::Stored(&self.stored[usize::from(position)].1),
        }
    }

    /// The entry of `page` in `cells`. If `cells` is empty, this is the entry that `page` would have.
    fn code(&self, page: u32) -> u16 {
        match self.cells.get(page as usize) {
            Some(code) => *code,
            None if self.filled.at(page).is_some() => FILLED,
            None if self.is_unknown || !self.filled.is_nothing() => UNKNOWN,
            None => ERASED,
        }
    }

    /// If `cells` is empty, fills it for a block of `pages` pages.
    fn make_cells(&mut self, pages: u32) {
        if self.cells.is_empty() {
            self.cells = (0..pages).map(|page| self.code(page)).collect();
        }
    }

    pub fn stored(&self, page: u32) -> Option<&Stored> {
        match self.cell(page) {
            Cell::Stored(stored) => Some(stored),
            Cell::Erased | Cell::Unknown | Cell::Unreadable | Cell::Filled(_) => None,
        }
    }

    /// The spare area of `page`, if it can be read.
    pub fn spare(&self, page: u32) -> Option<Spare> {
        match self.cell(page) {
            Cell::Stored(stored) => Some(stored.spare),
            Cell::Filled(page) => Some(Spare::filled(page)),
            Cell::Erased | Cell::Unknown | Cell::Unreadable => None,
        }
    }

    pub fn is_programmable(&self, page: u32) -> bool {
        matches!(self.code(page), ERASED | UNKNOWN)
    }

    pub fn end(&self) -> u32 {
        self.end
    }

    /// The readable programmed pages, with their offsets. Pages that a fill has programmed are left out.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Stored)> {
        let readable = self.stored.iter().filter(|(page, _)| *page != LOST);
        readable.map(|(page, stored)| (*page, stored))
    }

    /// The pages that a fill has programmed in this block: offsets and logical pages.
    pub fn filled(&self) -> impl Iterator<Item = (u32, Lpn)> {
        let is_there = |(page, _): &(u32, Lpn)| self.code(*page) == FILLED;
        self.filled.pages().filter(is_there)
    }

    /// The contents of a fill, if no operation has changed the block since the fill.
    pub fn as_filled(&self) -> Option<&Filled> {
        let is_so = self.cells.is_empty() && !self.filled.is_nothing();
        is_so.then_some(&self.filled)
    }

    /// Number of pages that have been programmed or have become unreadable since the last erase.
    pub fn entries(&self) -> u64 {
        let known = self.cells.iter();
        let known = known.filter(|cell| **cell != ERASED && **cell != UNKNOWN);
        match self.cells.is_empty() {
            true => self.filled.pages().count() as u64,
            false => known.count() as u64,
        }
    }

    /// Whether, as far as is known, no page has been programmed since the last erase.
    pub fn is_erased(&self) -> bool {
        self.end == 0
    }

    /// Programs `page` in a block of `pages` pages. Returns the state before, for [`Block::take_back`].
    pub fn put(&mut self, page: u32, pages: u32, stored: Stored) -> Before {
        let before = Before {
            end: self.end,
            is_unknown: self.is_unknown,
        };
        self.make_cells(pages);
        self.is_unknown = false;
        self.cells[page as usize] = self.stored.len() as u16;
        self.stored.push((page, stored));
        self.end = self.end.max(page + 1);
        before
    }

    /// Undoes the program of `page`. Restores the state `before` the program, but retains later programs in the
    /// block.
    pub fn take_back(&mut self, page: u32, before: Before) {
        if self.cells.get(page as usize) == Some(&UNREADABLE) {
            // A later erase of the block was cut off, so there is nothing to restore.
            return;
        }
        self.drop_stored(page);
        self.cells[page as usize] = ERASED;
        let is_last = self.end == page + 1;
        if is_last {
            self.end = before.end;
        }
        if is_last && before.is_unknown {
            self.cells.clear();
            self.is_unknown = true;
        }
    }

    /// Makes `page` unreadable, because its program was cut off.
    pub fn break_off(&mut self, page: u32) {
        self.drop_stored(page);
        self.cells[page as usize] = UNREADABLE;
    }

    /// Removes the contents that were programmed at `page`.
    fn drop_stored(&mut self, page: u32) {
        let position = usize::from(self.cells[page as usize]);
        if position + 1 == self.stored.len() {
            self.stored.pop();
        } else if let Some((offset, _)) = self.stored.get_mut(position) {
            *offset = LOST;
        }
    }

    /// Stores `stored` as the contents of the torn `page`, whose program was cut off.
    pub fn restore_torn(&mut self, page: u32, stored: Stored) {
        let end = self.end;
        self.put(page, end, stored);
    }

    /// Holds the `bytes` of `page` in RAM from now on. So far only the store had these bytes.
    pub fn hold(&mut self, page: u32, bytes: Arc<[u8]>) {
        let position = self.cells.get(page as usize).copied();
        let stored = position.and_then(|position| self.stored.get_mut(usize::from(position)));
        if let Some((_, stored)) = stored {
            stored.data = Data::Here(bytes);
        }
    }

    /// Passes the bytes of every page that are in RAM to `file`, which stores the bytes. From then on the block has
    /// only their checksums.
    pub fn file_all(&mut self, mut file: impl FnMut(u32, &[u8])) {
        for (page, stored) in &mut self.stored {
            if *page != LOST
                && let Data::Here(bytes) = &stored.data
            {
                file(*page, bytes);
                stored.data = Data::Filed(digest(bytes));
            }
        }
    }

    /// Makes `page` unreadable, in a block of `pages` pages, because the page's entry in the store is invalid.
    pub fn spoil(&mut self, page: u32, pages: u32) {
        self.make_cells(pages);
        self.cells[page as usize] = UNREADABLE;
        self.end = self.end.max(page + 1);
    }

    /// Makes `page` unreadable, in a block of `pages` pages, although its program has ended.
    pub fn lose(&mut self, page: u32, pages: u32) {
        self.make_cells(pages);
        let code = core::mem::replace(&mut self.cells[page as usize], UNREADABLE);
        if let Some((offset, _)) = self.stored.get_mut(usize::from(code)) {
            *offset = LOST;
        }
    }

    /// Makes all `pages` pages of the block unreadable, because its erase was cut off.
    pub fn break_erase(&mut self, pages: u32) {
        *self = Self {
            cells: vec![UNREADABLE; pages as usize],
            end: pages,
            erases: self.erases,
            earlier: self.earlier,
            ..Self::new()
        };
    }

    /// A fill before the first request programs the logical page `logical` at `page`, in a block of `pages` pages.
    pub fn fill(&mut self, page: u32, logical: Lpn, pages: u32) {
        self.filled.put(page, logical, pages);
        self.end = self.end.max(page + 1);
    }

    /// Called for each block of a filled device. If the fill has programmed no page of the block, the contents of all
    /// its pages are unknown.
    pub fn fill_up(&mut self) {
        self.is_unknown = self.filled.is_nothing();
    }

    /// Makes unknown pages after `page` erased pages: `page` is programmed in ascending order, so all pages after it
    /// are erased.
    pub fn know_behind(&mut self, page: u32) {
        let behind = self.cells.iter_mut().skip(page as usize + 1);
        let unknown = behind.filter(|cell| **cell == UNKNOWN);
        unknown.for_each(|cell| *cell = ERASED);
    }

    /// Erases the block and returns its former state.
    pub fn erase(&mut self) -> Self {
        let erased = Self {
            erases: self.erases + 1,
            earlier: self.earlier + self.entries(),
            ..Self::new()
        };
        core::mem::replace(self, erased)
    }
}

const PRIME: u64 = 0x0000_0100_0000_01B3;

fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(PRIME).rotate_left(23)
}

/// A checksum over `data`, for the comparison of contents.
#[must_use]
pub fn digest(data: &[u8]) -> u64 {
    let mut sum = 0xCBF2_9CE4_8422_2325;
    // Four sums are computed in parallel, because each step of one sum has to wait for the step before.
    let (quads, rest) = data.as_chunks::<32>();
    let mut sums = [1, 2, 3, 4];
    for quad in quads {
        let (words, _) = quad.as_chunks::<8>();
        for (sum, word) in sums.iter_mut().zip(words) {
            *sum = mix(*sum, u64::from_le_bytes(*word));
        }
    }
    for one in sums {
        sum = mix(sum, one);
    }
    for byte in rest {
        sum = mix(sum, u64::from(*byte));
    }
    sum
}
