//! Measured drives: comparison of a profile with the measurements of a real drive, and fitting of a profile to the
//! measurements.
//!
//! A file of [`Measurements`] is a table of one experiment on one or more drives. The columns of the file identify
//! the experiment. [`check`] repeats the experiment on a scaled-down simulated drive of a profile, and gives measured
//! and modelled values row by row. [`measure`](measure()) does the experiments on a drive and writes such files.
//! `docs/DRIVES.md` describes the columns and the experiments.

mod check;
mod experiment;
mod fio;
mod fit;
mod knobs;
mod linear;
mod loads;
mod measure;
mod measured;
mod readings;
mod scaled;
mod split;
mod traits;

pub use self::check::{Check, CheckPlan, Compared, Summary, check};
pub use self::fit::{Fit, FitPlan, Fitted, fit};
pub use self::measure::{
    Action, Command, Cost, Done, EXPERIMENTS, Findings, Identified, MeasurePlan, Measured,
    Modelled, SIMULATED, Target, What, measure, programmed_of,
};
pub use self::measured::{Measurements, Row, Shape};
pub use self::scaled::Scale;
pub use self::split::Use;
