//! The dirty lines of all sets, in the order in which they are written back.

use alloc::vec;
use alloc::vec::Vec;

use crate::destage::Slot;
use crate::heap::SlotHeaps;
use crate::order::SlotLists;
use crate::scheme::Entry;

/// The rule that selects the dirty line to write back first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The line that was accessed longest ago.
    Recency,
    /// The line that was accessed least often since it entered. Among equals, the line that was accessed longest ago.
    Frequency,
}

/// Dirty lines in one or more groups. The lines of each group are ordered by the rule.
///
/// The owner counts the accesses to each line and passes this count as the frequency. Accesses also count while a
/// line is clean.
pub enum DirtyLines {
    /// Ordered by recency. Only an access changes the position of a line, and makes the line the most recent one.
    Recent(SlotLists),
    /// Ordered by frequency. An access makes a line the most recent one among the lines of its frequency.
    Frequent(Frequent),
}

/// The dirty lines ordered by frequency.
///
/// An access gives a line a new frequency and makes it the most recent line of that frequency. The list of each
/// frequency is therefore always in order. Frequencies are unbounded, but the number of lists is limited. Lines with
/// more than [`LISTED`] accesses are therefore in a heap. There are few such lines, and they are written back last.
pub struct Frequent {
    /// For each group, one list for each of the first [`LISTED`] frequencies. Front: the line accessed last.
    lists: SlotLists,
    /// By group: bit `f - 1` is set if the list of frequency `f` has a line.
    used: Vec<u64>,
    /// The remaining lines of each group. The key is the frequency, then the number of the last access.
    heaps: SlotHeaps<(u32, u64)>,
    accesses: u64,
}

/// The greatest frequency that has a list.
const LISTED: u32 = u64::BITS;

impl DirtyLines {
    /// Creates `groups` groups without dirty lines.
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

    /// Notes that the line of `entry`, which was clean or is new, has been written. This was access number
    /// `frequency` to the line.
    #[inline]
    pub fn enter(&mut self, group: u32, entry: Entry, frequency: u32) {
        match self {
            Self::Recent(lists) => lists.push_front(group, entry),
            Self::Frequent(frequent) => frequent.enter(group, entry, frequency),
        }
    }

    /// Notes that the dirty line of `entry` has been accessed. This was access number `frequency` to the line.
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

    /// Notes that the line in `slot`, which has had `frequency` accesses, is no longer dirty.
    #[inline]
    pub fn remove(&mut self, group: u32, slot: Slot, frequency: u32) {
        match self {
            Self::Recent(lists) => {
                lists.remove(slot);
            }
            Self::Frequent(frequent) => frequent.remove(group, slot, frequency),
        }
    }

    /// Removes the first line of `group`, and returns its slot.
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
