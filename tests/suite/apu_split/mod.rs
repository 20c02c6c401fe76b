//! Explains the published numbers of on-demand updates of a split on-board cache, assumption by assumption.
//!
//! The configuration is that of the publication: the IOzone trace, a direct-mapped cache of 8 MiB, 8 packages in
//! 1, 2, 4 and 8 pieces, and idle work after 2 ms. The counts of a coarse model are close to the published
//! counts. A naive drive starts with the assumptions of the coarse model and replaces one assumption at a time by
//! that of the simulator. In the end its counts are equal to the simulator's. `docs/schemes/apu-lru-d.md`
//! explains the steps.

mod coarse;
mod drive;
mod lines;

use destage_base::Ticks;
use destage_base::time::TICKS_PER_US;
use destage_sample::sampled;
use destage_sim::observer::Silent;
use destage_sim::prepass::Prepass;
use destage_sim::run::run;
use destage_sim::settings::Settings;
use destage_sim::source::Source;
use destage_tests::outside;
use destage_trace::{ReadOptions, Request, read_all};
use drive::{Assumptions, Interrupted, Waits};
use lines::Split;

/// Packages of a piece, for 1, 2, 4 and 8 pieces.
const SHARES: [usize; 4] = [8, 4, 2, 1];

/// Selects from the values for 1, 2, 4 and 8 pieces: only the value for 8 pieces, or all four with `make whole`.
fn tried<T: Copy>(of: [T; 4]) -> Vec<T> {
    of[sampled(3..4, 0..4)].to_vec()
}

/// The time to transfer a sector from the host in the coarse model: 0.24 us.
const COARSE_SECTOR: Ticks = 24 * TICKS_PER_US / 100;
/// The time to transfer a sector on the simulator's host bus: 238.4 ns.
const BUS_SECTOR: Ticks = 2384 * TICKS_PER_US / 10_000;

/// The requests of the trace. The models require that every request covers whole pages.
fn requests() -> Vec<Request> {
    let path = outside("traces/iozone-100k.disksim.zst");
    let read = read_all(&path, &ReadOptions::default());
    let requests = read.unwrap_or_else(|error| panic!("{error}")).requests;
    let whole =
        |request: &Request| request.sector.is_multiple_of(8) && request.sectors.is_multiple_of(8);
    assert!(requests.iter().all(whole), "a page is written in part");
    requests
}

/// The counts for the numbers of pieces that [`tried`] selects.
fn by_pieces(is_raw: bool, updates: impl Fn(Split) -> u64) -> Vec<u64> {
    let shares = tried(SHARES).into_iter();
    let counts = shares.map(|packages_per_piece| {
        updates(Split {
            packages_per_piece,
            is_raw,
        })
    });
    counts.collect()
}

/// The count of the simulator, with the settings `pairs` (`key=value`) added.
fn simulated(requests: &[Request], split: Split, pairs: &[&str]) -> u64 {
    let mut settings = Settings::new();
    let index = if split.is_raw { "raw" } else { "local" };
    let buffer = format!(
        "apu-lru-d:ways=1,apu_index={index},packages_per_piece={}",
        split.packages_per_piece
    );
    let common = ["buffer.capacity_bytes=8MiB", "host.scheduler=fifo"];
    let configured = settings
        .load_profile("apu-slc")
        .and_then(|()| settings.set_kind("buffer", &buffer))
        .and_then(|()| {
            let mut all = common.iter().chain(pairs);
            all.try_for_each(|pair| settings.set_pair(pair))
        })
        .and_then(|()| settings.resolve());
    let config = configured.unwrap_or_else(|error| panic!("{error}"));
    let source = Source::memory("requests", requests);
    let mut silent = Silent;
    let (result, _) = run(&config, source, &Prepass::default(), &mut silent)
        .unwrap_or_else(|error| panic!("{error}"));
    let updates = result.metrics.get("buffer.on_demand_updates");
    updates.expect("a count of the scheme").as_f64() as u64
}

