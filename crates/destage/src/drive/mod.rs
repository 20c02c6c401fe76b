//! Measured drives: a profile held against what a real drive did.
//!
//! A file of [`Measurements`] is a table, known by its columns, of an experiment on one or more drives. [`check`] does that
//! experiment on the drive of a profile, made small, and gives what was measured beside what the model says, row by row.
//! `docs/DRIVES.md` says what the columns are, and how the experiments are done.

mod check;
mod experiment;
mod fio;
mod measured;
mod scaled;

pub use self::check::{Check, CheckPlan, Compared, Summary, check};
pub use self::measured::{Measurements, Row, Shape};
pub use self::scaled::Scale;
