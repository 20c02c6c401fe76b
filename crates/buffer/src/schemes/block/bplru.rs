//! `bplru`: block-level LRU that pads its victims and lets finished sequential blocks leave first.
//!
//! Three ideas, each with a switch, made for a translation layer with log blocks:
//!
//! * blocks in the order of their last write, as [`block_lru`](super::block_lru);
//! * *padding* (`pad`): missing pages of a victim are read from flash and programmed with it, so that its log block can replace the data block, with
//!   one erase and no copies afterwards;
//! * *compensation* (`comp`): a block that has just been written from its first page to its last will
//!   hardly be written again soon, so it goes to the old end of the order although it is the latest.
//!
//! `seq_detect` decides which blocks count as written in full. `strict`: offsets 0, 1, .. in this order without
//! another write to the block between; an offset 0 starts over, any other offset breaks the run until
//! then. `complete`: the write that completes the cluster, in whatever order. `burst`: all pages of the
//! block in any order by consecutive page writes, of any number of requests. In every case it is one
//! write at which the condition holds; later writes make the block the latest as usual.
//!
//! A compensated block stays until room is needed; with `comp_eager` it leaves when the device is idle.
//!
//! Cost: O(1) per call, O(k) for a victim of k pages, O(pages of a block) for padding.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::{Lpn, Ticks, choices, parameters, table};

use super::block_lru::{BlockLru, Rules};
use crate::clusters::{ClusterId, Place};
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The words of `seq_detect`.
    enum InFull {
        Strict = "strict",
        Complete = "complete",
        Burst = "burst",
    }
}

parameters! {
    /// The parameters of `bplru`.
    struct Parameters {
        pad: bool as super::PAD { default: "true" };
        /// Whether a block just written in full, in sequence, becomes the next victim.
        comp: bool = "true", "", "BPLRU (FAST 2008), section 3.3, LRU compensation.";
        /// When a block counts as just written in full: pages in order, all pages there, or all by consecutive writes.
        seq_detect: InFull = "strict", "", "Ours; BPLRU (FAST 2008), Figure 5, shows a run in order.";
        /// Whether compensated blocks are destaged as soon as the device is idle.
        comp_eager: bool = "false", "", "Ours; the paper waits until room is needed.";
        rules: Rules;
    }
}

/// The row of `bplru`.
pub const ROW: SchemeRow = SchemeRow {
    name: "bplru",
    family: "block",
    about: "Destages the block whose last write is oldest, padded; blocks written fully in order leave first.",
    source: "Kim and Ahn, BPLRU, FAST 2008.",
    reconstructed: false,
    parameters: Parameters::ROWS,
    needs_future: false,
    sees: &[Sees::Clusters],
    build: &|config| Box::new(Bplru::new(config)),
};

/// For a cluster: the offset that would continue its run of pages in order; or, once the block is compensated, the number of pages of a block, until
/// the cluster changes again.
type NextOffset = u32;

/// No offset continues the run. Larger than the pages of any block that fits in a buffer.
const BROKEN: NextOffset = u32::MAX;

struct Bplru {
    order: BlockLru<NextOffset>,
    compensation: Option<Detector>,
    eager: bool,
}

enum Detector {
    Strict,
    Complete,
    Burst(Burst),
}

/// The consecutive page writes to one cluster up to now.
#[derive(Default)]
struct Burst {
    cluster: Option<ClusterId>,
    /// When its latest page was written.
    latest: u64,
    /// When its first page was written.
    start: u64,
    /// How many different pages it wrote.
    pages: u32,
    /// By offset: when the page was last written by any burst; in this one, if not before `start`.
    written: Vec<u64>,
    /// Whether a block fits in the buffer.
    fits: bool,
}

