//! `co-active`: writes cold pages back while their die is idle, so that evictions find clean pages.
//!
//! ```text
//!            latest                 next to leave
//!   hot      [ h1  h2  h3 ]                       accessed within the last window; leave last
//!               ^      v  no access for a window: cold again
//!   cold     [ c1  c2  c3  c4 ]                   dirty, accessed less often
//!                          v  die idle: programmed, stays
//!   clean    [ k1  k2  k3 ]  -> leaves first, without a program
//! ```
//!
//! A page becomes hot when it is accessed `co_hot` times within `co_window` page writes. It remains hot until
//! `co_window` page writes have passed without an access to it. If room is needed, the page that has been clean
//! longest is evicted. Without clean pages, the least recently used cold page is evicted. Without cold pages, the
//! least recently used hot page is evicted. While a die is idle, its cold pages are written back one at a time, the
//! least recently used first. They remain in the buffer as clean pages.
//!
//! A `Budget` limits the number of pages that are written back in each period of time. The budget is larger if the
//! writes of the previous periods were unevenly distributed. Hot pages are never written back in idle time.
//!
//! A page counts as clean as soon as its write-back is issued, so no decision depends on the speed of the flash. If a
//! page is evicted during its write-back, it needs no second program. Its slot remains in use until the program ends.
//!
//! Cost: O(1) amortised per page, O(`co_periods`) per period. Memory: two list nodes and 24 bytes per slot.

mod budget;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::parameter::Kind;
use destage_base::time::TICKS_PER_US;
use destage_base::{Lpn, Ticks, parameters, table};

use self::budget::Budget;
use super::{STRIDE, Striping};
use crate::destage::{Grouping, Slot};
use crate::order::SlotLists;
use crate::registry::{SchemeRow, Sees};
use crate::scheme::{
    Access, AccessKind, Entry, IdleAgain, IdleRule, Need, Properties, Scheme, Victim,
};
use crate::shown::Shown;
use crate::view::View;

const OURS: &str = "Ours.";

parameters! {
    /// The parameters of `co-active`.
    struct Parameters {
        stride: u64 as STRIDE;
        /// Number of the last page writes during which the accesses of a page are counted; 0: as many as the buffer has
        /// pages.
        co_window: u32 = "0", "page writes", OURS;
        /// How many accesses within the window make a page hot, including the write with which it enters.
        co_hot: u32 = "2" in Kind::Integer { min: 2, max: u32::MAX as u64 }, "accesses", OURS;
        /// How many pages are written back per period if writes come evenly; 0: a sixteenth of the buffer, at least
        /// one.
        co_cap_pages: u32 = "0", "pages", OURS;
        /// Length of the periods in which writes and write-backs are counted.
        co_period_us: u64 = "100000" in Kind::Integer { min: 1, max: u64::MAX / TICKS_PER_US }, "us", OURS;
        /// How many past periods measure the burstiness of writes: the cap is multiplied by their peak over their
        /// mean.
        co_periods: u32 = "8" in Kind::Integer { min: 1, max: 1024 }, "periods", OURS;
        /// Time without a queued or served host request for the pages of a die, after which these pages are written
        /// back.
        co_idle_us: u64 = "0" in Kind::Integer { min: 0, max: u64::MAX / TICKS_PER_US }, "us", OURS;
        /// Whether a read hit counts as an access, both for recency and for becoming hot.
        read_touch: bool = "false", "", OURS;
    }
}

/// The row of `co-active`.
pub const ROW: SchemeRow = SchemeRow {
    name: "co-active",
    family: "device",
    about: "Writes cold pages back while their die is idle, and evicts clean pages first.",
    source: "Co-Active, IEEE Transactions on Parallel and Distributed Systems, 2021.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Time],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let or = |given, other: u32| match given {
            0 => other.max(1),
            value => value,
        };
        let period = parameters.co_period_us * TICKS_PER_US;
        let periods = parameters.co_periods as usize;
        let cap = or(parameters.co_cap_pages, config.capacity_pages / 16);
        let striping = Striping::new(config, parameters.stride);
        Box::new(CoActive {
            order: SlotLists::new(3, config.capacity_pages),
            cold: SlotLists::new(striping.dies(), config.capacity_pages),
            held: Vec::new(),
            window: u64::from(or(parameters.co_window, config.capacity_pages)),
            hot_accesses: parameters.co_hot,
            read_touch: parameters.read_touch,
            budget: Budget::new(period, periods, u64::from(cap)),
            rule: IdleRule {
                after: parameters.co_idle_us * TICKS_PER_US,
                again: IdleAgain::AfterRecord,
                groups: striping.dies(),
            },
            striping,
        })
    })
};

/// The state of a page. It is also the number of the page's list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Cold,
    Hot,
}

