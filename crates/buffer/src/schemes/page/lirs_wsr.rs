//! `lirs-wsr`: destages pages whose last two uses lie far apart, and dirty pages only at the second attempt.
//!
//! LIRS keeps the pages with a low *inter-reference recency* (LIR: how many other pages came between
//! the last two uses) and lets the rest (HIR) pass through a short queue. A page earns its place by a
//! second use soon after the first, so a long run of single uses, fatal to LRU, only passes through.
//! Write sequence reordering (WSR) adds that a dirty page at the head of the queue goes round once more before it is programmed, unless it was not
//! used since its last round.
//!
//! ```text
//!   stack, top: latest use        [H] [L] [gone] [L] [H] [L]   its bottom is always LIR
//!   queue, front: next victim     [H] [H] [H]                  HIR pages, in the stack or not
//! ```
//!
//! The stack remembers pages that left (gone): a page that returns while it is remembered becomes LIR, and the LIR page at the bottom becomes HIR.
//! The papers let that memory grow without bound;
//! `lirs_history` bounds it: pages that left first are dropped first.
//!
//! Reads enter and count as uses, so there are clean pages: they leave without a program, and flush
//! and FUA leave pages here, clean.
//!
//! Cost: O(1) amortised per call, a flush O(n log n) once; a node per slot and per page remembered.

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::list::{Item, List};
use destage_base::parameter::Kind;
use destage_base::{Lpn, parameters, table};

use crate::destage::Slot;
use crate::order::SlotList;
use crate::page_map::PageMap;
use crate::registry::SchemeRow;
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

parameters! {
    /// The parameters of `lirs-wsr`.
    struct Parameters {
        /// Share of the buffer that pages with far uses pass through, rounded down; at least 1 page.
        hir_frac: f64 = "0.01" in Kind::Number { min: 0.0, max: 1.0 }, "", "LIRS (2002), section 3.";
        /// How many pages that left are remembered at most, in buffer capacities.
        lirs_history: f64 = "2" in Kind::Number { min: 0.0, max: 1024.0 }, "", "Ours; LIRS sets no bound, its authors find small multiples to be enough.";
    }
}

/// The row of `lirs-wsr`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lirs-wsr",
    family: "page",
    about: "Destages pages whose last two uses lie far apart; dirty pages get a second chance.",
    source: "Jiang and Zhang, LIRS, SIGMETRICS 2002; Jung et al., LIRS-WSR, ICCSA 2007.",
    reconstructed: false,
    parameters: Parameters::ROWS,
    needs_future: false,
    sees: &[],
    build: &|config| {
        let parameters = Parameters::from_values(config.values);
        let capacity = config.capacity_pages;
        let hir = (parameters.hir_frac * f64::from(capacity)) as u32;
        let history = parameters.lirs_history * f64::from(capacity);
        Box::new(LirsWsr {
            stack: List::new(capacity.saturating_mul(2)),
            queue: SlotList::new(capacity),
            nodes: Vec::with_capacity(table::prepared(capacity)),
            dirty: Vec::with_capacity(table::prepared(capacity)),
            flush: Vec::new(),
            history: PageMap::with_capacity(0),
            gone: SlotList::new(0),
            free: Vec::new(),
            history_max: history as usize,
            clock: 0,
            lir: 0,
            lir_max: capacity.saturating_sub(hir.max(1)),
        })
    },
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// Used twice within a short distance.
    Lir,
    /// In the queue.
    Hir,
}

/// Stands for the place among the dirty pages of a page that is clean.
const CLEAN: u32 = u32::MAX;

/// A resident page.
#[derive(Clone, Copy)]
struct Node {
    /// When it last went to the end of the queue, or as an LIR page to the top of the stack.
    moved: u64,
    /// Where it is in `dirty`, or [`CLEAN`].
    dirty_place: u32,
    status: Status,
    in_stack: bool,
    /// Went round the queue once since its last use.
    cold: bool,
}

/// The pages in the stack.
#[derive(Clone, Copy)]
enum Stacked {
    Resident(Entry),
    /// A page that left, and its place in the history.
    Gone {
        page: Lpn,
        place: u32,
    },
}

/// The key of a page in the stack: the slot of a resident page, or the place in the history of a page that left.
#[derive(Clone, Copy)]
enum Number {
    Resident(Slot),
    Gone(u32),
}

/// Slots have the even numbers, places in the history the odd ones.
impl Item for Stacked {
    type Key = Number;
    type Value = Lpn;

