//! The set-associative write-back cache that all schemes of this family are.
//!
//! ```text
//!            latest  <- a set's lines ->  least recent
//!   set 0    [ 8 dirty ][ 0 clean ]       room for 4: 0 is dropped, although 8 would do as well by age
//!   set 1    [ 5 dirty ][ 1 dirty ]       room for 9: 1 is destaged, the on-demand update
//!   set 2    [ 2 dirty ][         ]       room for 6: nothing leaves, though other sets are full
//!   dirty lines, next to be written back first:  1  2  5  8
//! ```
//!
//! A set's lines are kept in the order of their last access, which for up to four of them is cheaper
//! than any list. The order of dirty lines goes over the whole cache; flushes and idle time follow it.
//!
//! A line written back in idle time is *in flight* until its program has completed; until then it does
//! not count as clean when its set needs room (`apu_clean_at = complete`), for a better line need not
//! wait for a program. A line that a flush names counts as clean at once: what a flush leaves behind shall
//! not depend on how fast the flash is.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_US;
use destage_base::{Lpn, Ticks, table};

use super::dirty::{DirtyLines, Rule};
use super::lines::{Lines, VACANT};
use super::places::Places;
use crate::destage::{Grouping, Slot};
use crate::registry::SchemeConfig;
use crate::scheme::{
    Access, AccessKind, Entry, IdleAgain, IdleRule, Need, Properties, Scheme, Victim,
};
use crate::view::View;

const SOURCE: &str = "APU cache: on-board cache with automatic periodic update.";

/// Lines of a set.
pub const WAYS: Parameter = Parameter {
    name: "ways",
    kind: Kind::Choice(&["1", "2", "4"]),
    default: "2",
    unit: "lines",
    about: "Lines of a set: a page may be in any line of one set.",
    source: SOURCE,
};

/// Whether reads renew a line.
pub const READ_TOUCH: Parameter = Parameter {
    name: "read_touch",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Whether a read hit counts as an access, for recency and frequency.",
    source: "Ours; the APU cache's text does not say.",
};

/// How many packages share a cache.
pub const PACKAGES_PER_PIECE: Parameter = Parameter {
    name: "packages_per_piece",
    kind: Kind::Integer {
        min: 0,
        max: u32::MAX as u64,
    },
    default: "0",
    unit: "packages",
    about: "Packages that share an independent cache with their part of the lines; 0: all packages share one.",
    source: SOURCE,
};

/// How a split cache finds a page's set.
pub const INDEX: Parameter = Parameter {
    name: "apu_index",
    kind: Kind::Choice(&["local", "raw"]),
    default: "local",
    unit: "",
    about: "What gives a page's set in a split cache: its number within the piece, or the page number as it is.",
    source: "Ours; the published ordering of split caches appears only with `raw`.",
};

/// How long nothing may have happened.
pub const IDLE_US: Parameter = Parameter {
    name: "idle_us",
    kind: Kind::Integer {
        min: 0,
        max: u64::MAX / TICKS_PER_US,
    },
    default: "2000",
    unit: "us",
    about: "How long no host request may have been queued or in service before lines are written back.",
    source: SOURCE,
};

/// When the next round begins.
pub const ROUND: Parameter = Parameter {
    name: "apu_round",
    kind: Kind::Choice(&["barrier", "pipelined"]),
    default: "barrier",
    unit: "",
    about: "When a package gets its next line: once all lines of the round are programmed, or once its own is.",
    source: "Ours; the APU cache's text does not say.",
};

/// What has to be idle.
pub const SCOPE: Parameter = Parameter {
    name: "apu_idle_scope",
    kind: Kind::Choice(&["device", "piece"]),
    default: "device",
    unit: "",
    about: "What has to be idle: the whole device, or the packages of one piece for that piece to write back.",
    source: "Ours; the APU cache's text does not say.",
};

/// When a line written back in idle time counts as clean.
pub const CLEAN_AT: Parameter = Parameter {
    name: "apu_clean_at",
    kind: Kind::Choice(&["complete", "issue"]),
    default: "complete",
    unit: "",
    about: "When a line written back in idle time counts as clean for its set: once it is programmed, or at once.",
    source: SOURCE,
};

/// What a page waits for that replaced another.
pub const ROOM: Parameter = Parameter {
    name: "apu_room",
    kind: Kind::Choice(&["line", "cache"]),
    default: "line",
    unit: "",
    about: "What a page waits for whose line is being programmed: that very line, or a free slot anywhere in the cache.",
    source: "A set-associative cache has a place for a page in its set and nowhere else; the published counts of split caches say the same.",
};

/// What a scheme does with idle time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Nothing.
    Nothing,
    /// One line of the whole cache at a time.
    Central,
    /// One line of every package at a time.
    Distributed,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Dirty,
    /// Written back in idle time, and the program runs.
    InFlight,
}

