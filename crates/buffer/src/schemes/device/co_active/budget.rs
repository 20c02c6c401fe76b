//! How many pages may be written back ahead in a period of time.
//!
//! ```text
//!   writes per period    40   0   0   0  |  10  10  10  10  |  0   0   0   0
//!   peak over mean              4        |         1        |  (4: idle is as bursty as can be)
//!   cap                     4 x base     |       base       |      4 x base
//! ```
//!
//! Bursts leave long gaps in which a write-back delays no request, and need clean pages when they arrive; an even load has no gaps. Peak over mean of
//! the last periods is the simplest measure of that: between 1 and the number of periods, which bounds the cap.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Ticks;

/// Counts writes and write-backs by period.
pub struct Budget {
    /// Length of a period.
    period: Ticks,
    /// Pages per period if writes come evenly.
    base: u64,
    /// Which period it is.
    number: u64,
    /// Page writes up to the latest access, and up to the beginning of the period.
    writes: u64,
    writes_before: u64,
    /// Page writes of each of the last periods, a ring.
    past: Vec<u64>,
    next: usize,
    cap: u64,
    spent: u64,
}

impl Budget {
    /// `base` pages per period of `period` ticks, more after bursts among the last `periods`. The time before the run counts as idle.
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

    /// Up to now `total` page writes came.
    #[inline]
    pub fn note_writes(&mut self, total: u64) {
        self.writes = total;
    }

    /// It is `now`: closes the periods that have passed.
    #[inline]
    pub fn turn_to(&mut self, now: Ticks) {
        if now / self.period > self.number {
            self.close_periods(now / self.period);
        }
    }

    /// One more page is written back; whether it may be.
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
        // Without writes a peak cannot be told from a mean, and there is no hurry.
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

    /// Pages the budget gives until it is spent.
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
        // Writes of a period, then the cap of the next: 3 * peak * 4 / sum.
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
            // Only the beginning of another period fills it up.
            budget.turn_to(period * 100 + 99);
            assert_eq!(rest(&mut budget), 0);
            period += 1;
            budget.turn_to(period * 100);
            assert_eq!(rest(&mut budget), cap, "period {period}");
        }
        // 10 10 10 0, then two periods at once: 10 0 0 0, and at last nothing at all.
        for (period, cap) in [(8, 4), (10, 12), (11, 12), (1000, 12)] {
            budget.turn_to(period * 100 + 5);
            assert_eq!(rest(&mut budget), cap, "period {period}");
        }
    }
}
