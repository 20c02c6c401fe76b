//! A naive model of `req-block`, with three lists of blocks.

use crate::adaptive::differential::{Model, Now, Size, compare};

#[derive(Clone, PartialEq)]
struct Block {
    name: usize,
    pages: Vec<u64>,
    accesses: u64,
    begun: u64,
    used: u64,
    request: u64,
    counted: u64,
    origin: usize,
}

struct ReqBlock {
    capacity: usize,
    small: usize,
    by_page: bool,
    v: u64,
    names: usize,
    /// The lists of new, small and divided blocks. In each list the least recently used block is first.
    lists: [Vec<Block>; 3],
}

impl ReqBlock {
    fn start(&mut self, list: usize, page: u64, origin: usize, now: Now) {
        self.names += 1;
        self.lists[list].push(Block {
            name: self.names,
            pages: vec![page],
            accesses: 1,
            begun: now.time,
            used: now.time,
            request: now.request,
            counted: now.request,
            origin,
        });
    }

    fn count(&self, block: &mut Block, now: Now) {
        block.used = now.time;
        if self.by_page || block.counted != now.request {
            block.counted = now.request;
            block.accesses += 1;
        }
    }

    fn home(&self, page: u64) -> Option<(usize, usize)> {
        (0..3).find_map(|list| {
            let mut blocks = self.lists[list].iter();
            let place = blocks.position(|block| block.pages.contains(&page))?;
            Some((list, place))
        })
    }

    fn hit(&mut self, page: u64, (list, place): (usize, usize), now: Now) {
        if self.lists[list][place].pages.len() <= self.small {
            let mut block = self.lists[list].remove(place);
            self.count(&mut block, now);
            self.lists[1].push(block);
            return;
        }
        let block = &mut self.lists[list][place];
        let origin = block.name;
        block.pages.retain(|held| *held != page);
        match self.lists[2].pop() {
            Some(mut last) if last.request == now.request && last.origin == origin => {
                last.pages.push(page);
                self.count(&mut last, now);
                self.lists[2].push(last);
            }
            other => {
                self.lists[2].extend(other);
                self.start(2, page, origin, now);
            }
        }
        for list in &mut self.lists {
            list.retain(|block| !block.pages.is_empty());
        }
    }

    fn pop(&mut self) -> Vec<u64> {
        // The victim is the block with the lowest value of accesses / (pages x age). The model compares these
        // quotients by cross-multiplication.
        let of = |list: usize| {
            let block = self.lists[list].first()?;
            let weight = block.pages.len() as u64 * (self.v - block.begun).max(1);
            Some((block.accesses, weight, block.used, list))
        };
        let lasts: Vec<_> = (0..3).filter_map(of).collect();
        let least = lasts.iter().find(|one| {
            lasts
                .iter()
                .all(|other| (one.0 * other.1, one.2, one.3) <= (other.0 * one.1, other.2, other.3))
        });
        self.take(least.unwrap().3, 0)
    }

    fn take(&mut self, list: usize, place: usize) -> Vec<u64> {
        let mut victim = self.lists[list].remove(place);
        if list == 2 {
            let origin = |block: &Block| block.name == victim.origin;
            if let Some(place) = self.lists[0].iter().position(origin) {
                victim.pages.extend(self.lists[0].remove(place).pages);
            }
        }
        victim.pages.sort();
        victim.pages
    }

    fn len(&self) -> usize {
        let blocks = self.lists.iter().flatten();
        blocks.map(|block| block.pages.len()).sum()
    }
}

impl Model for ReqBlock {
    fn write(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        self.v = now.time;
        if let Some(home) = self.home(page) {
            self.hit(page, home, now);
            return Vec::new();
        }
        let mut destaged = Vec::new();
        if self.len() == self.capacity {
            destaged.push(self.pop());
        }
        match self.lists[0].last_mut() {
            Some(block) if block.request == now.request => {
                block.pages.push(page);
                block.used = now.time;
            }
            _ => self.start(0, page, 0, now),
        }
        destaged
    }

    fn trim(&mut self, page: u64) {
        for list in &mut self.lists {
            for block in list.iter_mut() {
                block.pages.retain(|held| *held != page);
            }
            list.retain(|block| !block.pages.is_empty());
        }
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        let (list, place) = self.home(page).unwrap();
        vec![self.take(list, place)]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while self.len() > 0 {
            flushed.push(self.pop());
        }
        flushed
    }
}

#[test]
fn req_block() {
    let new = |size: &Size, small, by_page| ReqBlock {
        capacity: size.capacity,
        small,
        by_page,
        v: 0,
        names: 0,
        lists: [Vec::new(), Vec::new(), Vec::new()],
    };
    compare("req-block", &[], |size| Box::new(new(size, 5, false)));
    compare("req-block", &["req_small=1"], |size| {
        Box::new(new(size, 1, false))
    });
    compare("req-block", &["req_small=0", "req_count=page"], |size| {
        Box::new(new(size, 0, true))
    });
}
