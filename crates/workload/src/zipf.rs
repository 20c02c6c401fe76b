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

/// Requests to the pages of a region, of which a few are popular.
pub(super) struct Popular {
    sizes: Sizes,
    ranks: ZipfRanks,
    places: Places,
    region_pages: u64,
}

impl Popular {
    pub fn new(
        workload: &'static str,
        sizes: (u64, u64),
        region_pages: u64,
        (skew, cluster_pages): (f64, u64),
    ) -> Result<Self, WorkloadError> {
        Ok(Self {
            sizes: Sizes::new(workload, sizes, region_pages)?,
            ranks: ZipfRanks::new(region_pages, skew),
            places: Places::new(region_pages, cluster_pages),
            region_pages,
        })
    }

    /// Draws the size of a request, and then the rank of its first page. Returns the first page and the size.
    #[inline(always)]
    pub fn draw(&mut self, random: &mut Random) -> (u64, u64) {
        let pages = self.sizes.draw(random);
        let page = self.places.place(self.ranks.draw(random) - 1);
        // If a request would extend beyond the region, it begins at a lower page, so that its last page is the last
        // page of the region.
        (page.min(self.region_pages - pages), pages)
    }
}

pub(super) struct Zipf {
    pub random: Random,
    pub arrivals: Arrivals,
    pub writes: Chance,
    pub popular: Popular,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let sizes = (own.min_pages, own.max_pages);
    let law = (own.skew, own.cluster_pages);
    Ok(Box::new(Zipf {
        random: Random::new(seed),
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        writes: Chance::new(own.write_percent),
        popular: Popular::new(name, sizes, own.footprint_pages, law)?,
    }))
}

impl Iterator for Zipf {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        let operation = write_or_read(self.writes.draw(&mut self.random));
        let (page, pages) = self.popular.draw(&mut self.random);
        Some(self.arrivals.request(page, pages, operation))
    }
}
