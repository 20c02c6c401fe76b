//! A goal that a buffer has to reach.

use destage_base::parameter::read_bytes;
use destage_sim::metrics::{self, MetricRow, rows};
use destage_sim::sample::is_sum;
use destage_sim::settings::Config;

use crate::error::Error;
use crate::record::Record;

/// Metrics that add up over the requests, or that may do so, in addition to those of [`is_sum`].
const SUMS: [&MetricRow; 16] = [
    rows::HOST_REQUESTS,
    rows::HOST_COMPLETED,
    rows::HOST_PAGE_READS,
    rows::HOST_PAGE_WRITES,
    rows::HOST_BYTES_WRITTEN,
    rows::HOST_QUEUE_COMPLETED,
    rows::ENERGY_LINK_MJ,
    rows::ENERGY_FIRMWARE_MJ,
    rows::ENERGY_DRAM_MJ,
    rows::SCHEME,
    rows::FTL,
    rows::WEAR_BLOCKS_RETIRED,
    rows::WEAR_ERASE_MIN,
    rows::WEAR_ERASE_MAX,
    rows::WEAR_ERASE_MEAN,
    rows::WEAR_ERASE_STD,
];

/// Metrics that a run without a clock does not have.
const OF_CLOCK: [&MetricRow; 15] = [
    rows::HOST_SATURATED,
    rows::RESPONSE,
    rows::RESPONSE_READ,
    rows::RESPONSE_WRITE,
    rows::DEVICE_RESPONSE,
    rows::HOST_QUEUE_MEAN_MS,
    rows::HOST_QUEUE_P99_MS,
    rows::HOST_QUEUE_MAX_MS,
    rows::THROUGHPUT_IOPS,
    rows::THROUGHPUT_MB_PER_S,
    rows::FLASH_UTILIZATION_MEAN,
    rows::FLASH_UTILIZATION_MIN,
    rows::FLASH_UTILIZATION_MAX,
    rows::FLASH_PARALLELISM_MEAN,
    rows::DEVICE_WORN_OUT_MS,
];
/// The sections of metrics that a run without flash does not have.
const OF_FLASH: [&str; 4] = ["waf.", "flash.", "ftl.", "wear."];

/// A limit on a metric: `METRIC<VALUE` or `METRIC>VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The name of the metric.
    pub metric: String,
    /// Whether the metric has to be below the value; otherwise it has to be above.
    pub below: bool,
    /// The value, in the unit of the metric.
    pub value: f64,
}

impl Goal {
    /// Reads a goal as users type it.
    ///
    /// # Errors
    /// If the text is not a goal, or the metric does not exist.
    pub fn read(text: &str) -> Result<Self, Error> {
        let wrong = |why: String| Error::argument("goal", format!(" {text:?}: {why}"));
        let (metric, sign, value) = text
            .find(['<', '>'])
            .map(|at| (&text[..at], &text[at..=at], &text[at + 1..]))
            .ok_or_else(|| {
                wrong(
                    "expected METRIC<VALUE or METRIC>VALUE, such as response.write.p99_ms<1"
                        .to_owned(),
                )
            })?;
        let metric = metric.trim();
        metrics::require(metric).map_err(|error| wrong(error.to_string()))?;
        let value = value.trim();
        if value.starts_with('=') {
            return Err(wrong(format!(
                "a goal has no {sign}=; expected METRIC<VALUE or METRIC>VALUE; a metric equal to VALUE does not reach the goal"
            )));
        }
        let unit = metrics::find(metric).map_or("", |row| row.unit);
        let digits = value.strip_suffix(unit).map_or(value, str::trim_end);
        let number = digits.parse().ok().filter(|value: &f64| value.is_finite());
        let size = || read_bytes(value).filter(|_| unit == "bytes");
        let number = number.or_else(|| size().map(|bytes| bytes as f64));
        let value = number.ok_or_else(|| {
            let unit = match unit {
                "" => String::new(),
                "bytes" => " of bytes, or a size such as 2MiB".to_owned(),
                unit => format!(" of the metric's unit, {unit}"),
            };
            wrong(format!("{value:?} is not a value; expected a number{unit}"))
        })?;
        Ok(Self {
            metric: metric.to_owned(),
            below: sign == "<",
            value,
        })
    }

    /// Checks that runs under `config` may have the metric.
    ///
    /// # Errors
    /// If no run has the metric, because it needs flash or a clock.
    pub(super) fn check(&self, config: &Config) -> Result<(), Error> {
        let row = metrics::find(&self.metric);
        let needs_clock = row.is_some_and(|row| OF_CLOCK.contains(&row));
        let why = match () {
            () if !config.has_flash() && (self.is_of_flash() || needs_clock) => {
                "there is no flash (ftl.kind = none); expected a layer with flash, such as ftl.kind = page"
            }
            () if !config.is_timed() && needs_clock => {
                "there is no clock (sim.costing = op_count); expected sim.costing = event"
            }
            () => return Ok(()),
        };
        let metric = &self.metric;
        let what = format!(" {self}: no run has {metric}, because {why}, or another metric");
        Err(Error::argument("goal", what))
    }

