//! Formulas that compute values from the results of a study.
//!
//! A formula is an expression of the template language Jinja that can call these functions:
//!
//! * `m("response.mean_ms", buffer="lru", size="4MiB")` finds the run with these labels, and returns one of its
//!   values. The first argument names the value: a metric, a parameter, or `destages`, which is the list of
//!   destage records. Parameters that a grid varies are also labels; their dotted names are given in braces:
//!   `m("waf.bytes", {"flash.page_bytes": 4096})`. If the value of a label is a list, `m` returns a list with one
//!   value for each item.
//! * `all("drive.off_percent", what="read p99")` returns the values of all runs with these labels as a list.
//! * `gain(new, base)` is the difference `new - base` in percent of `base`.
//! * `mean(list)`, `max(list)`, `min(list)` and `sum(list)` are the mean, the maximum, the minimum and the sum.
//!   `ratio(a, b)` is `a / b`, and `diff(a, b)` is `a - b`. `abs(x)` is the absolute value, `sqrt(x)` the square
//!   root, and `round(x, digits)` rounds to this number of decimals. `gain`, `ratio`, `diff`, `abs` and `round`
//!   also accept lists, and then return a list with one result for each element.
//! * `median(list)` is the median: the element in the middle, or the mean of the two elements in the middle.
//!   `rank(list, share)` is the smallest element that at least this share of the elements does not exceed:
//!   `rank(list, 0.9)` is the 90th percentile.
//! * `near(a, b, percent)` is true if `a` and `b` differ by at most this percentage of `b`. For lists, this has
//!   to be true for every pair of elements.
//! * `ascending(list)` is true if each number is larger than its predecessor; `descending(list)` is true if each
//!   number is smaller than its predecessor.
//! * `spearman(list, list)` is Spearman's rank correlation.
//! * `agree(list, list, percent)` is true if the two lists order their elements in the same way. The function
//!   compares every pair of indices. It returns false if, for any pair, the element at one index is the larger
//!   one in the first list, but the smaller one in the second list. Two elements of a list count as equal if they
//!   differ by at most `percent` of the larger one.
//! * `best_range(values, costs, times)` selects the values whose cost is at most `times` the lowest cost, and
//!   returns the smallest and the largest of these values.
//! * `beyond(x, range)` is the distance of `x` from `range`, a list of two numbers. The distance is positive if
//!   `x` is above the second number, negative if `x` is below the first number, and 0 in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use destage_sim::metrics::require;
use destage_trace::statistics::StatisticRow;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::Value as Json;

use super::cells::InputFacts;
use super::drives;
use super::rows::{AXES, DESTAGES, Row, Rows, identity};
use destage::Error;

/// The axis of the variants of a study.
const VARIANT: &str = "variant";

/// Labels by axis, which select runs in addition to the labels in a formula. If the formula has another label for
/// the same axis, the label in the formula is used.
pub type Context = BTreeMap<String, String>;

/// The result of a formula.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The value of the formula.
    pub value: Json,
    /// The inputs of all runs from which the formula read a value.
    pub inputs: BTreeSet<InputFacts>,
    /// The labels of all runs from which the formula read a value.
    pub runs: BTreeSet<Context>,
    /// The values that the formula read from runs, in the order in which it read them.
    pub read: Vec<Json>,
    /// The pairs of indices whose elements `agree` found in opposite order in its two lists.
    pub opposed: Vec<[usize; 2]>,
    /// How many pairs `agree` compared: those that differ enough in both lists. `None` if the formula does not use it.
    pub compared: Option<usize>,
}

/// The reason why a formula has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum NoValue {
    /// The formula needs a run whose trace was not found. The text is the name of the trace.
    Missing(String),
    /// The formula needs a run that failed, or a metric that is not defined for a run. The text has the labels of
    /// the run and the error message.
    Failed(String),
    /// No run has the labels in the formula. The text is the error message.
    NoRun(String),
    /// The value is infinite or undefined, such as a quotient by zero. The text is the error message.
    NotFinite(String),
    /// The formula is wrong. For example, it names a metric that does not exist, or several runs have the labels
    /// in the formula. The text is the error message.
    Wrong(String),
}

/// What selects runs beside the labels in a formula.
struct Known {
    context: Context,
    /// The variant of runs of inputs that have no run with the variant in `context`.
    otherwise: Option<String>,
}

