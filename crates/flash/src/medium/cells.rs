//! The pages of a block, and the sums over them.

use alloc::vec;
use alloc::vec::Vec;

use super::Spare;

/// Nothing was programmed since the last erase.
const ERASED: u16 = u16::MAX;
/// Something is there that nobody has named.
const UNKNOWN: u16 = u16::MAX - 1;

/// A programmed page.
#[derive(Clone, Copy)]
pub(super) struct Stored {
    pub spare: Spare,
    /// Sum over the data alone.
    pub digest: u64,
    /// Where the data begins in the block's bytes; all zeros are not kept.
    pub data_at: u32,
}

/// What is known of a page.
pub(super) enum Cell<'a> {
    Erased,
    Unknown,
    Stored(&'a Stored),
}

/// A block. One that was never programmed takes no memory.
#[derive(Default)]
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
}

impl Block {
    pub fn cell(&self, page: u32) -> Cell<'_> {
        if self.is_unknown {
            return Cell::Unknown;
        }
        match self.cells.get(page as usize) {
            None | Some(&ERASED) => Cell::Erased,
            Some(&UNKNOWN) => Cell::Unknown,
            Some(position) => Cell::Stored(&self.stored[usize::from(*position)].1),
        }
    }

    pub fn stored(&self, page: u32) -> Option<&Stored> {
        match self.cell(page) {
            Cell::Stored(stored) => Some(stored),
            Cell::Erased | Cell::Unknown => None,
        }
    }

    pub fn is_programmable(&self, page: u32) -> bool {
        self.is_unknown || matches!(self.cell(page), Cell::Erased)
    }

    pub fn end(&self) -> u32 {
        self.end
    }

    /// Programmed pages with their offsets.
    pub fn all(&self) -> impl Iterator<Item = (u32, &Stored)> {
        self.stored.iter().map(|(page, stored)| (*page, stored))
    }

    /// The `length` bytes of `stored`, unless they are zeros that are not kept.
    pub fn data(&self, stored: &Stored, length: usize) -> Option<&[u8]> {
        let first = stored.data_at as usize;
        self.bytes.get(first..first.checked_add(length)?)
    }

    /// Programs `page`, of `pages`; without `data` it holds zeros.
    pub fn put(&mut self, page: u32, pages: u32, stored: Stored, data: &[u8]) {
        self.is_unknown = false;
        if self.cells.is_empty() {
            self.cells = vec![ERASED; pages as usize];
        }
        self.cells[page as usize] = self.stored.len() as u16;
        let data_at = if data.is_empty() {
            u32::MAX
        } else {
            self.bytes.len() as u32
        };
        make_room(&mut self.bytes, data.len(), pages as usize);
        self.bytes.extend_from_slice(data);
        self.stored.push((page, Stored { data_at, ..stored }));
        self.end = self.end.max(page + 1);
    }

    /// The rest of a block of a device filled before: programmed behind pages that are known.
    pub fn fill_up(&mut self, pages: u32) {
        if self.cells.is_empty() {
            self.is_unknown = true;
            return;
        }
        for cell in self.cells.iter_mut().filter(|cell| **cell == ERASED) {
            *cell = UNKNOWN;
        }
        self.end = pages;
    }

    pub fn erase(&mut self) {
        *self = Self {
            cells: core::mem::take(&mut self.cells),
            ..Self::default()
        };
        self.cells.fill(ERASED);
    }
}

const PRIME: u64 = 0x0000_0100_0000_01B3;

fn mix(sum: u64, word: u64) -> u64 {
    (sum ^ word).wrapping_mul(PRIME).rotate_left(23)
}

/// A sum over the bytes of a page.
pub(super) fn digest(data: &[u8]) -> u64 {
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
