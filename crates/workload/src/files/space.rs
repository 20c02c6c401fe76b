//! The bitmap of the allocated units of a disk, and the search for free units.

/// Consecutive pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub first: u64,
    pub pages: u64,
}

/// The number of units in a stretch of the bitmap. The length of a longer free run is recorded as this number.
const STRETCH: u64 = 4096;

/// The units of a disk, each of which is free or allocated. A unit is a page, a cluster, an inode or a record.
#[derive(Clone, Debug)]
pub struct Space {
    /// A set bit means an allocated unit. The bits after the last unit are also set.
    words: Vec<u64>,
    /// For each stretch, an upper bound for the length of the free runs that begin in the stretch. Such a run may
    /// extend into later stretches. The bound is at most [`STRETCH`]. On a full disk, a search skips the stretches
    /// whose bound is smaller than the wanted length.
    longest: Vec<u16>,
    /// No unit before this one is free.
    low: u64,
    units: u64,
    free: u64,
}

impl Space {
    /// Creates a space in which all units are free.
    pub fn new(units: u64) -> Self {
        let mut words = vec![0; units.div_ceil(64) as usize];
        if let (Some(last), rest @ 1..) = (words.last_mut(), units % 64) {
            *last = u64::MAX << rest;
        }
        Self {
            words,
            longest: vec![STRETCH as u16; units.div_ceil(STRETCH) as usize],
            low: 0,
            units,
            free: units,
        }
    }