impl Known {
    /// The labels of the run with the labels `wanted`.
    fn labels(&self, rows: &Rows, wanted: &[(String, Value)]) -> Context {
        let mut labels = self.context.clone();
        for (axis, value) in wanted {
            labels.insert(axis.clone(), value.to_string());
        }
        let is_given = wanted.iter().any(|(axis, _)| axis == VARIANT);
        if let (false, Some(otherwise), Some(variant), Some(input)) = (
            is_given,
            &self.otherwise,
            labels.get(VARIANT),
            labels.get("input"),
        ) {
            let of_input = Context::from([("input".to_owned(), input.clone())]);
            if !rows.values_of(VARIANT, &of_input).contains(variant) {
                labels.insert(VARIANT.to_owned(), otherwise.clone());
            }
        }
        labels
    }
}

/// Data that the functions of a formula collect during one evaluation.
#[derive(Default)]
struct Seen {
    inputs: BTreeSet<InputFacts>,
    runs: BTreeSet<Context>,
    read: Vec<Json>,
    opposed: Vec<[usize; 2]>,
    compared: Option<usize>,
    /// The first reason why the formula has no value, other than a mistake in the formula.
    hindrance: Option<NoValue>,
}

/// Evaluates `formula` on the results `rows`. `context` has labels that select runs in addition to those in the
/// formula. `names` has the constants that the formula may use, by name. `otherwise`, if it
/// is given, is a variant: if an input has no run with the variant in `context`, its values are those with `otherwise`.
///
/// # Errors
/// The reason why the formula has no value.
pub fn evaluate(
    formula: &str,
    rows: &Arc<Rows>,
    context: &Context,
    otherwise: Option<&str>,
    names: &[(&str, Json)],
) -> Result<Outcome, NoValue> {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    add_arithmetic(&mut environment);
    let known = Arc::new(Known {
        context: context.clone(),
        otherwise: otherwise.map(str::to_owned),
    });
    let look = |of: Look| {
        let (rows, seen, known) = (Arc::clone(rows), Arc::clone(&seen), Arc::clone(&known));
        move |name: &str, more: Rest<Value>, labels: Kwargs| {
            let mut wanted: Vec<(String, Value)> = Vec::new();
            for table in more.iter() {
                for key in table.try_iter()? {
                    let value = table.get_item(&key)?;
                    wanted.push((key.to_string(), value));
                }
            }
            for key in labels.args() {
                wanted.push((key.to_owned(), labels.get(key)?));
            }
            wanted.iter().try_for_each(|(axis, _)| check_axis(axis))?;
            let mut seen = seen.lock().unwrap_or_else(|lock| lock.into_inner());
            of(&rows, &known, name, &wanted, &mut seen)
        }
    };
    environment.add_function("m", look(values));
    environment.add_function("all", look(all_values));
    let agree = {
        let seen = Arc::clone(&seen);
        move |one: Value, other: Value, percent: f64| {
            let (one, other) = (numbers(&one)?, numbers(&other)?);
            if one.len() != other.len() || one.len() < 2 {
                return Err(wrong(
                    "agree: expected two lists of equal length, of two values or more",
                ));
            }
            let (pairs, compared) = opposed(&one, &other, percent);
            let agree = pairs.is_empty();
            let mut seen = seen.lock().unwrap_or_else(|lock| lock.into_inner());
            seen.opposed.extend(pairs);
            *seen.compared.get_or_insert(0) += compared;
            Ok(agree)
        }
    };
    environment.add_function("agree", agree);
    let names: BTreeMap<_, _> = names
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value_of(value)))
        .collect();
    let result = environment
        .compile_expression(formula)
        .and_then(|expression| {
            // An evaluation would report an unknown name only if it got as far as this name, and no run of a new study
            // has values.
            let used = expression.undeclared_variables(false).into_iter();
            let is_known = |name: &str| {
                names.contains_key(name) || environment.globals().any(|(known, _)| known == name)
            };
            match used.filter(|name| !is_known(name)).min() {
                Some(name) => Err(wrong(format!("{name} is unknown"))),
                None => expression.eval(Value::from(names)),
            }
        });
    drop(environment);
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(|lock| lock.into_inner()));
    match (result, seen.hindrance) {
        (_, Some(hindrance)) => Err(hindrance),
        (Ok(value), None) if is_infinite(&value) => Err(NoValue::NotFinite(format!(
            "{formula}: the value is infinite or undefined; expected a number"
        ))),
        (Ok(value), None) => Ok(Outcome {
            value: json_of(&value)
                .map_err(|error| NoValue::Wrong(format!("{formula}: {error}")))?,
            inputs: seen.inputs,
            runs: seen.runs,
            read: seen.read,
            opposed: seen.opposed,
            compared: seen.compared,
        }),
        (Err(error), None) => {
            let text = format!("{formula}: {}", spoken(&error));
            // The template library has no kind of its own for a division of whole numbers by zero.
            match spoken(&error).starts_with("unable to calculate") {
                true => Err(NoValue::NotFinite(text)),
                false => Err(NoValue::Wrong(text)),
            }
        }
    }
}

