//! Stand-ins for traces of servers. They mix rewrites of recently written addresses with requests to new addresses.
//!
//! One generator serves all these traces; each trace has its own set of parameters. With a given probability, a write
//! repeats one of the last few writes. A Zipf law determines how many writes ago that write was. These two parameters
//! determine the share of different pages, and how soon a page is rewritten. The other writes either continue at the
//! end of the previous such write, or begin at a random address. Reads are chosen in the same way, but later requests
//! cannot repeat them.
//!
//! Financial1 begins with a table of streams that imitates the first 10000 requests of the public trace. All later
//! requests follow the rules above.
//!
//! For each request, the random draws are in this order: the gap, the operation, whether it repeats an earlier write,
//! and how many writes ago that write was. If the request does not repeat a write, or if there were fewer writes, the
//! draws continue with whether it continues the last new request, the size, and the start. A draw with only one
//! possible outcome uses no random number.

use super::financial1::FINANCIAL1_HEAD;
use super::streams::{Step, Stream, Streams, no_room};
use crate::WorkloadError;
use crate::shared::{
    Arrivals, Chance, FOOTPRINT_PAGES, MEAN_INTERARRIVAL_MS, PAGE_BYTES, REQUESTS, WRITE_PERCENT,
    contradiction, page_sectors, pick, write_or_read,
};
use crate::zipf_ranks::ZipfRanks;
use crate::{Requests, Workload};
use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::{Random, parameters};
use destage_trace::Request;

/// The largest size of a request, in sectors. Larger sizes are reduced to it.
const MOST_SECTORS: u64 = 1 << 14;

/// The number of sectors that the head accesses. The head is the table of streams at the beginning.
/// `HEAD_WRITE_PERCENT` is its share of writes. With `mean_interarrival_ms` = `HEAD_GAPS_MS`, its gaps are those of
/// the trace.
const HEAD_SECTORS: u64 = 1_010_000;
const HEAD_WRITE_PERCENT: f64 = 59.2;
const HEAD_GAPS_MS: f64 = 8.0;

const MEAN_REQUEST_SECTORS: Parameter = Parameter {
    name: "mean_request_sectors",
    kind: Kind::Number { min: 1.0, max: 1e4 },
    default: "8",
    unit: "sectors",
    about: "Mean size of a request; sizes are geometrically distributed, from step_sectors on and in steps of them.",
    source: "",
    ..Parameter::BLANK
};
const ALIGN_SECTORS: Parameter = Parameter {
    name: "align_sectors",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 12,
    },
    default: "1",
    unit: "sectors",
    about: "Requests start at multiples of this.",
    source: "",
    ..Parameter::BLANK
};
const STEP_SECTORS: Parameter = Parameter {
    name: "step_sectors",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 12,
    },
    default: "1",
    unit: "sectors",
    about: "Requests have this length, or a multiple of it.",
    source: "",
    ..Parameter::BLANK
};
const REWRITE_PERCENT: Parameter = Parameter {
    name: "rewrite_percent",
    kind: Kind::Number {
        min: 0.0,
        max: 100.0,
    },
    default: "90",
    unit: "%",
    about: "Share of requests that write where an earlier write went.",
    source: "",
    ..Parameter::BLANK
};
const RECENT_REQUESTS: Parameter = Parameter {
    name: "recent_requests",
    kind: Kind::Integer {
        min: 1,
        max: 1 << 28,
    },
    default: "65536",
    unit: "requests",
    about: "Most writes back to that earlier write.",
    source: "",
    ..Parameter::BLANK
};
const RECENCY_SKEW: Parameter = Parameter {
    name: "recency_skew",
    kind: Kind::Number {
        min: 0.0,
        max: 10.0,
    },
    default: "1",
    unit: "",
    about: "Exponent of the Zipf law by which the number of writes back is drawn.",
    source: "",
    ..Parameter::BLANK
};
const SEQUENTIAL_PERCENT: Parameter = Parameter {
    name: "sequential_percent",
    kind: Kind::Number {
        min: 0.0,
        max: 100.0,
    },
    default: "20",
    unit: "%",
    about: "Share of the other requests that begin where the last of them ended.",
    source: "",
    ..Parameter::BLANK
};

