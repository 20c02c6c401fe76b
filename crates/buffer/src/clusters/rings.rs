//! Lists over clusters, for the order that a block-level scheme maintains.
//!
//! The lists are those of [`destage_base::list`]. They need 8 bytes per cluster. The data of a cluster is stored
//! elsewhere.

use destage_base::list::{Item, Lists};

use super::ClusterId;

/// Several lists over the same clusters. A cluster is in at most one of these lists.
pub type Rings = Lists<ClusterId>;

impl Item for ClusterId {
    type Key = Self;
    type Value = ();

    #[inline]
    fn number(ClusterId(cluster): Self) -> u32 {
        cluster
    }

    #[inline]
    fn split(self) -> (u32, ()) {
        (self.0, ())
    }

    #[inline]
    fn join(cluster: u32, (): ()) -> Self {
        Self(cluster)
    }
}
