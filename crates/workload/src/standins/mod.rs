//! Stand-ins: workloads made as a paper describes its own, in place of traces that are not available.
//!
//! None of them is the original. The documentation of the workloads says how each was fitted and how far it is
//! from the original, and tests check these numbers.

pub(super) mod file_mix;
mod financial1;
pub(super) mod iometer_random;
pub(super) mod iozone;
pub(super) mod mp3_fat;
pub(super) mod on_board_cache;
pub(super) mod p2p;
mod parameters;
pub(super) mod postmark_reads;
pub(super) mod recency;
mod streams;
pub(super) mod untar_ext3;

use crate::Requests;
use crate::WorkloadError;
use crate::files::{Disk, FileSystem};
use crate::shared::{Arrivals, FOOTPRINT_PAGES, contradiction};
use destage_base::Random;
use destage_trace::Request;

/// A program that works with files, step by step.
trait Activity: Send {
    /// Does steps until `disk` has at least one more request.
    fn step(&mut self, random: &mut Random, disk: &mut Disk);
}

/// The requests of an activity, one at a time.
struct FileRequests<A> {
    random: Random,
    arrivals: Arrivals,
    disk: Disk,
    activity: A,
}

impl<A: Activity> Iterator for FileRequests<A> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        loop {
            if let Some(access) = self.disk.pop() {
                return Some(
                    self.arrivals
                        .request(access.page, access.pages, access.operation),
                );
            }
            self.activity.step(&mut self.random, &mut self.disk);
        }
    }
}

/// The requests that `activity` makes to `disk`.
fn requests(
    arrivals: Arrivals,
    seed: u64,
    disk: Disk,
    activity: impl Activity + 'static,
) -> Requests {
    Box::new(FileRequests {
        random: Random::new(seed),
        arrivals,
        disk,
        activity,
    })
}

/// Returns the file system `made`, if it has room for a file of `bytes` bytes; otherwise the error that the
/// footprint is too small.
fn volume<F: FileSystem>(
    workload: &'static str,
    footprint_pages: u64,
    bytes: u64,
    made: Option<F>,
) -> Result<F, WorkloadError> {
    made.filter(|system| system.fits(bytes)).ok_or_else(|| {
        contradiction(
            workload,
            FOOTPRINT_PAGES.name,
            footprint_pages,
            format!("room for the file system and a file of {bytes} bytes"),
        )
    })
}

#[cfg(test)]
mod tests;