parameters! {
    /// The parameters of every workload of this machine.
    struct Parameters {
        page_bytes: u64 as PAGE_BYTES;
        requests: u64 as REQUESTS;
        footprint_pages: u64 as FOOTPRINT_PAGES;
        write_percent: f64 as WRITE_PERCENT;
        mean_interarrival_ms: f64 as MEAN_INTERARRIVAL_MS;
        mean_request_sectors: f64 as MEAN_REQUEST_SECTORS;
        align_sectors: u64 as ALIGN_SECTORS;
        step_sectors: u64 as STEP_SECTORS;
        rewrite_percent: f64 as REWRITE_PERCENT;
        recent_requests: u64 as RECENT_REQUESTS;
        recency_skew: f64 as RECENCY_SKEW;
        sequential_percent: f64 as SEQUENTIAL_PERCENT;
    }
}

/// Declares a workload by its name, its head and the values of its parameters.
macro_rules! row {
    ($row:ident, $name:literal, $head:expr, $about:literal, $($parameter:ident = $default:literal, $source:literal;)*) => {
        pub(crate) const $row: Workload = Workload {
            name: $name,
            about: $about,
            parameters: &[PAGE_BYTES, $(Parameter { default: $default, source: $source, ..$parameter }),*],
            make: |values, seed| make($name, $head, values, seed),
        };
    };
}

row! {
    FINANCIAL1, "standin-financial1", &FINANCIAL1_HEAD,
    "Stand-in for the SPC trace Financial1: small unaligned writes that are soon rewritten, and some reads.",
    REQUESTS = "1300000", "about a million writes, as BPAC (MSST 2010) takes";
    FOOTPRINT_PAGES = "4194304", "";
    WRITE_PERCENT = "77", "UMass Trace Repository";
    MEAN_INTERARRIVAL_MS = "8", "";
    MEAN_REQUEST_SECTORS = "8.44", "from BPAC (MSST 2010), Table II: 1.930 pages a write";
    ALIGN_SECTORS = "1", "";
    STEP_SECTORS = "1", "";
    REWRITE_PERCENT = "98.55", "from BPAC (MSST 2010), Table II: 113561 different pages of 1930249";
    RECENT_REQUESTS = "1048576", "as many as there are";
    RECENCY_SKEW = "1.05", "from the trace's first 10000 requests: 3734 different pages of 12406, 71 % of rewrites within 200 page writes";
    SEQUENTIAL_PERCENT = "20", "";
}
row! {
    FINANCIAL2, "standin-financial2", &[],
    "Stand-in for the SPC trace Financial2: mostly reads, and small unaligned writes that are rewritten.",
    REQUESTS = "3700000", "about 650000 writes, as BPAC (MSST 2010) takes";
    FOOTPRINT_PAGES = "4194304", "";
    WRITE_PERCENT = "17.6", "UMass Trace Repository";
    MEAN_INTERARRIVAL_MS = "11", "";
    MEAN_REQUEST_SECTORS = "5.68", "from BPAC (MSST 2010), Table II: 1.585 pages a write";
    ALIGN_SECTORS = "1", "";
    STEP_SECTORS = "1", "";
    REWRITE_PERCENT = "96.3", "from BPAC (MSST 2010), Table II: 98239 different pages of 1029983";
    RECENT_REQUESTS = "1048576", "as many as there are";
    RECENCY_SKEW = "1.05", "as Financial1";
    SEQUENTIAL_PERCENT = "20", "";
}
row! {
    CELLO_D3, "standin-cello-d3", &[],
    "Stand-in for disk 3 of HP's Cello99: sequential runs, and metadata that is rewritten.",
    REQUESTS = "720000", "BPAC (MSST 2010), Table II";
    FOOTPRINT_PAGES = "2097152", "";
    WRITE_PERCENT = "100", "BPAC (MSST 2010), Table II counts writes only";
    MEAN_INTERARRIVAL_MS = "10", "";
    MEAN_REQUEST_SECTORS = "9.85", "from BPAC (MSST 2010), Table II: 2.106 pages a write";
    ALIGN_SECTORS = "1", "";
    STEP_SECTORS = "1", "";
    REWRITE_PERCENT = "70.5", "from BPAC (MSST 2010), Table II: 267894 different pages of 1516588";
    RECENT_REQUESTS = "65536", "";
    RECENCY_SKEW = "1", "";
    SEQUENTIAL_PERCENT = "90", "";
}
row! {
    CELLO_D8, "standin-cello-d8", &[],
    "Stand-in for disk 8 of HP's Cello99: sequential runs, and metadata that is rewritten more often than on disk 3.",
    REQUESTS = "1000000", "BPAC (MSST 2010), Table II";
    FOOTPRINT_PAGES = "2097152", "";
    WRITE_PERCENT = "100", "BPAC (MSST 2010), Table II counts writes only";
    MEAN_INTERARRIVAL_MS = "10", "";
    MEAN_REQUEST_SECTORS = "11.52", "from BPAC (MSST 2010), Table II: 2.315 pages a write";
    ALIGN_SECTORS = "1", "";
    STEP_SECTORS = "1", "";
    REWRITE_PERCENT = "83.1", "from BPAC (MSST 2010), Table II: 249387 different pages of 2315396";
    RECENT_REQUESTS = "65536", "";
    RECENCY_SKEW = "1", "";
    SEQUENTIAL_PERCENT = "90", "";
}
row! {
    TPCC, "standin-tpcc", &[],
    "Stand-in for the TPC-C trace of the EPO paper: random writes of database pages over a large space, hardly any of which are rewritten.",
    REQUESTS = "2000000", "EPO (2011), section IV: 2 million writes";
    FOOTPRINT_PAGES = "56814798", "span of a public TPC-C trace (MQSim, traces/tpcc-small)";
    WRITE_PERCENT = "100", "EPO (2011), section IV: writes only";
    MEAN_INTERARRIVAL_MS = "0.0522", "the same trace: 2618 writes in 136.5 ms";
    MEAN_REQUEST_SECTORS = "17", "the same trace: 8.7 KB, which take 12 KB of pages; EPO (2011), section IV.A, has a mean write above 10 KB";
    ALIGN_SECTORS = "1", "the same trace: one write in eight begins on a page";
    STEP_SECTORS = "16", "database pages of 8 KiB";
    REWRITE_PERCENT = "1.5", "the same trace: 7879 different pages of 7995";
    RECENT_REQUESTS = "1024", "";
    RECENCY_SKEW = "0.5", "";
    SEQUENTIAL_PERCENT = "0", "";
}
row! {
    SOURCE_CONTROL, "standin-source-control", &[],
    "Stand-in for the source control server of the on-board-cache paper: large writes, few of which are rewritten.",
    REQUESTS = "1160000", "MSR Cambridge src2_2";
    FOOTPRINT_PAGES = "16777216", "";
    WRITE_PERCENT = "70", "MSR Cambridge src2_2";
    MEAN_INTERARRIVAL_MS = "500", "a week";
    MEAN_REQUEST_SECTORS = "112", "on-board cache paper, section II.A";
    ALIGN_SECTORS = "8", "";
    STEP_SECTORS = "8", "";
    REWRITE_PERCENT = "10", "on-board cache paper, section II.C: a 256 MB buffer saves 10 % of the writes";
    RECENT_REQUESTS = "2048", "";
    RECENCY_SKEW = "0.5", "";
    SEQUENTIAL_PERCENT = "60", "";
}

