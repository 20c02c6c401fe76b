//! The axis of values of a chart: which numbers stand at its grid lines, and how far up a value is.

use crate::output::numbers;

/// Beyond this ratio, small values would coincide at the bottom of an axis from zero.
const SPREAD: f64 = 40.0;

/// An axis of values.
pub(crate) enum Scale {
    /// In equal steps from zero to a round number at or above the largest value; where values are negative, from a round
    /// number at or below the smallest, `below` steps under zero.
    Linear {
        step: f64,
        below: usize,
        above: usize,
    },
    /// From one power of ten to another, all values between.
    Decades { low: i32, high: i32 },
}

impl Scale {
    /// From zero: for bars, whose length is what is compared. Whole numbers are counts: no grid line stands between.
    pub(crate) fn linear<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> Self {
        let counts = values.clone().all(|value| value.fract() == 0.0);
        let most = values.clone().copied().fold(0.0, f64::max);
        let least = values.copied().fold(0.0, f64::min);
        if most <= least {
            return Self::Linear {
                step: 1.0,
                below: 0,
                above: 1,
            };
        }
        let step = match round_step((most - least) / 4.0) {
            2.5 if counts => 5.0,
            step if counts => step.max(1.0),
            step => step,
        };
        Self::Linear {
            step,
            below: (-least / step).ceil() as usize,
            above: (most / step).ceil() as usize,
        }
    }

    /// By powers of ten if the values are far apart, from zero otherwise.
    pub(crate) fn fitting<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> Self {
        let least = values.clone().copied().fold(f64::INFINITY, f64::min);
        let most = values.clone().copied().fold(0.0, f64::max);
        match most / least < SPREAD {
            true => Self::linear(values),
            false => Self::decades(values),
        }
    }

    /// By powers of ten; from zero if a value has no logarithm.
    pub(crate) fn decades<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> Self {
        let least = values.clone().copied().fold(f64::INFINITY, f64::min);
        let most = values.clone().copied().fold(0.0, f64::max);
        if least <= 0.0 || most <= 0.0 {
            return Self::linear(values);
        }
        let low = least.log10().floor() as i32;
        Self::Decades {
            low,
            high: (most.log10().ceil() as i32).max(low + 1),
        }
    }

    /// Values and labels from zero, in equal steps, none beyond `end`, which is positive: for axes that do not end at a round number.
    pub(crate) fn within(end: f64) -> Vec<(f64, String)> {
        let step = round_step(end / 6.0);
        let scale = Self::Linear {
            step,
            below: 0,
            above: (end / step).floor() as usize,
        };
        scale.ticks()
    }

    /// Where each of `values` lies between the smallest and the largest, from 0 to 1: for an axis that does not begin at
    /// zero. By logarithms if `log` says so and all have one.
    pub(crate) fn places(values: &[f64], log: bool) -> Vec<f64> {
        let by_log = log && values.iter().all(|value| *value > 0.0);
        let at = |value: &f64| if by_log { value.log10() } else { *value };
        let least = values.iter().map(at).fold(f64::INFINITY, f64::min);
        let most = values.iter().map(at).fold(f64::NEG_INFINITY, f64::max);
        let share = |value| match most > least {
            true => (at(value) - least) / (most - least),
            false => 0.5,
        };
        values.iter().map(share).collect()
    }

    /// Where amounts begin: zero, or the lowest power of ten.
    pub(crate) fn base(&self) -> f64 {
        match self {
            Self::Linear { .. } => 0.0,
            Self::Decades { low, .. } => 10_f64.powi(*low),
        }
    }

