//! The seeded random number generator of the whole project. It gives the same numbers on every machine.

/// The generator `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014). Its state has 64 bits. Each draw is one fixed
/// sequence of multiplications and shifts.
///
/// The algorithm never changes, so a seed gives the same workload in every version of the program. Published
/// synthetic traces of this field were made with the same algorithm.
///
/// ```
/// let mut random = destage_base::Random::new(7);
/// let first = random.next_u64();
/// assert_eq!(destage_base::Random::new(7).next_u64(), first);
/// assert!(random.unit() < 1.0);
/// assert!(random.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

crate::archived!(Random { state });

impl Random {
    /// A generator whose sequence depends only on `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0.0 .. 1.0`, with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// An integer in `0 .. bound`; `bound` must not be 0.
    ///
    /// The result is the high half of the 128-bit product of 64 random bits and `bound`. This method needs no
    /// division. The bias of the result is below `bound / 2^64`.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn golden_sequence() {
        // These are the published test values for seed 1234567.
        let mut random = Random::new(1_234_567);
        let drawn: [u64; 3] = core::array::from_fn(|_| random.next_u64());
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }
}
