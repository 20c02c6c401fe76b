//! `bp-ref`: chooses a page as [`ref`](crate::schemes::page::recently_evicted) does, and destages the whole block of
//! this page, padded.
//!
//! `ref` keeps few log blocks open, which saves merges. Padding fills a log block at once. The log block is then
//! complete, and the translation layer needs only a switch merge. Recency is still that of single pages. A block is
//! chosen by its least recently used page, and the recently used pages of the block leave with that page.
//!
//! Cost: O(1) per use. Per victim O(victim blocks), plus one step per page.

use alloc::boxed::Box;

use destage_base::parameters;

use crate::registry::{SchemeRow, Sees};
use crate::schemes::page::recently_evicted::{self, RecentlyEvicted, Unit};

parameters! {
    /// The parameters of `bp-ref`.
    struct Parameters {
        choice: recently_evicted::Parameters;
        pad: bool as super::PAD { default: "true" };
    }
}

/// The row of `bp-ref`.
pub const ROW: SchemeRow = SchemeRow {
    name: "bp-ref",
    family: "block",
    about: "Chooses an old page of a recently evicted block, and destages the whole block, padded.",
    source: "Seo and Shin, 2008, with the padding of BPLRU (FAST 2008).",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let pads = parameters.pad;
        let unit = Unit::Block { pads };
        Box::new(RecentlyEvicted::new(config, &parameters.choice, unit))
    })
};
