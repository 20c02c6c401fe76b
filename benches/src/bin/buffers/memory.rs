//! Measures the heap bytes per buffered page, which the allocator counts.

use std::alloc::System;

use destage_buffer::{Release, SchemeRow};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::drive::{build, future_of, run};
use crate::streams::Stream;

/// Counts all allocations of this program. The count does not change measured speeds, because the measured code does
/// not allocate.
#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The heap bytes of a buffer after it has written all of `stream`, divided by its resident pages. The heap bytes are
/// all bytes that building and using the buffer allocated and did not free, including bytes that are only reserved.
/// `None` if the scheme buffers nothing.
pub fn bytes_per_page(row: &SchemeRow, capacity: u32, stream: &Stream) -> Option<f64> {
    let future = future_of(row, stream);
    let region = Region::new(HEAP);
    let mut buffer = build(row, capacity, Release::Issue, future.as_deref())?;
    run(&mut buffer, stream);
    let change = region.change();
    let held = change.bytes_allocated - change.bytes_deallocated;
    Some(held as f64 / f64::from(buffer.counts().resident))
}
