//! All tests of this crate that need no allocator of their own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod bad_input;
mod binary_formats;
mod common;
mod compact;
mod compressed;
mod detection;
mod injection;
mod options;
mod parquet;
mod parquet_foreign;
mod robustness;
mod tables;
mod text_formats;
mod transform;
mod windows_formats;