    /// Whether the metric is about the work of the flash.
    pub(super) fn is_of_flash(&self) -> bool {
        OF_FLASH
            .iter()
            .any(|section| self.metric.starts_with(section))
    }

    /// The metric and its upper limit; `None` if the metric has to be above the value.
    pub(super) fn limit(&self) -> Option<(&str, f64)> {
        self.below.then_some((&*self.metric, self.value))
    }

    /// A number by which records are ordered. A smaller number is better for the goal. The number is infinite if the
    /// record lacks the metric.
    #[must_use]
    pub fn rank(&self, record: &Record) -> f64 {
        self.rank_of(record.number(&self.metric).unwrap_or(f64::NAN))
    }

    /// The rank of a record whose metric is `value`.
    pub(super) fn rank_of(&self, value: f64) -> f64 {
        match self.below {
            _ if value.is_nan() => f64::INFINITY,
            true => value,
            false => -value,
        }
    }

    /// How far `value` misses the goal, as a fraction of the goal. Negative if `value` reaches the goal, and infinite if
    /// `value` is NaN.
    pub(super) fn excess(&self, value: f64) -> f64 {
        let part = value / self.value - 1.0;
        match self.below {
            _ if part.is_nan() => f64::INFINITY,
            true => part,
            false => -part,
        }
    }

    /// Whether the metric may add up over the requests, so that a part of an input has only a part of its value.
    pub(super) fn adds_up(&self) -> bool {
        let row = metrics::find(&self.metric);
        is_sum(&self.metric) || row.is_some_and(|row| SUMS.contains(&row))
    }

    /// Whether `value` reaches the goal.
    pub(super) fn is_met(&self, value: f64) -> bool {
        match self.below {
            true => value < self.value,
            false => value > self.value,
        }
    }

    /// Whether `record` reaches the goal. A record without the metric does not reach the goal, nor does a run that
    /// [stopped early](Record::stopped_early): with its whole input it might have another value.
    #[must_use]
    pub fn is_met_by(&self, record: &Record) -> bool {
        let value = record.number(&self.metric);
        !record.stopped_early() && value.is_some_and(|value| self.is_met(value))
    }
}

impl std::fmt::Display for Goal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.below { '<' } else { '>' };
        write!(formatter, "{}{sign}{}", self.metric, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_up_over_the_requests_is_known() {
        for (text, adds_up) in [
            ("flash.erases<30", true),
            ("buffer.read_hits>5", true),
            ("ftl.merge_time_ms<5", true),
            ("wear.erase_max<5", true),
            ("ftl.zones_open_max>5", true),
            ("ftl.map_bytes<5", false),
            ("waf.host<2", false),
            ("buffer.write_hits_percent>5", false),
            ("response.write.p99_ms<1", false),
        ] {
            assert_eq!(Goal::read(text).unwrap().adds_up(), adds_up, "{text}");
        }
    }

    #[test]
    fn goals_are_read_as_typed() {
        let goal = Goal::read("response.write.p99_ms < 1.5").unwrap();
        assert_eq!(goal.to_string(), "response.write.p99_ms<1.5");
        assert!(!Goal::read("throughput.iops>1000").unwrap().below);
        let percent = Goal::read("buffer.write_hits_percent>30 %").unwrap();
        assert_eq!(percent.to_string(), "buffer.write_hits_percent>30");
        let size = Goal::read("device.at_risk_bytes_max<2MiB").unwrap();
        assert_eq!(size.value, 2_097_152.0);
        for (text, part) in [
            (
                "device.at_risk_bytes_max<2ms",
                "\"2ms\" is not a value; expected a number of bytes, or a size such as 2MiB",
            ),
            (
                "response.mean_ms<2MiB",
                "expected a number of the metric's unit, ms",
            ),
            ("waf.bytes", "expected METRIC<VALUE"),
            ("waf.bites<1", "did you mean"),
            ("waf.bytes<", "\"\" is not a value"),
            ("waf.bytes<=1", "a goal has no <=; expected METRIC<VALUE"),
            ("waf.bytes> = 1", "a goal has no >=; expected METRIC<VALUE"),
            ("waf.bytes<inf", "is not a value"),
            (
                "response.mean_ms<5us",
                "\"5us\" is not a value; expected a number of the metric's unit, ms",
            ),
        ] {
            let error = Goal::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
