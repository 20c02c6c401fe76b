//! Draws ranks by a Zipf law, and maps ranks to addresses in scattered order.

use super::zipf_pieces::Pieces;
use destage_base::Random;

/// Draws ranks from 1 to n with a probability proportional to rank^-skew.
///
/// The method is rejection-inversion (Hoermann and Derflinger, ACM TOMACS 6(3), 1996). It is exact for every n and
/// every skew, and needs no table of ranks. On average it needs little more than one random number for each rank.
/// Most draws need no logarithm: see [`Pieces`].
#[derive(Clone, Debug)]
pub(super) struct ZipfRanks {
    pieces: Pieces,
    law: Law,
}

/// The Zipf law, and constants of the method.
#[derive(Clone, Debug)]
struct Law {
    ranks: f64,
    skew: f64,
    /// H(1.5) - h(1). `high` is H(n + 0.5). A draw is scaled to an area between these two values. The point of the
    /// draw is the inverse of H at this area.
    low: f64,
    high: f64,
    /// A point that is at most this far below its rank is accepted without the rejection test.
    sure: f64,
}

impl ZipfRanks {
    pub fn new(ranks: u64, skew: f64) -> Self {
        let law = Law::new(ranks, skew);
        let pieces = Pieces::new(skew, (law.low, law.high), law.sure, |area| {
            law.integral_inverse(area)
        });
        Self { pieces, law }
    }

    /// Draws a rank, counted from 1.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        let draw = random.next_u64() >> 11;
        self.pieces
            .rank(draw)
            .unwrap_or_else(|| self.law.draw(draw, random))
    }
}

impl Law {
    fn new(ranks: u64, skew: f64) -> Self {
        let mut this = Self {
            ranks: ranks as f64,
            skew,
            low: 0.0,
            high: 0.0,
            sure: 0.0,
        };
        this.low = this.integral(1.5) - 1.0;
        this.high = this.integral(this.ranks + 0.5);
        this.sure = 2.0 - this.integral_inverse(this.integral(2.5) - this.density(2.0));
        this
    }

    /// The rank for `draw`, which has 53 bits. If the draw is rejected, further numbers are drawn until one is
    /// accepted.
    #[cold]
    #[inline(never)]
    fn draw(&self, mut draw: u64, random: &mut Random) -> u64 {
        loop {
            let unit = draw as f64 * (1.0 / (1u64 << 53) as f64);
            let area = self.high + unit * (self.low - self.high);
            let point = self.integral_inverse(area);
            let rank = libm::floor(point + 0.5).clamp(1.0, self.ranks);
            if rank - point <= self.sure || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
            draw = random.next_u64() >> 11;
        }
    }

    /// h(x) = x^-skew.
    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.skew * libm::log(x))
    }

    /// H(x), the integral of h from 1 to x: (x^(1-skew) - 1) / (1 - skew). The formula is written so that it is
    /// accurate for a skew near 1.
    fn integral(&self, x: f64) -> f64 {
        let log = libm::log(x);
        exp_minus_1_over((1.0 - self.skew) * log) * log
    }

    /// The x for which H(x) is `area`.
    fn integral_inverse(&self, area: f64) -> f64 {
        // Because of rounding, the product can be slightly below its mathematical limit of -1.
        let product = (area * (1.0 - self.skew)).max(-1.0);
        libm::exp(log_1_plus_over(product) * area)
    }
}

/// (e^x - 1) / x, with the limit 1 at x = 0.
fn exp_minus_1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::expm1(x) / x
    } else {
        1.0 + x * 0.5 * (1.0 + x / 3.0)
    }
}

/// ln(1 + x) / x, with the limit 1 at x = 0.
fn log_1_plus_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::log1p(x) / x
    } else {
        1.0 - x * (0.5 - x / 3.0)
    }
}

