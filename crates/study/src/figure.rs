//! Computes the data of the figures and tables of a study: a value for each line or column and each value on the
//! x axis.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use destage_base::parameter::read_bytes;
use serde_json::{Value, json};

use super::Study;
use super::cells::{BASE, Cells, Subject, plain};
use super::drives;
use super::file::{FigureEntry, FigureKind};
use super::formula::{Context, NoValue, evaluate};
use super::rows::{Row, Rows, same, spoken};
use super::shown::short;
use destage::{Error, files};

/// The data of a figure or a table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the figure in files and links.
    pub id: String,
    /// The number of the corresponding figure or table in the paper, or its section; empty if there is none.
    pub place: String,
    /// What the figure shows.
    pub title: String,
    /// How the figure is drawn.
    pub kind: FigureKind,
    /// Whether the x axis (first element) and the y axis (second element) are logarithmic.
    pub log: [bool; 2],
    /// The title of the x axis.
    pub x_title: String,
    /// The values on the x axis, as text.
    pub x: Vec<String>,
    /// The values in [`Self::x`] as numbers, which are their positions on the x axis; `None` if any of them is
    /// not a number.
    pub along: Option<Vec<f64>>,
    /// The title of the y axis, with the unit.
    pub y_title: String,
    /// The lines of the figure, or the columns of the table.
    pub series: Vec<Series>,
    /// The reasons why values are absent from the figure; one text for each reason.
    pub gaps: Vec<String>,
    /// The labels of all runs from which the figure has values.
    pub runs: BTreeSet<Context>,
}

/// A line of a figure, or a column of a table.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name of the line or column.
    pub name: String,
    /// A point for each value on the x axis; `None` if there is no result for that value, or if the run with any
    /// of the seeds gave none.
    pub points: Vec<Option<Point>>,
    /// The published value for each value on the x axis; `None` if the study file has no published value there.
    pub published: Vec<Option<f64>>,
}

/// The value of a formula in the runs with each seed, summarised over the seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The mean over the seeds.
    pub mean: f64,
    /// The smallest of the values for the seeds.
    pub low: f64,
    /// The largest of the values for the seeds.
    pub high: f64,
    /// The value for the first seed, which is the seed of the base run of claims; `None` if the formula has no
    /// value for that seed.
    pub first: Option<f64>,
}

/// Writes the data of each of `figures` to a CSV file in `folder`. The name of the file is `prefix` followed by
/// the id of the figure.
pub(crate) fn write_all(folder: &Path, prefix: &str, figures: &[Figure]) -> Result<(), Error> {
    for figure in figures {
        let name = format!("{prefix}{}.csv", figure.id);
        files::write_into(folder, &name, figure.to_csv())?;
    }
    Ok(())
}

impl Figure {
    /// The heading of the figure: its number in the paper, if it has one, and its title.
    #[must_use]
    pub fn heading(&self) -> String {
        match self.place.is_empty() {
            true => self.title.clone(),
            false => format!("{}: {}", self.place, self.title),
        }
    }

    /// The data as CSV: a header, and a row for each value on the x axis.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut names = vec![self.x_title.clone()];
        for series in &self.series {
            names.push(series.name.clone());
            if series.is_spread() {
                names.push(format!("{} (smallest)", series.name));
                names.push(format!("{} (largest)", series.name));
            }
            if series.published.iter().any(Option::is_some) {
                names.push(format!("{} (published)", series.name));
            }
        }
        let mut text = destage::csv::line(&names);
        for (index, x) in self.x.iter().enumerate() {
            let mut fields = vec![x.clone()];
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            for series in &self.series {
                let point = series.points[index];
                fields.push(number(point.map(|point| point.mean)));
                if series.is_spread() {
                    fields.push(number(point.map(|point| point.low)));
                    fields.push(number(point.map(|point| point.high)));
                }
                if series.published.iter().any(Option::is_some) {
                    fields.push(number(series.published[index]));
                }
            }
            text.push_str(&destage::csv::line(&fields));
        }
        text
    }

    /// The figure as JSON, without the labels of the runs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let series = self.series.iter().map(|series| {
            let points = series.points.iter().map(|point| match point {
                Some(point) => json!({
                    "mean": point.mean, "low": point.low, "high": point.high, "first": point.first,
                }),
                None => Value::Null,
            });
            json!({
                "name": series.name,
                "points": points.collect::<Vec<_>>(),
                "published": series.published,
            })
        });
        json!({
            "id": self.id,
            "place": self.place,
            "title": self.title,
            "kind": self.kind.name(),
            "log": self.log,
            "x_title": self.x_title,
            "x": self.x,
            "along": self.along,
            "y_title": self.y_title,
            "series": series.collect::<Vec<_>>(),
            "gaps": self.gaps,
        })
    }
}

