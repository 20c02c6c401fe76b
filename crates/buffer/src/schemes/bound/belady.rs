//! `belady`: destages the page whose next write is farthest in the future. The scheme knows all future writes.
//!
//! This is a bound for all schemes in which every written page enters the buffer. No such scheme has fewer write
//! misses. No such scheme therefore programs fewer pages, counting evictions and the final drain (Belady, 1966, MIN;
//! for the proof Mattson and others, 1970). The bound concerns only the number of pages: a scheme that destages more
//! pages in a better order may still cause fewer erases. The scheme knows only writes. After a trim, a flush, an FUA
//! write or a request that bypasses the buffer, another choice might have been better.
//!
//! The next write of the same page is computed once for each page write, at the start. A page that will not be
//! written again is evicted before all others. Of several such pages, the one that was written longest ago is
//! evicted.
//!
//! Cost: O(log n) per call, O(1) for pages without a next write. Memory: 4 bytes per future write, and a list node
//! and a heap node per slot.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

use destage_base::{Lpn, table};

use crate::destage::Slot;
use crate::heap::SlotHeaps;
use crate::order::SlotList;
use crate::page_map::PageMap;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Scheme, Victim};
use crate::shown::{Frame, Shown};
use crate::view::View;

/// The row of `belady`.
pub const ROW: SchemeRow = SchemeRow {
    name: "belady",
    family: "bound",
    about: "Destages the page whose next write is farthest away; needs to know all writes beforehand.",
    source: "Belady, IBM Systems Journal 5(2), 1966: MIN.",
    sees: &[Sees::Future],
    ..SchemeRow::of(&|config| {
        let Some(future) = config.future else {
            panic!(
                "belady chooses by the coming writes and was not told them; it can only run on a trace that is read to its end beforehand"
            );
        };
        Box::new(Belady {
            next_writes: next_writes(future),
            again: SlotHeaps::new(1),
            never: SlotList::new(config.capacity_pages),
            held: 0,
            lines: Vec::new(),
        })
    })
};

/// The next write of a page that will not be written again.
const NEVER: u32 = u32::MAX;

struct Belady {
    /// For each write, the virtual time of the next write of the same page. The index is the virtual time of the
    /// write minus 1.
    next_writes: Vec<u32>,
    /// Pages that will be written again. The page with the latest next write is evicted first.
    again: SlotHeaps<Reverse<u32>>,
    /// Pages that will not be written again. Front: the latest write.
    never: SlotList,
    held: usize,
    /// The state of the page in each slot.
    lines: Vec<Line>,
}

/// The state of the page in a slot.
#[derive(Clone, Copy)]
struct Line {
    page: Lpn,
    /// The virtual time of the page's next write, or [`NEVER`].
    next: u32,
}

impl Scheme for Belady {
    fn insert(&mut self, entry: Entry, access: &Access) {
        let next = self.next_write(access);
        let page = entry.page;
        let line = Line { page, next };
        *table::at(&mut self.lines, entry.slot.0 as usize, line) = line;
        self.held += 1;
        if next == NEVER {
            self.never.push_front(entry);
        } else {
            self.again.push(0, entry.slot, Reverse(next));
        }
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Read {
            return;
        }
        let expected = self.lines[entry.slot.0 as usize].next;
        assert!(
            u64::from(expected) == access.virtual_time,
            "write {} is of page {}, but the future that belady was told has another page there",
            access.virtual_time,
            entry.page
        );
        let next = self.next_write(access);
        self.lines[entry.slot.0 as usize].next = next;
        if next == NEVER {
            self.again.remove(0, entry.slot);
            self.never.push_front(entry);
        } else {
            self.again.change(0, entry.slot, Reverse(next));
        }
    }

    fn remove(&mut self, entry: Entry) {
        self.held -= 1;
        if self.lines[entry.slot.0 as usize].next == NEVER {
            self.never.remove(entry.slot);
        } else {
            self.again.remove(0, entry.slot);
        }
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        if let Need::FlushPage(entry) = need {
            self.remove(entry);
            victim.entries.push(entry);
            return;
        }
        let farthest = |slot: Slot| Entry {
            page: self.lines[slot.0 as usize].page,
            slot,
        };
        let first = self
            .never
            .pop_back()
            .or_else(|| self.again.pop(0).map(farthest));
        self.held -= usize::from(first.is_some());
        victim.entries.extend(first);
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("By next write", "next write is near", "leaves next");
        let row = list.group("", Frame::Row);
        for (Reverse(next), slot) in self.again.sorted(0).into_iter().rev() {
            let page = self.lines[slot.0 as usize].page;
            row.page(Entry { page, slot }, format!("{next}"));
        }
        self.never.iter().for_each(|entry| row.page(entry, "never"));
    }

    fn len(&self) -> usize {
        self.held
    }
}

impl Belady {
    /// The virtual time of the next write of the page that is being written now.
    fn next_write(&self, access: &Access) -> u32 {
        let index = access.virtual_time as usize - 1;
        assert!(
            index < self.next_writes.len(),
            "write {} lies after the end of the future that belady was told",
            access.virtual_time
        );
        self.next_writes[index]
    }
}

/// For each write of `future`, the virtual time of the next write of the same page, or [`NEVER`]. The first write has
/// the time 1.
fn next_writes(future: &[Lpn]) -> Vec<u32> {
    assert!(
        future.len() < NEVER as usize,
        "a future of {} page writes; belady accepts at most {}",
        future.len(),
        NEVER - 1
    );
    let mut next = vec![NEVER; future.len()];
    // The future is scanned backwards, and pages get numbers in the order in which the scan finds them. For each
    // page, `latest` contains the earliest write that the scan has found so far.
    let mut numbers = PageMap::with_capacity(0);
    let mut latest: Vec<u32> = Vec::new();
    for (index, page) in future.iter().enumerate().rev() {
        let time = index as u32 + 1;
        let (position, number) = numbers.locate(*page);
        if let Some(number) = number {
            next[index] = core::mem::replace(&mut latest[number as usize], time);
        } else {
            numbers.set_at(position, *page, latest.len() as u32, 0);
            latest.push(time);
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_write_knows_the_next_of_its_page() {
        let future = [5, 7, 5, 5, 9, 7].map(Lpn);
        assert_eq!(next_writes(&future), [3, 6, 4, NEVER, NEVER, NEVER]);
    }
}
