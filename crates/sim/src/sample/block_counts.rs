//! How requested pages spread over the blocks of samples, and what follows for misses.
//!
//! A frequently requested block is buffered most of the time: it misses each time up to some number of requests, and hardly beyond it. That number
//! follows from all misses. So the sampled blocks show how much the misses of a sample grow with its requested pages: by nearly one for each page
//! where hits are few, by nearly zero where a few hot blocks get most requests.

/// The requested pages of each block of all samples.
#[derive(Clone, Debug, Default)]
pub struct BlockCounts {
    /// Ascending.
    counts: Vec<u64>,
    /// Of this and all smaller counts: their sum, and that of their squares.
    sums: Vec<[f64; 2]>,
}

impl BlockCounts {
    /// For blocks with the numbers of requested pages in `counts`, in any order.
    #[must_use]
    pub fn new(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let mut sum = [0.0; 2];
        let sums = counts.iter().map(|count| {
            let count = *count as f64;
            sum = [sum[0] + count, sum[1] + count * count];
            sum
        });
        let sums = sums.collect();
        Self { counts, sums }
    }

    /// How much `misses`, those of all samples together, grow with each requested page: between 0 and 1. It is the slope of the line through the
    /// origin that comes nearest to the misses of blocks, if each block misses up to the same number of times.
    #[must_use]
    pub fn slope(&self, misses: f64) -> f64 {
        let Some([all, squares]) = self.sums.last().copied() else {
            return 0.0;
        };
        if squares == 0.0 {
            return 0.0;
        }
        if misses >= all {
            return 1.0;
        }
        let before = |at: usize| at.checked_sub(1).map_or([0.0; 2], |at| self.sums[at]);
        let more = |at: usize| (self.counts.len() - at) as f64;
        // The misses if the number up to which blocks miss were that of each block in turn.
        let (mut low, mut high) = (0, self.counts.len() - 1);
        while low < high {
            let middle = low.midpoint(high);
            let of_all = before(middle)[0] + self.counts[middle] as f64 * more(middle);
            match of_all < misses {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let [below, squares_below] = before(low);
        let most = (misses - below) / more(low);
        (squares_below + most * (all - below)) / squares
    }

    /// The standard deviation of the requested pages of `samples` samples, each with the share `rate` of all blocks, from that share of the whole.
    #[must_use]
    pub fn deviation(&self, rate: f64, samples: usize) -> f64 {
        let squares = self.sums.last().map_or(0.0, |[_, squares]| *squares);
        ((1.0 - rate) * squares).sqrt() / samples.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_hits_grow_as_what_is_asked_for_and_hot_blocks_hardly_miss() {
        let counts = BlockCounts::new(vec![100, 1, 3, 1]);
        let is = |misses: f64, wanted: f64| {
            let found = counts.slope(misses);
            assert!((found - wanted).abs() < 1e-12, "{misses}: {found} {wanted}");
        };
        // Each block misses once: 1 + 1 + 3 + 100 of the squares.
        is(4.0, 105.0 / 10_011.0);
        // Up to twice: 1 + 1 + 2 x 3 + 2 x 100.
        is(6.0, 208.0 / 10_011.0);
        // The three cold ones always, the hot one 50 times.
        is(55.0, (11.0 + 5_000.0) / 10_011.0);
        is(105.0, 1.0);
        is(0.0, 0.0);
        assert!((counts.deviation(0.75, 2) - 10_011.0_f64.sqrt() / 4.0).abs() < 1e-12);
        assert_eq!(BlockCounts::default().slope(3.0), 0.0);
        assert_eq!(BlockCounts::new(vec![0, 0]).slope(0.0), 0.0);
    }
}
