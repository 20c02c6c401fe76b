//! `standin-untar-ext3`: the sources of Linux 2.6.21 are unpacked to ext3. It replaces workload W7 of the BPLRU
//! paper.
//!
//! The archive is on another device, so this device receives only writes. Files are made directory by directory. When
//! a source tree is complete, the next one follows at once. When the volume is full, it is formatted.
//!
//! For each file, the random draws are in this order: the size, which needs two draws, and whether the file is the
//! last one of its directory. For each request, there is a draw for the gap.

use super::parameters::{
    BLOCK_BYTES, CHECKPOINT_COMMITS, COMMIT_PAGES, FileSizes, GAP_MS, MAX_FILE_BYTES,
    MAX_REQUEST_PAGES, MEAN_FILE_BYTES, MEDIAN_FILE_BYTES, VOLUME_PAGES,
};
use super::{Activity, requests, volume};
use crate::WorkloadError;
use crate::files::{Disk, FileSystem, ext::Ext};
use crate::shared::{Arrivals, Chance, REQUESTS};
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};

parameters! {
    /// The parameters of `standin-untar-ext3`.
    struct Parameters {
        requests: u64 as REQUESTS { default: "5500", source: "the size of 21594 files, from BPLRU (FAST 2008), W7" };
        footprint_pages: u64 as VOLUME_PAGES;
        page_bytes: u64 as BLOCK_BYTES;
        mean_interarrival_ms: f64 as GAP_MS;
        mean_file_bytes: u64 as MEAN_FILE_BYTES { default: "10700", source: "BPLRU (FAST 2008), W7: 10.7 KB on average" };
        median_file_bytes: u64 as MEDIAN_FILE_BYTES { source: "estimate" };
        max_file_bytes: u64 as MAX_FILE_BYTES;
        /// Mean number of files in a directory, geometrically distributed.
        directory_files: f64 = "16.8" in Kind::Number { min: 1.0, max: 1e9 }, "files", "BPLRU (FAST 2008), W7: 21594 files in 1285 folders";
        commit_pages: u64 as COMMIT_PAGES { default: "5500", source: "estimate: a trace is recorded on a disk; trees of sources were copied to ext3 at some 4.5 MB/s" };
        checkpoint_commits: u64 as CHECKPOINT_COMMITS;
        max_request_pages: u64 as MAX_REQUEST_PAGES;
    }
}

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-untar-ext3",
    about: "Stand-in for unpacking the Linux sources to ext3 (BPLRU W7, Linux 2.6.21): runs of small files, a journal, and inode tables and bitmaps rewritten between.",
    parameters: Parameters::ROWS,
    make,
};

struct Untar {
    system: Ext,
    sizes: FileSizes,
    ends: Chance,
    directory: usize,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let sizes = FileSizes::log_normal(
        own.mean_file_bytes,
        own.median_file_bytes,
        own.max_file_bytes,
    );
    let made = Ext::new(
        own.footprint_pages,
        own.page_bytes,
        own.commit_pages,
        own.checkpoint_commits,
    );
    let mut system = volume(name, own.footprint_pages, sizes.max, made)?;
    let directory = system.make_directory();
    let ends = Chance::new(100.0 / own.directory_files);
    Ok(requests(
        Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        seed,
        Disk::new(own.max_request_pages, own.max_request_pages),
        Untar {
            system,
            sizes,
            ends,
            directory,
        },
    ))
}

impl Activity for Untar {
    fn step(&mut self, random: &mut Random, disk: &mut Disk) {
        let bytes = self.sizes.draw(random);
        if !self.system.fits(bytes) {
            self.system.format(disk);
            self.directory = self.system.make_directory();
        }
        let mut file = self.system.create(self.directory);
        self.system.append(&mut file, bytes, disk);
        if self.ends.draw(random) {
            self.directory = self.system.make_directory();
        }
    }
}
