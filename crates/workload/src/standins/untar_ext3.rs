//! `standin-untar-ext3`: the sources of Linux are unpacked to ext3, in place of W7 of the BPLRU paper.
//!
//! The archive lies elsewhere; only writes reach the device. Files come directory by directory. When the tree is
//! complete another one is unpacked beside it, and when the volume is full it is formatted.
//!
//! Draws, per file and in this order: the size (two), whether the directory ends with it; and per request the gap.

use super::parameters::{
    BLOCK_BYTES, CHECKPOINT_COMMITS, COMMIT_PAGES, FileSizes, GAP_MS, MAX_FILE_BYTES,
    MAX_REQUEST_PAGES, MEAN_FILE_BYTES, MEDIAN_FILE_BYTES, VOLUME_PAGES,
};
use super::{Activity, disk, requests, volume};
use crate::WorkloadError;
use crate::files::{Disk, FileSystem, ext::Ext};
use crate::shared::{Chance, REQUESTS};
use crate::{Requests, Workload};
use destage_base::Random;
use destage_base::parameter::{Kind, Parameter, Values};

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-untar-ext3",
    about: "Stand-in for unpacking the Linux sources to ext3 (BPLRU W7): runs of small files, a journal, and inode tables and bitmaps rewritten between.",
    parameters: &[
        Parameter {
            default: "5800",
            ..REQUESTS
        },
        VOLUME_PAGES,
        BLOCK_BYTES,
        GAP_MS,
        Parameter {
            source: "Linux 2.6.20: 8.1 million lines of about 30 bytes in 21280 files",
            ..MEAN_FILE_BYTES
        },
        MEDIAN_FILE_BYTES,
        MAX_FILE_BYTES,
        Parameter {
            name: "directory_files",
            kind: Kind::Number { min: 1.0, max: 1e9 },
            default: "16",
            unit: "files",
            about: "Mean number of files in a directory, geometrically distributed.",
            source: "Linux 2.6.20: 21280 files in some 1300 directories",
        },
        Parameter {
            default: "5500",
            source: "estimate: a trace is recorded on a disk; trees of sources were copied to ext3 at some 4.5 MB/s",
            ..COMMIT_PAGES
        },
        CHECKPOINT_COMMITS,
        MAX_REQUEST_PAGES,
    ],
    make,
};

struct Untar {
    system: Ext,
    sizes: FileSizes,
    ends: Chance,
    directory: usize,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let sizes = FileSizes::new(WORKLOAD.name, values)?;
    let made = Ext::new(
        values.integer("footprint_pages"),
        values.integer("page_bytes"),
        values.integer("commit_pages"),
        values.integer("checkpoint_commits"),
    );
    let mut system = volume(WORKLOAD.name, values, sizes.max, made)?;
    let directory = system.make_directory();
    let ends = Chance::new(100.0 / values.number("directory_files"));
    requests(
        WORKLOAD.name,
        values,
        seed,
        disk(values),
        Untar {
            system,
            sizes,
            ends,
            directory,
        },
    )
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
