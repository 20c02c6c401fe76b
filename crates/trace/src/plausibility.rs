//! Tells whether the times of a trace are plausible in their assumed unit.
//!
//! A wrong unit cannot be found in a single line: every line is valid, and the trace is merely, for example, a
//! thousand times too fast. A wrong unit can be found by a rate of requests or bytes that no device reaches.

use crate::format::TimeUnit;
use crate::request::{Operation, Request, SECTOR_BYTES};
use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;
use std::fmt;

/// A rate in bytes/s that no device reaches: the fastest devices of 2025 stay below 15e9.
const BYTES_PER_SECOND_MAX: f64 = 20e9;
/// A rate in requests/s that no device reaches: the fastest devices of 2025 stay below 4e6.
const REQUESTS_PER_SECOND_MAX: f64 = 5e6;
/// A rate in requests/s (one per hour) below which a trace is not plausible, because the device would be idle
/// nearly all the time.
const REQUESTS_PER_SECOND_MIN: f64 = 1.0 / 3600.0;
/// Above this rate in requests/s, digits below 0.1 ns mean that the unit of the times is coarser than ns. At
/// lower rates, such digits can come from the arithmetic of the program that wrote the trace.
const REQUESTS_PER_SECOND_BUSY: f64 = 5e4;
/// A trace with fewer requests may be a single burst, and is not judged.
const REQUESTS_MIN: u64 = 16;

/// Clocks that are recognised by the first time of a trace, if that time was read as ns. Each row has the name
/// of the clock, its unit, and the range of its times between two years, in ticks. A trace that counts ns does
/// not begin within such a range. Unix times in ms or s have no row, because a time of such a size in ns could
/// be the beginning of a trace. Unix times in ns are recognised as calendar times.
const CLOCKS: [(&str, TimeUnit, std::ops::Range<Ticks>); 2] = [
    // 2001 to 2200.
    (
        "Unix",
        TimeUnit::Microseconds,
        10_000_000_000_000_000..72_580_000_000_000_000,
    ),
    // 1990 to 2100.
    (
        "Windows",
        TimeUnit::HundredNanoseconds,
        1_222_000_000_000_000_000..1_574_000_000_000_000_000,
    ),
];

/// Counts requests in order of arrival, to judge their times.
///
/// ```
/// use destage_trace::{Operation, Request, TimeUnit, plausibility::Pace};
/// let mut pace = Pace::default();
/// for ns in 0..100 {
///     pace.see(&[Request { arrival: 10 * ns, sectors: 8, operation: Operation::Write, ..Request::BLANK }]);
/// }
/// let doubts = pace.doubts(TimeUnit::Nanoseconds);
/// assert!(doubts[0].to_string().contains("trace.time_unit=us"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    first: Option<Ticks>,
    last: Ticks,
    requests: u64,
    /// The sectors that are read and written.
    sectors: u64,
    /// The number of requests that arrive at the same time as the one before.
    together: u64,
    /// The number of times that have digits below the tick.
    pub(crate) rounded: u64,
}

/// A doubt about the times of a trace that the user should know. Its text is a sentence without the trace's
/// name.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The first time was read as ns, but looks like a time of this clock in this unit.
    Clock(&'static str, TimeUnit),
    /// No device has this rate of requests or bytes.
    Rate(Rate),
    /// Most times have digits below 0.1 ns, so the unit may be too fine.
    Digits(Rate),
    /// Most requests arrive at the same time as the one before.
    Together {
        /// The share of such requests in percent.
        percent: u64,
        /// The unit in which the times were read.
        unit: TimeUnit,
    },
}

/// The rate of the requests, and the other units of time in which this rate would be plausible.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    requests: u64,
    seconds: f64,
    bytes_per_second: f64,
    unit: TimeUnit,
    /// The units in which the rate would be plausible, with the factor by which times would grow.
    others: Vec<(TimeUnit, f64)>,
}

impl Pace {
    /// Counts requests, which must arrive after the requests counted before.
    pub fn see(&mut self, batch: &[Request]) {
        let Some(first) = batch.first() else { return };
        let is_first = self.first.is_none();
        self.first.get_or_insert(first.arrival);
        let mut last = if is_first { Ticks::MAX } else { self.last };
        for request in batch {
            self.together += u64::from(request.arrival == last);
            last = request.arrival;
            let moves = matches!(request.operation, Operation::Read | Operation::Write);
            self.sectors += u64::from(moves) * u64::from(request.sectors);
        }
        self.last = last;
        self.requests += batch.len() as u64;
    }

