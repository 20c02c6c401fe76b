//! The distribution of requested pages over the blocks of samples, and the dependence of misses on requested pages.
//!
//! A block that is requested often is in the buffer most of the time. So the model assumes that a block misses with
//! each of its first requested pages, and with none of its later ones. The maximum number of misses is the same for
//! all blocks, and follows from the misses of all samples. From this model and the sampled blocks follows by how much
//! the misses of a sample grow with its requested pages. They grow by nearly one for each page if hits are rare, and
//! by nearly zero if a few hot blocks get most requests.

/// The requested pages of each block of all samples.
#[derive(Clone, Debug, Default)]
pub struct BlockCounts {
    /// Requested pages of each block, ascending.
    counts: Vec<u64>,
    /// For each block: the sum of its count and of all smaller counts, and the sum of the squares of these counts.
    sums: Vec<[f64; 2]>,
}

impl BlockCounts {
    /// Counts for blocks whose requested pages are `counts`, in any order.
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

    /// By how much misses grow with each requested page: a number between 0 and 1. `misses` are the misses of all
    /// samples together. The result is the slope of the line through the origin that best fits the misses of the
    /// blocks, if the maximum number of misses is the same for all blocks.
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
        // Search for the first block whose count, as the maximum number of misses of a block, would give at least
        // `misses` misses in total.
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

    /// Each of `samples` samples has the fraction `rate` of all blocks. The mean of their requested pages differs by
    /// chance from the same fraction of all requested pages. Returns the standard deviation of this difference.
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
        // Each block misses once: the products of requests and misses add up to 1 + 1 + 3 + 100.
        is(4.0, 105.0 / 10_011.0);
        // Each block misses up to twice: 1 + 1 + 3 x 2 + 100 x 2.
        is(6.0, 208.0 / 10_011.0);
        // The three cold blocks miss each time, and the hot block misses 50 times.
        is(55.0, (11.0 + 5_000.0) / 10_011.0);
        is(105.0, 1.0);
        is(0.0, 0.0);
        assert!((counts.deviation(0.75, 2) - 10_011.0_f64.sqrt() / 4.0).abs() < 1e-12);
        assert_eq!(BlockCounts::default().slope(3.0), 0.0);
        assert_eq!(BlockCounts::new(vec![0, 0]).slope(0.0), 0.0);
    }
}
