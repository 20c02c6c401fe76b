//! Bytes of heap per buffered page, counted by the allocator.

use std::alloc::System;

use destage_buffer::{Release, SchemeRow};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use crate::drive::{build, future_of, run};
use crate::streams::Stream;

/// Counts all memory of this program. Counting does not disturb the measured path, which does not allocate.
#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Heap bytes of a buffer after all of `stream`, divided by its resident pages. The bytes are all that was allocated
/// for the buffer since before it was built and not freed, whether used or only reserved. `None` if the scheme
/// buffers nothing.
pub fn bytes_per_page(row: &SchemeRow, capacity: u32, stream: &Stream) -> Option<f64> {
    let future = future_of(row, stream);
    let region = Region::new(HEAP);
    let mut buffer = build(row, capacity, Release::Issue, future.as_deref())?;
    run(&mut buffer, stream);
    let change = region.change();
    let held = change.bytes_allocated - change.bytes_deallocated;
    Some(held as f64 / f64::from(buffer.counts().resident))
}
