//! The pages of a block, and the sums over them.

use alloc::vec;
use alloc::vec::Vec;

use super::Spare;

/// Nothing was programmed since the last erase.
const ERASED: u16 = u16::MAX;
/// Something is there that nobody has named.
const UNKNOWN: u16 = u16::MAX - 1;
/// A program or an erase was cut off here: neither data nor spare area can be read.
const UNREADABLE: u16 = u16::MAX - 2;
/// The place of data that are zeros and not kept.
pub(super) const NO_DATA: u32 = u32::MAX;
/// The offset of an entry whose page cannot be read any more.
const LOST: u32 = u32::MAX;

/// A programmed page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub spare: Spare,
    /// Sum over the data alone.
    pub digest: u64,
    /// Where the data begins in the block's bytes; all zeros are not kept.
    pub data_at: u32,
    /// The data are where the medium keeps what is to last, and not here.
    pub is_filed: bool,
    /// Its program was cut off, and the drive does not notice.
    pub is_torn: bool,
}

/// What is known of a page.
pub(super) enum Cell<'a> {
    Erased,
    Unknown,
    Unreadable,
    Stored(&'a Stored),
}

/// A block. One that was never programmed takes no memory.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Of each page its position in `stored`, once something is programmed.
    cells: Vec<u16>,
    /// Programmed pages, in the order of programming, with their offsets.
    stored: Vec<(u32, Stored)>,
    bytes: Vec<u8>,
    /// The page after the last one programmed.
    end: u32,
    /// Nobody knows whether something is there: it may be read, and programmed.
    is_unknown: bool,
    /// How often it was erased.
    pub erases: u32,
}

/// How a block was before a page of it was programmed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    end: u32,
    is_unknown: bool,
}

impl Block {
    /// A block that was never programmed.
    pub const fn new() -> Self {
        Self {
            cells: Vec::new(),
            stored: Vec::new(),
            bytes: Vec::new(),
            end: 0,
            is_unknown: false,
            erases: 0,
        }
    }

