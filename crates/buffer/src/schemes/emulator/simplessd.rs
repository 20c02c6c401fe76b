//! `simplessd`: a set-associative cache. When a set is full, it destages the least recently written line of every
//! die.
//!
//! ```text
//!              set 0     set 1     set 2     set 3        pages of die 0: 0 4 8 12, of die 1: 1 5 9 13, ...
//!            [ 4  8 ]  [ 1  5 ]  [ 2  - ]  [ 3  7 ]      4 sets of 2 lines over 4 dies
//!   a write of 12: set 0 is full. The least recently written lines of all dies leave in parallel: 4, 1, 2 and 3
//! ```
//!
//! The victims are chosen from the whole cache and not only from the full set. The device can program a certain
//! number of pages at the same time, and one line is evicted for each such page, so that all dies are busy. If none
//! of these lines is in the full set, the least recently written line of that set is evicted in place of the line
//! that was chosen for its die.
//!
//! With `simplessd_evict = superpage`, only as many lines are evicted as a superpage has pages. For each position in
//! a superpage, all dies have lines at this position. The least recently written of these lines is evicted.
//!
//! Cost: O(ways) per page, O(places) for the victims of one eviction. Memory: one list node and 16 bytes per slot, 4
//! bytes per line.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::parameter::Kind;
use destage_base::{Lpn, choices, parameters, table};

use crate::destage::Slot;
use crate::order::SlotLists;
use crate::registry::{SchemeConfig, SchemeRow, Sees};
use crate::scheme::{Access, AccessKind, Entry, Need, Properties, Scheme, Victim};
use crate::schemes::set::lines::{Lines, VACANT};
use crate::schemes::set::places::Places;
use crate::shown::{Frame, Shown};
use crate::view::View;

choices! {
    /// The number of lines of a set.
    enum Ways {
        One = "1",
        Two = "2",
        Four = "4",
        Eight = "8",
    }
}

choices! {
    /// Which lines leave together.
    enum Evict {
        All = "all",
        Superpage = "superpage",
    }
}

choices! {
    /// How a page that was written in full is treated.
    enum FullLines {
        Back = "back",
        Through = "through",
    }
}

parameters! {
    /// The parameters of `simplessd`.
    struct Parameters {
        /// Lines of a set. The set of a page is its number modulo the number of sets, and the page may be in any line
        /// of its set.
        simplessd_ways: Ways = "8", "lines", "SimpleSSD, config/sample.cfg, `CacheWaySize`.";
        /// The lines that leave when a set is full: one line for each of `all` places of all dies, or one line for
        /// each page of a `superpage`.
        simplessd_evict: Evict = "all", "", "SimpleSSD, `EvictMode`.";
        /// Consecutive pages of a superpage, one page in each plane of a die.
        simplessd_superpage_pages: u32 = "1" in Kind::Integer { min: 1, max: 64 }, "pages", "SimpleSSD, `pageInSuperPage`.";
        /// Whether a written page waits in the buffer, or is programmed at once and kept as a clean page.
        simplessd_full_lines: FullLines = "back", "", "SimpleSSD programs a line that is written in full at once (`through`), and lets other lines wait.";
    }
}

/// The row of `simplessd`.
pub const ROW: SchemeRow = SchemeRow {
    name: "simplessd",
    family: "emulator",
    about: "Cache in sets that destages the least recently written line of every die at the same time once a set is full.",
    source: "SimpleSSD/SimpleSSD, icl/generic_cache.cc at 2be37161.",
    parameters: Parameters::ROWS,
    sees: &[Sees::Numbers],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        Box::new(SimpleSsd::new(config, &parameters))
    })
};

struct SimpleSsd {
    places: Places,
    /// The lines of each set, in no particular order.
    lines: Lines,
    /// A list for each place of each die, in the order of superpages. Front: the page written last.
    recency: SlotLists,
    /// By slot: the number of the latest write of the slot's page.
    latest: Vec<u64>,
    /// By slot: the page in the slot.
    pages: Vec<Lpn>,
    writes: u64,
    /// The number of pages of a superpage.
    rows: u32,
    /// The number of superpages that are programmed at the same time.
    columns: u32,
    evict: Evict,
    is_through: bool,
    /// The page that was just written, if it has to be programmed at once.
    written: Option<Entry>,
    /// By place: the line that is evicted. It is a field only so that its memory can be used again.
    leaving: Vec<Option<Entry>>,
}

impl Scheme for SimpleSsd {
    fn properties(&self) -> Properties {
        Properties {
            is_eager: self.is_through,
            ..Properties::default()
        }
    }

    fn insert(&mut self, entry: Entry, _: &Access) {
        let set = self.lines.of_mut(self.places.set_of(entry.page));
        let vacant = set.iter_mut().find(|slot| **slot == VACANT);
        debug_assert!(vacant.is_some(), "no line is vacant for {entry:?}");
        if let Some(line) = vacant {
            *line = entry.slot.0;
        }
        *table::at(&mut self.pages, entry.slot.0 as usize, entry.page) = entry.page;
        let place = self.place_of(entry.page);
        self.recency.push_front(place, entry);
        self.note_write(entry);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        if access.kind == AccessKind::Write {
            let place = self.place_of(entry.page);
            self.recency.move_to_front(place, entry.slot);
            self.note_write(entry);
        }
    }

