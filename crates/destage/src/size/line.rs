//! Where the values of a scheme at two sizes point.

use super::search::Range;

/// How often the place of a scheme is looked for where its values point, before sizes are halved.
pub(super) const POINTED: usize = 3;

/// The distance of a scheme from the goals, as a line over the places of its sizes.
pub(super) struct Line {
    /// A size that was run, and by which part of the goals the scheme is off them there.
    place: usize,
    excess: f64,
    /// The change for each further size.
    slope: f64,
}

impl Line {
    /// Through the two values of `excess` that are known nearest to where a scheme of this many `sizes` begins to reach the goals.
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

    /// As steep, through `excess` at `place`.
    pub(super) fn moved_to(self, place: usize, excess: f64) -> Self {
        Self {
            place,
            excess,
            ..self
        }
    }

    /// The first place where it reaches the goals; `None` if it comes no nearer to them.
    pub(super) fn crossing(&self) -> Option<usize> {
        let crossing = self.place as f64 - self.excess / self.slope;
        (self.slope < 0.0).then(|| crossing.ceil().max(0.0) as usize)
    }
}