    /// The doubts about times that were read in `unit`.
    #[must_use]
    pub fn doubts(&self, unit: TimeUnit) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let first = self.first.filter(|_| unit == TimeUnit::Nanoseconds);
        let clock = CLOCKS
            .iter()
            .find(|(_, _, times)| first.is_some_and(|first| times.contains(&first)));
        if let Some((name, unit, _)) = clock {
            doubts.push(Doubt::Clock(name, *unit));
        }
        let span = self.last - self.first.unwrap_or(self.last);
        if span > 0 {
            let seconds = span as f64 / TICKS_PER_SECOND as f64;
            let rate = Rate::new(self.requests, seconds, self.sectors * SECTOR_BYTES, unit);
            let per_second = rate.requests_per_second(1.0);
            let finer = unit == TimeUnit::Nanoseconds
                && per_second > REQUESTS_PER_SECOND_BUSY
                && 2 * self.rounded > self.requests;
            if self.requests >= REQUESTS_MIN && !rate.is_plausible(1.0) {
                doubts.push(Doubt::Rate(rate));
            } else if finer {
                doubts.push(Doubt::Digits(rate));
            }
        }
        if self.requests >= REQUESTS_MIN && 2 * self.together > self.requests {
            let percent = 100 * self.together / self.requests;
            doubts.push(Doubt::Together { percent, unit });
        }
        doubts
    }
}

impl Rate {
    fn new(requests: u64, seconds: f64, bytes: u64, unit: TimeUnit) -> Self {
        let mut rate = Self {
            requests,
            seconds,
            bytes_per_second: bytes as f64 / seconds,
            unit,
            others: Vec::new(),
        };
        // The units are sorted from fine to coarse. Units of 100 ns are left out, because only Windows uses
        // them.
        let units = [
            TimeUnit::Nanoseconds,
            TimeUnit::Microseconds,
            TimeUnit::Milliseconds,
            TimeUnit::Seconds,
        ];
        for other in units.into_iter().filter(|other| *other != unit) {
            let factor = 10f64.powi(other.exponent() as i32 - unit.exponent() as i32);
            if rate.is_plausible(factor) {
                rate.others.push((other, factor));
            }
        }
        rate
    }

    /// Requests per second if all times were `factor` times as long.
    fn requests_per_second(&self, factor: f64) -> f64 {
        self.requests as f64 / self.seconds / factor
    }

    fn is_plausible(&self, factor: f64) -> bool {
        let requests = self.requests_per_second(factor);
        self.bytes_per_second / factor <= BYTES_PER_SECOND_MAX
            && (REQUESTS_PER_SECOND_MIN..=REQUESTS_PER_SECOND_MAX).contains(&requests)
    }

    /// The rate as text if all times were `factor` times as long.
    fn words(&self, factor: f64) -> String {
        let requests = self.requests_per_second(factor);
        format!(
            "{} requests/s and {} MB/s",
            figure(requests),
            figure(self.bytes_per_second / factor / 1e6)
        )
    }
}

