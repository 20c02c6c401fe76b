//! A naive model of `cbm`, with a list of pages and a list of blocks.

use crate::adaptive::differential::{Model, Now, Size, compare};

#[derive(Clone, Copy)]
struct Page {
    number: u64,
    dirty: bool,
}

struct Cbm {
    capacity: usize,
    n: u64,
    threshold: usize,
    joins: bool,
    /// Least recently used first.
    pages: Vec<Page>,
    /// Least recently used first.
    blocks: Vec<Vec<Page>>,
}

fn dirty(pages: &[Page]) -> Vec<u64> {
    let dirty = pages.iter().filter(|page| page.dirty);
    let mut numbers: Vec<u64> = dirty.map(|page| page.number).collect();
    numbers.sort();
    numbers
}

fn write_back(pages: &mut [Page]) -> Vec<u64> {
    let numbers = dirty(pages);
    for page in pages {
        page.dirty = false;
    }
    numbers
}

impl Cbm {
    fn used(&mut self, number: u64, is_write: bool) -> Vec<Vec<u64>> {
        let n = self.n;
        let has = |pages: &[Page]| pages.iter().any(|page| page.number == number);
        let new = Page {
            number,
            dirty: is_write,
        };
        if let Some(place) = self.blocks.iter().position(|block| has(block)) {
            let mut block = self.blocks.remove(place);
            for page in &mut block {
                page.dirty |= is_write && page.number == number;
            }
            self.blocks.push(block);
            return Vec::new();
        }
        if let Some(place) = self.pages.iter().position(|page| page.number == number) {
            let mut page = self.pages.remove(place);
            page.dirty |= is_write;
            self.pages.push(page);
            return Vec::new();
        }
        let mut destaged = Vec::new();
        if self.pages.len() + self.blocks.concat().len() == self.capacity {
            let victim = if self.blocks.is_empty() {
                vec![self.pages.remove(0)]
            } else {
                self.blocks.remove(0)
            };
            destaged.push(dirty(&victim));
            destaged.retain(|pages| !pages.is_empty());
        }
        let home = |blocks: &[Vec<Page>]| {
            let mut blocks = blocks.iter();
            blocks.position(|block| block[0].number / n == number / n)
        };
        let found = home(&self.blocks);
        if let Some(place) = found
            && self.joins
        {
            let mut block = self.blocks.remove(place);
            block.push(new);
            self.blocks.push(block);
            return destaged;
        }
        self.pages.push(new);
        let is_mate = |page: &Page| page.number / n == number / n;
        let mates: Vec<Page> = self.pages.iter().copied().filter(is_mate).collect();
        if mates.len() >= self.threshold {
            self.pages.retain(|page| !is_mate(page));
            let mut block = found.map_or(Vec::new(), |place| self.blocks.remove(place));
            block.extend(mates);
            self.blocks.push(block);
        }
        destaged
    }
}

impl Model for Cbm {
    fn write(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        self.used(page, true)
    }

    fn read(&mut self, page: u64, _: Now) -> Vec<Vec<u64>> {
        self.used(page, false)
    }

    fn trim(&mut self, page: u64) {
        self.pages.retain(|held| held.number != page);
        for block in &mut self.blocks {
            block.retain(|held| held.number != page);
        }
        self.blocks.retain(|block| !block.is_empty());
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        let has = |pages: &&mut Vec<Page>| pages.iter().any(|held| held.number == page);
        if let Some(block) = self.blocks.iter_mut().find(has) {
            return vec![write_back(block)];
        }
        let mut pages = self.pages.iter_mut();
        let held = pages.find(|held| held.number == page).unwrap();
        held.dirty = false;
        vec![vec![page]]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        for block in &mut self.blocks {
            flushed.push(write_back(block));
        }
        for page in &mut self.pages {
            flushed.push(write_back(std::slice::from_mut(page)));
        }
        flushed.retain(|pages| !pages.is_empty());
        flushed
    }
}

#[test]
fn cbm() {
    let new = |size: &Size, threshold, joins| Cbm {
        capacity: size.capacity,
        n: size.cluster,
        threshold,
        joins,
        pages: Vec::new(),
        blocks: Vec::new(),
    };
    compare("cbm", &[], |size| {
        Box::new(new(size, (size.cluster as usize / 4).max(1), true))
    });
    for (word, joins) in [("cbm_join=block", true), ("cbm_join=page", false)] {
        compare("cbm", &["thr_migrate=3", word], |size| {
            Box::new(new(size, 3, joins))
        });
    }
}
