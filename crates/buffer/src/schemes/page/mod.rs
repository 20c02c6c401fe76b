//! Schemes that order single pages.

pub mod cflru;
pub mod fifo;
pub mod lirs_wsr;
pub mod lru;
pub mod nocache;
pub mod recently_evicted;
