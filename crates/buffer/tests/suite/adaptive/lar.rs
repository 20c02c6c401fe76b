//! A naive model of `lar`, with a list of blocks in the order of their last use.

use crate::adaptive::differential::{Model, Now, Size, compare};

struct Block {
    number: u64,
    /// Page number, and whether the page is dirty.
    pages: Vec<(u64, bool)>,
    popularity: usize,
    request: u64,
}

impl Block {
    fn dirty(&self) -> Vec<u64> {
        let dirty = self.pages.iter().filter(|page| page.1);
        let mut pages: Vec<u64> = dirty.map(|page| page.0).collect();
        pages.sort();
        pages
    }
}

struct Lar {
    capacity: usize,
    n: u64,
    /// Least recently used first.
    blocks: Vec<Block>,
}

impl Lar {
    fn used(&mut self, page: u64, is_write: bool, now: Now) -> Vec<Vec<u64>> {
        let mut destaged = Vec::new();
        let mut pages = self.blocks.iter().flat_map(|block| &block.pages);
        let is_hit = pages.any(|held| held.0 == page);
        let count: usize = self.blocks.iter().map(|block| block.pages.len()).sum();
        if !is_hit && count == self.capacity {
            let victim = self.least(false).unwrap();
            let dirty = self.blocks.remove(victim).dirty();
            if !dirty.is_empty() {
                destaged.push(dirty);
            }
        }
        let number = page / self.n;
        let held = self.blocks.iter().position(|block| block.number == number);
        let mut block = match held {
            Some(place) => self.blocks.remove(place),
            None => Block {
                number,
                pages: Vec::new(),
                popularity: 0,
                request: 0,
            },
        };
        if block.request != now.request {
            block.request = now.request;
            block.popularity += 1;
        }
        if !is_hit {
            block.pages.push((page, false));
        }
        for held in &mut block.pages {
            held.1 |= is_write && held.0 == page;
        }
        self.blocks.push(block);
        destaged
    }

    fn least(&self, only_dirty: bool) -> Option<usize> {
        (0..self.blocks.len())
            .filter(|place| !only_dirty || !self.blocks[*place].dirty().is_empty())
            .min_by_key(|place| {
                let block = &self.blocks[*place];
                (block.popularity, usize::MAX - block.dirty().len())
            })
    }

    fn write_back(&mut self, place: usize) -> Vec<u64> {
        let pages = self.blocks[place].dirty();
        for page in &mut self.blocks[place].pages {
            page.1 = false;
        }
        pages
    }
}

impl Model for Lar {
    fn write(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        self.used(page, true, now)
    }

    fn read(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        self.used(page, false, now)
    }

    fn trim(&mut self, page: u64) {
        for block in &mut self.blocks {
            block.pages.retain(|held| held.0 != page);
        }
        self.blocks.retain(|block| !block.pages.is_empty());
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        let number = page / self.n;
        let place = self.blocks.iter().position(|block| block.number == number);
        vec![self.write_back(place.unwrap())]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while let Some(place) = self.least(true) {
            flushed.push(self.write_back(place));
        }
        flushed
    }
}

#[test]
fn lar() {
    let new = |size: &Size| Lar {
        capacity: size.capacity,
        n: size.cluster,
        blocks: Vec::new(),
    };
    compare("lar", &[], |size| Box::new(new(size)));
}
