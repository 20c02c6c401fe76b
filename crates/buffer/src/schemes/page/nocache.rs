//! `nocache`: no buffer at all, the floor of every comparison.
//!
//! There is nothing to order, so there is no [`Scheme`](crate::Scheme) either: the wiring sends
//! every request to the flash unchanged, and a buffer of capacity 0 behaves the same under any name.

use crate::registry::SchemeRow;

/// The row of `nocache`.
pub const ROW: SchemeRow = SchemeRow {
    name: "nocache",
    family: "page",
    about: "Buffers nothing: every request goes to the flash translation layer unchanged.",
    source: "The usual baseline.",
    reconstructed: false,
    parameters: &[],
    build: |_| None,
};
