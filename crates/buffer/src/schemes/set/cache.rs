//! The set-associative write-back cache of all schemes of this family.
//!
//! ```text
//!            latest access  <- the lines of a set ->  oldest access
//!   set 0    [ 8 dirty ][ 0 clean ]       room for 4: the clean line 0 is dropped without a program
//!   set 1    [ 5 dirty ][ 1 dirty ]       room for 9: 1 is destaged (an on-demand update)
//!   set 2    [ 2 dirty ][         ]       room for 6: no page leaves, although other sets are full
//!   dirty lines in the order in which they are written back:  1  2  5  8
//! ```
//!
//! The lines of a set are in the order of their last access. For up to four lines, an array is cheaper than any list.
//! The dirty lines have one order over the whole cache. If lines of all packages are written back in parallel, they
//! have one order per package. Flushes and idle time follow this order.
//!
//! A line that is written back in idle time is *in flight* until its program has completed. With
//! `apu_clean_at = complete`, a line in flight does not count as clean when its set needs room, because a clean line
//! must be replaceable without waiting for a program. When a flush selects a line, the line counts as clean at once,
//! because the state after a flush must not depend on the speed of the flash.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::parameter::{Field, Kind, Parameter};
use destage_base::time::TICKS_PER_US;
use destage_base::{Lpn, Ticks, choices, parameters, table};

use super::dirty::{DirtyLines, Rule};
use super::lines::{Lines, VACANT};
use super::places::Places;
use crate::destage::{Grouping, Slot};
use crate::registry::SchemeConfig;
use crate::scheme::{
    Access, AccessKind, Entry, IdleAgain, IdleRule, Need, Properties, Scheme, Victim,
};
use crate::shown::Shown;
use crate::view::View;

const SOURCE: &str = "APU cache: on-board cache with automatic periodic update.";

choices! {
    /// The number of lines of a set.
    pub enum Ways {
        One = "1",
        Two = "2",
        Four = "4",
    }
}

choices! {
    /// How the set of a page is computed in a divided cache.
    pub enum Index {
        Local = "local",
        Raw = "raw",
    }
}

choices! {
    /// When a package writes back its next line.
    pub enum Round {
        Barrier = "barrier",
        Pipelined = "pipelined",
    }
}

choices! {
    /// The part of the device that has to be idle.
    pub enum Scope {
        Device = "device",
        Piece = "piece",
    }
}

choices! {
    /// When a line written back in idle time counts as clean.
    pub enum CleanAt {
        Complete = "complete",
        Issue = "issue",
    }
}

choices! {
    /// The program that a page waits for if it replaced another page.
    pub enum Room {
        Line = "line",
        Cache = "cache",
    }
}

/// The number of lines of a set.
const WAYS: Parameter = Parameter {
    name: "ways",
    kind: Ways::KIND,
    default: "2",
    unit: "lines",
    about: "Lines of a set: a page may be in any line of its set.",
    source: SOURCE,
    ..Parameter::BLANK
};

/// The time for which the device must have no host requests.
const IDLE_US: Parameter = Parameter {
    name: "idle_us",
    kind: Kind::Integer {
        min: 0,
        max: u64::MAX / TICKS_PER_US,
    },
    default: "2000",
    unit: "us",
    about: "Time without a queued or served host request after which idle time begins and lines are written back.",
    source: SOURCE,
    ..Parameter::BLANK
};

/// The moment at which a line that is written back in idle time counts as clean.
const CLEAN_AT: Parameter = Parameter {
    name: "apu_clean_at",
    kind: CleanAt::KIND,
    default: "complete",
    unit: "",
    about: "When a line written back in idle time counts as clean for its set: when it is programmed, or at once.",
    source: SOURCE,
    ..Parameter::BLANK
};

parameters! {
    /// The parameters that every cache has.
    pub struct Common {
        /// What a page waits for if its line is still being programmed: this line, or a free slot anywhere in the
        /// cache.
        apu_room: Room = "line", "", "A set-associative cache keeps a page in its set and nowhere else; the published counts of split caches confirm that.";
        /// Whether a read hit counts as an access, both for recency and for frequency.
        read_touch: bool = "true", "", "Ours; the APU cache's text does not say.";
    }
}

parameters! {
    /// How a cache is divided into pieces.
    pub struct Split {
        /// How many packages share an independent cache with their part of the lines; 0: all packages share one.
        packages_per_piece: u32 = "0", "packages", SOURCE;
        /// How the set of a page is computed in a divided cache: from its number within the piece, or from the page
        /// number.
        apu_index: Index = "local", "", "Ours; the published ordering of split caches appears only with `raw`.";
    }
}

