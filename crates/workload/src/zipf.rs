//! `zipf`: few pages are written often, most rarely.
//!
//! Draws, per request and in this order: the gap, the operation, the size, the rank. A draw that could come out
//! only one way is not made.

use super::shared::{
    Arrivals, CLUSTER_PAGES, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES,
    PAGE_BYTES, REQUESTS, SKEW, Sizes, WRITE_PERCENT, page_sectors, write_or_read,
};
use super::zipf_ranks::{Places, ZipfRanks};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::Random;
use destage_base::parameter::Values;
use destage_trace::Request;

pub(super) const WORKLOAD: Workload = Workload {
    name: "zipf",
    about: "Pages by the Zipf law, scattered over the footprint: temporal locality, spatial only as far as cluster_pages gives it.",
    parameters: &[
        REQUESTS,
        FOOTPRINT_PAGES,
        PAGE_BYTES,
        WRITE_PERCENT,
        MIN_PAGES,
        MAX_PAGES,
        MEAN_INTERARRIVAL_MS,
        SKEW,
        CLUSTER_PAGES,
    ],
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
    let footprint_pages = values.integer("footprint_pages");
    Ok(Box::new(Zipf {
        random: Random::new(seed),
        arrivals: Arrivals::new(WORKLOAD.name, values, page_sectors(WORKLOAD.name, values)?)?,
        writes: Chance::new(values.number("write_percent")),
        sizes: Sizes::new(WORKLOAD.name, values, footprint_pages)?,
        ranks: ZipfRanks::new(footprint_pages, values.number("skew")),
        places: Places::new(footprint_pages, values.integer("cluster_pages")),
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
        // A request that would leave the footprint ends with it.
        Some(
            self.arrivals
                .request(page.min(self.footprint_pages - pages), pages, operation),
        )
    }
}