struct Recency {
    random: Random,
    head: Head,
    arrivals: Arrivals,
    writes: Chance,
    comes_back: Chance,
    goes_on: Chance,
    lags: ZipfRanks,
    recent: Recent,
    sizes: Steps,
    align: u64,
    /// The number of possible starts from which the largest request fits.
    starts: u64,
    /// The end of the last request that did not repeat an earlier write, as a sector.
    end: u64,
}

/// The table of streams at the beginning.
struct Head {
    /// The streams. `None` if the workload has none, or after their end.
    streams: Option<Streams>,
    /// The probability with which a read is generated and not dropped, and this probability for a write.
    kept_percent: [Chance; 2],
    /// The factor for the gaps. `gap_ms` is the gap after the last request.
    pace: f64,
    gap_ms: f64,
}

impl Head {
    /// The next request that is not dropped; `None` after the end of the streams.
    fn next(&mut self, random: &mut Random) -> Option<Step> {
        let streams = self.streams.as_mut()?;
        loop {
            let Some(step) = streams.next(random) else {
                self.streams = None;
                return None;
            };
            if self.kept_percent[usize::from(step.write)].draw(random) {
                return Some(step);
            }
        }
    }
}

/// The last writes.
struct Recent {
    /// The writes in a ring, each as its first sector and its number of sectors.
    writes: Vec<(u64, u64)>,
    capacity: usize,
    /// The index of the oldest write. It is 0 until the ring is full.
    oldest: usize,
}

impl Recent {
    /// The write that was `lag` writes ago; the last write has the lag 1. `None` if fewer than `lag` writes are
    /// stored.
    fn before(&self, lag: u64) -> Option<(u64, u64)> {
        let count = self.writes.len();
        let lag = lag as usize;
        (lag <= count).then(|| self.writes[(self.oldest + count - lag) % count])
    }

    fn add(&mut self, place: (u64, u64)) {
        if self.writes.len() < self.capacity {
            self.writes.push(place);
        } else {
            self.writes[self.oldest] = place;
            self.oldest = (self.oldest + 1) % self.capacity;
        }
    }
}

