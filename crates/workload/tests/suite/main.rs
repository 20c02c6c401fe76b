//! All tests of this crate that need no allocator of their own. They are compiled into one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod fitted;
mod goldens;
mod jobs;
mod long_goldens;
mod standins;
mod synthetic;
