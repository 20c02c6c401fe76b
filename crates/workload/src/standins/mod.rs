//! Stand-ins: workloads that follow the description of a paper's workload. They are used because the traces are not
//! available.
//!
//! No stand-in is the original workload. `docs/workloads.md` says how each stand-in was fitted, and how much it
//! differs from the original. Tests check these differences.

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

/// A program that works with files, in steps.
trait Activity: Send {
    /// Executes the next step of the program. The requests of the step are added to `disk`.
    fn step(&mut self, random: &mut Random, disk: &mut Disk);
}

/// The requests of a program, one at a time.
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

/// The requests that `activity` adds to `disk`.
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

/// Returns the file system `made` if it has space for a file of `bytes` bytes. Otherwise returns the error that the
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
