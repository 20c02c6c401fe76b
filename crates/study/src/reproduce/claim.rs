//! The claims of a paper, and how they are checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::decide::Kind;

/// A claim as it is written in `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The id: the row of the table of claims, and a part after a point: `A8.iozone`.
    pub(crate) id: String,
    /// The place in the paper that makes the claim.
    pub(crate) place: String,
    /// The statement of the paper.
    pub(crate) statement: String,
    /// The kind of statement. The default is `own` in a paper of the project's own, and `measured` in other
    /// papers; a claim that is checked by `arithmetic` is always `consistency`.
    pub(crate) kind: Option<Kind>,
    /// The check. The checks `within`, `between` and `arithmetic` are followed by the name of a tolerance:
    /// `within` always, the other two if needed.
    pub(crate) check: Checked,
    /// The experiment over whose results the formulas are evaluated.
    pub(crate) experiment: Option<String>,
    /// The published value or values.
    pub(crate) published: Option<toml::Value>,
    /// The formula of the measured value.
    pub(crate) measured: Option<String>,
    /// A formula over `measured` and `published` that has to be true, instead of a comparison with the published
    /// value.
    pub(crate) holds: Option<String>,
    /// The values of labels over which the formulas are evaluated; the claim has to hold for each combination.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, Vec<toml::Value>>,
    /// Parameters that were chosen so that the claim holds.
    #[serde(default)]
    pub(crate) fitted: Vec<String>,
    /// Other conditions that are tried if the claim holds in no case.
    #[serde(default)]
    pub(crate) assumes: String,
    /// Other conditions that are tried if the claim fails.
    #[serde(default)]
    pub(crate) cause: Vec<Cause>,
    /// A remark about the check, the cause of a deviation, or an error in the paper.
    #[serde(default)]
    pub(crate) note: String,
}

/// Another condition or definition under which a claim is tried, to find out why it fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cause {
    /// The condition, in a few words.
    pub(crate) about: String,
    /// The formula that is used instead of the claim's.
    pub(crate) measured: String,
}

/// How a claim is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The measured value equals the published one.
    Equal,
    /// The measured value is within a tolerance of the published one.
    Within,
    /// The measured value lies between two published values, both included.
    Between,
    /// The measured values ascend.
    Order,
    /// The measured values have the signs of the published ones.
    Sign,
    /// The formula is true.
    Property,
    /// Published numbers agree with each other.
    Arithmetic,
    /// The claim cannot be checked; its note gives the reason.
    Not,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 8] = [
        Self::Equal,
        Self::Within,
        Self::Between,
        Self::Order,
        Self::Sign,
        Self::Property,
        Self::Arithmetic,
        Self::Not,
    ];

    /// The name of the check in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Within => "within",
            Self::Between => "between",
            Self::Order => "order",
            Self::Sign => "sign",
            Self::Property => "property",
            Self::Arithmetic => "arithmetic",
            Self::Not => "not",
        }
    }
}

/// A check as it is written: `sign`, `within times`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Checked {
    pub(crate) check: Check,
    /// The name of a tolerance in `thresholds.toml`.
    pub(crate) tolerance: Option<String>,
}

impl TryFrom<String> for Checked {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (word, tolerance) = match text.split_once(' ') {
            Some((word, name)) => (word, Some(name.trim().to_owned())),
            None => (text.as_str(), None),
        };
        let Some(check) = Check::ALL.into_iter().find(|check| check.name() == word) else {
            let words = Check::ALL.map(Check::name).join(", ");
            return Err(format!("check {text:?}: expected one of {words}"));
        };
        match (check, tolerance.is_some()) {
            (Check::Within, false) => Err(format!(
                "check {text:?}: expected the name of a tolerance behind it, such as \"within times\""
            )),
            (Check::Within | Check::Between | Check::Arithmetic, _) | (_, false) => {
                Ok(Self { check, tolerance })
            }
            (_, true) => Err(format!(
                "check {text:?}: a tolerance is of within, between and arithmetic only"
            )),
        }
    }
}

