//! `bplru`: block-level LRU that pads its victims and evicts completed sequential blocks first.
//!
//! The scheme has three parts, which are designed for a translation layer with log blocks. Padding and compensation
//! can be switched off:
//!
//! * blocks are in the order of their last write, as in [`block_lru`](super::block_lru);
//! * *padding* (`pad`): missing pages of a victim are read from flash and programmed together with the victim. The log
//!   block of the victim can then replace the data block with one erase and without further copies;
//! * *compensation* (`comp`): a block that has just been written from its first page to its last page will probably not
//!   be written again soon. It therefore moves to the old end of the order, although it was written last.
//!
//! `seq_detect` decides when a block counts as written in full. In each case the block moves at the write that fulfils
//! the condition. A later write makes the block the most recently used, as usual.
//!
//! - With `strict`, the offsets 0, 1, .. are written in this order without another write to the block in between. A
//!   write of offset 0 starts a new run, and a write of any other offset out of order ends the run.
//! - With `complete`, a write completes the cluster, whatever the order of its pages.
//! - With `burst`, consecutive page writes of any number of requests write all pages of the block, in any order.
//!
//! A compensated block remains in the buffer until room is needed. With `comp_eager` it is destaged when the device
//! is idle.
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
    /// The values of `seq_detect`.
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
        /// Whether a block that was just written in full becomes the next victim.
        comp: bool = "true", "", "BPLRU (FAST 2008), section 3.3, LRU compensation.";
        /// When a block counts as written in full. strict: when all its pages were written in order. complete: when its
        /// last missing page enters the buffer. burst: when consecutive page writes have written all its pages, in any
        /// order.
        seq_detect: InFull = "strict", "", "Ours; BPLRU (FAST 2008), Figure 5, shows a run in order.";
        /// Whether compensated blocks are destaged when the device is idle.
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
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| Box::new(Bplru::new(config)))
};

/// The offset that would continue the cluster's run of pages in order. For a compensated block, this value is the
/// number of pages of a block, until the cluster is written again or loses a page.
type NextOffset = u32;

/// Means that no offset continues the run. The value is larger than the number of pages of any block that fits in a
/// buffer.
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

/// The latest consecutive page writes to one cluster.
#[derive(Default)]
struct Burst {
    cluster: Option<ClusterId>,
    /// The virtual time of the latest of these writes.
    latest: u64,
    /// The virtual time of the first of these writes.
    start: u64,
    /// The number of different pages that these writes wrote.
    pages: u32,
    /// By offset: the virtual time at which a page of this offset was last written in any burst. If this time is not
    /// before `start`, the write belongs to this burst.
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
                // A larger block can never be complete in the buffer. In this case no times are needed.
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

    /// The page at `place` was written. `entered` says that the page was not in the buffer before.
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
                    // The cluster is new. It may have the number of the burst's cluster, which no longer exists.
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
    /// Notes a write. Returns whether all pages of the block are now written by this burst.
    fn write(&mut self, place: Place, now: u64, cluster_pages: u32) -> bool {
        if !self.fits {
            return false;
        }
        // Virtual time also counts pages that bypass the buffer. A write that bypasses the buffer therefore ends the
        // burst.
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

    /// Ends the burst if it is a burst of `cluster`, which has lost a page.
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
