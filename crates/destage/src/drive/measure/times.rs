//! Response times of a measured window. The window has three parts, which count as repetitions.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_US;
use destage_sim::latencies::Counted;
use serde::{Deserialize, Serialize};

/// The percentiles of a file of latencies: the text in the file, and the percentile as numerator and denominator of a
/// fraction.
const PERCENTILES: [(&str, u64, u64); 11] = [
    ("10", 10, 100),
    ("25", 25, 100),
    ("50", 50, 100),
    ("75", 75, 100),
    ("90", 90, 100),
    ("95", 95, 100),
    ("99", 99, 100),
    ("99.5", 995, 1000),
    ("99.9", 999, 1000),
    ("99.99", 9_999, 10_000),
    ("99.999", 99_999, 100_000),
];
/// A percentile is reported only if at least this many requests of each part are expected beyond it.
const BEYOND: u64 = 1;
/// Percentiles up to this one are always reported.
const ALWAYS: u64 = 99;
/// The number of parts of a window.
pub(super) const PARTS: usize = 3;

/// Response times in bounded memory. A percentile is at most a thousandth larger than the exact one.
#[derive(Clone, Debug)]
pub(super) struct Times {
    times: Counted,
    count: u64,
    sum: u128,
    min: Ticks,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            times: Counted::default(),
            count: 0,
            sum: 0,
            min: Ticks::MAX,
        }
    }
}

fn us(ticks: Ticks) -> f64 {
    ticks as f64 / TICKS_PER_US as f64
}

/// `us` rounded to a tenth of a nanosecond.
pub(super) fn rounded(us: f64) -> f64 {
    (us * 1e4).round() / 1e4
}

impl Times {
    pub fn push(&mut self, time: Ticks) {
        self.times.push(time);
        self.count += 1;
        self.sum += u128::from(time);
        self.min = self.min.min(time);
    }

    pub fn us(&self, (part, whole): (u64, u64)) -> f64 {
        us(self.times.percentile((part, whole)))
    }

    fn all(&self) -> Vec<(&'static str, f64)> {
        let some = PERCENTILES.iter();
        let told = some.filter(|(_, part, whole)| {
            self.count * (whole - part) >= BEYOND * whole || part * 100 <= ALWAYS * whole
        });
        let percentiles = told.map(|(text, part, whole)| (*text, self.us((*part, *whole))));
        let mean = self.sum as f64 / self.count as f64 / TICKS_PER_US as f64;
        let ends = [
            ("min", us(self.min)),
            ("avg", mean),
            ("max", us(self.times.max())),
        ];
        percentiles.chain(ends).collect()
    }
}

/// The median, the smallest and the largest value of one percentile, or of `min`, `avg` or `max`, over the parts of a
/// window. Values are in microseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Spread {
    pub percentile: String,
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// The spread of each percentile that all `parts` have. Empty if any part has no times.
pub(super) fn spread(parts: &[Times; PARTS]) -> Vec<Spread> {
    if parts.iter().any(|part| part.count == 0) {
        return Vec::new();
    }
    let all = parts.each_ref().map(Times::all);
    let value = |of: &[(&str, f64)], name: &str| {
        let found = of.iter().find(|(known, _)| *known == name);
        found.map(|(_, us)| *us)
    };
    let rows = all[0].iter().filter_map(|(name, _)| {
        let mut values = Vec::new();
        for part in &all {
            values.push(rounded(value(part, name)?));
        }
        values.sort_by(f64::total_cmp);
        Some(Spread {
            percentile: (*name).to_owned(),
            median: values[PARTS / 2],
            low: values[0],
            high: values[PARTS - 1],
        })
    });
    rows.collect()
}
