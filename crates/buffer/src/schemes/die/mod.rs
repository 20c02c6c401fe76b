//! Schemes that order the pages of each die of the device apart.

pub mod epo;