    /// How far up `value` is, from 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        match self {
            Self::Linear { step, below, above } => {
                (value / step + *below as f64) / (below + above) as f64
            }
            Self::Decades { low, high } => {
                (value.log10() - f64::from(*low)) / f64::from(high - low)
            }
        }
    }

    /// An addition to a title on a logarithmic axis, where lengths are not amounts.
    pub(crate) fn note(&self) -> &'static str {
        match self {
            Self::Linear { .. } => "",
            Self::Decades { .. } => ", logarithmic",
        }
    }

    /// Values and labels of the grid, from the bottom up.
    pub(crate) fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Linear { step, below, above } => {
                // As many decimals as the step needs: 2.5 and 0.25 one more than 2 and 0.2.
                let exponent = -step.log10().floor();
                let mantissa = step * 10_f64.powf(exponent);
                let extra = f64::from(u8::from((mantissa - 2.5).abs() < 0.01));
                let decimals = (exponent + extra).max(0.0) as usize;
                let tick = |index| {
                    let value = (index as f64 - *below as f64) * step;
                    (value, label(value, decimals))
                };
                (0..=below + above).map(tick).collect()
            }
            Self::Decades { low, high } => {
                let tick = |exponent: i32| {
                    let value = 10_f64.powi(exponent);
                    (value, label(value, usize::try_from(-exponent).unwrap_or(0)))
                };
                (*low..=*high).map(tick).collect()
            }
        }
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten at or above `rough`, which is positive.
fn round_step(rough: f64) -> f64 {
    let power = 10_f64.powi(rough.log10().floor() as i32);
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0]
        .into_iter()
        .find(|factor| factor * power >= rough)
        .unwrap_or(10.0);
    factor * power
}

/// `2500000` as `2.5 M`: there is little room beside an axis.
fn label(value: f64, decimals: usize) -> String {
    if value < 0.0 {
        return format!("-{}", label(-value, decimals));
    }
    let (unit, name) = match value {
        _ if value >= 1e9 => (1e9, " G"),
        _ if value >= 1e6 => (1e6, " M"),
        _ if value >= 1e4 => (1e3, " k"),
        _ if decimals == 0 => return numbers::whole(value.round() as u64),
        _ => return format!("{value:.decimals$}"),
    };
    let text = format!("{:.2}", value / unit);
    format!("{}{name}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> Vec<String> {
        Scale::fitting(values.iter())
            .ticks()
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn axes_end_at_round_numbers() {
        assert_eq!(labels(&[7.3]), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels(&[0.9]), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(&[41_000.0]), ["0", "20 k", "40 k", "60 k"]);
        assert_eq!(labels(&[9e6]), ["0", "2.5 M", "5 M", "7.5 M", "10 M"]);
        assert_eq!(labels(&[0.0]), ["0", "1"]);
        // Of counts there are no halves.
        assert_eq!(labels(&[1.0, 2.0]), ["0", "1", "2"]);
        assert_eq!(labels(&[9.0]), ["0", "5", "10"]);
        assert_eq!(labels(&[9.5]), ["0.0", "2.5", "5.0", "7.5", "10.0"]);
    }

    #[test]
    fn an_axis_holds_what_is_below_zero() {
        assert_eq!(
            labels(&[-30.0, 45.5]),
            ["-40", "-20", "0", "20", "40", "60"]
        );
        assert_eq!(
            labels(&[-20_000.0]),
            ["-20 k", "-15 k", "-10 k", "-5,000", "0"]
        );
        let scale = Scale::linear([-30.0, 45.5].iter());
        assert!((scale.share(-40.0), scale.share(60.0)) == (0.0, 1.0));
        assert!(scale.base() == 0.0);
    }

    #[test]
    fn places_lie_between_the_ends() {
        assert_eq!(Scale::places(&[1.0, 3.0, 5.0], false), [0.0, 0.5, 1.0]);
        assert_eq!(Scale::places(&[1.0, 10.0, 100.0], true), [0.0, 0.5, 1.0]);
        assert_eq!(Scale::places(&[0.0, 4.0], true), [0.0, 1.0]);
        assert_eq!(Scale::places(&[7.0], true), [0.5]);
    }

    #[test]
    fn an_axis_that_ends_anywhere_has_no_tick_beyond() {
        let labels = |end| -> Vec<String> {
            let ticks = Scale::within(end).into_iter();
            ticks.map(|tick| tick.1).collect()
        };
        assert_eq!(labels(4.36), ["0", "1", "2", "3", "4"]);
        assert_eq!(labels(1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(1000.0), ["0", "200", "400", "600", "800", "1,000"]);
    }

    #[test]
    fn values_far_apart_stand_at_powers_of_ten() {
        let values = [0.02, 6.5];
        assert_eq!(labels(&values), ["0.01", "0.1", "1", "10"]);
        let scale = Scale::fitting(values.iter());
        assert!((scale.share(0.01), scale.share(10.0)) == (0.0, 1.0));
    }
}
