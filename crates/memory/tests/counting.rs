//! Memory is counted from its request until it is freed.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use destage_memory::{Budget, used};

#[global_allocator]
static MEMORY: Budget = Budget;

/// Size of a block. It is much larger than `NOISE`, the memory that the test harness may allocate and free during the
/// test.
const BLOCK: usize = 64 << 20;
const NOISE: u64 = 1 << 20;

fn near(expected: u64) {
    let difference = used().abs_diff(expected);
    assert!(difference < NOISE, "{} instead of {expected}", used());
}

#[test]
fn every_way_of_asking_is_counted() {
    let before = used();
    let block = BLOCK as u64;
    let mut bytes: Vec<u8> = Vec::with_capacity(BLOCK);
    near(before + block);
    bytes.reserve_exact(2 * BLOCK);
    near(before + 2 * block);
    bytes.shrink_to(BLOCK);
    near(before + block);
    // This block is reserved, but never touched.
    let zeros = vec![0u8; BLOCK];
    near(before + 2 * block);
    drop((bytes, zeros));
    near(before);
}