/// Sizes that are multiples of a step. The multiples are geometrically distributed.
#[derive(Clone, Copy, Debug)]
struct Steps {
    step: u64,
    /// The mean of an exponential distribution. Its values, rounded down, have the geometric distribution.
    mean: f64,
    most: u64,
}

impl Steps {
    fn draw(&self, random: &mut Random) -> u64 {
        if self.mean == 0.0 {
            return self.step;
        }
        let more = (-self.mean * libm::log(1.0 - random.unit())) as u64;
        (1 + more).min(self.most) * self.step
    }
}

fn make(
    name: &'static str,
    head: &[Stream],
    values: &Values,
    seed: u64,
) -> Result<Requests, WorkloadError> {
    let own = Parameters::from_values(values);
    let page_sectors = page_sectors(name, own.page_bytes)?;
    let (footprint_pages, align, step) = (own.footprint_pages, own.align_sectors, own.step_sectors);
    let footprint = footprint_pages.saturating_mul(page_sectors);
    let most = (MOST_SECTORS / step).max(1).min(footprint / step);
    if most == 0 {
        let expected = format!("room for a request of {step} sectors");
        return Err(contradiction(
            name,
            FOOTPRINT_PAGES.name,
            footprint_pages,
            expected,
        ));
    }
    let more = (own.mean_request_sectors / step as f64 - 1.0).max(0.0);
    let mean = if more > 0.0 {
        1.0 / libm::log1p(1.0 / more)
    } else {
        0.0
    };
    let recent_requests = own.recent_requests;
    let mut random = Random::new(seed);
    let area = footprint.min(HEAD_SECTORS);
    let streams = match head {
        [] => None,
        head => Some(
            Streams::new(head, area, seed, &mut random)
                .map_err(|needed| no_room(name, footprint_pages, needed, page_sectors))?,
        ),
    };
    // If `write_percent` differs from the share of writes in the head, some reads or writes of the head are dropped
    // at random. The rest of the head then has the wanted share of writes.
    let (asked, has) = (own.write_percent, HEAD_WRITE_PERCENT);
    let odds = if asked == has {
        1.0
    } else {
        asked * (100.0 - has) / ((100.0 - asked) * has)
    };
    Ok(Box::new(Recency {
        random,
        head: Head {
            streams,
            kept_percent: [100.0 / odds, 100.0 * odds].map(Chance::new),
            pace: own.mean_interarrival_ms / HEAD_GAPS_MS,
            gap_ms: 0.0,
        },
        // In this workload, the sizes of requests are in sectors.
        arrivals: Arrivals::by_sectors(name, own.requests, own.mean_interarrival_ms, 1)?,
        writes: Chance::new(own.write_percent),
        comes_back: Chance::new(own.rewrite_percent),
        goes_on: Chance::new(own.sequential_percent),
        lags: ZipfRanks::new(recent_requests, own.recency_skew),
        recent: Recent {
            writes: Vec::new(),
            capacity: recent_requests as usize,
            oldest: 0,
        },
        sizes: Steps { step, mean, most },
        align,
        starts: (footprint - most * step) / align + 1,
        end: u64::MAX,
    }))
}

impl Recency {
    /// A request that does not repeat an earlier write, as its first sector and its number of sectors.
    fn fresh(&mut self) -> (u64, u64) {
        let goes_on = self.goes_on.draw(&mut self.random);
        let sectors = self.sizes.draw(&mut self.random);
        let last = (self.starts - 1) * self.align;
        let start = if goes_on && self.end <= last {
            self.end
        } else {
            pick(&mut self.random, self.starts) * self.align
        };
        self.end = start + sectors;
        (start, sectors)
    }
}

impl Iterator for Recency {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if let Some(step) = self.head.next(&mut self.random) {
            self.arrivals.count()?;
            self.arrivals.wait(self.head.gap_ms * self.head.pace);
            self.head.gap_ms = step.gap_ms;
            if step.write {
                self.recent.add((step.sector, step.sectors));
            }
            let operation = write_or_read(step.write);
            return Some(self.arrivals.request(step.sector, step.sectors, operation));
        }
        self.arrivals.next(&mut self.random)?;
        let write = self.writes.draw(&mut self.random);
        let earlier = if self.comes_back.draw(&mut self.random) {
            let lag = self.lags.draw(&mut self.random);
            self.recent.before(lag)
        } else {
            None
        };
        let place = earlier.unwrap_or_else(|| self.fresh());
        if write {
            self.recent.add(place);
        }
        Some(
            self.arrivals
                .request(place.0, place.1, write_or_read(write)),
        )
    }
}
