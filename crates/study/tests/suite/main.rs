//! All integration tests of this crate, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

#[path = "../../../destage/tests/suite/common/mod.rs"]
mod common;
mod docs_tables;
mod drives;
mod fleet;
mod reproduce;
mod store;
