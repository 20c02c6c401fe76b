//! Curves from samples. For each scheme and size, miniatures of the device are simulated, each with a sample of the
//! blocks. One reading of the input feeds all miniatures, if they fit in memory together.

mod how;
mod points;
mod rate;
mod work;

use std::collections::BTreeMap;

use destage_sim::metrics::Number;
use destage_sim::sample::is_estimated;

pub use self::how::SampledHow;
pub(crate) use self::points::{Asked, points};
pub(crate) use self::rate::for_error;
use crate::error::Error;
use crate::record::Record;

/// The default number of samples.
pub const SALTS: u32 = 8;

/// How many blocks represent all blocks, and in how many samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// The fraction of the blocks in each sample, or a limit on the error.
    pub rate: Rate,
    /// The number of samples, from 1 to 64. A single sample gives no confidence interval.
    pub salts: u32,
}

/// How large each sample is.
#[derive(Clone, Debug, PartialEq)]
pub enum Rate {
    /// The fraction of the erase blocks in each sample, above 0 and at most 1. For page-level LRU without flash, it
    /// is the fraction of the pages.
    Share(f64),
    /// The smallest fraction at which all confidence intervals of `metric` are narrow enough: their half-width is at
    /// most `percent` of the largest value of the curve.
    Error {
        /// The limit in percent, above 0.
        percent: f64,
        /// A metric for which [`is_estimated`](destage_sim::sample::is_estimated) holds.
        metric: String,
    },
}

impl Sampling {
    /// Returns an error if an argument cannot be used.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(1..=64).contains(&self.salts) {
            let what = format!(" {}: expected a number from 1 to 64", self.salts);
            return Err(Error::argument("salts", what));
        }
        match &self.rate {
            Rate::Share(rate) if *rate > 0.0 && *rate <= 1.0 => Ok(()),
            Rate::Share(rate) => Err(Error::argument(
                "sample",
                format!(" {rate}: expected a share above 0 and at most 1"),
            )),
            Rate::Error { .. } if self.salts < 4 => Err(Error::argument(
                "salts",
                format!(
                    " {}: expected at least 4 with an error: the interval follows from how much the samples differ",
                    self.salts
                ),
            )),
            Rate::Error { percent, metric } => {
                check_metric(metric)?;
                match *percent > 0.0 && percent.is_finite() {
                    true => Ok(()),
                    false => Err(Error::argument(
                        "error",
                        format!(" {percent}: expected percent above 0"),
                    )),
                }
            }
        }
    }
}

/// Returns an error if samples cannot estimate `metric`.
///
/// # Errors
/// If `metric` cannot be estimated. The error names the kinds of metrics that can be estimated.
pub fn check_metric(metric: &str) -> Result<(), Error> {
    match is_estimated(metric) {
        true => Ok(()),
        false => Err(Error::argument(
            "metric",
            format!(
                " {metric}: cannot be sampled: a sample keeps a smaller device less busy, so its response times are shorter, and largest values do not add up; expected a count, such as buffer.destaged_pages, or waf.bytes, waf.host, waf.ftl, wear.erase_mean or buffer.mean_destage_pages"
            ),
        )),
    }
}

impl Rate {
    /// Reads a fraction as users type it: `0.01`, or `1%`.
    #[must_use]
    pub fn read_share(text: &str) -> Option<f64> {
        let share = match text.strip_suffix('%') {
            Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
            None => text.parse().ok()?,
        };
        (share > 0.0 && share <= 1.0).then_some(share)
    }
}

/// A point of a sampled curve.
#[derive(Clone, Debug)]
pub struct SampledPoint {
    /// The estimated metrics, and the metrics of the host, which are exact.
    pub record: Record,
    /// The 95 % confidence interval of each estimated metric, by name; empty with a single sample.
    pub ranges: BTreeMap<String, [Number; 2]>,
}

#[cfg(test)]
mod tests {
    use super::Rate;

    #[test]
    fn shares_are_read_as_typed() {
        assert_eq!(Rate::read_share("0.25"), Some(0.25));
        assert_eq!(Rate::read_share("1 %"), Some(0.01));
        for wrong in ["0", "-1", "1.5", "101%", "some", "", "nan"] {
            assert_eq!(Rate::read_share(wrong), None, "{wrong}");
        }
    }
}
