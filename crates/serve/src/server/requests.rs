//! The requests in the device.

use std::ops::Range;

use destage_device::RequestKind;
use destage_device::slab::Slab;

use super::core::Owner;

/// A request that was submitted to the device.
#[derive(Clone, Copy)]
pub(super) struct InFlight {
    pub owner: Owner,
    pub kind: RequestKind,
    pub fua: bool,
    /// The number of data bytes of a write. The device holds the data until it has completed the write.
    pub bytes: usize,
    /// The first sector that was not submitted yet. Long requests are submitted in parts.
    pub next: u64,
    pub end: u64,
}

impl InFlight {
    /// Whether a part of the request was not submitted yet.
    pub fn has_rest(&self) -> bool {
        self.next < self.end
    }
}

/// All requests in the device, each with a number.
#[derive(Default)]
pub(super) struct Requests {
    all: Slab<InFlight>,
    /// The numbers of the requests that have a part that was not submitted yet.
    parted: Vec<u32>,
}

impl Requests {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Adds a request. Returns its number.
    pub fn insert(&mut self, request: InFlight) -> u32 {
        let id = self.all.insert(|| request);
        if request.has_rest() {
            self.parted.push(id);
        }
        id
    }

    /// The request with the number `id`.
    pub fn get(&self, id: u32) -> InFlight {
        self.all[id]
    }

    /// Records that the next `sectors` sectors of the request `id` are submitted.
    pub fn advance(&mut self, id: u32, sectors: u64) {
        self.all[id].next += sectors;
        if !self.all[id].has_rest() {
            self.parted.retain(|other| *other != id);
        }
    }

    /// Removes the request `id`.
    pub fn remove(&mut self, id: u32) {
        self.all.free(id);
        self.parted.retain(|other| *other != id);
    }

    /// Removes all requests and returns them.
    pub fn take_all(&mut self) -> Vec<InFlight> {
        let all = self.all.iter().copied().collect();
        *self = Self::default();
        all
    }

    /// Whether a part that was not submitted yet has one of `sectors`. A later request for these sectors would take
    /// effect before the earlier request.
    pub fn have_rest_in(&self, sectors: &Range<u64>) -> bool {
        self.parted.iter().any(|id| {
            let request = &self.all[*id];
            request.next < sectors.end && sectors.start < request.end
        })
    }
}
