//! `standin-on-board-cache`: the microbenchmark of the on-board-cache paper.
//!
//! For each request, the random draws are in this order: the gap, the size, the first sector.

use crate::WorkloadError;
use crate::shared::{
    Arrivals, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, contradiction,
    page_sectors, pick,
};
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};
use destage_trace::{Operation, Request};

const SOURCE: &str = "on-board cache paper, section II.A";

parameters! {
    /// The parameters of `standin-on-board-cache`.
    struct Parameters {
        requests: u64 as REQUESTS { default: "20000", source: SOURCE };
        footprint_pages: u64 as FOOTPRINT_PAGES { default: "57049088", source: "on-board cache paper, section II.A: 256 GB, less a reserve of 15 % as in profile apu-slc" };
        page_bytes: u64 as PAGE_BYTES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "50", source: "not stated there: about the time that programming 2 MB takes with 8 packages" };
        /// Largest request; sizes from one sector on are equally likely.
        max_request_sectors: u64 = "8192" in Kind::Integer { min: 1, max: 1 << 24 }, "sectors", SOURCE;
    }
}

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-on-board-cache",
    about: "Stand-in for the microbenchmark of the on-board-cache paper: random writes of any size to 4 MiB over all that a device of 256 GB offers.",
    parameters: Parameters::ROWS,
    make,
};

struct RandomSizes {
    random: Random,
    arrivals: Arrivals,
    max_sectors: u64,
    sectors: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let own = Parameters::from_values(values);
    let page_sectors = page_sectors(WORKLOAD.name, own.page_bytes)?;
    let sectors = own.footprint_pages.saturating_mul(page_sectors);
    let max_sectors = own.max_request_sectors;
    if max_sectors > sectors {
        let expected = format!("at most {sectors}, the number of sectors of the address space");
        return Err(contradiction(
            WORKLOAD.name,
            "max_request_sectors",
            max_sectors,
            expected,
        ));
    }
    Ok(Box::new(RandomSizes {
        random: Random::new(seed),
        // In this workload, the sizes of requests are in sectors.
        arrivals: Arrivals::by_sectors(WORKLOAD.name, own.requests, own.mean_interarrival_ms, 1)?,
        max_sectors,
        sectors,
    }))
}

impl Iterator for RandomSizes {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        let sectors = 1 + pick(&mut self.random, self.max_sectors);
        let start = pick(&mut self.random, self.sectors - sectors + 1);
        Some(self.arrivals.request(start, sectors, Operation::Write))
    }
}