/// A [`Scatter`] that stores the results for low numbers, because a Zipf law draws these numbers again and again.
#[derive(Clone, Debug)]
pub(super) struct Places {
    scatter: Scatter,
    /// For each page, the page to which it is mapped, plus 1. 0 if this page is not yet computed.
    known: Vec<u32>,
}

impl Places {
    /// The largest number of pages whose results are stored (1 MiB).
    const KNOWN_MAX: u64 = 1 << 18;

    pub fn new(pages: u64, cluster_pages: u64) -> Self {
        let known = if pages < u64::from(u32::MAX) {
            pages.min(Self::KNOWN_MAX)
        } else {
            0
        };
        Self {
            scatter: Scatter::new(pages, cluster_pages),
            known: vec![0; known as usize],
        }
    }

    /// The page to which `page` is mapped.
    #[inline]
    pub fn place(&mut self, page: u64) -> u64 {
        let Some(known) = self.known.get_mut(page as usize) else {
            return self.scatter.place(page);
        };
        if *known == 0 {
            // If results are stored at all, they are below 2^32 - 1.
            *known = self.scatter.place(page) as u32 + 1;
        }
        u64::from(*known - 1)
    }
}

/// A fixed one-to-one mapping of 0 .. `pages`. It moves runs of `cluster_pages` pages to pseudo-random positions.
///
/// Without this mapping, popular pages would be adjacent. Every block-level scheme would then give better results
/// than with scattered pages.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    cluster_pages: u64,
    /// The number of whole runs. Pages after the last whole run are mapped to themselves.
    clusters: u64,
    /// The number of bits in one half of a run's number.
    half_bits: u32,
    /// Selects one of many mappings.
    key: u64,
}

impl Scatter {
    /// The mapping of single pages that `key` selects.
    pub fn keyed(pages: u64, key: u64) -> Self {
        Self {
            key,
            ..Self::new(pages, 1)
        }
    }

    pub fn new(pages: u64, cluster_pages: u64) -> Self {
        let clusters = pages / cluster_pages;
        let bits = 64 - clusters.saturating_sub(1).leading_zeros();
        Self {
            cluster_pages,
            clusters,
            half_bits: bits.div_ceil(2),
            key: 0,
        }
    }

    pub fn place(&self, page: u64) -> u64 {
        let (cluster, offset) = (page / self.cluster_pages, page % self.cluster_pages);
        if cluster >= self.clusters || self.clusters < 2 {
            return page;
        }
        // The permutation covers a power of four numbers. It is repeated until the result is below `clusters`. This
        // gives a permutation of the numbers below `clusters`.
        let mut moved = self.permute(cluster);
        while moved >= self.clusters {
            moved = self.permute(moved);
        }
        moved * self.cluster_pages + offset
    }

