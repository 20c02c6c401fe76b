//! `mixed`: a small model of the disk requests of a personal computer.
//!
//! Small writes and reads access popular pages in one region of the footprint. Sequential streams write the rest of
//! the footprint. For each request, the random draws are in this order: the gap, and whether the request reads. For a
//! write they continue with whether it belongs to a stream, and to which stream. For all requests outside the streams
//! they continue with the size and the rank of the first page. A draw with only one possible outcome uses no random
//! number.

use super::sequential::{STREAM_PAGES, Streams};
use super::shared::{
    Arrivals, CLUSTER_PAGES, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES,
    PAGE_BYTES, REQUESTS, SKEW, STREAMS, contradiction, pick, write_or_read,
};
use super::zipf::Popular;
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};
use destage_trace::{Operation, Request};

parameters! {
    /// The parameters of `mixed`.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES { default: "131072" };
        page_bytes: u64 as PAGE_BYTES;
        /// Share of requests that read.
        read_percent: f64 = "30" in Kind::Number { min: 0.0, max: 100.0 }, "%", "";
        /// Share of writes that belong to a stream.
        stream_percent: f64 = "15" in Kind::Number { min: 0.0, max: 100.0 }, "%", "";
        /// The part of the footprint, at its start, in which small requests lie; the streams share the rest.
        random_pages: u64 = "32768" in Kind::Integer { min: 1, max: 1 << 40 }, "pages", "";
        min_pages: u64 as MIN_PAGES;
        max_pages: u64 as MAX_PAGES { default: "2" };
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS;
        skew: f64 as SKEW;
        cluster_pages: u64 as CLUSTER_PAGES { default: "8" };
        streams: u64 as STREAMS;
        stream_pages: u64 as STREAM_PAGES;
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "mixed",
    about: "Small rewrites of popular pages, sequential streams and reads together: a mixture that separates one buffer scheme from another.",
    parameters: Parameters::ROWS,
    make,
};

struct Mixed {
    random: Random,
    arrivals: Arrivals,
    reads: Chance,
    from_stream: Chance,
    popular: Popular,
    streams: Streams,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let (footprint_pages, random_pages) = (own.footprint_pages, own.random_pages);
    let sizes = (own.min_pages, own.max_pages);
    let law = (own.skew, own.cluster_pages);
    let streams = (own.streams, own.stream_pages);
    let Some(stream_pages) = footprint_pages.checked_sub(random_pages) else {
        let expected = format!("at most footprint_pages, {footprint_pages}");
        return Err(contradiction(name, "random_pages", random_pages, expected));
    };
    Ok(Box::new(Mixed {
        random: Random::new(seed),
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        reads: Chance::new(own.read_percent),
        from_stream: Chance::new(own.stream_percent),
        popular: Popular::new(name, sizes, random_pages, law)?,
        streams: Streams::new(name, streams, random_pages, stream_pages)?,
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
        let (page, pages) = self.popular.draw(random);
        Some(self.arrivals.request(page, pages, write_or_read(!read)))
    }
}
