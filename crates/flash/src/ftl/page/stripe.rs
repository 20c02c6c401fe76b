//! On which element a page lives where that follows from its number.

use crate::divide::Divider;

/// `stride` consecutive pages on one element, the next on the next element, and round again.
#[derive(Clone, Copy)]
pub(super) struct Stripe {
    elements: Divider,
    /// By the stride, if it is more than one page: the usual stripe costs one division.
    runs: Option<(Divider, u32)>,
}

impl Stripe {
    /// Runs of `stride` pages over `elements` elements.
    pub fn new(elements: u32, stride: u32) -> Self {
        Self {
            elements: Divider::new(elements),
            runs: (stride > 1).then(|| (Divider::new(stride), stride)),
        }
    }

    /// Page within its element, and element.
    #[inline]
    pub fn split(&self, page: u32) -> (u32, u32) {
        match self.runs {
            None => self.elements.split(page),
            Some((by_stride, stride)) => {
                let (run, offset) = by_stride.split(page);
                let (run, element) = self.elements.split(run);
                (run * stride + offset, element)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stripe;

    #[test]
    fn runs_of_pages_go_round_the_elements() {
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
    }
}
