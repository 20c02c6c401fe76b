//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`page`] | single pages, or the pages of one request |
//! | [`element`] | the pages of each element apart |

pub mod element;
pub mod page;
