//! The schemes: one file each, in a folder per family, ending in its registry row.
//!
//! | family | orders |
//! | --- | --- |
//! | [`block`] | the buffered pages of one logical block |
//! | [`bound`] | nothing a real buffer could: what no scheme can beat |
//! | [`element`] | the pages of each element apart |
//! | [`hybrid`] | single pages and clusters side by side |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that came together |
//! | [`set`] | the lines of each set of a set-associative cache apart |

pub mod block;
pub mod bound;
pub mod element;
pub mod hybrid;
pub mod page;
pub mod run;
pub mod set;
