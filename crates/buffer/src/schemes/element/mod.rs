//! Schemes that order the pages of each element of the device apart.

pub mod epo;
