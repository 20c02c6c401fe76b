//! Whether the times of a trace are plausible in their assumed unit.
//!
//! A wrong unit passes every check of a line: the trace is only a thousand times too fast. A rate that no device reaches gives a wrong unit away.

use crate::format::TimeUnit;
use crate::request::{Operation, Request, SECTOR_BYTES};
use destage_base::Ticks;
use destage_base::time::TICKS_PER_SECOND;
use std::fmt;

/// More bytes per second than one device moves: the fastest of 2025 stay below 15e9.
const BYTES_PER_SECOND_MAX: f64 = 20e9;
/// More requests per second than one device answers: the fastest of 2025 stay below 4e6.
const REQUESTS_PER_SECOND_MAX: f64 = 5e6;
/// Fewer than one per hour are no trace of a device at work.
const REQUESTS_PER_SECOND_MIN: f64 = 1.0 / 3600.0;
/// Above this, digits below 0.1 ns do not come from a program's rounding but from a coarser unit.
const REQUESTS_PER_SECOND_BUSY: f64 = 5e4;
/// Fewer requests may be one burst.
const REQUESTS_MIN: u64 = 16;

/// Clocks whose times, read as ns, are no beginning of a trace: their kind, their unit, and their first ticks from one year to another. Unix times in
/// ms or s are among them, and those in ns are recognised.
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

/// Counts of requests in order of arrival, to judge their times.
///
/// ```
/// use destage_trace::{Operation, Request, TimeUnit, plausibility::Pace};
/// let mut pace = Pace::default();
/// for ns in 0..100 {
///     let operation = Operation::Write;
///     pace.see(&[Request { arrival: 10 * ns, sector: 0, sectors: 8, volume: 0, line: 1, operation, fua: false, stream: 0 }]);
/// }
/// let doubts = pace.doubts(TimeUnit::Nanoseconds);
/// assert!(doubts[0].to_string().contains("trace.time_unit=us"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    first: Option<Ticks>,
    last: Ticks,
    requests: u64,
    /// Sectors read and written.
    sectors: u64,
    /// Requests that arrive with the one before them.
    together: u64,
    /// Times with digits below the tick.
    pub(crate) rounded: u64,
}

/// Something about the times of a trace that a user should know, as a sentence without the trace's name.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// The first time, which was read as ns, is one of this clock in this unit.
    Clock(&'static str, TimeUnit),
    /// No device is as fast or as slow as this.
    Rate(Rate),
    /// The times have digits that the unit has no room for.
    Digits(Rate),
    /// Most requests arrive with the one before them.
    Together {
        /// How many of a hundred.
        percent: u64,
        /// The unit of the times.
        unit: TimeUnit,
    },
}

/// How fast requests come, and how fast they would in other units.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    requests: u64,
    seconds: f64,
    bytes_per_second: f64,
    unit: TimeUnit,
    /// Units in which the rate would be one of a device, and by how much times would grow.
    others: Vec<(TimeUnit, f64)>,
}

impl Pace {
    /// Counts requests that arrive after those before.
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

    /// Warnings about times that were read in `unit`.
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
        // From fine to coarse. Only Windows counts 100 ns.
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

    /// Requests per second if times were `factor` times as long.
    fn requests_per_second(&self, factor: f64) -> f64 {
        self.requests as f64 / self.seconds / factor
    }

    fn is_plausible(&self, factor: f64) -> bool {
        let requests = self.requests_per_second(factor);
        self.bytes_per_second / factor <= BYTES_PER_SECOND_MAX
            && (REQUESTS_PER_SECOND_MIN..=REQUESTS_PER_SECOND_MAX).contains(&requests)
    }

    /// The rate if times were `factor` times as long, in words.
    fn words(&self, factor: f64) -> String {
        let requests = self.requests_per_second(factor);
        format!(
            "{} requests/s and {} MB/s",
            figure(requests),
            figure(self.bytes_per_second / factor / 1e6)
        )
    }
}

/// Three significant digits of a number above 0, and as many whole ones as it has.
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
        // A form of ours has one unit; its times are changed by another command.
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
            Self::Together { percent, unit } => write!(
                out,
                "{percent} % of its requests arrive at the same time as the one before, as times are in {}: the trace does not show how requests wait for each other; host.replay=closed ignores times",
                unit.name()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `requests` of 4 KiB, `gap` ticks apart.
    fn pace(requests: u64, gap: Ticks) -> Pace {
        let mut pace = Pace::default();
        for index in 0..requests {
            pace.see(&[Request {
                arrival: 5 + index * gap,
                sector: 0,
                sectors: 8,
                volume: 0,
                line: 1,
                operation: Operation::Write,
                fua: false,
                stream: 0,
            }]);
        }
        pace
    }

    fn told(pace: &Pace, unit: TimeUnit) -> Vec<String> {
        pace.doubts(unit).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pace_that_no_device_has_names_units_that_would_be_one() {
        // A request per ns, where it was one per ms.
        assert_eq!(
            told(&pace(1001, 10), TimeUnit::Nanoseconds),
            [
                "1001 requests in 0.00000100 s are 1001000000 requests/s and 4100096 MB/s, which is no plausible rate for a device, so ns may not be the unit of its times; trace.time_unit=us would make it 1001000 requests/s and 4100 MB/s, ms 1001 requests/s, s 1.00 requests/s"
            ]
        );
        // One request in two hours, where there was one in 7.2 s.
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
        // 1 M requests/s and 4 GB/s; one request in half an hour; a burst.
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
        let mut half = Pace::default();
        let batch: Vec<Request> = (0..100)
            .map(|index| Request {
                arrival: index / 2 * TICKS_PER_SECOND,
                sector: 0,
                sectors: 8,
                volume: 0,
                line: 1,
                operation: Operation::Read,
                fua: false,
                stream: 0,
            })
            .collect();
        batch.chunks(7).for_each(|batch| half.see(batch));
        assert_eq!((half.together, half.requests), (50, 100));
        assert!(half.doubts(TimeUnit::Seconds).is_empty());
    }
}