    /// A Feistel network of four rounds. Such a network is one-to-one for any round function.
    fn permute(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..4 {
            let mixed = Random::new(right ^ (round << 60) ^ self.key).next_u64();
            (left, right) = (right, left ^ (mixed & mask));
        }
        (left << self.half_bits) | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_the_law_says() {
        const DRAWS: u32 = 400_000;
        for skew in [0.0, 0.5, 0.99, 1.0, 1.2, 3.0] {
            let (ranks, mut random) = (ZipfRanks::new(50, skew), Random::new(11));
            let mut counts = [0u32; 51];
            for _ in 0..DRAWS {
                counts[ranks.draw(&mut random) as usize] += 1;
            }
            let norm: f64 = (1..=50).map(|rank| f64::from(rank).powf(-skew)).sum();
            for rank in 1..=50u32 {
                let expected = f64::from(DRAWS) * f64::from(rank).powf(-skew) / norm;
                let error = (f64::from(counts[rank as usize]) - expected).abs();
                // The bound is five standard deviations.
                assert!(
                    error <= 5.0 * expected.sqrt() + 1.0,
                    "skew {skew} rank {rank}: {error} of {expected}"
                );
            }
        }
    }

    #[test]
    fn a_rank_without_a_logarithm_is_the_rank_with_one() {
        const DRAWS: u32 = 20_000;
        for skew in [0.0, 0.3, 0.5, 0.9, 1.0, 1.000_000_001, 1.2, 2.0, 5.0, 10.0] {
            for count in [1, 2, 3, 50, 100_000, 1 << 20, 1 << 40] {
                let (ranks, mut random) = (ZipfRanks::new(count, skew), Random::new(7));
                let mut sure = 0;
                let check = |draw: u64| {
                    if let Some(rank) = ranks.pieces.rank(draw) {
                        // If `draw` were rejected, the function would draw a second number. The next number of
                        // `after` would then differ.
                        let mut after = Random::new(1);
                        assert_eq!(
                            ranks.law.draw(draw, &mut after),
                            rank,
                            "{skew} {count} {draw}"
                        );
                        assert_eq!(after.next_u64(), Random::new(1).next_u64());
                        return 1;
                    }
                    0
                };
                for _ in 0..DRAWS {
                    sure += check(random.next_u64() >> 11);
                }
                // Checks the draws at both ends of the range, and the draws on both sides of the limits between
                // ranks.
                for step in 0..1000 {
                    check(step);
                    check((1 << 53) - 1 - step);
                }
                for rank in 1..count.min(200) {
                    let area = ranks.law.integral(rank as f64 + 0.5);
                    let unit = (area - ranks.law.high) / (ranks.law.low - ranks.law.high);
                    let draw = (unit * (1u64 << 53) as f64) as u64;
                    for distance in (0..40).map(|bits| 1u64 << bits) {
                        check((draw + distance).min((1 << 53) - 1));
                        check(draw.saturating_sub(distance));
                    }
                }
                if count > 2 && count <= 1 << 20 {
                    assert!(sure > DRAWS * 8 / 10, "{skew} {count}: only {sure}");
                }
            }
        }
    }

    #[test]
    fn remembered_places_are_the_places() {
        for (pages, cluster) in [(1, 1), (1000, 7), (300_000, 1), (1 << 33, 64)] {
            let (scatter, mut places) = (Scatter::new(pages, cluster), Places::new(pages, cluster));
            for page in (0..pages.min(400_000)).chain(0..pages.min(1000)) {
                assert_eq!(places.place(page), scatter.place(page), "{pages} {page}");
            }
        }
    }

    #[test]
    fn extremes_stay_in_range() {
        let mut random = Random::new(5);
        for (count, skew) in [
            (1, 0.9),
            (2, 10.0),
            (1 << 40, 0.0),
            (1 << 40, 0.9),
            (1 << 40, 10.0),
        ] {
            let ranks = ZipfRanks::new(count, skew);
            for _ in 0..1000 {
                assert!(
                    (1..=count).contains(&ranks.draw(&mut random)),
                    "{count} {skew}"
                );
            }
        }
    }

    #[test]
    fn scattering_is_one_to_one_and_keeps_runs_together() {
        for (pages, cluster) in [
            (1, 1),
            (2, 1),
            (1000, 1),
            (1000, 7),
            (1000, 64),
            (1000, 1000),
            (1000, 5000),
            (4096, 1),
        ] {
            let scatter = Scatter::new(pages, cluster);
            let mut seen = vec![false; pages as usize];
            let mut moved = 0;
            for page in 0..pages {
                let place = scatter.place(page);
                assert!(
                    !std::mem::replace(&mut seen[place as usize], true),
                    "{pages} {cluster} {page}"
                );
                assert_eq!(place % cluster, page % cluster, "{pages} {cluster} {page}");
                moved += u64::from(place != page);
            }
            if pages / cluster > 100 {
                assert!(
                    moved > pages * 9 / 10,
                    "{pages} {cluster}: only {moved} moved"
                );
            }
        }
    }
}
