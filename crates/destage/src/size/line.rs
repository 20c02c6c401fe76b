//! Extrapolation from the values of a scheme at two sizes.

use super::search::Range;

/// The number of trials for which the search follows such a line, before it halves the range of sizes instead.
pub(super) const POINTED: usize = 3;

/// The excess of a scheme over the goals, as a linear function of the place in its list of sizes.
pub(super) struct Line {
    /// A place at which the scheme was run, and its excess there, as a share of the goals.
    place: usize,
    excess: f64,
    /// The change of the excess from one place to the next.
    slope: f64,
}

impl Line {
    /// The line through the two known values of `excess` that are nearest to the place where a scheme with
    /// `sizes` sizes begins to reach the goals.
    pub(super) fn around(
        range: Range,
        sizes: usize,
        excess: impl Fn(usize) -> Option<f64>,
    ) -> Option<Self> {
        let at = |place: usize| Some((place, excess(place)?));
        let mut below = (0..range.low).rev().filter_map(at);
        let mut above = (range.high..sizes).filter_map(at);
        let nearest = above.next().or_else(|| below.next());
        let (place, excess) = nearest?;
        let (other, value) = below.next().or_else(|| above.next())?;
        Some(Self {
            place,
            excess,
            slope: (excess - value) / (place as f64 - other as f64),
        })
    }

    /// The parallel line through `excess` at `place`.
    pub(super) fn moved_to(self, place: usize, excess: f64) -> Self {
        Self {
            place,
            excess,
            ..self
        }
    }

    /// The first place where the line reaches the goals; `None` if larger places come no nearer to them.
    pub(super) fn crossing(&self) -> Option<usize> {
        let crossing = self.place as f64 - self.excess / self.slope;
        (self.slope < 0.0).then(|| crossing.ceil().max(0.0) as usize)
    }
}