parameters! {
    /// How packages write lines back in parallel.
    pub struct Rounds {
        /// When a package writes back its next line: when all lines of the round are programmed, or when the line of
        /// this package is programmed.
        apu_round: Round = "barrier", "", "Ours; the APU cache's text does not say.";
        /// What has to be idle before lines are written back: the whole device, or the packages of the piece that has
        /// the lines.
        apu_idle_scope: Scope = "device", "", "Ours; the APU cache's text does not say.";
    }
}

parameters! {
    /// The parameters of a cache that does not use idle time.
    pub struct WriteBack {
        ways: Ways as WAYS;
        split: Split;
        common: Common;
    }
}

parameters! {
    /// The parameters of a cache that writes back one line at a time.
    pub struct Central {
        ways: Ways as WAYS;
        idle_us: u64 as IDLE_US;
        apu_clean_at: CleanAt as CLEAN_AT;
        common: Common;
    }
}

parameters! {
    /// The parameters of a cache that writes back one line of every package at a time.
    pub struct Distributed {
        ways: Ways as WAYS;
        split: Split;
        idle_us: u64 as IDLE_US;
        rounds: Rounds;
        apu_clean_at: CleanAt as CLEAN_AT;
        common: Common;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Clean,
    Dirty,
    /// The line is being written back in idle time, and its program is in flight.
    InFlight,
}

/// The cache. Its variants are the schemes of this family.
pub struct SetCache {
    pub(super) places: Places,
    /// The lines of each set, the line accessed last first.
    pub(super) lines: Lines,
    /// By slot: the page in the slot.
    pages: Vec<Lpn>,
    /// By slot: the state of the slot's line.
    states: Vec<State>,
    /// By slot: the number of accesses since the page entered.
    pub(super) frequencies: Vec<u32>,
    /// The number of pages in all lines.
    len: usize,
    /// The dirty lines, in one group or in one group per package.
    pub(super) dirty: DirtyLines,
    read_touch: bool,
    /// Whether lines are written back one of every package at a time, and not one of the whole cache.
    is_distributed: bool,
    /// The use of idle time; `None` if the scheme does not use it.
    rule: Option<IdleRule>,
    /// Whether a line that is written back in idle time counts as clean only when its program has completed.
    clean_at_completion: bool,
    /// Whether a page waits for the program of the line that it uses.
    room_is_a_line: bool,
}

/// The use of idle time by a variant.
#[derive(Clone, Copy)]
struct IdleTime<'a> {
    idle_us: u64,
    clean_at: CleanAt,
    /// The parameters for writing back lines of all packages in parallel. `None` if one line of the whole cache is
    /// written back at a time.
    rounds: Option<&'a Rounds>,
}

/// Creates the scheme `wb`.
pub fn write_back(config: &SchemeConfig) -> Box<dyn Scheme> {
    let own = WriteBack::from_values(config.values);
    let split = Some(&own.split);
    let cache = SetCache::new(config, own.ways, split, Rule::Recency, None, &own.common);
    Box::new(cache)
}

/// Creates the variants that write back one line at a time.
pub fn central(config: &SchemeConfig, order: Rule) -> Box<dyn Scheme> {
    let own = Central::from_values(config.values);
    let idle = Some(IdleTime {
        idle_us: own.idle_us,
        clean_at: own.apu_clean_at,
        rounds: None,
    });
    let cache = SetCache::new(config, own.ways, None, order, idle, &own.common);
    Box::new(cache)
}

/// Creates the variants that write back one line of every package at a time.
pub fn distributed(config: &SchemeConfig, order: Rule) -> Box<dyn Scheme> {
    let own = Distributed::from_values(config.values);
    let idle = Some(IdleTime {
        idle_us: own.idle_us,
        clean_at: own.apu_clean_at,
        rounds: Some(&own.rounds),
    });
    let split = Some(&own.split);
    let cache = SetCache::new(config, own.ways, split, order, idle, &own.common);
    Box::new(cache)
}

