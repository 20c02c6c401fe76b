//! The texts that describe the values of a claim: the quantity, the unit, and the names of the elements of a
//! list.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::shown::short;

/// An entry of `words.toml`. The entry `P6` applies to the claim `P6` and to all claims whose ids begin with
/// `P6.`, such as `P6.financial1`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// The quantity that the paper published and that the runs measure, such as `evictions over those of CLC`. A
    /// name in braces is replaced by the value of the limit with this name.
    #[serde(default)]
    pub(crate) quantity: String,
    /// The unit, which is shown after each number, such as `%`.
    #[serde(default)]
    pub(crate) unit: String,
    /// The names of the elements of the measured value, if it is a list. For nested lists, there is a list of
    /// names for each level. The level that results from the claim's `each` is not counted.
    #[serde(default)]
    pub(crate) labels: Vec<Vec<String>>,
    /// Whether a list of two numbers is shown as a range.
    #[serde(default)]
    pub(crate) range: bool,
    /// The names of the cases in the claim's `each`. If the list is empty, each case is named by its labels.
    #[serde(default)]
    pub(crate) each: Vec<String>,
    /// The condition that the check tests, as a clause such as `each is below {stable}`. A name in braces is
    /// replaced by the value of the limit with this name.
    #[serde(default)]
    pub(crate) asks: String,
    /// The ids of the experiment's figures that show the results of the claim. An id with `{input}` stands for
    /// several ids, one for each input of the claim.
    #[serde(default)]
    pub(crate) figures: Vec<String>,
}

/// The entries of a paper's `words.toml`, by name.
pub(crate) type ByRow = BTreeMap<String, Words>;

/// The entry for the claim `id`: the one with the name `id`, otherwise the one whose name is the part of `id`
/// before the point.
pub(super) fn of_claim<'a>(all: &'a ByRow, id: &str) -> Option<&'a Words> {
    let row = id.split_once('.').map_or(id, |(row, _)| row);
    all.get(id).or_else(|| all.get(row))
}

impl Words {
    /// The ids of the figures that show the results of a claim that was measured on `inputs`.
    pub(super) fn figures_on<'a>(&self, inputs: impl Iterator<Item = &'a str>) -> Vec<String> {
        let inputs: Vec<_> = inputs.collect();
        let each = |id: &String| -> Vec<String> {
            match id.contains("{input}") {
                true => inputs
                    .iter()
                    .map(|input| id.replace("{input}", input))
                    .collect(),
                false => vec![id.clone()],
            }
        };
        self.figures.iter().flat_map(each).collect()
    }
}

/// Replaces each name of a limit in braces in `text` by the value of the limit. Returns an error message if a
/// limit is not declared.
pub(super) fn filled(text: &str, limits: &Value) -> Result<String, String> {
    let mut pieces = text.split('{');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once('}').unwrap_or((piece, ""));
        let limit = limits.get(name).ok_or_else(|| {
            format!(
                "words.toml names the limit {name:?}; thresholds.toml has no limit of this name"
            )
        })?;
        filled.push_str(&short(limit));
        filled.push_str(rest);
    }
    Ok(filled)
}

/// If `is_range`, replaces each list of two numbers in `value` by a text such as `0.1 to 0.3`, or by a single
/// number if both numbers are equal.
pub(super) fn ranged(value: &Value, is_range: bool) -> Value {
    match value.as_array().map(Vec::as_slice) {
        Some([low, high]) if is_range && low.is_number() && high.is_number() => match low == high {
            true => low.clone(),
            false => format!("{} to {}", short(low), short(high)).into(),
        },
        Some(items) => items.iter().map(|item| ranged(item, is_range)).collect(),
        None => value.clone(),
    }
}

/// The two numbers in `bounds` as a range with the unit: `-5 to 0 %`.
pub(super) fn bounded(bounds: &Value, unit: &str) -> String {
    let text = short(&ranged(bounds, true));
    match unit {
        "" => text,
        unit => format!("{text} {unit}"),
    }
}

