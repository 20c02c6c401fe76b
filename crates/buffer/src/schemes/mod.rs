//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`block`] | the buffered pages of one logical block |
//! | [`page`] | single pages, or the pages of one request |

pub mod block;
pub mod page;
