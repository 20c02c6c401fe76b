//! Generates the requests of one copy of a job.

use std::sync::Arc;

use destage_base::time::TICKS_PER_MS;
use destage_base::{Random, Ticks};
use destage_trace::Operation;
use destage_trace::request::SECTOR_BYTES;

use super::job::{Job, Mix, Order, Rate};
use super::plan::JobCopy;
use super::values::Lengths;
use crate::shared::{Chance, whole_nanoseconds};
use crate::zipf_ranks::{Scatter, ZipfRanks};

/// A request without its arrival time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub operation: Operation,
    pub sector: u64,
    pub sectors: u32,
}

impl Step {
    /// A flush.
    pub const FLUSH: Self = Self {
        operation: Operation::Flush,
        sector: 0,
        sectors: 0,
    };
}

/// The lengths of reads, writes or trims, for each kind of request in `job`.
pub(super) fn lengths_of(job: &Job) -> impl Iterator<Item = &Lengths> {
    let kinds: &[usize] = match job.mix {
        Mix::Read => &[0],
        Mix::Write => &[1],
        Mix::Trim => &[2],
        Mix::Both(_) => &[0, 1],
    };
    kinds.iter().map(|kind| &job.lengths[*kind])
}

/// Counts of the work that one copy has done.
#[derive(Clone, Debug, Default)]
struct Done {
    /// The number of sectors in the current loop. `requests` is the number of requests in the current loop.
    sectors: u64,
    requests: u64,
    /// The number of sectors in all loops, for reads, writes and trims. `all_requests` also counts all loops. Flushes
    /// are not counted.
    all_sectors: [u64; 3],
    all_requests: [u64; 3],
    loops: u64,
    /// The kind of the last request.
    last: usize,
}

/// The state that determines the positions of requests.
#[derive(Clone, Debug)]
struct Places {
    /// The length of a block in sectors. Random requests begin at multiples of this length.
    block: u64,
    blocks: u64,
    /// The positions at which the next sequential read, write and trim begin, in sectors from the start of the
    /// region.
    next: [u64; 3],
    /// The random order of blocks. `taken` is the number of blocks visited so far in this order.
    shuffle: Scatter,
    taken: u64,
    /// The popularity ranks of blocks, and the mapping from ranks to blocks.
    popular: Option<(ZipfRanks, Scatter)>,
}

/// Generates the requests of one copy of a job.
#[derive(Clone, Debug)]
pub(super) struct Worker {
    copy: JobCopy,
    random: Random,
    places: Places,
    done: Done,
    /// The kind and the length in sectors of a request that is issued after a flush.
    held: Option<(usize, u32)>,
    flush_is_due: bool,
    /// The arrivals of the next read, write and trim in ms. They are used only if the gaps are exponentially
    /// distributed.
    arrival_ms: [f64; 3],
}

impl Worker {
    pub fn new(copy: JobCopy, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let shortest = lengths_of(&copy.job).map(Lengths::shortest).min();
        let block = u64::from(shortest.unwrap_or(1));
        let blocks = copy.sectors / block;
        let popular = match copy.job.order {
            Order::Zipf(exponent) => {
                let scatter = Scatter::keyed(blocks, random.next_u64());
                Some((ZipfRanks::new(blocks, exponent), scatter))
            }
            Order::Sequential | Order::Shuffled | Order::Uniform => None,
        };
        let shuffle = Scatter::keyed(blocks, random.next_u64());
        Self {
            copy,
            random,
            places: Places {
                block,
                blocks,
                next: [0; 3],
                shuffle,
                taken: 0,
                popular,
            },
            done: Done::default(),
            held: None,
            flush_is_due: false,
            arrival_ms: [0.0; 3],
        }
    }

    /// The number of outstanding requests of the copy.
    pub fn depth(&self) -> u32 {
        self.copy.job.pace.depth
    }

    /// Whether `step` must be durable before it is acknowledged.
    pub fn is_fua(&self, step: &Step) -> bool {
        self.copy.job.syncs.is_fua && step.operation == Operation::Write
    }

    /// The next request with its arrival. The arrival is 0 if the job has no rate. Returns `None` when all loops are
    /// done.
    pub fn next(&mut self) -> Option<(Ticks, Step)> {
        let job = Arc::clone(&self.copy.job);
        let writes = matches!(job.mix, Mix::Write | Mix::Both(_));
        while self.done.loops < job.amount.loops {
            let Some((kind, sectors)) = self.length(&job) else {
                self.done.loops += 1;
                (self.done.sectors, self.done.requests) = (0, 0);
                if job.syncs.at_end && writes {
                    self.flush_is_due = false;
                    let next = self.first_due(&job, self.done.last);
                    return Some((self.arrival(&job, next), Step::FLUSH));
                }
                continue;
            };
            if std::mem::take(&mut self.flush_is_due) {
                self.held = Some((kind, sectors));
                return Some((self.arrival(&job, kind), Step::FLUSH));
            }
            let arrival = self.arrival(&job, kind);
            self.count(&job, kind, sectors);
            let sector = self.copy.first + self.place(job.order, kind, u64::from(sectors));
            let step = Step {
                operation: [Operation::Read, Operation::Write, Operation::Trim][kind],
                sector,
                sectors,
            };
            return Some((arrival, step));
        }
        None
    }

