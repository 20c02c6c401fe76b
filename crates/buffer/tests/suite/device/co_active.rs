//! Compares `co-active` with a naive model of its rule.

use destage_base::parameter::Value;
use destage_base::time::TICKS_PER_US;
use destage_buffer::find;

use super::common::model::{DIES, values};
use super::common::{Bench, Completion, Device, Operation};
use super::{Model, SIZES, compare, die};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Clean,
    Cold,
    Hot,
}

#[derive(Clone, Copy)]
struct Page {
    page: u64,
    kind: Kind,
    first: u64,
    last: u64,
    accesses: u64,
}

/// One list has the pages of all kinds. The page that was accessed last, or changed its kind last, is first.
struct CoActive {
    capacity: usize,
    stride: u64,
    window: u64,
    hot: u64,
    read_touch: bool,
    base: u64,
    periods: usize,
    pages: Vec<Page>,
    virtual_time: u64,
    /// The time of each page write, in ticks.
    writes: Vec<u64>,
    /// The time of each write-back in the current period, in ticks.
    spent: Vec<u64>,
}

impl CoActive {
    fn put_first(&mut self, page: Page) {
        self.pages.retain(|held| held.page != page.page);
        self.pages.insert(0, page);
    }

    fn last(&self, kind: Kind) -> Option<Page> {
        self.pages
            .iter()
            .rev()
            .find(|held| held.kind == kind)
            .copied()
    }

    fn cool(&mut self) {
        let now = self.virtual_time;
        while let Some(page) = self
            .last(Kind::Hot)
            .filter(|page| page.last + self.window <= now)
        {
            let kind = Kind::Cold;
            self.put_first(Page {
                kind,
                first: now,
                accesses: 0,
                ..page
            });
        }
    }

    fn access(&mut self, page: u64, write: bool) {
        let now = self.virtual_time;
        let mut held = *self.pages.iter().find(|held| held.page == page).unwrap();
        if now >= held.first + self.window {
            held.first = now;
            held.accesses = 0;
        }
        held.accesses += 1;
        held.last = now;
        if held.kind == Kind::Cold || (held.kind == Kind::Clean && write) {
            held.kind = if held.accesses >= self.hot {
                Kind::Hot
            } else {
                Kind::Cold
            };
        }
        self.put_first(held);
    }

    fn clean(&mut self, page: u64) {
        let mut held = *self.pages.iter().find(|held| held.page == page).unwrap();
        held.kind = Kind::Clean;
        self.put_first(held);
    }

    /// The number of write-backs that are allowed in the period of `now`.
    fn cap(&self, now: u64) -> u64 {
        let period = now / TICKS_PER_US;
        let counts: Vec<u64> = (1..=self.periods as u64)
            .map(|ago| {
                let from = period.saturating_sub(ago) * TICKS_PER_US;
                let until = (period + 1).saturating_sub(ago) * TICKS_PER_US;
                let recent = self.writes.iter().rev().take_while(|time| **time >= from);
                recent.filter(|time| **time < until).count() as u64
            })
            .collect();
        let sum: u64 = counts.iter().sum();
        let peak = *counts.iter().max().unwrap();
        match sum {
            0 => self.base * self.periods as u64,
            _ => self.base * peak * self.periods as u64 / sum,
        }
    }
}

