//! Bins that count values of any size in bounded memory.
//!
//! The range from each power of two to the next is divided into 2^`BITS` bins. So each value below 2^(`BITS` + 1)
//! has its own bin, and larger values share a bin only if they differ by less than one in 2^`BITS`.

use core::ops::RangeInclusive;

/// The number of the bin of `value`.
#[inline]
#[must_use]
pub fn bin_of<const BITS: u32>(value: u64) -> usize {
    let shift = (value | 1).ilog2().saturating_sub(BITS);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The values that share the bin `bin`.
#[must_use]
pub fn values_of<const BITS: u32>(bin: usize) -> RangeInclusive<u64> {
    let shift = (bin >> BITS).saturating_sub(1);
    let first = ((bin - (shift << BITS)) as u64) << shift;
    first..=first + ((1_u64 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const BITS: u32>() {
        let mut next = 0;
        for bin in 0..=bin_of::<BITS>(u64::MAX) {
            let values = values_of::<BITS>(bin);
            assert_eq!(*values.start(), next, "bin {bin}");
            assert_eq!(bin_of::<BITS>(*values.start()), bin);
            assert_eq!(bin_of::<BITS>(*values.end()), bin);
            assert!((values.end() - values.start()) <= (values.start() >> BITS));
            next = values.end().wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bin ends with the last value");
    }

    #[test]
    fn bins_follow_one_another_and_are_narrow() {
        check::<5>();
        check::<6>();
        check::<13>();
    }
}
