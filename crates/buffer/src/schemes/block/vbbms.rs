//! `vbbms`: small virtual blocks, in one region for random requests and in another region for sequential requests.
//!
//! A request of many pages is sequential. Its pages will probably not be rewritten, so they pass through a queue. The
//! pages of all other requests are random, and are ordered by use. Both regions group pages into *virtual blocks*. A
//! virtual block is a run of a few pages, much smaller than a flash block. A victim is a virtual block. It therefore
//! has more than one page, and a hot page does not have to leave with a whole flash block.
//!
//! ```text
//!   random region, 3 of 5      MRU [ {0 1 .} {. 10 .} {24 25 26} ] LRU        virtual blocks of 3 pages
//!   sequential region, 2 of 5  new [ {40 41 42 43} {36 37 38 39} ] oldest     virtual blocks of 4 pages
//! ```
//!
//! If a region has more pages than its share of the buffer, its oldest virtual block is evicted. If no region exceeds
//! its share, the victim is from the region that the new page will enter, or in a flush from the random region. If
//! that region is empty, the victim is from the other region.
//!
//! Cost: O(1) per call, plus one step per page that leaves.

use alloc::boxed::Box;
use alloc::format;

use destage_base::parameter::Kind;
use destage_base::parameters;

use crate::clusters::{Clusters, Rings};
use crate::config::part_of;
use crate::destage::Grouping;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

parameters! {
    /// The parameters of `vbbms`.
    struct Parameters {
        /// A request of more pages than this is sequential.
        seq_thr: u32 = "8" in PAGES, "pages", "Ours.";
        /// Pages of a virtual block of the random region.
        vbbms_random_pages: u32 = "3" in SIZE, "pages", "VBBMS (2019).";
        /// Pages of a virtual block of the sequential region.
        vbbms_sequential_pages: u32 = "4" in SIZE, "pages", "VBBMS (2019).";
        /// Share of the buffer for the random region, rounded down.
        vbbms_random_share: f64 = "0.6" in Kind::Number { min: 0.0, max: 1.0 }, "", "VBBMS (2019): 3 to 2.";
    }
}

/// The row of `vbbms`.
pub const ROW: SchemeRow = SchemeRow {
    name: "vbbms",
    family: "block",
    about: "Evicts virtual blocks of a few pages: those of random requests in LRU order, those of sequential requests in FIFO order.",
    source: "Du et al., VBBMS, IEEE Transactions on Consumer Electronics, 2019.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let region = |block_pages| Region {
            blocks: Clusters::new(config.capacity_pages, block_pages),
            order: Rings::new(1, 0),
        };
        Box::new(Vbbms {
            random: region(parameters.vbbms_random_pages),
            sequential: region(parameters.vbbms_sequential_pages),
            random_share: part_of(parameters.vbbms_random_share, config.capacity_pages) as usize,
            capacity: config.capacity_pages as usize,
            threshold: parameters.seq_thr,
        })
    })
};

const PAGES: Kind = Kind::Integer {
    min: 0,
    max: u32::MAX as u64,
};
const SIZE: Kind = Kind::Integer {
    min: 1,
    max: u32::MAX as u64,
};

struct Region {
    blocks: Clusters,
    /// Front: the virtual block that was used last (random region) or created last (sequential region).
    order: Rings,
}

struct Vbbms {
    random: Region,
    sequential: Region,
    /// The number of pages of the random region's share. The rest of the capacity is the share of the sequential
    /// region.
    random_share: usize,
    capacity: usize,
    threshold: u32,
}

impl Scheme for Vbbms {
    fn insert(&mut self, entry: Entry, access: &Access) {
        if self.is_sequential(access) {
            let place = self.sequential.blocks.insert(entry);
            if place.pages == 1 {
                self.sequential.order.push_front(0, place.cluster);
            }
        } else {
            let place = self.random.blocks.insert(entry);
            self.random.order.bring_to_front(0, place.cluster);
        }
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write && self.random.blocks.contains(entry.slot) {
            let place = self.random.blocks.place(entry.slot);
            self.random.order.bring_to_front(0, place.cluster);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let region = self.region_of(entry);
        let place = region.blocks.remove(entry.slot);
        if place.pages == 0 {
            region.order.remove(place.cluster);
        }
    }

    fn evict(&mut self, need: Need, access: &Access, _: &dyn View, victim: &mut Victim) {
        let (region, block) = match need {
            Need::FlushPage(entry) => {
                let region = self.region_of(entry);
                let block = region.blocks.place(entry.slot).cluster;
                (region, Some(block))
            }
            Need::Evict(_) | Need::Flush => {
                let region = self.region_to_shrink(need, access);
                let block = region.order.back(0);
                (region, block)
            }
        };
        if let Some(block) = block {
            region.order.remove(block);
            region.blocks.take(block, &mut victim.entries);
            // A virtual block may cross the border of a flash block, so its pages are not a cluster.
            victim.grouping = Grouping::Pages;
        }
    }

    fn show(&self, shown: &mut Shown) {
        for (region, name, first) in [
            (&self.random, "Random region", "latest use"),
            (&self.sequential, "Sequential region", "newest"),
        ] {
            let share = match first {
                "newest" => self.capacity - self.random_share,
                _ => self.random_share,
            };
            let list = shown.list(name, first, "leaves next of this region");
            list.note(format!("its share is {share} pages"));
            for block in region.order.iter(0) {
                region.blocks.show(block, "", list);
            }
        }
    }

    fn len(&self) -> usize {
        self.random.blocks.len() + self.sequential.blocks.len()
    }
}

impl Vbbms {
    fn is_sequential(&self, access: &Access) -> bool {
        access.request_pages > self.threshold
    }

    fn region_of(&mut self, entry: Entry) -> &mut Region {
        if self.random.blocks.contains(entry.slot) {
            &mut self.random
        } else {
            &mut self.sequential
        }
    }

    fn region_to_shrink(&mut self, need: Need, access: &Access) -> &mut Region {
        let random = self.random.blocks.len();
        let sequential = self.sequential.blocks.len();
        let takes_random = if random > self.random_share {
            true
        } else if sequential > self.capacity - self.random_share {
            false
        } else {
            let grows = matches!(need, Need::Evict(_)) && self.is_sequential(access);
            if grows { sequential == 0 } else { random > 0 }
        };
        if takes_random {
            &mut self.random
        } else {
            &mut self.sequential
        }
    }
}
