//! The division of a file of measurements into rows to which a profile is fitted and rows that judge the profile.
//!
//! The rule depends only on the experiment, so it is the same for every drive:
//!
//! * Latency over load: the fit uses three loads below saturation: the lowest load, the load nearest to half of the
//!   saturated write rate, and the load nearest to 90 % of the saturated write rate. It also uses the first load that
//!   reaches the saturated write rate. All other loads below saturation judge the profile. If no load saturates the
//!   drive, the highest write rate takes the place of the saturated one.
//! * Write amplification: the fit uses the uniform overwrite with the largest used capacity, and the sequential fill
//!   before this overwrite. All other rows judge the profile.
//! * Queue depth: the fit uses depths 1, 8 and 32 with one job. All other depths with one job judge the profile, except
//!   depth 2.
//! * Saturated rates: the fit uses reads and sequential writes. Random writes judge the profile.

use super::check::{Check, RANDOM_WRITES};
use super::loads;
use super::measured::{Measurements, Row, Shape};
use super::readings::MOST_DEPTH;
use crate::error::Error;

/// How a fit uses a measured value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The profile is fitted to the value.
    Fit,
    /// The value judges the fitted profile.
    Judge,
    /// The value is only shown.
    Show,
}

impl Use {
    /// The word for this use in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Judge => "judge",
            Self::Show => "show",
        }
    }
}

/// Used capacities that differ by no more than this fraction count as equal.
const SAME_USE: f64 = 0.001;

/// The use of each row of `measurements`. A row of saturated rates has several values; [`of_value`] gives the use of
/// each.
///
/// # Errors
/// If a cell that must be a number is not a number.
pub(super) fn of_rows(measurements: &Measurements) -> Result<Vec<Use>, Error> {
    match measurements.shape {
        Shape::Latency => of_loads(measurements),
        Shape::Fill => of_fills(measurements),
        Shape::Depth => {
            let rows = measurements.rows.iter();
            rows.map(|row| of_depth(measurements, row)).collect()
        }
        Shape::Rates => Ok(vec![Use::Fit; measurements.rows.len()]),
    }
}

impl Check {
    /// How a fit uses each of [`Self::rows`]: docs/DRIVES.md, Fit a profile, has the rule.
    ///
    /// # Errors
    /// If a cell of the measurements that must be a number is not a number.
    pub fn uses(&self) -> Result<Vec<Use>, Error> {
        let of_rows = of_rows(&self.measurements)?;
        let rows = self.rows.iter();
        let uses = rows.map(|compared| of_value(&compared.what, of_rows[compared.row]));
        Ok(uses.collect())
    }
}

/// The use of the value `what` in a row whose use is `row`.
pub(super) fn of_value(what: &str, row: Use) -> Use {
    match what {
        RANDOM_WRITES => Use::Judge,
        _ => row,
    }
}

fn of_loads(measurements: &Measurements) -> Result<Vec<Use>, Error> {
    let offers = loads::of_rows(measurements)?;
    let saturation = loads::saturation(&offers);
    let served = offers.iter().map(|offer| offer.served);
    let most = saturation.unwrap_or(served.fold(0.0, f64::max));
    let below: Vec<f64> = offers
        .iter()
        .filter(|offer| loads::is_below(offer.served, saturation))
        .map(|offer| offer.offered)
        .collect();
    let nearest = |to: f64| {
        let near = |one: &&f64, other: &&f64| (*one - to).abs().total_cmp(&(*other - to).abs());
        below.iter().min_by(near).copied()
    };
    let fitted = [nearest(0.0), nearest(most / 2.0), nearest(0.9 * most)];
    let saturated = loads::saturated(&offers).map(|place| offers[place].offered);
    let of = |offer: &loads::Offer| {
        let offered = Some(offer.offered);
        match fitted.contains(&offered) || saturated == offered {
            true => Use::Fit,
            false if loads::is_below(offer.served, saturation) => Use::Judge,
            false => Use::Show,
        }
    };
    Ok(offers.iter().map(of).collect())
}