impl Bplru {
    fn new(config: &SchemeConfig) -> Self {
        let parameters = Parameters::from_values(config.values);
        let detector = || match parameters.seq_detect {
            InFull::Strict => Detector::Strict,
            InFull::Complete => Detector::Complete,
            InFull::Burst => Detector::Burst(Burst {
                // A larger block is never there in full; then no offset needs a time.
                fits: config.cluster_pages <= config.capacity_pages,
                ..Burst::default()
            }),
        };
        Self {
            order: BlockLru::new(config, parameters.pad, &parameters.rules),
            compensation: parameters.comp.then(detector),
            eager: parameters.comp_eager,
        }
    }

    /// The page at `place` was written; `entered` if it was not there before.
    #[inline]
    fn compensate(&mut self, place: Place, entered: bool, access: &Access) {
        let Some(detector) = &mut self.compensation else {
            return;
        };
        let cluster_pages = self.order.clusters.cluster_pages();
        let complete = place.pages == cluster_pages;
        let next = self.order.clusters.data_mut(place.cluster);
        let in_full = match detector {
            Detector::Strict => {
                *next = match place.offset {
                    offset if offset == *next => offset + 1,
                    0 => 1,
                    _ => BROKEN,
                };
                *next == cluster_pages
            }
            Detector::Complete => entered && complete,
            Detector::Burst(burst) => {
                if entered && place.pages == 1 {
                    // A new cluster, perhaps under the number of the one before.
                    burst.cluster = None;
                }
                burst.write(place, access.virtual_time, cluster_pages)
            }
        };
        debug_assert!(complete || !in_full, "{place:?} lacks pages");
        if in_full {
            *next = cluster_pages;
            self.order.expose(place.cluster);
        } else if *next == cluster_pages {
            *next = BROKEN;
        }
    }
}

impl Burst {
    /// Whether this page is the last of all.
    fn write(&mut self, place: Place, now: u64, cluster_pages: u32) -> bool {
        if !self.fits {
            return false;
        }
        // A page that bypassed the buffer also counts as a write in between.
        if self.cluster != Some(place.cluster) || self.latest + 1 != now {
            self.cluster = Some(place.cluster);
            self.start = now;
            self.pages = 0;
        }
        self.latest = now;
        let written = table::at(&mut self.written, place.offset as usize, 0);
        self.pages += u32::from(*written < self.start);
        *written = now;
        let in_full = self.pages == cluster_pages;
        if in_full {
            self.cluster = None;
        }
        in_full
    }

    /// A page of `cluster` left alone.
    fn interrupt(&mut self, cluster: ClusterId) {
        if self.cluster == Some(cluster) {
            self.cluster = None;
        }
    }
}

impl Scheme for Bplru {
    fn insert(&mut self, entry: Entry, access: &Access) {
        let place = self.order.enter(entry);
        self.compensate(place, true, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            let place = self.order.renew(entry);
            self.compensate(place, false, access);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let place = self.order.drop_page(entry);
        if place.pages > 0 {
            *self.order.clusters.data_mut(place.cluster) = BROKEN;
        }
        if let Some(Detector::Burst(burst)) = &mut self.compensation {
            burst.interrupt(place.cluster);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        self.order.choose(need, victim);
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.order.visit(visit);
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        self.order.lacks_room(page, free)
    }

    fn idle(&mut self, _: Range<u32>, _: Ticks, _: &dyn View, victim: &mut Victim) {
        let Some(oldest) = self.order.oldest().filter(|_| self.eager) else {
            return;
        };
        if *self.order.clusters.data(oldest) == self.order.clusters.cluster_pages() {
            self.order.name(oldest, victim);
        }
    }

    fn show(&self, shown: &mut Shown) {
        let cluster_pages = self.order.clusters.cluster_pages();
        self.order.show_order(shown, |next| {
            let is_compensated = self.compensation.is_some() && *next == cluster_pages;
            if is_compensated {
                "written in full: leaves early"
            } else {
                ""
            }
        });
    }

    fn len(&self) -> usize {
        self.order.clusters.len()
    }
}
