//! The requests of the hosts in the tests, in sectors, and the contents of the sectors.
#![allow(dead_code, reason = "every test program uses another part")]

use destage_base::{Lpn, Random};
use destage_device::{Request, RequestKind, Span};
use destage_tests::outside;
use destage_trace::{ReadOptions, read_all};

pub const SECTORS: u64 = 4;

/// One host request, in sectors; it may wrap from the end of the device to its start.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub kind: RequestKind,
    pub first: u64,
    pub sectors: u64,
    pub fua: bool,
}

impl Asked {
    pub fn request(&self) -> Request {
        let head = self.first % SECTORS;
        let pages = (head + self.sectors).div_ceil(SECTORS);
        Request {
            kind: self.kind,
            span: Span {
                first: self.first / SECTORS,
                pages: pages as u32,
                head: head as u32,
                tail: (pages * SECTORS - head - self.sectors) as u32,
            },
            fua: self.fua,
        }
    }

    /// For each sector of `page`, whether the request covers it.
    pub fn covers(&self, page: u64, pages: u64) -> [bool; SECTORS as usize] {
        let all = pages * SECTORS;
        std::array::from_fn(|sector| {
            (page * SECTORS + sector as u64 + all - self.first) % all < self.sectors
        })
    }

    pub fn is_flush(&self) -> bool {
        self.kind == RequestKind::Flush
    }
}

/// The contents of the sectors of a page. The word of a sector has its version and address; 0 means a sector of
/// zeros.
pub type Words = [u64; SECTORS as usize];

pub fn word(page: u64, sector: usize, version: u64) -> u64 {
    (version << 16) | (page * SECTORS + sector as u64)
}

pub fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Random requests, most of them to a third of the device.
pub fn random_requests(pages: u64, count: usize, seed: u64) -> Vec<Asked> {
    let mut random = Random::new(seed);
    let total = pages * SECTORS;
    let one = |_| {
        let range = [total, total.div_ceil(3), total.div_ceil(3)][random.below(3) as usize];
        let first = random.below(range);
        let whole = 1 + random.below(3) * random.below(4) / 2;
        let (first, sectors) = match random.below(3) {
            0 => (first, 1 + random.below(2 * SECTORS)),
            _ => (first / SECTORS * SECTORS, whole * SECTORS),
        };
        let kind = match random.below(100) {
            0..20 => RequestKind::Read,
            20..25 => RequestKind::Trim,
            25..30 => RequestKind::WriteZeroes,
            30..32 => RequestKind::Flush,
            _ => RequestKind::Write,
        };
        Asked {
            kind,
            first,
            sectors,
            fua: random.below(40) == 0,
        }
    };
    (0..count).map(one).collect()
}

/// Requests of a recorded trace. Their addresses are mapped to the small device by a modulo operation.
pub fn real_requests(pages: u64, count: usize) -> Vec<Asked> {
    let path = outside("traces/financial1-head10k.ssdsim.zst");
    let trace = read_all(&path, &ReadOptions::default()).expect("a trace");
    let requests = trace.requests.iter().cycle().take(count);
    let asked = requests.map(|request| Asked {
        kind: match request.operation {
            destage_trace::Operation::Read => RequestKind::Read,
            _ => RequestKind::Write,
        },
        first: request.sector % (pages * SECTORS),
        sectors: u64::from(request.sectors).clamp(1, 6 * SECTORS),
        fua: false,
    });
    asked.collect()
}

/// The pages that `requests` write to the buffer, for a scheme that needs the future page writes.
pub fn future_of(requests: &[Asked], pages: u64, strict_trim: bool) -> Vec<Lpn> {
    let mut future = Vec::new();
    for asked in requests {
        if let Some(write) = asked.request().as_write(strict_trim) {
            let span = write.span;
            future.extend((0..span.pages).map(|offset| span.page(offset, pages)));
        }
    }
    future
}
