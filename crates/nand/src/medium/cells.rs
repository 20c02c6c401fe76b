//! The pages of a block, and the sums over them.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;

use super::Spare;
use crate::filled::Filled;

/// Nothing was programmed since the last erase.
const ERASED: u16 = u16::MAX;
/// A page was programmed without a name.
const UNKNOWN: u16 = u16::MAX - 1;
/// A program or an erase was cut off here: neither data nor spare area can be read.
const UNREADABLE: u16 = u16::MAX - 2;
/// The contents that a fill has left are there.
const FILLED: u16 = u16::MAX - 3;
/// The offset of an entry whose page cannot be read any more.
const LOST: u32 = u32::MAX;

/// The bytes of a programmed page.
#[derive(Clone, Debug)]
pub(super) enum Data {
    /// Zeros that are not kept: maps and summaries.
    Zeros,
    /// The bytes themselves.
    Here(Arc<[u8]>),
    /// The bytes are where the medium keeps durable data, and have this sum.
    Filed(u64),
}

/// A programmed page.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub spare: Spare,
    pub data: Data,
    /// Its program was cut off, and the drive does not notice.
    pub is_torn: bool,
}

impl Stored {
    /// The contents that a fill has programmed as `page`.
    pub fn filled(page: Lpn) -> Self {
        Self {
            spare: Spare::filled(page),
            data: Data::Zeros,
            is_torn: false,
        }
    }
}

/// The known state of a page.
pub(super) enum Cell<'a> {
    Erased,
    Unknown,
    Unreadable,
    /// A fill before the first request has left this logical page.
    Filled(Lpn),
    Stored(&'a Stored),
}

/// A block. One that was never programmed takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The contents that a fill before the first request has left, until the block is erased.
    filled: Filled,
    /// For each page its position in `stored`, once a page after those is programmed.
    cells: Vec<u16>,
    /// Programmed pages, in the order of programming, with their offsets.
    stored: Vec<(u32, Stored)>,
    /// The page after the last one programmed.
    end: u32,
    /// It is not known whether something is there: it may be read, and programmed.
    is_unknown: bool,
    /// How often it was erased.
    pub erases: u32,
    /// Pages that were programmed before the latest erase, or found unreadable.
    pub earlier: u64,
}

/// The state of a block before a page of it was programmed.
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

    /// The entry of `page` in `cells`, or the one that it would have.
    fn code(&self, page: u32) -> u16 {
        match self.cells.get(page as usize) {
            Some(code) => *code,
            None if self.filled.at(page).is_some() => FILLED,
            None if self.is_unknown || !self.filled.is_nothing() => UNKNOWN,
            None => ERASED,
        }
    }

    /// Makes the entries of its `pages`.
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

    /// The spare area of `page`, if that can be read.
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

    /// Programmed pages with their offsets, except those that a fill has left.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Stored)> {
        let readable = self.stored.iter().filter(|(page, _)| *page != LOST);
        readable.map(|(page, stored)| (*page, stored))
    }

    /// The contents that a fill has left here, with the offsets.
    pub fn filled(&self) -> impl Iterator<Item = (u32, Lpn)> {
        let is_there = |(page, _): &(u32, Lpn)| self.code(*page) == FILLED;
        self.filled.pages().filter(is_there)
    }

    /// The contents that a fill has left, if nothing has happened to the block since.
    pub fn as_filled(&self) -> Option<&Filled> {
        let is_so = self.cells.is_empty() && !self.filled.is_nothing();
        is_so.then_some(&self.filled)
    }

    /// Pages that were programmed since the last erase, or are unreadable.
    pub fn entries(&self) -> u64 {
        let known = self.cells.iter();
        let known = known.filter(|cell| **cell != ERASED && **cell != UNKNOWN);
        match self.cells.is_empty() {
            true => self.filled.pages().count() as u64,
            false => known.count() as u64,
        }
    }

    /// Whether nothing is known to have been programmed since the last erase.
    pub fn is_erased(&self) -> bool {
        self.end == 0
    }

    /// Programs `page`, of `pages`. The state to which [`Block::take_back`] returns.
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

    /// Undoes the program of `page`: the state `before` it is restored, except for later programs in the block.
    pub fn take_back(&mut self, page: u32, before: Before) {
        if self.cells.get(page as usize) == Some(&UNREADABLE) {
            // A later erase was cut off.
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

    /// The program of `page` was cut off.
    pub fn break_off(&mut self, page: u32) {
        self.drop_stored(page);
        self.cells[page as usize] = UNREADABLE;
    }

    /// The contents programmed at `page` are void.
    fn drop_stored(&mut self, page: u32) {
        let position = usize::from(self.cells[page as usize]);
        if position + 1 == self.stored.len() {
            self.stored.pop();
        } else if let Some((offset, _)) = self.stored.get_mut(position) {
            *offset = LOST;
        }
    }

    /// The remains of the program of `page`, which was cut off.
    pub fn restore_torn(&mut self, page: u32, stored: Stored) {
        let end = self.end;
        self.put(page, end, stored);
    }

    /// `page`, whose bytes were elsewhere, has `bytes` here.
    pub fn hold(&mut self, page: u32, bytes: Arc<[u8]>) {
        let position = self.cells.get(page as usize).copied();
        let stored = position.and_then(|position| self.stored.get_mut(usize::from(position)));
        if let Some((_, stored)) = stored {
            stored.data = Data::Here(bytes);
        }
    }

    /// Gives the bytes of all pages that are here to `file`, which has them from now on.
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

    /// `page`, of `pages`, is found to be unreadable.
    pub fn spoil(&mut self, page: u32, pages: u32) {
        self.make_cells(pages);
        self.cells[page as usize] = UNREADABLE;
        self.end = self.end.max(page + 1);
    }

    /// `page`, of `pages`, was programmed long ago and cannot be read any more.
    pub fn lose(&mut self, page: u32, pages: u32) {
        self.make_cells(pages);
        let code = core::mem::replace(&mut self.cells[page as usize], UNREADABLE);
        if let Some((offset, _)) = self.stored.get_mut(usize::from(code)) {
            *offset = LOST;
        }
    }

    /// The erase of the block, which has `pages` pages, was cut off.
    pub fn break_erase(&mut self, pages: u32) {
        *self = Self {
            cells: vec![UNREADABLE; pages as usize],
            end: pages,
            erases: self.erases,
            earlier: self.earlier,
            ..Self::new()
        };
    }

    /// A fill before the first request leaves `logical` at `page`, of `pages`.
    pub fn fill(&mut self, page: u32, logical: Lpn, pages: u32) {
        self.filled.put(page, logical, pages);
        self.end = self.end.max(page + 1);
    }

    /// A block of a device filled before: the contents of its other pages are unknown, and so is whether they have any.
    pub fn fill_up(&mut self) {
        self.is_unknown = self.filled.is_nothing();
    }

    /// Nothing is behind `page`, which is about to be programmed.
    pub fn know_behind(&mut self, page: u32) {
        let behind = self.cells.iter_mut().skip(page as usize + 1);
        let unknown = behind.filter(|cell| **cell == UNKNOWN);
        unknown.for_each(|cell| *cell = ERASED);
    }

    /// Erases it; returns its former state.
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

pub(super) fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(PRIME).rotate_left(23)
}

/// A sum over `data`, by which contents are compared.
#[must_use]
pub fn digest(data: &[u8]) -> u64 {
    let mut sum = 0xCBF2_9CE4_8422_2325;
    // Four sums side by side, as the next step of one has to wait for the last.
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
