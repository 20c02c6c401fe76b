//! `dulo`: destages long runs of consecutive pages before short ones and single pages.
//!
//! A page of a long run is cheap to program, and cheap to program again if it is rewritten. A single page is
//! expensive. *Dual locality* combines the position of pages (spatial locality) with the time of their last use
//! (temporal locality). It is the GreedyDual algorithm with 1 / length of the run as the cost.
//!
//! ```text
//!   written            stage (FIFO)              sequences, by length, oldest first
//!   or hit   ---->  [ 9 40 8 7 23 ]  ---->   1: 5 (H 1.25)  30 (H 2)
//!                     oldest leaves          3: 12-14 (H 1.33)
//!                     with its run           4: 0-3 (H 0.75)      <-- least H leaves, L becomes 0.75
//! ```
//!
//! New and rewritten pages first enter a small stage, where runs can form. When the stage overflows, its oldest page
//! leaves the stage together with all adjacent staged pages. These pages become one *sequence* with H = L + 1 /
//! length. The victim is the sequence with the smallest H, and L becomes that H. A short run therefore stays longer
//! than a long run, but not forever. A page that is hit returns to the stage. The other pages of its sequence remain
//! a sequence with the same H.
//!
//! L never decreases, so the sequences of one length are always in the order of their H. To find the smallest H, only
//! the oldest sequence of each length has to be compared.
//!
//! Cost: O(log of the longest run) per call, plus one step per page of a victim. Memory: up to 64 bytes per page.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{Lpn, choices, parameters, table};

use crate::clusters::{ClusterId, Rings};
use crate::destage::{Grouping, Slot};
use crate::groups::Groups;
use crate::order::SlotList;
use crate::page_map::PageMap;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

choices! {
    /// The values of `dulo_cut`.
    enum Cut {
        Block = "block",
        None = "none",
    }
}

choices! {
    /// The values of `dulo_stage_hit`.
    enum StageHit {
        Stay = "stay",
        Renew = "renew",
    }
}

parameters! {
    /// The parameters of `dulo`.
    struct Parameters {
        /// How many of the pages written last stay in the stage, where they can form a run with other pages.
        dulo_stage: u32 = "32" in Kind::Integer { min: 0, max: 65536 }, "pages", "Ours; the paper's sequencing bank is larger, and so is its buffer.";
        /// Whether a run ends at the boundary of a logical block.
        dulo_cut: Cut = "block", "", "Ours.";
        /// Whether a staged page that is written again keeps its position in the stage or becomes the newest page of
        /// the stage.
        dulo_stage_hit: StageHit = "stay", "", "Ours; the paper has a FIFO, and does not say what a hit changes.";
    }
}

/// The row of `dulo`.
pub const ROW: SchemeRow = SchemeRow {
    name: "dulo",
    family: "run",
    about: "Destages long runs of consecutive pages before short ones and single pages.",
    source: "Jiang et al., DULO, FAST 2005; simplified to one stage and one set of sequences.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Clusters],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let stage = parameters.dulo_stage as usize;
        let (cluster, grouping) = match parameters.dulo_cut {
            Cut::Block => (u64::from(config.cluster_pages), Grouping::Cluster),
            Cut::None => (u64::MAX, Grouping::Pages),
        };
        let longest = (stage as u64 + 1).min(cluster) as u32;
        Box::new(Dulo {
            stage: Stage {
                order: SlotList::new(stage as u32 + 1),
                places: PageMap::with_capacity(stage + 1),
                slots: vec![Slot(0); stage + 1],
                free: (0..=stage as u32).collect(),
                pages: stage,
            },
            renews: parameters.dulo_stage_hit == StageHit::Renew,
            cluster,
            grouping,
            sequences: Groups::new(),
            by_length: Rings::new(longest + 1, 0),
            longest,
            oldest: Contest::new(longest as usize + 1),
            sequence: Vec::new(),
            inflation: 0,
            made: 0,
        })
    })
};

