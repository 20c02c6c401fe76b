//! A small device, and requests for it, for the tests of this crate and of `destage-study`.

#![allow(dead_code, reason = "each test file uses a part of this")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

#[path = "../../../examples/own_scheme.rs"]
pub mod own_scheme;

use destage::base::Random;
use destage::trace::{Operation, Request};
use destage::{Origin, Settings};

/// Requests of [`mixture`] begin in one of this many pages.
const PAGES: u64 = 700;

/// The settings of a device with two dies of two planes, and then `pairs`. Each plane has 64 blocks of 8 pages.
pub fn settings(pairs: &[&str]) -> Settings {
    let mut settings = Settings::new();
    let device = [
        "flash.dies=2",
        "flash.planes_per_die=2",
        "flash.blocks_per_plane=64",
        "flash.pages_per_block=8",
        "flash.summary_page=false",
    ];
    // A list of sizes may override this size.
    let origin = Origin::Given("the size of the tests".to_owned());
    settings.set("buffer.capacity_bytes", "64KiB", origin);
    for pair in device.iter().chain(pairs) {
        settings.set_pair(pair).unwrap();
    }
    settings
}

/// Reads and writes of one to four pages. The gaps between their arrivals are random, up to 1.2 ms.
pub fn mixture(seed: u64, requests: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let mut arrival = 0;
    let request = |line| {
        arrival += random.below(12_000_000);
        Request {
            arrival,
            sector: 8 * random.below(PAGES),
            sectors: 8 * (1 + random.below(4)) as u32,
            line,
            operation: if random.below(4) == 0 {
                Operation::Read
            } else {
                Operation::Write
            },
            ..Request::BLANK
        }
    };
    (1..=requests as u32).map(request).collect()
}
