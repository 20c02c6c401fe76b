//! The spare area, which is stored with the data of a page, and the images of the pages that a step programs for the
//! host.

use alloc::sync::Arc;

use destage_base::Lpn;

use crate::operation::{Purpose, Role};

/// The kind of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpareKind {
    /// Data of the host.
    Host,
    /// A copy of another physical page, or padding that repeats a version of the logical page.
    Copy,
    /// Zeros of a write-zeroes request, or of a fill before the first request.
    Zeros,
    /// Padding without contents to repeat, with or without a logical page. It is never the newest copy.
    Fill,
    /// A page of the map.
    Map,
    /// The summary of a block.
    Summary,
}

/// The spare area of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The kind of the page.
    pub kind: SpareKind,
    /// The logical page; for the kind `Map`, the page of the map; `None` for a summary, and for a filler of the
    /// layer.
    pub page: Option<Lpn>,
    /// The version of the contents; 0 for contents before the first write, and for fillers, pages of the map and
    /// summaries.
    pub version: u64,
    /// The number of the program, counted from 1 over all dies; 0 for contents of a fill before the first request.
    pub program: u64,
    /// The use of the block.
    pub purpose: Purpose,
}

impl Spare {
    /// The spare area of a page that a fill before the first request has programmed as `page`.
    #[must_use]
    pub fn filled(page: Lpn) -> Self {
        Self {
            kind: SpareKind::Zeros,
            page: Some(page),
            version: 0,
            program: 0,
            purpose: Purpose::shared(Role::Data),
        }
    }
}

/// The kind of a page that a step programs for the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageKind {
    /// Data of the host.
    Host,
    /// Zeros of a write-zeroes request.
    Zeros,
    /// Padding that repeats a version of the page.
    Copy,
    /// Padding for a page without a version to repeat.
    Fill,
}

/// The bytes that a step programs for one logical page.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The logical page.
    pub page: Lpn,
    /// The version of the bytes, from 1. For the kind `Fill` it is ignored, and version 0 is programmed.
    pub version: u64,
    /// The kind of the page.
    pub kind: ImageKind,
    /// The bytes of the whole page.
    pub data: &'a Arc<[u8]>,
}
