//! `bursts`: bursts of requests with pauses between the bursts.
//!
//! For each request, the random draws are in this order: whether a burst begins with this request, the pause before
//! the burst, the gap after the previous request, the operation, the size, the rank of the first page. A draw with
//! only one possible outcome uses no random number.

use super::shared::{
    Arrivals, CLUSTER_PAGES, Chance, FOOTPRINT_PAGES, MAX_PAGES, MEAN_INTERARRIVAL_MS, MIN_PAGES,
    PAGE_BYTES, REQUESTS, SKEW, WRITE_PERCENT, check_span,
};
use super::zipf::{Popular, Zipf};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};
use destage_trace::Request;

parameters! {
    /// The parameters of `bursts`.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        write_percent: f64 as WRITE_PERCENT;
        min_pages: u64 as MIN_PAGES;
        max_pages: u64 as MAX_PAGES;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "0.05", about: "Mean of the exponentially distributed gaps within a burst; with 0, all requests of a burst arrive at once." };
        /// Mean length of a burst; lengths are geometrically distributed.
        burst_requests: f64 = "64" in Kind::Number { min: 1.0, max: 1e9 }, "requests", "";
        /// Mean of the exponentially distributed pauses between bursts.
        mean_pause_ms: f64 = "64" in Kind::Number { min: 0.0, max: 1e9 }, "ms", "";
        skew: f64 as SKEW;
        cluster_pages: u64 as CLUSTER_PAGES;
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "bursts",
    about: "Bursts of Zipf-distributed requests with pauses between: what a scheme does in idle time decides how full the buffer is when the next burst arrives.",
    parameters: Parameters::ROWS,
    make,
};

struct Bursts {
    zipf: Zipf,
    begins: Chance,
    mean_pause_ms: f64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let sizes = (own.min_pages, own.max_pages);
    let law = (own.skew, own.cluster_pages);
    let pauses = 1.0 / own.burst_requests;
    let arrivals = Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?;
    check_span(
        name,
        ("mean_pause_ms", own.mean_pause_ms),
        own.requests,
        (own.mean_interarrival_ms, pauses),
    )?;
    Ok(Box::new(Bursts {
        zipf: Zipf {
            random: Random::new(seed),
            arrivals,
            writes: Chance::new(own.write_percent),
            popular: Popular::new(name, sizes, own.footprint_pages, law)?,
        },
        begins: Chance::new(100.0 / own.burst_requests),
        mean_pause_ms: own.mean_pause_ms,
    }))
}

impl Iterator for Bursts {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let Zipf {
            random, arrivals, ..
        } = &mut self.zipf;
        if self.begins.draw(random) {
            arrivals.pause(random, self.mean_pause_ms);
        }
        self.zipf.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;
    use destage_base::time::to_ms;

    #[test]
    fn bursts_are_as_long_as_asked_and_pauses_lie_between() {
        let mut values = Values::defaults(WORKLOAD.parameters);
        values.set("requests", Value::Integer(200_000));
        values.set("burst_requests", Value::Number(100.0));
        values.set("mean_pause_ms", Value::Number(500.0));
        values.set("mean_interarrival_ms", Value::Number(0.0));
        let mut bursts = 0;
        let mut last = None;
        let mut end = 0;
        for request in make(&values, 3).unwrap() {
            bursts += u32::from(last.replace(request.arrival) != Some(request.arrival));
            end = request.arrival;
        }
        // 2000 bursts are expected; five standard deviations are 224.
        assert!((1776..=2224).contains(&bursts), "{bursts}");
        let pause = to_ms(end) / f64::from(bursts);
        assert!((440.0..560.0).contains(&pause), "{pause}");
    }
}