    pub fn cell(&self, page: u32) -> Cell<'_> {
        if self.is_unknown {
            return Cell::Unknown;
        }
        match self.cells.get(page as usize) {
            None | Some(&ERASED) => Cell::Erased,
            Some(&UNKNOWN) => Cell::Unknown,
            Some(&UNREADABLE) => Cell::Unreadable,
            Some(position) => Cell::Stored(&self.stored[usize::from(*position)].1),
        }
    }

    pub fn stored(&self, page: u32) -> Option<&Stored> {
        match self.cell(page) {
            Cell::Stored(stored) => Some(stored),
            Cell::Erased | Cell::Unknown | Cell::Unreadable => None,
        }
    }

    pub fn is_programmable(&self, page: u32) -> bool {
        self.is_unknown
            || matches!(
                self.cells.get(page as usize),
                None | Some(&ERASED | &UNKNOWN)
            )
    }

    pub fn end(&self) -> u32 {
        self.end
    }

    /// Programmed pages with their offsets.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Stored)> {
        let readable = self.stored.iter().filter(|(page, _)| *page != LOST);
        readable.map(|(page, stored)| (*page, stored))
    }

    /// The `length` bytes of `stored`, unless they are zeros that are not kept.
    pub fn data(&self, stored: &Stored, length: usize) -> Option<&[u8]> {
        let first = stored.data_at as usize;
        self.bytes.get(first..first.checked_add(length)?)
    }

    /// Whether nothing was programmed since the last erase, as far as anybody knows.
    pub fn is_erased(&self) -> bool {
        self.end == 0
    }

    /// Programs `page`, of `pages`; without `data` it holds zeros. What [`Block::take_back`] goes back to.
    pub fn put(&mut self, page: u32, pages: u32, stored: Stored, data: &[u8]) -> Before {
        let before = Before {
            end: self.end,
            is_unknown: self.is_unknown,
        };
        self.is_unknown = false;
        if self.cells.is_empty() {
            let cell = if before.is_unknown { UNKNOWN } else { ERASED };
            self.cells = vec![cell; pages as usize];
        }
        self.cells[page as usize] = self.stored.len() as u16;
        let data_at = if data.is_empty() {
            NO_DATA
        } else {
            self.bytes.len() as u32
        };
        make_room(&mut self.bytes, data.len(), pages as usize);
        self.bytes.extend_from_slice(data);
        self.stored.push((page, Stored { data_at, ..stored }));
        self.end = self.end.max(page + 1);
        before
    }

    /// The program of `page`, the latest of this block, never was; what was there `before` it is again.
    pub fn take_back(&mut self, page: u32, before: Before) {
        self.forget_latest();
        self.cells[page as usize] = ERASED;
        self.end = before.end;
        if before.is_unknown {
            self.cells.clear();
            self.is_unknown = true;
        }
    }

    /// The program of `page`, the latest of this block, was cut off.
    pub fn break_latest(&mut self, page: u32) {
        self.forget_latest();
        self.cells[page as usize] = UNREADABLE;
    }

    /// What is left of the program of `page`, which was cut off.
    pub fn restore_torn(&mut self, page: u32, stored: Stored, data: &[u8]) {
        let end = self.end;
        self.put(page, end, stored, data);
    }

    /// `page`, whose data were elsewhere, holds `data` here.
    pub fn hold(&mut self, page: u32, data: &[u8]) {
        let position = self.cells.get(page as usize).copied();
        let stored = position.and_then(|position| self.stored.get_mut(usize::from(position)));
        if let Some((_, stored)) = stored {
            stored.is_filed = false;
            stored.data_at = self.bytes.len() as u32;
            self.bytes.extend_from_slice(data);
        }
    }

    /// Gives the data of all pages, of `length` bytes each, to `file`, which has them from now on.
    pub fn file_all(&mut self, length: usize, mut file: impl FnMut(u32, &[u8])) {
        for (page, stored) in &mut self.stored {
            let first = stored.data_at as usize;
            if *page != LOST
                && stored.data_at != NO_DATA
                && let Some(data) = self.bytes.get(first..first + length)
            {
                file(*page, data);
                stored.is_filed = true;
                stored.data_at = NO_DATA;
            }
        }
        self.bytes = Vec::new();
    }

    /// `page`, of `pages`, is found to be unreadable.
    pub fn spoil(&mut self, page: u32, pages: u32) {
        if self.cells.is_empty() {
            self.cells = vec![ERASED; pages as usize];
        }
        self.cells[page as usize] = UNREADABLE;
        self.end = self.end.max(page + 1);
    }

    fn forget_latest(&mut self) {
        if let Some((_, stored)) = self.stored.pop()
            && stored.data_at != NO_DATA
        {
            self.bytes.truncate(stored.data_at as usize);
        }
    }

    /// `page`, programmed long ago, cannot be read any more; whether it could be before.
    pub fn lose(&mut self, page: u32) -> bool {
        let Some(cell) = self.cells.get_mut(page as usize) else {
            return false;
        };
        let position = core::mem::replace(cell, UNREADABLE);
        let stored = self.stored.get_mut(usize::from(position));
        if let Some((offset, _)) = stored {
            *offset = LOST;
            return true;
        }
        *cell = position;
        false
    }

    /// The erase of the block, which has `pages` pages, was cut off.
    pub fn break_erase(&mut self, pages: u32) {
        *self = Self {
            cells: vec![UNREADABLE; pages as usize],
            end: pages,
            erases: self.erases,
            ..Self::new()
        };
    }

    /// The rest of a block of a device filled before: nobody knows what it holds, or whether anything.
    pub fn fill_up(&mut self) {
        self.is_unknown = self.cells.is_empty();
        let rest = self.cells.iter_mut().filter(|cell| **cell == ERASED);
        rest.for_each(|cell| *cell = UNKNOWN);
    }

    /// Nothing is behind `page`, which is about to be programmed.
    pub fn know_behind(&mut self, page: u32) {
        let behind = self.cells.iter_mut().skip(page as usize + 1);
        let unknown = behind.filter(|cell| **cell == UNKNOWN);
        unknown.for_each(|cell| *cell = ERASED);
    }

    /// Erases it; what it was before.
    pub fn erase(&mut self) -> Self {
        let erased = Self {
            erases: self.erases + 1,
            ..Self::new()
        };
        core::mem::replace(self, erased)
    }
}

const PRIME: u64 = 0x0000_0100_0000_01B3;

fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(PRIME).rotate_left(23)
}

/// A sum over `data`, by which contents are told apart.
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

/// The check sum of a page whose data have the sum `digest`.
pub(super) fn check_sum(spare: &Spare, digest: u64) -> u64 {
    let words = [
        spare.kind as u64,
        spare.page.map_or(u64::MAX, |page| page.0),
        spare.version,
        spare.program,
        spare.purpose.role as u64,
        spare.purpose.owner.map_or(u64::MAX, u64::from),
    ];
    words.into_iter().fold(digest, mix)
}

/// Takes memory for `length` bytes more in a block of `pages` pages: for a few pages at first, and for all when they are
/// used up. So a block with few pages stays small, one that fills up is hardly ever moved, and the memory of one that
/// was erased fits the next.
fn make_room(bytes: &mut Vec<u8>, length: usize, pages: usize) {
    const FEW: usize = 8;
    let used = bytes.len();
    if used + length > bytes.capacity() {
        let whole = length * pages;
        let wanted = if used == 0 {
            whole.min(FEW * length)
        } else {
            whole
        };
        bytes.reserve_exact(wanted.saturating_sub(used).max(length));
    }
}