#[test]
#[ignore = "needs recorded traces"]
fn the_coarse_model_gives_its_known_counts() {
    let requests = requests();
    let counts =
        |is_raw, sector_ms| by_pieces(is_raw, |split| coarse::updates(&requests, split, sector_ms));
    assert_eq!(
        counts(true, 0.00024),
        tried([907_555, 1_413_109, 3_154_112, 4_369_625])
    );
    assert_eq!(
        counts(true, 0.0),
        tried([716_866, 1_213_260, 2_968_754, 4_171_068])
    );
    assert_eq!(counts(false, 0.0), tried([716_866; 4]));
}

#[test]
#[ignore = "needs recorded traces"]
fn one_assumption_at_a_time_leads_from_the_coarse_model_to_the_simulator() {
    let requests = requests();
    let coarse = Assumptions {
        sector: COARSE_SECTOR,
        depth: 1,
        waits: Waits::Updates,
        interrupted: Interrupted::Vanishes,
    };
    let held = Assumptions {
        interrupted: Interrupted::HoldsPackages,
        ..coarse
    };
    let lines = Assumptions {
        waits: Waits::ItsLines,
        ..held
    };
    let bus = Assumptions {
        sector: BUS_SECTOR,
        ..lines
    };
    let deep = Assumptions { depth: 20, ..bus };
    let pooled = Assumptions {
        waits: Waits::AnyLine,
        ..deep
    };
    let device = Assumptions {
        interrupted: Interrupted::HoldsDevice,
        ..coarse
    };
    let by_page = Assumptions {
        waits: Waits::AnyLineByPage,
        ..bus
    };
    let steps = [
        (coarse, [907_555, 1_413_109, 3_154_112, 4_369_625]),
        (held, [912_475, 1_420_333, 3_162_658, 4_381_159]),
        (lines, [913_443, 1_422_125, 3_164_614, 4_384_304]),
        (bus, [912_267, 1_421_101, 3_163_590, 4_383_048]),
        (deep, [911_340, 1_420_115, 3_162_357, 4_381_581]),
        (pooled, [911_340, 737_665, 2_258_283, 3_261_041]),
        // Two assumptions that the simulator does not make.
        (device, [1_094_857, 1_592_983, 3_322_966, 4_517_886]),
        (by_page, [8_092_430, 737_665, 2_258_283, 3_261_041]),
    ];
    for (assumptions, expected) in steps {
        let raw = by_pieces(true, |split| drive::updates(&requests, split, assumptions));
        assert_eq!(raw, tried(expected), "{assumptions:?}");
        let split = Split {
            packages_per_piece: 1,
            is_raw: false,
        };
        let local = drive::updates(&requests, split, assumptions);
        assert_eq!(local, expected[0], "{assumptions:?}, local");
    }
}

#[test]
#[ignore = "needs recorded traces"]
fn the_simulator_counts_what_the_naive_drive_counts() {
    let requests = requests();
    let counts =
        |is_raw, pairs: &[&str]| by_pieces(is_raw, |split| simulated(&requests, split, pairs));
    assert_eq!(counts(false, &[]), tried([911_340; 4]));
    assert_eq!(
        counts(true, &[]),
        tried([911_340, 1_420_115, 3_162_357, 4_381_581])
    );
    // The variants need four more runs of the whole trace.
    if sampled(true, false) {
        return;
    }
    let cache = ["buffer.apu_room=cache"];
    assert_eq!(counts(false, &cache), tried([911_340; 4]));
    assert_eq!(
        counts(true, &cache),
        tried([911_340, 737_665, 2_258_283, 3_261_041])
    );
    let pipelined = ["buffer.apu_round=pipelined"];
    assert_eq!(
        counts(true, &pipelined),
        tried([911_340, 1_420_115, 3_162_357, 4_381_581])
    );
    let shallow = ["host.queue_depth=1"];
    assert_eq!(
        counts(true, &shallow),
        tried([912_267, 1_421_101, 3_163_590, 4_383_048])
    );
}
