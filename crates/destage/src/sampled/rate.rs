//! The search for a sampling rate at which the error is within a given limit.

use destage_sim::error::{Argument, SimError};

use super::SampledPoint;
use super::points::{Asked, Found, points};
use crate::compare::Effort;
use crate::error::Error;

/// The first rate that is tried.
const FIRST: f64 = 0.01;
/// The largest rate. Eight samples of an eighth of the blocks need as much time as a run with all blocks, so a larger
/// rate would save no time.
const MOST: f64 = 0.125;
/// The next rate is the estimated rate times this factor, because the estimate is uncertain.
const MARGIN: f64 = 1.25;

/// The result of [`for_error`].
pub(crate) struct Chosen {
    pub(crate) found: Found,
    pub(crate) rate: f64,
    /// The largest error of any curve. The error of a point is the half-width of its confidence interval, in percent
    /// of the largest value of its curve. `None` if no point has an interval.
    pub(crate) percent: Option<f64>,
}

/// Samples the input with rising rates, until every point of `metric` has an error of at most `percent`, or until the
/// largest rate is reached.
pub(crate) fn for_error(
    asked: &Asked<'_>,
    percent: f64,
    metric: &str,
    effort: &Effort<'_>,
) -> Result<Chosen, Error> {
    if !asked.input.allows_second_pass() {
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
            // At this rate the miniatures are too small.
            Err(Error::Input(_) | Error::Argument(_) | Error::Config(_)) if !is_last => {
                rate = (2.0 * rate).min(MOST);
                continue;
            }
            Err(error) => return Err(of_error(error, percent)),
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
        // The error falls with the square root of the sample size.
        let wanted = worst.map_or(2.0, |worst| MARGIN * (worst / percent).powi(2));
        rate = (rate * wanted.max(2.0)).min(MOST);
    }
}

/// `error` for a user who has given the limit `percent` on the error, and no sampling rate. An error that refuses the
/// rate refuses the largest rate that the search tries.
fn of_error(error: Error, percent: f64) -> Error {
    let (Error::Argument(argument) | Error::Config(SimError::Argument(argument))) = &error else {
        return error;
    };
    let Argument { name, what } = argument;
    if name != "sample" {
        return error;
    }
    // No size of a sample helps against a refusal that names no rate.
    let Some(why) = what.strip_prefix(&format!(" {MOST}: ")) else {
        return Error::argument("error", what.replace("or no sample", "or no error"));
    };
    let why = why.split("; expected").next().unwrap_or(why);
    let what = format!(
        " {percent}: with the largest samples, {} % of the addresses each, {why}; expected larger buffers, a larger device, a sample rate above {MOST}, or neither an error nor a sample",
        100.0 * MOST
    );
    Error::argument("error", what)
}

/// The error of `metric` at each point of `curve`: the half-width of the confidence interval, in percent of the
/// largest value of the curve.
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
