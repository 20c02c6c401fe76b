//! Schemes that order single pages and look at what the elements beneath are doing before they choose.

pub mod gcar;
