//! Write buffering for flash devices as a library. It offers every simulation that the command line offers.
//!
//! An [`Input`] is a trace, a workload, or requests in memory. [`Settings`] set the device, the scheme and all other
//! options by the parameter names that `destage show` lists. A [`Grid`] varies some of these parameters. [`run`]
//! simulates one combination. [`compare`] simulates all combinations on all inputs and returns [`Results`], which are
//! available as values, JSON or CSV.
//!
//! ```
#![doc = include_str!("../examples/two_schemes.rs")]
//! ```
//!
//! | module or item | content |
//! | --- | --- |
//! | [`Input`], [`Reading`], [`Facts`], [`Sizing`] | the input, how it is read, and the facts about it |
//! | [`Settings`], [`Grid`], [`Combination`] | the configurations that are simulated |
//! | [`curve`](curve()), [`CurvePlan`], [`Curves`] | metrics over the size of the buffer |
//! | [`Sampling`], [`Rate`], [`SampledPoint`] | such curves from samples of the blocks, with intervals |
//! | [`size`](size()), [`SizePlan`], [`Goal`], [`Answers`] | the smallest buffer that reaches a goal |
//! | [`cut`](cut()), [`CutPlan`], [`CutOutcome`] | a power loss, and the data that survive it |
//! | [`run`], [`compare`], [`Effort`] | simulations; [`Progress`] watches them, [`sim::observer::Observer`] sees each request |
//! | [`Outcome`], [`Results`], [`Record`], [`Manifest`] | results |
//! | [`explained`] | where the time of a run went, as JSON and in words |
//! | [`inspect`], [`Inspection`], [`trace_metrics`] | statistics of an input |
//! | [`fit`](fit()), [`Fit`], [`Residual`] | a stand-in fitted to a trace |
//! | [`registries`] | the registries as values: `destage list` and `destage show` |
//! | [`state`] | a prepared device in a file for later runs |
//! | [`words`], [`numbers`] | results in sentences, and numbers in readable form |
//! | [`files`] | files that appear whole or not at all |
//! | [`Error`] | the reason why there is no result |
//! | [`base`], [`buffer`], [`nand`], [`ftl`], [`trace`], [`workload`], [`sim`] | the crates that this one uses, so that no manifest has to name them |
//!
//! The crate `destage-report` makes HTML pages of results. The crate `destage-study` contains studies, papers and
//! fleets. A program that only simulates needs neither crate.
//!
//! To use a scheme of your own, pass a static [`buffer::SchemeRow`] to [`Settings::add_scheme`].

mod compare;
pub mod csv;
mod curve;
mod cut;
mod devices;
pub mod drive;
mod error;
pub mod explained;
mod facts;
pub mod files;
mod fit;
mod going;
mod grid;
mod input;
mod inspection;
pub mod json;
mod manifest;
pub mod numbers;
mod passes;
mod pool;
mod progress;
mod record;
pub mod registries;
mod results;
mod run;
mod sampled;
mod side_by_side;
mod size;
pub mod state;
mod survey;
mod trace_metrics;
pub mod words;

pub use destage_base as base;
pub use destage_buffer as buffer;
pub use destage_ftl as ftl;
pub use destage_nand as nand;
pub use destage_sim as sim;
pub use destage_trace as trace;
pub use destage_workload as workload;

pub use destage_base::parameter::Value;
pub use destage_sim::metrics::{Metrics, Number};
pub use destage_sim::observer::{Observer, Response};
pub use destage_sim::settings::{Config, Origin, Settings};

pub use compare::{Effort, compare};
pub use curve::{Curve, CurvePlan, Curves, curve};
pub use cut::{CutOutcome, cut};
pub use destage_sim::power::{CutAt, CutPlan};
pub use error::Error;
pub use facts::Facts;
pub use fit::{Figures, Fit, Residual, SCHEMES as FIT_SCHEMES, figures, fit};
pub use grid::{Combination, Grid};
pub use input::{Input, Reading, check_read_once, workload_pair};
pub use manifest::{MODEL, Manifest, SCHEMA, commit, version};
pub use progress::{Progress, Silent, Stage};
pub use record::Record;
pub use results::{Outcome, Results};
pub use run::run;
pub use sampled::{Rate, SALTS, SampledHow, SampledPoint, Sampling, check_metric};
pub use size::{
    Answer, Answers, DumpEnergy, Goal, HoldUp, SIZED_SCHEMES, Sensitivity, SizePlan, Spent, size,
};
pub use survey::Sizing;
pub use trace_metrics::{Inspection, inspect, trace_metrics};

/// Functions for the other crates of this project. Names here may change without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::curve::{bytes_of, default_sizes};
    pub use crate::manifest::unused;
    pub use crate::run::single;
    pub use crate::side_by_side::{Found, side_by_side};
    pub use crate::trace_metrics::metrics_and_facts;
}
