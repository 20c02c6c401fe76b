//! Parameters and functions that several workloads use.

use crate::WorkloadError;
use destage_base::parameter::{Kind, Parameter};
use destage_base::time::{TICKS_PER_MS, TICKS_PER_NS};
use destage_base::{Random, Ticks};
use destage_trace::request::SECTOR_BYTES;
use destage_trace::{Operation, Request};

pub(super) const REQUESTS: Parameter = Parameter {
    name: "requests",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 40,
    },
    default: "100000",
    unit: "requests",
    about: "How many requests there are.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const FOOTPRINT_PAGES: Parameter = Parameter {
    name: "footprint_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 40,
    },
    default: "100000",
    unit: "pages",
    about: "Requests touch pages below this one.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const PAGE_BYTES: Parameter = Parameter {
    name: "page_bytes",
    kind: Kind::Bytes {
        min: SECTOR_BYTES,
        max: 1 << 20,
    },
    default: "4KiB",
    unit: "bytes",
    about: "Size of the pages that all other parameters count; a multiple of 512.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const WRITE_PERCENT: Parameter = Parameter {
    name: "write_percent",
    kind: Kind::Number {
        min: 0.0,
        max: 100.0,
    },
    default: "100",
    unit: "%",
    about: "Share of requests that write.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MIN_PAGES: Parameter = Parameter {
    name: "min_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 16,
    },
    default: "1",
    unit: "pages",
    about: "Smallest request; sizes from here to max_pages are equally likely.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MAX_PAGES: Parameter = Parameter {
    name: "max_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 16,
    },
    default: "1",
    unit: "pages",
    about: "Largest request.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const MEAN_INTERARRIVAL_MS: Parameter = Parameter {
    name: "mean_interarrival_ms",
    kind: Kind::Number { min: 0.0, max: 1e9 },
    default: "1",
    unit: "ms",
    about: "Mean of the exponentially distributed gaps between arrivals; with 0, all requests arrive at once.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const SKEW: Parameter = Parameter {
    name: "skew",
    kind: Kind::Number {
        min: 0.0,
        max: 10.0,
    },
    default: "0.9",
    unit: "",
    about: "Exponent of the Zipf law: the k-th most popular page is drawn in proportion to k^-skew; 0 is uniform.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const CLUSTER_PAGES: Parameter = Parameter {
    name: "cluster_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 40,
    },
    default: "1",
    unit: "pages",
    about: "Length of runs in which pages that are neighbours in popularity are neighbours in address; the runs are scattered. With a run as long as the footprint, the most popular pages are at its start.",
    source: "",
    ..Parameter::BLANK
};
pub(super) const STREAMS: Parameter = Parameter {
    name: "streams",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 16,
    },
    default: "4",
    unit: "streams",
    about: "Number of sequential streams, each in a part of its own, which starts again at the end of its part.",
    source: "",
    ..Parameter::BLANK
};

/// The error that `value` of `parameter` contradicts other parameters.
pub(super) fn contradiction(
    workload: &'static str,
    parameter: &'static str,
    value: impl ToString,
    expected: impl Into<String>,
) -> WorkloadError {
    WorkloadError {
        workload,
        parameter,
        value: value.to_string(),
        expected: expected.into(),
    }
}

/// The number of sectors in a page.
pub(super) fn page_sectors(workload: &'static str, page_bytes: u64) -> Result<u64, WorkloadError> {
    if page_bytes.is_multiple_of(SECTOR_BYTES) {
        return Ok(page_bytes / SECTOR_BYTES);
    }
    Err(contradiction(
        workload,
        PAGE_BYTES.name,
        page_bytes,
        "a multiple of 512",
    ))
}

/// Sizes of requests in pages. All sizes from `min` to `max` are equally likely.
#[derive(Clone, Debug)]
pub(super) struct Sizes {
    min: u64,
    max: u64,
}

impl Sizes {
    pub fn new(
        workload: &'static str,
        (min, max): (u64, u64),
        space_pages: u64,
    ) -> Result<Self, WorkloadError> {
        if max > space_pages {
            return Err(contradiction(
                workload,
                MAX_PAGES.name,
                max,
                format!("at most {space_pages}, the number of pages of the address space"),
            ));
        }
        if min > max {
            return Err(contradiction(
                workload,
                MIN_PAGES.name,
                min,
                format!("at most max_pages, {max}"),
            ));
        }
        Ok(Self { min, max })
    }

    /// Draws a size. If only one size is possible, no random number is used.
    pub fn draw(&self, random: &mut Random) -> u64 {
        if self.min == self.max {
            self.min
        } else {
            self.min + pick(random, self.max - self.min + 1)
        }
    }
}

/// A random whole number below `bound`. A random number from 0 to 1 is multiplied by `bound` and rounded down.
/// Published generators use this method, so it must not be changed.
pub(super) fn pick(random: &mut Random, bound: u64) -> u64 {
    ((random.unit() * bound as f64) as u64).min(bound - 1)
}

/// An event that happens in `percent` of the cases. If it happens always or never, no random number is used.
#[derive(Clone, Debug)]
pub(super) struct Chance(f64);

impl Chance {
    pub fn new(percent: f64) -> Self {
        Self(percent / 100.0)
    }

    pub fn draw(&self, random: &mut Random) -> bool {
        self.0 >= 1.0 || (self.0 > 0.0 && random.unit() < self.0)
    }
}

/// The operation: a write if `write`, else a read.
pub(super) fn write_or_read(write: bool) -> Operation {
    if write {
        Operation::Write
    } else {
        Operation::Read
    }
}

