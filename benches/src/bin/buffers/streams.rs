//! The streams of page writes for the measurements: synthetic streams, and the writes of real traces.

use std::path::PathBuf;

use destage_base::{Lpn, Random};
use destage_trace::{ReadOptions, Slice, read_all};

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;
/// The number of pages of the device that the synthetic streams write to. This is 16 times the measured buffer.
pub const DEVICE_PAGES: u64 = 1 << 20;

/// The names and files of the real traces. The streams contain all writes of a trace.
const TRACES: [(&str, &str); 5] = [
    ("iozone", "iozone-100k.disksim.zst"),
    ("postmark", "postmark-62k.disksim.zst"),
    ("cloudphys", "cloudphysics-2h.csv.zst"),
    ("pc-sys1", "pc-sys1.diskmon.zst"),
    ("hplajw", "hplajw-1week.disksim.zst"),
];

/// A request that writes consecutive pages.
#[derive(Clone, Copy)]
pub struct Request {
    pub first: u64,
    pub pages: u32,
}

/// A stream of write requests, in the order in which they are written.
pub struct Stream {
    pub name: &'static str,
    pub requests: Vec<Request>,
}

impl Stream {
    fn of_single_pages(name: &'static str, pages: impl Iterator<Item = u64>) -> Self {
        let requests = pages.map(|first| Request { first, pages: 1 }).collect();
        Self { name, requests }
    }

    /// The number of page writes of all requests.
    pub fn len(&self) -> u64 {
        self.requests
            .iter()
            .map(|request| u64::from(request.pages))
            .sum()
    }

    /// The pages of all requests, one by one.
    pub fn pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        let pages = |request: &Request| request.first..request.first + u64::from(request.pages);
        self.requests.iter().flat_map(pages).map(Lpn)
    }

    /// Repeats the whole list of requests until there are at least `writes` page writes.
    pub fn repeated(mut self, writes: u64) -> Self {
        let rounds = writes.div_ceil(self.len().max(1)).max(1);
        self.requests = self.requests.repeat(rounds as usize);
        self
    }
}

/// The popularity of a page is proportional to the inverse of its rank. For this, the logarithm of the rank of each
/// write is uniform. Pages with neighbouring ranks are scattered over the device.
pub fn zipf(writes: u64) -> Stream {
    let mut random = Random::new(2);
    let log = (DEVICE_PAGES as f64).ln();
    let rank = |random: &mut Random| ((random.unit() * log).exp() as u64).min(DEVICE_PAGES - 1);
    let page = |rank: u64| rank.wrapping_mul(0x9E37_79B1) % DEVICE_PAGES;
    Stream::of_single_pages("zipf", (0..writes).map(|_| page(rank(&mut random))))
}

/// Each write concerns one of `device_pages` pages, chosen uniformly at random.
pub fn uniform(writes: u64, device_pages: u64) -> Stream {
    let mut random = Random::new(1);
    let pages = (0..writes).map(|_| random.below(device_pages));
    Stream::of_single_pages("uniform", pages)
}

/// Writes in the order of page numbers. After the last page of the device, the first page follows again.
pub fn sequential(writes: u64) -> Stream {
    let pages = (0..writes).map(|index| index % DEVICE_PAGES);
    Stream::of_single_pages("sequential", pages)
}

/// Each page is the only written page of its block. The pages are spread evenly over dies and sets.
pub fn lone(writes: u64) -> Stream {
    Stream::of_single_pages("lone", (0..writes).map(|index| index * 65))
}

/// The folder of the real traces, or the reason why there is none.
fn trace_folder() -> Result<PathBuf, String> {
    let shared = std::env::var_os("DESTAGE_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let folder = shared.join("traces");
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(format!(
        "no traces at {}; set DESTAGE_SHARED to the folder that holds traces/",
        folder.display()
    ))
}

/// The writes of the real traces, with every page that a write request concerns completely or partly. For each trace
/// that cannot be read, calls `skip` with the name and the reason.
pub fn traces(mut skip: impl FnMut(&str, String)) -> Vec<Stream> {
    let folder = trace_folder();
    let mut streams = Vec::new();
    for (name, file) in TRACES {
        let options = ReadOptions {
            slice: Slice {
                writes_only: true,
                ..Slice::default()
            },
            digest: false,
            ..ReadOptions::default()
        };
        let trace = match &folder {
            Ok(folder) => read_all(&folder.join(file), &options).map_err(|error| error.to_string()),
            Err(reason) => Err(reason.clone()),
        };
        match trace {
            Ok(trace) => streams.push(Stream {
                name,
                requests: trace.requests.iter().map(cover).collect(),
            }),
            Err(reason) => skip(name, reason),
        }
    }
    streams
}

fn cover(request: &destage_trace::Request) -> Request {
    let sectors = PAGE_BYTES / destage_trace::request::SECTOR_BYTES;
    let first = request.sector / sectors;
    Request {
        first,
        pages: (request.end().div_ceil(sectors) - first) as u32,
    }
}
