//! Limits the number of pages that may be written back in idle time in each period.
//!
//! ```text
//!   writes per period    40   0   0   0  |  10  10  10  10  |  0   0   0   0
//!   peak over mean              4        |         1        |  (no writes: counts as 4, the maximum)
//!   cap                     4 x base     |       base       |      4 x base
//! ```
//!
//! Bursts of writes leave long gaps in which a write-back delays no request. A burst also needs clean pages when it
//! arrives. An even load has no gaps. The peak of the last periods divided by their mean is a simple measure of
//! bursts. This quotient is between 1 and the number of periods, so the cap is limited.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Ticks;

/// Counts writes and write-backs in each period, and limits the write-backs.
pub struct Budget {
    /// The length of a period, in ticks.
    period: Ticks,
    /// The cap in pages per period if the writes are evenly distributed.
    base: u64,
    /// The number of the present period.
    number: u64,
    /// The total number of page writes up to the latest access. `writes_before` is the number up to the beginning of
    /// the period.
    writes: u64,
    writes_before: u64,
    /// The page writes in each of the last periods, as a ring buffer.
    past: Vec<u64>,
    next: usize,
    cap: u64,
    spent: u64,
}

impl Budget {
    /// Creates a budget of `base` pages per period of `period` ticks. The budget is larger if the writes of the last
    /// `periods` periods came in bursts. The time before the run counts as periods without writes.
    pub fn new(period: Ticks, periods: usize, base: u64) -> Self {
        Self {
            period,
            base,
            number: 0,
            writes: 0,
            writes_before: 0,
            past: vec![0; periods],
            next: 0,
            cap: base * periods as u64,
            spent: 0,
        }
    }

    /// Notes that `total` page writes have happened so far.
    #[inline]
    pub fn note_writes(&mut self, total: u64) {
        self.writes = total;
    }

    /// Sets the time to `now`, and closes the periods that have ended.
    #[inline]
    pub fn turn_to(&mut self, now: Ticks) {
        if now / self.period > self.number {
            self.close_periods(now / self.period);
        }
    }

    /// Asks for permission to write back one more page. Returns whether the write-back is allowed, and counts it if
    /// so.
    pub fn spend(&mut self) -> bool {
        let may = self.spent < self.cap;
        self.spent += u64::from(may);
        may
    }

    fn close_periods(&mut self, number: u64) {
        self.close_period(self.writes - self.writes_before);
        let without_writes = number - self.number - 1;
        for _ in 0..without_writes.min(self.past.len() as u64) {
            self.close_period(0);
        }
        self.number = number;
        self.writes_before = self.writes;
        self.spent = 0;
        let sum: u64 = self.past.iter().sum();
        let peak = self.past.iter().max().copied().unwrap_or(0);
        let periods = self.past.len() as u64;
        // Without writes there is no peak. The cap is then as high as possible, because no request has to wait.
        let scaled = (u128::from(self.base * periods) * u128::from(peak)).checked_div(sum.into());
        self.cap = scaled.map_or(self.base * periods, |cap| cap as u64);
    }

    fn close_period(&mut self, writes: u64) {
        self.past[self.next] = writes;
        self.next = (self.next + 1) % self.past.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of pages that the budget still allows.
    fn rest(budget: &mut Budget) -> u64 {
        let mut pages = 0;
        while budget.spend() {
            pages += 1;
        }
        pages
    }

    #[test]
    fn the_cap_is_the_peak_over_the_mean() {
        let mut budget = Budget::new(100, 4, 3);
        let mut total = 0;
        assert_eq!(rest(&mut budget), 12);
        let mut period = 0;
        // The writes of a period, and the cap of the next period: 3 * peak * 4 / sum.
        for (writes, cap) in [
            (40, 12),
            (0, 12),
            (0, 12),
            (40, 6),
            (10, 9),
            (10, 8),
            (10, 6),
        ] {
            total += writes;
            budget.note_writes(total);
            // The budget is renewed only when another period begins.
            budget.turn_to(period * 100 + 99);
            assert_eq!(rest(&mut budget), 0);
            period += 1;
            budget.turn_to(period * 100);
            assert_eq!(rest(&mut budget), cap, "period {period}");
        }
        // The last four periods have 10 10 10 0 writes, two periods later 10 0 0 0 writes, and at last no writes.
        for (period, cap) in [(8, 4), (10, 12), (11, 12), (1000, 12)] {
            budget.turn_to(period * 100 + 5);
            assert_eq!(rest(&mut budget), cap, "period {period}");
        }
    }
}
