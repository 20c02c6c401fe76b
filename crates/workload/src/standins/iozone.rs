//! `standin-iozone`: IOzone's automatic mode, in place of the trace that comes with the SSD extension of DiskSim.
//!
//! Files double in size up to the largest, and each is written in several passes for every record size: most go to
//! the disk directly, some through a cache that makes larger requests of them; one of the direct passes is in random
//! order. After every pass the file's record and the bitmap are written. The next record size makes the file anew,
//! behind the last one as long as there is room.
//!
//! Draws, per request: the gap.

use super::{Activity, requests};
use crate::WorkloadError;
use crate::files::Disk;
use crate::shared::{
    Arrivals, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, contradiction,
};
use crate::zipf_ranks::Scatter;
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};

const PAGES: Kind = Kind::Integer {
    min: 1,
    max: 1 << 15,
};
const COUNT: Kind = Kind::Integer { min: 0, max: 1000 };
/// Pages behind the files that are written after every pass.
const METADATA_PAGES: u64 = 2;

parameters! {
    /// What can be set of `standin-iozone`.
    struct Parameters {
        requests: u64 as REQUESTS { source: "trace ssd-iozone-aligned2-100K" };
        footprint_pages: u64 as FOOTPRINT_PAGES { default: "271320", source: "trace ssd-iozone-aligned2-100K: different pages written" };
        page_bytes: u64 as PAGE_BYTES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "9.4", source: "trace ssd-iozone-aligned2-100K: 936 s" };
        /// The first file; each next one is twice as large.
        smallest_file_pages: u64 = "16" in Kind::Integer { min: 1, max: 1 << 32 }, "pages", "IOzone, option -a: 64 KiB";
        /// No file is larger; after it the first size follows again.
        largest_file_pages: u64 = "131072" in Kind::Integer { min: 1, max: 1 << 32 }, "pages", "IOzone, option -a: 512 MiB";
        /// Record sizes tried with every file.
        record_sizes: u64 = "9" in Kind::Integer { min: 1, max: 1000 }, "", "IOzone, option -a: 64 KiB to 16 MiB";
        /// Passes over a file per record size that go to the disk directly; the third is in random order.
        direct_passes: u64 = "4" in COUNT, "", "IOzone: write, rewrite, random write, record rewrite";
        /// Passes over a file per record size that go through a cache.
        cached_passes: u64 = "2" in COUNT, "", "IOzone: fwrite, frewrite";
        /// Size of direct requests.
        direct_request_pages: u64 = "64" in PAGES, "pages", "trace ssd-iozone-aligned2-100K: 83 % of requests are of 256 KiB";
        /// Size of a cache's requests.
        cached_request_pages: u64 = "1024" in PAGES, "pages", "trace ssd-iozone-aligned2-100K: the largest requests are of 4 MiB";
    }
}

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-iozone",
    about: "Stand-in for IOzone in automatic mode: files of growing size written from end to end again and again.",
    parameters: Parameters::ROWS,
    make,
};

struct Iozone {
    space_pages: u64,
    smallest: u64,
    largest: u64,
    record_sizes: u64,
    direct_passes: u64,
    passes: u64,
    direct_pages: u64,
    cached_pages: u64,
    first: u64,
    pages: u64,
    record_size: u64,
    pass: u64,
    /// Requests of the pass made so far.
    done: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let own = Parameters::from_values(values);
    let (smallest, largest) = (own.smallest_file_pages, own.largest_file_pages);
    let footprint_pages = own.footprint_pages;
    let name = WORKLOAD.name;
    if smallest > largest {
        let expected = format!("at most largest_file_pages, {largest}");
        return Err(contradiction(
            name,
            "smallest_file_pages",
            smallest,
            expected,
        ));
    }
    if largest + METADATA_PAGES > footprint_pages {
        let expected = format!("at least {}", largest + METADATA_PAGES);
        return Err(contradiction(
            name,
            "footprint_pages",
            footprint_pages,
            expected,
        ));
    }
    let passes = own.direct_passes + own.cached_passes;
    if passes == 0 {
        let expected = "at least 1 where there are no cached_passes";
        return Err(contradiction(name, "direct_passes", 0, expected));
    }
    let activity = Iozone {
        space_pages: footprint_pages - METADATA_PAGES,
        smallest,
        largest,
        record_sizes: own.record_sizes,
        direct_passes: own.direct_passes,
        passes,
        direct_pages: own.direct_request_pages,
        cached_pages: own.cached_request_pages,
        first: 0,
        pages: smallest,
        record_size: 0,
        pass: 0,
        done: 0,
    };
    let most = activity.direct_pages.max(activity.cached_pages);
    let disk = Disk::new(most, most);
    Ok(requests(
        Arrivals::new(
            WORKLOAD.name,
            own.requests,
            own.mean_interarrival_ms,
            own.page_bytes,
        )?,
        seed,
        disk,
        activity,
    ))
}

impl Iozone {
    /// Goes on to the next pass, record size or file.
    fn next_pass(&mut self) {
        self.done = 0;
        self.pass += 1;
        if self.pass < self.passes {
            return;
        }
        self.pass = 0;
        self.first += self.pages;
        self.record_size += 1;
        if self.record_size == self.record_sizes {
            self.record_size = 0;
            self.pages *= 2;
            if self.pages > self.largest {
                self.pages = self.smallest;
            }
        }
        if self.first + self.pages > self.space_pages {
            self.first = 0;
        }
    }
}

impl Activity for Iozone {
    fn step(&mut self, _: &mut Random, disk: &mut Disk) {
        let step = if self.pass < self.direct_passes {
            self.direct_pages
        } else {
            self.cached_pages
        };
        let count = self.pages.div_ceil(step);
        if self.done == count {
            disk.write_apart(self.space_pages, 1);
            disk.write_apart(self.space_pages + 1, 1);
            self.next_pass();
            return;
        }
        let index = if self.pass == 2 && self.direct_passes > 2 {
            Scatter::new(count, 1).place(self.done)
        } else {
            self.done
        };
        let offset = index * step;
        disk.write_apart(self.first + offset, step.min(self.pages - offset));
        self.done += 1;
    }
}
