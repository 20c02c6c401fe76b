//! The page mapping after a loss of power: which copy of each page is used, and on which die it is.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::PageFtl;
use super::die::Die;
use destage_nand::array::Ppn;
use destage_nand::found::{FoundBlock, Place, Scan};

impl PageFtl {
    /// Restores the state of the device from `scan`. For each logical page, `take` receives the copy that is used.
    /// A layer that is built on this one passes `apart`, which is called for each die after the map of the die is
    /// restored. `apart` receives the findings of the die, and takes over the blocks of that layer. It returns
    /// whether the layer can free blocks in a way other than by garbage collection.
    pub(crate) fn take_over(
        &mut self,
        scan: &Scan,
        take: &mut dyn FnMut(Place),
        apart: &mut dyn FnMut(usize, &mut Die, &[FoundBlock]) -> bool,
    ) {
        for (die, found) in self.dies.iter_mut().zip(&scan.dies) {
            die.restore(found);
        }
        let mut equal: Vec<Vec<(u32, Ppn)>> = vec![Vec::new(); self.dies.len()];
        scan.copies(|of_page| {
            let Some((place, others)) = of_page.split_last() else {
                return;
            };
            let number = self.number_in_die(place.page);
            let die = place.die as usize;
            self.dies[die].found(number, place.at, &scan.dies[die]);
            let is_equal = |other: &&Place| {
                let (one, other) = (place.rank, other.rank);
                (one.version, one.is_whole) == (other.version, other.is_whole)
            };
            let others = others.iter().filter(is_equal);
            let here = others.filter(|other| other.die == place.die);
            equal[die].extend(here.map(|other| (number, other.at)));
        });
        let mut moved = BTreeMap::new();
        for (number, (die, equal)) in self.dies.iter_mut().zip(&equal).enumerate() {
            let found = &scan.dies[number];
            die.mount(found);
            if apart(number, die, found) {
                continue;
            }
            for (from, to) in die.discard_copies(found, equal) {
                moved.insert((number as u32, from), to);
            }
        }
        scan.copies(|of_page| {
            let Some(place) = of_page.last() else {
                return;
            };
            if let Some(placement) = &mut self.placement {
                let page = place.page.0 as u32;
                placement.found(page, place.die);
                let at = &self.dies[place.die as usize].extras;
                let handle = at.streams.as_ref().map(|streams| streams.handle(page));
                let keeper = page as usize % self.dies.len();
                if let (Some(handle), Some(streams)) =
                    (handle, &mut self.dies[keeper].extras.streams)
                {
                    streams.hint(page, handle);
                }
            }
            let moved_to = moved.get(&(place.die, place.at)).copied();
            take(Place {
                at: moved_to.unwrap_or(place.at),
                ..*place
            });
        });
    }
}
