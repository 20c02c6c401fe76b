//! One pass over the requests computes the results of page-level LRU buffers of all sizes. These results must equal
//! the results of a separate run at each size.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_base::Random;
use destage_sim::curve::{Curve, OnePass};
use destage_sim::metrics::Metrics;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::{Config, Settings};
use destage_sim::source::Source;
use destage_trace::{Operation, Request};

const PAGE_BYTES: u64 = 4096;

/// A mix of requests. `reads`, `flushes` and `trims` are numbers per thousand requests. All other requests are
/// writes, and `forced` of a thousand writes have FUA. `footprint` is in pages.
#[derive(Clone, Copy)]
struct Mix {
    reads: u64,
    flushes: u64,
    trims: u64,
    forced: u64,
    footprint: u64,
}

const MIXES: [Mix; 5] = [
    Mix {
        reads: 200,
        flushes: 0,
        trims: 0,
        forced: 0,
        footprint: 150,
    },
    Mix {
        reads: 200,
        flushes: 3,
        trims: 0,
        forced: 0,
        footprint: 150,
    },
    Mix {
        reads: 100,
        flushes: 0,
        trims: 80,
        forced: 0,
        footprint: 120,
    },
    Mix {
        reads: 100,
        flushes: 0,
        trims: 0,
        forced: 60,
        footprint: 200,
    },
    Mix {
        reads: 100,
        flushes: 4,
        trims: 50,
        forced: 50,
        footprint: 300,
    },
];

fn requests(mix: Mix, count: usize, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let one = |index: usize| {
        let chance = random.below(1000);
        let bounds = [mix.reads, mix.flushes, mix.trims]
            .into_iter()
            .scan(0, |sum, share| {
                *sum += share;
                Some(*sum)
            });
        let operation = match bounds.filter(|bound| *bound <= chance).count() {
            0 => Operation::Read,
            1 => Operation::Flush,
            2 => Operation::Trim,
            _ => Operation::Write,
        };
        let is_flush = operation == Operation::Flush;
        // A few pages are requested much more often than the others. Some requests cross page boundaries.
        let spread = random.below(mix.footprint) + 1;
        let page = random.below(spread);
        Request {
            arrival: index as u64 * 1000,
            sector: if is_flush {
                0
            } else {
                page * 8 + random.below(3) * 4
            },
            sectors: if is_flush {
                0
            } else {
                1 + random.below(40) as u32
            },
            volume: 0,
            line: 1,
            operation,
            fua: operation == Operation::Write && random.below(1000) < mix.forced,
            stream: 0,
        }
    };
    (0..count).map(one).collect()
}

fn config(pages: u32, more: &[&str]) -> Config {
    let mut settings = Settings::new();
    let size = format!("buffer.capacity_bytes={}", u64::from(pages) * PAGE_BYTES);
    for pair in [
        "buffer.kind=lru",
        "ftl.kind=none",
        "flash.blocks_per_plane=64",
        &*size,
    ]
    .iter()
    .chain(more)
    {
        settings.set_pair(pair).unwrap();
    }
    settings.resolve().unwrap()
}

fn one_pass(requests: &[Request], more: &[&str]) -> Curve {
    let mut pass = OnePass::new(&config(1, more), "test").unwrap();
    for part in requests.chunks(777) {
        pass.feed(part).unwrap();
    }
    pass.finish()
}

fn direct(requests: &[Request], pages: u32, more: &[&str]) -> Metrics {
    let source = Source::memory("test", requests);
    let (result, _) = run(
        &config(pages, more),
        source,
        &Prepass::default(),
        &mut Silent,
    )
    .unwrap();
    let known = result.metrics.iter();
    known
        .filter(|(name, _)| *name != "buffer.oldest_dirty_ms_max")
        .map(|(name, number)| (name.to_owned(), number))
        .collect()
}

/// Compares the curve with a run at every size. The sizes end three pages above the size from which on all results
/// are equal.
fn held(requests: &[Request], more: &[&str], what: &str) {
    let curve = one_pass(requests, more);
    assert!(curve.largest() > 3, "{what}: {}", curve.largest());
    let mut changes = curve.changes().peekable();
    let mut before = None;
    for pages in 1..=curve.largest() + 3 {
        let run = direct(requests, pages, more);
        assert_eq!(curve.at(pages), run, "{what}, {pages} pages");
        let changed = changes.next_if_eq(&pages).is_some();
        assert_eq!(
            changed,
            before.as_ref() != Some(&run),
            "{what}, {pages} pages"
        );
        before = Some(run);
    }
}

#[test]
fn where_nothing_is_written_one_size_stands_for_all() {
    let mut requests = requests(MIXES[0], 100, 1);
    for request in &mut requests {
        request.operation = Operation::Read;
    }
    let curve = one_pass(&requests, &[]);
    assert_eq!(curve.changes().collect::<Vec<_>>(), [1]);
    assert_eq!(curve.at(1), direct(&requests, 1, &[]));
}

#[test]
fn every_size_equals_its_run() {
    for (index, mix) in MIXES.into_iter().enumerate() {
        for seed in 1..=3 {
            let requests = requests(mix, 3000, seed);
            held(&requests, &[], &format!("mix {index}, seed {seed}"));
        }
    }
}

#[test]
fn every_setting_that_one_pass_takes_on_does() {
    for more in [
        "buffer.bypass_pages=4",
        "buffer.flush_mode=ignore",
        "sim.drain=true",
        "device.vwc=off",
        "device.trim=strict",
        "trace.align=nearest",
    ] {
        let requests = requests(MIXES[4], 3000, 7);
        held(&requests, &[more], more);
    }
}

#[test]
fn what_one_pass_cannot_do_is_left_to_runs() {
    for more in [
        "buffer.kind=fifo",
        "buffer.lru_unit=request",
        "ftl.kind=page",
        "sim.warmup_requests=5",
        "sim.dirty_ages=true",
        "trace.addr_map=shrink",
    ] {
        assert!(
            OnePass::new(&config(1, &[more]), "test").is_none(),
            "{more}"
        );
    }
}

/// The stream is so long that the pass renumbers the positions in its LRU order many times.
#[test]
fn long_streams_equal_their_runs_at_some_sizes() {
    let mix = Mix {
        footprint: 9000,
        ..MIXES[4]
    };
    let mix = Mix { flushes: 0, ..mix };
    let requests = requests(mix, 100_000, 11);
    let curve = one_pass(&requests, &[]);
    let largest = curve.largest();
    for pages in [
        1,
        2,
        63,
        500,
        2500,
        largest / 2,
        largest - 1,
        largest,
        largest + 1,
    ] {
        assert_eq!(
            curve.at(pages),
            direct(&requests, pages, &[]),
            "{pages} pages"
        );
    }
}
