//! Requests as text.

pub mod disksim;
