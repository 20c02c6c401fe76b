//! The thresholds: tolerances and limits that the file `thresholds.toml` declares for the claims of all papers.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::claim::Tolerance;
use crate::from_toml;
use destage::Error;

/// Tolerances and limits by name. Claims use these names, and have no tolerances of their own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thresholds {
    /// The share of a published effect that a run has to reach for a verdict better than `sign only`: above 0 and
    /// at most 1.
    pub effect_share: f64,
    /// The tolerances, by name: how far measured values may deviate from published ones.
    #[serde(default)]
    tolerances: BTreeMap<String, Threshold<Tolerance>>,
    /// The limits, by name: numbers that formulas use as `limit.NAME`.
    #[serde(default)]
    limits: BTreeMap<String, Threshold<f64>>,
}

/// A tolerance or a limit, with its description.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Threshold<T> {
    is: T,
    about: String,
}

impl Thresholds {
    /// Reads the thresholds from the text of a `thresholds.toml`. Error messages call the text `origin`.
    ///
    /// # Errors
    /// If the text is not a valid `thresholds.toml`.
    pub fn parse(text: &str, origin: &str) -> Result<Self, Error> {
        let all: Self = from_toml(text, origin)?;
        if !(all.effect_share > 0.0 && all.effect_share <= 1.0) {
            return Err(Error::Input(format!(
                "{origin}: effect_share = {}: expected a share above 0 and up to 1",
                all.effect_share
            )));
        }
        Ok(all)
    }

    /// Reads the thresholds from the file at `path`. If the file does not exist, the result is the thresholds
    /// that are part of the library.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a valid `thresholds.toml`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, &path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::shipped(),
            Err(error) => Err(Error::Input(format!(
                "{}: {error}; expected a list of thresholds",
                path.display()
            ))),
        }
    }

    /// The thresholds that are part of the library.
    ///
    /// # Errors
    /// If the file of the library is wrong.
    pub fn shipped() -> Result<Self, Error> {
        Self::parse(
            super::paper::shipped_text("thresholds.toml"),
            "experiments/thresholds.toml",
        )
    }

    /// The tolerance `name`. If it does not exist, the result is an error message with the names of the existing
    /// tolerances.
    pub(super) fn tolerance(&self, name: &str) -> Result<Tolerance, String> {
        let found = self.tolerances.get(name).map(|each| each.is);
        found.ok_or_else(|| {
            let names: Vec<_> = self.tolerances.keys().map(String::as_str).collect();
            format!(
                "tolerance {name:?} is not declared in thresholds.toml; expected one of {}",
                names.join(", ")
            )
        })
    }

    /// The values of all limits as a JSON object, which formulas use under the name `limit`.
    pub(super) fn limits(&self) -> Value {
        let pairs = self.limits.iter();
        let map: Map<_, _> = pairs
            .map(|(name, limit)| (name.clone(), json!(limit.is)))
            .collect();
        Value::Object(map)
    }

    /// The share of a published effect that has to be seen, exactly as it is applied: `1/3` if it is one part of a
    /// whole number of parts.
    pub(super) fn share(&self) -> String {
        let parts = (1.0 / self.effect_share).round();
        match (parts * self.effect_share - 1.0).abs() < 1e-9 {
            true => format!("1/{parts}"),
            false => self.effect_share.to_string(),
        }
    }

    /// The name, the value and the description of each threshold, in the order in which tables show them.
    #[must_use]
    pub fn listed(&self) -> Vec<[String; 3]> {
        let share = [
            "effect_share".to_owned(),
            self.share(),
            "The share of a published effect that has to be seen; below it a verdict speaks of the sign only.".to_owned(),
        ];
        let tolerances = self.tolerances.iter();
        let tolerances =
            tolerances.map(|(name, each)| [name.clone(), each.is.to_string(), each.about.clone()]);
        let limits = self.limits.iter();
        let limits = limits.map(|(name, each)| {
            [
                format!("limit.{name}"),
                each.is.to_string(),
                each.about.clone(),
            ]
        });
        std::iter::once(share)
            .chain(tolerances)
            .chain(limits)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "effect_share = 0.5\n[tolerances.times]\nis = '10 %'\nabout = 'a'\n[limits.best]\nis = 1.02\nabout = 'b'\n";

    #[test]
    fn thresholds_are_found_by_name() {
        let all = Thresholds::parse(TEXT, "t.toml").unwrap();
        assert_eq!(all.tolerance("times"), Ok(Tolerance::Percent(10.0)));
        assert_eq!(all.limits(), json!({ "best": 1.02 }));
        assert_eq!(all.listed().len(), 3);
        assert_eq!(all.share(), "1/2");
        let refused = all.tolerance("time").unwrap_err();
        assert!(
            refused.contains("\"time\"") && refused.contains("times"),
            "{refused}"
        );
    }

    #[test]
    fn a_wrong_list_is_refused() {
        for (from, to) in [
            ("0.5", "0"),
            ("0.5", "2"),
            ("10 %", "10"),
            ("about = 'b'", "abot = 'b'"),
        ] {
            let error = Thresholds::parse(&TEXT.replace(from, to), "t.toml").unwrap_err();
            assert!(error.to_string().contains("t.toml"), "{error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let none = Thresholds::read(&folder.path().join("thresholds.toml")).unwrap();
        assert!(none.effect_share > 0.3);
    }
}
