//! Division by a divisor that is fixed at start, without a division instruction.

/// Divides 32-bit numbers by a fixed divisor with one multiplication.
///
/// For every page request, the simulator divides the page number to find the die and the page within the die. A
/// division instruction would cost as much time as the rest of this look-up.
#[derive(Clone, Copy, Debug)]
pub struct Divider {
    divisor: u32,
    /// `ceil(2^64 / divisor)`: exact for every 32-bit dividend (Granlund and Montgomery, PLDI 1994).
    reciprocal: u64,
}

impl Divider {
    /// A divider by `divisor`.
    ///
    /// # Panics
    /// If `divisor` is 0.
    #[must_use]
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "division by zero");
        // For the divisor 1 the reciprocal would be 2^64, which does not fit; 0 marks that case.
        let reciprocal = if divisor == 1 {
            0
        } else {
            u64::MAX / u64::from(divisor) + 1
        };
        Self {
            divisor,
            reciprocal,
        }
    }

    /// The divisor.
    #[must_use]
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    /// Quotient and remainder of `number` divided by the divisor.
    #[must_use]
    #[inline]
    pub fn split(&self, number: u32) -> (u32, u32) {
        if self.reciprocal == 0 {
            return (number, 0);
        }
        let quotient = ((u128::from(number) * u128::from(self.reciprocal)) >> 64) as u32;
        (quotient, number - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::Divider;

    #[test]
    fn agrees_with_hardware_division() {
        let mut random = destage_base::Random::new(1);
        for _ in 0..200_000 {
            let shift = random.below(32) as u32;
            let divisor = ((random.next_u64() as u32) >> shift).max(1);
            let number = random.next_u64() as u32 >> random.below(32);
            for number in [number, u32::MAX, divisor, divisor - 1] {
                let expected = (number / divisor, number % divisor);
                assert_eq!(
                    Divider::new(divisor).split(number),
                    expected,
                    "{number} / {divisor}"
                );
            }
        }
    }
}
