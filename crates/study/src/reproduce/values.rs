//! The published and the measured values of a claim, in the same quantity and unit.

use destage_base::parameter::read_bytes;
use serde_json::{Value, json};

use super::claim::{Check, Claim, ratios};
use super::ran::without_section;
use super::words::{Words, filled, labelled, ranged};
use crate::rows::spoken;
use crate::{BASE, product};

/// The values of a claim, with their names and units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The published value.
    pub published: Value,
    /// The measured value in the base run: under the paper's own settings and with the first seed.
    pub measured: Value,
    /// The ratio of measured to published value; null if they are not compared as numbers.
    pub ratio: Value,
    /// The quantity of both values, in words.
    pub quantity: String,
    /// The unit of their numbers.
    pub unit: String,
    /// The names of the parts of `measured`: a list of names for each depth of its lists.
    pub labels: Vec<Vec<String>>,
    /// The number of these depths that come from the claim's `each`; the published value does not have these
    /// depths.
    pub each: usize,
    /// Whether a pair of measured numbers is a range.
    pub range: bool,
    /// The results in the base run, with each other seed and unpublished setting, and with the readings that
    /// change whether the claim holds.
    pub tries: Vec<Try>,
}

/// The result with one seed, setting or combination of readings.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// `base run`, `seed 2`, the name of the setting, or the values of the rules: `buffer.pad = false`.
    pub name: String,
    /// The measured value, in the form of [`Values::measured`].
    pub measured: Value,
    /// Whether the claim holds in this case.
    pub holds: bool,
}

impl Values {
    /// The values of `claim`. `measured` is the measured value, and `each` has the names of the cases in the
    /// claim's `each`.
    ///
    /// # Errors
    /// If the names do not fit the values, or if a limit in `words` is not declared.
    pub(super) fn of(
        claim: &Claim,
        words: Option<&Words>,
        limits: &Value,
        (measured, each): (Value, Option<Vec<String>>),
    ) -> Result<Self, String> {
        let published = claim.published.as_ref();
        let published = published.map_or(Value::Null, |value| json!(value));
        let words = words.cloned().unwrap_or_default();
        let values = Self {
            ratio: match claim.check.check {
                Check::Property => Value::Null,
                _ => ratios(&measured, &published).unwrap_or_default(),
            },
            published,
            measured,
            quantity: filled(&words.quantity, limits)?,
            unit: words.unit,
            each: usize::from(each.is_some()),
            range: words.range,
            tries: Vec::new(),
            labels: each.into_iter().chain(words.labels).collect(),
        };
        values.shown().map(|_| values)
    }

    /// The published value, the measured value and their ratio, as texts for a table.
    ///
    /// # Errors
    /// If the names do not fit the parts.
    pub fn shown(&self) -> Result<[String; 3], String> {
        let own = self.labels.get(self.each..).unwrap_or_default();
        // A single published value applies to each measured value, and the ratios have the form of the measured
        // values.
        let has_own = self.published.is_array();
        let of_ratio = match self.ratio.is_array() {
            true if self.each > 0 || !has_own => self.labels.as_slice(),
            _ => own,
        };
        Ok([
            labelled(&self.published, if has_own { own } else { &[] }, &self.unit)?,
            labelled(
                &ranged(&self.measured, self.range),
                &self.labels,
                &self.unit,
            )?,
            labelled(&self.ratio, of_ratio, "")?,
        ])
    }
}

/// The names of the cases in a claim's `each`, in their order; `None` without cases. Axes with a single value are
/// named only if all have. Sizes are followed by the paper's sizes, which are `shrunk` times as large.
pub(super) fn each_names(claim: &Claim, shrunk: Option<u64>) -> Option<Vec<String>> {
    let each = &claim.each;
    // Users type 8MiB; tables show 8 MiB.
    let spaced = |value: &str| {
        let digits = value.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let own = format!("{digits} {}", &value[digits.len()..]);
        let bytes = shrunk.and_then(|times| Some(times * read_bytes(value)?));
        match bytes {
            Some(bytes) => format!("{own} for {}", spoken("size", &bytes.to_string())),
            None => own,
        }
    };
    let has_more = |axis: &str| each.get(axis).is_some_and(|values| values.len() > 1);
    let all_alone = !each.keys().any(|axis| has_more(axis));
    let named = |labels: Vec<(String, String)>| {
        let some = labels
            .into_iter()
            .filter(|(axis, value)| (all_alone || has_more(axis)) && value != BASE);
        let all: Vec<_> = some
            .map(|(axis, value)| match axis.as_str() {
                "size" => spaced(&value),
                "input" | "buffer" | "ftl" => value,
                _ => format!("{} {value}", without_section(&axis).replace('_', " ")),
            })
            .collect();
        all.join(", ")
    };
    (!each.is_empty()).then(|| {
        let all = product(each).into_iter();
        all.map(|labels| named(labels.into_iter().collect()))
            .collect()
    })
}

/// What the cases in a claim's `each` are, and how many there are: `5 sizes of the buffer`,
/// `6 combinations of 3 layers and 2 inputs`.
pub(super) fn each_things(claim: &Claim) -> String {
    let kind = |axis: &str| match axis {
        "input" => "inputs".to_owned(),
        "size" => "sizes of the buffer".to_owned(),
        "buffer" => "schemes".to_owned(),
        "ftl" => "layers".to_owned(),
        "seed" => "seeds".to_owned(),
        "variant" => "settings".to_owned(),
        other => {
            let name = without_section(other);
            format!("values of {}", name.replace('_', " "))
        }
    };
    let several = claim.each.iter().filter(|(_, values)| values.len() > 1);
    let kinds: Vec<_> = several
        .map(|(axis, values)| format!("{} {}", values.len(), kind(axis)))
        .collect();
    match kinds.as_slice() {
        [one] => one.clone(),
        all => format!(
            "{} combinations of {}",
            product(&claim.each).len(),
            all.join(" and ")
        ),
    }
}
