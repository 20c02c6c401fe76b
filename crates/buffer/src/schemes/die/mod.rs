//! Schemes that order the pages of each die of the device separately.

pub mod epo;
