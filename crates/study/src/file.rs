//! The fields of a study file.

use std::collections::BTreeMap;

use serde::Deserialize;

mod figure;

pub(crate) use figure::FigureEntry;
pub use figure::FigureKind;

/// The content of a study file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The title, in a few words.
    pub(crate) title: String,
    /// The purpose of the study, in sentences.
    #[serde(default)]
    pub(crate) about: String,
    /// What all runs have in common and no parameter says, as a clause. It follows the description of the runs of a claim.
    #[serde(default)]
    pub(crate) conditions: String,
    /// The device profile: a name, or the path of a `.toml` file.
    pub(crate) profile: Option<String>,
    /// Settings that apply to all runs: a value for each parameter, by its dotted name.
    #[serde(default)]
    pub(crate) settings: toml::Table,
    /// The inputs that are simulated.
    #[serde(default)]
    pub(crate) input: Vec<InputEntry>,
    /// The measured drives with which profiles are compared.
    #[serde(default)]
    pub(crate) drive: Vec<DriveEntry>,
    /// The variants: named sets of settings that are applied in addition to those of the study.
    #[serde(default)]
    pub(crate) variant: Vec<VariantEntry>,
    /// The grids. Each grid defines runs as a cross product.
    pub(crate) grid: Vec<GridEntry>,
    /// The figures and tables of the report.
    #[serde(default)]
    pub(crate) figure: Vec<FigureEntry>,
}

/// An input of the study: a trace, a synthetic workload, or requests that the study file lists.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[input]]")]
pub(crate) struct InputEntry {
    /// The name of the input in grids, figures and claims.
    pub(crate) name: String,
    /// A trace: its name in `traces.toml`, or a path relative to the study's folder.
    pub(crate) trace: Option<String>,
    /// A synthetic workload, `NAME[:k=v,...]`.
    pub(crate) workload: Option<String>,
    /// Requests for single pages or ranges of pages, such as `4 5-7 r4 t5 flush`.
    pub(crate) pages: Option<String>,
    /// The name of the paper's trace in whose place this input is used. A workload, or requests in the study
    /// file, are then a stand-in for that trace. A trace with `differs` is a relative of that trace or, if it was
    /// recorded on another system, another recording. A trace without `differs` is another recording, too.
    pub(crate) stands_for: Option<String>,
    /// For a relative or another recording: its difference from the paper's trace.
    pub(crate) differs: Option<Difference>,
    /// For a relative only: the paper's buffer size divided by the study's buffer size, if the study scales its
    /// buffers with the footprint of the trace. It need not be a whole number.
    pub(crate) buffers_shrunk: Option<f64>,
    /// The format of the trace; by default the program recognises the format from the content.
    pub(crate) format: Option<String>,
    /// The largest number of requests that are read from the input; by default all are read.
    pub(crate) limit: Option<u64>,
    /// The largest number of requests that are read from the input at the reduced scale.
    pub(crate) reduced_limit: Option<u64>,
    /// The number of writes after which reading stops; by default there is no such limit.
    pub(crate) limit_writes: Option<u64>,
    /// The number of requests that are skipped at the beginning.
    #[serde(default)]
    pub(crate) skip: u64,
    /// Whether only the writes of the input are simulated.
    #[serde(default)]
    pub(crate) writes_only: bool,
    /// Settings that apply to all runs with this input.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// A description of a real trace that is shown beside the trace that it stands for, with the difference between the two.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a text, or { other_system = a text }")]
pub(crate) enum Difference {
    /// The trace is a part of the paper's trace.
    Relative(String),
    /// The trace was recorded on a system other than that of the paper's trace.
    Other {
        /// The description.
        other_system: String,
    },
}

/// Measurements of a drive, with which a profile is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[drive]]")]
pub(crate) struct DriveEntry {
    /// The name in grids, figures and claims, where it is a value of the axis `input`.
    pub(crate) name: String,
    /// A file of measurements, as `destage drive check` reads it, relative to the study's folder.
    pub(crate) measurements: String,
    /// The name of the drive in the file; by default the file has only one drive.
    pub(crate) drive: Option<String>,
    /// The device profile, which replaces the profile of the study.
    pub(crate) profile: Option<String>,
    /// The number of requests of each load; by default 400,000.
    pub(crate) limit: Option<u64>,
    /// The number of requests of each load at the reduced scale.
    pub(crate) reduced_limit: Option<u64>,
    /// Settings that apply to all runs with these measurements.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// A named set of settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[variant]]")]
pub(crate) struct VariantEntry {
    /// The name of the variant in grids, figures and claims.
    pub(crate) name: String,
    /// A description in one sentence.
    #[serde(default)]
    pub(crate) about: String,
    /// How the variant is used when claims are judged.
    #[serde(default)]
    pub(crate) kind: VariantKind,
    /// The device profile of this variant, which replaces the profile of the study.
    pub(crate) profile: Option<String>,
    /// A value for each parameter, by its dotted name. Names that begin with `workload.` are parameters of the
    /// workload.
    #[serde(default)]
    pub(crate) set: toml::Table,
}

/// How a variant is used when claims are judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariantKind {
    /// One of several settings that the study compares. Only claims whose formulas name the variant use its runs.
    #[default]
    Compared,
    /// A setting that the paper did not publish. Every claim is also judged with this setting.
    Unpublished,
    /// A condition that differs from the paper's. A claim that fails is judged again under this condition, to
    /// find the cause of the failure.
    Cause,
}

/// A grid of runs: the cross product of inputs, schemes, sizes, layers, seeds, variants and varied parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[grid]]")]
pub(crate) struct GridEntry {
    /// What the program computes for each combination of the grid.
    #[serde(default)]
    pub(crate) of: What,
    /// The names of the inputs; by default all inputs of the study.
    pub(crate) inputs: Option<Vec<String>>,
    /// The schemes; by default the scheme of the settings.
    pub(crate) buffers: Option<Vec<String>>,
    /// The capacities of the buffer; by default the capacity of the settings.
    pub(crate) sizes: Option<Vec<String>>,
    /// The translation layers; by default the layer of the settings.
    pub(crate) ftls: Option<Vec<String>>,
    /// The seeds; by default the seed of the settings.
    pub(crate) seeds: Option<Vec<u64>>,
    /// The names of the variants. The default is only `base`, which stands for the settings of the study without
    /// a variant.
    pub(crate) variants: Option<Vec<String>>,
    /// Further parameters, by dotted name, each with the values that the grid combines.
    #[serde(default)]
    pub(crate) vary: BTreeMap<String, Vec<toml::Value>>,
    /// Whether the reduced scale omits the grid.
    #[serde(default)]
    pub(crate) full_only: bool,
    /// Whether the results contain the list of all destages, which makes sense only for runs of a few requests.
    #[serde(default)]
    pub(crate) destages: bool,
}

/// What the program computes for a combination of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    /// A simulation.
    #[default]
    Run,
    /// Statistics of the input, without a simulation.
    Trace,
}