    /// The number of free units.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Whether a unit is allocated.
    pub fn is_taken(&self, unit: u64) -> bool {
        self.words[(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    /// Allocates the `units` units from `first` on. All of them must be free.
    pub fn take(&mut self, first: u64, units: u64) {
        for unit in first..first + units {
            let (word, bit) = (&mut self.words[(unit / 64) as usize], 1 << (unit % 64));
            debug_assert_eq!(*word & bit, 0, "unit {unit} is taken twice");
            *word |= bit;
        }
        self.free -= units;
        if first == self.low {
            self.low += units;
        }
    }

    /// Frees the `units` units from `first` on. All of them must be allocated.
    pub fn release(&mut self, first: u64, units: u64) {
        for unit in first..first + units {
            let (word, bit) = (&mut self.words[(unit / 64) as usize], 1 << (unit % 64));
            debug_assert_ne!(*word & bit, 0, "unit {unit} is freed twice");
            *word &= !bit;
        }
        self.free += units;
        self.low = self.low.min(first);
        // A free run that begins in the previous stretch may also have become longer.
        if let Some(last) = units.checked_sub(1) {
            let stretches = (first / STRETCH).saturating_sub(1)..=(first + last) / STRETCH;
            for stretch in stretches {
                self.longest[stretch as usize] = STRETCH as u16;
            }
        }
    }

    /// Empties the list `pages`. Returns the pages of the list that are still allocated, each page once, in ascending
    /// order.
    pub fn settle<'a>(&'a self, pages: &'a mut Vec<u64>) -> impl Iterator<Item = u64> + 'a {
        pages.sort_unstable();
        pages.dedup();
        pages.drain(..).filter(|page| self.is_taken(*page))
    }

    /// Allocates at most `most` units of the first free run from `goal` on. A search that reaches the end of the disk
    /// continues at the start of the disk. Returns `None` if no unit is free.
    pub fn take_run(&mut self, goal: u64, most: u64) -> Option<Extent> {
        if self.free == 0 {
            return None;
        }
        let goal = if goal < self.units { goal } else { 0 };
        let first = self.find_whole(goal, 1).or_else(|| self.find_whole(0, 1))?;
        if goal <= self.low {
            self.low = first;
        }
        let pages = self.run(first, most);
        self.take(first, pages);
        Some(Extent { first, pages })
    }

    /// Finds the first free run from `goal` on that has at least `units` units, and allocates its first `units`
    /// units. A search that reaches the end of the disk continues at the start of the disk. Returns `None` if no run
    /// is long enough.
    pub fn take_whole(&mut self, goal: u64, units: u64) -> Option<Extent> {
        let goal = if goal < self.units { goal } else { 0 };
        let first = self
            .find_whole(goal, units)
            .or_else(|| self.find_whole(0, units))?;
        self.take(first, units);
        Some(Extent {
            first,
            pages: units,
        })
    }

    /// The first unit, at `from` or later, at which a run of `units` free units begins.
    fn find_whole(&mut self, from: u64, units: u64) -> Option<u64> {
        let mut from = from.max(self.low);
        while from < self.units {
            let stretch = from / STRETCH;
            let end = (stretch + 1) * STRETCH;
            if units > u64::from(self.longest[stretch as usize]) && units <= STRETCH {
                from = end;
                continue;
            }
            let found = if units <= 64 {
                self.find_short(from, end, units)
            } else {
                self.find_long(from, end, units)
            };
            match found {
                Ok(first) => return Some(first),
                Err(longest) if from.is_multiple_of(STRETCH) || from == self.low => {
                    self.longest[stretch as usize] = longest.min(STRETCH) as u16;
                }
                Err(_) => {}
            }
            from = end;
        }
        None
    }

    /// The first unit in `from..end` at which a run of `units` free units begins, for 1 to 64 units. If no such run
    /// begins in `from..end`, the error is an upper bound for the length of the runs that begin there.
    fn find_short(&self, from: u64, end: u64, units: u64) -> Result<u64, u64> {
        let mut wanted = u64::MAX << (from % 64);
        for index in from / 64..end / 64 {
            let word = !self.word(index);
            if word & wanted != 0 {
                let mut begins = u128::from(word) | u128::from(!self.word(index + 1)) << 64;
                // A bit remains set if at least `long` free units begin at its unit.
                let mut long = 1;
                while long < units {
                    let more = long.min(units - long);
                    begins &= begins >> more;
                    long += more;
                }
                let begins = begins as u64 & wanted;
                if begins != 0 {
                    return Ok(index * 64 + u64::from(begins.trailing_zeros()));
                }
            }
            wanted = u64::MAX;
        }
        Err(units.saturating_sub(1))
    }

    /// Does the same as [`Self::find_short`] for more than 64 units. A run of more than 64 units spans at least two
    /// words.
    fn find_long(&self, from: u64, end: u64, units: u64) -> Result<u64, u64> {
        let (mut index, mut longest, mut run) = (from / 64, 63, 0);
        let mut before = !(u64::MAX << (from % 64));
        while index * 64 - run < end {
            let first = index * 64 - run;
            let word = self.word(index) | before;
            before = 0;
            if word == u64::MAX {
                // On a full disk, most words have no free unit. They are skipped.
                (index, run) = (index + 1, 0);
                continue;
            }
            run += u64::from(word.trailing_zeros());
            if run >= units {
                return Ok(first);
            }
            longest = longest.max(run);
            if word != 0 {
                run = u64::from(word.leading_zeros());
            }
            index += 1;
        }
        Err(longest)
    }

    /// The number of consecutive free units from `first` on, but at most `most`. The unit `first` must be free.
    fn run(&self, first: u64, most: u64) -> u64 {
        let mut index = first / 64;
        let in_word = 64 - first % 64;
        let mut run = in_word.min((self.word(index) >> (first % 64)).trailing_zeros().into());
        let mut open = run == in_word;
        while open && run < most {
            index += 1;
            let word = self.word(index);
            run += u64::from(word.trailing_zeros());
            open = word == 0;
        }
        run.min(most)
    }

    /// The word of the bitmap with 64 units. Units after the last one count as allocated.
    fn word(&self, index: u64) -> u64 {
        self.words.get(index as usize).copied().unwrap_or(u64::MAX)
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
    fn a_run_may_become_longer_behind_the_end_of_its_stretch() {
        for units in [20, 200] {
            let mut space = Space::new(3 * STRETCH);
            space.take(0, 3 * STRETCH);
            space.release(STRETCH - units / 2, units / 2);
            assert_eq!(space.take_whole(0, units), None);
            space.release(STRETCH, units / 2);
            let (first, pages) = (STRETCH - units / 2, units);
            assert_eq!(space.take_whole(0, units), Some(Extent { first, pages }));
        }
    }

    #[test]
    fn runs_with_a_full_word_between_are_two() {
        let mut space = Space::new(1000);
        space.take(0, 1000);
        space.release(70, 58);
        space.release(192, 60);
        assert_eq!(space.take_whole(0, 100), None);
        space.release(128, 64);
        let (first, pages) = (70, 100);
        assert_eq!(space.take_whole(0, 100), Some(Extent { first, pages }));
    }

    #[test]
    fn a_long_walk_agrees_with_a_plain_list() {
        const UNITS: usize = 40_000;
        let mut random = Random::new(5);
        let (mut space, mut plain) = (Space::new(UNITS as u64), vec![false; UNITS]);
        let (mut found, mut missed) = (0, 0);
        for round in 0..3000u64 {
            // The lengths are shorter than a stretch, as long as a stretch, and longer. The disk is nearly full most
            // of the time.
            let length = [1, 3, 64, 700, 4095, 4096, 4097, 9000][random.below(8) as usize];
            let goal = [0, random.below(UNITS as u64), UNITS as u64][random.below(3) as usize];
            let start = if goal < UNITS as u64 {
                goal as usize
            } else {
                0
            };
            let whole = random.below(4) > 0;
            let mut runs = Vec::new();
            for (from, end) in [(start, UNITS), (0, UNITS)] {
                let mut unit = from;
                while unit < end {
                    let free = plain[unit..end].iter().take_while(|taken| !**taken).count();
                    if free > 0 {
                        runs.push((unit as u64, free as u64));
                    }
                    unit += free.max(1);
                }
            }
            let wanted = if whole { length } else { 1 };
            let expected = runs.iter().find(|(_, free)| *free >= wanted);
            let expected = expected.map(|(first, free)| (*first, length.min(*free)));
            let extent = if whole {
                space.take_whole(goal, length)
            } else {
                space.take_run(goal, length)
            };
            let got = extent.map(|extent| (extent.first, extent.pages));
            assert_eq!(got, expected, "{round} {goal} {length} {whole}");
            match got {
                Some((first, pages)) => {
                    found += 1;
                    plain[first as usize..(first + pages) as usize].fill(true);
                }
                None => missed += 1,
            }
            if space.free() < 3000 || random.below(8) == 0 {
                for _ in 0..random.below(4) {
                    let first = random.below(UNITS as u64) as usize;
                    let taken = plain[first..].iter().take_while(|taken| **taken).count();
                    let units = taken.min(1 + random.below(6000) as usize);
                    plain[first..first + units].fill(false);
                    space.release(first as u64, units as u64);
                }
            }
        }
        assert!(found > 300 && missed > 300, "{found} {missed}");
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
