//! `looping`: a range is accessed from start to end again and again, and requests to other pages are in between.
//!
//! For each request, the random draws are in this order: the gap, whether the request belongs to the loop, the
//! operation, and for other requests the page. A draw with only one possible outcome uses no random number.

use super::shared::{
    Arrivals, Chance, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, WRITE_PERCENT,
    contradiction, pick, write_or_read,
};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::{Kind, Values};
use destage_base::{Random, parameters};
use destage_trace::Request;

parameters! {
    /// The parameters of `looping`.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        write_percent: f64 as WRITE_PERCENT;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "0.75" };
        /// Length of the loop, which lies at the start of the footprint.
        loop_pages: u64 = "10000" in Kind::Integer { min: 1, max: 1 << 40 }, "pages", "";
        /// Size of the requests of the loop; the last one before the loop starts over may be shorter.
        step_pages: u64 = "1" in Kind::Integer { min: 1, max: 1 << 16 }, "pages", "";
        /// Share of requests that continue the loop; each other request has one page, anywhere after the loop.
        loop_percent: f64 = "80" in Kind::Number { min: 0.0, max: 100.0 }, "%", "";
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "looping",
    about: "A loop over a range, mixed with requests to random pages: LRU keeps the wrong pages as soon as the loop is longer than the buffer.",
    parameters: Parameters::ROWS,
    make,
};

struct Looping {
    random: Random,
    arrivals: Arrivals,
    goes_on: Chance,
    writes: Chance,
    loop_pages: u64,
    step_pages: u64,
    other_pages: u64,
    offset: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let (footprint_pages, loop_pages) = (own.footprint_pages, own.loop_pages);
    let loop_percent = own.loop_percent;
    let needed = u64::from(loop_percent < 100.0);
    if loop_pages + needed > footprint_pages {
        let expected = format!(
            "at most {}, so that the loop and the pages after it fit in footprint_pages",
            footprint_pages.saturating_sub(needed)
        );
        return Err(contradiction(name, "loop_pages", loop_pages, expected));
    }
    Ok(Box::new(Looping {
        random: Random::new(seed),
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        goes_on: Chance::new(loop_percent),
        writes: Chance::new(own.write_percent),
        loop_pages,
        step_pages: own.step_pages,
        other_pages: footprint_pages - loop_pages,
        offset: 0,
    }))
}

impl Iterator for Looping {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let random = &mut self.random;
        self.arrivals.next(random)?;
        let goes_on = self.goes_on.draw(random);
        let operation = write_or_read(self.writes.draw(random));
        let (page, pages) = if goes_on {
            let page = self.offset;
            let pages = self.step_pages.min(self.loop_pages - page);
            self.offset = (page + pages) % self.loop_pages;
            (page, pages)
        } else {
            (self.loop_pages + pick(random, self.other_pages), 1)
        };
        Some(self.arrivals.request(page, pages, operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;

    #[test]
    fn the_loop_starts_over_and_nothing_else_touches_it() {
        let mut values = Values::defaults(WORKLOAD.parameters);
        values.set("footprint_pages", Value::Integer(12));
        values.set("loop_pages", Value::Integer(10));
        values.set("step_pages", Value::Integer(4));
        values.set("requests", Value::Integer(1000));
        let (inside, outside): (Vec<_>, Vec<_>) = make(&values, 1)
            .unwrap()
            .map(|request| (request.sector / 8, request.sectors / 8))
            .partition(|(page, _)| *page < 10);
        for (index, step) in inside.iter().enumerate() {
            assert_eq!(*step, [(0, 4), (4, 4), (8, 2)][index % 3]);
        }
        assert!(outside.iter().all(|(_, pages)| *pages == 1));
        // 200 requests outside the loop are expected. Each bound is five standard deviations away from 200.
        assert!((137..=263).contains(&outside.len()), "{}", outside.len());
        values.set("loop_pages", Value::Integer(12));
        assert!(make(&values, 1).is_err());
        values.set("loop_percent", Value::Number(100.0));
        assert!(make(&values, 1).is_ok());
    }
}
