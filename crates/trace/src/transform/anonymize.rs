//! A trace without the addresses, volume numbers and times of day that tell where it comes from.
//!
//! What a buffer study needs stays exactly as it was: order, gaps between arrivals, sizes, operations, which page is
//! written again and when, which pages share a block. The address space is cut into regions of equal length; regions
//! that a request spans stay side by side, so that no request is torn, and the chains that result are laid in a
//! shuffled order without gaps. Regions that are a multiple of every block studied keep pages at their place in a block.

use crate::request::{Operation, Request, SECTORS_MAX};
use destage_base::{Random, Ticks};
use std::collections::{BTreeMap, BTreeSet};

/// First pass: which regions occur, and which belong together.
#[derive(Debug)]
pub struct Regions {
    sectors: u64,
    touched: BTreeSet<(u32, u64)>,
    /// Regions that a request spans together with the next one.
    joined: BTreeSet<(u32, u64)>,
    /// Volumes, numbered in the order they appear.
    volumes: BTreeMap<u32, u32>,
    first: Option<Ticks>,
}

/// Second pass: moves each request to its new place.
#[derive(Debug)]
pub struct Anonymizer {
    sectors: u64,
    places: BTreeMap<(u32, u64), u64>,
    volumes: BTreeMap<u32, u32>,
    first: Ticks,
}

impl Regions {
    /// For regions of `sectors` sectors.
    ///
    /// # Panics
    /// If `sectors` is 0.
    #[must_use]
    pub fn new(sectors: u64) -> Self {
        assert!(sectors > 0, "regions without sectors");
        Self {
            sectors,
            touched: BTreeSet::new(),
            joined: BTreeSet::new(),
            volumes: BTreeMap::new(),
            first: None,
        }
    }

    /// Takes one more request.
    pub fn add(&mut self, request: &Request) {
        self.first.get_or_insert(request.arrival);
        let next = u32::try_from(self.volumes.len()).unwrap_or(u32::MAX);
        self.volumes.entry(request.volume).or_insert(next);
        if request.operation == Operation::Flush || request.sectors == 0 {
            return;
        }
        let first = request.sector / self.sectors;
        let last = (request.end() - 1) / self.sectors;
        for region in first..=last {
            self.touched.insert((request.volume, region));
            if region < last {
                self.joined.insert((request.volume, region));
            }
        }
    }

    /// Lays the regions out anew; equal seeds give equal layouts. Nothing if they do not fit in the address space.
    #[must_use]
    pub fn shuffled(self, seed: u64) -> Option<Anonymizer> {
        let mut chains: BTreeMap<u32, Vec<Vec<u64>>> = BTreeMap::new();
        let mut chained = false;
        for (volume, region) in &self.touched {
            let chains = chains.entry(*volume).or_default();
            match chains.last_mut() {
                Some(chain) if chained => chain.push(*region),
                _ => chains.push(vec![*region]),
            }
            chained = self.joined.contains(&(*volume, *region));
        }
        let mut random = Random::new(seed);
        let mut places = BTreeMap::new();
        for (volume, mut chains) in chains {
            for index in (1..chains.len()).rev() {
                let other = random.below(index as u64 + 1);
                chains.swap(index, usize::try_from(other).expect("an index"));
            }
            for (place, region) in (0..).zip(chains.into_iter().flatten()) {
                let start = self.sectors.checked_mul(place)?;
                start
                    .checked_add(self.sectors)
                    .filter(|end| *end <= SECTORS_MAX)?;
                places.insert((volume, region), start);
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
    /// `request` at its new time and place; nothing if the first pass did not see it.
    #[must_use]
    pub fn apply(&self, request: &Request) -> Option<Request> {
        let mut moved = *request;
        moved.arrival = request.arrival.checked_sub(self.first)?;
        moved.volume = *self.volumes.get(&request.volume)?;
        if request.operation != Operation::Flush {
            let region = (request.volume, request.sector / self.sectors);
            moved.sector = self.places.get(&region)? + request.sector % self.sectors;
        }
        Some(moved)
    }
}