    #[inline]
    fn number(key: Number) -> u32 {
        match key {
            Number::Resident(Slot(slot)) => 2 * slot,
            Number::Gone(place) => 2 * place + 1,
        }
    }

    #[inline]
    fn split(self) -> (u32, Lpn) {
        match self {
            Self::Resident(Entry { page, slot }) => (Self::number(Number::Resident(slot)), page),
            Self::Gone { page, place } => (Self::number(Number::Gone(place)), page),
        }
    }

    #[inline]
    fn join(number: u32, page: Lpn) -> Self {
        let place = number / 2;
        if number.is_multiple_of(2) {
            let slot = Slot(place);
            Self::Resident(Entry { page, slot })
        } else {
            Self::Gone { page, place }
        }
    }
}

struct LirsWsr {
    /// Front: top, the latest use.
    stack: List<Stacked>,
    /// Resident HIR pages, front: the next victim.
    queue: SlotList,
    /// By slot.
    nodes: Vec<Node>,
    /// The dirty pages, in no order.
    dirty: Vec<Entry>,
    /// The dirty pages still to be named by the flush under way, the next at the end; emptied by
    /// anything else that happens.
    flush: Vec<Entry>,
    /// Pages that left and are in the stack.
    history: PageMap,
    /// The pages of `history` in the order in which they left, the first to have left at the front.
    gone: SlotList,
    /// Places in the history that are free.
    free: Vec<u32>,
    history_max: usize,
    /// Counts moves.
    clock: u64,
    lir: u32,
    lir_max: u32,
}

impl Scheme for LirsWsr {
    fn properties(&self) -> Properties {
        Properties {
            allocates_reads: true,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.flush.clear();
        let returns = match self.history.get(entry.page) {
            Some(place) => {
                self.stack.remove(Number::Gone(place));
                self.forget(entry.page, place);
                true
            }
            None => false,
        };
        let status = if returns || self.lir < self.lir_max {
            self.lir += 1;
            Status::Lir
        } else {
            self.queue.push_back(entry);
            Status::Hir
        };
        self.stack.push_front(Stacked::Resident(entry));
        self.clock += 1;
        let node = Node {
            moved: self.clock,
            dirty_place: CLEAN,
            status,
            in_stack: true,
            cold: false,
        };
        *table::at(&mut self.nodes, entry.slot.0 as usize, node) = node;
        if access.kind == AccessKind::Write {
            self.make_dirty(entry);
        }
        self.settle();
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.flush.clear();
        self.clock += 1;
        let node = &mut self.nodes[entry.slot.0 as usize];
        node.moved = self.clock;
        node.cold = false;
        let is_clean = node.dirty_place == CLEAN;
        if node.in_stack {
            if node.status == Status::Hir {
                node.status = Status::Lir;
                self.lir += 1;
                self.queue.remove(entry.slot);
            }
            self.stack.move_to_front(Number::Resident(entry.slot));
        } else {
            node.in_stack = true;
            self.stack.push_front(Stacked::Resident(entry));
            self.queue.move_to_back(entry.slot);
        }
        if is_clean && access.kind == AccessKind::Write {
            self.make_dirty(entry);
        }
        self.settle();
    }

    fn remove(&mut self, entry: Entry) {
        self.flush.clear();
        let node = self.nodes[entry.slot.0 as usize];
        match node.status {
            Status::Lir => self.lir -= 1,
            Status::Hir => _ = self.queue.remove(entry.slot),
        }
        if node.in_stack {
            self.stack.remove(Number::Resident(entry.slot));
        }
        self.make_clean(entry.slot);
        self.prune();
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let kept = match need {
            Need::FlushPage(entry) => Some(entry),
            Need::Flush => self.next_to_flush(),
            Need::Evict(_) => None,
        };
        match kept {
            // The page counts as clean from here on, not only once it is programmed, so that the speed of the flash has no influence.
            Some(entry) => {
                self.make_clean(entry.slot);
                victim.entries.push(entry);
                victim.retain = true;
            }
            None => victim.entries.extend(self.pop()),
        }
        if need != Need::Flush {
            self.flush.clear();
        }
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list(
            "LIR pages, by the stack",
            "latest use",
            "next to become HIR",
        );
        let resident = self.stack.iter().filter_map(|stacked| match stacked {
            Stacked::Resident(entry) => Some(entry),
            Stacked::Gone { .. } => None,
        });
        let node = |entry: &Entry| self.nodes[entry.slot.0 as usize];
        list.row(resident.filter(|entry| node(entry).status == Status::Lir));
        let list = shown.list("HIR queue", "entered last", "leaves next");
        list.note("s: in the stack as well, c: passed once by the clock");
        let row = list.group("", Frame::Row);
        for entry in self.queue.iter_back() {
            let Node { in_stack, cold, .. } = node(&entry);
            row.page(
                entry,
                [if in_stack { "s" } else { "" }, if cold { "c" } else { "" }].concat(),
            );
        }
    }

    fn len(&self) -> usize {
        self.queue.len() + self.lir as usize
    }
}

impl LirsWsr {
    fn make_dirty(&mut self, entry: Entry) {
        self.nodes[entry.slot.0 as usize].dirty_place = self.dirty.len() as u32;
        self.dirty.push(entry);
    }

