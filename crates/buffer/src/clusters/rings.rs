//! Lists over clusters: the order that block-level schemes keep.
//!
//! The lists are those of [`destage_base::list`]. They take 8 bytes per cluster, since the data of a cluster is
//! stored elsewhere.

use destage_base::list::{Item, Lists};

use super::ClusterId;

/// Several lists over the same clusters; a cluster is in at most one of them.
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
