//! Groups of pages that a scheme forms by its own rule, for example sequential runs or the pages of one request.
//!
//! Groups are like [`clusters`](crate::clusters), except that the scheme decides which pages belong to a group. A
//! page is in at most one group. The pages of a group form a ring over slots, in the order in which they joined the
//! group. The numbers of groups have the same type as those of clusters, so [`Rings`](crate::clusters::Rings) can
//! order groups.
//!
//! Cost: O(1) per call. Taking a group of k pages is O(k), or O(k log k) if the pages did not join in ascending
//! order. Memory: 24 bytes per slot and 8 bytes per group.

use alloc::vec::Vec;

use destage_base::Lpn;
use destage_base::list::Links;

use crate::clusters::ClusterId;
use crate::destage::Slot;
use crate::scheme::Entry;

/// The data stored with the links of a page in the ring of its group.
#[derive(Clone, Copy, Default)]
struct Member {
    page: Lpn,
    group: u32,
}

#[derive(Clone, Copy)]
struct Group {
    /// The slot of the page that joined first.
    first: u32,
    pages: u32,
}

/// All groups. A group without pages is removed, and a new group can get its number.
#[derive(Default)]
pub struct Groups {
    /// By slot: one ring per group, in the order in which the pages joined.
    members: Links<Member>,
    groups: Vec<Group>,
    free: Vec<u32>,
    len: usize,
}

impl Groups {
    /// Creates a set without groups.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of pages in all groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of pages in `group`.
    #[inline]
    #[must_use]
    pub fn pages(&self, group: ClusterId) -> u32 {
        self.groups[group.index()].pages
    }

    /// The group of the page in `slot`.
    #[inline]
    #[must_use]
    pub fn find(&self, slot: Slot) -> Option<ClusterId> {
        Some(ClusterId(self.members.get(slot.0)?.group))
    }

    /// Makes a new group that contains only `entry`, which must be in no group.
    pub fn start(&mut self, entry: Entry) -> ClusterId {
        let slot = entry.slot.0;
        let group = Group {
            first: slot,
            pages: 1,
        };
        let id = if let Some(id) = self.free.pop() {
            self.groups[id as usize] = group;
            id
        } else {
            self.groups.push(group);
            self.groups.len() as u32 - 1
        };
        let member = Member {
            page: entry.page,
            group: id,
        };
        self.members.begin(slot, member);
        self.len += 1;
        ClusterId(id)
    }

    /// Appends `entry`, which must be in no group, to `group`.
    pub fn join(&mut self, group: ClusterId, entry: Entry) {
        let held = &mut self.groups[group.index()];
        held.pages += 1;
        let member = Member {
            page: entry.page,
            group: group.0,
        };
        self.members.insert_before(held.first, entry.slot.0, member);
        self.len += 1;
    }

    /// Removes the page in `slot` from its group. Returns the group and the number of pages that remain in the group.
    ///
    /// # Panics
    /// If the page is in no group.
    pub fn leave(&mut self, slot: Slot) -> (ClusterId, u32) {
        assert!(
            self.members.is_linked(slot.0),
            "slot {} is in no group",
            slot.0
        );
        let after = self.members.next(slot.0);
        let Member { group, .. } = self.members.remove(slot.0);
        let held = &mut self.groups[group as usize];
        held.pages -= 1;
        if held.first == slot.0 {
            held.first = after;
        }
        if held.pages == 0 {
            self.free.push(group);
        }
        self.len -= 1;
        (ClusterId(group), self.groups[group as usize].pages)
    }

    /// The pages of `group`, in the order in which they joined.
    pub fn iter(&self, group: ClusterId) -> impl Iterator<Item = Entry> + '_ {
        let first = self.groups[group.index()].first;
        self.members.ring(first).map(|(slot, member)| Entry {
            page: member.page,
            slot: Slot(slot),
        })
    }

    /// Appends the pages of `group` to `entries` in ascending order, and removes the group.
    pub fn take(&mut self, group: ClusterId, entries: &mut Vec<Entry>) {
        let start = entries.len();
        let Group { first, pages } = self.groups[group.index()];
        let mut ascends = true;
        let mut least = Lpn(0);
        self.members.take_ring(first, pages, |slot, member| {
            debug_assert!(member.group == group.0, "slot {slot} left {group:?} unseen");
            ascends &= member.page >= least;
            least = member.page;
            entries.push(Entry {
                page: member.page,
                slot: Slot(slot),
            });
        });
        if !ascends {
            entries[start..].sort_unstable_by_key(|entry| entry.page);
        }
        self.groups[group.index()].pages = 0;
        self.free.push(group.0);
        self.len -= pages as usize;
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use destage_base::Random;

    use super::*;

    #[test]
    fn agrees_with_plain_lists() {
        let mut random = Random::new(11);
        let mut groups = Groups::new();
        let mut model: Vec<(ClusterId, Vec<Entry>)> = Vec::new();
        for step in 0..100_000 {
            let slot = Slot(random.below(20) as u32);
            let page = Lpn(random.below(1000));
            let entry = Entry { page, slot };
            let home = model
                .iter()
                .position(|group| group.1.iter().any(|held| held.slot == slot));
            assert_eq!(groups.find(slot), home.map(|home| model[home].0));
            let other = random.below(model.len() as u64 + 1) as usize;
            match (random.below(4), home) {
                (0, None) => model.push((groups.start(entry), vec![entry])),
                (1, None) if other < model.len() => {
                    groups.join(model[other].0, entry);
                    model[other].1.push(entry);
                }
                (2, Some(home)) => {
                    model[home].1.retain(|held| held.slot != slot);
                    assert_eq!(
                        groups.leave(slot),
                        (model[home].0, model[home].1.len() as u32)
                    );
                    if model[home].1.is_empty() {
                        model.remove(home);
                    }
                }
                _ if step % 7 == 0 && other < model.len() => {
                    let (id, mut expected) = model.remove(other);
                    assert_eq!(groups.pages(id), expected.len() as u32);
                    let mut taken = Vec::new();
                    groups.take(id, &mut taken);
                    assert!(taken.is_sorted_by_key(|entry| entry.page));
                    expected.sort_by_key(|entry| (entry.page, entry.slot));
                    taken.sort_by_key(|entry| (entry.page, entry.slot));
                    assert_eq!(taken, expected);
                }
                _ => {}
            }
            let pages: usize = model.iter().map(|group| group.1.len()).sum();
            assert_eq!(groups.len(), pages);
        }
    }
}
