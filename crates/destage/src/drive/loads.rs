//! The loads of a file of latencies.

use super::check::{SATURATED, STREAM_PER_S, WRITE_SHARE};
use super::measured::{Measurements, Row};
use crate::error::Error;

/// The columns of the offered load, of the stream that has the same rate at every load, and of the rate that the drive
/// reached.
const OFFERED: &str = "offered_writes_per_s";
const STREAM: &str = "stream_per_s";
const SERVED: &str = "writes_per_s";

/// The load of a row of latencies. Rates are per second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Offer {
    /// The offered writes. The reads of all streams but the first are included.
    pub offered: f64,
    /// The reads, and also the writes, of the first stream, whose rate is the same at every load.
    pub stream: f64,
    /// Whether the file gives the rate of the first stream. `drive measure` does, and its requests form one stream.
    /// SSD-iq has several.
    pub is_one_stream: bool,
    /// The writes that the drive served.
    pub served: f64,
}

impl Offer {
    fn others(&self) -> f64 {
        self.offered - self.stream
    }

    /// The offered writes of all streams.
    pub fn writes(&self) -> f64 {
        self.stream + WRITE_SHARE * self.others()
    }

    /// The offered requests of all streams.
    pub fn requests(&self) -> f64 {
        2.0 * self.stream + self.others()
    }

    /// Whether the drive served less than was offered.
    pub fn is_saturated(&self) -> bool {
        self.served < SATURATED * self.writes()
    }
}

/// The load of each row of `measurements`.
///
/// # Errors
/// If a cell is no number, if a load is less than its first stream, or if two rows of one load differ.
pub(super) fn of_rows(measurements: &Measurements) -> Result<Vec<Offer>, Error> {
    let mut offers: Vec<Offer> = Vec::new();
    for row in &measurements.rows {
        let own = of_row(measurements, row)?;
        let first = offers.iter().position(|other| other.offered == own.offered);
        if let Some(first) = first
            && offers[first] != own
        {
            let column = match offers[first].served == own.served {
                true => STREAM,
                false => SERVED,
            };
            let other = &measurements.rows[first];
            let expected = format!(
                "{:?}, as in line {}, which has the same load",
                measurements.text(other, column),
                other.line
            );
            return Err(measurements.wrong(row, column, &expected));
        }
        offers.push(own);
    }
    Ok(offers)
}

fn of_row(measurements: &Measurements, row: &Row) -> Result<Offer, Error> {
    let offered = measurements.positive(row, OFFERED)?;
    let is_one_stream = !measurements.text(row, STREAM).is_empty();
    let stream = match is_one_stream {
        true => measurements.number(row, STREAM)?,
        false => STREAM_PER_S,
    };
    if stream > offered {
        let (column, expected) = match is_one_stream {
            true => (STREAM, format!("at most {offered}, the offered load")),
            false => (
                OFFERED,
                format!(
                    "at least {STREAM_PER_S}, the rate of the first stream, or the column {STREAM}"
                ),
            ),
        };
        return Err(measurements.wrong(row, column, &expected));
    }
    Ok(Offer {
        offered,
        stream,
        is_one_stream,
        served: measurements.number(row, SERVED)?,
    })
}

/// The highest write rate of the loads that saturate the drive; `None` if no load does.
pub(super) fn saturation(offers: &[Offer]) -> Option<f64> {
    let saturated = offers.iter().filter(|offer| offer.is_saturated());
    saturated.map(|offer| offer.served).max_by(f64::total_cmp)
}

/// The index of the first of `offers` that reaches the saturated write rate; `None` if no load saturates the drive.
pub(super) fn saturated(offers: &[Offer]) -> Option<usize> {
    let most = saturation(offers)?;
    let reached = |offer: &Offer| offer.is_saturated() && offer.served == most;
    offers.iter().position(reached)
}