/// The cache, whose variants are the schemes of this family.
pub struct SetCache {
    places: Places,
    lines: Lines,
    /// By slot.
    pages: Vec<Lpn>,
    /// By slot.
    states: Vec<State>,
    /// By slot: accesses since the page entered.
    frequencies: Vec<u32>,
    /// Pages in all lines.
    len: usize,
    /// One group, or one for each package.
    dirty: DirtyLines,
    read_touch: bool,
    idle: Idle,
    rule: Option<IdleRule>,
    /// An idle line stays out of the way until it is programmed.
    clean_at_completion: bool,
    /// A page waits for its own line.
    room_is_a_line: bool,
}

/// Makes a variant. Parameters its row does not have stay at their defaults.
pub fn build(config: &SchemeConfig, order: Rule, idle: Idle) -> Box<dyn Scheme> {
    let packages = config.dies.max(1);
    let per_piece = match config.values.get(PACKAGES_PER_PIECE.name) {
        Some(_) => config
            .values
            .integer(PACKAGES_PER_PIECE.name)
            .min(u64::from(packages)) as u32,
        None => 0,
    };
    let places = Places::new(
        config.capacity_pages,
        match config.values.text(WAYS.name) {
            "1" => 1,
            "2" => 2,
            _ => 4,
        },
        packages,
        if per_piece == 0 { packages } else { per_piece },
        is(config.values, INDEX, "raw"),
    );
    let groups = if idle == Idle::Distributed {
        packages
    } else {
        1
    };
    let rule = (idle != Idle::Nothing).then(|| IdleRule {
        after: config.values.integer(IDLE_US.name) * TICKS_PER_US,
        again: if is(config.values, ROUND, "pipelined") {
            IdleAgain::AfterPage
        } else {
            IdleAgain::AfterRecord
        },
        groups: if is(config.values, SCOPE, "piece") {
            places.pieces()
        } else {
            1
        },
    });
    Box::new(SetCache {
        lines: Lines::new(places.lines()),
        pages: Vec::new(),
        states: Vec::new(),
        frequencies: Vec::new(),
        len: 0,
        dirty: DirtyLines::new(order, groups, config.capacity_pages),
        read_touch: config.values.flag(READ_TOUCH.name),
        idle,
        rule,
        clean_at_completion: !is(config.values, CLEAN_AT, "issue"),
        room_is_a_line: is(config.values, ROOM, "line"),
        places,
    })
}

/// Whether `parameter` is among `values` and is `word`.
fn is(values: &Values, parameter: Parameter, word: &str) -> bool {
    values.get(parameter.name).is_some() && values.text(parameter.name) == word
}

