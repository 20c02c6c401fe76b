//! `mixed`: what a personal computer does to its disk, in small.
//!
//! Small writes come back to popular pages in one part of the footprint, streams run through the rest, and reads
//! go to the popular pages. Draws, per request and in this order: the gap, whether it reads; then of a write
//! whether it is a stream's, and which stream's; of all others the size and the rank. A draw that could come out
//! only one way is not made.

use super::sequential::{STREAM_PAGES, Streams};
use super::shared::{
    Arrivals, CLUSTER_PAGES, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES,
    PAGE_BYTES, REQUESTS, SKEW, STREAMS, Sizes, contradiction, page_sectors, pick, write_or_read,
};
use super::zipf_ranks::{Places, ZipfRanks};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::Random;
use destage_base::parameter::{Kind, Parameter, Values};
use destage_trace::{Operation, Request};

pub(super) const WORKLOAD: Workload = Workload {
    name: "mixed",
    about: "Small rewrites of popular pages, sequential streams and reads together: what separates one buffer scheme from another.",
    parameters: &[
        REQUESTS,
        Parameter {
            default: "131072",
            ..FOOTPRINT_PAGES
        },
        PAGE_BYTES,
        Parameter {
            name: "read_percent",
            kind: Kind::Number {
                min: 0.0,
                max: 100.0,
            },
            default: "30",
            unit: "%",
            about: "Share of requests that read.",
            source: "",
        },
        Parameter {
            name: "stream_percent",
            kind: Kind::Number {
                min: 0.0,
                max: 100.0,
            },
            default: "15",
            unit: "%",
            about: "Share of writes that belong to a stream.",
            source: "",
        },
        Parameter {
            name: "random_pages",
            kind: Kind::Integer {
                min: 1,
                max: 1 << 40,
            },
            default: "32768",
            unit: "pages",
            about: "The part of the footprint, at its start, that small requests go to; the streams share the rest.",
            source: "",
        },
        MIN_PAGES,
        Parameter {
            default: "2",
            ..MAX_PAGES
        },
        Parameter {
            default: "1",
            ..MEAN_INTERARRIVAL_MS
        },
        SKEW,
        Parameter {
            default: "8",
            ..CLUSTER_PAGES
        },
        STREAMS,
        STREAM_PAGES,
    ],
    make,
};

struct Mixed {
    random: Random,
    arrivals: Arrivals,
    reads: Chance,
    from_stream: Chance,
    random_pages: u64,
    sizes: Sizes,
    ranks: ZipfRanks,
    places: Places,
    streams: Streams,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let footprint_pages = values.integer("footprint_pages");
    let random_pages = values.integer("random_pages");
    let Some(stream_pages) = footprint_pages.checked_sub(random_pages) else {
        let expected = format!("at most footprint_pages, {footprint_pages}");
        return Err(contradiction(
            WORKLOAD.name,
            "random_pages",
            random_pages,
            expected,
        ));
    };
    Ok(Box::new(Mixed {
        random: Random::new(seed),
        arrivals: Arrivals::new(WORKLOAD.name, values, page_sectors(WORKLOAD.name, values)?)?,
        reads: Chance::new(values.number("read_percent")),
        from_stream: Chance::new(values.number("stream_percent")),
        random_pages,
        sizes: Sizes::new(WORKLOAD.name, values, random_pages)?,
        ranks: ZipfRanks::new(random_pages, values.number("skew")),
        places: Places::new(random_pages, values.integer("cluster_pages")),
        streams: Streams::new(WORKLOAD.name, values, random_pages, stream_pages)?,
    }))
}

impl Iterator for Mixed {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let random = &mut self.random;
        self.arrivals.next(random)?;
        let read = self.reads.draw(random);
        if !read && self.from_stream.draw(random) {
            let count = self.streams.count();
            let stream = if count == 1 { 0 } else { pick(random, count) };
            let (page, pages) = self.streams.advance(stream);
            return Some(self.arrivals.request(page, pages, Operation::Write));
        }
        let pages = self.sizes.draw(random);
        let page = self.places.place(self.ranks.draw(random) - 1);
        // A request that would leave its part ends with it.
        Some(self.arrivals.request(
            page.min(self.random_pages - pages),
            pages,
            write_or_read(!read),
        ))
    }
}
