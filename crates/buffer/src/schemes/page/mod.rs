//! Schemes that order single pages.

pub mod fifo;
pub mod lru;
pub mod nocache;
