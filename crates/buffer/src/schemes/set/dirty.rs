//! The dirty lines of all sets, in the order in which they are to be written back.

use alloc::vec;
use alloc::vec::Vec;

use crate::destage::Slot;
use crate::heap::SlotHeaps;
use crate::order::SlotLists;
use crate::scheme::Entry;

/// The order of dirty lines.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The line accessed longest ago.
    Recency,
    /// The line accessed least often since it entered; of several, the one accessed longest ago.
    Frequency,
}

/// Dirty lines in one or more groups, each ordered by the rule.
///
/// The owner counts how often each line was accessed and passes that as its frequency; the count of a line continues while it is clean.
pub enum DirtyLines {
    /// Only an access changes a line's place, and it makes the line the most recent.
    Recent(SlotLists),
    /// As well, but among the lines of its frequency.
    Frequent(Frequent),
}

/// The part of [`DirtyLines`] that knows frequencies.
///
/// An access gives a line a new frequency and makes it the most recent of that frequency, so the list of each frequency is always in order.
/// Frequencies without an end would take lists without an end; the lines
/// above [`LISTED`] accesses, few and far from being chosen, are in a heap.
pub struct Frequent {
    /// For each group, a list of each of the first frequencies; the latest access in front.
    lists: SlotLists,
    /// By group: bit `f - 1` is set if the list of frequency `f` has a line.
    used: Vec<u64>,
    /// The other lines of each group, keyed by frequency, then by the number of the last access.
    heaps: SlotHeaps<(u32, u64)>,
    accesses: u64,
}

/// The greatest frequency that has a list.
const LISTED: u32 = u64::BITS;

impl DirtyLines {
    /// No dirty lines, in `groups` groups.
    pub fn new(rule: Rule, groups: u32, slots: u32) -> Self {
        match rule {
            Rule::Recency => Self::Recent(SlotLists::new(groups, slots)),
            Rule::Frequency => Self::Frequent(Frequent {
                lists: SlotLists::new(groups * LISTED, slots),
                used: vec![0; groups as usize],
                heaps: SlotHeaps::new(groups),
                accesses: 0,
            }),
        }
    }

    /// The line of `entry`, clean or not here so far, has been written, its access number `frequency`.
    #[inline]
    pub fn enter(&mut self, group: u32, entry: Entry, frequency: u32) {
        match self {
            Self::Recent(lists) => lists.push_front(group, entry),
            Self::Frequent(frequent) => frequent.enter(group, entry, frequency),
        }
    }

    /// The dirty line of `entry` has been accessed, for the `frequency`th time.
    #[inline]
    pub fn renew(&mut self, group: u32, entry: Entry, frequency: u32) {
        match self {
            Self::Recent(lists) => lists.move_to_front(group, entry.slot),
            Self::Frequent(frequent) if frequency > LISTED + 1 => {
                frequent.accesses += 1;
                let key = (frequency, frequent.accesses);
                frequent.heaps.change(group, entry.slot, key);
            }
            Self::Frequent(frequent) => {
                frequent.remove(group, entry.slot, frequency - 1);
                frequent.enter(group, entry, frequency);
            }
        }
    }

    /// The line in `slot`, of `frequency` accesses, is dirty no longer.
    #[inline]
    pub fn remove(&mut self, group: u32, slot: Slot, frequency: u32) {
        match self {
            Self::Recent(lists) => {
                lists.remove(slot);
            }
            Self::Frequent(frequent) => frequent.remove(group, slot, frequency),
        }
    }

    /// Takes out the first line of `group`.
    pub fn pop(&mut self, group: u32) -> Option<Slot> {
        match self {
            Self::Recent(lists) => lists.pop_back(group).map(|entry| entry.slot),
            Self::Frequent(frequent) => frequent.pop(group),
        }
    }
}

impl Frequent {
    fn enter(&mut self, group: u32, entry: Entry, frequency: u32) {
        self.accesses += 1;
        if frequency <= LISTED {
            self.lists.push_front(list(group, frequency), entry);
            self.used[group as usize] |= 1 << (frequency - 1);
        } else {
            self.heaps
                .push(group, entry.slot, (frequency, self.accesses));
        }
    }

    fn remove(&mut self, group: u32, slot: Slot, frequency: u32) {
        if frequency <= LISTED {
            self.lists.remove(slot);
            if self.lists.is_list_empty(list(group, frequency)) {
                self.used[group as usize] &= !(1 << (frequency - 1));
            }
        } else {
            self.heaps.remove(group, slot);
        }
    }

    fn pop(&mut self, group: u32) -> Option<Slot> {
        let used = self.used[group as usize];
        if used == 0 {
            return self.heaps.pop(group);
        }
        let frequency = used.trailing_zeros() + 1;
        let slot = self.lists.back(list(group, frequency))?.slot;
        self.remove(group, slot, frequency);
        Some(slot)
    }
}

/// The list of `frequency` in `group`.
#[inline]
fn list(group: u32, frequency: u32) -> u32 {
    group * LISTED + frequency - 1
}
