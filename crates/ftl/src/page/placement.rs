//! Placement: chooses, for each write, the die with the fewest waiting operations, and stores the die of each
//! page.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::lazy::{Initial, LazyTable};
use destage_base::{Lpn, archived};

use super::shape::NONE;

/// The die of each page at the start: pages are striped over the dies of a filled device.
#[derive(Clone)]
struct Striped {
    dies: u32,
    filled: bool,
}

impl Initial for Striped {
    type Entry = u32;
    fn at(&self, page: usize) -> u32 {
        if self.filled {
            page as u32 % self.dies
        } else {
            NONE
        }
    }

    fn of_all(&self) -> Option<u32> {
        (!self.filled).then_some(NONE)
    }
}

/// The writes of one page that wait at a die.
#[derive(Clone)]
struct Waiting {
    die: u32,
    writes: u32,
    /// The page is counted among the pages of `die` because of these writes.
    counted: bool,
}

/// The die of each page, and the die of each waiting write. All waiting writes of one page wait at one die, so
/// that they keep their order.
#[derive(Clone)]
pub(super) struct Placement {
    home: LazyTable<Striped>,
    waiting: BTreeMap<u32, Waiting>,
    /// For each die, the number of pages that are on the die or are about to be written to it.
    pages: Vec<u32>,
    /// Maximum number of pages on a die, so that garbage collection can always continue.
    limit: u32,
    /// The die at which the search for the next die begins.
    next: u32,
}

archived!(Placement { home, pages, next } fixed { waiting, limit });

impl Placement {
    /// Placement on `dies` dies; each die offers `offered` pages and holds at most `limit`.
    pub fn new(dies: u32, offered: u32, limit: u32, filled: bool) -> Self {
        Self {
            home: LazyTable::new(offered as usize * dies as usize, Striped { dies, filled }),
            waiting: BTreeMap::new(),
            pages: vec![if filled { offered } else { 0 }; dies as usize],
            limit: limit.max(offered),
            next: 0,
        }
    }

    /// The die with the newest copy of `page`.
    pub fn home(&self, page: u32) -> Option<u32> {
        let home = self.home.get(page as usize);
        (home != NONE).then_some(home)
    }

    /// Emits the pages among `pages` that have contents, in ascending order.
    pub fn placed(&self, pages: Range<u32>, emit: &mut dyn FnMut(Lpn)) {
        let pages = pages.start as usize..pages.end as usize;
        let mut look = |page: usize, home: u32| {
            if home != NONE {
                emit(Lpn(page as u64));
            }
        };
        if self.home.rule().filled {
            // On a filled device, pages that were never touched have contents too.
            return pages.for_each(|page| look(page, self.home.get(page)));
        }
        let touched = self.home.touched_in(pages);
        touched.for_each(|(page, home)| look(page, home));
    }

    /// The die whose queue an operation on `page` joins.
    pub fn die_of(&self, page: u32) -> u32 {
        match self.waiting.get(&page) {
            Some(waiting) => waiting.die,
            None => self.home(page).unwrap_or(page % self.pages.len() as u32),
        }
    }

    /// The die at which a write of `page` waits.
    pub fn is_coming(&self, page: u32) -> Option<u32> {
        Some(self.waiting.get(&page)?.die)
    }

    /// Whether a write of `page` may go to `die`: the page is there already, or the die may receive another page.
    pub fn may_receive(&self, page: u32, die: u32) -> bool {
        self.home(page) == Some(die) || self.pages[die as usize] < self.limit
    }

    /// Chooses the die of a write of `page`: among the dies that may receive the page, the die with the smallest
    /// `load`; among equals, the next in rotation.
    pub fn place(&mut self, page: u32, load: &dyn Fn(u32) -> u32) -> u32 {
        if let Some(waiting) = self.waiting.get_mut(&page) {
            waiting.writes += 1;
            return waiting.die;
        }
        let home = self.home(page);
        let dies = self.pages.len() as u32;
        let die = (0..dies)
            .map(|step| (self.next + step) % dies)
            .filter(|die| self.may_receive(page, *die))
            .min_by_key(|die| load(*die))
            .unwrap_or(self.next);
        self.next = (die + 1) % dies;
        let counted = home != Some(die);
        self.pages[die as usize] += u32::from(counted);
        self.waiting.insert(
            page,
            Waiting {
                die,
                writes: 1,
                counted,
            },
        );
        die
    }