impl Scheme for SetCache {
    fn properties(&self) -> Properties {
        Properties {
            waits_for_its_place: self.room_is_a_line,
            idle_rule: self.rule,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, _: &Access) {
        let set = self.places.set_of(entry.page);
        let set = self.lines.of_mut(set);
        debug_assert!(
            set[set.len() - 1] == VACANT,
            "no line is vacant for {entry:?}"
        );
        set.rotate_right(1);
        set[0] = entry.slot.0;
        let index = entry.slot.0 as usize;
        *table::at(&mut self.pages, index, entry.page) = entry.page;
        *table::at(&mut self.states, index, State::Clean) = State::Dirty;
        *table::at(&mut self.frequencies, index, 0) = 1;
        self.dirty.enter(self.group_of(entry.page), entry, 1);
        self.len += 1;
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        let writes = access.kind == AccessKind::Write;
        if !writes && !self.read_touch {
            return;
        }
        let set = self.lines.of_mut(self.places.set_of(entry.page));
        let place = place_of(entry, set);
        set[..=place].rotate_right(1);
        let group = self.group_of(entry.page);
        let frequency = &mut self.frequencies[entry.slot.0 as usize];
        *frequency = frequency.saturating_add(1);
        let state = &mut self.states[entry.slot.0 as usize];
        if *state == State::Dirty {
            self.dirty.renew(group, entry, *frequency);
        } else if writes {
            *state = State::Dirty;
            self.dirty.enter(group, entry, *frequency);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let set = self.places.set_of(entry.page);
        let place = place_of(entry, self.lines.of(set.clone()));
        self.vacate(set.start + place..set.end, entry);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        match need {
            Need::Evict(page) => {
                let (entry, lines) = self.victim_for(page);
                self.vacate(lines, entry);
                victim.entries.push(entry);
            }
            Need::FlushPage(entry) => {
                self.drop_dirt(entry);
                victim.entries.push(entry);
                victim.retain = true;
            }
            Need::Flush => {
                let all = 0..self.places.packages();
                self.write_back(all, |_| true, State::Clean, victim);
            }
        }
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        free == 0 || self.lines.at(self.places.set_of(page).end - 1) != VACANT
    }

    fn idle(&mut self, groups: Range<u32>, _: Ticks, view: &dyn View, victim: &mut Victim) {
        let packages = match self.rule {
            Some(rule) if groups.len() < rule.groups as usize => {
                self.places.packages_of(groups.start)
            }
            _ => 0..self.places.packages(),
        };
        self.use_idle_time(packages, view, victim);
    }

    fn idle_group_of(&self, page: Lpn) -> u32 {
        match self.rule {
            Some(rule) if rule.groups > 1 => self.places.piece_of(self.places.package_of(page)),
            _ => 0,
        }
    }

    fn cleaned(&mut self, entry: Entry) {
        let state = &mut self.states[entry.slot.0 as usize];
        if *state == State::InFlight {
            *state = State::Clean;
        }
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl SetCache {
    /// The group of dirty lines `page` belongs to.
    #[inline]
    fn group_of(&self, page: Lpn) -> u32 {
        match self.idle {
            Idle::Distributed => self.places.package_of(page),
            Idle::Central | Idle::Nothing => 0,
        }
    }

    /// The page in `slot`, with its slot.
    #[inline]
    fn entry(&self, slot: u32) -> Entry {
        Entry {
            page: self.pages[slot as usize],
            slot: Slot(slot),
        }
    }

    /// Of the set of `page`, the least recent clean line, else the least recent line. What is in it, and the
    /// lines from there to the end of the set.
    #[inline]
    fn victim_for(&self, page: Lpn) -> (Entry, Range<usize>) {
        let is_clean = |slot: u32| self.states[slot as usize] == State::Clean;
        let set = self.places.set_of(page);
        let lines = self.lines.of(set.clone());
        let last = lines.len() - 1;
        if lines[last] != VACANT {
            let place = lines.iter().rposition(|slot| is_clean(*slot));
            let place = place.unwrap_or(last);
            return (self.entry(lines[place]), set.start + place..set.end);
        }
        // With fewer lines than pieces the buffer can be full when the set is not; any line will do then.
        let taken = (0..self.lines.len()).filter(|place| self.lines.at(*place) != VACANT);
        let clean = taken.clone().find(|place| is_clean(self.lines.at(*place)));
        let place = clean.or(taken.clone().next()).unwrap_or(0);
        let entry = self.entry(self.lines.at(place));
        (entry, place..self.places.set_of(entry.page).end)
    }

    /// Takes `entry` out of the first of `lines`, which go on to the end of its set.
    #[inline]
    fn vacate(&mut self, lines: Range<usize>, entry: Entry) {
        let lines = self.lines.of_mut(lines);
        lines.rotate_left(1);
        lines[lines.len() - 1] = VACANT;
        self.len -= 1;
        self.drop_dirt(entry);
    }

    /// The line of `entry` is not dirty any more, if it was.
    #[inline]
    fn drop_dirt(&mut self, entry: Entry) {
        let group = self.group_of(entry.page);
        let index = entry.slot.0 as usize;
        if core::mem::replace(&mut self.states[index], State::Clean) == State::Dirty {
            self.dirty
                .remove(group, entry.slot, self.frequencies[index]);
        }
    }

    /// Names the first dirty line of each group that `packages` has and that `is_free`.
    fn write_back(
        &mut self,
        packages: Range<u32>,
        is_free: impl Fn(u32) -> bool,
        state: State,
        victim: &mut Victim,
    ) {
        let groups = if self.idle == Idle::Distributed {
            packages
        } else {
            0..1
        };
        for group in groups.filter(|group| is_free(*group)) {
            if let Some(slot) = self.dirty.pop(group) {
                self.states[slot.0 as usize] = state;
                victim.entries.push(self.entry(slot.0));
            }
        }
        victim.retain = true;
        if self.idle == Idle::Distributed {
            victim.grouping = Grouping::Batch;
        }
    }

    fn use_idle_time(&mut self, packages: Range<u32>, view: &dyn View, victim: &mut Victim) {
        let Some(rule) = self.rule else { return };
        let state = if self.clean_at_completion {
            State::InFlight
        } else {
            State::Clean
        };
        // In a pipelined round a package that still works has not finished its own line.
        let waits = rule.again == IdleAgain::AfterPage;
        self.write_back(
            packages,
            |package| !waits || view.queue_length(package) == 0,
            state,
            victim,
        );
    }
}

/// Which of the lines of its set has `entry`.
#[inline]
fn place_of(entry: Entry, set: &[u32]) -> usize {
    let place = set.iter().position(|slot| *slot == entry.slot.0);
    let Some(place) = place else {
        panic!("{entry:?} is in no line of its set");
    };
    place
}
