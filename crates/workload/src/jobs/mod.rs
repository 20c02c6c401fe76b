//! Job files of fio as workloads: the requests that their jobs send to a drive.
//!
//! | module | holds |
//! | --- | --- |
//! | `file` | sections, and the options of each with their lines |
//! | `values` | numbers, sizes and lists as fio writes them |
//! | `job` | the meaning of the options of a job |
//! | `plan` | the jobs that run: the places of their files, their amounts of work, their numbers of waiting requests |
//! | `worker` | the requests of one copy of a job |
//! | `requests` | those of all copies, one after the other |
//!
//! Sizes, orders and ends are those of fio 3.33; random offsets are drawn by the project's own generator. A job file has no times unless it has
//! rates: then a request arrives when another is answered, and [`Plan::depth`] says how many wait at a time.

mod file;
mod job;
mod plan;
mod requests;
mod values;
mod worker;

pub use plan::Plan;

use destage_base::parameter::{Kind, Parameter};
use destage_base::parameters;
use destage_trace::request::SECTORS_MAX;

use crate::shared::REQUESTS;

/// A job file cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?}: expected {expected}")]
pub struct JobFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
    /// A correct text.
    pub expected: String,
}

/// The jobs of a file, as they are written.
#[derive(Clone, Debug)]
pub struct JobFile {
    jobs: Vec<job::Job>,
}

impl std::str::FromStr for JobFile {
    type Err = JobFileError;

    fn from_str(text: &str) -> Result<Self, JobFileError> {
        let sections = file::sections(text)?;
        let jobs = sections.iter().map(job::Job::read);
        Ok(Self {
            jobs: jobs.collect::<Result<_, _>>()?,
        })
    }
}

parameters! {
    /// The parameters of a job file.
    struct Parameters {
        requests: u64 as REQUESTS { source: "as many as the jobs ask for; 100000 if only time ends the jobs" };
        /// The only job that runs; all jobs if it is not given.
        job: String = "", "", "";
        /// The size of files for which the job file gives none, or a share of it.
        file_bytes: u64 = "0" in Kind::Bytes { min: 0, max: SECTORS_MAX }, "bytes", "";
    }
}

/// The parameters of a job file.
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;

#[cfg(test)]
mod tests;
