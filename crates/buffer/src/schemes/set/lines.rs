//! The lines of all sets, with the slot in each line.
//!
//! Many lines of a large cache may never be used. The lines are therefore divided into chunks. A chunk is allocated
//! when the first page enters one of its sets.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// The value of a line without a page.
pub const VACANT: u32 = u32::MAX;

/// The maximum number of lines of a set. [`Places`](super::places::Places) ensures that no set crosses a multiple of
/// this number.
pub const WAYS_MAX: usize = 8;

const CHUNK_BITS: u32 = 14;
/// The number of lines of a chunk, a multiple of [`WAYS_MAX`].
const CHUNK: usize = 1 << CHUNK_BITS;

/// The lines of all sets. Within a set, vacant lines are last. The owner determines the order of the other lines.
pub struct Lines {
    /// The chunks. A chunk of length 0 is not allocated yet, and all its lines are vacant.
    chunks: Vec<Box<[u32]>>,
    len: usize,
}

impl Lines {
    /// Creates `len` vacant lines.
    pub fn new(len: usize) -> Self {
        Self {
            chunks: vec![Box::default(); len.div_ceil(CHUNK)],
            len,
        }
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The slot in the line at index `place`.
    #[inline]
    pub fn at(&self, place: usize) -> u32 {
        let chunk = &self.chunks[place >> CHUNK_BITS];
        chunk.get(place % CHUNK).copied().unwrap_or(VACANT)
    }

    /// The lines of `set`, which is a whole set or the end of a set.
    #[inline]
    pub fn of(&self, set: Range<usize>) -> &[u32] {
        let chunk = &self.chunks[set.start >> CHUNK_BITS];
        if chunk.is_empty() {
            return &[VACANT; WAYS_MAX][..set.len()];
        }
        let start = set.start % CHUNK;
        &chunk[start..start + set.len()]
    }

    /// The lines of `set`, mutable.
    #[inline]
    pub fn of_mut(&mut self, set: Range<usize>) -> &mut [u32] {
        let chunk = &mut self.chunks[set.start >> CHUNK_BITS];
        if chunk.is_empty() {
            let first = set.start & !(CHUNK - 1);
            make(chunk, CHUNK.min(self.len - first));
        }
        let start = set.start % CHUNK;
        &mut chunk[start..start + set.len()]
    }
}

#[cold]
fn make(chunk: &mut Box<[u32]>, len: usize) {
    *chunk = vec![VACANT; len].into_boxed_slice();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_vacant_until_they_are_used_and_only_used_chunks_exist() {
        let mut lines = Lines::new(3 * CHUNK + 8);
        let last = 3 * CHUNK + 4;
        assert_eq!((lines.at(last), lines.of(4..6)), (VACANT, &[VACANT; 2][..]));
        lines.of_mut(last..last + 4)[1] = 7;
        assert_eq!(lines.of(last..last + 4), [VACANT, 7, VACANT, VACANT]);
        assert_eq!((lines.at(last + 1), lines.at(5)), (7, VACANT));
        let made: Vec<_> = lines.chunks.iter().map(|chunk| chunk.len()).collect();
        assert_eq!(made, [0, 0, 0, 8]);
    }
}
