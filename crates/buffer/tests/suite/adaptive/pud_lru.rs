//! A naive model of `pud-lru`, with a list of blocks that the model sorts for every victim.

use crate::adaptive::differential::{Model, Now, Size, compare};

struct Block {
    number: u64,
    pages: Vec<u64>,
    first: u64,
    last: u64,
    f: u64,
}

impl Block {
    /// The average update distance of the block, in units of 1/1024 page writes.
    fn pud(&self) -> u64 {
        (self.last - self.first) * 1024 / (self.f - 1).max(1)
    }
}

struct PudLru {
    capacity: usize,
    n: u64,
    period: u64,
    v: u64,
    mean: u64,
    blocks: Vec<Block>,
}

impl PudLru {
    fn new(size: &Size, period: u64) -> Self {
        Self {
            capacity: size.capacity,
            n: size.cluster,
            period,
            v: 0,
            mean: 0,
            blocks: Vec::new(),
        }
    }

    fn pop(&mut self) -> Vec<u64> {
        // Least recently written first.
        self.blocks.sort_by_key(|block| block.last);
        let longer = |block: &Block| block.pud().max((self.v - block.last) * 1024);
        let is_frequent = |block: &&Block| block.f >= 2 && longer(block) <= self.mean;
        let others = || self.blocks.iter().filter(|block| !is_frequent(block));
        let largest = others().map(|block| block.pages.len()).max();
        let chosen = if largest.is_some() {
            others().find(|block| Some(block.pages.len()) == largest)
        } else {
            let farthest = self.blocks.iter().map(longer).max();
            let mut blocks = self.blocks.iter();
            blocks.find(|block| Some(longer(block)) == farthest)
        };
        let number = chosen.unwrap().number;
        self.take(number)
    }

    fn take(&mut self, number: u64) -> Vec<u64> {
        let mut blocks = self.blocks.iter();
        let place = blocks.position(|block| block.number == number).unwrap();
        let mut pages = self.blocks.remove(place).pages;
        pages.sort();
        pages
    }
}

impl Model for PudLru {
    fn write(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        self.v = now.time;
        let mut destaged = Vec::new();
        let pages = self.blocks.iter().map(|block| block.pages.len());
        let is_full = pages.sum::<usize>() == self.capacity;
        if is_full && !self.blocks.iter().any(|held| held.pages.contains(&page)) {
            destaged.push(self.pop());
        }
        let number = page / self.n;
        if !self.blocks.iter().any(|block| block.number == number) {
            self.blocks.push(Block {
                number,
                pages: Vec::new(),
                first: self.v,
                last: 0,
                f: 0,
            });
        }
        let mut blocks = self.blocks.iter_mut();
        let block = blocks.find(|block| block.number == number).unwrap();
        block.f += 1;
        block.last = self.v;
        if !block.pages.contains(&page) {
            block.pages.push(page);
        }
        if self.v.is_multiple_of(self.period) {
            let sum: u64 = self.blocks.iter().map(Block::pud).sum();
            self.mean = sum / self.blocks.len() as u64;
        }
        destaged
    }

    fn trim(&mut self, page: u64) {
        for block in &mut self.blocks {
            block.pages.retain(|held| *held != page);
        }
        self.blocks.retain(|block| !block.pages.is_empty());
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        vec![self.take(page / self.n)]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while !self.blocks.is_empty() {
            flushed.push(self.pop());
        }
        flushed
    }

    fn figures(&self) -> Option<Vec<(&'static str, f64)>> {
        Some(vec![("pud_mean", self.mean as f64 / 1024.0)])
    }
}

#[test]
fn pud_lru() {
    compare("pud-lru", &[], |size| Box::new(PudLru::new(size, 1000)));
    compare("pud-lru", &["pud_period=20"], |size| {
        Box::new(PudLru::new(size, 20))
    });
}
