//! Removes the addresses, volume numbers and times of day that show where a trace comes from.
//!
//! Everything that a study of buffers needs stays exactly the same: order, gaps between arrivals, sizes,
//! operations, which page is written again and when, which pages share a block. The address space is cut into
//! regions of equal length. Regions that a request spans stay side by side, so that no request is divided. The
//! resulting chains of regions are placed in a shuffled order without gaps. If the length of a region is a
//! multiple of every block size that is studied, each page keeps its position in its block.

use crate::request::{Operation, Request, SECTORS_MAX};
use destage_base::{Random, Ticks};
use std::collections::BTreeMap;

/// The first of two passes over a trace. This pass finds the regions that occur, and which regions must stay
/// side by side.
#[derive(Debug)]
pub struct Regions {
    sectors: u64,
    /// Chains of regions that must stay side by side: the volume and the first region of each chain, and its
    /// last region. Chains do not overlap.
    chains: BTreeMap<(u32, u64), u64>,
    /// The new number of each volume, in the order of first appearance.
    volumes: BTreeMap<u32, u32>,
    first: Option<Ticks>,
}

/// The second of two passes over a trace. This pass moves each request to its new address.
#[derive(Debug)]
pub struct Anonymizer {
    sectors: u64,
    /// The chains by volume and first region: the new first sector of each chain, and its last region.
    places: BTreeMap<(u32, u64), (u64, u64)>,
    volumes: BTreeMap<u32, u32>,
    first: Ticks,
}

impl Regions {
    /// Creates a first pass with regions of `sectors` sectors.
    ///
    /// # Panics
    /// If `sectors` is 0.
    #[must_use]
    pub fn new(sectors: u64) -> Self {
        assert!(sectors > 0, "regions without sectors");
        Self {
            sectors,
            chains: BTreeMap::new(),
            volumes: BTreeMap::new(),
            first: None,
        }
    }

    /// Adds a request.
    pub fn add(&mut self, request: &Request) {
        self.first.get_or_insert(request.arrival);
        let next = u32::try_from(self.volumes.len()).unwrap_or(u32::MAX);
        self.volumes.entry(request.volume).or_insert(next);
        if request.operation == Operation::Flush || request.sectors == 0 {
            return;
        }
        let first = request.sector / self.sectors;
        let last = (request.end() - 1) / self.sectors;
        self.join(request.volume, first, last);
    }

    /// Joins the regions `first` to `last`, and all chains that overlap this range, into one chain.
    fn join(&mut self, volume: u32, mut first: u64, mut last: u64) {
        let touching = |chains: &BTreeMap<(u32, u64), u64>, first: u64, last: u64| {
            let before = chains.range((volume, 0)..=(volume, last)).next_back();
            before
                .filter(|(_, end)| **end >= first)
                .map(|((_, start), end)| (*start, *end))
        };
        if touching(&self.chains, first, last)
            .is_some_and(|(start, end)| start <= first && last <= end)
        {
            return;
        }
        while let Some((start, end)) = touching(&self.chains, first, last) {
            self.chains.remove(&(volume, start));
            first = first.min(start);
            last = last.max(end);
        }
        self.chains.insert((volume, first), last);
    }

    /// Places the chains in a shuffled order; the same seed gives the same order. `None` if the chains do not
    /// fit in the address space.
    #[must_use]
    pub fn shuffled(self, seed: u64) -> Option<Anonymizer> {
        let mut chains: BTreeMap<u32, Vec<(u64, u64)>> = BTreeMap::new();
        for ((volume, first), last) in self.chains {
            chains.entry(volume).or_default().push((first, last));
        }
        let mut random = Random::new(seed);
        let mut places = BTreeMap::new();
        for (volume, mut chains) in chains {
            for index in (1..chains.len()).rev() {
                let other = random.below(index as u64 + 1);
                chains.swap(index, usize::try_from(other).expect("an index"));
            }
            let mut start = 0u64;
            for (first, last) in chains {
                places.insert((volume, first), (start, last));
                let length = self.sectors.checked_mul(last - first + 1)?;
                start = start.checked_add(length)?;
                if start > SECTORS_MAX {
                    return None;
                }
            }
        }
        Some(Anonymizer {
            sectors: self.sectors,
            places,
            volumes: self.volumes,
            first: self.first.unwrap_or(0),
        })
    }
}

impl Anonymizer {
    /// `request` with its new time, volume and address; `None` if the first pass did not see the request.
    #[must_use]
    pub fn apply(&self, request: &Request) -> Option<Request> {
        let mut moved = *request;
        moved.arrival = request.arrival.checked_sub(self.first)?;
        moved.volume = *self.volumes.get(&request.volume)?;
        if request.operation != Operation::Flush {
            let region = request.sector / self.sectors;
            let mut chains = self
                .places
                .range((request.volume, 0)..=(request.volume, region));
            let ((_, first), (start, last)) = chains.next_back()?;
            if region > *last {
                return None;
            }
            moved.sector = start + (request.sector - first * self.sectors);
        }
        Some(moved)
    }
}
