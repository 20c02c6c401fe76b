//! Counts the lengths of requests, to compute exact percentiles in little memory.

use std::collections::BTreeMap;

/// Lengths up to this many sectors (1 MiB) are counted in a table.
const SHORT: usize = 2048;

/// Counts how often each length occurs.
#[derive(Debug)]
pub(super) struct Sizes {
    short: Vec<u64>,
    long: BTreeMap<u32, u64>,
    total: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            short: vec![0; SHORT + 1],
            long: BTreeMap::new(),
            total: 0,
        }
    }
}

impl Sizes {
    /// Counts a request of `sectors` sectors.
    pub fn add(&mut self, sectors: u32) {
        self.total += 1;
        match self.short.get_mut(sectors as usize) {
            Some(count) => *count += 1,
            None => *self.long.entry(sectors).or_insert(0) += 1,
        }
    }

    /// The smallest length in sectors that at least `percent` % of the requests do not exceed. `None` if there
    /// are no requests.
    pub fn percentile(&self, percent: u64) -> Option<u32> {
        // The product of two 64-bit numbers may not fit in 64 bits.
        let wanted = (u128::from(self.total) * u128::from(percent))
            .div_ceil(100)
            .max(1);
        let short = (0..).zip(self.short.iter().copied());
        let long = self.long.iter().map(|(sectors, count)| (*sectors, *count));
        let mut seen = 0u128;
        short.chain(long).find_map(|(sectors, count)| {
            seen += u128::from(count);
            (seen >= wanted).then_some(sectors)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    #[test]
    fn percentiles_are_lengths_that_occur() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.percentile(50), None);
        (1..=98).for_each(|_| sizes.add(8));
        sizes.add(2048);
        sizes.add(4_000_000_000);
        let found = [0, 50, 98, 99, 100].map(|percent| sizes.percentile(percent));
        assert_eq!(found, [8, 8, 8, 2048, 4_000_000_000].map(Some));
    }
}
