//! The spare area: the data that are stored with those of a page. Also the contents that a step programs for the
//! host.

use alloc::sync::Arc;

use destage_base::Lpn;

use super::cells::{digest, mix};
use crate::operation::{Purpose, Role};

/// The kind of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpareKind {
    /// Data of the host.
    Host,
    /// A copy of another physical page, or padding that repeats a version.
    Copy,
    /// Zeros that the host asked for, or that a fill has left before the first request.
    Zeros,
    /// Padding where there was nothing to repeat, with or without a logical page; it is never the newest copy.
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
    /// The logical page; for the kind `Map`, the page of the map; `None` for a summary, or a filler of the layer.
    pub page: Option<Lpn>,
    /// The version of the contents; 0 before the first write, and for fillers, maps and summaries.
    pub version: u64,
    /// The number of the program, over all dies, from 1; 0 for contents that a fill has left before the first
    /// program.
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

    /// The checksum over `data` and this spare area.
    #[must_use]
    pub fn check_sum(&self, data: &[u8]) -> u64 {
        let words = [
            self.kind as u64,
            self.page.map_or(u64::MAX, |page| page.0),
            self.version,
            self.program,
            self.purpose.role as u64,
            self.purpose.owner.map_or(u64::MAX, u64::from),
        ];
        words.into_iter().fold(digest(data), mix)
    }
}

/// The kind of a page that a step programs for the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageKind {
    /// Data of the host.
    Host,
    /// Zeros that the host asked for.
    Zeros,
    /// Padding that repeats a version of the page.
    Copy,
    /// Padding where there is no version to repeat.
    Fill,
}

/// The bytes that a step programs for one logical page.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The logical page.
    pub page: Lpn,
    /// The version of the bytes, from 1. Fillers are programmed with version 0.
    pub version: u64,
    /// The kind of the page.
    pub kind: ImageKind,
    /// The bytes, as many as a page has.
    pub data: &'a Arc<[u8]>,
}