impl Model for CoActive {
    fn write(&mut self, page: u64, now: u64, _: &Device) -> Vec<Vec<u64>> {
        self.virtual_time += 1;
        self.writes.push(now);
        self.cool();
        let mut evicted = Vec::new();
        if self.pages.iter().any(|held| held.page == page) {
            self.access(page, true);
            return evicted;
        }
        if self.pages.len() == self.capacity {
            let order = [Kind::Clean, Kind::Cold, Kind::Hot];
            let victim = order.into_iter().find_map(|kind| self.last(kind)).unwrap();
            self.trim(victim.page);
            evicted.extend((victim.kind != Kind::Clean).then(|| vec![victim.page]));
        }
        let (kind, first) = (Kind::Cold, self.virtual_time);
        self.put_first(Page {
            page,
            kind,
            first,
            last: first,
            accesses: 1,
        });
        evicted
    }
    fn read(&mut self, page: u64, _: u64, _: &Device) -> Vec<Vec<u64>> {
        if self.read_touch && self.pages.iter().any(|held| held.page == page) {
            self.access(page, false);
        }
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.pages.retain(|held| held.page != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        self.clean(page);
        true
    }
    fn flush(&mut self, _: &Device) -> Vec<u64> {
        let first = self.last(Kind::Cold).or(self.last(Kind::Hot));
        first.iter().for_each(|held| self.clean(held.page));
        first.iter().map(|held| held.page).collect()
    }
    fn idle(&mut self, now: u64, _: &Device) -> Vec<u64> {
        let period = now / TICKS_PER_US;
        let cap = self.cap(now);
        let mut back = Vec::new();
        for wanted in 0..DIES as usize {
            self.spent.retain(|time| time / TICKS_PER_US == period);
            let cold =
                |held: &&Page| held.kind == Kind::Cold && die(held.page, self.stride) == wanted;
            let page = self.pages.iter().rev().find(cold).map(|held| held.page);
            if let Some(page) = page.filter(|_| (self.spent.len() as u64) < cap) {
                self.spent.push(now);
                self.clean(page);
                back.push(page);
            }
        }
        back
    }
}

#[test]
fn follows_its_rule() {
    for (capacity, pages) in SIZES {
        // Window, accesses until a page is hot, base and periods of the cap, stride.
        for (window, hot, base, periods, stride) in [
            (0, 2, 0, 8, 1),
            (5, 2, 1, 3, 1),
            (40, 3, 2, 1, 3),
            (1000, 4, 100, 5, 1),
        ] {
            for read_touch in [false, true] {
                let mut model = CoActive {
                    capacity,
                    stride,
                    window: if window == 0 { capacity as u64 } else { window },
                    hot,
                    read_touch,
                    base: if base == 0 {
                        (capacity as u64 / 16).max(1)
                    } else {
                        base
                    },
                    periods,
                    pages: Vec::new(),
                    virtual_time: 0,
                    writes: Vec::new(),
                    spent: Vec::new(),
                };
                let set = [
                    ("co_window", Value::Integer(window)),
                    ("co_hot", Value::Integer(hot)),
                    ("co_cap_pages", Value::Integer(base)),
                    ("co_period_us", Value::Integer(1)),
                    ("co_periods", Value::Integer(periods as u64)),
                    ("stride", Value::Integer(stride)),
                    ("read_touch", Value::Flag(read_touch)),
                ];
                // With a cap over three periods, the gap is so long that some periods have no operation.
                // Otherwise each period has many operations.
                let gap = if periods == 3 { 30_000 } else { 400 };
                compare("co-active", &set, (capacity, pages), gap, &mut model);
            }
        }
    }
}

/// Each die is an idle group of its own, so an idle die writes back only the pages of this die.
#[test]
fn a_die_writes_back_its_own_pages() {
    let row = find("co-active").unwrap();
    let mut bench = Bench::new(row, 16, &values(row, &[]), Completion::AtOnce);
    bench.apply(&Operation::Write(vec![0, 1, 4, 5, 8]));
    let rule = bench.buffer.idle_rule().unwrap();
    assert_eq!((rule.after, rule.groups), (0, DIES as u32));
    let groups = (0..6).map(|page| bench.buffer.idle_group_of(destage_base::Lpn(page)));
    assert_eq!(groups.collect::<Vec<_>>(), [0, 1, 2, 3, 0, 1]);
    let mut idle = |group| {
        let has_record = bench.buffer.idle_in(group, 0, &bench.device);
        let pages = bench.buffer.record().pages.iter();
        has_record.then(|| pages.map(|page| page.page.0).collect::<Vec<_>>())
    };
    assert_eq!(idle(1), Some(vec![1]));
    assert_eq!(idle(1), Some(vec![5]));
    assert_eq!(idle(1), None);
    assert_eq!(idle(2), None);
    assert_eq!(idle(0), Some(vec![0]));
}
