//! One program with all tests of this crate that do not replace the allocator.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod suspension;