/// The H of a single page while L is 0. H is stored in units of 2^-32, rounded down, because sums of integers are the
/// same on every machine.
const ONE: u64 = 1 << 32;

/// H, and for equal H the number of the sequence in the order in which sequences were made.
type Rank = (u64, u64);

/// The rank of a length without sequences. It is larger than the rank of every sequence.
const NEVER: Rank = (u64::MAX, u64::MAX);

/// The rank of a sequence, and the length that the sequence had when it was made.
#[derive(Clone, Copy)]
struct Sequence {
    rank: Rank,
    length: u32,
}

/// The stage. Its pages are stored at places, which are numbered separately from slots. The stage has so few places
/// that they remain in the cache of the processor.
struct Stage {
    /// The staged pages, by place. Front: the page that leaves the stage next.
    order: SlotList,
    /// The map from pages to places.
    places: PageMap<()>,
    /// The slot of the page at each place.
    slots: Vec<Slot>,
    /// The free places.
    free: Vec<u32>,
    pages: usize,
}

struct Dulo {
    stage: Stage,
    renews: bool,
    /// A run ends before a page whose number is divisible by this number.
    cluster: u64,
    grouping: Grouping,
    sequences: Groups,
    /// One list for each length that sequences had when they were made. Front: the oldest sequence.
    by_length: Rings,
    longest: u32,
    /// By length: the rank of the oldest sequence.
    oldest: Contest,
    sequence: Vec<Sequence>,
    /// L: the H of the latest victim.
    inflation: u64,
    made: u64,
}

