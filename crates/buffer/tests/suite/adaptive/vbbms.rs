//! A naive model of `vbbms`, with a list of virtual blocks for each region.

use crate::adaptive::differential::{Model, Now, Size, compare};

/// Number of the virtual block, and its pages.
type Block = (u64, Vec<u64>);

struct Vbbms {
    capacity: usize,
    /// Pages of a virtual block in the random and in the sequential region.
    sizes: [u64; 2],
    threshold: usize,
    /// The blocks of the random and of the sequential region. In each region the next victim is first.
    regions: [Vec<Block>; 2],
    random_share: usize,
}

impl Vbbms {
    fn len(&self, region: usize) -> usize {
        self.regions[region].iter().map(|block| block.1.len()).sum()
    }

    fn pop(&mut self, grows: usize) -> Vec<u64> {
        let shares = [self.random_share, self.capacity - self.random_share];
        let beyond = (0..2).find(|region| self.len(*region) > shares[*region]);
        let mut region = beyond.unwrap_or(grows);
        if self.regions[region].is_empty() {
            region = 1 - region;
        }
        let mut pages = self.regions[region].remove(0).1;
        pages.sort();
        pages
    }

    fn home(&self, page: u64) -> Option<(usize, usize)> {
        (0..2).find_map(|region| {
            let mut blocks = self.regions[region].iter();
            let place = blocks.position(|block| block.1.contains(&page))?;
            Some((region, place))
        })
    }
}

impl Model for Vbbms {
    fn write(&mut self, page: u64, now: Now) -> Vec<Vec<u64>> {
        if let Some((region, place)) = self.home(page) {
            if region == 0 {
                let block = self.regions[0].remove(place);
                self.regions[0].push(block);
            }
            return Vec::new();
        }
        let region = usize::from(now.pages > self.threshold);
        let mut destaged = Vec::new();
        if self.len(0) + self.len(1) == self.capacity {
            destaged.push(self.pop(region));
        }
        let number = page / self.sizes[region];
        let blocks = &mut self.regions[region];
        match blocks.iter().position(|block| block.0 == number) {
            None => blocks.push((number, vec![page])),
            Some(place) => {
                blocks[place].1.push(page);
                if region == 0 {
                    let block = blocks.remove(place);
                    blocks.push(block);
                }
            }
        }
        destaged
    }

    fn trim(&mut self, page: u64) {
        for region in &mut self.regions {
            for block in region.iter_mut() {
                block.1.retain(|held| *held != page);
            }
            region.retain(|block| !block.1.is_empty());
        }
    }

    fn fua(&mut self, page: u64) -> Vec<Vec<u64>> {
        let (region, place) = self.home(page).unwrap();
        let mut pages = self.regions[region].remove(place).1;
        pages.sort();
        vec![pages]
    }

    fn flush(&mut self) -> Vec<Vec<u64>> {
        let mut flushed = Vec::new();
        while self.len(0) + self.len(1) > 0 {
            flushed.push(self.pop(0));
        }
        flushed
    }
}

#[test]
fn vbbms() {
    let new = |size: &Size, sizes, threshold, random_share| Vbbms {
        capacity: size.capacity,
        sizes,
        threshold,
        regions: [Vec::new(), Vec::new()],
        random_share,
    };
    compare("vbbms", &[], |size| {
        Box::new(new(size, [3, 4], 8, size.capacity * 3 / 5))
    });
    let words = [
        "seq_thr=2",
        "vbbms_random_pages=2",
        "vbbms_sequential_pages=5",
        "vbbms_random_share=0.25",
    ];
    compare("vbbms", &words, |size| {
        Box::new(new(size, [2, 5], 2, size.capacity / 4))
    });
}
