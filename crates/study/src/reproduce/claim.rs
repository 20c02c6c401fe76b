//! The claims of a paper, and the checks of measured against published values.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::decide::Kind;

/// A claim, with the fields that it has in `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The id, such as `A8` or `A8.iozone`. Claims that have the same text before the point belong together.
    pub(crate) id: String,
    /// The section, figure or table of the paper that makes the claim.
    pub(crate) place: String,
    /// The claim in the paper's words or in similar words.
    pub(crate) statement: String,
    /// The kind of the claim. The default is `own` for statements of this project, and `measured` for claims of
    /// papers. A claim with the check `arithmetic` always has the kind `consistency`.
    pub(crate) kind: Option<Kind>,
    /// The check. The name of a tolerance has to follow `within`, and may follow `between` and `arithmetic`.
    pub(crate) check: Checked,
    /// The name of the experiment whose results the formulas use; `None` if the claim needs no runs.
    pub(crate) experiment: Option<String>,
    /// The value that the paper published, or a list of published values.
    pub(crate) published: Option<toml::Value>,
    /// The formula that computes the measured value.
    pub(crate) measured: Option<String>,
    /// A formula that has to be true. The formula replaces the comparison of the measured with the published
    /// value, and can use these values under the names `measured` and `published`.
    pub(crate) holds: Option<String>,
    /// Values of labels, by axis. The formulas are evaluated for each combination of these values, which is
    /// called a case, and the claim has to hold in each case.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, Vec<toml::Value>>,
    /// The parameters of the input that were chosen so that the claim holds, in words.
    #[serde(default)]
    pub(crate) fitted: Vec<String>,
    /// An assumption that the check needs but the paper does not state. A claim with such an assumption is
    /// under-determined. Empty if there is no assumption.
    #[serde(default)]
    pub(crate) assumes: String,
    /// Other definitions of the measured value. If the claim fails, the check is repeated with each of them, to
    /// find the cause of the failure.
    #[serde(default)]
    pub(crate) cause: Vec<Cause>,
    /// A remark, for example about the check, the cause of a deviation, or an error in the paper.
    #[serde(default)]
    pub(crate) note: String,
}

/// Another definition of the measured value, which is checked to find out why a claim fails.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cause {
    /// A description of the definition, in a few words.
    pub(crate) about: String,
    /// The formula that replaces `measured` of the claim.
    pub(crate) measured: String,
}

/// The check of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The measured value equals the published one.
    Equal,
    /// The measured value differs from the published one by at most the tolerance.
    Within,
    /// The measured value lies between two published values, or is equal to one of them. A tolerance extends the
    /// interval at both ends.
    Between,
    /// Each measured value is larger than its predecessor in the list.
    Order,
    /// The measured values have the signs of the published ones.
    Sign,
    /// The formula `measured` is true, or all elements of its list are true.
    Property,
    /// Published numbers agree with each other: a number that the formula computes from published numbers is
    /// equal to the published number, or differs from it by at most the tolerance.
    Arithmetic,
    /// The claim cannot be checked. The note of the claim gives the reason.
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

/// A check in the form in which `claims.toml` has it, such as `sign` or `within times`.
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
                "check {text:?}: expected the name of a tolerance after it, such as \"within times\""
            )),
            (Check::Within | Check::Between | Check::Arithmetic, _) | (_, false) => {
                Ok(Self { check, tolerance })
            }
            (_, true) => Err(format!(
                "check {text:?}: only within, between and arithmetic have a tolerance"
            )),
        }
    }
}

/// How far a measured value may deviate from the published one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Tolerance {
    /// A percentage of the published value.
    Percent(f64),
    /// An absolute difference in the unit of the value.
    Points(f64),
}

impl TryFrom<String> for Tolerance {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let refused = || {
            format!(
                "tolerance {text:?}: expected a number with a unit, such as \"15 %\" or \"0.1 points\""
            )
        };
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

/// Whether `measured` and `published` satisfy `check`. If the values do not have the form that the check needs,
/// the result is an error message.
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

/// Whether `value` is `true`, or a list in which every value is `true`. Other values than `true`, `false` and
/// lists of these are an error.
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

/// Whether two values are equal. Numbers are compared by their values, so 12 and 12.0 are equal.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(a, b)| equal(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => one == other,
    }
}

/// Divides each measured number by the published number that belongs to it. `None` if a value is not a number, if
/// a published number is 0, or if the lists have different forms.
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

/// Returns a copy of `value` for each number in it that is not 0. In the copy, this number is multiplied by
/// `times`, and if the product is smaller than `least`, replaced by `least`.
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

/// Multiplies each number in `value` by `times`; `None` if `value` contains anything other than numbers and
/// lists.
pub(super) fn scaled(value: &Value, times: f64) -> Option<Value> {
    match value {
        Value::Array(items) => items.iter().map(|item| scaled(item, times)).collect(),
        other => other.as_f64().map(|number| Value::from(times * number)),
    }
}

/// The smallest number in `value`, which may be a number or nested lists of numbers.
pub(super) fn smallest(value: &Value) -> Option<f64> {
    match value {
        Value::Array(items) => items.iter().filter_map(smallest).reduce(f64::min),
        other => other.as_f64(),
    }
}

/// Whether `agree` is true for two numbers. Two lists are compared element by element. If `one` is a list and
/// `other` is a number, each element of the list is compared with the number. The function `agree` has to be true
/// for each comparison.
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