/// The error message of the template library, without the words that it adds about templates.
fn spoken(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => detail.to_owned(),
        None => error.kind().to_string(),
    }
}

fn wrong(text: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, text.into())
}

/// The result of a function of formulas.
type Found = Result<Value, minijinja::Error>;

/// Labels as a formula gives them: the name of each axis, with its value.
type Wanted = Vec<(String, Value)>;

/// Returns an error if runs never have a label called `axis`.
fn check_axis(axis: &str) -> Result<(), minijinja::Error> {
    let of_drives = drives::axes();
    let names = AXES.into_iter().chain(of_drives.iter().copied());
    // The name of every parameter has a dot. Which parameters are varied depends on the study.
    if axis.contains('.') || names.clone().any(|name| name == axis) {
        return Ok(());
    }
    let refusal = format!("{axis:?} is not an axis of a run");
    Err(wrong(Error::unknown(refusal, axis, names).to_string()))
}

/// If the value of a label in `wanted` is a list, returns the labels once for each item, with the item in place of the
/// first such list; otherwise `None`.
fn of_each(wanted: &[(String, Value)]) -> Result<Option<Vec<Wanted>>, minijinja::Error> {
    let mut labels = wanted.iter();
    let Some(place) = labels.position(|(_, value)| value.kind() == ValueKind::Seq) else {
        return Ok(None);
    };
    let with = |item| {
        let mut one = wanted.to_vec();
        one[place].1 = item;
        one
    };
    Ok(Some(wanted[place].1.try_iter()?.map(with).collect()))
}

/// A function of formulas that looks for values by their name and by the labels of their runs.
type Look = fn(&Rows, &Known, &str, &[(String, Value)], &mut Seen) -> Found;

/// Returns the values `name` of all runs with the labels `wanted` and those in `known`, in the order of the runs.
fn all_values(
    rows: &Rows,
    known: &Known,
    name: &str,
    wanted: &[(String, Value)],
    seen: &mut Seen,
) -> Found {
    if let Some(each) = of_each(wanted)? {
        let mut values: Vec<Value> = Vec::new();
        for one in each {
            values.extend(all_values(rows, known, name, &one, seen)?.try_iter()?);
        }
        return Ok(values.into());
    }
    let labels = known.labels(rows, wanted);
    let has = |row: &&Row| labels.iter().all(|(axis, value)| row.is(axis, value));
    let mut values = Vec::new();
    let mut told = BTreeSet::new();
    for row in rows.all.iter().filter(has) {
        // Two grids of a study may define the same run, which then occurs twice in `rows`.
        if told.insert(&row.labels) {
            values.push(value_in(row, name, seen)?);
        }
    }
    if values.is_empty() {
        return Err(nothing(rows, &labels, "all", seen));
    }
    Ok(values.into())
}

/// Returns the value `name` of the run with the labels `wanted` and those in `known`. If the value of a label is a list,
/// the result is a list with one value for each item.
fn values(
    rows: &Rows,
    known: &Known,
    name: &str,
    wanted: &[(String, Value)],
    seen: &mut Seen,
) -> Found {
    if let Some(each) = of_each(wanted)? {
        let all = each
            .iter()
            .map(|one| values(rows, known, name, one, seen))
            .collect::<Result<Vec<_>, _>>()?;
        return Ok(all.into());
    }
    let labels = known.labels(rows, wanted);
    let row = find(rows, &labels, seen)?;
    value_in(row, name, seen)
}

