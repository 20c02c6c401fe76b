//! Write buffering for flash devices as a library: whatever the command line can do with a simulation.
//!
//! An [`Input`] is a trace, a workload, or requests in memory. [`Settings`] choose device, scheme and everything else by
//! the names of `destage show`; a [`Grid`] varies some of them. [`run`] simulates one combination, [`compare`] all of
//! them on all inputs, and gives [`Results`]: values, JSON or CSV.
//!
//! ```
#![doc = include_str!("../examples/two_schemes.rs")]
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | [`Input`], [`Reading`], [`Facts`], [`Sizing`] | what is simulated, how it is read, what is known of it then |
//! | [`Settings`], [`Grid`], [`Combination`] | what simulates it |
//! | [`curve`](curve()), [`CurvePlan`], [`Curves`] | metrics over the size of the buffer |
//! | [`Sampling`], [`Rate`], [`SampledPoint`] | the same from samples of the blocks, with intervals |
//! | [`size`](size()), [`SizePlan`], [`Goal`], [`Answers`] | the smallest buffer that reaches a goal |
//! | [`cut`](cut()), [`CutPlan`], [`CutOutcome`] | power that fails, and what is there after it |
//! | [`run`], [`compare`], [`Effort`] | the work; [`Progress`] watches it, [`sim::observer::Observer`] sees each request |
//! | [`Outcome`], [`Results`], [`Record`], [`Manifest`] | what comes of it |
//! | [`explained`] | where the time of a run went, as JSON and in words |
//! | [`inspect`], [`Inspection`], [`trace_metrics`] | what an input is like |
//! | [`fit`](fit()), [`Fit`], [`Residual`] | a stand-in fitted to a trace |
//! | [`registries`] | the registries as values: `destage list` and `destage show` |
//! | [`state`] | a prepared device in a file for later runs |
//! | [`words`], [`numbers`] | results in sentences, and numbers as people read them |
//! | [`files`] | files that appear whole or not at all |
//! | [`Error`] | why nothing comes of it |
//! | [`base`], [`buffer`], [`nand`], [`ftl`], [`trace`], [`workload`], [`sim`] | the crates below: nobody has to name them in a manifest |
//!
//! Pages are made by `destage-report`, studies, papers and fleets by `destage-study`; who only simulates needs neither.
//!
//! A scheme of one's own is a static [`buffer::SchemeRow`] given to [`Settings::add_scheme`].

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
pub use size::{Answer, Answers, DumpEnergy, Goal, HoldUp, SIZED_SCHEMES, SizePlan, size};
pub use survey::Sizing;
pub use trace_metrics::{Inspection, inspect, trace_metrics};

/// What the crates beside this one are made of. No promise is made of any name here.
#[doc(hidden)]
pub mod internal {
    pub use crate::curve::{bytes_of, default_sizes};
    pub use crate::manifest::unused;
    pub use crate::run::single;
    pub use crate::side_by_side::side_by_side;
    pub use crate::trace_metrics::metrics_and_facts;
}