impl Series {
    /// The text of the table cell for the value on the x axis with the index `index`: the mean over the seeds,
    /// their range if their values differ, and the published value if there is one.
    #[must_use]
    pub fn cell(&self, index: usize) -> String {
        let number = |value: f64| short(&value.into());
        let mut text = match self.points[index] {
            Some(point) if point.low < point.high => format!(
                "{} ({} to {})",
                number(point.mean),
                number(point.low),
                number(point.high)
            ),
            Some(point) => number(point.mean),
            None => String::new(),
        };
        if let Some(published) = self.published[index] {
            let between = if text.is_empty() { "" } else { "; " };
            text.push_str(&format!("{between}paper {}", number(published)));
        }
        text
    }

    /// Whether the values of any point differ between seeds.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        let mut points = self.points.iter().flatten();
        points.any(|point| point.low < point.high)
    }
}

/// Transposes `series`. Line number `i` of the result is called `names[i]`; it consists of point number `i` of
/// each element of `series`.
fn turned(names: Vec<String>, series: &[Series]) -> Vec<Series> {
    let line = |(index, name)| Series {
        name,
        points: series.iter().map(|column| column.points[index]).collect(),
        published: series
            .iter()
            .map(|column| column.published[index])
            .collect(),
    };
    names.into_iter().enumerate().map(line).collect()
}

impl Study {
    /// The data of all figures of the study.
    ///
    /// # Errors
    /// If the formula of a figure is wrong.
    pub fn figures(&self, rows: &Arc<Rows>) -> Result<Vec<Figure>, Error> {
        let all = self.file.figure.iter();
        all.map(|entry| self.figure(entry, rows)).collect()
    }

    /// Checks the figures before the runs `cells` are executed. Returns an error if a formula has a wrong syntax,
    /// names a value that no run has, or gives labels that several runs have, or if a figure names a label or a line
    /// that no run has. If some inputs or grids are left out, their labels are not known, and only the formulas are
    /// checked.
    pub(super) fn check_figures(&self, cells: &Cells) -> Result<(), Error> {
        let is_whole =
            cells.missing.is_empty() && !self.file.grid.iter().any(|grid| grid.full_only);
        for entry in self.file.figure.iter().filter(|_| is_whole) {
            self.check_labels(entry, cells)?;
        }
        // Which parameters a run has depends only on these three labels. Runs with equal labels therefore share
        // one list of parameters.
        let mut unmade: BTreeMap<[Option<&String>; 3], Arc<Value>> = BTreeMap::new();
        let rows = cells.cells.iter().map(|cell| {
            let of = ["input", "buffer", "ftl"].map(|axis| cell.labels.get(axis));
            let result = unmade.entry(of).or_insert_with(|| {
                let Subject::Requests(input) = &cell.input.subject else {
                    // The rows of a run that compares a profile with measurements are known only afterwards.
                    return Arc::new(drives::no_rows());
                };
                let mut parameters = cell.combination.parameters();
                parameters.extend(input.parameters());
                let parameters = destage::json::parameters(&parameters);
                Arc::new(json!({ "error": "is not made yet", "parameters": parameters }))
            });
            Row {
                labels: cell.labels.clone(),
                input: cell.input.facts.clone(),
                result: Arc::clone(result),
            }
        });
        let rows = Rows::of(rows, cells.missing.clone());
        let figures = self.figures(&Arc::new(rows))?;
        for (entry, figure) in self.file.figure.iter().zip(figures).filter(|_| is_whole) {
            if entry
                .series
                .label
                .as_deref()
                .is_some_and(|axis| drives::axes().contains(&axis))
            {
                // The lines are known only after the comparison with the drive.
                continue;
            }
            let lines = figure.series.iter().map(|series| series.name.as_str());
            for line in entry.published.keys() {
                if entry.kind != FigureKind::Curve && !lines.clone().any(|other| other == line) {
                    let refusal = format!(
                        "figure {:?}: published: {line:?} is not a line of the figure",
                        entry.id
                    );
                    return Err(Error::unknown(self.wrong(refusal), line, lines));
                }
            }
        }
        Ok(())
    }

