//! The contents of RAM: the page in each slot, and whether the copy of the page is on flash.
//!
//! ```text
//!            enter            evict (must be programmed)        programmed
//!   Free ------------> Dirty ----------------------------> Leaving -----------> Free
//!                      ^   | retain          programmed
//!              rewrite |   +------> WritingBack --------> Clean --evict--> Free
//!                      +---------------+--------------------+
//! ```
//!
//! A page is *resident* while it is dirty, being written back or clean. A leaving page no longer counts as buffered,
//! but its contents are still in RAM. The map still points to the leaving page until the program completes or a newer
//! copy enters. The map thus always names the newest copy of a page in RAM.
//!
//! One slot may have several programs in flight, if its page is written back, rewritten, and written back again.
//! Programs of one page must take effect in the order of their records. The caller that issues the programs ensures
//! this order.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks, table};

use crate::destage::Slot;
use crate::page_map::{PageMap, Position};
use crate::scheme::Entry;

/// The relation between the copy in a slot and the flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The slot holds no page.
    Free,
    /// The page is resident. This copy is newer than any copy that is programmed or being programmed.
    Dirty,
    /// The page is resident. A program of exactly this copy is in flight.
    WritingBack,
    /// The page is resident. The flash has the same contents, or will have them when the programs in flight have
    /// completed.
    Clean,
    /// The page is not resident. The slot remains in use only until its programs complete.
    Leaving,
}

/// The outcome of an eviction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Evicted {
    /// The page has to be programmed.
    Dirty,
    /// The page needs no program. Its contents are on flash, or a program of these contents is in flight.
    Clean,
}

/// The stamp of a freed slot if there was no other free slot at that time. Otherwise the stamp is the number of the
/// slot that was freed before this slot.
const NO_SLOT: Ticks = Ticks::MAX;

/// The two bytes that every access to a slot reads. They are in a separate array, so that the bytes of all slots fit
/// in the cache of the processor.
#[derive(Clone, Copy)]
struct Status {
    state: State,
    /// The number of programs of this slot that have not completed.
    in_flight: u8,
}

/// The slots, the map from pages to slots, and counts of both.
pub struct Resident {
    /// The map from pages to slots. The stamp of a used slot is the time at which its copy became dirty, until this
    /// copy is programmed. The stamps of free slots link these slots.
    map: PageMap,
    /// The status of each slot that was ever used.
    status: Vec<Status>,
    /// By slot: when the previous copy became dirty. The value has a meaning only while the previous copy is being
    /// programmed and the page has been written again. The vector stays empty if no page is ever written back.
    older_since: Vec<Ticks>,
    /// By slot: the number of programs in flight that exceed the range of the byte in [`Status`].
    more_in_flight: BTreeMap<Slot, u64>,
    /// The slot that was freed last. It is used again first, because its data are still in the cache of the
    /// processor. The stamp of each free slot is the number of the slot that was freed before it.
    free: Option<u32>,
    /// The number of slots in use, including those of leaving pages.
    occupied: u32,
    len: u32,
    dirty: u32,
    dirty_max: u32,
    oldest_dirty_max: Ticks,
    /// The lengths of the dirty periods that ended since the last query; `None` if these lengths are not recorded.
    dirty_ages: Option<Vec<Ticks>>,
}

impl Resident {
    /// Creates an empty table, with memory reserved for `pages` pages.
    #[must_use]
    pub fn prepared_for(pages: u32) -> Self {
        let prepared = table::prepared(pages);
        Self {
            map: PageMap::with_capacity(prepared),
            status: Vec::with_capacity(prepared),
            older_since: Vec::new(),
            more_in_flight: BTreeMap::new(),
            free: None,
            occupied: 0,
            len: 0,
            dirty: 0,
            dirty_max: 0,
            oldest_dirty_max: 0,
            dirty_ages: None,
        }
    }

    /// From now on, records how long pages are dirty, for [`Resident::take_dirty_ages`].
    pub fn note_dirty_ages(&mut self) {
        self.dirty_ages = Some(Vec::new());
    }

