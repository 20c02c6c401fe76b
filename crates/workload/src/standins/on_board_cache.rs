//! `standin-on-board-cache`: the microbenchmark of the on-board-cache paper.
//!
//! Draws, per request and in this order: the gap, the size, the start.

use crate::WorkloadError;
use crate::shared::{
    Arrivals, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, contradiction,
    page_sectors, pick,
};
use crate::{Requests, Workload};
use destage_base::Random;
use destage_base::parameter::{Kind, Parameter, Values};
use destage_trace::{Operation, Request};

const SOURCE: &str = "on-board cache paper, section II.A";

pub(crate) const WORKLOAD: Workload = Workload {
    name: "standin-on-board-cache",
    about: "Stand-in for the microbenchmark of the on-board-cache paper: random writes of any size to 4 MiB over a device of 256 GB.",
    parameters: &[
        Parameter {
            default: "20000",
            source: SOURCE,
            ..REQUESTS
        },
        Parameter {
            default: "67108864",
            source: SOURCE,
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        Parameter {
            default: "50",
            source: "not stated there: about the time that programming 2 MB takes with 8 packages",
            ..MEAN_INTERARRIVAL_MS
        },
        Parameter {
            name: "max_request_sectors",
            kind: Kind::Integer {
                min: 1,
                max: 1 << 24,
            },
            default: "8192",
            unit: "sectors",
            about: "Largest request; sizes from one sector on are equally likely.",
            source: SOURCE,
        },
    ],
    make,
};

struct RandomSizes {
    random: Random,
    arrivals: Arrivals,
    max_sectors: u64,
    sectors: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let page_sectors = page_sectors(WORKLOAD.name, values)?;
    let sectors = values
        .integer("footprint_pages")
        .saturating_mul(page_sectors);
    let max_sectors = values.integer("max_request_sectors");
    if max_sectors > sectors {
        let expected = format!("at most the {sectors} sectors there are");
        return Err(contradiction(
            WORKLOAD.name,
            "max_request_sectors",
            max_sectors,
            expected,
        ));
    }
    Ok(Box::new(RandomSizes {
        random: Random::new(seed),
        // Requests are counted in sectors here.
        arrivals: Arrivals::new(WORKLOAD.name, values, 1)?,
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
