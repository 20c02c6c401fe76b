//! All tests of this crate that need no allocator of their own, in one program.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod conformance;
mod cut;
mod kit;
mod log_properties;
mod model_bast;
mod model_dftl;
mod model_fast;
mod model_last;
mod model_page;
mod model_replacement;
mod model_sast;
mod model_streams;
mod model_striped;
mod model_superblock;
mod models_block;
mod mounted;
mod naive;
mod no_space;
mod page_mapping_theory;
mod power_again;
mod refusals;
mod scenarios;