/// Checks that all requests arrive within 2^63 ticks. The mean gap before a request is `other_ms` plus `share` times
/// `value`, in ms. `value` is the value of `parameter`. The sum of many random gaps is very unlikely to exceed twice
/// its mean, so 64 bits can represent every arrival.
pub(super) fn check_span(
    workload: &'static str,
    (parameter, value): (&'static str, f64),
    requests: u64,
    (other_ms, share): (f64, f64),
) -> Result<(), WorkloadError> {
    const SPAN_MS: f64 = (1u64 << 63) as f64 / TICKS_PER_MS as f64;
    let most = (SPAN_MS / requests as f64 - other_ms) / share;
    if value <= most {
        return Ok(());
    }
    let expected = format!("at most {most:.1}, so that {requests} requests arrive within 29 years");
    Err(contradiction(workload, parameter, value, expected))
}

/// Counts the requests, and computes their arrival times.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    mean_ms: f64,
    time_ms: f64,
    made: u64,
    wanted: u64,
    page_sectors: u64,
}

impl Arrivals {
    /// Creates arrivals for requests whose sizes are in pages of `page_bytes` bytes.
    pub fn new(
        workload: &'static str,
        requests: u64,
        mean_ms: f64,
        page_bytes: u64,
    ) -> Result<Self, WorkloadError> {
        let page_sectors = page_sectors(workload, page_bytes)?;
        Self::by_sectors(workload, requests, mean_ms, page_sectors)
    }

    /// Creates arrivals for requests whose sizes are in units of `page_sectors` sectors.
    pub fn by_sectors(
        workload: &'static str,
        requests: u64,
        mean_ms: f64,
        page_sectors: u64,
    ) -> Result<Self, WorkloadError> {
        let mean = (MEAN_INTERARRIVAL_MS.name, mean_ms);
        check_span(workload, mean, requests, (0.0, 1.0))?;
        Ok(Self {
            mean_ms,
            time_ms: 0.0,
            made: 0,
            wanted: requests,
            page_sectors,
        })
    }

    /// Counts the next request, and advances the time by a random gap. Returns `None` after the last request.
    pub fn next(&mut self, random: &mut Random) -> Option<()> {
        self.count()?;
        self.pause(random, self.mean_ms);
        Some(())
    }

    /// Counts the next request. Returns `None` after the last request.
    pub fn count(&mut self) -> Option<()> {
        if self.made == self.wanted {
            return None;
        }
        self.made += 1;
        Some(())
    }

    /// Advances the time by `ms` milliseconds.
    pub fn wait(&mut self, ms: f64) {
        self.time_ms += ms;
    }

    /// Advances the time by an exponentially distributed gap with a mean of `mean_ms` milliseconds.
    pub fn pause(&mut self, random: &mut Random, mean_ms: f64) {
        if mean_ms > 0.0 {
            self.time_ms += -mean_ms * libm::log(1.0 - random.unit());
        }
    }

    /// A request that arrives at the current time.
    pub fn request(&self, page: u64, pages: u64, operation: Operation) -> Request {
        Request {
            arrival: whole_nanoseconds(self.time_ms),
            sector: page * self.page_sectors,
            // Sizes are at most 2^16 pages, and pages at most 2^11 sectors, so the product fits.
            sectors: (pages * self.page_sectors) as u32,
            line: u32::try_from(self.made).unwrap_or(u32::MAX),
            operation,
            ..Request::BLANK
        }
    }
}

/// Converts milliseconds to ticks. The result is rounded to whole nanoseconds exactly as if the milliseconds were
/// printed with six decimals.
///
/// A product of floating-point numbers would not be exact enough, because its own rounding moves some values across
/// the middle between two nanoseconds.
pub(super) fn whole_nanoseconds(ms: f64) -> Ticks {
    const NS_PER_MS: u128 = 1_000_000;
    const MANTISSA_BITS: u32 = 52;
    let bits = ms.to_bits();
    let exponent = (bits >> MANTISSA_BITS) as i32 - 1075;
    let mantissa = (bits & ((1 << MANTISSA_BITS) - 1)) | (1 << MANTISSA_BITS);
    let product = u128::from(mantissa) * NS_PER_MS;
    let ns = match exponent {
        // The product has at most 73 bits. A shift by more than 100 bits makes it less than half a nanosecond.
        ..-100 => 0,
        -100..0 => {
            let shift = exponent.unsigned_abs();
            let (whole, rest, half) = (
                product >> shift,
                product & ((1 << shift) - 1),
                1 << (shift - 1),
            );
            whole + u128::from(rest > half || (rest == half && whole % 2 == 1))
        }
        0..50 => product << exponent,
        _ => u128::MAX,
    };
    u64::try_from(ns)
        .unwrap_or(u64::MAX)
        .saturating_mul(TICKS_PER_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_as_printing_does() {
        let mut random = Random::new(3);
        for scale in [1e-7, 1e-3, 1.0, 1e3, 1e6, 1e9] {
            for _ in 0..2000 {
                let ms = random.unit() * scale;
                let printed: u64 = format!("{ms:.6}").replace('.', "").parse().unwrap();
                assert_eq!(whole_nanoseconds(ms), printed * 10, "{ms:e}");
            }
        }
        assert_eq!(whole_nanoseconds(0.0), 0);
        assert_eq!(whole_nanoseconds(1.0), 10_000_000);
        // 7812.5 ns and 23437.5 ns are exactly between two whole nanoseconds. Each is rounded to the even neighbour.
        assert_eq!(whole_nanoseconds(1.0 / 128.0), 7_812 * 10);
        assert_eq!(whole_nanoseconds(3.0 / 128.0), 23_438 * 10);
        assert_eq!(whole_nanoseconds(1e300), u64::MAX);
    }
}