fn of_fills(measurements: &Measurements) -> Result<Vec<Use>, Error> {
    let of = |row: &Row| -> Result<_, Error> {
        Ok((
            measurements.text(row, "run").to_owned(),
            measurements.text(row, "started").to_owned(),
            measurements.positive(row, "used_gib")?,
            measurements.text(row, "pattern").to_owned(),
        ))
    };
    let mut rows = Vec::new();
    for row in &measurements.rows {
        rows.push(of(row)?);
    }
    let mut fitted: Option<usize> = None;
    for (place, row) in rows.iter().enumerate() {
        let is_more = fitted.is_none_or(|before| row.2 > rows[before].2 * (1.0 + SAME_USE));
        if row.3 == "uniform" && is_more {
            fitted = Some(place);
        }
    }
    let Some(first) = fitted else {
        return Ok(vec![Use::Judge; rows.len()]);
    };
    // The phase before the overwrite, if it is a sequential fill of the same run and capacity.
    let before = first.checked_sub(1).filter(|before| {
        let (one, other) = (&rows[*before], &rows[first]);
        one.0 == other.0 && one.2 == other.2 && one.3.starts_with("sequential")
    });
    let phases: Vec<_> = [Some(first), before].into_iter().flatten().collect();
    let is_fitted = |row: &(String, String, f64, String)| {
        let same = |of: &usize| {
            let (run, started, used, _) = &rows[*of];
            *run == row.0 && *started == row.1 && (row.2 - used).abs() <= SAME_USE * used
        };
        phases.iter().any(same)
    };
    let uses = rows.iter().map(|row| match is_fitted(row) {
        true => Use::Fit,
        false => Use::Judge,
    });
    Ok(uses.collect())
}

fn of_depth(measurements: &Measurements, row: &Row) -> Result<Use, Error> {
    let depth = measurements.whole(row, "iodepth", MOST_DEPTH)?;
    let jobs = measurements.whole(row, "jobs", MOST_DEPTH)?;
    Ok(match (jobs, depth) {
        (1, 1 | 8 | 32) => Use::Fit,
        // With two outstanding requests the host sleeps between requests, so the measured time includes the time to
        // wake up the host.
        (1, 2) => Use::Show,
        (1, _) => Use::Judge,
        _ => Use::Show,
    })
}

#[cfg(test)]
mod tests {
    use super::{Use, of_rows};
    use crate::drive::{Measurements, Shape};

    fn fitted(measurements: &Measurements, uses: &[Use], of: Use) -> Vec<String> {
        let rows = measurements.rows.iter().zip(uses);
        let rows = rows.filter(|(_, found)| **found == of);
        rows.map(|(row, _)| row.fields[0].clone()).collect()
    }

    /// Measured loads of two drives, in thousands of writes per second. The fit must use the lowest load, the loads
    /// nearest to 50 % and to 90 % of the saturated rate, and the first load that reaches it.
    #[test]
    fn of_loads_the_lowest_half_and_nine_tenths_are_fitted_on() {
        let columns = ["offered_writes_per_s", "writes_per_s"];
        let pairs = |loads: &[(u32, u32)]| -> Vec<String> {
            let lines = loads.iter();
            lines
                .map(|(offered, did)| format!("{}000,{did}", offered))
                .collect()
        };
        let even: Vec<_> = (1..=7).map(|ten| (10 * ten, 9_910 * ten)).collect();
        let drives = [
            (
                [&even[..], &[(80, 79_243), (90, 79_468), (200, 79_537)]].concat(),
                vec!["10000", "40000", "70000", "200000"],
                vec!["20000", "30000", "50000", "60000"],
            ),
            (
                [&even[..6], &[(70, 67_975), (130, 68_088)]].concat(),
                vec!["10000", "30000", "60000", "130000"],
                vec!["20000", "40000", "50000"],
            ),
        ];
        for (loads, fit, judged) in drives {
            let lines = pairs(&loads);
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let table = Measurements::of_lines(Shape::Latency, &columns, &lines);
            let uses = of_rows(&table).unwrap();
            assert_eq!(fitted(&table, &uses, Use::Fit), fit);
            assert_eq!(fitted(&table, &uses, Use::Judge), judged);
        }
    }

    #[test]
    fn of_fills_the_largest_with_what_came_before_it_is_fitted_on() {
        let columns = ["run", "started", "used_gib", "pattern"];
        let table = Measurements::of_lines(
            Shape::Fill,
            &columns,
            &[
                "a,1,300,sequential",
                "a,2,300,uniform",
                "a,3,600,sequential",
                "a,4,600,uniform",
                "a,4,600,uniform",
                "a,4,500,uniform",
                "b,5,600.1,uniform",
                "b,6,800,sequential",
            ],
        );
        let uses = of_rows(&table).unwrap();
        let fit: Vec<_> = uses.iter().map(|of| *of == Use::Fit).collect();
        assert_eq!(fit, [false, false, true, true, true, false, false, false]);
    }

    #[test]
    fn of_depths_one_job_counts() {
        let columns = ["iodepth", "jobs"];
        let lines = ["1,1", "2,1", "4,1", "8,1", "32,1", "64,1", "8,2"];
        let table = Measurements::of_lines(Shape::Depth, &columns, &lines);
        let uses = of_rows(&table).unwrap();
        assert_eq!(fitted(&table, &uses, Use::Fit), ["1", "8", "32"]);
        assert_eq!(fitted(&table, &uses, Use::Judge), ["4", "64"]);
        assert_eq!(fitted(&table, &uses, Use::Show), ["2", "8"]);
    }
}