    /// Checks that each label that the figure `entry` names is the label of one of the runs `cells`.
    fn check_labels(&self, entry: &FigureEntry, cells: &Cells) -> Result<(), Error> {
        let mut named = Vec::new();
        for value in entry.x.values.iter().flatten() {
            named.push(("x_values", &entry.x.label, value.clone()));
        }
        if let Some(axis) = &entry.series.label {
            for value in entry.series.values.iter().flatten() {
                named.push(("series_values", axis, value.clone()));
            }
        }
        for (axis, value) in &entry.only {
            named.push(("where", axis, plain(value)));
        }
        for (key, axis, value) in named {
            if drives::axes().contains(&axis.as_str()) {
                // The labels of the rows of a drive are known only after the run.
                continue;
            }
            let mut labels: Vec<&String> = Vec::new();
            for label in cells.cells.iter().filter_map(|cell| cell.labels.get(axis)) {
                if !labels.contains(&label) {
                    labels.push(label);
                }
            }
            if !labels.iter().any(|label| same(axis, label, &value)) {
                let refusal = format!(
                    "figure {:?}: {key}: no run has {axis} = {value:?}",
                    entry.id
                );
                let labels: Vec<_> = labels.iter().map(|label| spoken(axis, label)).collect();
                let labels = labels.iter().map(String::as_str);
                return Err(Error::unknown(self.wrong(refusal), &value, labels));
            }
        }
        Ok(())
    }

    fn figure(&self, entry: &FigureEntry, rows: &Arc<Rows>) -> Result<Figure, Error> {
        let mut only: Context = entry
            .only
            .iter()
            .map(|(axis, value)| (axis.clone(), plain(value)))
            .collect();
        let mut axes = vec![entry.x.label.as_str()];
        axes.extend(entry.series.label.as_deref());
        if !only.contains_key("variant") && !axes.contains(&"variant") {
            only.insert("variant".to_owned(), BASE.to_owned());
        }
        let values_of = |axis: &str, given: &Option<Vec<String>>| match given {
            Some(values) => values.clone(),
            None => rows.values_of(axis, &only),
        };
        let x = values_of(&entry.x.label, &entry.x.values);
        let lines: Vec<(String, String, Context)> = match (&entry.series.label, &entry.y) {
            (Some(axis), Some(y)) => values_of(axis, &entry.series.values)
                .into_iter()
                .map(|value| {
                    let label = BTreeMap::from([(axis.clone(), value.clone())]);
                    (spoken(axis, &value), y.clone(), label)
                })
                .collect(),
            (None, Some(y)) => vec![(entry.y_title.clone(), y.clone(), Context::new())],
            _ => entry
                .columns
                .iter()
                .map(|column| (column.name.clone(), column.y.clone(), Context::new()))
                .collect(),
        };
        let (mut series, mut seen) = (Vec::new(), Seen::default());
        for (input, trace) in &rows.missing {
            let given = |axis: &&str| match *axis == entry.x.label {
                true => &entry.x.values,
                false => &entry.series.values,
            };
            let listed = |values: &Option<Vec<String>>| {
                values.as_ref().is_none_or(|all| all.contains(input))
            };
            let shown = axes
                .iter()
                .any(|axis| *axis == "input" && listed(given(axis)));
            if shown || only.get("input") == Some(input) {
                seen.note(format!("the trace {trace} is missing"));
            }
        }
        for (name, formula, labels) in lines {
            let mut points = Vec::new();
            for value in &x {
                let mut context = only.clone();
                context.extend(labels.clone());
                context.insert(entry.x.label.clone(), value.clone());
                let point = self.point(&formula, rows, &context, &mut seen);
                points.push(
                    point.map_err(|text| self.wrong(format!("figure {:?}: {text}", entry.id)))?,
                );
            }
            let published = entry.published.get(&name);
            let published = x.iter().map(|value| {
                let mut known = published?.iter();
                let same = known.find(|(at, _)| same(&entry.x.label, at, value));
                same.map(|(_, number)| *number)
            });
            series.push(Series {
                name,
                points,
                published: published.collect(),
            });
        }
        let mut names: Vec<_> = x
            .iter()
            .map(|value| spoken(&entry.x.label, value))
            .collect();
        let mut along = x.iter().map(|value| number(value)).collect();
        if entry.kind == FigureKind::Curve {
            let columns: Vec<_> = series.iter().map(|column| column.name.clone()).collect();
            along = columns.iter().map(|name| number(name)).collect();
            series = turned(names, &series);
            names = columns;
        }
        Ok(Figure {
            id: entry.id.clone(),
            place: entry.place.clone(),
            title: entry.title.clone(),
            kind: entry.kind,
            log: ["x", "y"].map(|axis| entry.log.contains(axis)),
            x_title: entry
                .x
                .title
                .clone()
                .unwrap_or_else(|| entry.x.label.clone()),
            x: names,
            along,
            y_title: entry.y_title.clone(),
            series,
            gaps: seen.gaps,
            runs: seen.runs,
        })
    }

