//! Job files of fio as workloads. A workload consists of the requests that the jobs of a file send to a drive.
//!
//! | module | holds |
//! | --- | --- |
//! | `file` | the sections of a job file, and the options of each section with their line numbers |
//! | `values` | numbers, sizes and lists in the notation of fio |
//! | `job` | the options of a job and their interpretation |
//! | `plan` | the jobs that are simulated, with the positions of their files, their amounts of work, and their numbers of outstanding requests |
//! | `worker` | the requests of one copy of a job |
//! | `requests` | the requests of all copies, merged into one sequence |
//!
//! The sizes, the order and the number of requests are those of fio 3.33. Random offsets differ from those of fio,
//! because this project has its own random number generator. Requests have arrival times only if the job file gives
//! rates. Otherwise a request is issued when another request completes, and [`Plan::depth`] is the number of
//! outstanding requests.

mod file;
mod job;
mod plan;
mod requests;
mod values;
mod worker;

pub use job::waits_for_each_request;
pub use plan::Plan;

use destage_base::parameter::{Kind, Parameter};
use destage_base::parameters;
use destage_trace::request::SECTORS_MAX;

use crate::shared::REQUESTS;

/// The error that a job file cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?}: expected {expected}")]
pub struct JobFileError {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The invalid text.
    pub text: String,
    /// A description of valid text.
    pub expected: String,
}

/// The jobs of a job file, in the order of the file.
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
