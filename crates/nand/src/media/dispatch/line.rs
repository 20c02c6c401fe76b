//! The reads or programs that wait at a die, in order of arrival.
//!
//! The first of them, and those of the same page offset, are found without visiting the others, and any of them can be removed at once: hundreds can
//! wait at a die.

use alloc::vec;
use alloc::vec::Vec;

use super::queue::Operation;

/// Nobody comes next.
const NOBODY: u32 = u32::MAX;
/// Chains of a line at first; a power of two, as their number always is.
const CHAINS: usize = 16;

/// An operation in a line.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub operation: Operation,
    /// How many came before it to this die.
    pub rank: u64,
}

#[derive(Clone, Copy)]
struct Place {
    waiting: Waiting,
    /// The one that arrived before, and the one that arrived next. Free places are linked through the second.
    before: u32,
    behind: u32,
    /// The next of the chain.
    alike: u32,
}

#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
}

const EMPTY: Ends = Ends {
    first: NOBODY,
    last: NOBODY,
};

/// A line. See the [module](self).
#[derive(Clone)]
pub(super) struct Line {
    places: Vec<Place>,
    free: u32,
    waiting: usize,
    ends: Ends,
    /// Pages of equal offset are in one chain, in their order: the chain with the number of the offset modulo the number of chains, which is no
    /// smaller than the number of waiting pages.
    chains: Vec<Ends>,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: NOBODY,
            waiting: 0,
            ends: EMPTY,
            chains: vec![EMPTY; CHAINS],
        }
    }
}

impl Line {
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// The first.
    #[inline]
    pub fn first(&self) -> Option<&Waiting> {
        let place = self.places.get(self.ends.first as usize);
        place.map(|place| &place.waiting)
    }

    /// `waiting` came last.
    #[inline(always)]
    pub fn push(&mut self, waiting: Waiting) {
        let place = self.place(waiting);
        self.link_behind(self.ends.last, place);
        self.link_to_chain(place);
    }

    /// `waiting`, which was held back, takes its place by its rank.
    pub fn insert(&mut self, waiting: Waiting) {
        let place = self.place(waiting);
        let mut before = self.ends.last;
        while before != NOBODY && self.places[before as usize].waiting.rank > waiting.rank {
            before = self.places[before as usize].before;
        }
        self.link_behind(before, place);
        let chain = self.chain(waiting.operation.page);
        let mut before = NOBODY;
        let mut next = self.chains[chain].first;
        while next != NOBODY && self.places[next as usize].waiting.rank < waiting.rank {
            (before, next) = (next, self.places[next as usize].alike);
        }
        self.places[place as usize].alike = next;
        match before {
            NOBODY => self.chains[chain].first = place,
            before => self.places[before as usize].alike = place,
        }
        if next == NOBODY {
            self.chains[chain].last = place;
        }
    }

    /// The rank of the last that is of the same page as `operation`.
    pub fn last_of(&self, operation: &Operation) -> Option<u64> {
        let place = |of: &Operation| (of.plane, of.block, of.page);
        let mut found = None;
        let mut next = self.chains[self.chain(operation.page)].first;
        while let Some(other) = self.places.get(next as usize) {
            if place(&other.waiting.operation) == place(operation) {
                found = Some(other.waiting.rank);
            }
            next = other.alike;
        }
        found
    }

    /// Takes the first out. There is one.
    #[inline]
    pub fn drop_first(&mut self) {
        // It is the first of its chain as well.
        self.take_out(self.ends.first, NOBODY);
    }

    /// Asks `joins` about those of offset `page`, one after the other, and removes those that it accepts, until it returns no answer.
    #[inline]
    pub fn take_alike(&mut self, page: u32, mut joins: impl FnMut(&Waiting) -> Option<bool>) {
        let mut before = NOBODY;
        let mut next = self.chains[self.chain(page)].first;
        while let Some(place) = self.places.get(next as usize) {
            let this = next;
            next = place.alike;
            if place.waiting.operation.page == page {
                match joins(&place.waiting) {
                    None => return,
                    Some(false) => {}
                    Some(true) => {
                        self.take_out(this, before);
                        continue;
                    }
                }
            }
            before = this;
        }
    }

