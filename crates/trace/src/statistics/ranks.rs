//! Spearman's rank correlation over pairs of values. Equal pairs are given once, with their number.

use std::cmp::Ordering;

/// Several equal pairs of values: the first value is a whole number, the second a fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs {
    /// The number of these pairs; not 0.
    pub times: u64,
    /// The first value.
    pub whole: u64,
    /// The numerator of the second value.
    pub numerator: u64,
    /// The denominator of the second value; not 0.
    pub denominator: u64,
}

impl Pairs {
    /// The second value, rounded.
    fn fraction(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Compares the second values exactly, without rounding.
    fn by_fraction(&self, other: &Self) -> Ordering {
        let product = |left: u64, right: u64| u128::from(left) * u128::from(right);
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }
}

/// Spearman's rank correlation of the two values of `pairs`; equal values get the mean of their ranks. `None`
/// if there are no pairs, or one of the values is the same in all pairs.
pub(super) fn rank_correlation(pairs: &[Pairs]) -> Option<f64> {
    let first = deviations(pairs, |pairs| pairs.whole, |_, _| Ordering::Equal);
    let second = match rounding_keeps_order(pairs) {
        // Numbers that are not negative have the order of their bits.
        true => deviations(
            pairs,
            |pairs| pairs.fraction().to_bits(),
            |_, _| Ordering::Equal,
        ),
        false => deviations(pairs, |_| 0, Pairs::by_fraction),
    };
    let sum = |left: &[f64], right: &[f64]| -> f64 {
        let products = left.iter().zip(right).map(|(left, right)| left * right);
        let weighted = pairs
            .iter()
            .zip(products)
            .map(|(pairs, product)| pairs.times as f64 * product);
        weighted.sum()
    };
    let spread = sum(&first, &first) * sum(&second, &second);
    (spread > 0.0).then(|| sum(&first, &second) / spread.sqrt())
}

/// Whether the rounded second values certainly have the order of the exact ones. If the numerator and the denominator
/// have together at most 51 bits, two different fractions differ by more than one in 2^51, and rounding changes each by
/// at most one in 2^53.
fn rounding_keeps_order(pairs: &[Pairs]) -> bool {
    let bits = |of: fn(&Pairs) -> u64| {
        let most = pairs.iter().map(of).max().unwrap_or(0);
        u64::BITS - most.leading_zeros()
    };
    bits(|pairs| pairs.numerator) + bits(|pairs| pairs.denominator) <= 51
}

/// The difference between the rank of each of `pairs` and the mean of all ranks. Ranks are those of the keys, and
/// those of `order` among equal keys.
fn deviations(
    pairs: &[Pairs],
    key: impl Fn(&Pairs) -> u64,
    order: impl Fn(&Pairs, &Pairs) -> Ordering,
) -> Vec<f64> {
    let total: u64 = pairs.iter().map(|pairs| pairs.times).sum();
    let mut places: Vec<(u64, usize)> = pairs.iter().map(key).zip(0..).collect();
    let order = |a: &(u64, usize), b: &(u64, usize)| {
        a.0.cmp(&b.0).then_with(|| order(&pairs[a.1], &pairs[b.1]))
    };
    places.sort_unstable_by(order);
    let mut found = vec![0.0; pairs.len()];
    let mut below = 0;
    for equal in places.chunk_by(|a, b| order(a, b).is_eq()) {
        let times: u64 = equal.iter().map(|(_, place)| pairs[*place].times).sum();
        // The ranks below + 1 to below + times have the mean below + (times + 1) / 2; the mean of all ranks is
        // (total + 1) / 2.
        let deviation = below as f64 + times as f64 / 2.0 - total as f64 / 2.0;
        equal
            .iter()
            .for_each(|(_, place)| found[*place] = deviation);
        below += times;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(whole: u64, numerator: u64, denominator: u64) -> Pairs {
        Pairs {
            times: 1,
            whole,
            numerator,
            denominator,
        }
    }

    #[test]
    fn order_alone_counts() {
        let rising = [pair(1, 1, 3), pair(2, 1, 2), pair(900, 7, 1)];
        assert_eq!(rank_correlation(&rising), Some(1.0));
        let falling = [pair(1, 9, 1), pair(2, 1, 2), pair(900, 1, 3)];
        assert_eq!(rank_correlation(&falling), Some(-1.0));
    }

    #[test]
    fn fractions_that_are_rounded_to_one_number_stay_apart() {
        let large = 1 << 53;
        let pairs = [
            pair(1, large, 1),
            pair(2, large + 1, 1),
            pair(3, large + 2, 1),
        ];
        assert_eq!(rank_correlation(&pairs), Some(1.0));
    }

    #[test]
    fn equals_share_a_rank() {
        // The ranks of the first values are 1.5 1.5 3 4, and those of the second values 1 2.5 2.5 4. The
        // products of the deviations are 1.5 + 0 + 0 + 2.25. For both values the squares of the deviations sum
        // to 4.5.
        let pairs = [pair(1, 1, 1), pair(1, 4, 2), pair(2, 2, 1), pair(3, 5, 1)];
        assert_eq!(rank_correlation(&pairs), Some(3.75 / 4.5));
    }

    #[test]
    fn many_at_a_time_count_as_one_by_one() {
        let many = Pairs {
            times: 3,
            ..pair(2, 1, 1)
        };
        let alone = [pair(2, 1, 1); 3];
        let rest = [pair(1, 2, 1), pair(4, 3, 2)];
        let joined = rank_correlation(&[&[many], &rest[..]].concat());
        assert!(joined.is_some());
        assert_eq!(joined, rank_correlation(&[&alone[..], &rest].concat()));
    }

    #[test]
    fn what_does_not_vary_has_no_correlation() {
        assert_eq!(rank_correlation(&[]), None);
        assert_eq!(rank_correlation(&[pair(1, 1, 1), pair(1, 2, 1)]), None);
        assert_eq!(rank_correlation(&[pair(1, 1, 1), pair(2, 2, 2)]), None);
    }
}
