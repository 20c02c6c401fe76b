//! `lirs-wsr`: destages pages whose last two uses are far apart. A dirty page gets a second chance.
//!
//! The *inter-reference recency* of a page is the number of other pages between the last two uses of the page. LIRS
//! keeps the pages with a low inter-reference recency (LIR pages). All other pages (HIR pages) pass through a short
//! queue. A page becomes LIR by a second use soon after the first use. A long run of pages that are used once would
//! empty an LRU buffer. In LIRS, such a run only passes through the queue.
//!
//! Write sequence reordering (WSR) treats dirty pages differently. When a dirty page reaches the front of the queue,
//! it moves to the back once and is not evicted. If it reaches the front again without a use in between, it is
//! evicted.
//!
//! ```text
//!   stack, top: latest use        [H] [L] [gone] [L] [H] [L]   its bottom is always LIR
//!   queue, front: next victim     [H] [H] [H]                  HIR pages, in the stack or not
//! ```
//!
//! The stack also contains pages that were evicted from the buffer (gone). If a page enters the buffer while it is in
//! the stack, it becomes LIR, and the LIR page at the bottom of the stack becomes HIR. In the papers, the number of
//! evicted pages in the stack is unbounded. `lirs_history` limits this number: the page that was evicted first is
//! removed from the stack first.
//!
//! Reads enter as clean pages and count as uses. A clean page is evicted without a program. Flush and FUA keep the
//! pages that they write back in the buffer, as clean pages.
//!
//! Cost: O(1) amortised per call, and O(n log n) once per flush. Memory: a node per slot and per evicted page in the
//! stack.

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::list::{Item, List};
use destage_base::parameter::Kind;
use destage_base::{Lpn, parameters, table};

use crate::config::part_of;
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
        /// Share of the buffer for the queue of HIR pages, rounded down; at least 1 page.
        hir_frac: f64 = "0.01" in Kind::Number { min: 0.0, max: 1.0 }, "", "LIRS (2002), section 3.";
        /// The maximum number of pages that are remembered after they left, as a multiple of the buffer's capacity.
        lirs_history: f64 = "2" in Kind::Number { min: 0.0, max: 1024.0 }, "", "Ours; LIRS sets no bound, its authors find small multiples to be enough.";
    }
}

/// The row of `lirs-wsr`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lirs-wsr",
    family: "page",
    about: "Destages pages whose last two uses lie far apart; dirty pages get a second chance.",
    source: "Jiang and Zhang, LIRS, SIGMETRICS 2002; Jung et al., LIRS-WSR, ICCSA 2007.",
    parameters: Parameters::ROWS,
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let capacity = config.capacity_pages;
        let hir = part_of(parameters.hir_frac, capacity);
        let history = part_of(parameters.lirs_history, capacity);
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
    })
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// A page whose last two uses were close together.
    Lir,
    /// Any other page. It is in the queue.
    Hir,
}

/// The `dirty_place` of a clean page.
const CLEAN: u32 = u32::MAX;

/// A resident page.
#[derive(Clone, Copy)]
struct Node {
    /// The number of the move that last put the page at the back of the queue. For an LIR page, the number of the
    /// move that last put the page on top of the stack.
    moved: u64,
    /// The page's index in `dirty`, or [`CLEAN`].
    dirty_place: u32,
    status: Status,
    in_stack: bool,
    /// Whether the page has been moved from the front to the back of the queue since its last use.
    cold: bool,
}

/// An entry of the stack.
#[derive(Clone, Copy)]
enum Stacked {
    Resident(Entry),
    /// A page that was evicted, and its number in the history.
    Gone {
        page: Lpn,
        place: u32,
    },
}

/// The key of an entry of the stack: the slot of a resident page, or the history number of an evicted page.
#[derive(Clone, Copy)]
enum Number {
    Resident(Slot),
    Gone(u32),
}

/// Slots are mapped to even numbers, and history numbers to odd numbers.
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
    /// Front: the top of the stack, with the page used last.
    stack: List<Stacked>,
    /// Resident HIR pages. Front: the next victim.
    queue: SlotList,
    /// The node of the page in each slot.
    nodes: Vec<Node>,
    /// The dirty pages, in no particular order.
    dirty: Vec<Entry>,
    /// The dirty pages that the flush in progress has not named yet. The next page to name is the last element. Any
    /// call other than a flush empties the list.
    flush: Vec<Entry>,
    /// The evicted pages that are in the stack, with their history numbers.
    history: PageMap,
    /// The pages of `history` in the order of their evictions. Front: the page that was evicted first.
    gone: SlotList,
    /// Free history numbers.
    free: Vec<u32>,
    history_max: usize,
    /// The number of moves so far.
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
            // The page counts as clean from now on, and not only when its program has ended. The speed of the flash
            // therefore has no influence.
            Some(entry) => {
                self.make_clean(entry.slot);
                victim.entries.push(entry);
                victim.retain = true;
            }
            // Another share of the buffer may have dirty pages. A flush evicts no clean ones.
            None if need == Need::Flush => {}
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

    /// The next page of a flush. First are the dirty pages of the queue from its front, then the dirty LIR pages from
    /// the bottom of the stack.
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

    /// Removes the first page of the queue that is clean or that has already been moved to the back once.
    ///
    /// The loop ends, because each pass marks a page as `cold`, until all pages of the queue are marked.
    fn pop(&mut self) -> Option<Entry> {
        loop {
            let Some(entry) = self.queue.front() else {
                // The LIR pages alone never fill the buffer, so the buffer is not full in this case.
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

    /// Records that the page was evicted. Its position in the stack remains.
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

    /// Removes a page from the history. The page must no longer be in the stack.
    fn forget(&mut self, page: Lpn, place: u32) {
        self.gone.remove(Slot(place));
        self.history.remove(page);
        self.free.push(place);
    }

    /// To be called after a page has become LIR. If the number of LIR pages is now one too high, the LIR page at the
    /// bottom of the stack becomes HIR.
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

    /// Removes the pages below the lowest LIR page from the stack. Their last use is so long ago that the next use
    /// cannot make them LIR.
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