    /// Registers a write of `page` at `die`; if other writes of the page wait at another die, the write waits at
    /// that die.
    pub fn place_behind(&mut self, page: u32, die: u32) {
        if let Some(waiting) = self.waiting.get_mut(&page) {
            waiting.writes += 1;
            return;
        }
        let counted = self.home(page) != Some(die);
        self.pages[die as usize] += u32::from(counted);
        let waiting = Waiting {
            die,
            writes: 1,
            counted,
        };
        self.waiting.insert(page, waiting);
    }

    /// The die of the write of `page` that is served now. If no die was chosen before, this call chooses a die,
    /// and also returns the search position before the choice, for [`Placement::withdraw`].
    pub fn destination(&mut self, page: u32) -> (u32, Option<u32>) {
        if let Some(waiting) = self.waiting.get(&page) {
            return (waiting.die, None);
        }
        let next = self.next;
        (self.place(page, &|_| 0), Some(next))
    }

    /// Called if the write of `page` could not be served. If [`Placement::destination`] chose the die of this
    /// write, undoes that choice.
    pub fn withdraw(&mut self, page: u32, chosen: Option<u32>) {
        if let Some(next) = chosen
            && let Some(waiting) = self.waiting.remove(&page)
        {
            self.pages[waiting.die as usize] -= u32::from(waiting.counted);
            self.next = next;
        }
    }

    /// Notes that a write of `page` was served at its [destination](Placement::destination). Returns the die that
    /// held the old copy, if that is another die.
    pub fn arrive(&mut self, page: u32) -> Option<u32> {
        let old = self.home(page);
        let waiting = self.waiting.get_mut(&page)?;
        let die = waiting.die;
        waiting.writes -= 1;
        waiting.counted = false;
        if waiting.writes == 0 {
            self.waiting.remove(&page);
        }
        *self.home.get_mut(page as usize) = die;
        let left = old.filter(|old| *old != die);
        if let Some(left) = left {
            self.pages[left as usize] -= 1;
        }
        left
    }

    /// Notes that a mount has found `page` on `die`.
    pub fn found(&mut self, page: u32, die: u32) {
        *self.home.get_mut(page as usize) = die;
        self.pages[die as usize] += 1;
    }

    /// Notes that `page` has no contents any more.
    pub fn forget(&mut self, page: u32) {
        let Some(home) = self.home(page) else { return };
        *self.home.get_mut(page as usize) = NONE;
        match self.waiting.get_mut(&page) {
            // A write of the page waits at this die, so the page still counts as a page of this die.
            Some(waiting) if waiting.die == home => waiting.counted = true,
            _ => self.pages[home as usize] -= 1,
        }
    }

    /// [Forgets](Placement::forget) all of `pages`.
    pub fn forget_all(&mut self, pages: Range<usize>) {
        if !self.waiting.is_empty() {
            return pages.for_each(|page| self.forget(page as u32));
        }
        let Self {
            home,
            pages: counts,
            ..
        } = self;
        home.replace_all(&pages, NONE, |die| counts[die as usize] -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_where_least_waits_and_its_writes_stay_together() {
        let mut placement = Placement::new(3, 4, 6, true);
        let load = |die: u32| [5, 2, 9][die as usize];
        assert_eq!(placement.place(0, &load), 1);
        // The second write of the page waits behind the first write, although the die of the first write is now
        // the busiest.
        assert_eq!(placement.place(0, &|die| 10 - die), 1);
        assert_eq!((placement.die_of(0), placement.home(0)), (1, Some(0)));
        assert_eq!(placement.arrive(0), Some(0));
        assert_eq!(placement.arrive(0), None);
        assert_eq!(placement.pages, [3, 5, 4]);
        // Die 1 can receive one more page. It is then at its limit, so page 6 goes to another die. Page 1 is on
        // die 1 already and may be written there.
        assert_eq!(placement.place(3, &load), 1);
        assert_eq!(placement.place(6, &load), 0);
        assert_eq!(placement.place(1, &load), 1);
    }

    #[test]
    fn counts_follow_pages_through_trims() {
        let mut placement = Placement::new(2, 2, 3, true);
        assert_eq!(placement.place(0, &|_| 0), 0);
        placement.forget(0);
        assert_eq!(placement.arrive(0), None);
        assert_eq!(placement.pages, [2, 2]);
        placement.forget(1);
        assert_eq!(placement.pages, [2, 1]);
        placement.forget(1);
        assert_eq!(placement.pages, [2, 1]);
    }
}
