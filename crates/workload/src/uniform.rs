//! `uniform`: all pages are accessed with the same probability.
//!
//! For each request, the random draws are in this order: the gap, the operation, the size, the first page. A draw
//! with only one possible outcome uses no random number. With certain parameters and seeds, the requests equal two
//! published traces byte for byte. Therefore the order of draws must not change.

use super::shared::{
    Arrivals, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES, PAGE_BYTES,
    REQUESTS, Sizes, WRITE_PERCENT, pick, write_or_read,
};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::{Random, parameters};
use destage_trace::Request;

parameters! {
    /// The parameters of `uniform`.
    pub(super) struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        write_percent: f64 as WRITE_PERCENT;
        min_pages: u64 as MIN_PAGES;
        max_pages: u64 as MAX_PAGES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "1.5" };
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "uniform",
    about: "Pages uniformly at random: there is hardly any locality, so a buffer absorbs only its share of the footprint.",
    parameters: Parameters::ROWS,
    make: |values, seed| make_as("uniform", &Parameters::from_values(values), seed),
};

struct Uniform {
    random: Random,
    arrivals: Arrivals,
    writes: Chance,
    sizes: Sizes,
    footprint_pages: u64,
}

/// The requests for the parameters `own`. In error messages, the workload has the name `name`.
pub(super) fn make_as(
    name: &'static str,
    own: &Parameters,
    seed: u64,
) -> Result<Requests, WorkloadError> {
    let footprint_pages = own.footprint_pages;
    let sizes = (own.min_pages, own.max_pages);
    Ok(Box::new(Uniform {
        random: Random::new(seed),
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        writes: Chance::new(own.write_percent),
        sizes: Sizes::new(name, sizes, footprint_pages)?,
        footprint_pages,
    }))
}

impl Iterator for Uniform {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        let operation = write_or_read(self.writes.draw(&mut self.random));
        let pages = self.sizes.draw(&mut self.random);
        let page = pick(&mut self.random, self.footprint_pages - pages + 1);
        Some(self.arrivals.request(page, pages, operation))
    }
}