/// The state of the page in a slot, and its accesses.
#[derive(Clone, Copy)]
struct Held {
    /// The virtual time of the first access that is counted.
    first: u64,
    /// The virtual time of the latest access.
    last: u64,
    accesses: u32,
    state: State,
}

struct CoActive {
    /// One list per state. Front: the latest page.
    order: SlotLists,
    /// The cold pages once more, in one list per die and in the same order.
    cold: SlotLists,
    /// The state of the page in each slot.
    held: Vec<Held>,
    window: u64,
    hot_accesses: u32,
    read_touch: bool,
    budget: Budget,
    rule: IdleRule,
    striping: Striping,
}

impl Scheme for CoActive {
    fn properties(&self) -> Properties {
        Properties {
            idle_rule: Some(self.rule),
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.begin(access);
        let held = Held {
            first: access.virtual_time,
            last: access.virtual_time,
            accesses: 1,
            state: State::Cold,
        };
        *table::at(&mut self.held, entry.slot.0 as usize, held) = held;
        self.order.push_front(State::Cold as u32, entry);
        self.cold
            .push_front(self.striping.die_of(entry.page), entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.begin(access);
        let writes = access.kind == AccessKind::Write;
        if !writes && !self.read_touch {
            return;
        }
        let now = access.virtual_time;
        let held = &mut self.held[entry.slot.0 as usize];
        if now - held.first >= self.window {
            held.first = now;
            held.accesses = 0;
        }
        held.accesses = held.accesses.saturating_add(1);
        held.last = now;
        let state = match held.state {
            State::Hot => State::Hot,
            State::Clean if !writes => State::Clean,
            _ if held.accesses >= self.hot_accesses => State::Hot,
            _ => State::Cold,
        };
        self.move_to(state, entry);
    }

    fn remove(&mut self, entry: Entry) {
        self.order.remove(entry.slot);
        if self.held[entry.slot.0 as usize].state == State::Cold {
            self.cold.remove(entry.slot);
        }
    }

    fn evict(&mut self, need: Need, access: &Access, _: &dyn View, victim: &mut Victim) {
        self.begin(access);
        let last = |state| self.order.back(state as u32);
        let dirty = last(State::Cold).or_else(|| last(State::Hot));
        if let Need::Evict(_) = need {
            if let Some(entry) = last(State::Clean).or(dirty) {
                self.remove(entry);
                victim.entries.push(entry);
            }
            return;
        }
        let entry = match need {
            Need::FlushPage(entry) => Some(entry),
            _ => dirty,
        };
        if let Some(entry) = entry {
            self.write_back(entry, victim);
        }
    }

    fn idle(&mut self, dies: Range<u32>, now: Ticks, _: &dyn View, victim: &mut Victim) {
        self.budget.turn_to(now);
        if dies == (0..self.striping.dies()) {
            victim.grouping = Grouping::Batch;
        }
        for die in dies {
            if let Some(entry) = self.cold.back(die)
                && self.budget.spend()
            {
                self.write_back(entry, victim);
            }
        }
    }

    fn idle_group_of(&self, page: Lpn) -> u32 {
        self.striping.die_of(page)
    }

    fn show(&self, shown: &mut Shown) {
        for (state, name, last) in [
            (State::Hot, "Hot", "cools down next"),
            (
                State::Cold,
                "Cold",
                "written back next while its die is idle",
            ),
            (State::Clean, "Clean", "leaves next"),
        ] {
            shown
                .list(name, "latest", last)
                .row(self.order.iter(state as u32));
        }
    }

    fn len(&self) -> usize {
        self.order.len()
    }
}

impl CoActive {
    /// Applies the effects of time: ends periods, and makes hot pages cold. A second call for the same access changes
    /// nothing.
    #[inline]
    fn begin(&mut self, access: &Access) {
        self.budget.turn_to(access.now);
        self.budget.note_writes(access.virtual_time);
        while let Some(entry) = self.order.back(State::Hot as u32) {
            let held = &mut self.held[entry.slot.0 as usize];
            if access.virtual_time - held.last < self.window {
                break;
            }
            held.first = access.virtual_time;
            held.accesses = 0;
            self.move_to(State::Cold, entry);
        }
    }

    /// Gives a page its new state, and puts the page at the front of the list of this state.
    fn move_to(&mut self, state: State, entry: Entry) {
        let Slot(slot) = entry.slot;
        let old = core::mem::replace(&mut self.held[slot as usize].state, state);
        self.order.move_to_front(state as u32, entry.slot);
        if old == State::Cold {
            self.cold.remove(entry.slot);
        }
        if state == State::Cold {
            self.cold
                .push_front(self.striping.die_of(entry.page), entry);
        }
    }

    /// Writes a page back. It remains in the buffer as a clean page.
    fn write_back(&mut self, entry: Entry, victim: &mut Victim) {
        self.move_to(State::Clean, entry);
        victim.entries.push(entry);
        victim.retain = true;
    }
}
