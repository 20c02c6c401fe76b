//! A naive model of `ref` and `bp-ref`, with a list of pages and a list of victim blocks.

use crate::adaptive::differential::{Model, Now, Size, compare};

struct Ref {
    capacity: usize,
    n: u64,
    /// Least recently used first.
    pages: Vec<u64>,
    window: usize,
    blocks: Vec<u64>,
    blocks_max: usize,
    whole_blocks: bool,
}

impl Ref {
    fn new(size: &Size, window: usize, blocks_max: usize, whole_blocks: bool) -> Self {
        Self {
            capacity: size.capacity,
            n: size.cluster,
            pages: Vec::new(),
            window,
            blocks: Vec::new(),
            blocks_max,
            whole_blocks,
        }
    }

    fn pop(&mut self) -> Vec<u64> {
        let n = self.n;
        let mut window = self.pages.iter().take(self.window);
        let found = window.find(|page| self.blocks.contains(&(*page / n)));
        let page = match found {
            Some(page) => *page,
            None => {
                self.blocks.push(self.pages[0] / n);
                if self.blocks.len() > self.blocks_max {
                    self.blocks.remove(0);
                }
                self.pages[0]
            }
        };
        self.take(page)
    }

    fn take(&mut self, page: u64) -> Vec<u64> {
        let leaves =
            |held: &u64| *held == page || (self.whole_blocks && held / self.n == page / self.n);
        let mut victim: Vec<u64> = self.pages.iter().copied().filter(leaves).collect();
        self.pages.retain(|held| !victim.contains(held));
        victim.sort();
        victim
    }
}

impl Model for Ref {
    fn write(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        let mut destaged = Vec::new();
        if !self.pages.contains(&page) && self.pages.len() == self.capacity {
            destaged.push(self.pop());
        }
        self.pages.retain(|held| *held != page);
        self.pages.push(page);
        destaged
    }

    fn trim(&mut self, page: u64) {
        self.pages.retain(|held| *held != page);
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        vec![self.take(page)]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while !self.pages.is_empty() {
            flushed.push(self.pop());
        }
        flushed
    }
}

#[test]
fn recently_evicted_by_page_and_by_block() {
    for (scheme, whole_blocks) in [("ref", false), ("bp-ref", true)] {
        compare(scheme, &[], |size| {
            let window = (size.capacity / 2).max(1);
            Box::new(Ref::new(size, window, 7, whole_blocks))
        });
        compare(scheme, &["ref_window=0.25", "ref_blocks=2"], |size| {
            let window = (size.capacity / 4).max(1);
            Box::new(Ref::new(size, window, 2, whole_blocks))
        });
    }
}
