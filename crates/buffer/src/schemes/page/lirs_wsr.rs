//! `lirs-wsr`: destages pages whose last two uses lie far apart, and dirty ones only at the second try.
//!
//! LIRS keeps the pages with a low *inter-reference recency* (LIR: how many other pages came between
//! the last two uses) and lets the rest (HIR) pass through a short queue. A page earns its place by a
//! second use soon after the first, so a long run of single uses, fatal to LRU, only passes through.
//! Write sequence reordering (WSR) adds that a dirty page at the head of the queue goes round once
//! more before it is programmed, unless nobody used it since its last round.
//!
//! ```text
//!   stack, top: latest use        [H] [L] [gone] [L] [H] [L]   its bottom is always LIR
//!   queue, front: next victim     [H] [H] [H]                  HIR pages, in the stack or not
//! ```
//!
//! The stack remembers pages that left (gone): one that returns while it is remembered becomes LIR, and
//! the LIR page at the bottom becomes HIR. The papers let that memory grow without bound;
//! `lirs_history` bounds it, dropping first what left first.
//!
//! Reads enter and count as uses, so there are clean pages: they leave without a program, and flush
//! and FUA leave pages here, clean.
//!
//! Cost: O(1) amortised per call; a node per page in RAM and per page remembered.

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::parameter::{Kind, Parameter};

use crate::destage::Slot;
use crate::order::{SlotList, SlotLists};
use crate::page_map::PageMap;
use crate::registry::SchemeRow;
use crate::scheme::{Access, Entry, Need, Operation, Scheme, Victim};
use crate::view::View;

/// The row of `lirs-wsr`.
pub const ROW: SchemeRow = SchemeRow {
    name: "lirs-wsr",
    family: "page",
    about: "Destages pages whose last two uses lie far apart; dirty ones get a second chance.",
    source: "Jiang and Zhang, LIRS, SIGMETRICS 2002; Jung et al., LIRS-WSR, ICCSA 2007.",
    reconstructed: false,
    parameters: &[
        Parameter {
            name: "hir_frac",
            kind: Kind::Number { min: 0.0, max: 1.0 },
            default: "0.01",
            unit: "",
            about: "Share of the buffer that pages with far uses pass through, rounded down; at least 1 page.",
            source: "LIRS (2002), section 3.",
        },
        Parameter {
            name: "lirs_history",
            kind: Kind::Number {
                min: 0.0,
                max: 1024.0,
            },
            default: "2",
            unit: "",
            about: "How many pages that left are remembered at most, in buffer capacities.",
            source: "Ours; LIRS sets no bound, its authors find small multiples to be enough.",
        },
    ],
    build: |config| {
        let capacity = config.capacity_pages;
        let hir = (config.values.number("hir_frac") * f64::from(capacity)) as u32;
        let history = config.values.number("lirs_history") * f64::from(capacity);
        Some(Box::new(LirsWsr {
            stack: SlotList::new(capacity),
            queues: SlotLists::new(2, capacity),
            dirty: SlotLists::new(2, capacity),
            nodes: Vec::with_capacity(capacity as usize),
            node_of: Vec::with_capacity(capacity as usize),
            free: Vec::new(),
            history: PageMap::with_capacity(0),
            history_max: history as usize,
            lir: 0,
            lir_max: capacity - hir.clamp(1, capacity),
            resident: 0,
        }))
    },
};

/// Resident HIR pages, front: the next victim; and the dirty ones among them, in the same order.
const QUEUE: u32 = 0;
/// In `queues`: pages that left and are in the stack, front: the first to have left.
const GONE: u32 = 1;
/// In `dirty`: dirty LIR pages, front: the one nearest the bottom of the stack.
const LIR: u32 = 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// Resident, used twice within a short distance.
    Lir,
    /// Resident, and in the queue.
    Hir,
    /// Left, but remembered by the stack.
    Gone,
}

