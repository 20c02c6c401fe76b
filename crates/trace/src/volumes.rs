//! The volumes of a trace: whether there are several, and where each of them ends.

use crate::address::{Placement, concatenated};
use crate::array::Array;
use crate::error::TraceError;
use crate::options::{Order, ReadOptions, Volumes};
use crate::reader::Reader;
use crate::request::Request;
use crate::slice::Slice;
use std::collections::BTreeMap;
use std::path::Path;

/// Whether requests of more than one volume were seen.
#[derive(Default)]
pub(crate) struct Seen {
    first: Option<u32>,
    pub several: bool,
}

impl Seen {
    /// Records the volumes of a batch.
    pub fn see(&mut self, batch: &[Request]) {
        if !self.several
            && let Some(request) = batch.first()
        {
            let first = *self.first.get_or_insert(request.volume);
            // The compiler vectorises this fold, so it compares many requests at a time. A search would compare
            // one request at a time, and mostly find no other volume.
            let others = batch.iter().map(|request| request.volume != first);
            self.several = others.fold(false, |several, other| several | other);
        }
    }
}

/// Reads the whole trace to find the end of each volume, and places the volumes one after the other.
pub(crate) fn first_pass(path: &Path, options: &ReadOptions) -> Result<Placement, TraceError> {
    let alone = ReadOptions {
        volumes: Volumes::Ignore,
        // The order does not matter for the ends of volumes; the second pass checks it.
        order: Order::Clamp,
        slice: Slice::default(),
        digest: false,
        // Volumes end where the requests of all disks of the array end.
        array: Array::default(),
        ..options.clone()
    };
    let mut reader = Reader::open(path, &alone)?;
    let mut ends = BTreeMap::new();
    let mut batch = Vec::new();
    while reader.fill(&mut batch)? {
        for request in &batch {
            let end: &mut u64 = ends.entry(request.volume).or_insert(0);
            *end = request.end().max(*end);
        }
    }
    concatenated(&ends)
        .map(Placement::Concatenate)
        .ok_or_else(|| TraceError::Option {
            name: "trace.volumes",
            value: "concatenate".to_owned(),
            expected: "volumes that together stay below 2^64 bytes".to_owned(),
        })
}
