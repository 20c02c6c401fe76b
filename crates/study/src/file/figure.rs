//! The entry of a figure in a study file.
//!
//! All keys of an entry stand side by side in the file. Here, those that describe an axis are a structure of their own.
//! serde can flatten such a structure, but errors would then lose their line and the list of the keys. Therefore the
//! keys are read by a [`Visitor`].

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

/// A figure or a table that the study's file defines.
#[derive(Clone, Debug)]
pub(crate) struct FigureEntry {
    /// The name of the figure in files and links.
    pub(crate) id: String,
    /// The number of the corresponding figure or table in the paper, or its section.
    pub(crate) place: String,
    /// What the figure shows.
    pub(crate) title: String,
    /// The x axis.
    pub(crate) x: AxisEntry,
    /// The lines of the figure, if each value of a label gives one.
    pub(crate) series: SeriesEntry,
    /// The formula of the values on the y axis.
    pub(crate) y: Option<String>,
    /// Formulas with names. Each formula gives one line of a figure or one column of a table. The formulas
    /// replace `series` and `y`.
    pub(crate) columns: Vec<ColumnEntry>,
    /// The title of the y axis, with the unit.
    pub(crate) y_title: String,
    /// A value for each further label. The figure shows only runs that have these values.
    pub(crate) only: BTreeMap<String, toml::Value>,
    /// How the figure is drawn.
    pub(crate) kind: FigureKind,
    /// The axes with a logarithmic scale: `x`, `y` or `xy`. If the text is empty, both axes are linear.
    pub(crate) log: String,
    /// The values that the paper published: for each line, by its name, a value for some of the values on the x
    /// axis.
    pub(crate) published: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The x axis of a figure.
#[derive(Clone, Debug)]
pub(crate) struct AxisEntry {
    /// Key `x`: the label of the runs that varies along the axis: `size`, `input`, `seed`, `variant`, or a parameter
    /// that a grid varies.
    pub(crate) label: String,
    /// Key `x_title`: the title of the axis.
    pub(crate) title: Option<String>,
    /// Key `x_values`: the values on the axis, from left to right; by default all values that runs have.
    pub(crate) values: Option<Vec<String>>,
}

/// The label whose values give the lines of a figure.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesEntry {
    /// Key `series`: the label of the runs that distinguishes the lines: the figure has one line for each value of
    /// this label.
    pub(crate) label: Option<String>,
    /// Key `series_values`: the values of that label for which a line is drawn, in the order of the lines; by default
    /// all values.
    pub(crate) values: Option<Vec<String>>,
}

/// A key of a figure.
#[derive(Clone, Copy, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Key {
    Id,
    Place,
    Title,
    X,
    XTitle,
    XValues,
    Series,
    SeriesValues,
    Y,
    Columns,
    YTitle,
    Where,
    Kind,
    Log,
    Published,
}

impl<'de> Deserialize<'de> for FigureEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

/// Reads the keys of a figure.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = FigureEntry;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table [[figure]]")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<FigureEntry, M::Error> {
        let (mut id, mut title, mut x) = (None, None, None);
        let (mut x_title, mut x_values) = (None, None);
        let mut series = SeriesEntry::default();
        let (mut place, mut y, mut y_title, mut log) = Default::default();
        let (mut columns, mut only, mut kind, mut published) = Default::default();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Id => id = Some(map.next_value()?),
                Key::Place => place = map.next_value()?,
                Key::Title => title = Some(map.next_value()?),
                Key::X => x = Some(map.next_value()?),
                Key::XTitle => x_title = map.next_value()?,
                Key::XValues => x_values = map.next_value()?,
                Key::Series => series.label = map.next_value()?,
                Key::SeriesValues => series.values = map.next_value()?,
                Key::Y => y = map.next_value()?,
                Key::Columns => columns = map.next_value()?,
                Key::YTitle => y_title = map.next_value()?,
                Key::Where => only = map.next_value()?,
                Key::Kind => kind = map.next_value()?,
                Key::Log => log = map.next_value()?,
                Key::Published => published = map.next_value()?,
            }
        }
        let missing = M::Error::missing_field;
        Ok(FigureEntry {
            id: id.ok_or_else(|| missing("id"))?,
            place,
            title: title.ok_or_else(|| missing("title"))?,
            x: AxisEntry {
                label: x.ok_or_else(|| missing("x"))?,
                title: x_title,
                values: x_values,
            },
            series,
            y,
            columns,
            y_title,
            only,
            kind,
            log,
            published,
        })
    }
}

/// A line of a figure, or a column of a table, with a formula of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table { name = a text, y = a formula }"
)]
pub(crate) struct ColumnEntry {
    /// The name of the line or column.
    pub(crate) name: String,
    /// The formula that computes the values of the line or column.
    pub(crate) y: String,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Points connected by lines.
    #[default]
    Line,
    /// Groups of bars.
    Bar,
    /// A table of numbers.
    Table,
    /// Points connected by lines, with the axes exchanged: the x axis shows the columns, whose names are numbers,
    /// and each value of `x` gives one line.
    Curve,
}

impl FigureKind {
    /// The name of the kind, as study files and results write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Bar => "bar",
            Self::Table => "table",
            Self::Curve => "curve",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(entry: &str) -> String {
        toml::from_str::<FigureEntry>(entry)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn errors_name_the_line_and_the_keys() {
        let entry = "id = \"f\"\ntitle = \"F\"\nx = \"size\"\n";
        let keys = "unknown field `x_valeus`, expected one of `id`, `place`, `title`, `x`, `x_title`, `x_values`, `series`, `series_values`, `y`, `columns`, `y_title`, `where`, `kind`, `log`, `published`";
        for (added, line, what) in [
            ("x_valeus = []", "line 4, column 1", keys),
            (
                "series_values = 3",
                "line 4, column 17",
                "invalid type: integer `3`, expected a sequence",
            ),
        ] {
            let text = refusal(&format!("{entry}{added}\n"));
            assert!(text.contains(line) && text.contains(what), "{text}");
        }
        let error = toml::from_str::<BTreeMap<String, Vec<FigureEntry>>>("figure = [3]\n");
        let text = error.unwrap_err().to_string();
        assert!(text.contains("expected a table [[figure]]"), "{text}");
        for key in ["id", "title", "x"] {
            let without = entry
                .lines()
                .filter(|line| !line.starts_with(&format!("{key} ")));
            let text = refusal(&without.collect::<Vec<_>>().join("\n"));
            assert!(text.contains(&format!("missing field `{key}`")), "{text}");
        }
    }
}
