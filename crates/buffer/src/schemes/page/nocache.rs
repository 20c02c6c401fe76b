//! `nocache`: keeps no page. It is the lower bound of a comparison.
//!
//! Every write bypasses the buffer and every read misses, so there is nothing to order. A buffer without capacity
//! behaves in this way with every scheme.
//!
//! Cost: none.

use alloc::boxed::Box;

use crate::registry::SchemeRow;
use crate::scheme::{Access, Entry, Need, Properties, Scheme, Victim};
use crate::view::View;

/// The row of `nocache`.
pub const ROW: SchemeRow = SchemeRow {
    name: "nocache",
    family: "page",
    about: "Buffers nothing: every request goes to the flash translation layer unchanged.",
    source: "The usual baseline.",
    ..SchemeRow::of(&|_| Box::new(NoCache))
};

struct NoCache;

impl Scheme for NoCache {
    fn properties(&self) -> Properties {
        Properties {
            keeps_pages: false,
            ..Properties::default()
        }
    }

    fn insert(&mut self, _: Entry, _: &Access) {}

    fn touch(&mut self, _: Entry, _: &Access) {}

    fn remove(&mut self, _: Entry) {}

    fn evict(&mut self, _: Need, _: &Access, _: &dyn View, _: &mut Victim) {}

    fn len(&self) -> usize {
        0
    }
}
