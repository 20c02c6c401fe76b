//! The logical pages that a fill has programmed in a block before the first request. If the numbers follow a rule,
//! the rule is stored; otherwise one number is stored for each physical page.

use alloc::vec;
use alloc::vec::Vec;

use destage_base::Lpn;

/// Marks a place that holds no logical page.
const NONE: u32 = u32::MAX;

/// The logical page in each place of a block. A place is a physical page of the block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Filled {
    /// No place holds a page.
    Nothing,
    /// The first `count` places hold the logical pages `first`, `first + step`, `first + 2 * step` and so on.
    Row { first: u32, step: u32, count: u32 },
    /// The logical page of each place, or [`NONE`].
    List(Vec<u32>),
}

impl Filled {
    /// Puts `page` at `place` of a block that has `places` places.
    pub fn put(&mut self, place: u32, page: Lpn, places: u32) {
        let Lpn(page) = page;
        // The tables store the numbers of logical pages in 32 bits.
        let page = page as u32;
        match self {
            Self::Nothing if place == 0 => {
                *self = Self::Row {
                    first: page,
                    step: 0,
                    count: 1,
                };
            }
            Self::Row { first, step, count } if place == *count && place == 1 => {
                *step = page.wrapping_sub(*first);
                *count = 2;
            }
            Self::Row { first, step, count }
                if place == *count && page == row(*first, *step, place) =>
            {
                *count += 1;
            }
            Self::List(pages) => pages[place as usize] = page,
            Self::Nothing | Self::Row { .. } => {
                let mut pages = vec![NONE; places as usize];
                for (place, held) in self.pages() {
                    pages[place as usize] = held.0 as u32;
                }
                pages[place as usize] = page;
                *self = Self::List(pages);
            }
        }
    }

    /// The logical page at `place`.
    pub fn at(&self, place: u32) -> Option<Lpn> {
        let page = match self {
            Self::Nothing => NONE,
            Self::Row { first, step, count } if place < *count => row(*first, *step, place),
            Self::Row { .. } => NONE,
            Self::List(pages) => pages.get(place as usize).copied().unwrap_or(NONE),
        };
        (page != NONE).then_some(Lpn(page.into()))
    }

    /// The number after the last place that holds a logical page.
    pub fn end(&self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Row { count, .. } => *count,
            Self::List(pages) => {
                let last = pages.iter().rposition(|page| *page != NONE);
                last.map_or(0, |last| last as u32 + 1)
            }
        }
    }

    /// The places that hold logical pages, each with its logical page.
    pub fn pages(&self) -> impl Iterator<Item = (u32, Lpn)> {
        (0..self.end()).filter_map(|place| Some((place, self.at(place)?)))
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// The logical page at `place` of a [`Filled::Row`].
fn row(first: u32, step: u32, place: u32) -> u32 {
    first.wrapping_add(step.wrapping_mul(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pages: &[(u32, u64)]) -> Filled {
        let mut filled = Filled::Nothing;
        for (place, page) in pages {
            filled.put(*place, Lpn(*page), 8);
        }
        let held: Vec<(u32, u64)> = filled
            .pages()
            .map(|(place, Lpn(page))| (place, page))
            .collect();
        let mut given = pages.to_vec();
        given.sort_unstable();
        assert_eq!(held, given);
        assert_eq!(filled.end(), given.last().map_or(0, |(place, _)| place + 1));
        assert_eq!(filled.at(filled.end()), None);
        filled
    }

    #[test]
    fn a_row_is_kept_as_a_rule_and_anything_else_page_by_page() {
        assert!(of(&[]).is_nothing());
        let row = |first, step, count| Filled::Row { first, step, count };
        assert_eq!(of(&[(0, 7)]), row(7, 0, 1));
        assert_eq!(of(&[(0, 7), (1, 10), (2, 13)]), row(7, 3, 3));
        assert_eq!(of(&[(0, 7), (1, 6)]), row(7, u32::MAX, 2));
        let lists: [&[(u32, u64)]; 4] = [
            &[(1, 7)],
            &[(0, 7), (2, 9)],
            &[(0, 7), (1, 9), (2, 12)],
            &[(0, 1), (3, 2), (1, 3)],
        ];
        for list in lists {
            assert!(matches!(of(list), Filled::List(_)), "{list:?}");
        }
    }
}
