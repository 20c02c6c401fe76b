//! A goal that a buffer has to reach.

use destage_sim::metrics;

use crate::error::Error;
use crate::record::Record;

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
        let value = number.ok_or_else(|| {
            let unit = match unit {
                "" => String::new(),
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
    fn goals_are_read_as_typed() {
        let goal = Goal::read("response.write.p99_ms < 1.5").unwrap();
        assert_eq!(goal.to_string(), "response.write.p99_ms<1.5");
        assert!(!Goal::read("throughput.iops>1000").unwrap().below);
        let percent = Goal::read("buffer.write_hits_percent>30 %").unwrap();
        assert_eq!(percent.to_string(), "buffer.write_hits_percent>30");
        for (text, part) in [
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