/// Formats `value` as text. Each element of a list is preceded by its name in `labels`, and numbers are followed
/// by `unit`.
///
/// # Errors
/// If a list in `value` and the list of its names have different lengths.
pub(super) fn labelled(
    value: &Value,
    labels: &[Vec<String>],
    unit: &str,
) -> Result<String, String> {
    parts(value, labels, unit, "; ")
}

fn parts(
    value: &Value,
    labels: &[Vec<String>],
    unit: &str,
    between: &str,
) -> Result<String, String> {
    let (Value::Array(items), Some((names, deeper))) = (value, labels.split_first()) else {
        let text = short(value);
        return Ok(match (value, unit) {
            (_, "") => text,
            (Value::Number(_), unit) => format!("{text} {unit}"),
            (Value::Array(items), unit) if items.iter().all(Value::is_number) => {
                format!("{text} {unit}")
            }
            _ => text,
        });
    };
    if names.len() != items.len() {
        return Err(format!(
            "words.toml has the labels {names:?} for {} values; expected a label for each value",
            items.len()
        ));
    }
    let one = |(name, item): (&String, &Value)| {
        let text = parts(item, deeper, unit, ", ")?;
        Ok(match item.is_array() {
            true => format!("{name} ({text})"),
            false => format!("{name}: {text}"),
        })
    };
    let all: Result<Vec<_>, String> = names.iter().zip(items).map(one).collect();
    Ok(all?.join(between))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names(of: &[&str]) -> Vec<String> {
        of.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn every_part_has_its_name_and_unit() {
        let labels = [names(&["8 MiB", "16 MiB"]), names(&["fab", "clc"])];
        let value = json!([[1.5, 2], [3, 4]]);
        assert_eq!(
            labelled(&value, &labels, "%").unwrap(),
            "8 MiB (fab: 1.5 %, clc: 2 %); 16 MiB (fab: 3 %, clc: 4 %)"
        );
        assert_eq!(labelled(&json!(0.5), &[], "").unwrap(), "0.5");
        assert_eq!(labelled(&json!("evict 1"), &[], "%").unwrap(), "evict 1");
    }

    #[test]
    fn the_ends_of_a_range_stand_together() {
        let value = json!([[0.5, 0.8], [0.1, 0.1]]);
        let labels = [names(&["8 MiB", "128 MiB"])];
        assert_eq!(
            labelled(&ranged(&value, true), &labels, "").unwrap(),
            "8 MiB: 0.5 to 0.8; 128 MiB: 0.1"
        );
        assert_eq!(ranged(&value, false), value);
    }

    #[test]
    fn names_have_to_fit_the_parts() {
        let error = labelled(&json!([1, 2]), &[names(&["a"])], "").unwrap_err();
        assert!(error.contains("2 values"), "{error}");
    }

    #[test]
    fn a_row_speaks_for_its_claims() {
        let words = |quantity: &str| Words {
            quantity: quantity.to_owned(),
            ..Words::default()
        };
        let all = ByRow::from([
            ("P6".to_owned(), words("row")),
            ("P6.b".to_owned(), words("own")),
        ]);
        let quantity = |id| of_claim(&all, id).map(|words| words.quantity.as_str());
        assert_eq!(quantity("P6.a"), Some("row"));
        assert_eq!(quantity("P6.b"), Some("own"));
        assert_eq!(quantity("P61"), None);
    }

    #[test]
    fn limits_and_inputs_stand_for_themselves() {
        let words = Words {
            figures: names(&["all", "of-{input}"]),
            ..Words::default()
        };
        let text = "each is below {stable}, or 1";
        let said = filled(text, &json!({ "stable": 0.5 })).unwrap();
        assert_eq!(said, "each is below 0.5, or 1");
        let refused = filled(text, &json!({})).unwrap_err();
        assert!(refused.contains("stable"), "{refused}");
        let figures = words.figures_on(["a", "b"].into_iter());
        assert_eq!(figures, ["all", "of-a", "of-b"]);
    }
}