    /// Evaluates `formula` once for each seed, and summarises the values; `None` if there is no value, or if a run
    /// with any of the seeds gave no result. `context` has all labels except the seed, unless the figure fixes the
    /// seed, too.
    fn point(
        &self,
        formula: &str,
        rows: &Arc<Rows>,
        context: &Context,
        seen: &mut Seen,
    ) -> Result<Option<Point>, String> {
        let seeds = match context.contains_key("seed") {
            true => vec![None],
            false => {
                let mut all = rows
                    .values_of("seed", context)
                    .into_iter()
                    .map(Some)
                    .collect::<Vec<_>>();
                if all.is_empty() {
                    all.push(None);
                }
                all
            }
        };
        let (mut values, mut first) = (Vec::new(), None);
        let mut has_failed = false;
        for (place, seed) in seeds.into_iter().enumerate() {
            let mut context = context.clone();
            context.extend(seed.map(|seed| ("seed".to_owned(), seed)));
            match evaluate(formula, rows, &context, None, &[]) {
                Ok(outcome) => {
                    let Some(value) = outcome.value.as_f64() else {
                        return Err(format!(
                            "{formula}: the value is {}; expected a number",
                            outcome.value
                        ));
                    };
                    first = first.or((place == 0).then_some(value));
                    values.push(value);
                    seen.runs.extend(outcome.runs);
                }
                Err(NoValue::Missing(trace)) => {
                    seen.note(format!("the trace {trace} is missing"));
                }
                Err(NoValue::Failed(error)) => {
                    seen.note(format!("a run gave no result: {error}"));
                    has_failed = true;
                }
                Err(NoValue::NotFinite(text)) => seen.note(text),
                // This is no mistake in the study, because a grid need not have every scheme at every size.
                Err(NoValue::NoRun(_)) => {}
                Err(NoValue::Wrong(text)) => return Err(text),
            }
        }
        // A mean over the other seeds would not show that a run gave no result.
        if has_failed || values.is_empty() {
            return Ok(None);
        }
        Ok(Some(Point {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            first,
        }))
    }
}

/// The label `value` of an axis as a number; a size such as `4MiB` is a number of bytes.
fn number(value: &str) -> Option<f64> {
    let bytes = || read_bytes(value).map(|bytes| bytes as f64);
    value.parse().ok().or_else(bytes)
}

/// The runs and the notes that are collected while a figure is computed.
#[derive(Default)]
struct Seen {
    gaps: Vec<String>,
    runs: BTreeSet<Context>,
}

impl Seen {
    /// Adds `text`, the reason why a value is absent, unless the same text was added before.
    fn note(&mut self, text: String) {
        if !self.gaps.contains(&text) {
            self.gaps.push(text);
        }
    }
}

#[cfg(test)]
mod tests;
