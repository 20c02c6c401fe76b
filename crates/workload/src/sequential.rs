//! `sequential`: a few streams issue requests in turn. Each stream accesses its own region of the footprint from
//! start to end.
//!
//! For each request, the random draws are in this order: the gap, the operation. A draw with only one possible
//! outcome uses no random number.

use super::shared::{
    Arrivals, Chance, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, STREAMS,
    WRITE_PERCENT, contradiction, write_or_read,
};
use super::{Requests, Workload};
use crate::WorkloadError;
use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::{Random, parameters};
use destage_trace::Request;

pub(super) const STREAM_PAGES: Parameter = Parameter {
    name: "stream_pages",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 16,
    },
    default: "16",
    unit: "pages",
    about: "Size of a stream's requests.",
    source: "",
    ..Parameter::BLANK
};

parameters! {
    /// The parameters of `sequential`.
    struct Parameters {
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        page_bytes: u64 as PAGE_BYTES;
        write_percent: f64 as WRITE_PERCENT;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS { default: "1.25" };
        streams: u64 as STREAMS;
        stream_pages: u64 as STREAM_PAGES;
    }
}

pub(super) const WORKLOAD: Workload = Workload {
    name: "sequential",
    about: "Several streams that take turns, each sequential: no page is rewritten soon, so a buffer can only help by grouping pages.",
    parameters: Parameters::ROWS,
    make,
};

/// Streams over the pages from `start` on. Each stream has its own region.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    start: u64,
    /// The number of pages in the region of each stream.
    part_pages: u64,
    stream_pages: u64,
    /// The position of each stream in its region.
    offsets: Vec<u64>,
}

impl Streams {
    pub fn new(
        workload: &'static str,
        (streams, stream_pages): (u64, u64),
        start: u64,
        pages: u64,
    ) -> Result<Self, WorkloadError> {
        let part_pages = pages / streams;
        if part_pages < stream_pages {
            let expected = format!(
                "at most {}, so that each has a request's {stream_pages} pages",
                pages / stream_pages
            );
            return Err(contradiction(workload, STREAMS.name, streams, expected));
        }
        let offsets = (0..streams).map(|_| 0).collect();
        Ok(Self {
            start,
            part_pages,
            stream_pages,
            offsets,
        })
    }

    pub fn count(&self) -> u64 {
        self.offsets.len() as u64
    }

    /// The first page and the number of pages of the next request of a stream. The last request of a region is
    /// shorter if the size of the region is not a multiple of `stream_pages`.
    pub fn advance(&mut self, stream: u64) -> (u64, u64) {
        let offset = &mut self.offsets[stream as usize];
        let page = self.start + stream * self.part_pages + *offset;
        let pages = self.stream_pages.min(self.part_pages - *offset);
        *offset = (*offset + pages) % self.part_pages;
        (page, pages)
    }
}

struct Sequential {
    random: Random,
    arrivals: Arrivals,
    writes: Chance,
    streams: Streams,
    turn: u64,
}

fn make(values: &Values, seed: u64) -> Result<Requests, WorkloadError> {
    let (name, own) = (WORKLOAD.name, Parameters::from_values(values));
    let streams = (own.streams, own.stream_pages);
    Ok(Box::new(Sequential {
        random: Random::new(seed),
        arrivals: Arrivals::new(name, own.requests, own.mean_interarrival_ms, own.page_bytes)?,
        writes: Chance::new(own.write_percent),
        streams: Streams::new(name, streams, 0, own.footprint_pages)?,
        turn: 0,
    }))
}

impl Iterator for Sequential {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.arrivals.next(&mut self.random)?;
        let operation = write_or_read(self.writes.draw(&mut self.random));
        let (page, pages) = self.streams.advance(self.turn);
        self.turn = (self.turn + 1) % self.streams.count();
        Some(self.arrivals.request(page, pages, operation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::parameter::Value;

    #[test]
    fn streams_take_turns_and_start_over_in_their_own_part() {
        let mut values = Values::defaults(WORKLOAD.parameters);
        values.set("footprint_pages", Value::Integer(21));
        values.set("streams", Value::Integer(2));
        values.set("stream_pages", Value::Integer(4));
        let pages: Vec<(u64, u32)> = make(&values, 1)
            .unwrap()
            .take(8)
            .map(|request| (request.sector / 8, request.sectors / 8))
            .collect();
        assert_eq!(
            pages,
            [
                (0, 4),
                (10, 4),
                (4, 4),
                (14, 4),
                (8, 2),
                (18, 2),
                (0, 4),
                (10, 4)
            ]
        );
    }
}