    fn make_clean(&mut self, slot: Slot) {
        let node = &mut self.nodes[slot.0 as usize];
        let place = core::mem::replace(&mut node.dirty_place, CLEAN);
        if place != CLEAN {
            self.dirty.swap_remove(place as usize);
            if let Some(moved) = self.dirty.get(place as usize) {
                self.nodes[moved.slot.0 as usize].dirty_place = place;
            }
        }
    }

    /// The dirty pages of the queue from its front, then the LIR pages from the bottom of the stack.
    fn next_to_flush(&mut self) -> Option<Entry> {
        if self.flush.is_empty() {
            self.flush.extend_from_slice(&self.dirty);
            let nodes = &self.nodes;
            self.flush.sort_unstable_by_key(|entry| {
                let node = &nodes[entry.slot.0 as usize];
                core::cmp::Reverse((node.status == Status::Lir, node.moved))
            });
        }
        self.flush.pop()
    }

    /// Takes out the first page of the queue that is clean, or has gone round already.
    ///
    /// Ends: each round marks a page, and then all of them are marked.
    fn pop(&mut self) -> Option<Entry> {
        loop {
            let Some(entry) = self.queue.front() else {
                // LIR pages alone never fill the buffer, so this is not about room.
                let Stacked::Resident(bottom) = self.stack.back()? else {
                    return None;
                };
                self.remove(bottom);
                return Some(bottom);
            };
            let node = &mut self.nodes[entry.slot.0 as usize];
            if node.dirty_place == CLEAN || node.cold {
                self.queue.remove(entry.slot);
                if node.in_stack {
                    self.remember(entry);
                }
                self.make_clean(entry.slot);
                return Some(entry);
            }
            self.clock += 1;
            node.moved = self.clock;
            node.cold = true;
            self.queue.move_to_back(entry.slot);
            if node.in_stack {
                self.stack.move_to_front(Number::Resident(entry.slot));
            }
        }
    }

    /// The page has left; its place in the stack stays.
    fn remember(&mut self, entry: Entry) {
        let place = self.free.pop().unwrap_or(self.history.len() as u32);
        let page = entry.page;
        self.stack
            .replace(Number::Resident(entry.slot), Stacked::Gone { page, place });
        let slot = Slot(place);
        self.gone.push_back(Entry { page, slot });
        let (position, _) = self.history.locate(page);
        self.history.set_at(position, page, place, 0);
        if self.history.len() > self.history_max
            && let Some(Entry { page, slot }) = self.gone.front()
        {
            self.stack.remove(Number::Gone(slot.0));
            self.forget(page, slot.0);
        }
    }

    /// A remembered page, no longer in the stack, is forgotten.
    fn forget(&mut self, page: Lpn, place: u32) {
        self.gone.remove(Slot(place));
        self.history.remove(page);
        self.free.push(place);
    }

    /// After a page became LIR: there may be one too many.
    fn settle(&mut self) {
        if self.lir > self.lir_max
            && let Some(Stacked::Resident(bottom)) = self.stack.pop_back()
        {
            self.clock += 1;
            let node = &mut self.nodes[bottom.slot.0 as usize];
            debug_assert!(
                node.status == Status::Lir,
                "the bottom of the stack is not LIR"
            );
            node.status = Status::Hir;
            node.in_stack = false;
            node.moved = self.clock;
            self.queue.push_back(bottom);
            self.lir -= 1;
        }
        self.prune();
    }

    /// Pages below the lowest LIR page were used too long ago to become LIR by their next use.
    fn prune(&mut self) {
        while let Some(lowest) = self.stack.back() {
            match lowest {
                Stacked::Resident(entry) => {
                    let node = &mut self.nodes[entry.slot.0 as usize];
                    if node.status == Status::Lir {
                        break;
                    }
                    node.in_stack = false;
                }
                Stacked::Gone { page, place } => self.forget(page, place),
            }
            self.stack.pop_back();
        }
    }
}
