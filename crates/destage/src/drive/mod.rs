//! Measured drives: a profile compared with the measurements of a real drive.
//!
//! A file of [`Measurements`] is a table, known by its columns, of an experiment on one or more drives. [`check`] repeats that experiment on a
//! smaller simulated drive of the profile, and gives measured and modelled values, row by row. [`measure`](measure()) does the experiments on a
//! drive, and leaves such files.
//! `docs/DRIVES.md` describes the columns and the experiments.

mod check;
mod experiment;
mod fio;
mod fit;
mod knobs;
mod linear;
mod measure;
mod measured;
mod scaled;
mod split;

pub use self::check::{Check, CheckPlan, Compared, Summary, check};
pub use self::fit::{Fit, FitPlan, Fitted, fit};
pub use self::measure::{
    Action, Command, Cost, Done, EXPERIMENTS, Findings, Identified, MeasurePlan, Measured,
    Modelled, Target, What, measure, programmed_of,
};
pub use self::measured::{Measurements, Row, Shape};
pub use self::scaled::Scale;
pub use self::split::Use;
