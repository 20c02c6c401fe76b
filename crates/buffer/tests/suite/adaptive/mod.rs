//! Compares each scheme that has several lists or learns thresholds with a naive model.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod bpac;
mod cbm;
mod differential;
mod dulo;
mod goldens;
mod lar;
mod lirs_wsr;
mod pud_lru;
mod recently_evicted;
mod req_block;
mod vbbms;
