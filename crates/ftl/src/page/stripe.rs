//! The stripe, by which the die of a page is computed from the number of the page.

use core::ops::Range;

use destage_nand::divide::Divider;

/// `stride` consecutive pages (a run) are on one die, and the next `stride` pages are on the next die. The first
/// die follows the last.
#[derive(Clone, Copy)]
pub(super) struct Stripe {
    dies: Divider,
    /// The divider by the stride, and the stride. `None` if the stride is one page, so that the usual stripe needs
    /// only one division.
    runs: Option<(Divider, u32)>,
}

impl Stripe {
    /// A stripe of runs of `stride` pages over `dies` dies.
    pub fn new(dies: u32, stride: u32) -> Self {
        Self {
            dies: Divider::new(dies),
            runs: (stride > 1).then(|| (Divider::new(stride), stride)),
        }
    }

    /// The device-wide number of page `within` of `die`.
    pub fn join(&self, within: u32, die: u32) -> u64 {
        let stride = self.stride();
        let run = u64::from(within / stride) * u64::from(self.dies.divisor()) + u64::from(die);
        run * u64::from(stride) + u64::from(within % stride)
    }

    /// The range of page numbers within a die that covers all of `pages` on every die. Of each die, the range
    /// contains fewer than two runs of other pages.
    pub fn rows(&self, pages: &Range<u64>) -> Range<u32> {
        let stride = u64::from(self.stride());
        let round = u64::from(self.dies.divisor()) * stride;
        let end = pages.end.div_ceil(round) * stride;
        (pages.start / round * stride) as u32..end.min(u64::from(u32::MAX)) as u32
    }

    /// The pages of `die` that are among `pages`, by their numbers within the die.
    pub fn range_of(&self, pages: &Range<u64>, die: u32) -> Range<u32> {
        let stride = u64::from(self.stride());
        let round = u64::from(self.dies.divisor()) * stride;
        // The number of pages of the die before page `end` of the device.
        let before = |end: u64| {
            let of_last = (end % round).saturating_sub(u64::from(die) * stride);
            (end / round * stride + of_last.min(stride)) as u32
        };
        before(pages.start)..before(pages.end)
    }

    fn stride(&self) -> u32 {
        self.runs.map_or(1, |(_, stride)| stride)
    }

    /// The number of `page` within its die, and the die.
    #[inline]
    pub fn split(&self, page: u32) -> (u32, u32) {
        match self.runs {
            None => self.dies.split(page),
            Some((by_stride, stride)) => {
                let (run, offset) = by_stride.split(page);
                let (run, die) = self.dies.split(run);
                (run * stride + offset, die)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stripe;

    #[test]
    fn runs_of_pages_go_round_the_dies() {
        let stripe = Stripe::new(3, 2);
        let places: [(u32, u32); 8] = core::array::from_fn(|page| stripe.split(page as u32));
        let expected = [
            (0, 0),
            (1, 0),
            (0, 1),
            (1, 1),
            (0, 2),
            (1, 2),
            (2, 0),
            (3, 0),
        ];
        assert_eq!(places, expected);
        assert_eq!(Stripe::new(3, 1).split(7), (2, 1));
        for page in 0..40 {
            let (within, die) = stripe.split(page);
            let page = u64::from(page);
            assert_eq!(stripe.join(within, die), page);
            assert!(stripe.rows(&(page..page + 1)).contains(&within));
        }
        assert_eq!(stripe.rows(&(5..13)), 0..6);
    }
}
