//! Most Zipf ranks without a logarithm: the inverse of the law's integral, in short pieces of a parabola.
//!
//! To draw a rank, a point is computed and rounded. Near enough to that point is a Taylor polynomial, and how
//! far the two can be apart has a bound. If no rank's limit is that close, both give the same rank; if one is, the function gives no answer and the
//! caller computes. So every rank is the same as without this file, to the last bit.

/// Pieces, a power of two: a table of 16 KiB stays in the first-level cache.
const PIECES: usize = 512;
/// Bits of a draw.
const DRAW_BITS: u32 = 53;
/// A bound for the relative error of a computed point. Some ten operations, each wrong by at most two units in the
/// last place, make an error of at most 2^-48, which lies far below it.
const ROUNDING: f64 = 1.0 / (1u64 << 43) as f64;

/// Between two draws: the point in the middle, its first and half its second derivative, and how far off this is.
#[derive(Clone, Copy, Debug)]
struct Piece {
    point: f64,
    slope: f64,
    curve: f64,
    error: f64,
}

/// The points of all draws.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    pieces: Box<[Piece]>,
    /// From how far behind half way to its rank on a point is sure to be taken.
    sure_from: f64,
}

impl Pieces {
    /// For points x(a) at a = `high` + u (`low` - `high`), where u is a draw in 0 .. 1 and x' = x^`skew`, as
    /// `point` computes them; a rank is taken without a test if its point is at most `sure` below it.
    pub fn new(skew: f64, (low, high): (f64, f64), sure: f64, point: impl Fn(f64) -> f64) -> Self {
        let width = low - high;
        let half = width / (2 * PIECES) as f64;
        let scale = low.abs() + high.abs();
        let piece = |index: usize| {
            let middle = high + (index as f64 + 0.5) / PIECES as f64 * width;
            let x = point(middle);
            let power = |x: f64, exponent: f64| libm::exp(exponent * libm::log(x));
            let ends = [point(middle - half), point(middle + half)];
            // The third derivative is a power of x, so no larger within than at one of the ends.
            let third = ends
                .iter()
                .map(|x| power(*x, 3.0 * skew - 2.0))
                .fold(0.0, f64::max)
                * (skew * (2.0 * skew - 1.0)).abs();
            let cut_off = third * (half * half * half).abs() / 6.0;
            let largest = ends[0].max(ends[1]);
            let terms = largest * (1.0 + libm::log(largest).abs())
                + ends.iter().map(|x| power(*x, skew)).fold(0.0, f64::max) * scale;
            Piece {
                point: x,
                slope: power(x, skew) * width,
                curve: skew * power(x, 2.0 * skew - 1.0) * width * width / 2.0,
                // The ends are rounded too, hence a little more.
                error: 1.01 * cut_off + ROUNDING * terms,
            }
        };
        Self {
            pieces: (0..PIECES).map(piece).collect(),
            sure_from: (0.5 - sure).max(0.0),
        }
    }

    /// The rank that a draw of 53 bits is taken as, if that is beyond doubt.
    #[inline]
    pub fn rank(&self, draw: u64) -> Option<u64> {
        let index = (draw >> (DRAW_BITS - PIECES.ilog2())) as usize;
        let piece = &self.pieces[index];
        // Both are exact, and so is their difference.
        let from_middle = draw as f64 * (1.0 / (1u64 << DRAW_BITS) as f64)
            - (index as f64 + 0.5) * (1.0 / PIECES as f64);
        let point = piece.point + from_middle * (piece.slope + from_middle * piece.curve);
        let rank = (point + 0.5) as u64;
        let behind = point + 0.5 - rank as f64;
        // False wherever something is no number. Points lie between half a unit below the first rank and half a unit above
        // the last, so no other rank is sure.
        let sure = behind - piece.error > self.sure_from && behind + piece.error < 1.0;
        sure.then_some(rank)
    }
}
