//! What was published and measured of a claim, side by side in one quantity and unit.

use destage_base::parameter::read_bytes;
use serde_json::{Value, json};

use super::claim::{Check, Claim, ratios};
use super::ran::without_section;
use super::words::{Words, filled, labelled, ranged};
use crate::rows::spoken;
use crate::{BASE, product};

/// The values of a claim, with what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// What was published.
    pub published: Value,
    /// What was measured, under the paper's own settings and the first seed.
    pub measured: Value,
    /// Measured over published, if both are numbers that are compared.
    pub ratio: Value,
    /// What both are: `evictions over those of CLC`.
    pub quantity: String,
    /// The unit of their numbers.
    pub unit: String,
    /// What the parts of `measured` are, a list of names for each depth.
    pub labels: Vec<Vec<String>>,
    /// How many of these depths are of the values that a formula goes over, and so not of what is published.
    pub each: usize,
    /// Whether two measured numbers together are the ends of a range.
    pub range: bool,
    /// What came out in the base run, with each other seed and unpublished setting, and with the readings that turn the claim.
    pub tries: Vec<Try>,
}

/// What came out with one seed and setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// `base run`, `seed 2`, the setting, or the rules as they are set: `buffer.pad = false`.
    pub name: String,
    /// As `measured` of the claim's values.
    pub measured: Value,
    /// Whether the claim holds there.
    pub holds: bool,
}

impl Values {
    /// Of `claim`, for which `measured` came out, of things that are called `each`.
    ///
    /// # Errors
    /// If the words do not fit.
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

    /// Published, measured and measured over published, as a table has them.
    ///
    /// # Errors
    /// If the names do not fit the parts.
    pub fn shown(&self) -> Result<[String; 3], String> {
        let own = self.labels.get(self.each..).unwrap_or_default();
        // What is published once goes with each of what is measured, and so does the ratio to it.
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

/// What the values of a claim's `each` are called, in their order; an axis of one value is named where no other has more. Sizes have
/// those of the paper beside them where these are `shrunk` times as large.
pub(super) fn each_names(claim: &Claim, shrunk: Option<u64>) -> Option<Vec<String>> {
    let each = &claim.each;
    // 8MiB is typed, 8 MiB is read.
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

/// What the values of a claim's `each` are, with how many there are: `5 sizes`, `6 combinations of 3 layers and 2 inputs`.
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