/// The allowed deviation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Tolerance {
    /// A percentage of the published value.
    Percent(f64),
    /// An amount in the unit of the value.
    Points(f64),
}

impl TryFrom<String> for Tolerance {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refused = || format!("tolerance {text:?}: expected such as \"15 %\" or \"0.1 points\"");
        let (number, unit) = text.trim().split_once(' ').ok_or_else(refused)?;
        let number: f64 = number.parse().map_err(|_| refused())?;
        match unit.trim() {
            _ if !(number >= 0.0 && number.is_finite()) => Err(refused()),
            "%" => Ok(Self::Percent(number)),
            "points" => Ok(Self::Points(number)),
            _ => Err(refused()),
        }
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Percent(number) => write!(formatter, "{number} %"),
            Self::Points(1.0) => formatter.write_str("1 point"),
            Self::Points(number) => write!(formatter, "{number} points"),
        }
    }
}

impl Tolerance {
    /// The smallest and the largest value that the tolerance allows for `published`.
    pub(super) fn around(self, published: f64) -> [f64; 2] {
        let off = match self {
            Self::Percent(percent) => percent / 100.0 * published.abs(),
            Self::Points(points) => points,
        };
        [published - off, published + off]
    }

    fn allows(self, measured: f64, published: f64) -> bool {
        let off = (measured - published).abs();
        match self {
            Self::Percent(percent) => off <= percent / 100.0 * published.abs(),
            Self::Points(points) => off <= points,
        }
    }
}

/// Whether `measured` confirms `published` under `check`; otherwise the reason why this cannot be decided.
pub(super) fn bears_out(
    check: Check,
    tolerance: Option<Tolerance>,
    measured: &Value,
    published: &Value,
) -> Result<bool, String> {
    match check {
        Check::Equal => Ok(equal(measured, published)),
        Check::Within => {
            let tolerance = tolerance.ok_or("expected a tolerance")?;
            pairwise(measured, published, &|one, other| {
                tolerance.allows(one, other)
            })
        }
        Check::Between => {
            let bounds: Option<Vec<f64>> = published
                .as_array()
                .and_then(|bounds| bounds.iter().map(Value::as_f64).collect());
            let Some([low, high]) = bounds.as_deref() else {
                return Err("expected the two published values between which it lies".to_owned());
            };
            let inside = |one: f64, _| {
                (*low..=*high).contains(&one)
                    || tolerance.is_some_and(|by| by.allows(one, *low) || by.allows(one, *high))
            };
            pairwise(measured, &Value::from(*low), &inside)
        }
        Check::Arithmetic => match tolerance {
            Some(tolerance) => pairwise(measured, published, &|one, other| {
                tolerance.allows(one, other)
            }),
            None => Ok(equal(measured, published)),
        },
        Check::Sign => pairwise(measured, published, &|one, other| {
            one != 0.0 && other != 0.0 && (one > 0.0) == (other > 0.0)
        }),
        Check::Order => match measured {
            Value::Array(items) if items.iter().all(Value::is_array) => items
                .iter()
                .map(|item| bears_out(check, tolerance, item, published))
                .try_fold(true, |all, one| Ok(all && one?)),
            Value::Array(items) => {
                let numbers: Option<Vec<_>> = items.iter().map(Value::as_f64).collect();
                let numbers = numbers.ok_or("expected measured to be a list of numbers")?;
                Ok(numbers.windows(2).all(|pair| pair[0] < pair[1]))
            }
            _ => Err("expected measured to be a list".to_owned()),
        },
        Check::Property => truth(measured),
        Check::Not => Err("nothing is checked".to_owned()),
    }
}