/// `number` with three significant digits, or with all digits of its whole part if there are more than three.
fn figure(number: f64) -> String {
    let digits = if number > 0.0 {
        2 - number.log10().floor() as i32
    } else {
        0
    };
    format!("{number:.*}", digits.clamp(0, 12) as usize)
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others.is_empty() {
            return write!(out, "no unit of time gives a plausible rate for a device");
        }
        // Formats that count in ticks have no other unit, so `trace.time_unit` cannot be used; `destage trace
        // scale` changes their times.
        let (how, scales) = match self.unit {
            TimeUnit::Ticks => ("destage trace scale --time ", true),
            _ => ("trace.time_unit=", false),
        };
        for (index, (unit, factor)) in self.others.iter().enumerate() {
            let value = if scales {
                factor.to_string()
            } else {
                unit.name().to_owned()
            };
            match index {
                0 => write!(out, "{how}{value} would make it {}", self.words(*factor))?,
                _ => {
                    let requests = figure(self.requests_per_second(*factor));
                    write!(out, ", {value} {requests} requests/s")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock(name, unit) => write!(
                out,
                "its first time looks like one of {name} in {0}, but was read as ns; trace.time_unit={0} corrects that",
                unit.name()
            ),
            Self::Rate(rate) => write!(
                out,
                "{} requests in {} s are {}, which is no plausible rate for a device, so {} may not be the unit of its times; {rate}",
                rate.requests,
                figure(rate.seconds),
                rate.words(1.0),
                rate.unit.name(),
            ),
            Self::Digits(rate) => write!(
                out,
                "most of its times have digits below 0.1 ns, so ns may not be their unit; {rate}"
            ),
            Self::Together { percent, unit } => {
                // A unit finer than a microsecond does not explain equal times.
                let why = match unit.exponent() < TimeUnit::Microseconds.exponent() {
                    true => String::new(),
                    false => format!(", as times are in {}", unit.name()),
                };
                write!(
                    out,
                    "{percent} % of its requests arrive at the same time as the one before{why}: the trace does not show how requests wait for each other; host.replay=closed ignores times"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pace of `requests` writes of 4 KiB, `gap` ticks apart.
    fn pace(requests: u64, gap: Ticks) -> Pace {
        let mut pace = Pace::default();
        for index in 0..requests {
            pace.see(&[Request {
                arrival: 5 + index * gap,
                sectors: 8,
                operation: Operation::Write,
                ..Request::BLANK
            }]);
        }
        pace
    }

    fn told(pace: &Pace, unit: TimeUnit) -> Vec<String> {
        pace.doubts(unit).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pace_that_no_device_has_names_units_that_would_be_one() {
        // The requests are 1 ns apart, where 1 ms was meant.
        assert_eq!(
            told(&pace(1001, 10), TimeUnit::Nanoseconds),
            [
                "1001 requests in 0.00000100 s are 1001000000 requests/s and 4100096 MB/s, which is no plausible rate for a device, so ns may not be the unit of its times; trace.time_unit=us would make it 1001000 requests/s and 4100 MB/s, ms 1001 requests/s, s 1.00 requests/s"
            ]
        );
        // The requests are two hours apart, where 7.2 s was meant.
        let slow = told(&pace(17, 7200 * TICKS_PER_SECOND), TimeUnit::Milliseconds);
        assert!(
            slow[0].contains("; trace.time_unit=ns would make it 148 requests/s"),
            "{slow:?}"
        );
        assert!(slow[0].contains(", us 0.148 requests/s"), "{slow:?}");
        let ours = told(&pace(1001, 1), TimeUnit::Ticks);
        assert!(
            ours[0].contains("; destage trace scale --time 10000 would make it 1"),
            "{ours:?}"
        );
    }

    #[test]
    fn what_a_device_can_do_is_not_doubted() {
        // These rates are possible: 1 M requests/s with 4 GB/s; one request in half an hour; a short burst; a
        // single request; none.
        assert!(pace(1000, 10_000).doubts(TimeUnit::Nanoseconds).is_empty());
        assert!(
            pace(1000, 1800 * TICKS_PER_SECOND)
                .doubts(TimeUnit::Seconds)
                .is_empty()
        );
        assert!(pace(15, 1).doubts(TimeUnit::Nanoseconds).is_empty());
        assert!(pace(1, 0).doubts(TimeUnit::Nanoseconds).is_empty());
        assert!(Pace::default().doubts(TimeUnit::Seconds).is_empty());
    }

    #[test]
    fn requests_that_share_their_time_are_told() {
        assert_eq!(
            told(&pace(100, 0), TimeUnit::Seconds),
            [
                "99 % of its requests arrive at the same time as the one before, as times are in s: the trace does not show how requests wait for each other; host.replay=closed ignores times"
            ]
        );
        let fine = told(&pace(100, 0), TimeUnit::Ticks);
        assert!(fine[0].contains("as the one before: the trace"), "{fine:?}");
        let mut half = Pace::default();
        let batch: Vec<Request> = (0..100)
            .map(|index| Request {
                arrival: index / 2 * TICKS_PER_SECOND,
                sectors: 8,
                operation: Operation::Read,
                ..Request::BLANK
            })
            .collect();
        batch.chunks(7).for_each(|batch| half.see(batch));
        assert_eq!((half.together, half.requests), (50, 100));
        assert!(half.doubts(TimeUnit::Seconds).is_empty());
    }
}