/// Whether `served` writes per second are below the rate `saturation` at which the drive is saturated. Every load of a
/// file without a saturated load is below saturation.
pub(super) fn is_below(served: f64, saturation: Option<f64>) -> bool {
    saturation.is_none_or(|most| served < SATURATED * most)
}

/// The percentile of `row`: `min`, `avg`, `max`, or a number as its shortest text.
///
/// # Errors
/// If the cell holds none of these, or a number that is no percentile.
pub(super) fn percentile(measurements: &Measurements, row: &Row) -> Result<String, Error> {
    let column = "percentile";
    let text = measurements.text(row, column);
    if ["min", "avg", "max"].contains(&text) {
        return Ok(text.to_owned());
    }
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| *number > 0.0 && *number <= 100.0)
        .map(|number| number.to_string())
        .ok_or_else(|| {
            let expected = "min, avg, max, or a number above 0 and up to 100, such as 99.9";
            measurements.wrong(row, column, expected)
        })
}

#[cfg(test)]
mod tests {
    use super::{of_rows, percentile, saturation};
    use crate::drive::Measurements;

    const COLUMNS: &str = "drive,offered_writes_per_s,stream_per_s,writes_per_s,reads_per_s,op,percentile,us_median_of_3,us_low,us_high";

    /// A file with a row for each of `rows`, which begins with the offered load, the stream and the served writes.
    fn table(rows: &[&str]) -> Measurements {
        let rows = rows.iter().map(|row| format!("D,{row},9,read,50,1,1,1\n"));
        let text = format!("{COLUMNS}\n{}", rows.collect::<String>());
        Measurements::parse(text.as_bytes(), "t.csv", None).unwrap()
    }

    #[test]
    fn a_drive_is_saturated_if_it_serves_less_than_is_offered() {
        for (rows, expected) in [
            (vec!["10000,,9950", "20000,,19850"], None),
            (
                vec!["10000,,9950", "90000,,79468", "95000,,79400"],
                Some(79_468.0),
            ),
            // The highest rate is that of the saturated load, even if a lower load was served faster.
            (vec!["80000,,79250", "200000,,70000"], Some(70_000.0)),
            (vec!["1000,100,991", "2000,100,1500"], Some(1_500.0)),
        ] {
            let offers = of_rows(&table(&rows)).unwrap();
            assert_eq!(saturation(&offers), expected, "{rows:?}");
        }
    }

    #[test]
    fn loads_that_cannot_be_are_refused() {
        for (rows, expected) in [
            (
                vec!["1000,,1000"],
                "line 2: offered_writes_per_s: \"1000\": expected at least 5000",
            ),
            (
                vec!["9000,,9000", "0,0,0"],
                "line 3: offered_writes_per_s: \"0\": expected a number above 0",
            ),
            (
                vec!["100,9000,90"],
                "line 2: stream_per_s: \"9000\": expected at most 100",
            ),
            (
                vec!["9000,,9000", "9000,,8000"],
                "line 3: writes_per_s: \"8000\": expected \"9000\", as in line 2",
            ),
            (
                vec!["9000,10,9000", "9000,20,9000"],
                "line 3: stream_per_s: \"20\": expected \"10\", as in line 2",
            ),
        ] {
            let error = of_rows(&table(&rows)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_percentile_is_a_word_or_a_number_up_to_100() {
        let of = |text: &str| {
            let mut table = table(&["9000,,9000"]);
            table.rows[0].fields[6] = text.to_owned();
            percentile(&table, &table.rows[0]).map_err(|error| error.to_string())
        };
        for (text, expected) in [
            ("50.0", "50"),
            ("99.90", "99.9"),
            ("avg", "avg"),
            ("100", "100"),
        ] {
            assert_eq!(of(text).unwrap(), expected);
        }
        for text in ["p99", "medain", "nan", "-5", "0", "150", "inf"] {
            let error = of(text).unwrap_err();
            assert!(
                error.contains(&format!("percentile: {text:?}: expected min, avg, max")),
                "{error}"
            );
        }
    }
}