    /// The lengths in ticks of the dirty periods that have ended since the last call. Empty if they are not recorded.
    pub fn take_dirty_ages(&mut self) -> impl Iterator<Item = Ticks> + '_ {
        let ages = self.dirty_ages.iter_mut();
        ages.flat_map(|ages| ages.drain(..))
    }

    /// The number of slots in use: those of resident pages, and those of evicted pages that are still being
    /// programmed.
    #[must_use]
    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    /// The number of resident pages.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no page is resident.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of resident pages that are dirty.
    #[must_use]
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// The largest number of resident pages that were dirty at the same time.
    #[must_use]
    pub fn dirty_max(&self) -> u32 {
        self.dirty_max
    }

    /// The longest dirty period that has ended, in ticks. It lasts from the write until the page was programmed or
    /// dropped.
    #[must_use]
    pub fn oldest_dirty_max(&self) -> Ticks {
        self.oldest_dirty_max
    }

    /// The position of `page` in the map, or the position where it would be inserted; and the newest copy of the
    /// page in RAM.
    #[inline(always)]
    #[must_use]
    pub fn locate(&self, page: Lpn) -> (Position, Option<(Slot, State)>) {
        let (position, slot) = self.map.locate(page);
        (
            position,
            slot.map(|slot| (Slot(slot), self.status[slot as usize].state)),
        )
    }

    /// The newest copy of `page` in RAM.
    #[must_use]
    pub fn newest(&self, page: Lpn) -> Option<(Slot, State)> {
        self.locate(page).1
    }

    /// The page for which `slot` was last used.
    #[must_use]
    pub fn page_of(&self, slot: Slot) -> Option<Lpn> {
        self.map.page_of(slot.0)
    }

    /// The relation between the copy in `slot` and the flash.
    #[inline]
    #[must_use]
    pub fn state(&self, slot: Slot) -> State {
        self.status
            .get(slot.0 as usize)
            .map_or(State::Free, |status| status.state)
    }

    /// The resident pages, in the order of their slots.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let slots = (0..self.status.len() as u32).map(Slot);
        slots
            .filter(|slot| !matches!(self.state(*slot), State::Free | State::Leaving))
            .filter_map(|slot| {
                Some(Entry {
                    page: self.page_of(slot)?,
                    slot,
                })
            })
    }

    /// The pages that have a copy in RAM, including leaving pages. They are in the order of the slots of their newest
    /// copies.
    pub fn all_pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        let slots = (0..self.status.len() as u32).map(Slot);
        slots.filter_map(|slot| {
            let page = self
                .page_of(slot)
                .filter(|_| self.state(slot) != State::Free)?;
            let (newest, _) = self.newest(page)?;
            (newest == slot).then_some(page)
        })
    }

    /// Gives a slot to `page`, which is not resident. `position` is the position in the map at which the page is or
    /// would be inserted.
    #[inline(always)]
    pub fn enter(&mut self, position: Position, page: Lpn, dirty: bool, now: Ticks) -> Slot {
        let state = if dirty { State::Dirty } else { State::Clean };
        let status = Status {
            state,
            in_flight: 0,
        };
        let slot = if let Some(slot) = self.free {
            let before = self.map.stamp(slot);
            self.free = (before != NO_SLOT).then_some(before as u32);
            self.status[slot as usize] = status;
            slot
        } else {
            self.status.push(status);
            self.status.len() as u32 - 1
        };
        self.map.set_at(position, page, slot, now);
        self.occupied += 1;
        self.len += 1;
        if dirty {
            self.raise_dirty();
        }
        Slot(slot)
    }

    /// Overwrites the resident copy in `slot`. Returns whether the copy was dirty before.
    #[inline]
    pub fn rewrite(&mut self, slot: Slot, now: Ticks) -> bool {
        let status = self.status[slot.0 as usize];
        if status.state == State::Dirty {
            return true;
        }
        self.rewrite_clean(slot, status, now);
        false
    }

    fn rewrite_clean(&mut self, Slot(slot): Slot, status: Status, now: Ticks) {
        let index = slot as usize;
        if status.in_flight == 1 {
            *table::at(&mut self.older_since, index, 0) = self.map.stamp(index as u32);
        }
        self.status[index].state = State::Dirty;
        self.map.set_stamp(index as u32, now);
        self.raise_dirty();
    }

    /// Evicts the resident page of `slot`. A dirty page keeps its slot until its program completes.
    ///
    /// # Panics
    /// If `slot` has no resident page.
    #[inline(always)]
    pub fn evict(&mut self, slot: Slot) -> Evicted {
        let evicted = match self.state(slot) {
            State::Dirty => {
                self.start_program(slot);
                Evicted::Dirty
            }
            State::Clean | State::WritingBack => Evicted::Clean,
            State::Free | State::Leaving => panic!("slot {} has no resident page to evict", slot.0),
        };
        self.len -= 1;
        let status = &mut self.status[slot.0 as usize];
        if status.in_flight > 0 {
            status.state = State::Leaving;
        } else if let Some(page) = self.page_of(slot) {
            self.map.remove(page);
            self.release(slot);
        }
        evicted
    }

    /// Begins a program of the resident, dirty page in `slot`. The page remains resident.
    pub fn write_back(&mut self, slot: Slot) {
        self.start_program(slot);
        self.status[slot.0 as usize].state = State::WritingBack;
    }

    /// Makes a leaving page resident again in its slot. The page becomes clean, because its newest version is being
    /// programmed.
    pub fn come_back(&mut self, slot: Slot) {
        let status = &mut self.status[slot.0 as usize];
        debug_assert!(status.state == State::Leaving);
        status.state = State::Clean;
        self.len += 1;
    }

    /// Completes a program of `page` in `slot`. Returns `true` if this program made the page clean.
    ///
    /// # Panics
    /// If no program of that slot was in flight.
    #[inline(always)]
    pub fn programmed(&mut self, page: Lpn, slot: Slot, now: Ticks) -> bool {
        let index = slot.0 as usize;
        let Status { state, in_flight } = self.status[index];
        assert!(in_flight > 0, "no program of slot {} is in flight", slot.0);
        self.end_dirty_period(now, self.programming_since(index));
        if in_flight == u8::MAX && self.end_one_of_many(slot) {
            return false;
        }
        self.status[index].in_flight -= 1;
        if in_flight > 1 {
            self.older_since[index] = self.map.stamp(index as u32);
            return false;
        }
        debug_assert!(state != State::Free, "a free slot has no program in flight");
        // This case comes first because nearly all programs are those of leaving pages.
        if state == State::Leaving {
            // A newer copy may have entered since the eviction. In this case the map names the newer copy and must
            // not be changed.
            self.map.remove_if(page, slot.0);
            self.release(slot);
        } else if state == State::WritingBack {
            self.status[index].state = State::Clean;
        }
        state == State::WritingBack
    }

    /// Counts a program that begins while the byte in [`Status`] of `slot` has its maximum value.
    #[cold]
    #[inline(never)]
    fn begin_one_of_many(&mut self, slot: Slot) {
        *self.more_in_flight.entry(slot).or_default() += 1;
    }

    /// Counts the end of a program of `slot` if the slot has more programs than the byte in [`Status`] can count.
    /// Returns whether this was the case.
    #[cold]
    #[inline(never)]
    fn end_one_of_many(&mut self, slot: Slot) -> bool {
        let Some(more) = self.more_in_flight.get_mut(&slot) else {
            return false;
        };
        *more -= 1;
        if *more == 0 {
            self.more_in_flight.remove(&slot);
        }
        let index = slot.0 as usize;
        self.older_since[index] = self.map.stamp(slot.0);
        true
    }

    /// Drops the copy of `page`. The host has trimmed the page, or a write that bypasses the buffer replaces the
    /// copy. Returns the slot of the copy and its former state, if a copy existed.
    pub fn forget(&mut self, page: Lpn, now: Ticks) -> Option<(Slot, State)> {
        let (slot, state) = self.newest(page)?;
        self.map.remove(page);
        if state == State::Leaving {
            // The program cannot be cancelled. Its completion frees the slot.
            return Some((slot, state));
        }
        self.len -= 1;
        let index = slot.0 as usize;
        let in_flight = self.status[index].in_flight > 0;
        if state == State::Dirty {
            self.dirty -= 1;
            self.end_dirty_period(now, self.map.stamp(index as u32));
            if in_flight {
                // From now on the slot is in use only for the copy in flight. The stamp must therefore be the time at
                // which that copy became dirty.
                self.map.set_stamp(index as u32, self.older_since[index]);
            }
        }
        if in_flight {
            self.status[index].state = State::Leaving;
        } else {
            self.release(slot);
        }
        Some((slot, state))
    }

    /// Resets the maximum number of dirty pages and the maximum dirty period. For a page that is dirty now, the whole
    /// dirty period counts later.
    pub fn reset_maxima(&mut self) {
        self.dirty_max = self.dirty;
        self.oldest_dirty_max = 0;
    }

    /// Counts the dirty periods that have not ended as if they ended at `now`.
    pub fn close_dirty_periods(&mut self, now: Ticks) {
        for index in 0..self.status.len() {
            let status = self.status[index];
            if status.in_flight > 0 {
                self.end_dirty_period(now, self.programming_since(index));
            } else if status.state == State::Dirty {
                self.end_dirty_period(now, self.map.stamp(index as u32));
            }
        }
    }

    /// The time at which the oldest copy in flight of this slot became dirty.
    #[inline]
    fn programming_since(&self, index: usize) -> Ticks {
        let Status { state, in_flight } = self.status[index];
        // If the page was written again, or was written back twice, the oldest copy in flight is not the newest copy.
        let is_older = state == State::Dirty || in_flight > 1;
        if is_older {
            self.older_since[index]
        } else {
            self.map.stamp(index as u32)
        }
    }

    /// The time, in ticks, at which the page that has been dirty longest became dirty. Pages that are being
    /// programmed count as dirty. The search checks every slot.
    #[must_use]
    pub fn oldest_dirty_since(&self) -> Option<Ticks> {
        let slots = self.status.iter().enumerate();
        slots
            .filter_map(|(index, status)| match status {
                _ if status.in_flight > 0 => Some(self.programming_since(index)),
                _ if status.state == State::Dirty => Some(self.map.stamp(index as u32)),
                _ => None,
            })
            .min()
    }

    #[inline]
    fn end_dirty_period(&mut self, now: Ticks, since: Ticks) {
        let age = now.saturating_sub(since);
        self.oldest_dirty_max = self.oldest_dirty_max.max(age);
        if let Some(ages) = &mut self.dirty_ages {
            ages.push(age);
        }
    }

    #[inline]
    fn start_program(&mut self, slot: Slot) {
        let status = &mut self.status[slot.0 as usize];
        debug_assert!(status.state == State::Dirty);
        if status.in_flight < u8::MAX {
            status.in_flight += 1;
        } else {
            self.begin_one_of_many(slot);
        }
        self.dirty -= 1;
    }

    #[inline]
    fn release(&mut self, slot: Slot) {
        self.status[slot.0 as usize].state = State::Free;
        let before = self.free.replace(slot.0);
        self.map
            .set_stamp(slot.0, before.map_or(NO_SLOT, Ticks::from));
        self.occupied -= 1;
    }

    #[inline]
    fn raise_dirty(&mut self) {
        self.dirty += 1;
        self.dirty_max = self.dirty_max.max(self.dirty);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(resident: &mut Resident, page: u64, now: Ticks) -> Slot {
        let (position, _) = resident.locate(Lpn(page));
        resident.enter(position, Lpn(page), true, now)
    }

    #[test]
    fn a_status_takes_two_bytes() {
        assert_eq!(size_of::<Status>(), 2);
    }

    #[test]
    fn freed_slots_are_taken_again_and_the_last_first() {
        let mut resident = Resident::prepared_for(0);
        for round in 0..3 {
            let slots = [0, 1, 2].map(|page| enter(&mut resident, 10 * round + page, 0));
            let expected = if round % 2 == 0 { [0, 1, 2] } else { [2, 1, 0] };
            assert_eq!(slots, expected.map(Slot));
            for (page, slot) in (0..).zip(slots) {
                resident.evict(slot);
                resident.programmed(Lpn(10 * round + page), slot, 1);
            }
        }
        assert_eq!(resident.status.len(), 3);
    }

    #[test]
    fn the_newest_copy_is_found_while_an_older_one_is_programmed() {
        let mut resident = Resident::prepared_for(0);
        let old = enter(&mut resident, 7, 0);
        assert_eq!(resident.evict(old), Evicted::Dirty);
        assert_eq!(resident.newest(Lpn(7)), Some((old, State::Leaving)));
        let new = enter(&mut resident, 7, 1);
        assert!(new != old && resident.occupied() == 2);
        assert!(!resident.programmed(Lpn(7), old, 2));
        assert_eq!(resident.newest(Lpn(7)), Some((new, State::Dirty)));
        assert_eq!(resident.occupied(), 1);
    }

    #[test]
    fn a_page_rewritten_during_its_write_back_stays_dirty() {
        let mut resident = Resident::prepared_for(0);
        let slot = enter(&mut resident, 7, 10);
        resident.write_back(slot);
        assert_eq!((resident.dirty(), resident.len()), (0, 1));
        assert!(!resident.rewrite(slot, 20));
        assert!(!resident.programmed(Lpn(7), slot, 50));
        assert_eq!(resident.newest(Lpn(7)), Some((slot, State::Dirty)));
        assert_eq!(resident.oldest_dirty_max(), 40);
        resident.write_back(slot);
        assert!(resident.programmed(Lpn(7), slot, 65));
        assert_eq!(resident.newest(Lpn(7)), Some((slot, State::Clean)));
        // The second dirty period lasts from 20 to 65. Its start must be stored separately from the start of the
        // first period. Otherwise the second period would be longer.
        assert_eq!(resident.oldest_dirty_max(), 45);
    }

    #[test]
    fn a_page_may_be_written_back_any_number_of_times_at_once() {
        let mut resident = Resident::prepared_for(0);
        let slot = enter(&mut resident, 7, 0);
        for now in 1..=600 {
            resident.write_back(slot);
            resident.rewrite(slot, now);
        }
        assert!((0..600).all(|_| !resident.programmed(Lpn(7), slot, 700)));
        assert_eq!(resident.newest(Lpn(7)), Some((slot, State::Dirty)));
        resident.write_back(slot);
        assert!(resident.programmed(Lpn(7), slot, 701));
    }

    #[test]
    fn only_the_last_of_two_write_backs_makes_a_page_clean() {
        let mut resident = Resident::prepared_for(0);
        let slot = enter(&mut resident, 7, 0);
        resident.write_back(slot);
        resident.rewrite(slot, 1);
        resident.write_back(slot);
        assert!(!resident.programmed(Lpn(7), slot, 2));
        assert!(resident.programmed(Lpn(7), slot, 3));
        assert_eq!(resident.dirty_max(), 1);
    }

    #[test]
    fn pages_that_leave_are_dirty_no_longer() {
        let mut resident = Resident::prepared_for(0);
        for round in 0..3 {
            let slots = [0, 1].map(|page| enter(&mut resident, 2 * round + page, 0));
            slots.iter().for_each(|slot| _ = resident.evict(*slot));
        }
        // No program has ended yet, so all six pages still have slots, but no page counts as dirty.
        assert_eq!((resident.occupied(), resident.dirty()), (6, 0));
        assert_eq!(resident.dirty_max(), 2);
    }

    #[test]
    fn a_page_evicted_during_its_write_back_needs_no_second_program() {
        let mut resident = Resident::prepared_for(0);
        let slot = enter(&mut resident, 7, 0);
        resident.write_back(slot);
        assert_eq!(resident.evict(slot), Evicted::Clean);
        assert_eq!(resident.occupied(), 1);
        assert!(!resident.programmed(Lpn(7), slot, 1));
        assert_eq!(resident.occupied(), 0);
        assert_eq!(resident.newest(Lpn(7)), None);
    }

    #[test]
    fn a_trimmed_page_keeps_its_slot_only_while_a_program_reads_it() {
        let mut resident = Resident::prepared_for(0);
        let slot = enter(&mut resident, 7, 0);
        resident.write_back(slot);
        resident.rewrite(slot, 1);
        assert_eq!(resident.forget(Lpn(7), 5), Some((slot, State::Dirty)));
        assert_eq!(
            (resident.newest(Lpn(7)), resident.len(), resident.dirty()),
            (None, 0, 0)
        );
        assert_eq!(resident.occupied(), 1);
        assert!(!resident.programmed(Lpn(7), slot, 9));
        assert_eq!(resident.occupied(), 0);
        assert_eq!(resident.oldest_dirty_max(), 9);
        assert_eq!(resident.forget(Lpn(7), 9), None);
    }
}