/// The value `name` of the run `row`.
fn value_in(row: &Row, name: &str, seen: &mut Seen) -> Found {
    seen.inputs.insert(row.input.clone());
    seen.runs.insert(row.labels.clone());
    if let Some(error) = row.error() {
        // A failed run may have no parameters in its result; then `name` may be a parameter. If the result has
        // parameters and `name` is none of them, `name` has to be a metric.
        let may_be_parameter = !row.has_parameters() || row.value(name).is_some();
        if !may_be_parameter && name != DESTAGES {
            named(name)?;
        }
        let text = format!("{}: {error}", identity(&row.labels));
        seen.hindrance.get_or_insert(NoValue::Failed(text));
        return Err(wrong(error));
    }
    if let Some(value) = row.value(name) {
        seen.read.push(value.clone());
        return Ok(value_of(value));
    }
    let text = format!("the run with {} has no {name:?}", listing(&row.labels));
    // Two reasons are possible: the metric exists but is not defined for this run, or no metric has this name.
    if named(name).is_ok() {
        seen.hindrance.get_or_insert(NoValue::Failed(text.clone()));
    }
    Err(wrong(text))
}

/// Returns an error if `name` is neither a metric of runs nor a statistic of traces.
fn named(name: &str) -> Result<(), minijinja::Error> {
    if StatisticRow::all().any(|row| row.metric() == name) {
        return Ok(());
    }
    require(name)
        .map(|_| ())
        .map_err(|error| wrong(error.to_string()))
}

/// Finds the run with `labels`. If several different runs have these labels, the result is an error, because the
/// formula does not say which run it means.
fn find<'a>(
    rows: &'a Rows,
    labels: &BTreeMap<String, String>,
    seen: &mut Seen,
) -> Result<&'a Row, minijinja::Error> {
    let named = |row: &&Row| labels.iter().all(|(axis, value)| row.is(axis, value));
    let mut found = rows.all.iter().filter(named);
    if let Some(first) = found.next() {
        // Two grids of a study may define the same run, which then occurs twice in `rows`.
        return match found.find(|other| other.labels != first.labels) {
            None => Ok(first),
            Some(other) => {
                let differs =
                    |(axis, value): &(&String, &String)| other.labels.get(*axis) != Some(*value);
                let how = first.labels.iter().find(differs).map(|(axis, value)| {
                    format!(
                        ", chosen by a further label in m or by where = {{ {axis:?} = {value:?} }}"
                    )
                });
                Err(wrong(format!(
                    "m({}): several runs have these labels, such as {} and {}; expected one{}",
                    listing(labels),
                    listing(&first.labels),
                    listing(&other.labels),
                    how.unwrap_or_default()
                )))
            }
        };
    }
    Err(nothing(rows, labels, "m", seen))
}

/// The error of `function` if no run has `labels`.
fn nothing(
    rows: &Rows,
    labels: &BTreeMap<String, String>,
    function: &str,
    seen: &mut Seen,
) -> minijinja::Error {
    let missing = match labels.get("input") {
        Some(input) => rows.missing.get(input),
        None => rows.missing.values().next(),
    };
    let text = format!("{function}({}): no run has these labels", listing(labels));
    seen.hindrance.get_or_insert(match missing {
        Some(trace) => NoValue::Missing(trace.clone()),
        None => NoValue::NoRun(text.clone()),
    });
    wrong(text)
}

/// Labels as text, in the form in which formulas give them.
fn listing(labels: &BTreeMap<String, String>) -> String {
    let pairs = labels
        .iter()
        .map(|(axis, value)| format!("{axis}={value:?}"));
    pairs.collect::<Vec<_>>().join(", ")
}

fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::UNDEFINED,
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into(),
            (None, Some(number)) => number.into(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(value_of).collect::<Vec<_>>().into(),
        Json::Object(fields) => {
            let fields = fields.iter();
            let fields: BTreeMap<_, _> = fields
                .map(|(name, value)| (name.clone(), value_of(value)))
                .collect();
            fields.into()
        }
    }
}

/// Whether `value` is a number that is infinite or undefined.
fn is_infinite(value: &Value) -> bool {
    value.kind() == ValueKind::Number
        && f64::try_from(value.clone()).is_ok_and(|number| !number.is_finite())
}