impl SetCache {
    fn new(
        config: &SchemeConfig,
        ways: Ways,
        split: Option<&Split>,
        order: Rule,
        idle: Option<IdleTime<'_>>,
        common: &Common,
    ) -> Self {
        let packages = config.dies.max(1);
        let per_piece = match split.map_or(0, |split| split.packages_per_piece) {
            0 => packages,
            given => given.min(packages),
        };
        let places = Places::new(
            config.capacity_pages,
            match ways {
                Ways::One => 1,
                Ways::Two => 2,
                Ways::Four => 4,
            },
            packages,
            per_piece,
            split.is_some_and(|split| split.apu_index == Index::Raw),
        );
        let rounds = idle.and_then(|idle| idle.rounds);
        let rule = idle.map(|idle| IdleRule {
            after: idle.idle_us * TICKS_PER_US,
            again: match rounds.map(|rounds| rounds.apu_round) {
                Some(Round::Pipelined) => IdleAgain::AfterPage,
                Some(Round::Barrier) | None => IdleAgain::AfterRecord,
            },
            groups: match rounds.map(|rounds| rounds.apu_idle_scope) {
                Some(Scope::Piece) => places.pieces(),
                Some(Scope::Device) | None => 1,
            },
        });
        let groups = if rounds.is_some() { packages } else { 1 };
        Self {
            lines: Lines::new(places.lines()),
            pages: Vec::new(),
            states: Vec::new(),
            frequencies: Vec::new(),
            len: 0,
            dirty: DirtyLines::new(order, groups, config.capacity_pages),
            read_touch: common.read_touch,
            is_distributed: rounds.is_some(),
            rule,
            clean_at_completion: idle.is_none_or(|idle| idle.clean_at == CleanAt::Complete),
            room_is_a_line: common.apu_room == Room::Line,
            places,
        }
    }
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
        push_front(set, entry.slot.0);
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
        push_front(&mut set[..=place], entry.slot.0);
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

    fn show(&self, shown: &mut Shown) {
        self.show_sets(shown);
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl SetCache {
    /// The group of dirty lines to which `page` belongs.
    #[inline]
    fn group_of(&self, page: Lpn) -> u32 {
        match self.is_distributed {
            true => self.places.package_of(page),
            false => 0,
        }
    }

    /// The page in `slot`, together with its slot.
    #[inline]
    pub(super) fn entry(&self, slot: u32) -> Entry {
        Entry {
            page: self.pages[slot as usize],
            slot: Slot(slot),
        }
    }

    /// The victim in the set of `page`. It is the least recently accessed clean line, or the least recently accessed
    /// line if no line is clean. Returns the victim's page, and the lines of the set from the victim to the end.
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
        // If the cache has fewer lines than pieces, the buffer can be full although the set is not full. In this case
        // any line may be evicted.
        let taken = (0..self.lines.len()).filter(|place| self.lines.at(*place) != VACANT);
        let clean = taken.clone().find(|place| is_clean(self.lines.at(*place)));
        let place = clean.or(taken.clone().next()).unwrap_or(0);
        let entry = self.entry(self.lines.at(place));
        (entry, place..self.places.set_of(entry.page).end)
    }

    /// Removes `entry` from its line, and moves the later lines of the set forward by one. `lines` are the lines from
    /// the line of `entry` to the end of its set.
    #[inline]
    fn vacate(&mut self, lines: Range<usize>, entry: Entry) {
        let lines = self.lines.of_mut(lines);
        let mut next = VACANT;
        for line in lines.iter_mut().rev() {
            core::mem::swap(line, &mut next);
        }
        self.len -= 1;
        self.drop_dirt(entry);
    }

    /// Marks the line of `entry` as clean. If the line was dirty, removes it from the dirty lines.
    #[inline]
    fn drop_dirt(&mut self, entry: Entry) {
        let group = self.group_of(entry.page);
        let index = entry.slot.0 as usize;
        if core::mem::replace(&mut self.states[index], State::Clean) == State::Dirty {
            self.dirty
                .remove(group, entry.slot, self.frequencies[index]);
        }
    }

    /// For each group of `packages` for which `is_free` is true, names the first dirty line. The named lines get the
    /// state `state`.
    fn write_back(
        &mut self,
        packages: Range<u32>,
        is_free: impl Fn(u32) -> bool,
        state: State,
        victim: &mut Victim,
    ) {
        let groups = if self.is_distributed { packages } else { 0..1 };
        for group in groups.filter(|group| is_free(*group)) {
            if let Some(slot) = self.dirty.pop(group) {
                self.states[slot.0 as usize] = state;
                victim.entries.push(self.entry(slot.0));
            }
        }
        victim.retain = true;
        if self.is_distributed {
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
        // In pipelined rounds, a package that is still busy has not finished its own line.
        let waits = rule.again == IdleAgain::AfterPage;
        self.write_back(
            packages,
            |package| !waits || view.queue_length(package) == 0,
            state,
            victim,
        );
    }
}

/// Moves each of `lines` to the place behind it, and puts `slot` into the first place. The last line is overwritten. For the
/// few lines of a set, a loop is faster than a call of the library that moves memory.
#[inline]
fn push_front(lines: &mut [u32], slot: u32) {
    let mut before = slot;
    for line in lines {
        core::mem::swap(line, &mut before);
    }
}

/// The position of `entry` among the lines of its set.
#[inline]
fn place_of(entry: Entry, set: &[u32]) -> usize {
    let place = set.iter().position(|slot| *slot == entry.slot.0);
    let Some(place) = place else {
        panic!("{entry:?} is in no line of its set");
    };
    place
}