    fn remove(&mut self, entry: Entry) {
        let set = self.lines.of_mut(self.places.set_of(entry.page));
        let last = set.iter().rposition(|slot| *slot != VACANT);
        let place = set.iter().position(|slot| *slot == entry.slot.0);
        if let (Some(place), Some(last)) = (place, last) {
            set.swap(place, last);
            set[last] = VACANT;
        }
        self.recency.remove(entry.slot);
        self.written = self.written.filter(|written| *written != entry);
    }

    fn evict(&mut self, need: Need, _: &Access, _: &dyn View, victim: &mut Victim) {
        let full = match need {
            Need::FlushPage(entry) => {
                self.remove(entry);
                victim.entries.push(entry);
                return;
            }
            Need::Evict(page) => Some(page),
            Need::Flush => None,
        };
        self.choose(full);
        for place in 0..self.leaving.len() {
            if let Some(entry) = self.leaving[place].take() {
                self.remove(entry);
                victim.entries.push(entry);
            }
        }
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        free == 0 || self.lines.at(self.places.set_of(page).end - 1) != VACANT
    }

    fn eager(&mut self, _: &Access, _: &dyn View, victim: &mut Victim) {
        victim.entries.extend(self.written.take());
        victim.retain = !victim.entries.is_empty();
    }

    fn show(&self, shown: &mut Shown) {
        let list = shown.list("Sets", "", "");
        for (number, set) in self.places.sets(0).enumerate() {
            let places = set.len() as u32;
            let group = list.group(format!("set {number}"), Frame::Places(places));
            for slot in self.lines.of(set).iter().filter(|slot| **slot != VACANT) {
                group.page(self.entry(*slot), "");
            }
        }
    }

    fn len(&self) -> usize {
        self.recency.len()
    }
}

impl SimpleSsd {
    fn new(config: &SchemeConfig, parameters: &Parameters) -> Self {
        let ways = match parameters.simplessd_ways {
            Ways::One => 1,
            Ways::Two => 2,
            Ways::Four => 4,
            Ways::Eight => 8,
        };
        let places = Places::new(config.capacity_pages, ways, 1, 1, false);
        let rows = parameters.simplessd_superpage_pages;
        let columns = config.dies.max(1);
        Self {
            lines: Lines::new(places.lines()),
            places,
            recency: SlotLists::new(rows * columns, config.capacity_pages),
            latest: Vec::new(),
            pages: Vec::new(),
            writes: 0,
            rows,
            columns,
            evict: parameters.simplessd_evict,
            is_through: parameters.simplessd_full_lines == FullLines::Through,
            written: None,
            leaving: vec![None; (rows * columns) as usize],
        }
    }

    fn note_write(&mut self, entry: Entry) {
        self.writes += 1;
        *table::at(&mut self.latest, entry.slot.0 as usize, 0) = self.writes;
        self.written = self.is_through.then_some(entry);
    }

    fn entry(&self, slot: u32) -> Entry {
        Entry {
            page: self.pages[slot as usize],
            slot: Slot(slot),
        }
    }

    /// The place of `page` among the pages that are programmed at the same time. Places are numbered by the position
    /// in the superpage, then by superpage.
    fn place_of(&self, page: Lpn) -> u32 {
        let place = (page.0 % u64::from(self.rows * self.columns)) as u32;
        let (row, column) = (place % self.rows, place / self.rows);
        row * self.columns + column
    }

    /// Puts the lines to evict into `leaving`. If `full` is given, at least one of these lines is in the set of that
    /// page.
    fn choose(&mut self, full: Option<Lpn>) {
        for place in 0..self.leaving.len() {
            self.leaving[place] = self.recency.back(place as u32);
        }
        if self.evict == Evict::Superpage {
            for row in self.leaving.chunks_mut(self.columns as usize) {
                let pages = row.iter().flatten();
                let oldest = pages.min_by_key(|entry| self.latest[entry.slot.0 as usize]);
                let oldest = oldest.copied();
                row.fill(None);
                row[row.len() - 1] = oldest;
            }
        }
        let Some(full) = full else { return };
        let set = self.places.set_of(full);
        let mut leaving = self.leaving.iter().flatten();
        if leaving.any(|entry| self.places.set_of(entry.page) == set) {
            return;
        }
        let taken = self.lines.of(set).iter().filter(|slot| **slot != VACANT);
        let oldest = taken.min_by_key(|slot| self.latest[**slot as usize]);
        if let Some(entry) = oldest.map(|slot| self.entry(*slot)) {
            let place = self.place_of(entry.page);
            self.leaving[place as usize] = Some(entry);
        }
    }
}
