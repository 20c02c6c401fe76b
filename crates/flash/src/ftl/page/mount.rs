//! The page-mapped device after a loss of power: which copy of each page is taken, and on which die.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::PageFtl;
use super::die::{Die, OnDie};
use crate::mount::{FoundBlock, Place, Scan};

impl PageFtl {
    /// Takes over what `scan` has found, and adds to `places` the copy it takes of each page. `apart` hears of each die and what
    /// is found there, once that has its map: a layer built upon this one finds its own blocks, and says whether it can make room
    /// besides garbage collection.
    pub(in crate::ftl) fn take_over(
        &mut self,
        scan: &Scan,
        places: &mut Vec<Place>,
        apart: &mut dyn FnMut(usize, &mut Die, &[FoundBlock]) -> bool,
    ) {
        let copies = scan.copies();
        let mut newest = Vec::new();
        let mut on: Vec<OnDie> = vec![OnDie::default(); self.dies.len()];
        for of_page in copies.chunk_by(|one, next| one.page == next.page) {
            let Some((place, others)) = of_page.split_last() else {
                continue;
            };
            let number = self.number_in_die(place.page);
            let on = &mut on[place.die as usize];
            on.valid.push((number, place.at));
            let is_equal = |other: &&Place| {
                let (one, other) = (place.rank, other.rank);
                (one.version, one.is_whole) == (other.version, other.is_whole)
            };
            let equal = others.iter().filter(is_equal);
            let here = equal.filter(|other| other.die == place.die);
            on.equal.extend(here.map(|other| (number, other.at)));
            newest.push(*place);
        }
        let mut moved = BTreeMap::new();
        for (number, (die, on)) in self.dies.iter_mut().zip(&on).enumerate() {
            let found = &scan.dies[number];
            die.mount(found, on);
            if apart(number, die, found) {
                continue;
            }
            for (from, to) in die.discard_copies(found, on) {
                moved.insert((number as u32, from), to);
            }
        }
        for place in &mut newest {
            if let Some(to) = moved.get(&(place.die, place.at)) {
                place.at = *to;
            }
        }
        if let Some(placement) = &mut self.placement {
            for place in &newest {
                placement.found(place.page.0 as u32, place.die);
            }
        }
        places.extend(newest);
    }
}
