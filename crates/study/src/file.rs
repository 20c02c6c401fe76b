//! The content of a study file.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A study as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// A description in a few words.
    pub(crate) title: String,
    /// The purpose, in sentences.
    #[serde(default)]
    pub(crate) about: String,
    /// The device profile.
    pub(crate) profile: Option<String>,
    /// Parameters by dotted name.
    #[serde(default)]
    pub(crate) settings: toml::Table,
    /// What is simulated.
    pub(crate) input: Vec<InputEntry>,
    /// Named sets of settings.
    #[serde(default)]
    pub(crate) variant: Vec<VariantEntry>,
    /// What is varied.
    pub(crate) grid: Vec<GridEntry>,
    /// What is shown.
    #[serde(default)]
    pub(crate) figure: Vec<FigureEntry>,
}

/// A trace, a workload, or requests written out.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputEntry {
    /// How grids, figures and claims name it.
    pub(crate) name: String,
    /// A trace by its name in `traces.toml`, or by a path from the study's folder.
    pub(crate) trace: Option<String>,
    /// A workload, `NAME[:k=v,...]`.
    pub(crate) workload: Option<String>,
    /// Requests of single pages or runs of pages: `4 5-7 r4 t5 flush`.
    pub(crate) pages: Option<String>,
    /// The trace it imitates, or is a relative of.
    pub(crate) stands_for: Option<String>,
    /// For a real trace that is a relative of the one it stands for: its description, and its difference.
    pub(crate) differs: Option<String>,
    /// Of a relative: how many times as large the paper's buffers are, if buffers are in proportion to its footprint.
    pub(crate) buffers_shrunk: Option<u64>,
    /// The trace's format, if that has to be said.
    pub(crate) format: Option<String>,
    /// The number of requests that are read; default: all.
    pub(crate) limit: Option<u64>,
    /// How many of its requests are read at the reduced scale.
    pub(crate) reduced_limit: Option<u64>,
    /// The number of writes up to the last of which requests are read, whatever lies between; default: all.
    pub(crate) limit_writes: Option<u64>,
    /// The number of requests that are left out first.
    #[serde(default)]
    pub(crate) skip: u64,
    /// Drop reads.
    #[serde(default)]
    pub(crate) writes_only: bool,
    /// Parameters that belong to it.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// A named set of settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantEntry {
    /// How grids, figures and claims name it.
    pub(crate) name: String,
    /// A description in one sentence.
    #[serde(default)]
    pub(crate) about: String,
    /// Its role in a verdict.
    #[serde(default)]
    pub(crate) kind: VariantKind,
    /// The device profile in place of the study's.
    pub(crate) profile: Option<String>,
    /// Parameters by dotted name; those that begin with `workload.` go to the workload.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// The role of a variant in a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariantKind {
    /// One of several settings that the study compares; claims name it if they are about it.
    #[default]
    Compared,
    /// A setting that the paper did not publish: a claim is tried with each value.
    Unpublished,
    /// Another condition than the paper's, tried to find the cause that changes a claim.
    Cause,
}

/// A cross product.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridEntry {
    /// The evaluation of each cell.
    #[serde(default)]
    pub(crate) of: What,
    /// Inputs by name; all if not given.
    pub(crate) inputs: Option<Vec<String>>,
    /// Schemes.
    pub(crate) buffers: Option<Vec<String>>,
    /// Capacities.
    pub(crate) sizes: Option<Vec<String>>,
    /// Translation layers.
    pub(crate) ftls: Option<Vec<String>>,
    /// Seeds.
    pub(crate) seeds: Option<Vec<u64>>,
    /// Variants by name; only the study's own settings, called `base`, if not given.
    pub(crate) variants: Option<Vec<String>>,
    /// Values of any other parameter by dotted name.
    #[serde(default)]
    pub(crate) vary: BTreeMap<String, Vec<toml::Value>>,
    /// Only at the full scale.
    #[serde(default)]
    pub(crate) full_only: bool,
    /// Keep the destage records, for runs of a few requests.
    #[serde(default)]
    pub(crate) destages: bool,
}

/// The evaluation of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// A simulation.
    #[default]
    Run,
    /// Statistics of the input.
    Trace,
}

/// A figure or a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureEntry {
    /// A name for files and links.
    pub(crate) id: String,
    /// Where it stands in the paper.
    #[serde(default)]
    pub(crate) place: String,
    /// What it shows.
    pub(crate) title: String,
    /// The axis of the runs along which it goes: `size`, `input`, `seed`, `variant`, or a varied parameter.
    pub(crate) x: String,
    /// The name of that axis.
    pub(crate) x_title: Option<String>,
    /// The values of that axis in their order; all if not given.
    pub(crate) x_values: Option<Vec<String>>,
    /// The axis of which each value is a line.
    pub(crate) series: Option<String>,
    /// The values of that axis in their order; all if not given.
    pub(crate) series_values: Option<Vec<String>>,
    /// The value shown for each run: a formula.
    pub(crate) y: Option<String>,
    /// In place of `series` and `y`: named formulas, each a line or column.
    #[serde(default)]
    pub(crate) columns: Vec<ColumnEntry>,
    /// The name of the values, with their unit.
    #[serde(default)]
    pub(crate) y_title: String,
    /// Values of other axes to which it keeps.
    #[serde(default, rename = "where")]
    pub(crate) only: BTreeMap<String, toml::Value>,
    /// How it is drawn.
    #[serde(default)]
    pub(crate) kind: FigureKind,
    /// Axes with logarithmic scale: `x`, `y` or `xy`.
    #[serde(default)]
    pub(crate) log: String,
    /// Published values by line, then by value of the axis.
    #[serde(default)]
    pub(crate) published: BTreeMap<String, BTreeMap<String, f64>>,
}

/// A line or column with a formula of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnEntry {
    /// Its name.
    pub(crate) name: String,
    /// Its formula.
    pub(crate) y: String,
}

/// How a figure is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Points joined by lines.
    #[default]
    Line,
    /// Groups of bars.
    Bar,
    /// Numbers only.
    Table,
    /// Points joined by lines along the columns: their names are numbers, and each value of the axis is a line.
    Curve,
}

impl FigureKind {
    /// The word for it in files.
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
