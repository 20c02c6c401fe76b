//! `gcar`: skips victims whose die is collecting garbage, so that no request waits for that die.
//!
//! ```text
//!   least recent first:   a    b    c    d    e  ...        W = 4
//!   on die            0    2    0    1    2
//!   is collecting        x    -    x    -    -
//!                              ^ leaves; a and c stay in RAM until die 0 has finished
//! ```
//!
//! The scheme is a wrapper around a base scheme, and uses the order of the base scheme. Of the next `gcar_window`
//! victims of the base scheme, it evicts the first one whose die is not collecting garbage. If the dies of all these
//! victims are collecting garbage, the base scheme's own victim is evicted as usual. Clean pages are skipped like
//! dirty pages, because reading them again would also have to wait while their die collects garbage.
//!
//! The scheme applies this rule only when room is needed. A flush has to write all pages in any case, and uses the
//! order of the base scheme.
//!
//! Cost: that of the base scheme, plus O(W) for a victim while its die collects garbage.

use alloc::boxed::Box;
use core::ops::Range;

use destage_base::parameter::Kind;
use destage_base::{Lpn, Ticks, choices, parameters};

use crate::registry::{SchemeRow, Sees};
use crate::scheme::{Access, Entry, Need, Properties, Scheme, Series, Victim};
use crate::schemes::page::cflru::{self, Cflru};
use crate::schemes::page::lru::{self, Lru};
use crate::shown::Shown;
use crate::view::View;

choices! {
    /// The values of `gcar_base`.
    enum Base {
        Lru = "lru",
        Cflru = "cflru",
    }
}

parameters! {
    /// The parameters of `gcar`.
    struct Parameters {
        /// The base scheme, which supplies the order of victims.
        gcar_base: Base = "lru", "", "GCaR (2016) builds on both.";
        /// How many of the next victims are searched for one whose die is not collecting garbage.
        gcar_window: u64 = "64" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "pages", "Ours.";
        cflru: cflru::Parameters;
    }
}

/// The row of `gcar`.
pub const ROW: SchemeRow = SchemeRow {
    name: "gcar",
    family: "device",
    about: "Keeps a base scheme's victims in RAM while their die collects garbage, and takes the next victim.",
    source: "Wu and others, GCaR, ICS 2016.",
    reconstructed: true,
    parameters: Parameters::ROWS,
    sees: &[Sees::Queues],
    ..SchemeRow::of(&|config| {
        let parameters = Parameters::from_values(config.values);
        let by_page = lru::Parameters {
            lru_unit: lru::Unit::Page,
        };
        Box::new(Gcar {
            base: match parameters.gcar_base {
                Base::Lru => Box::new(Lru::new(config, &by_page)),
                Base::Cflru => Box::new(Cflru::new(config, &parameters.cflru)),
            },
            window: parameters.gcar_window,
            passed_over: 0,
        })
    })
};

struct Gcar {
    base: Box<dyn Scheme>,
    window: u64,
    /// The number of times that another page was evicted in place of the base scheme's victim.
    passed_over: u64,
}

impl Scheme for Gcar {
    fn properties(&self) -> Properties {
        self.base.properties()
    }

    fn insert(&mut self, entry: Entry, access: &Access) {
        self.base.insert(entry, access);
    }

    fn touch(&mut self, entry: Entry, access: &Access) {
        self.base.touch(entry, access);
    }

    fn read_missed(&mut self, page: Lpn, access: &Access) {
        self.base.read_missed(page, access);
    }

    fn remove(&mut self, entry: Entry) {
        self.base.remove(entry);
    }

    fn evict(&mut self, need: Need, access: &Access, view: &dyn View, victim: &mut Victim) {
        if let Need::Evict(_) = need
            && let Some(entry) = self.first_behind_gc(view)
        {
            // The page is removed with `remove`, and not requested with `Need::FlushPage`. With `Need::FlushPage`, a
            // base scheme with clean pages would keep the page in the buffer.
            self.base.remove(entry);
            victim.entries.push(entry);
            self.passed_over += 1;
            return;
        }
        self.base.evict(need, access, view, victim);
    }

    fn candidates(&self, visit: &mut dyn FnMut(Entry) -> bool) {
        self.base.candidates(visit);
    }

    fn is_full_for(&self, page: Lpn, free: usize) -> bool {
        self.base.is_full_for(page, free)
    }

    fn idle(&mut self, groups: Range<u32>, now: Ticks, view: &dyn View, victim: &mut Victim) {
        self.base.idle(groups, now, view, victim);
    }

    fn idle_group_of(&self, page: Lpn) -> u32 {
        self.base.idle_group_of(page)
    }

    fn cleaned(&mut self, entry: Entry) {
        self.base.cleaned(entry);
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        self.base.report(emit);
        emit("victims_passed_over", self.passed_over as f64);
    }

    fn series(&self, emit: &mut dyn FnMut(Series)) {
        self.base.series(emit);
    }

    fn reset_figures(&mut self) {
        self.base.reset_figures();
        self.passed_over = 0;
    }

    fn show(&self, shown: &mut Shown) {
        self.base.show(shown);
    }

    fn len(&self) -> usize {
        self.base.len()
    }
}

impl Gcar {
    /// The first candidate in the window whose die is not collecting garbage. `None` if no candidate meets the
    /// condition, or if the first one is the base scheme's own victim.
    fn first_behind_gc(&self, view: &dyn View) -> Option<Entry> {
        let mut place = 0;
        let mut first = None;
        self.base.candidates(&mut |entry| {
            if view.is_collecting(view.die_of(entry.page)) {
                place += 1;
                return place < self.window;
            }
            first = (place > 0).then_some(entry);
            false
        });
        first
    }
}