fn json_of(value: &Value) -> Result<Json, String> {
    Ok(match value.kind() {
        ValueKind::Bool => value.is_true().into(),
        ValueKind::Number => match u64::try_from(value.clone()) {
            Ok(number) if value.is_integer() => number.into(),
            _ => match i64::try_from(value.clone()) {
                Ok(number) if value.is_integer() => number.into(),
                _ => {
                    let number = f64::try_from(value.clone()).map_err(|error| error.to_string())?;
                    if !number.is_finite() {
                        return Err("is not a number".to_owned());
                    }
                    number.into()
                }
            },
        },
        ValueKind::String => value.to_string().into(),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter().map_err(|error| error.to_string())?;
            Json::Array(items.map(|item| json_of(&item)).collect::<Result<_, _>>()?)
        }
        kind => {
            return Err(format!(
                "gives {kind}; expected a number, a text, true or false, or a list"
            ));
        }
    })
}

fn numbers(list: &Value) -> Result<Vec<f64>, minijinja::Error> {
    list.try_iter()?.map(f64::try_from).collect()
}

/// Applies `combine` to two numbers. Two lists are combined element by element, and a number and a list are
/// combined by combining the number with each element.
fn pairwise(
    one: &Value,
    other: &Value,
    combine: &impl Fn(f64, f64) -> f64,
) -> Result<Value, minijinja::Error> {
    let is_list = |value: &Value| value.kind() == ValueKind::Seq;
    let items = |value: &Value| value.try_iter().map(|items| items.collect::<Vec<_>>());
    let all: Vec<_> = match (is_list(one), is_list(other)) {
        (false, false) => {
            let (one, other) = (f64::try_from(one.clone())?, f64::try_from(other.clone())?);
            return Ok(combine(one, other).into());
        }
        (true, true) => {
            let (ones, others) = (items(one)?, items(other)?);
            if ones.len() != others.len() {
                return Err(wrong("two lists of different lengths; expected equal ones"));
            }
            ones.into_iter().zip(others).collect()
        }
        (true, false) => items(one)?
            .into_iter()
            .map(|item| (item, other.clone()))
            .collect(),
        (false, true) => items(other)?
            .into_iter()
            .map(|item| (one.clone(), item))
            .collect(),
    };
    let combined = all
        .iter()
        .map(|(one, other)| pairwise(one, other, combine))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(combined.into())
}

fn add_arithmetic(environment: &mut Environment<'_>) {
    environment.add_function("gain", |new: Value, base: Value| {
        pairwise(&new, &base, &|new, base| 100.0 * (new / base - 1.0))
    });
    environment.add_function("ratio", |one: Value, other: Value| {
        pairwise(&one, &other, &|one, other| one / other)
    });
    environment.add_function("diff", |one: Value, other: Value| {
        pairwise(&one, &other, &|one, other| one - other)
    });
    environment.add_function("abs", |value: Value| {
        pairwise(&value, &Value::from(0.0), &|value, _| value.abs())
    });
    environment.add_function("sqrt", |value: f64| value.sqrt());
    environment.add_function("round", |value: Value, digits: Option<i32>| {
        let unit = 10f64.powi(digits.unwrap_or(0));
        pairwise(&value, &Value::from(0.0), &|value, _| {
            (value * unit).round() / unit
        })
    });
    environment.add_function("sum", |list: Value| {
        Ok::<_, minijinja::Error>(numbers(&list)?.iter().sum::<f64>())
    });
    environment.add_function("mean", |list: Value| {
        let all = numbers(&list)?;
        Ok::<_, minijinja::Error>(all.iter().sum::<f64>() / all.len() as f64)
    });
    environment.add_function("max", |list: Value| {
        let all = numbers(&list)?;
        Ok::<_, minijinja::Error>(all.into_iter().fold(f64::NEG_INFINITY, f64::max))
    });
    environment.add_function("min", |list: Value| {
        let all = numbers(&list)?;
        Ok::<_, minijinja::Error>(all.into_iter().fold(f64::INFINITY, f64::min))
    });
    environment.add_function("median", |list: Value| {
        let mut all = numbers(&list)?;
        if all.is_empty() {
            return Err(wrong("median: expected a list of one value or more"));
        }
        all.sort_by(f64::total_cmp);
        Ok(f64::midpoint(all[(all.len() - 1) / 2], all[all.len() / 2]))
    });
    environment.add_function("rank", |list: Value, share: f64| {
        let mut all = numbers(&list)?;
        if all.is_empty() || !(0.0..=1.0).contains(&share) {
            return Err(wrong(
                "rank: expected a list of one value or more, and a share from 0 to 1",
            ));
        }
        all.sort_by(f64::total_cmp);
        // A share such as 0.55 is not exact, so its product may be slightly above a whole number.
        let place = (share * all.len() as f64 - 1e-9).ceil() as usize;
        Ok(all[place.max(1) - 1])
    });
    environment.add_function("ascending", |list: Value| {
        Ok::<_, minijinja::Error>(numbers(&list)?.windows(2).all(|pair| pair[0] < pair[1]))
    });
    environment.add_function("descending", |list: Value| {
        Ok::<_, minijinja::Error>(numbers(&list)?.windows(2).all(|pair| pair[0] > pair[1]))
    });
    environment.add_function("near", |one: Value, other: Value, percent: f64| {
        let off = pairwise(&one, &other, &|one, other| {
            (one - other).abs() - percent / 100.0 * other.abs()
        })?;
        Ok::<_, minijinja::Error>(match off.kind() {
            ValueKind::Seq => numbers(&off)?.iter().all(|off| *off <= 0.0),
            _ => f64::try_from(off)? <= 0.0,
        })
    });
    environment.add_function("best_range", |values: Value, costs: Value, times: f64| {
        let (values, costs) = (numbers(&values)?, numbers(&costs)?);
        if values.len() != costs.len() || values.is_empty() {
            return Err(wrong(
                "best_range: expected two lists of equal length, of one value or more",
            ));
        }
        let lowest = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let best = values.iter().zip(&costs);
        let best = best.filter(|(_, cost)| **cost <= times * lowest);
        let (low, high) = best.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, (value, _)| {
            (ends.0.min(*value), ends.1.max(*value))
        });
        Ok(vec![low, high])
    });
    environment.add_function("beyond", |value: f64, range: Value| {
        match numbers(&range)?.as_slice() {
            [low, high] => Ok((value - high).max(0.0) + (value - low).min(0.0)),
            _ => Err(wrong("beyond: expected a range of two numbers")),
        }
    });
    environment.add_function("spearman", |one: Value, other: Value| {
        let (one, other) = (numbers(&one)?, numbers(&other)?);
        if one.len() != other.len() || one.len() < 2 {
            return Err(wrong(
                "spearman: expected two lists of equal length, of two values or more",
            ));
        }
        Ok(correlation(&ranks(&one), &ranks(&other)))
    });
}

