//! The schemes, a folder per family.
//!
//! | family | orders |
//! | --- | --- |
//! | [`block`] | the buffered pages of one logical block |
//! | [`hybrid`] | single pages and clusters side by side |
//! | [`page`] | single pages, or the pages of one request |
//! | [`run`] | runs of pages that came together |

pub mod block;
pub mod hybrid;
pub mod page;
pub mod run;
