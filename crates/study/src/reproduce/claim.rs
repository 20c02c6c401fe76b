//! What a paper claims, and how that is checked.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::decide::Kind;

/// A claim as written in `claims.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// Its row in the table of claims, with the part behind a point: `A8.iozone`.
    pub(crate) id: String,
    /// Where the paper says it.
    pub(crate) place: String,
    /// What the paper says.
    pub(crate) statement: String,
    /// What sort of statement it is; `own` in a paper of the project's own, `arithmetic` of arithmetic.
    pub(crate) kind: Option<Kind>,
    /// How it is checked: a check, with the tolerance of `within`, `between` and `arithmetic` behind it by its name.
    pub(crate) check: Checked,
    /// The experiment over whose results the formulas go.
    pub(crate) experiment: Option<String>,
    /// The published value or values.
    pub(crate) published: Option<toml::Value>,
    /// The formula of what is measured.
    pub(crate) measured: Option<String>,
    /// In place of comparing with the published value: a formula over `measured` and `published`.
    pub(crate) holds: Option<String>,
    /// Axes over which the formulas go, all of whose values must hold.
    #[serde(default)]
    pub(crate) each: BTreeMap<String, Vec<toml::Value>>,
    /// Parameters that were chosen so that it holds.
    #[serde(default)]
    pub(crate) fitted: Vec<String>,
    /// What has to be assumed, and the paper does not say, in a sentence.
    #[serde(default)]
    pub(crate) assumes: String,
    /// Conditions that are tried if the claim holds nowhere.
    #[serde(default)]
    pub(crate) cause: Vec<Cause>,
    /// What a reader should know of the check, the cause of a deviation, or the slip in the paper.
    #[serde(default)]
    pub(crate) note: String,
}

/// Another condition or definition under which a claim is tried, to find what turns it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cause {
    /// What is different, in a few words.
    pub(crate) about: String,
    /// The formula in place of the claim's.
    pub(crate) measured: String,
}

/// How a claim is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The measured value is the published one.
    Equal,
    /// It is within a tolerance of it.
    Within,
    /// It is neither below the first nor above the second of two published values.
    Between,
    /// The measured values ascend.
    Order,
    /// The measured values have the signs of the published ones.
    Sign,
    /// A formula is true.
    Property,
    /// Published numbers agree with each other.
    Arithmetic,
    /// It cannot be checked; the note says why.
    Not,
}

impl Check {
    /// All of them.
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

    /// The word for it in results.
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

/// A check as written: `sign`, `within times`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Checked {
    pub(crate) check: Check,
    /// A name of `thresholds.toml`.
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

/// How far a value may be off.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Tolerance {
    /// Per cent of the published value.
    Percent(f64),
    /// Units of the value itself.
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
    /// The smallest and the largest value that it allows beside `published`.
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

/// Whether `measured` bears out `published`; why it cannot be told otherwise.
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

/// Whether a truth, or each of a list of truths, is one.
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

/// Equality of values, where 12 and 12.0 are one.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(a, b)| equal(a, b))
        }
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => one == other,
    }
}

/// Measured over published, of each number by itself; none if they are no numbers or do not go together.
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

/// `value` once for each of its numbers but zeros, with that one `times` as large, but none below `least`.
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

/// `value` with each of its numbers `times` as large; none if it has anything else.
pub(super) fn scaled(value: &Value, times: f64) -> Option<Value> {
    match value {
        Value::Array(items) => items.iter().map(|item| scaled(item, times)).collect(),
        other => other.as_f64().map(|number| Value::from(times * number)),
    }
}

/// The smallest number in `value`, whatever lists it stands in.
pub(super) fn smallest(value: &Value) -> Option<f64> {
    match value {
        Value::Array(items) => items.iter().filter_map(smallest).reduce(f64::min),
        other => other.as_f64(),
    }
}

/// Whether `agree` holds of two numbers, or of each two of two lists; one number goes with each of a list.
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
