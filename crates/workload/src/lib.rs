//! Synthetic workloads, which can be simulated in place of a trace: random generators, models of file systems, and
//! stand-ins for the workloads of papers.
//!
//! | module | holds |
//! | --- | --- |
//! | `uniform` `zipf` `sequential` `mixed` `bursts` `looping` `fleet` | one generator each |
//! | `files` | small file systems, which determine the pages that are written when files are made, written and removed |
//! | `jobs` | job files of fio |
//! | `standins` | workloads that follow the description of a paper's workload |
//! | `zipf_ranks` `zipf_pieces` | Zipf-distributed ranks, and the mapping from ranks to pages of an address space |
//! | `shared` | parameters and steps that several workloads have in common |
//!
//! The requests of a workload depend only on its parameters and a seed. They are the same on every machine, because
//! the arithmetic uses only integers and plain IEEE operations. Logarithms come from the `libm` crate and not from
//! the platform.
//!
//! ```
//! use destage_base::parameter::Values;
//! let uniform = destage_workload::find("uniform").unwrap();
//! let mut requests = (uniform.make)(&Values::defaults(uniform.parameters), 1)?;
//! assert_eq!(requests.next().unwrap().sectors, 8);
//! # Ok::<(), destage_workload::WorkloadError>(())
//! ```

mod bursts;
mod files;
pub mod fitted;
mod fleet;
pub mod jobs;
mod looping;
mod mixed;
mod sequential;
mod shared;
mod standins;
mod uniform;
mod zipf;
mod zipf_pieces;
mod zipf_ranks;

use destage_base::parameter::{Parameter, Values, field};
use destage_trace::Request;

/// The error that the parameters of a workload contradict each other.
///
/// The text is one line with the workload, the parameter, its value, and a description of valid values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "workload {workload}: {parameter}={value} does not fit the other parameters; expected {expected}"
)]
pub struct WorkloadError {
    /// The name of the workload.
    pub workload: &'static str,
    /// The name of the parameter.
    pub parameter: &'static str,
    /// The value of the parameter.
    pub value: String,
    /// A description of valid values.
    pub expected: String,
}

/// The requests of a workload, in the order of their arrival.
pub type Requests = Box<dyn Iterator<Item = Request> + Send>;

/// A seeded synthetic workload.
#[derive(Clone, Copy)]
pub struct Workload {
    /// The name, as `--workload` accepts it.
    pub name: &'static str,
    /// One sentence on the workload's effect on a buffer.
    pub about: &'static str,
    /// The parameters of the workload.
    pub parameters: &'static [Parameter],
    /// Generates the requests for values of the parameters and a seed.
    ///
    /// # Errors
    /// If the values contradict each other.
    pub make: fn(&Values, u64) -> Result<Requests, WorkloadError>,
}

/// All workloads.
pub static WORKLOADS: &[Workload] = &[
    uniform::WORKLOAD,
    zipf::WORKLOAD,
    sequential::WORKLOAD,
    mixed::WORKLOAD,
    bursts::WORKLOAD,
    looping::WORKLOAD,
    fleet::WORKLOAD,
    standins::file_mix::OFFICE_INSTALL,
    standins::file_mix::BROWSER_CACHE,
    standins::file_mix::PCMARK,
    standins::iometer_random::WORKLOAD,
    standins::mp3_fat::WORKLOAD,
    standins::p2p::WORKLOAD,
    standins::untar_ext3::WORKLOAD,
    standins::file_mix::KERNEL_COMPILE,
    standins::file_mix::POSTMARK,
    standins::recency::FINANCIAL1,
    standins::recency::FINANCIAL2,
    standins::recency::TPCC,
    standins::recency::CELLO_D3,
    standins::recency::CELLO_D8,
    standins::iozone::WORKLOAD,
    standins::postmark_reads::WORKLOAD,
    standins::recency::SOURCE_CONTROL,
    standins::on_board_cache::WORKLOAD,
];

/// The number of requests that the parameters `values` of any workload specify.
#[must_use]
pub fn requests_of(values: &Values) -> u64 {
    field(values, &shared::REQUESTS)
}

/// The workload called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Workload> {
    WORKLOADS.iter().find(|workload| workload.name == name)
}

impl std::fmt::Debug for Workload {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Workload({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;

    #[test]
    fn every_workload_is_a_function_of_its_seed_and_keeps_to_its_footprint() {
        for workload in WORKLOADS {
            let rows = workload.parameters;
            let mut values = Values::defaults(rows);
            let footprint = rows.iter().find(|row| row.name == "footprint_pages");
            let footprint = footprint.unwrap();
            values.set("requests", Value::Integer(3000));
            let make = |seed| (workload.make)(&values, seed).unwrap().collect::<Vec<_>>();
            let requests = make(7);
            assert_eq!(requests.len(), 3000, "{workload:?}");
            assert_eq!(requests, make(7), "{workload:?}");
            assert_ne!(requests, make(8), "{workload:?}");
            assert!(
                requests.is_sorted_by_key(|request| request.arrival),
                "{workload:?}"
            );
            let end = field::<u64>(&values, footprint) * 8;
            for (index, request) in requests.iter().enumerate() {
                assert!(
                    request.sectors > 0 && request.end() <= end,
                    "{workload:?} {request:?}"
                );
                assert_eq!(request.line as usize, index + 1, "{workload:?}");
            }
        }
    }

    #[test]
    fn contradicting_parameters_are_refused_by_name() {
        for (name, parameter, value) in [
            ("uniform", "min_pages", Value::Integer(9)),
            ("uniform", "max_pages", Value::Integer(60_000)),
            ("zipf", "page_bytes", Value::Integer(1000)),
            ("sequential", "streams", Value::Integer(1000)),
            ("mixed", "random_pages", Value::Integer(1 << 30)),
            ("zipf", "mean_interarrival_ms", Value::Number(1e8)),
            ("bursts", "mean_pause_ms", Value::Number(1e9)),
            (
                "standin-mp3-fat",
                "mean_interarrival_ms",
                Value::Number(1e9),
            ),
        ] {
            let workload = find(name).unwrap();
            let mut values = Values::defaults(workload.parameters);
            values.set("footprint_pages", Value::Integer(50_000));
            values.set(parameter, value.clone());
            if name == "sequential" {
                values.set("footprint_pages", Value::Integer(500));
            }
            if name == "bursts" {
                values.set("burst_requests", Value::Number(1.0));
            }
            let error = (workload.make)(&values, 1).err().unwrap().to_string();
            assert!(
                error.starts_with(&format!("workload {name}: {parameter}=")),
                "{error}"
            );
            assert!(error.contains("; expected "), "{error}");
        }
    }
}