/// Whether `value` is true, or a list in which every value is true.
pub(super) fn truth(value: &Value) -> Result<bool, String> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .map(truth)
            .try_fold(true, |all, one| Ok(all && one?)),
        other => Err(format!("{other}: expected true or false")),
    }
}

/// Whether two values are equal; 12 and 12.0 are equal.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(a, b)| equal(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => one == other,
    }
}

/// The ratio of measured to published value, for each number; `None` if the values are no numbers or their lists
/// do not match.
pub(super) fn ratios(measured: &Value, published: &Value) -> Option<Value> {
    match (measured, published) {
        (Value::Array(ones), Value::Array(others))
            if ones.len() == others.len() && !ones.iter().all(Value::is_array)
                || ones.len() == others.len() && others.iter().all(Value::is_array) =>
        {
            let all = ones
                .iter()
                .zip(others)
                .map(|(one, other)| ratios(one, other));
            all.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        (Value::Array(ones), other) if !other.is_array() || ones.iter().all(Value::is_array) => {
            let all = ones.iter().map(|one| ratios(one, other));
            all.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => match (measured.as_f64(), published.as_f64()) {
            (Some(one), Some(other)) if other != 0.0 => Some(Value::from(one / other)),
            _ => None,
        },
    }
}

/// Copies of `value`, one for each of its non-zero numbers: that number is multiplied by `times`, but not made
/// smaller than `least`.
pub(super) fn altered(value: &toml::Value, times: i32, least: f64) -> Vec<toml::Value> {
    match value {
        toml::Value::Integer(0) => Vec::new(),
        toml::Value::Integer(number) => {
            let other = number * i64::from(times);
            vec![match (other as f64) < least {
                true => toml::Value::Float(least),
                false => toml::Value::Integer(other),
            }]
        }
        toml::Value::Float(number) if *number == 0.0 => Vec::new(),
        toml::Value::Float(number) => {
            vec![toml::Value::Float((number * f64::from(times)).max(least))]
        }
        toml::Value::Array(items) => {
            let with = |index: usize| {
                let others = items.get(index).map(|item| altered(item, times, least));
                others.unwrap_or_default().into_iter().map(move |item| {
                    let mut items = items.clone();
                    items[index] = item;
                    toml::Value::Array(items)
                })
            };
            (0..items.len()).flat_map(with).collect()
        }
        _ => Vec::new(),
    }
}

/// `value` with each of its numbers multiplied by `times`; `None` if it has anything but numbers.
pub(super) fn scaled(value: &Value, times: f64) -> Option<Value> {
    match value {
        Value::Array(items) => items.iter().map(|item| scaled(item, times)).collect(),
        other => other.as_f64().map(|number| Value::from(times * number)),
    }
}

/// The smallest number in `value`, at any depth of lists.
pub(super) fn smallest(value: &Value) -> Option<f64> {
    match value {
        Value::Array(items) => items.iter().filter_map(smallest).reduce(f64::min),
        other => other.as_f64(),
    }
}

/// Whether `agree` is true for two numbers, or for each pair of two lists. A list and a number are compared
/// element by element.
fn pairwise(one: &Value, other: &Value, agree: &impl Fn(f64, f64) -> bool) -> Result<bool, String> {
    let all = |pairs: Vec<(&Value, &Value)>| {
        let mut each = pairs.into_iter().map(|(a, b)| pairwise(a, b, agree));
        each.try_fold(true, |all, one| Ok(all && one?))
    };
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) if ones.len() != others.len() => Err(format!(
            "{} values are measured and {} published; expected equal numbers",
            ones.len(),
            others.len()
        )),
        (Value::Array(ones), Value::Array(others)) => all(ones.iter().zip(others).collect()),
        (Value::Array(ones), other) => all(ones.iter().map(|one| (one, other)).collect()),
        _ => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => Ok(agree(one, other)),
            _ => Err(format!("{one} and {other}: expected numbers")),
        },
    }
}

#[cfg(test)]
mod tests;
