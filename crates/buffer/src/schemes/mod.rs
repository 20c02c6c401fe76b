//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`page`] | single pages, or the pages of one request |
//! | [`element`] | the pages of each element apart |
//! | [`set`] | the lines of each set of a set-associative cache apart |
//! | [`bound`] | nothing a real buffer could: what no scheme can beat |

pub mod bound;
pub mod element;
pub mod page;
pub mod set;
