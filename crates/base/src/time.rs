//! Simulated time: an integer count of ticks of 0.1 ns.
//!
//! The host bus of the reference simulator needs 238.4 ns to transfer a sector. A tick is 0.1 ns, because this is the
//! largest power of ten that divides 238.4 ns exactly. A 64-bit count of ticks covers 58 years.

/// A moment in simulated time, or a duration, in ticks of 0.1 ns.
pub type Ticks = u64;

/// Ticks in one nanosecond.
pub const TICKS_PER_NS: u64 = 10;
/// Ticks in one microsecond.
pub const TICKS_PER_US: u64 = 1_000 * TICKS_PER_NS;
/// Ticks in one millisecond.
pub const TICKS_PER_MS: u64 = 1_000 * TICKS_PER_US;
/// Ticks in one second.
pub const TICKS_PER_SECOND: u64 = 1_000 * TICKS_PER_MS;

/// `amount` units of `ticks_per_unit` ticks each, rounded to the nearest tick (half up).
///
/// Negative amounts and NaN give 0. Amounts above 58 years give the largest count of ticks. Every configured decimal
/// number becomes simulated time through this function.
///
/// ```
/// use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
/// assert_eq!(from_units(238.4, TICKS_PER_NS), 2384);
/// assert_eq!(from_units(0.025, TICKS_PER_US), 250);
/// ```
#[must_use]
pub fn from_units(amount: f64, ticks_per_unit: u64) -> Ticks {
    // The cast `as` saturates and maps NaN to 0, as the doc comment promises.
    (amount * ticks_per_unit as f64 + 0.5) as u64
}

/// `ticks` in milliseconds. Only results may use this number. No simulated behaviour may depend on it.
#[must_use]
pub fn to_ms(ticks: Ticks) -> f64 {
    ticks as f64 / TICKS_PER_MS as f64
}