#[derive(Clone, Copy)]
struct Node {
    /// Where the page is while it is resident.
    slot: Slot,
    status: Status,
    in_stack: bool,
    dirty: bool,
    /// Went round the queue once since its last use.
    cold: bool,
}

/// All lists are over nodes, which outlive a page's stay in its slot.
struct LirsWsr {
    /// Front: top, the latest use.
    stack: SlotList,
    queues: SlotLists,
    /// Dirty pages in the order a flush takes them: they follow the moves of queue and stack.
    dirty: SlotLists,
    nodes: Vec<Node>,
    /// By slot.
    node_of: Vec<u32>,
    free: Vec<u32>,
    /// The nodes of pages that left.
    history: PageMap,
    history_max: usize,
    lir: u32,
    lir_max: u32,
    resident: usize,
}

impl Scheme for LirsWsr {
    fn insert(&mut self, entry: Entry, access: &Access) {
        let dirty = access.operation == Operation::Write;
        let (node, status) = match self.history.remove(entry.page) {
            Some(node) => {
                self.queues.remove(Slot(node));
                self.stack.move_to_front(Slot(node));
                (node, Status::Lir)
            }
            None => {
                let node = self.free.pop().unwrap_or(self.nodes.len() as u32);
                self.stack.push_front(Entry {
                    page: entry.page,
                    slot: Slot(node),
                });
                let is_filling = self.lir < self.lir_max;
                (node, if is_filling { Status::Lir } else { Status::Hir })
            }
        };
        self.set_node(
            node,
            Node {
                slot: entry.slot,
                status,
                in_stack: true,
                dirty,
                cold: false,
            },
        );
        let as_node = Entry {
            page: entry.page,
            slot: Slot(node),
        };
        match status {
            Status::Lir => self.lir += 1,
            _ => self.queues.push_back(QUEUE, as_node),
        }
        if dirty {
            self.dirty.push_back(dirty_list(status), as_node);
        }
        self.resident += 1;
        self.settle();
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let index = self.node_of[entry.slot.0 as usize];
        let was = self.nodes[index as usize];
        let node = &mut self.nodes[index as usize];
        node.dirty |= access.operation == Operation::Write;
        node.cold = false;
        node.in_stack = true;
        let index = Slot(index);
        if was.in_stack {
            node.status = Status::Lir;
            self.stack.move_to_front(index);
            if was.status == Status::Hir {
                self.queues.remove(index);
                self.lir += 1;
            }
        } else {
            let page = entry.page;
            self.stack.push_front(Entry { page, slot: index });
            self.queues.move_to_back(QUEUE, index);
        }
        let list = dirty_list(node.status);
        if was.dirty {
            self.dirty.move_to_back(list, index);
        } else if node.dirty {
            let page = entry.page;
            self.dirty.push_back(list, Entry { page, slot: index });
        }
        self.settle();
    }

    fn remove(&mut self, entry: Entry) {
        let index = self.node_of[entry.slot.0 as usize];
        let node = self.nodes[index as usize];
        if node.in_stack {
            self.stack.remove(Slot(index));
        }
        match node.status {
            Status::Lir => self.lir -= 1,
            _ => _ = self.queues.remove(Slot(index)),
        }
        if node.dirty {
            self.dirty.remove(Slot(index));
        }
        self.free.push(index);
        self.resident -= 1;
        self.prune();
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let cleaned = match need {
            Need::Room(_) => None,
            Need::Empty => self.dirty.front(QUEUE).or_else(|| self.dirty.front(LIR)),
            Need::Page(entry) => Some(Entry {
                page: entry.page,
                slot: Slot(self.node_of[entry.slot.0 as usize]),
            }),
        };
        match cleaned {
            Some(entry) => self.write_back(entry, victim),
            None => victim.entries.extend(self.pop()),
        }
    }

    fn allocates_reads(&self) -> bool {
        true
    }

    fn len(&self) -> usize {
        self.resident
    }
}