    /// The kind and the length in sectors of the next request; `None` when the current loop is done.
    fn length(&mut self, job: &Job) -> Option<(usize, u32)> {
        if let Some(held) = self.held.take() {
            return Some(held);
        }
        let drawn = match job.mix {
            Mix::Read => 0,
            Mix::Write => 1,
            Mix::Trim => 2,
            Mix::Both(reads) => usize::from(!Chance::new(reads).draw(&mut self.random)),
        };
        let kind = self.first_due(job, drawn);
        let left = match self.copy.amount {
            None => u64::MAX,
            Some(_)
                if job
                    .amount
                    .requests
                    .is_some_and(|most| self.done.requests >= most) =>
            {
                0
            }
            Some(amount) => amount - self.done.sectors,
        };
        let lengths = &job.lengths[kind];
        let shortest = u64::from(lengths.shortest());
        if shortest > left {
            return None;
        }
        let room = match job.order {
            Order::Sequential => {
                let next = &mut self.places.next[kind];
                if *next + shortest > self.copy.sectors {
                    *next = 0;
                }
                self.copy.sectors - *next
            }
            Order::Shuffled | Order::Uniform | Order::Zipf(_) => self.copy.sectors,
        };
        loop {
            let sectors = lengths.draw(&mut self.random);
            if u64::from(sectors) <= left.min(room) {
                return Some((kind, sectors));
            }
        }
    }

    /// The kind of the next request, if the mix of the job has given `drawn`. As in fio, reads and writes each have the
    /// rate of the job, and the kind that is due first is next. The mix decides only if both are due at the same time.
    fn first_due(&self, job: &Job, drawn: usize) -> usize {
        match job.mix {
            Mix::Both(reads) if reads > 0.0 && reads < 100.0 => {
                let other = 1 - drawn;
                match self.arrival(job, other) < self.arrival(job, drawn) {
                    true => other,
                    false => drawn,
                }
            }
            Mix::Read | Mix::Write | Mix::Trim | Mix::Both(_) => drawn,
        }
    }

    fn count(&mut self, job: &Job, kind: usize, sectors: u32) {
        let done = &mut self.done;
        done.sectors += u64::from(sectors);
        done.requests += 1;
        done.all_sectors[kind] += u64::from(sectors);
        done.all_requests[kind] += 1;
        done.last = kind;
        if job.pace.is_poisson {
            let mean_ms = match job.pace.rate {
                Rate::Unbounded => 0.0,
                Rate::RequestsPerSecond(rate) => 1e3 / rate as f64,
                Rate::BytesPerSecond(rate) => {
                    (u64::from(sectors) * SECTOR_BYTES) as f64 * 1e3 / rate as f64
                }
            };
            self.arrival_ms[kind] -= mean_ms * libm::log(1.0 - self.random.unit());
        }
        // In fio 3.33, a read does not change whether a flush is due: until the next write, each read after such a write
        // is also followed by a flush.
        let (writes, every) = (done.all_requests[1], job.syncs.every);
        self.flush_is_due = every > 0 && writes > 0 && writes.is_multiple_of(every);
    }

    /// The first sector of a request of `sectors` sectors, relative to the start of the region.
    fn place(&mut self, order: Order, kind: usize, sectors: u64) -> u64 {
        let (places, random) = (&mut self.places, &mut self.random);
        let block = places.block;
        let last = (self.copy.sectors - sectors) / block;
        match order {
            Order::Sequential => {
                let first = places.next[kind];
                places.next[kind] += sectors;
                first
            }
            // Requests of equal length cover the region without overlap. Requests of several lengths would overlap,
            // so the first block of each request is drawn at random.
            Order::Shuffled if is_of_one_length(&self.copy.job) => {
                if places.taken == places.blocks {
                    places.taken = 0;
                    places.shuffle = Scatter::keyed(places.blocks, random.next_u64());
                }
                places.taken += 1;
                places.shuffle.place(places.taken - 1) * block
            }
            Order::Shuffled | Order::Uniform => random.below(last + 1) * block,
            Order::Zipf(_) => match &places.popular {
                Some((ranks, scatter)) => scatter.place(ranks.draw(random) - 1).min(last) * block,
                None => 0,
            },
        }
    }

    /// The arrival of the next request of `kind` in ticks; 0 if the job has no rate.
    fn arrival(&self, job: &Job, kind: usize) -> Ticks {
        const TICKS_PER_S: u128 = TICKS_PER_MS as u128 * 1000;
        let done = &self.done;
        let at = |units: u64, per_second: u64| {
            let ticks = u128::from(units) * TICKS_PER_S / u128::from(per_second);
            u64::try_from(ticks).unwrap_or(u64::MAX)
        };
        let bytes = done.all_sectors[kind] * SECTOR_BYTES;
        let even = match job.pace.rate {
            Rate::Unbounded => return 0,
            Rate::RequestsPerSecond(rate) => at(done.all_requests[kind], rate),
            Rate::BytesPerSecond(rate) => at(bytes, rate),
        };
        match job.pace.is_poisson {
            true => whole_nanoseconds(self.arrival_ms[kind]),
            false => even,
        }
    }
}

/// Whether all requests of `job` have the same length.
fn is_of_one_length(job: &Job) -> bool {
    let mut lengths = lengths_of(job).map(Lengths::only);
    let first = lengths.next().flatten();
    first.is_some() && lengths.all(|length| length == first)
}
