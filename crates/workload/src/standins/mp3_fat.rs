//! `standin-mp3-fat`: music files are copied to a FAT volume. It replaces workload W5 of the BPLRU paper.
//!
//! Files are written one after the other. Each request has the largest size, except at the end of a file. The
//! allocation table and the directory are written at each write-back of metadata. When a folder has all its files,
//! the next folder is filled. When the volume is full, it is formatted.
//!
//! The random draws are the size of each file, and the gap before each request.

use super::parameters::{
    BLOCK_BYTES, COMMIT_PAGES, GAP_MS, MAX_REQUEST_PAGES, MEAN_FILE_BYTES, VOLUME_PAGES,
};
use super::{Activity, requests, volume};
use crate::WorkloadError;
use crate::files::{Disk, File, FileSystem, fat::Fat};
use crate::shared::{Arrivals, REQUESTS, pick};
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};

parameters! {
    /// The parameters of `standin-mp3-fat`.
    struct Parameters {
        requests: u64 as REQUESTS { default: "7900" };
        footprint_pages: u64 as VOLUME_PAGES;
        page_bytes: u64 as BLOCK_BYTES;
        mean_interarrival_ms: f64 as GAP_MS;
        /// Number of files in a folder.
        folder_files: u64 = "90" in Kind::Integer { min: 1, max: 1 << 32 }, "files", "BPLRU (FAST 2008), W5";
        mean_file_bytes: u64 as MEAN_FILE_BYTES { default: "4.8MB", about: "Mean size of a file; sizes are equally likely between half and one and a half times the mean.", source: "BPLRU (FAST 2008), W5" };
        commit_pages: u64 as COMMIT_PAGES { about: "Data written between two write-backs of the allocation table and the directory." };
        max_request_pages: u64 as MAX_REQUEST_PAGES { default: "16" };
    }
}

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-mp3-fat",
    about: "Stand-in for copying 90 MP3 files to FAT (BPLRU W5): long sequential runs, and the same few pages of the allocation table and a directory in between.",
    parameters: Parameters::ROWS,
    make,
};

struct Copy {
    system: Fat,
    mean_bytes: u64,
    piece_bytes: u64,
    folder_files: u64,
    directory: usize,
    copied: u64,
    /// The file that is being copied. `left` is the number of bytes that are not yet copied.
    file: File,
    left: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let mean_bytes = own.mean_file_bytes;
    let page_bytes = own.page_bytes;
    let made = Fat::new(own.footprint_pages, page_bytes, own.commit_pages);
    let system = volume(name, own.footprint_pages, mean_bytes * 3 / 2 + 1, made)?;
    Ok(requests(
        Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        seed,
        Disk::new(own.max_request_pages, own.max_request_pages),
        Copy {
            system,
            mean_bytes,
            piece_bytes: own.max_request_pages * page_bytes,
            folder_files: own.folder_files,
            directory: 0,
            copied: 0,
            file: File::default(),
            left: 0,
        },
    ))
}

impl Activity for Copy {
    fn step(&mut self, random: &mut Random, disk: &mut Disk) {
        if self.left == 0 {
            self.left = self.mean_bytes.div_ceil(2) + pick(random, self.mean_bytes + 1);
            if !self.system.fits(self.left) {
                self.system.format(disk);
                self.copied = 0;
            }
            if self.copied.is_multiple_of(self.folder_files) {
                self.directory = self.system.make_directory();
            }
            self.copied += 1;
            self.file = self.system.create(self.directory);
        }
        let bytes = self.left.min(self.piece_bytes);
        self.system.append(&mut self.file, bytes, disk);
        self.left -= bytes;
    }
}
