//! Statistics of a workload: `cargo run --release -p destage-trace --example workload_statistics NAME [SEED] [key=value ...]`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a tool for measuring by hand"
)]

use destage_base::parameter::Values;
use destage_trace::{Operation, Statistics, workloads};
use std::time::Instant;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap();
    let seed = arguments.next().map_or(1, |seed| seed.parse().unwrap());
    let workload = workloads::find(&name).unwrap();
    let mut values = Values::defaults(workload.parameters);
    for pair in arguments {
        let (key, value) = pair.split_once('=').unwrap();
        let parameter = workload
            .parameters
            .iter()
            .find(|row| row.name == key)
            .unwrap();
        values.set(parameter.name, parameter.read(value).unwrap());
    }
    let start = Instant::now();
    let count = (workload.make)(&values, seed).unwrap().count();
    let rate = count as f64 / start.elapsed().as_secs_f64();
    println!("{count} requests, {:.1} million a second", rate / 1e6);
    let mut statistics = Statistics::new(4096);
    let mut recency = Recency::default();
    for request in (workload.make)(&values, seed).unwrap() {
        statistics.add(&request);
        if request.operation == Operation::Write {
            for page in request.sector / 8..request.end().div_ceil(8) {
                recency.write(page);
            }
        }
    }
    for row in statistics.finish().rows() {
        println!("{:24} {:?}", row.name, row.value);
    }
    recency.print();
    for pages in [1024, 4096, 16384, 65536] {
        println!("LRU {pages} hits {:.4}", recency.hits(pages));
    }
}

/// Distances between writes of a page, in page writes.
#[derive(Default)]
struct Recency {
    last: std::collections::HashMap<u64, u64>,
    now: u64,
    distances: Vec<u64>,
    written: Vec<u64>,
}

impl Recency {
    fn write(&mut self, page: u64) {
        self.now += 1;
        self.written.push(page);
        if let Some(last) = self.last.insert(page, self.now) {
            self.distances.push(self.now - last - 1);
        }
    }

    fn hits(&self, capacity: usize) -> f64 {
        let mut times = std::collections::HashMap::new();
        let mut order = std::collections::BTreeMap::new();
        let mut hits = 0;
        for (time, page) in self.written.iter().enumerate() {
            if let Some(last) = times.insert(*page, time) {
                order.remove(&last);
                hits += 1;
            } else if times.len() > capacity {
                let (_, oldest) = order.pop_first().unwrap();
                times.remove(&oldest);
            }
            order.insert(time, *page);
        }
        hits as f64 / self.written.len() as f64
    }

    fn print(&mut self) {
        self.distances.sort_unstable();
        for share in [10, 25, 50, 75, 90, 95, 99] {
            if let Some(distance) = self.distances.get(self.distances.len() * share / 100) {
                println!("{share} % of distances are below {distance}");
            }
        }
    }
}
