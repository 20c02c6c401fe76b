//! Response times, kept exactly.
//!
//! Every response time is kept as an integer, 8 bytes each: percentiles are ranks of the values
//! themselves, and sums do not depend on the order of addition.

use destage_base::Ticks;
use destage_base::time::{TICKS_PER_MS, to_ms};

/// Response times of reads and writes.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    /// The time shifted left by one, and whether it was a write in the lowest bit.
    tagged: Vec<u64>,
}

/// What is reported of a set of response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ms: f64,
    /// Standard deviation of the population.
    pub std_ms: f64,
    /// Percentiles 50, 95, 99 and 99.9: the value of rank ceil(q n).
    pub percentiles_ms: [f64; 4],
    /// Largest.
    pub max_ms: f64,
}

/// The percentiles of [`Summary::percentiles_ms`], as fractions.
pub const PERCENTILES: [(u64, u64); 4] = [(50, 100), (95, 100), (99, 100), (999, 1000)];

impl Latencies {
    /// Records one response time.
    #[inline]
    pub fn push(&mut self, time: Ticks, write: bool) {
        self.tagged.push(time << 1 | u64::from(write));
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> Option<Summary> {
        summary(self.tagged.iter().map(|tagged| tagged >> 1).collect())
    }

    /// Of reads, or of writes. `all` is the summary of both, which is the answer if there is no other kind.
    #[must_use]
    pub fn of(&self, write: bool, all: Option<Summary>) -> Option<Summary> {
        let writes = self
            .tagged
            .iter()
            .filter(|tagged| **tagged & 1 == 1)
            .count();
        if writes == if write { self.tagged.len() } else { 0 } {
            return all;
        }
        let wanted = |tagged: &&u64| (**tagged & 1 == 1) == write;
        summary(
            self.tagged
                .iter()
                .filter(wanted)
                .map(|tagged| tagged >> 1)
                .collect(),
        )
    }
}

fn summary(mut times: Vec<Ticks>) -> Option<Summary> {
    let max = *times.iter().max()?;
    let count = times.len() as u64;
    let sum: u128 = times.iter().map(|time| u128::from(*time)).sum();
    let squares: u128 = times
        .iter()
        .map(|time| u128::from(*time) * u128::from(*time))
        .sum();
    // n * sum of squares - (sum)^2 is exact in integers; only its root is rounded.
    let n = u128::from(count);
    let deviation = match squares.checked_mul(n).zip(sum.checked_mul(sum)) {
        Some((of_squares, of_sum)) => ((of_squares - of_sum) as f64).sqrt() / count as f64,
        // Beyond 128 bits: more than 10^9 responses of hours each.
        None => (squares as f64 / n as f64 - (sum as f64 / n as f64).powi(2))
            .max(0.0)
            .sqrt(),
    };
    // Each selection leaves everything at or above its rank behind it, where the next one looks.
    let mut below = 0;
    let percentiles_ms = PERCENTILES.map(|(part, whole)| {
        let rank = (n * u128::from(part)).div_ceil(u128::from(whole)) as usize - 1;
        let (_, value, _) = times[below..].select_nth_unstable(rank - below);
        below = rank;
        to_ms(*value)
    });
    Some(Summary {
        count,
        mean_ms: sum as f64 / count as f64 / TICKS_PER_MS as f64,
        std_ms: deviation / TICKS_PER_MS as f64,
        percentiles_ms,
        max_ms: to_ms(max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_rank_ceil() {
        let mut latencies = Latencies::default();
        for time in [40, 10, 30, 20] {
            latencies.push(time * TICKS_PER_MS, time > 20);
        }
        let all = latencies.all().unwrap();
        assert_eq!((all.count, all.mean_ms, all.max_ms), (4, 25.0, 40.0));
        assert_eq!(all.percentiles_ms, [20.0, 40.0, 40.0, 40.0]);
        assert!((all.std_ms - 125f64.sqrt()).abs() < 1e-12);
        assert_eq!(latencies.of(true, latencies.all()).unwrap().mean_ms, 35.0);
    }
}
