//! A line: the reads, or the programs, that wait at a die, in the order of their arrival.
//!
//! Hundreds of operations can wait at a die. The line therefore finds its first operation, and the operations on a
//! given page offset, without visiting the other operations. It removes its first operation in constant time.

use alloc::vec;
use alloc::vec::Vec;

use super::queue::Operation;

/// Marks the end of a list.
const NOBODY: u32 = u32::MAX;
/// Number of chains that a line has at first. The number of chains is always a power of two.
const CHAINS: usize = 16;

/// An operation in a line.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub operation: Operation,
    /// Number of operations that arrived at this die before this one.
    pub rank: u64,
}

#[derive(Clone, Copy)]
struct Place {
    waiting: Waiting,
    /// The place of the operation that arrived before this one. `behind` is the place of the operation that arrived
    /// after this one; in a free place, it is the next free place.
    before: u32,
    behind: u32,
    /// The next place of the same chain.
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

/// A line of waiting operations. See the [module](self).
#[derive(Clone)]
pub(super) struct Line {
    places: Vec<Place>,
    free: u32,
    waiting: usize,
    ends: Ends,
    /// The chains of operations, each in the order of arrival. An operation is in the chain whose number is the
    /// operation's page offset modulo the number of chains. There are at least as many chains as waiting operations.
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

    /// The first operation of the line.
    #[inline]
    pub fn first(&self) -> Option<&Waiting> {
        let place = self.places.get(self.ends.first as usize);
        place.map(|place| &place.waiting)
    }

    /// Appends `waiting`, which arrived last.
    #[inline(always)]
    pub fn push(&mut self, waiting: Waiting) {
        let place = self.place(waiting);
        self.link_behind(self.ends.last, place);
        self.link_to_chain(place);
    }

    /// Inserts `waiting`, which was held back, at the position given by its rank.
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

    /// The rank of the last waiting operation on the page of `operation`.
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

    /// Removes the first operation. The line may not be empty.
    #[inline]
    pub fn drop_first(&mut self) {
        // The first operation of the line is also the first of its chain.
        self.take_out(self.ends.first, NOBODY);
    }

    /// Calls `joins` with each operation on page offset `page`, in order of arrival. An operation is removed if
    /// `joins` returns `Some(true)`. The method stops when `joins` returns `None`.
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

    /// Calls `joins` with every operation, in order of arrival. An operation is removed if `joins` returns
    /// `Some(true)`. The method stops when `joins` returns `None`.
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

    /// The place before `place` in its chain.
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

    /// Stores `waiting` in a free or new place, which is not linked yet.
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

    /// Doubles the number of chains.
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

    /// Removes the operation at `place`. `before` is the previous place in the chain of this operation.
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
