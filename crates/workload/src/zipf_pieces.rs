//! Finds most Zipf ranks without computing a logarithm. The inverse of the law's integral is approximated by short
//! pieces of parabolas.
//!
//! The exact method computes a point and rounds it to a rank. A Taylor polynomial approximates the point, with a
//! known bound for the error. If no limit between two ranks is within this bound, the approximate and the exact point
//! give the same rank. If a limit is within the bound, the function returns no rank, and the caller computes the
//! exact point. Therefore the ranks are exactly those of the exact method.

/// The number of pieces, a power of two. The table has 16 KiB and fits in the first-level cache.
const PIECES: usize = 512;
/// The number of bits in a random draw.
const DRAW_BITS: u32 = 53;
/// A bound for the relative error of a computed point. A point needs about ten operations, each with an error of at
/// most two units in the last place. Their sum is at most 2^-48, which is far below the bound.
const ROUNDING: f64 = 1.0 / (1u64 << 43) as f64;

/// The approximation for a range of draws. It consists of the point in the middle of the range, the first derivative
/// and half of the second derivative there, and a bound for the error of the approximation.
#[derive(Clone, Copy, Debug)]
struct Piece {
    point: f64,
    slope: f64,
    curve: f64,
    error: f64,
}

/// The approximations for all ranges of draws.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    pieces: Box<[Piece]>,
    /// A point is accepted without the rejection test if it is at least this far above the lower limit of its rank.
    sure_from: f64,
}

impl Pieces {
    /// Approximates the points x(a) at a = `high` + u (`low` - `high`). In this formula, u is a draw from 0 to 1, x'
    /// = x^`skew`, and `point` computes x. A rank is accepted without the rejection test if its point is at most
    /// `sure` below the rank.
    pub fn new(skew: f64, (low, high): (f64, f64), sure: f64, point: impl Fn(f64) -> f64) -> Self {
        let width = low - high;
        let half = width / (2 * PIECES) as f64;
        let scale = low.abs() + high.abs();
        let piece = |index: usize| {
            let middle = high + (index as f64 + 0.5) / PIECES as f64 * width;
            let x = point(middle);
            let power = |x: f64, exponent: f64| libm::exp(exponent * libm::log(x));
            let ends = [point(middle - half), point(middle + half)];
            // The third derivative is a power of x. Within the piece, it is therefore at most as large as at one of
            // the ends of the piece.
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
                // The ends are rounded too, so the bound is made a little larger.
                error: 1.01 * cut_off + ROUNDING * terms,
            }
        };
        Self {
            pieces: (0..PIECES).map(piece).collect(),
            sure_from: (0.5 - sure).max(0.0),
        }
    }

    /// The rank for a draw of 53 bits. `None` if the approximation is not accurate enough for this draw.
    #[inline]
    pub fn rank(&self, draw: u64) -> Option<u64> {
        let index = (draw >> (DRAW_BITS - PIECES.ilog2())) as usize;
        let piece = &self.pieces[index];
        // Both terms are exact, and their difference is exact too.
        let from_middle = draw as f64 * (1.0 / (1u64 << DRAW_BITS) as f64)
            - (index as f64 + 0.5) * (1.0 / PIECES as f64);
        let point = piece.point + from_middle * (piece.slope + from_middle * piece.curve);
        let rank = (point + 0.5) as u64;
        let behind = point + 0.5 - rank as f64;
        // The condition is false if a value is not a number. All points are between half a unit below the first rank
        // and half a unit above the last rank. So no rank outside this range can meet the condition.
        let sure = behind - piece.error > self.sure_from && behind + piece.error < 1.0;
        sure.then_some(rank)
    }
}
