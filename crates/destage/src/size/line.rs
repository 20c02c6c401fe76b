//! Extrapolation from the values of a scheme at two sizes.

use super::search::Range;

/// The search follows such a line for this many trials. After these trials it halves the range of sizes instead.
pub(super) const POINTED: usize = 3;

/// The excess of a scheme over its worst goal, as a linear function of its place. The excess is the distance to the
/// goal as a fraction of the goal, and is negative if the scheme reaches all goals. The place is the index of the size
/// of the scheme.
pub(super) struct Line {
    /// A place with a known excess, and this excess.
    place: usize,
    excess: f64,
    /// How much larger the excess is at the next place.
    slope: f64,
}

impl Line {
    /// The line through two known values of `excess`. These are the values nearest to `range`, which contains the
    /// smallest place at which the scheme reaches the goals. `sizes` is the number of sizes of the scheme.
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

    /// The line with the same slope that has the value `excess` at `place`.
    pub(super) fn moved_to(self, place: usize, excess: f64) -> Self {
        Self {
            place,
            excess,
            ..self
        }
    }

    /// The first place at which the line is not above 0, so that all goals are reached; `None` if the line does not
    /// fall.
    pub(super) fn crossing(&self) -> Option<usize> {
        let crossing = self.place as f64 - self.excess / self.slope;
        (self.slope < 0.0).then(|| crossing.ceil().max(0.0) as usize)
    }
}