/// The pairs of indices whose elements are in opposite order in the two lists, and the number of pairs that are
/// compared. A pair is not compared if its elements differ, in one of the lists, by at most `percent` of the larger
/// element.
fn opposed(one: &[f64], other: &[f64], percent: f64) -> (Vec<[usize; 2]>, usize) {
    // The sign of `a - b`; 0 if the difference is at most `percent` of the larger value.
    let order = |a: f64, b: f64| match (a - b).abs() > percent / 100.0 * a.abs().max(b.abs()) {
        true => (a - b).signum(),
        false => 0.0,
    };
    let pairs = (0..one.len()).flat_map(|index| (0..index).map(move |before| [before, index]));
    let signs = pairs.map(|[a, b]| ([a, b], order(one[a], one[b]) * order(other[a], other[b])));
    let compared: Vec<_> = signs.filter(|(_, sign)| *sign != 0.0).collect();
    let opposed = compared.iter().filter(|(_, sign)| *sign < 0.0);
    (opposed.map(|(pair, _)| *pair).collect(), compared.len())
}

/// The ranks of `values` in ascending order, counted from 1. Equal values all get the mean of the ranks that they
/// occupy.
fn ranks(values: &[f64]) -> Vec<f64> {
    let below = |value: f64| values.iter().filter(|other| **other < value).count();
    let equal = |value: f64| values.iter().filter(|other| **other == value).count();
    values
        .iter()
        .map(|value| below(*value) as f64 + (equal(*value) + 1) as f64 / 2.0)
        .collect()
}

/// Pearson's correlation coefficient of two lists.
fn correlation(one: &[f64], other: &[f64]) -> f64 {
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (of_one, of_other) = (mean(one), mean(other));
    let pairs = || {
        one.iter()
            .zip(other)
            .map(|(a, b)| (a - of_one, b - of_other))
    };
    let together: f64 = pairs().map(|(a, b)| a * b).sum();
    let spread: f64 =
        pairs().map(|(a, _)| a * a).sum::<f64>() * pairs().map(|(_, b)| b * b).sum::<f64>();
    together / spread.sqrt()
}

#[cfg(test)]
mod tests;
