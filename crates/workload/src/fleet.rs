//! `fleet`: many volumes at once. Each volume has its own request rate, skew, footprint and share of writes.
//!
//! The arrivals of all volumes form one stream with exponentially distributed gaps, and each request of the stream is
//! assigned to a volume at random. Independent volumes with exponentially distributed gaps give the same stream. The
//! properties of a volume are drawn once from the seed. The footprint of a volume is the largest footprint, halved up
//! to six times, and its skew is one of eight values. Therefore even a thousand volumes need few tables. For each
//! request, the random draws are in this order: the gap, the volume, the operation, the size, the rank of the first
//! page. A draw with only one possible outcome uses no random number.

use super::shared::{
    Arrivals, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES, PAGE_BYTES,
    REQUESTS, SKEW, Sizes, contradiction, write_or_read,
};
use super::zipf_ranks::{Places, ZipfRanks};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};
use destage_trace::Request;

/// The number of different footprints. They are the largest footprint, its half, its quarter and so on.
const FOOTPRINTS: u64 = 7;
/// The number of different skews, which are equally spaced.
const SKEWS: u64 = 8;

parameters! {
    /// The parameters of `fleet`.
    struct Parameters {
        requests: u64 as REQUESTS;
        /// Number of volumes, numbered from 0.
        volumes: u64 = "20" in Kind::Integer { min: 1, max: 1 << 20 }, "volumes", "";
        /// Exponent of the Zipf law by which volumes share the requests; 0 gives all volumes the same rate.
        rate_skew: f64 = "0.8" in Kind::Number { min: 0.0, max: 10.0 }, "", "";
        footprint_pages: u64 as FOOTPRINT_PAGES { default: "32768" };
        page_bytes: u64 as PAGE_BYTES;
        /// Share of writes of the volume that writes least; the shares of the others are between this and 100
        /// %.
        write_percent_min: f64 = "40" in Kind::Number { min: 0.0, max: 100.0 }, "%", "";
        min_pages: u64 as MIN_PAGES;
        max_pages: u64 as MAX_PAGES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "0.1" };
        skew: f64 as SKEW;
        /// The skews of volumes are between skew less this value and skew plus this value.
        skew_spread: f64 = "0.3" in Kind::Number { min: 0.0, max: 10.0 }, "", "";
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "fleet",
    about: "Many volumes side by side that differ in rate, skew, footprint and share of writes: an input for `destage trace partition`.",
    parameters: Parameters::ROWS,
    make,
};

struct Fleet {
    random: Random,
    arrivals: Arrivals,
    shares: ZipfRanks,
    numbers: Places,
    sizes: Sizes,
    volumes: Vec<Volume>,
    /// A Zipf table for each pair of footprint and skew, sorted by footprint.
    ranks: Vec<ZipfRanks>,
    /// For each footprint, its size in pages, and the mapping from ranks to pages.
    footprints: Vec<(u64, Places)>,
}

/// The properties of a volume.
struct Volume {
    footprint: u8,
    skew: u8,
    writes: Chance,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let smallest = own.footprint_pages >> (FOOTPRINTS - 1);
    if smallest < own.max_pages {
        let expected = format!(
            "at least {}, so that the largest request fits into the smallest volume",
            own.max_pages << (FOOTPRINTS - 1)
        );
        let pages = own.footprint_pages;
        return Err(contradiction(name, FOOTPRINT_PAGES.name, pages, expected));
    }
    if own.skew_spread > own.skew {
        let expected = format!("at most skew, {}", own.skew);
        return Err(contradiction(
            name,
            "skew_spread",
            own.skew_spread,
            expected,
        ));
    }
    let mut random = Random::new(seed);
    let volumes = (0..own.volumes).map(|_| Volume {
        footprint: random.below(FOOTPRINTS) as u8,
        skew: random.below(SKEWS) as u8,
        writes: {
            let least = own.write_percent_min;
            Chance::new(least + random.unit() * (100.0 - least))
        },
    });
    let volumes = volumes.collect();
    let pages = |halved: u64| own.footprint_pages >> halved;
    let skew = |step: u64| {
        let place = step as f64 / (SKEWS - 1) as f64;
        own.skew - own.skew_spread + place * 2.0 * own.skew_spread
    };
    let ranks = (0..FOOTPRINTS)
        .flat_map(|halved| (0..SKEWS).map(move |step| ZipfRanks::new(pages(halved), skew(step))));
    Ok(Box::new(Fleet {
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        shares: ZipfRanks::new(own.volumes, own.rate_skew),
        numbers: Places::new(own.volumes, 1),
        sizes: Sizes::new(name, (own.min_pages, own.max_pages), smallest)?,
        volumes,
        ranks: ranks.collect(),
        footprints: (0..FOOTPRINTS)
            .map(|halved| (pages(halved), Places::new(pages(halved), 1)))
            .collect(),
        random,
    }))
}

impl Iterator for Fleet {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let random = &mut self.random;
        self.arrivals.next(random)?;
        let number = self.numbers.place(self.shares.draw(random) - 1);
        let volume = &self.volumes[number as usize];
        let (footprint, skew) = (usize::from(volume.footprint), usize::from(volume.skew));
        let operation = write_or_read(volume.writes.draw(random));
        let pages = self.sizes.draw(random);
        let rank = self.ranks[footprint * SKEWS as usize + skew].draw(random);
        let (footprint_pages, places) = &mut self.footprints[footprint];
        // If a request would extend beyond the footprint, it begins at a lower page, so that its last page is the
        // last page of the footprint.
        let page = places.place(rank - 1).min(*footprint_pages - pages);
        Some(Request {
            // There are at most 2^20 volumes, so the number fits in 32 bits.
            volume: number as u32,
            ..self.arrivals.request(page, pages, operation)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;
    use std::collections::BTreeMap;

    #[test]
    fn volumes_differ_in_rate_footprint_and_share_of_writes() {
        let mut values = Values::defaults(WORKLOAD.parameters);
        values.set("requests", Value::Integer(60_000));
        let mut volumes: BTreeMap<u32, (u64, u64, u64)> = BTreeMap::new();
        for request in make(&values, 5).unwrap() {
            let (requests, writes, end) = volumes.entry(request.volume).or_default();
            *requests += 1;
            *writes += u64::from(request.operation == destage_trace::Operation::Write);
            *end = request.end().max(*end);
        }
        assert_eq!(volumes.len(), 20);
        assert_eq!(volumes.keys().next_back(), Some(&19));
        let counts = || volumes.values().map(|(requests, ..)| *requests);
        assert!(counts().max() > counts().min().map(|least| least * 5));
        let shares = || {
            volumes
                .values()
                .map(|(requests, writes, _)| writes * 100 / requests)
        };
        assert!(shares().min() > Some(35) && shares().max() > Some(85));
        let ends = || volumes.values().map(|(.., end)| *end);
        assert!(ends().max() > ends().min().map(|least| least * 8));
    }
}
