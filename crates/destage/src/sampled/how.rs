//! A description of how curves were sampled, in words and as JSON.

use serde_json::{Map, json};

use crate::numbers;

/// How curves were sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledHow {
    /// The fraction of all blocks, or of all pages, that each sample has.
    pub rate: f64,
    /// The number of samples.
    pub salts: u32,
    /// If an error limit was requested: the requested and the reached error, both in percent, and the metric.
    pub error: Option<(f64, Option<f64>, String)>,
}

impl SampledHow {
    /// `{"rate", "salts"}`, and `"error"` if an error limit was requested.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut map = Map::new();
        map.insert("rate".to_owned(), json!(self.rate));
        map.insert("salts".to_owned(), json!(self.salts));
        if let Some((asked, reached, metric)) = &self.error {
            let error =
                json!({ "metric": metric, "asked_percent": asked, "reached_percent": reached });
            map.insert("error".to_owned(), error);
        }
        map.into()
    }

    /// Whether the reached error is within the requested limit; true if no limit was requested.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let met = |(asked, reached, _): &(f64, Option<f64>, String)| {
            reached.is_some_and(|reached| reached <= *asked)
        };
        self.error.as_ref().is_none_or(met)
    }
}

impl std::fmt::Display for SampledHow {
    /// Sentences on separate lines.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let samples = match self.salts {
            1 => "one sample".to_owned(),
            more => format!("{more} samples"),
        };
        let share = numbers::real(100.0 * self.rate);
        write!(
            formatter,
            "Estimated from {samples}, each with {share} % of the addresses"
        )?;
        formatter.write_str(match self.salts {
            1 => "; a single sample gives no interval.\n",
            _ => "; in brackets, the interval that contains the value with 95 % probability.\n",
        })?;
        formatter.write_str(
            "A size without a value has fewer than 8 blocks in a sample. Samples give no response times.\n",
        )?;
        let Some((asked, reached, metric)) = &self.error else {
            return Ok(());
        };
        let reached = reached.map_or("none".to_owned(), numbers::real);
        match self.is_met() {
            true => writeln!(
                formatter,
                "The error of {metric} is at most {reached} % of the largest value; asked for: {asked} %."
            ),
            false => writeln!(
                formatter,
                "The error of {metric} may be {reached} % of the largest value, and not {asked} % as asked for: a larger share would take as long as the exact curve. Without an error and a sample rate the curve is exact."
            ),
        }
    }
}