    /// Asks `joins` about all, one after the other, and removes those that it accepts, until it returns no answer.
    pub fn take_any(&mut self, mut joins: impl FnMut(&Waiting) -> Option<bool>) {
        let mut next = self.ends.first;
        while let Some(place) = self.places.get(next as usize) {
            let (this, waiting) = (next, place.waiting);
            next = place.behind;
            match joins(&waiting) {
                None => return,
                Some(false) => {}
                Some(true) => self.take_out(this, self.before_in_chain(this)),
            }
        }
    }

    /// The one before `place` in its chain.
    fn before_in_chain(&self, place: u32) -> u32 {
        let page = self.places[place as usize].waiting.operation.page;
        let mut before = NOBODY;
        let mut next = self.chains[self.chain(page)].first;
        while next != place {
            (before, next) = (next, self.places[next as usize].alike);
        }
        before
    }

    #[inline]
    fn chain(&self, page: u32) -> usize {
        page as usize & (self.chains.len() - 1)
    }

    /// A place for `waiting`, in no order yet.
    #[inline(always)]
    fn place(&mut self, waiting: Waiting) -> u32 {
        self.waiting += 1;
        if self.waiting > self.chains.len() {
            self.lengthen();
        }
        let place = Place {
            waiting,
            before: NOBODY,
            behind: NOBODY,
            alike: NOBODY,
        };
        let free = self.free;
        match self.places.get_mut(free as usize) {
            Some(reused) => {
                self.free = reused.behind;
                *reused = place;
                free
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        }
    }

    /// Twice as many chains.
    #[cold]
    fn lengthen(&mut self) {
        self.chains = vec![EMPTY; 2 * self.chains.len()];
        let mut next = self.ends.first;
        while let Some(place) = self.places.get_mut(next as usize) {
            place.alike = NOBODY;
            let this = next;
            next = place.behind;
            self.link_to_chain(this);
        }
    }

    #[inline(always)]
    fn link_behind(&mut self, before: u32, place: u32) {
        let behind = match self.places.get_mut(before as usize) {
            Some(before) => core::mem::replace(&mut before.behind, place),
            None => core::mem::replace(&mut self.ends.first, place),
        };
        match self.places.get_mut(behind as usize) {
            Some(behind) => behind.before = place,
            None => self.ends.last = place,
        }
        let links = &mut self.places[place as usize];
        (links.before, links.behind) = (before, behind);
    }

    #[inline(always)]
    fn link_to_chain(&mut self, place: u32) {
        let chain = self.chain(self.places[place as usize].waiting.operation.page);
        let last = core::mem::replace(&mut self.chains[chain].last, place);
        match self.places.get_mut(last as usize) {
            Some(last) => last.alike = place,
            None => self.chains[chain].first = place,
        }
    }

    /// `place`, before which `before` is in its chain, is free.
    #[inline]
    fn take_out(&mut self, place: u32, before: u32) {
        let Place {
            ref waiting,
            before: earlier,
            behind: later,
            alike,
        } = self.places[place as usize];
        let page = waiting.operation.page;
        match self.places.get_mut(earlier as usize) {
            Some(earlier) => earlier.behind = later,
            None => self.ends.first = later,
        }
        match self.places.get_mut(later as usize) {
            Some(later) => later.before = earlier,
            None => self.ends.last = earlier,
        }
        let chain = self.chain(page);
        match self.places.get_mut(before as usize) {
            Some(before) => before.alike = alike,
            None => self.chains[chain].first = alike,
        }
        if alike == NOBODY {
            self.chains[chain].last = before;
        }
        self.places[place as usize].behind = self.free;
        self.free = place;
        self.waiting -= 1;
    }
}
