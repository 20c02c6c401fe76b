//! One program with all tests of this crate, except the tests that need a special allocator.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod backing;
mod flips;
mod image;
mod image_cuts;
mod kit;
mod power;
mod server;
mod tape;
