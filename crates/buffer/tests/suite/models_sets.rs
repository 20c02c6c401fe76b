//! Compares the set-associative caches with a naive model of their rules.

#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use crate::common;

use common::model::{DIES, Model, compare, operations, records, values};
use destage_base::parameter::Value;
use destage_buffer::find;
use destage_sample::sampled;

/// A cache line and the page that it holds.
struct Line {
    page: u64,
    dirty: bool,
    last: u64,
    frequency: u64,
}

/// The lines have no order, so each operation searches all lines.
struct SetModel {
    capacity: u64,
    ways: u64,
    per_piece: u64,
    raw: bool,
    by_frequency: bool,
    /// `None`: idle time is not used. `false`: an idle step writes back one line. `true`: an idle step writes
    /// back one line of every package.
    distributed: Option<bool>,
    read_touch: bool,
    lines: Vec<Line>,
    clock: u64,
}

impl SetModel {
    /// The piece and the set of `page`, by the formulas of the specification.
    fn home(&self, page: u64) -> (u64, u64) {
        let package = page % DIES;
        let piece = package / self.per_piece;
        let local = page / DIES * self.per_piece + package % self.per_piece;
        let lines = self.capacity * self.per_piece / DIES;
        let ways = self.ways.min(lines.max(1));
        let sets = (lines / ways).max(1);
        (piece, if self.raw { page } else { local } % sets)
    }

    fn ways_of_sets(&self) -> usize {
        self.ways
            .min((self.capacity * self.per_piece / DIES).max(1)) as usize
    }

    fn access(&mut self, page: u64, write: bool) -> bool {
        let Some(line) = self.lines.iter_mut().find(|line| line.page == page) else {
            return false;
        };
        if write || self.read_touch {
            self.clock += 1;
            line.last = self.clock;
            line.frequency += 1;
            line.dirty |= write;
        }
        true
    }

    /// Returns the first dirty line of `package`, or of all packages, in the order of the scheme, and marks this
    /// line as clean.
    fn first_dirty(&mut self, package: Option<u64>) -> Option<u64> {
        let lines = self.lines.iter_mut().filter(|line| line.dirty);
        let lines = lines.filter(|line| package.is_none_or(|number| line.page % DIES == number));
        let by_frequency = self.by_frequency;
        let first =
            lines.min_by_key(|line| (if by_frequency { line.frequency } else { 0 }, line.last))?;
        first.dirty = false;
        Some(first.page)
    }

    fn step(&mut self) -> Vec<u64> {
        match self.distributed {
            Some(true) => (0..DIES)
                .filter_map(|package| self.first_dirty(Some(package)))
                .collect(),
            _ => self.first_dirty(None).into_iter().collect(),
        }
    }
}

impl Model for SetModel {
    fn holds(&self, page: u64) -> bool {
        self.lines.iter().any(|line| line.page == page)
    }
    fn write(&mut self, page: u64) -> Vec<Vec<u64>> {
        let mut updates = Vec::new();
        if self.access(page, true) {
            return updates;
        }
        let home = self.home(page);
        let mut set: Vec<&Line> = self
            .lines
            .iter()
            .filter(|line| self.home(line.page) == home)
            .collect();
        if set.len() == self.ways_of_sets() {
            set.sort_by_key(|line| (line.dirty, line.last));
            let victim = set[0].page;
            updates.extend(set[0].dirty.then(|| vec![victim]));
            self.lines.retain(|line| line.page != victim);
        }
        self.clock += 1;
        self.lines.push(Line {
            page,
            dirty: true,
            last: self.clock,
            frequency: 1,
        });
        updates
    }
    fn read(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.access(page, false);
        Vec::new()
    }
    fn trim(&mut self, page: u64) {
        self.lines.retain(|line| line.page != page);
    }
    fn fua(&mut self, page: u64) -> bool {
        let line = self
            .lines
            .iter_mut()
            .find(|line| line.page == page)
            .unwrap();
        std::mem::replace(&mut line.dirty, false)
    }
    fn flush(&mut self) -> Vec<u64> {
        self.step()
    }
    fn idle(&mut self) -> Vec<u64> {
        if self.distributed.is_some() {
            self.step()
        } else {
            Vec::new()
        }
    }
}

fn compare_sets(scheme: &str, by_frequency: bool, distributed: Option<bool>) {
    let has_pieces = distributed != Some(false);
    // Each size has at least four lines, so that every piece has at least one line.
    let sizes = [(4, 16), (13, 40), (60, 300), (64, 100)];
    for (number, (capacity, pages)) in sizes.into_iter().enumerate() {
        let variants = [
            (2, 4, false, true),
            (1, 2, false, true),
            (4, 1, true, true),
            (1, 1, true, false),
            (4, 4, false, false),
        ];
        // Each size is tested with every second variant. This halves the number of pairs, but every size and
        // every variant is tested.
        for (ways, per_piece, raw, read_touch) in variants.into_iter().skip(number % 2).step_by(2) {
            let text = |word: &str| Value::Text(word.into());
            let mut set = vec![
                ("ways", text(&ways.to_string())),
                ("read_touch", Value::Flag(read_touch)),
            ];
            if has_pieces {
                set.push(("packages_per_piece", Value::Integer(per_piece)));
                set.push(("apu_index", text(if raw { "raw" } else { "local" })));
            }
            let mut model = SetModel {
                capacity,
                ways,
                per_piece: if has_pieces { per_piece } else { DIES },
                raw: raw && has_pieces,
                by_frequency,
                distributed,
                read_touch,
                lines: Vec::new(),
                clock: 0,
            };
            compare(scheme, &set, (capacity as usize, pages), &mut model);
        }
    }
}

#[test]
fn wb() {
    compare_sets("wb", false, None);
}

#[test]
fn apu_lru() {
    compare_sets("apu-lru", false, Some(false));
}

#[test]
fn apu_lfu() {
    compare_sets("apu-lfu", true, Some(false));
}

#[test]
fn apu_lru_d() {
    compare_sets("apu-lru-d", false, Some(true));
}

#[test]
fn apu_lfu_d() {
    compare_sets("apu-lfu-d", true, Some(true));
}

/// A local set index depends on the number of a page within its piece. So the same pages share a set, no matter
/// how many pieces the cache has.
#[test]
fn cutting_a_cache_with_local_sets_changes_nothing() {
    let operations = operations((64, 400));
    for scheme in ["wb", "apu-lru-d", "apu-lfu-d"] {
        for ways in sampled(&["2"][..], &["1", "2", "4"]) {
            let cut = |per_piece, index: &str| {
                let set = [
                    ("ways", Value::Text((*ways).into())),
                    ("packages_per_piece", Value::Integer(per_piece)),
                    ("apu_index", Value::Text(index.into())),
                ];
                records(4, scheme, &set, &operations)
            };
            assert!(cut(0, "local") == cut(2, "local") && cut(0, "local") == cut(1, "local"));
            assert!(cut(0, "local") != cut(2, "raw"));
        }
    }
}

/// With `apu_clean_at=issue` a line is clean as soon as its write-back is issued, so the records do not
/// depend on how long programs take.
#[test]
fn nothing_depends_on_timing_if_lines_are_clean_at_issue() {
    for scheme in ["apu-lru", "apu-lfu", "apu-lru-d", "apu-lfu-d"] {
        let row = find(scheme).unwrap();
        let values = values(row, &[("apu_clean_at", Value::Text("issue".into()))]);
        let operations = &operations((64, 200))[..30_000];
        common::run_all(row, scheme, 64, &values, operations, 200);
    }
}
