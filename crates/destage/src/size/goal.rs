//! The goal of a search.

use destage_sim::metrics;

use crate::error::Error;
use crate::record::Record;

/// `METRIC<VALUE` or `METRIC>VALUE`.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// The metric's name.
    pub metric: String,
    /// Whether it has to be below the value; above, if not.
    pub below: bool,
    /// In the metric's unit.
    pub value: f64,
}

impl Goal {
    /// Reads one, as it is typed.
    ///
    /// # Errors
    /// The error in the text.
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
        let number = value
            .trim()
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite());
        let value = number.ok_or_else(|| {
            wrong(format!(
                "{:?} is not a value; expected a number",
                value.trim()
            ))
        })?;
        Ok(Self {
            metric: metric.to_owned(),
            below: sign == "<",
            value,
        })
    }

    /// The metric and the value that it has to stay below, if it has to.
    pub(super) fn limit(&self) -> Option<(&str, f64)> {
        self.below.then_some((&*self.metric, self.value))
    }

    /// How far `record` is, less being better; infinite without such a metric.
    #[must_use]
    pub fn rank(&self, record: &Record) -> f64 {
        self.rank_of(record.number(&self.metric).unwrap_or(f64::NAN))
    }

    /// How far `value` is.
    pub(super) fn rank_of(&self, value: f64) -> f64 {
        match self.below {
            _ if value.is_nan() => f64::INFINITY,
            true => value,
            false => -value,
        }
    }

    /// Whether `value` reaches it.
    pub(super) fn is_met(&self, value: f64) -> bool {
        match self.below {
            true => value < self.value,
            false => value > self.value,
        }
    }

    /// Whether `record` has reached it. A record without the metric misses the goal.
    #[must_use]
    pub fn is_met_by(&self, record: &Record) -> bool {
        let value = record.number(&self.metric);
        value.is_some_and(|value| self.is_met(value))
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
        for (text, part) in [
            ("waf.bytes", "expected METRIC<VALUE"),
            ("waf.bites<1", "did you mean"),
            ("waf.bytes<", "\"\" is not a value"),
            ("waf.bytes<=1", "\"=1\" is not a value"),
            ("waf.bytes<inf", "is not a value"),
        ] {
            let error = Goal::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