impl LirsWsr {
    fn set_node(&mut self, index: u32, node: Node) {
        match self.nodes.get_mut(index as usize) {
            Some(held) => *held = node,
            None => self.nodes.push(node),
        }
        let slot = node.slot.0 as usize;
        if slot >= self.node_of.len() {
            self.node_of.resize(slot + 1, 0);
        }
        self.node_of[slot] = index;
    }

    /// The page stays. It counts as clean from here on, not only once it is programmed, so that how
    /// fast the flash is decides nothing.
    fn write_back(&mut self, entry: Entry, victim: &mut Victim) {
        let node = &mut self.nodes[entry.slot.0 as usize];
        if core::mem::take(&mut node.dirty) {
            self.dirty.remove(entry.slot);
        }
        victim.entries.push(Entry {
            page: entry.page,
            slot: node.slot,
        });
        victim.keep = true;
    }

    /// Takes out the first page of the queue that is clean, or has gone round already.
    ///
    /// Ends: each round marks a page, and then all of them are marked.
    fn pop(&mut self) -> Option<Entry> {
        let (entry, node) = loop {
            let Some(entry) = self.queues.front(QUEUE) else {
                // LIR pages never fill the buffer; only one that shrank could come to this.
                return self.pop_lir();
            };
            let node = &mut self.nodes[entry.slot.0 as usize];
            if !node.dirty || node.cold {
                break (entry, *node);
            }
            node.cold = true;
            self.queues.move_to_back(QUEUE, entry.slot);
            self.dirty.move_to_back(QUEUE, entry.slot);
            if node.in_stack {
                self.stack.move_to_front(entry.slot);
            }
        };
        self.queues.remove(entry.slot);
        if node.dirty {
            self.dirty.remove(entry.slot);
        }
        if node.in_stack {
            self.remember(entry);
        } else {
            self.free.push(entry.slot.0);
        }
        self.resident -= 1;
        Some(Entry {
            page: entry.page,
            slot: node.slot,
        })
    }

    #[cold]
    fn pop_lir(&mut self) -> Option<Entry> {
        let entry = self.stack.back()?;
        let resident = Entry {
            page: entry.page,
            slot: self.nodes[entry.slot.0 as usize].slot,
        };
        self.remove(resident);
        Some(resident)
    }

    /// The page of this node has left; its place in the stack stays.
    fn remember(&mut self, entry: Entry) {
        let index = entry.slot.0;
        self.nodes[index as usize].status = Status::Gone;
        self.queues.push_back(GONE, entry);
        let (position, _) = self.history.locate(entry.page);
        self.history.set_at(position, entry.page, index, 0);
        if self.history.len() > self.history_max
            && let Some(oldest) = self.queues.front(GONE)
        {
            self.stack.remove(oldest.slot);
            self.forget(oldest);
        }
    }

    /// A remembered page, no longer in the stack, is forgotten.
    fn forget(&mut self, entry: Entry) {
        self.queues.remove(entry.slot);
        self.history.remove(entry.page);
        self.free.push(entry.slot.0);
    }

    /// After a page became LIR: there may be one too many.
    fn settle(&mut self) {
        if self.lir > self.lir_max
            && let Some(bottom) = self.stack.pop_back()
        {
            let node = &mut self.nodes[bottom.slot.0 as usize];
            debug_assert!(
                node.status == Status::Lir,
                "the bottom of the stack is not LIR"
            );
            node.status = Status::Hir;
            node.in_stack = false;
            self.queues.push_back(QUEUE, bottom);
            if node.dirty {
                self.dirty.move_to_back(QUEUE, bottom.slot);
            }
            self.lir -= 1;
        }
        self.prune();
    }

    /// What lies below the lowest LIR page was used too long ago to become LIR by its next use.
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.back() {
            let node = &mut self.nodes[bottom.slot.0 as usize];
            if node.status == Status::Lir {
                break;
            }
            self.stack.remove(bottom.slot);
            node.in_stack = false;
            if node.status == Status::Gone {
                self.forget(bottom);
            }
        }
    }
}

fn dirty_list(status: Status) -> u32 {
    if status == Status::Lir { LIR } else { QUEUE }
}
