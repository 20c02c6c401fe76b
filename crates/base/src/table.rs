//! Tables that are indexed by a number, for example the number of a slot or a cluster. A table has an entry for each
//! number up to the highest number that was used. It reserves at most an eighth more memory than its entries need.
//!
//! A vector that doubles may reserve twice the memory of its contents. These tables grow by an eighth at a time
//! instead. While a table grows to its final size, each entry is copied eight times on average.

use alloc::vec::Vec;

/// Maximum number of entries for which memory is reserved at the start. A larger table grows as its entries are used,
/// so a large parameter alone never reserves much memory.
const PREPARED: u32 = 1 << 20;

/// The number of entries for which memory is reserved at the start, if the table may need `expected` entries.
#[must_use]
pub fn prepared(expected: u32) -> usize {
    expected.min(PREPARED) as usize
}

/// The entry at `index`. If the table is too short, it is first lengthened with entries that equal `vacant`.
#[inline]
pub fn at<T: Copy>(table: &mut Vec<T>, index: usize, vacant: T) -> &mut T {
    // An index inside the table, the usual case, costs one check of the bound.
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
