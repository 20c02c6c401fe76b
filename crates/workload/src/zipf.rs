//! `zipf`: a few pages are accessed often, and most pages rarely.
//!
//! For each request, the random draws are in this order: the gap, the operation, the size, the rank of the first
//! page. A draw with only one possible outcome uses no random number.

use super::shared::{
    Arrivals, CLUSTER_PAGES, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES,
    PAGE_BYTES, REQUESTS, SKEW, Sizes, WRITE_PERCENT, write_or_read,
};
use super::zipf_ranks::{Places, ZipfRanks};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::Values;
use destage_base::{Random, parameters};
use destage_trace::Request;

parameters! {
    /// The parameters of `zipf`.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        write_percent: f64 as WRITE_PERCENT;
        min_pages: u64 as MIN_PAGES;
        max_pages: u64 as MAX_PAGES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS;
        skew: f64 as SKEW;
        cluster_pages: u64 as CLUSTER_PAGES;
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "zipf",
    about: "Pages by the Zipf law, scattered over the footprint: temporal locality, spatial only as far as cluster_pages gives it.",
    parameters: Parameters::ROWS,
    make,
};

struct Zipf {
    random: Random,
    arrivals: Arrivals,
    writes: Chance,
    sizes: Sizes,
    ranks: ZipfRanks,
    places: Places,
    footprint_pages: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let own = Parameters::from_values(values);
    let footprint_pages = own.footprint_pages;
    let sizes = (own.min_pages, own.max_pages);
    Ok(Box::new(Zipf {
        random: Random::new(seed),
        arrivals: Arrivals::new(
            WORKLOAD.name,
            own.requests,
            own.mean_interarrival_ms,
            own.page_bytes,
        )?,
        writes: Chance::new(own.write_percent),
        sizes: Sizes::new(WORKLOAD.name, sizes, footprint_pages)?,
        ranks: ZipfRanks::new(footprint_pages, own.skew),
        places: Places::new(footprint_pages, own.cluster_pages),
        footprint_pages,
    }))
}

impl Iterator for Zipf {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        let operation = write_or_read(self.writes.draw(&mut self.random));
        let pages = self.sizes.draw(&mut self.random);
        let page = self.places.place(self.ranks.draw(&mut self.random) - 1);
        // If a request would extend beyond the footprint, it begins at a lower page, so that its last page is the
        // last page of the footprint.
        Some(
            self.arrivals
                .request(page.min(self.footprint_pages - pages), pages, operation),
        )
    }
}
