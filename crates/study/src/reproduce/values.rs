//! The published and the measured value of a claim. Both are values of the same quantity in the same unit.

use destage_base::parameter::read_bytes;
use serde_json::{Value, json};

use super::claim::{Check, Claim, ratios};
use super::ran::without_section;
use super::words::{Words, bounded, filled, labelled, ranged};
use crate::rows::spoken;
use crate::{BASE, product};

/// The values of a claim, with the texts that describe them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// The value that the paper published; null if there is none.
    pub published: Value,
    /// The measured value in the base run, which has the settings of the paper and the first seed.
    pub measured: Value,
    /// The measured value divided by the published value; null if the values are not numbers, or if the check is
    /// `property`.
    pub ratio: Value,
    /// The name of the quantity that was published and measured.
    pub quantity: String,
    /// The unit of both values.
    pub unit: String,
    /// The names of the elements of `measured`, if it is a list. For nested lists, there is a list of names for
    /// each level.
    pub labels: Vec<Vec<String>>,
    /// The number of levels of `measured` that result from the claim's `each`: 1 or 0. The published value does
    /// not have this level.
    pub each: usize,
    /// Whether a list of two measured numbers is shown as a range.
    pub range: bool,
    /// Whether the two published numbers are shown as a range, because the check asks for a value between them.
    pub published_range: bool,
    /// The result in the base run, the results with each other seed and each unpublished setting, and the results
    /// under the smallest choices of open rules that change whether the claim holds.
    pub tries: Vec<Try>,
}

/// The result with one seed, one setting, or one combination of interpretations of open rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// The name of the case: `base run`, a seed such as `seed 2`, the name of a setting, or the values that
    /// select the interpretations, such as `buffer.pad = false`.
    pub name: String,
    /// The measured value. It has the same lists as [`Values::measured`].
    pub measured: Value,
    /// Whether the claim holds with this measured value.
    pub holds: bool,
    /// Whether the measured value has at least the required share of the published size; `None` if the claim is not
    /// checked for its sign or has no published size.
    pub sized: Option<bool>,
    /// Whether every judged value is that of the base run. Such a case tests nothing, and is not counted.
    pub is_idle: bool,
}

impl Values {
    /// Builds the values of `claim`. `measured` is the measured value, and `each` has the names of the cases in
    /// the claim's `each`.
    ///
    /// # Errors
    /// If a list of values and the list of its names have different lengths, or if a limit in `words` is not
    /// declared.
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
            published_range: claim.check.check == Check::Between,
            tries: Vec::new(),
            labels: each.into_iter().chain(words.labels).collect(),
        };
        values.shown().map(|_| values)
    }

    /// The published value, the measured value and their ratio, as texts for a table.
    ///
    /// # Errors
    /// If a list of values and the list of its names have different lengths.
    pub fn shown(&self) -> Result<[String; 3], String> {
        let own = self.labels.get(self.each..).unwrap_or_default();
        // If the published value is a single number and the measured value is a list, each element is compared
        // with this number. The ratios then have the same lists as the measured value, and therefore the same
        // names.
        let has_own = self.published.is_array();
        let of_ratio = match self.ratio.is_array() {
            true if self.each > 0 || !has_own => self.labels.as_slice(),
            _ => own,
        };
        Ok([
            match self.published_range {
                true => bounded(&self.published, &self.unit),
                false => labelled(&self.published, if has_own { own } else { &[] }, &self.unit)?,
            },
            labelled(
                &ranged(&self.measured, self.range),
                &self.labels,
                &self.unit,
            )?,
            labelled(&self.ratio, of_ratio, "")?,
        ])
    }
}

/// `bytes` times `times`, to the nearest byte: the paper's size of a buffer for that of a run.
pub(super) fn times_as_large(bytes: u64, times: f64) -> u64 {
    (bytes as f64 * times).round() as u64
}

/// The names of the cases in a claim's `each`, in their order; `None` if `each` is empty. A name consists of the
/// values of the case. The value of an axis is omitted if the axis has only one value, unless all axes have only
/// one value. The variant `base` is always omitted. If `shrunk` is given, each size is followed by the paper's
/// size, which is `shrunk` times as large.
pub(super) fn each_names(claim: &Claim, shrunk: Option<f64>) -> Option<Vec<String>> {
    let each = &claim.each;
    // In study files sizes are written as 8MiB; tables show 8 MiB.
    let spaced = |value: &str| {
        let digits = value.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let own = format!("{digits} {}", &value[digits.len()..]);
        let bytes = shrunk.and_then(|times| Some(times_as_large(read_bytes(value)?, times)));
        match bytes {
            Some(bytes) => format!(
                "{own} for the paper's {}",
                spoken("size", &bytes.to_string())
            ),
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

/// The number of cases in a claim's `each`, and the axes that they vary: `5 sizes of the buffer`, `6 combinations
/// of 3 layers and 2 inputs`.
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
