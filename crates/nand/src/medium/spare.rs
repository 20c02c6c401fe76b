//! The data beside those of a page, and the contents that the host's side writes.

use alloc::sync::Arc;

use destage_base::Lpn;

use super::cells::{digest, mix};
use crate::operation::{Purpose, Role};

/// The kind of page that was programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpareKind {
    /// Data of the host.
    Host,
    /// A copy: of another physical page, or padding that repeats a version.
    Copy,
    /// Zeros that the host asked for, or that were there before the first request.
    Zeros,
    /// Padding where there was nothing, of a page or of none: never the newest.
    Fill,
    /// A page of the map.
    Map,
    /// The summary of a block.
    Summary,
}

/// The data beside those of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spare {
    /// The kind of page.
    pub kind: SpareKind,
    /// The logical page; of kind `Map` the page of the map; `None` of a summary, or of a filler of the layer.
    pub page: Option<Lpn>,
    /// The version of the contents; 0 before the first write, and of fillers, maps and summaries.
    pub version: u64,
    /// The number of the program, over all dies, from 1; 0 of pages that were there before the first.
    pub program: u64,
    /// The use of the block.
    pub purpose: Purpose,
}

impl Spare {
    /// The contents that a fill before the first request has programmed as `page`.
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

    /// The check sum over `data` and all of this.
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

/// The kind of page that the host's side programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageKind {
    /// Data of the host.
    Host,
    /// Zeros that the host asked for.
    Zeros,
    /// Padding that repeats a version.
    Copy,
    /// Padding where there is nothing to repeat; its version is 0.
    Fill,
}

/// The bytes a step writes for one logical page.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The page.
    pub page: Lpn,
    /// The version of the bytes, from 1; 0 for fillers.
    pub version: u64,
    /// The kind of page.
    pub kind: ImageKind,
    /// As many bytes as a page has.
    pub data: &'a Arc<[u8]>,
}
