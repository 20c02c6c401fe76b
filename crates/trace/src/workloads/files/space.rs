//! Which units of a disk are taken, as a bitmap.

/// Pages next to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub first: u64,
    pub pages: u64,
}

/// Units of a disk, free or taken: pages, clusters, inodes.
#[derive(Clone, Debug)]
pub struct Space {
    /// A set bit is taken; bits behind the last unit are set.
    words: Vec<u64>,
    units: u64,
    free: u64,
}

impl Space {
    /// All free.
    pub fn new(units: u64) -> Self {
        let mut words = vec![0; units.div_ceil(64) as usize];
        if let (Some(last), rest @ 1..) = (words.last_mut(), units % 64) {
            *last = u64::MAX << rest;
        }
        Self {
            words,
            units,
            free: units,
        }
    }

    /// How many are free.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Whether a unit is taken.
    pub fn is_taken(&self, unit: u64) -> bool {
        self.words[(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    /// Takes free units.
    pub fn take(&mut self, first: u64, units: u64) {
        for unit in first..first + units {
            let (word, bit) = (&mut self.words[(unit / 64) as usize], 1 << (unit % 64));
            debug_assert_eq!(*word & bit, 0, "unit {unit} is taken twice");
            *word |= bit;
        }
        self.free -= units;
    }

    /// Frees taken units.
    pub fn release(&mut self, first: u64, units: u64) {
        for unit in first..first + units {
            let (word, bit) = (&mut self.words[(unit / 64) as usize], 1 << (unit % 64));
            debug_assert_ne!(*word & bit, 0, "unit {unit} is freed twice");
            *word &= !bit;
        }
        self.free += units;
    }

    /// Empties `pages` and returns those still taken, in ascending order and each once.
    pub fn settle<'a>(&'a self, pages: &'a mut Vec<u64>) -> impl Iterator<Item = u64> + 'a {
        pages.sort_unstable();
        pages.dedup();
        pages.drain(..).filter(|page| self.is_taken(*page))
    }

    /// Takes the first free run from `goal` on, at most `most` units of it; looks from the start again at the end.
    /// `None` if nothing is free.
    pub fn take_run(&mut self, goal: u64, most: u64) -> Option<Extent> {
        if self.free == 0 {
            return None;
        }
        let goal = if goal < self.units { goal } else { 0 };
        let first = self.next(goal, false).or_else(|| self.next(0, false))?;
        let end = self.next(first, true).unwrap_or(self.units);
        let pages = most.min(end.min(self.units) - first);
        self.take(first, pages);
        Some(Extent { first, pages })
    }

    /// Takes the first free run from `goal` on that has all `units`, looking from the start again at the end.
    pub fn take_whole(&mut self, goal: u64, units: u64) -> Option<Extent> {
        let mut from = if goal < self.units { goal } else { 0 };
        let mut wrapped = from == 0;
        loop {
            match self.next(from, false) {
                Some(first) => {
                    let end = self.next(first, true).unwrap_or(self.units).min(self.units);
                    if end - first >= units {
                        self.take(first, units);
                        return Some(Extent {
                            first,
                            pages: units,
                        });
                    }
                    from = end;
                }
                None if wrapped => return None,
                None => (from, wrapped) = (0, true),
            }
        }
    }

    /// The first unit from `from` on that is taken, or else free.
    fn next(&self, from: u64, taken: bool) -> Option<u64> {
        let flip = if taken { 0 } else { u64::MAX };
        let mut index = (from / 64) as usize;
        let mut word = (*self.words.get(index)? ^ flip) & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)? ^ flip;
        }
        Some(index as u64 * 64 + u64::from(word.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destage_base::Random;

    #[test]
    fn what_waits_settles_sorted_once_and_without_what_is_free() {
        let mut space = Space::new(100);
        space.take(10, 60);
        space.release(64, 1);
        let mut pages = vec![66, 64, 12, 66, 9];
        assert_eq!(space.settle(&mut pages).collect::<Vec<_>>(), [12, 66]);
        assert!(pages.is_empty());
    }

    #[test]
    fn agrees_with_a_plain_list() {
        for units in [1, 63, 64, 65, 500] {
            let mut random = Random::new(units);
            let mut space = Space::new(units);
            let mut plain = vec![false; units as usize];
            for _ in 0..2000 {
                let (goal, most) = (random.below(units), 1 + random.below(9));
                let whole = random.below(2) == 0;
                let order = (goal..units).chain(0..goal);
                let run = |first: u64| {
                    (first..units)
                        .take_while(|unit| !plain[*unit as usize])
                        .count() as u64
                };
                let expected = if whole {
                    order
                        .clone()
                        .find(|unit| run(*unit) >= most)
                        .map(|first| (first, most))
                } else {
                    order
                        .clone()
                        .find(|unit| !plain[*unit as usize])
                        .map(|first| (first, run(first).min(most)))
                };
                let found = if whole {
                    space.take_whole(goal, most)
                } else {
                    space.take_run(goal, most)
                };
                assert_eq!(
                    found.map(|extent| (extent.first, extent.pages)),
                    expected,
                    "{units} {goal} {most} {whole}"
                );
                if let Some(extent) = found {
                    for unit in extent.first..extent.first + extent.pages {
                        plain[unit as usize] = true;
                    }
                } else {
                    for unit in 0..units {
                        if plain[unit as usize] && random.below(2) == 0 {
                            plain[unit as usize] = false;
                            space.release(unit, 1);
                        }
                    }
                }
                let free = plain.iter().filter(|taken| !**taken).count() as u64;
                assert_eq!(space.free(), free);
            }
        }
    }
}
