//! Tests that the memory of a buffer depends on the number of pages that the buffer holds, not on its capacity.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

#[path = "suite/common/mod.rs"]
mod common;

use std::alloc::System;

use common::variants;
use destage_base::Lpn;
use destage_buffer::view::NoDevice;
use destage_buffer::{Buffer, BufferConfig, Common, Outlet, Release, SCHEMES, SchemeConfig};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The capacity of the buffer in pages. With pages of 4 KiB it is 8 TiB.
const CAPACITY: u32 = 1 << 31;
/// The most bytes that a buffer may allocate for its construction and the pages that the test writes.
const MOST: isize = 256 << 20;

#[test]
fn a_huge_buffer_with_few_pages_takes_little_memory() {
    for row in SCHEMES {
        for (name, values) in variants(row) {
            // The pages are far apart, so that no two pages share a set, a block or a chunk.
            let pages: Vec<_> = (0..100).map(|index| Lpn(index * 20_000_003)).collect();
            let region = Region::new(HEAP);
            let config = BufferConfig {
                release: Release::Issue,
                ..BufferConfig::from_parameters(CAPACITY, 64, &Common::from_values(&values))
            };
            let scheme = (row.build)(&SchemeConfig {
                dies: 8,
                future: row.needs_future().then_some(&pages),
                ..SchemeConfig::new(CAPACITY, config.cluster_pages, &values)
            });
            let mut buffer = Buffer::new(config, scheme);
            if !buffer.keeps_pages() {
                continue;
            }
            for page in &pages {
                buffer.begin_request(1);
                Outlet::new(&mut buffer, &NoDevice, |_| panic!("{name}: there is room"))
                    .write(*page, 0);
            }
            let change = region.change();
            let held = change.bytes_allocated as isize - change.bytes_deallocated as isize;
            assert!(held < MOST, "{name}: {held} bytes");
        }
    }
}
