//! The learned values of each period, as a series of limited length, and the variation of these values.

use alloc::vec::Vec;

use super::monitor::NEVER;
use crate::scheme::Series;

/// The maximum number of stored periods. When it is exceeded, every second stored period is dropped. From then on
/// only every second period is stored. This thinning can happen again and again.
const KEPT: usize = 1024;

/// The values at the end of a period.
#[derive(Clone, Copy)]
pub struct Period {
    /// The virtual time of the last page write of the period.
    pub end: u64,
    /// The threshold of pages, or [`NEVER`].
    pub pird: u64,
    /// The threshold of clusters, or [`NEVER`].
    pub bird: u64,
    /// The share of size-independent clusters among all clusters; `None` if there was no cluster.
    pub alpha: Option<f64>,
}

impl Period {
    /// The values of a period, each with its name. An infinite or undefined value is `None`.
    fn values(&self) -> [(&'static str, Option<f64>); 3] {
        let finite = |threshold: u64| (threshold != NEVER).then_some(threshold as f64);
        [
            ("pird_threshold", finite(self.pird)),
            ("bird_threshold", finite(self.bird)),
            ("alpha", self.alpha),
        ]
    }
}

/// The periods so far.
pub struct Periods {
    /// The periods whose number, counted from 1, is a multiple of `step`.
    kept: Vec<Period>,
    step: u64,
    count: u64,
    /// The mean and the deviation of each value of [`Period::values`], over all periods.
    spreads: [Spread; 3],
}

impl Default for Periods {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            step: 1,
            count: 0,
            spreads: [Spread::default(); 3],
        }
    }
}

impl Periods {
    /// Adds a period that has ended.
    pub fn push(&mut self, period: Period) {
        for (spread, (_, value)) in self.spreads.iter_mut().zip(period.values()) {
            value.into_iter().for_each(|value| spread.push(value));
        }
        self.count += 1;
        if self.count > self.step * KEPT as u64 {
            self.step *= 2;
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 0
            });
        }
        if self.count.is_multiple_of(self.step) {
            self.kept.push(period);
        }
    }

    /// The mean of alpha over all periods that have an alpha; `None` if no period has one.
    pub fn mean_alpha(&self) -> Option<f64> {
        let spread = &self.spreads[2];
        (spread.count > 0).then(|| spread.sum / spread.count as f64)
    }

    /// Emits the series. All have the same length.
    pub fn series(&self, emit: &mut dyn FnMut(Series)) {
        let Some(first) = self.kept.first() else {
            return;
        };
        emit(Series {
            name: "period_end",
            values: (self.kept.iter())
                .map(|period| Some(period.end as f64))
                .collect(),
            squared_variation: None,
        });
        for (index, (name, _)) in first.values().into_iter().enumerate() {
            let values = self.kept.iter().map(|period| period.values()[index].1);
            emit(Series {
                name,
                values: values.collect(),
                squared_variation: self.spreads[index].squared_variation(),
            });
        }
    }
}

/// The mean and the deviation of a sequence of numbers (Welford 1962). If all numbers are equal, the deviation is
/// exactly 0.
#[derive(Clone, Copy, Default)]
struct Spread {
    count: u64,
    sum: f64,
    mean: f64,
    /// The sum of the squared distances from the mean.
    squares: f64,
}

impl Spread {
    fn push(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The variance of the population / square of the mean. `None` without numbers or if the mean is 0.
    fn squared_variation(&self) -> Option<f64> {
        let square = self.mean * self.mean;
        (square > 0.0).then(|| self.squares / self.count as f64 / square)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn periods(count: u64) -> Periods {
        let mut periods = Periods::default();
        for number in 1..=count {
            periods.push(Period {
                end: number * 10,
                pird: number,
                bird: NEVER,
                alpha: None,
            });
        }
        periods
    }

    #[test]
    fn a_long_series_is_thinned_evenly() {
        for (count, step) in [
            (3, 1),
            (1024, 1),
            (1025, 2),
            (2048, 2),
            (2049, 4),
            (9000, 16),
        ] {
            let periods = periods(count);
            let ends: Vec<u64> = periods.kept.iter().map(|period| period.end).collect();
            let expected: Vec<u64> = (1..=count / step).map(|index| index * step * 10).collect();
            assert_eq!(ends, expected, "{count}");
        }
    }

    #[test]
    fn variation_is_over_all_periods() {
        let mut found = Vec::new();
        periods(9000).series(&mut |series| found.extend(series.squared_variation));
        // The numbers 1 to n have the mean (n + 1) / 2 and the variance (n^2 - 1) / 12.
        let exact = (9000.0 * 9000.0 - 1.0) / 12.0 / (4500.5 * 4500.5);
        assert!(found.len() == 1 && (found[0] - exact).abs() < 1e-12);
        let mut equal = Spread::default();
        (0..100).for_each(|_| equal.push(0.1));
        assert_eq!(equal.squared_variation(), Some(0.0));
        assert_eq!(Spread::default().squared_variation(), None);
    }
}
