//! The rate for a stated error.

use super::SampledPoint;
use super::points::{Asked, Found, points};
use crate::compare::Effort;
use crate::error::Error;

/// The first rate that is tried.
const FIRST: f64 = 0.01;
/// The largest: a run of everything takes as long as eight samples of an eighth, so beyond it nothing is saved.
const MOST: f64 = 0.125;
/// The chosen rate is larger by this factor, since it is based on an estimate.
const MARGIN: f64 = 1.25;

/// What [`for_error`] chose.
pub(crate) struct Chosen {
    pub(crate) found: Found,
    pub(crate) rate: f64,
    /// Half the widest interval, in percent of its curve's largest value; `None` if no point has one.
    pub(crate) percent: Option<f64>,
}

/// Samples at the smallest rate that gives every point of `metric` an error of at most `percent`; if none does, at the largest.
pub(crate) fn for_error(
    asked: &Asked<'_>,
    percent: f64,
    metric: &str,
    effort: &Effort<'_>,
) -> Result<Chosen, Error> {
    if !asked.input.can_be_read_again() {
        let what = format!(
            ": {}: can be read only once, but the search for a rate reads it several times; expected a sample rate, or a regular file",
            asked.input.name()
        );
        return Err(Error::argument("error", what));
    }
    let mut rate = FIRST;
    loop {
        let is_last = rate >= MOST;
        let asked = Asked { rate, ..*asked };
        let found = match points(&asked, effort) {
            Ok(found) => found,
            // The miniatures are too small at this rate.
            Err(Error::Input(_) | Error::Argument(_) | Error::Config(_)) if !is_last => {
                rate = (2.0 * rate).min(MOST);
                continue;
            }
            Err(error) => return Err(error),
        };
        let errors = found.points.iter().flat_map(|curve| errors(curve, metric));
        let worst = errors.fold(None, |worst: Option<f64>, error| {
            Some(worst.map_or(error, |worst| worst.max(error)))
        });
        let is_met = worst.is_some_and(|worst| worst <= percent);
        if is_met || is_last {
            return Ok(Chosen {
                found,
                rate,
                percent: worst,
            });
        }
        // An error falls with the square root of the sample.
        let wanted = worst.map_or(2.0, |worst| MARGIN * (worst / percent).powi(2));
        rate = (rate * wanted.max(2.0)).min(MOST);
    }
}

/// Half the intervals of `metric` along a curve, in percent of its largest value.
fn errors(curve: &[SampledPoint], metric: &str) -> Vec<f64> {
    let values = curve.iter().filter_map(|point| point.record.number(metric));
    let largest = values.fold(0.0, f64::max);
    let half = |point: &SampledPoint| {
        let [low, high] = *point.ranges.get(metric)?;
        let half = (high.as_f64() - low.as_f64()) / 2.0;
        (largest > 0.0).then(|| 100.0 * half / largest)
    };
    curve.iter().filter_map(half).collect()
}
