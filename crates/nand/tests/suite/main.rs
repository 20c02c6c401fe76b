//! Every test of this crate that needs no allocator of its own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod suspension;
