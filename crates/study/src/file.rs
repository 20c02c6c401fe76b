//! The form of a study file.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A study as it is written in its file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The title, in a few words.
    pub(crate) title: String,
    /// The purpose of the study, in sentences.
    #[serde(default)]
    pub(crate) about: String,
    /// The device profile: a name, or the path of a `.toml` file.
    pub(crate) profile: Option<String>,
    /// Settings of all runs: parameters by dotted name.
    #[serde(default)]
    pub(crate) settings: toml::Table,
    /// The inputs that are simulated.
    pub(crate) input: Vec<InputEntry>,
    /// Named sets of further settings.
    #[serde(default)]
    pub(crate) variant: Vec<VariantEntry>,
    /// The cross products of runs.
    pub(crate) grid: Vec<GridEntry>,
    /// The figures and tables that are shown.
    #[serde(default)]
    pub(crate) figure: Vec<FigureEntry>,
}

/// An input: a trace, a workload, or requests in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InputEntry {
    /// The name of the input in grids, figures and claims.
    pub(crate) name: String,
    /// A trace: its name in `traces.toml`, or a path relative to the study's folder.
    pub(crate) trace: Option<String>,
    /// A workload, `NAME[:k=v,...]`.
    pub(crate) workload: Option<String>,
    /// Requests for single pages or ranges of pages: `4 5-7 r4 t5 flush`.
    pub(crate) pages: Option<String>,
    /// The name of the trace that this input represents: as a stand-in, a relative or an unrelated recording.
    pub(crate) stands_for: Option<String>,
    /// For a relative of the trace that it represents: its description, and its difference.
    pub(crate) differs: Option<String>,
    /// For a relative: the factor by which the paper's buffers are larger, if the buffers here are in proportion
    /// to the footprint.
    pub(crate) buffers_shrunk: Option<u64>,
    /// The format of the trace; by default it is found from the content.
    pub(crate) format: Option<String>,
    /// The number of requests that are read; by default all.
    pub(crate) limit: Option<u64>,
    /// The number of requests that are read at the reduced scale.
    pub(crate) reduced_limit: Option<u64>,
    /// Requests are read up to and including this many writes; by default there is no such limit.
    pub(crate) limit_writes: Option<u64>,
    /// The number of requests that are skipped at the beginning.
    #[serde(default)]
    pub(crate) skip: u64,
    /// Whether reads are dropped.
    #[serde(default)]
    pub(crate) writes_only: bool,
    /// Settings of the runs with this input.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// A named set of settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantEntry {
    /// The name of the variant in grids, figures and claims.
    pub(crate) name: String,
    /// A description in one sentence.
    #[serde(default)]
    pub(crate) about: String,
    /// The role of the variant in a verdict.
    #[serde(default)]
    pub(crate) kind: VariantKind,
    /// The device profile, instead of the study's.
    pub(crate) profile: Option<String>,
    /// Parameters by dotted name; those that begin with `workload.` are parameters of the workload.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// The role of a variant in a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariantKind {
    /// One of several settings that the study compares. Only claims whose formulas name it use it.
    #[default]
    Compared,
    /// A setting that the paper did not publish: every claim is also tried with it.
    Unpublished,
    /// A condition that differs from the paper's. It is tried to find out why a claim fails.
    Cause,
}

/// A grid of runs: the cross product of inputs, schemes, sizes, layers, seeds, variants and varied parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridEntry {
    /// What is computed for each cell.
    #[serde(default)]
    pub(crate) of: What,
    /// The names of the inputs; by default all.
    pub(crate) inputs: Option<Vec<String>>,
    /// The schemes; by default the scheme of the settings.
    pub(crate) buffers: Option<Vec<String>>,
    /// The capacities of the buffer.
    pub(crate) sizes: Option<Vec<String>>,
    /// The translation layers.
    pub(crate) ftls: Option<Vec<String>>,
    /// The seeds; by default the seed of the settings.
    pub(crate) seeds: Option<Vec<u64>>,
    /// The names of the variants; by default only `base`, the study's own settings.
    pub(crate) variants: Option<Vec<String>>,
    /// Values of further parameters, by dotted name.
    #[serde(default)]
    pub(crate) vary: BTreeMap<String, Vec<toml::Value>>,
    /// Whether the grid is run only at the full scale.
    #[serde(default)]
    pub(crate) full_only: bool,
    /// Whether the destage records are kept, for runs of a few requests.
    #[serde(default)]
    pub(crate) destages: bool,
}

/// What is computed for a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// A simulation.
    #[default]
    Run,
    /// Statistics of the input.
    Trace,
}

/// A figure or a table that the study's file defines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureEntry {
    /// The name of the figure in files and links.
    pub(crate) id: String,
    /// The place of the figure in the paper.
    #[serde(default)]
    pub(crate) place: String,
    /// What the figure shows.
    pub(crate) title: String,
    /// The label that varies along the x axis: `size`, `input`, `seed`, `variant`, or a varied parameter.
    pub(crate) x: String,
    /// The name of the x axis.
    pub(crate) x_title: Option<String>,
    /// The values on the x axis in their order; by default all.
    pub(crate) x_values: Option<Vec<String>>,
    /// The label that has a line for each of its values.
    pub(crate) series: Option<String>,
    /// The values that have lines, in their order; by default all.
    pub(crate) series_values: Option<Vec<String>>,
    /// The formula of the value that is shown.
    pub(crate) y: Option<String>,
    /// Named formulas, each a line or column; used instead of `series` and `y`.
    #[serde(default)]
    pub(crate) columns: Vec<ColumnEntry>,
    /// The name of the values shown, with their unit.
    #[serde(default)]
    pub(crate) y_title: String,
    /// The values of other labels to which the figure is restricted.
    #[serde(default, rename = "where")]
    pub(crate) only: BTreeMap<String, toml::Value>,
    /// How the figure is drawn.
    #[serde(default)]
    pub(crate) kind: FigureKind,
    /// The axes with logarithmic scale: `x`, `y` or `xy`.
    #[serde(default)]
    pub(crate) log: String,
    /// Published values by the name of the line, then by the value on the x axis.
    #[serde(default)]
    pub(crate) published: BTreeMap<String, BTreeMap<String, f64>>,
}

/// A line or column with its own formula.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnEntry {
    /// The name of the line or column.
    pub(crate) name: String,
    /// The formula of its values.
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
    /// Points connected by lines along the columns: the names of the columns are numbers on the x axis, and each
    /// value of `x` is a line.
    Curve,
}

impl FigureKind {
    /// The name of the kind in files.
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
