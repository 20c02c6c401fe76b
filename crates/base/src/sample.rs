//! Seeded samples of the numbers below a bound. A sample stores no list of its numbers. A seed gives the same samples
//! on every machine.
//!
//! A seeded permutation puts the numbers in an order. Each sample consists of successive numbers of this order, and
//! all samples have the same size. So the samples of one permutation are disjoint. If a permutation has too few
//! numbers for all samples, further permutations supply the other samples.

use alloc::vec::Vec;

use crate::Random;

/// Samples of the numbers below a bound, all of the same size.
#[derive(Clone, Debug)]
pub struct Samples {
    all: u64,
    each: u64,
    count: u32,
    mask: u64,
    shift: u32,
    orders: Vec<Order>,
}

/// A seeded permutation of the numbers, and the samples that consist of successive numbers of it.
#[derive(Clone, Debug)]
struct Order {
    keys: [u64; 3],
    /// The number of the first sample of this permutation.
    first: u32,
    /// The count of numbers in all samples of this permutation together.
    taken: u64,
}

impl Samples {
    /// Makes `count` samples, at most 64. Each sample has the fraction `rate` of the numbers below `all`, but at
    /// least one number. `all` is from 1 to 2^56.
    #[must_use]
    pub fn new(all: u64, rate: f64, count: u32, seed: u64) -> Self {
        debug_assert!(all > 0 && all <= 1 << 56 && count > 0 && count <= 64);
        let each = ((all as f64 * rate + 0.5) as u64).clamp(1, all);
        let bits = (all - 1).checked_ilog2().map_or(0, |bit| bit + 1);
        let room = u32::try_from(all / each).unwrap_or(u32::MAX);
        let mut random = Random::new(seed);
        let mut orders = Vec::new();
        let mut first = 0;
        while first < count {
            let own = room.min(count - first);
            orders.push(Order {
                // Multiplication by an odd number permutes the numbers of `bits` bits.
                keys: [
                    random.next_u64(),
                    random.next_u64() | 1,
                    random.next_u64() | 1,
                ],
                first,
                taken: each * u64::from(own),
            });
            first += own;
        }
        Self {
            all,
            each,
            count,
            mask: (1 << bits) - 1,
            shift: (bits / 2).max(1),
            orders,
        }
    }

    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The count of numbers in each sample.
    #[must_use]
    pub fn each(&self) -> u64 {
        self.each
    }

    /// The fraction of the numbers below the bound that each sample has.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.each as f64 / self.all as f64
    }

    /// The position of `number`, which is below the bound, in the permutation with `keys`.
    #[inline]
    fn place(&self, keys: &[u64; 3], number: u64) -> u64 {
        let mut place = number;
        loop {
            place = place.wrapping_add(keys[0]) & self.mask;
            place ^= place >> self.shift;
            place = place.wrapping_mul(keys[1]) & self.mask;
            place ^= place >> self.shift;
            place = place.wrapping_mul(keys[2]) & self.mask;
            place ^= place >> self.shift;
            // The mixing permutes the numbers below a power of two that is at least the bound. So its result may be
            // the bound or a larger number. In that case the result is mixed again, until it is below the bound.
            if place < self.all {
                return place;
            }
        }
    }

    /// Whether any sample has `number`, which is below the bound.
    #[inline]
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        let mut orders = self.orders.iter();
        orders.any(|order| self.place(&order.keys, number) < order.taken)
    }

    /// The numbers of the samples that have `number`, which is below the bound.
    #[inline]
    pub fn of(&self, number: u64) -> impl Iterator<Item = u32> {
        self.orders.iter().filter_map(move |order| {
            let place = self.place(&order.keys, number);
            (place < order.taken).then(|| order.first + (place / self.each) as u32)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn every_sample_has_its_share_and_no_two_of_an_order_share_a_number() {
        for (all, rate, count) in [
            (1, 1.0, 1),
            (1, 0.01, 8),
            (7, 0.3, 8),
            (1000, 0.01, 8),
            (1000, 0.125, 8),
            (1000, 0.5, 8),
            (4097, 0.2, 8),
        ] {
            let samples = Samples::new(all, rate, count, 5);
            let mut sizes = [0; 64];
            let orders = samples.orders.len();
            for number in 0..all {
                let mut of = 0;
                for sample in samples.of(number) {
                    sizes[sample as usize] += 1;
                    of += 1;
                }
                assert_eq!(samples.has(number), of > 0);
                assert!(of <= orders, "{all} {rate}");
            }
            assert!(
                sizes[..count as usize]
                    .iter()
                    .all(|size| *size == samples.each())
            );
        }
    }

    #[test]
    fn a_sample_is_as_chance_would_have_it() {
        // A sample of a tenth of the numbers has about ten of each hundred successive numbers. The same holds for
        // each hundred numbers that lie 64 or 4096 apart.
        for step in [1, 64, 4096] {
            let samples = Samples::new(1 << 40, 0.1, 1, 3);
            let counts = (0..1000).map(|row| {
                let numbers = (0..100).map(|number| (row * 100 + number) * step);
                numbers.filter(|number| samples.has(*number)).count() as f64
            });
            let (mut sum, mut squares) = (0.0, 0.0);
            for count in counts {
                sum += count;
                squares += count * count;
            }
            let mean = sum / 1000.0;
            let variance = squares / 1000.0 - mean * mean;
            assert!((9.0..11.0).contains(&mean), "{step}: {mean}");
            assert!((5.0..14.0).contains(&variance), "{step}: {variance}");
        }
    }

    #[test]
    fn seeds_choose_others() {
        let [one, other] = [1, 2].map(|seed| Samples::new(1 << 20, 0.5, 1, seed));
        let both = (0..1000).filter(|number| one.has(*number) == other.has(*number));
        assert!((400..600).contains(&both.count()));
    }
}
