//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that came together |

pub mod page;
pub mod run;
