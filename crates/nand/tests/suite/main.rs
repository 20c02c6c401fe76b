//! All tests of this crate that need no allocator of their own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod suspension;
