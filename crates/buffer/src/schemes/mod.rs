//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`page`] | single pages, or the pages of one request |

pub mod page;