impl Scheme for Dulo {
    fn insert(&mut self, entry: Entry, _: &Access) {
        self.push(entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Read {
            return;
        }
        if self.sequences.find(entry.slot).is_some() {
            self.leave_sequence(entry.slot);
            self.push(entry);
        } else if self.renews
            && let Some(place) = self.stage.places.get(entry.page)
        {
            self.stage.order.move_to_back(Slot(place));
        }
    }

    fn remove(&mut self, entry: Entry) {
        if self.sequences.find(entry.slot).is_some() {
            self.leave_sequence(entry.slot);
        } else {
            self.unstage(entry.page);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Need::FlushPage(entry) = need {
            self.remove(entry);
            victim.entries.push(entry);
            return;
        }
        if self.sequences.is_empty() {
            self.close_run();
        }
        let (length, (least, _)) = self.oldest.least();
        if let Some(sequence) = self.by_length.front(length as u32) {
            self.inflation = least;
            self.forget(sequence);
            self.sequences.take(sequence, &mut victim.entries);
            victim.grouping = self.grouping;
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list(
            "Stage",
            "entered last",
            "leaves the stage next, with its run",
        );
        let staged = self.stage.order.iter_back();
        list.row(staged.map(|Entry { page, slot }| Entry {
            page,
            slot: self.stage.slots[slot.0 as usize],
        }));
        let list = shown.list("Sequences", "greatest H", "least H leaves next");
        let lengths = 0..self.longest + 1;
        let mut sequences: Vec<_> = lengths
            .flat_map(|length| self.by_length.iter(length))
            .collect();
        sequences.sort_by_key(|sequence| core::cmp::Reverse(self.sequence[sequence.index()].rank));
        for sequence in sequences {
            // The value is in thousandths, because integers look the same on every machine.
            let h = u128::from(self.sequence[sequence.index()].rank.0) * 1000 / u128::from(ONE);
            let group = list.group(format!("H {}.{:03}", h / 1000, h % 1000), Frame::Row);
            self.sequences
                .iter(sequence)
                .for_each(|entry| group.page(entry, ""));
        }
    }

    fn len(&self) -> usize {
        self.stage.order.len() + self.sequences.len()
    }
}

impl Dulo {
    /// Puts a page into the stage. If the stage then has one page too many, a run leaves the stage.
    fn push(&mut self, entry: Entry) {
        // The stage never has more than one page too many, and one more place exists for that page.
        let place = self.stage.free.pop().unwrap_or_default();
        let page = entry.page;
        let slot = Slot(place);
        self.stage.order.push_back(Entry { page, slot });
        self.stage.slots[place as usize] = entry.slot;
        let (position, _) = self.stage.places.locate(page);
        self.stage.places.set_at(position, page, place, ());
        if self.stage.order.len() > self.stage.pages {
            self.close_run();
        }
    }

    /// Removes `page` from the stage, if it is there.
    fn unstage(&mut self, page: Lpn) -> Option<Entry> {
        let place = self.stage.places.remove(page)?;
        self.stage.order.remove(Slot(place));
        self.stage.free.push(place);
        let slot = self.stage.slots[place as usize];
        Some(Entry { page, slot })
    }

    /// Moves the oldest staged page, with the run that contains it, out of the stage as a sequence.
    fn close_run(&mut self) {
        let Some(Entry {
            page: Lpn(oldest), ..
        }) = self.stage.order.front()
        else {
            return;
        };
        let mut page = oldest;
        while !page.is_multiple_of(self.cluster) && self.stage.places.get(Lpn(page - 1)).is_some() {
            page -= 1;
        }
        let mut sequence = None;
        while let Some(entry) = self.unstage(Lpn(page)) {
            match sequence {
                None => sequence = Some(self.sequences.start(entry)),
                Some(sequence) => self.sequences.join(sequence, entry),
            }
            page += 1;
            if page.is_multiple_of(self.cluster) {
                break;
            }
        }
        if let Some(sequence) = sequence {
            self.remember(sequence);
        }
    }

    /// Gives a new sequence its rank, and puts the sequence into the list of its length.
    fn remember(&mut self, sequence: ClusterId) {
        let length = self.sequences.pages(sequence);
        self.made += 1;
        let rank = (self.inflation + ONE / u64::from(length), self.made);
        let made = Sequence { rank, length };
        *table::at(&mut self.sequence, sequence.index(), made) = made;
        if self.by_length.is_list_empty(length) {
            self.oldest.set(length as usize, rank);
        }
        self.by_length.push_back(length, sequence);
    }

    /// Removes a sequence from its list.
    fn forget(&mut self, sequence: ClusterId) {
        let length = self.sequence[sequence.index()].length;
        let was_oldest = self.by_length.front(length) == Some(sequence);
        self.by_length.remove(sequence);
        if was_oldest {
            let rank = match self.by_length.front(length) {
                Some(next) => self.sequence[next.index()].rank,
                None => NEVER,
            };
            self.oldest.set(length as usize, rank);
        }
    }

    fn leave_sequence(&mut self, slot: Slot) {
        let (sequence, left) = self.sequences.leave(slot);
        if left == 0 {
            self.forget(sequence);
        }
    }
}

/// Finds the smallest of a fixed number of ranks. The structure is a tournament tree: each node is the smaller of its
/// two children.
struct Contest {
    /// Node 1 is the root, and the children of node n are 2n and 2n + 1. Each node has a rank and the index of this
    /// rank in the last row.
    nodes: Vec<(Rank, usize)>,
}

impl Contest {
    fn new(ranks: usize) -> Self {
        Self {
            nodes: vec![(NEVER, 0); ranks.next_power_of_two() * 2],
        }
    }

    fn set(&mut self, index: usize, rank: Rank) {
        let mut node = self.nodes.len() / 2 + index;
        self.nodes[node] = (rank, index);
        while node > 1 {
            node /= 2;
            let lesser = self.nodes[node * 2].min(self.nodes[node * 2 + 1]);
            self.nodes[node] = lesser;
        }
    }

    fn least(&self) -> (usize, Rank) {
        let (rank, index) = self.nodes[1];
        (index, rank)
    }
}
