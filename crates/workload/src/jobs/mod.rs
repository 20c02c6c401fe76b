//! Job files of fio as workloads: the requests that their jobs send to a drive.
//!
//! | module | holds |
//! | --- | --- |
//! | `file` | sections, and the options of each with their line numbers |
//! | `values` | numbers, sizes and lists as fio writes them |
//! | `job` | the meaning of the options of a job |
//! | `plan` | the jobs that run: the positions of their files, their amounts of work, their numbers of outstanding requests |
//! | `worker` | the requests of one copy of a job |
//! | `requests` | the requests of all copies, one after the other |
//!
//! Sizes, orders and ends are those of fio 3.33; random offsets come from this project's generator. A job file
//! has no times unless it has rates. Without times, a request arrives when another one completes, and
//! [`Plan::depth`] is the number of outstanding requests.

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

/// The error of a job file that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?}: expected {expected}")]
pub struct JobFileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The text that was found.
    pub text: String,
    /// What was expected.
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
        /// Name of the only job that runs; if empty, all jobs run.
        job: String = "", "", "";
        /// The size of files for which the job file gives no size, or a share of it.
        file_bytes: u64 = "0" in Kind::Bytes { min: 0, max: SECTORS_MAX }, "bytes", "";
    }
}

/// The parameters of a job file.
pub const PARAMETERS: &[Parameter] = Parameters::ROWS;

#[cfg(test)]
mod tests;
