//! A naive model of `lirs-wsr` that follows the papers. It has a stack and a queue, and searches both for every
//! page.

use crate::adaptive::differential::{Model, Now, Size, compare};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Lir,
    Hir,
    Gone,
}

#[derive(Clone)]
struct Page {
    number: u64,
    kind: Kind,
    dirty: bool,
    cold: bool,
}

struct Lirs {
    capacity: usize,
    lir_max: usize,
    history_max: usize,
    /// All pages that are in the buffer, and evicted pages that are still in the stack.
    pages: Vec<Page>,
    /// The most recently used page is last.
    stack: Vec<u64>,
    /// The next victim is first.
    queue: Vec<u64>,
    /// Evicted pages that are still in the stack, in the order of their eviction.
    gone: Vec<u64>,
}

impl Lirs {
    fn new(size: &Size, hir: usize, history_max: usize) -> Self {
        Self {
            capacity: size.capacity,
            lir_max: size.capacity - hir,
            history_max,
            pages: Vec::new(),
            stack: Vec::new(),
            queue: Vec::new(),
            gone: Vec::new(),
        }
    }

    fn page(&mut self, number: u64) -> &mut Page {
        self.pages
            .iter_mut()
            .find(|page| page.number == number)
            .unwrap()
    }

    fn count(&self, kinds: &[Kind]) -> usize {
        self.pages
            .iter()
            .filter(|page| kinds.contains(&page.kind))
            .count()
    }

    fn access(&mut self, number: u64, is_write: bool) -> Vec<Vec<u64>> {
        let mut destaged = Vec::new();
        let is_resident = |page: &Page| page.number == number && page.kind != Kind::Gone;
        if self.pages.iter().any(is_resident) {
            if self.stack.contains(&number) {
                self.page(number).kind = Kind::Lir;
                self.queue.retain(|held| *held != number);
            } else {
                self.queue.retain(|held| *held != number);
                self.queue.push(number);
            }
            let page = self.page(number);
            page.dirty |= is_write;
            page.cold = false;
        } else {
            if self.count(&[Kind::Lir, Kind::Hir]) == self.capacity {
                destaged.extend(self.make_room());
            }
            let kind = if self.gone.contains(&number) || self.count(&[Kind::Lir]) < self.lir_max {
                Kind::Lir
            } else {
                self.queue.push(number);
                Kind::Hir
            };
            self.gone.retain(|held| *held != number);
            self.pages.retain(|page| page.number != number);
            self.pages.push(Page {
                number,
                kind,
                dirty: is_write,
                cold: false,
            });
        }
        self.stack.retain(|held| *held != number);
        self.stack.push(number);
        if self.count(&[Kind::Lir]) > self.lir_max {
            let bottom = self.stack.remove(0);
            self.page(bottom).kind = Kind::Hir;
            self.queue.push(bottom);
        }
        self.prune();
        destaged
    }

    fn make_room(&mut self) -> Option<Vec<u64>> {
        loop {
            let front = self.queue.remove(0);
            let page = self.page(front);
            let dirty = page.dirty;
            if dirty && !page.cold {
                page.cold = true;
                self.queue.push(front);
                if self.stack.contains(&front) {
                    self.stack.retain(|held| *held != front);
                    self.stack.push(front);
                }
                continue;
            }
            if self.stack.contains(&front) {
                self.page(front).kind = Kind::Gone;
                self.gone.push(front);
            } else {
                self.pages.retain(|page| page.number != front);
            }
            if self.gone.len() > self.history_max {
                let oldest = self.gone.remove(0);
                self.stack.retain(|held| *held != oldest);
                self.pages.retain(|page| page.number != oldest);
            }
            return dirty.then(|| vec![front]);
        }
    }

    fn prune(&mut self) {
        while let Some(bottom) = self.stack.first().copied() {
            match self.page(bottom).kind {
                Kind::Lir => break,
                Kind::Hir => {}
                Kind::Gone => {
                    self.gone.retain(|held| *held != bottom);
                    self.pages.retain(|page| page.number != bottom);
                }
            }
            self.stack.remove(0);
        }
    }
}

impl Model for Lirs {
    fn write(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        self.access(page, true)
    }

    fn read(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        self.access(page, false)
    }

    fn trim(&mut self, page: u64) {
        if self.gone.contains(&page) {
            return;
        }
        self.pages.retain(|held| held.number != page);
        self.queue.retain(|held| *held != page);
        self.stack.retain(|held| *held != page);
        self.prune();
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        self.page(page).dirty = false;
        vec![vec![page]]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let lir: Vec<_> = (self.stack.iter().copied())
            .filter(|page| !self.queue.contains(page) && !self.gone.contains(page))
            .collect();
        let mut flushed = Vec::new();
        for number in self.queue.clone().into_iter().chain(lir) {
            if std::mem::take(&mut self.page(number).dirty) {
                flushed.push(vec![number]);
            }
        }
        flushed
    }
}

#[test]
fn lirs_wsr() {
    compare("lirs-wsr", &[], |size| {
        Box::new(Lirs::new(size, 1, 2 * size.capacity))
    });
    compare("lirs-wsr", &["hir_frac=0.25", "lirs_history=1"], |size| {
        Box::new(Lirs::new(size, (size.capacity / 4).max(1), size.capacity))
    });
    compare("lirs-wsr", &["hir_frac=1", "lirs_history=0"], |size| {
        Box::new(Lirs::new(size, size.capacity, 0))
    });
}
