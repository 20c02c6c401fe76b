//! Schemes that order single pages.

pub mod cflru;
pub mod fifo;
pub mod lru;
pub mod nocache;
