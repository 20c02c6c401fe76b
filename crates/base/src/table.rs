//! Tables by number, such as by slot or by cluster: as long as the highest number that was used, and little longer in memory.
//!
//! A vector that grows by doubling may reserve twice the memory of its contents. These grow by an eighth at a time: each
//! entry is copied eight times on average until the largest size is reached, and never after.

use alloc::vec::Vec;

/// Up to this many entries, memory is set aside at the start. A larger table grows as it is used, so its memory never follows from a parameter alone.
const PREPARED: u32 = 1 << 20;

/// For how many of `expected` entries memory is set aside at the start.
#[must_use]
pub fn prepared(expected: u32) -> usize {
    expected.min(PREPARED) as usize
}

/// The entry at `index`; if the table ends before, it is made longer by `vacant` entries.
#[inline]
pub fn at<T: Copy>(table: &mut Vec<T>, index: usize, vacant: T) -> &mut T {
    // The usual path checks the bound once.
    if index < table.len() {
        return &mut table[index];
    }
    lengthen(table, index + 1, vacant);
    &mut table[index]
}

#[cold]
fn lengthen<T: Copy>(table: &mut Vec<T>, len: usize, vacant: T) {
    if len > table.capacity() {
        table.reserve_exact(len + len / 8 - table.len());
    }
    table.resize(len, vacant);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_is_given_and_little_more() {
        let mut table = Vec::new();
        let mut moves = 0;
        for index in 0..100_000 {
            let before = table.capacity();
            *at(&mut table, index, usize::MAX) = index;
            moves += u32::from(table.capacity() != before);
        }
        assert!(table.iter().copied().eq(0..100_000));
        assert!(table.capacity() <= 112_500 && moves < 120, "{moves} moves");
        *at(&mut table, 100_002, 7) += 1;
        assert_eq!(table[100_000..], [7, 7, 8]);
    }
}
