//! The findings of a mount: what each physical page holds, and where the copies of each logical page are.
//!
//! A mount reads the spare area of every programmed page, ignores unreadable pages, and takes for each logical page the copy with the highest
//! version.

use alloc::sync::Arc;
use alloc::vec::Vec;

use destage_base::Lpn;

use crate::array::Ppn;
use crate::filled::Filled;
use crate::medium::{Spare, SpareKind};
use crate::operation::{Purpose, Role};

/// The findings in a physical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing was programmed.
    Erased,
    /// Contents that cannot be read or recognised.
    Unreadable,
    /// A page, and whether its program was cut off in a drive that does not notice.
    Page(Spare, bool),
}

/// The rank by which one of several copies of a page is taken: by version, then by being whole, then by the time of its program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// The version of the contents.
    pub version: u64,
    /// Its program was not cut off.
    pub is_whole: bool,
    /// The number of the program.
    pub program: u64,
}

impl Found {
    /// The logical page whose contents are here, and their rank; `None` for maps, summaries and fillers.
    #[must_use]
    pub fn contents(&self) -> Option<(Lpn, Rank)> {
        let Self::Page(spare, is_torn) = self else {
            return None;
        };
        let is_data = matches!(
            spare.kind,
            SpareKind::Host | SpareKind::Copy | SpareKind::Zeros
        );
        let rank = Rank {
            version: spare.version,
            is_whole: !is_torn,
            program: spare.program,
        };
        spare.page.filter(|_| is_data).map(|page| (page, rank))
    }
}

/// The findings in the pages of a block, in their order.
#[derive(Clone, Debug, Default)]
pub struct FoundPages(Pages);

#[derive(Clone, Debug)]
enum Pages {
    Each(Vec<Found>),
    /// The contents that a fill before the first request has left in this many pages, to which nothing has happened since.
    Filled(Filled, u32),
}

impl Default for Pages {
    fn default() -> Self {
        Self::Each(Vec::new())
    }
}

impl FromIterator<Found> for FoundPages {
    fn from_iter<I: IntoIterator<Item = Found>>(pages: I) -> Self {
        Self(Pages::Each(pages.into_iter().collect()))
    }
}

impl FoundPages {
    /// The contents that a fill has left in `pages` pages.
    pub(crate) fn filled(filled: Filled, pages: u32) -> Self {
        Self(Pages::Filled(filled, pages))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        match &self.0 {
            Pages::Each(pages) => pages.len() as u32,
            Pages::Filled(_, pages) => *pages,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The page at `offset`, if there is one.
    #[must_use]
    pub fn get(&self, offset: u32) -> Option<Found> {
        match &self.0 {
            Pages::Each(pages) => pages.get(offset as usize).copied(),
            Pages::Filled(..) if offset >= self.len() => None,
            Pages::Filled(filled, _) => Some(match filled.at(offset) {
                Some(page) => Found::Page(Spare::filled(page), false),
                None => Found::Unreadable,
            }),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Found> {
        (0..self.len()).filter_map(|offset| self.get(offset))
    }
}

/// The findings in a block.
#[derive(Clone, Debug, Default)]
pub struct FoundBlock {
    /// Its pages; none if nothing was programmed since the last erase.
    pub pages: FoundPages,
    /// How often it was erased.
    pub erases: u32,
}

impl FoundBlock {
    /// The page after the last one that is not erased.
    #[must_use]
    pub fn end(&self) -> u32 {
        let erased = self.pages.iter().rev();
        let erased = erased.take_while(|page| *page == Found::Erased);
        self.pages.len() - erased.count() as u32
    }

    /// The pages that can be read, with their offsets.
    pub fn spares(&self) -> impl Iterator<Item = (u32, Spare)> {
        let pages = (0..).zip(self.pages.iter());
        pages.filter_map(|(offset, page)| match page {
            Found::Page(spare, _) => Some((offset, spare)),
            Found::Erased | Found::Unreadable => None,
        })
    }

    /// The use of the block and its user, according to its first readable page.
    #[must_use]
    pub fn purpose(&self) -> Option<Purpose> {
        let (_, spare) = self.spares().next()?;
        Some(spare.purpose)
    }

    /// The use of the block, from the same page.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Some(self.purpose()?.role)
    }

    /// The numbers of the first and the last program that can be read here.
    #[must_use]
    pub fn programs(&self) -> Option<(u64, u64)> {
        let all = || self.spares().map(|(_, spare)| spare.program);
        Some((all().min()?, all().max()?))
    }
}

/// Where the contents of a logical page are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The logical page.
    pub page: Lpn,
    /// The die.
    pub die: u32,
    /// The physical page.
    pub at: Ppn,
    /// The reason for choosing the copy.
    pub rank: Rank,
}

/// Everything that a mount finds. See the [module](self).
#[derive(Clone, Debug)]
pub struct Scan {
    /// By die and block.
    pub dies: Vec<Vec<FoundBlock>>,
    /// By how many bits the number of a block is shifted in a physical page.
    pub page_bits: u32,
    /// The contents that a fill has left in blocks to which nothing has happened since.
    pub(crate) filled: Arc<FilledPlaces>,
    /// All other copies of pages, by page and rank.
    others: Vec<Place>,
}

impl Scan {
    /// The findings in the blocks of each die; the number of a block is shifted by `page_bits` in a physical page.
    #[must_use]
    pub fn new(dies: Vec<Vec<FoundBlock>>, page_bits: u32) -> Self {
        let (mut filled, mut others) = (FilledPlaces::default(), Vec::new());
        for (die, blocks) in (0..).zip(&dies) {
            for (number, block) in (0..).zip(blocks) {
                let at = |offset| Ppn(number << page_bits | offset);
                if let Pages::Filled(pages, _) = &block.pages.0 {
                    for (offset, page) in pages.pages() {
                        filled.add(page, (die, at(offset)));
                    }
                    continue;
                }
                for (offset, found) in (0..).zip(block.pages.iter()) {
                    if let Some((page, rank)) = found.contents() {
                        others.push(Place {
                            page,
                            die,
                            at: at(offset),
                            rank,
                        });
                    }
                }
            }
        }
        others.sort_unstable_by_key(|copy| (copy.page, copy.rank));
        Self {
            dies,
            page_bits,
            filled: Arc::new(filled),
            others,
        }
    }

    /// Shows all copies of each page, page after page, with the copy to choose last.
    pub fn copies(&self, mut show: impl FnMut(&[Place])) {
        let mut others = self.others.chunk_by(|one, next| one.page == next.page);
        let mut next = others.next();
        for (page, (die, at)) in self.filled.pages() {
            let mut here = Vec::new();
            while let Some(copies) = next.filter(|copies| copies[0].page <= page) {
                match copies[0].page == page {
                    true => here.extend_from_slice(copies),
                    false => show(copies),
                }
                next = others.next();
            }
            let filled = Place {
                page,
                die,
                at,
                rank: Rank {
                    version: 0,
                    is_whole: true,
                    program: 0,
                },
            };
            if here.is_empty() {
                show(&[filled]);
                continue;
            }
            here.push(filled);
            here.sort_unstable_by_key(|copy| copy.rank);
            show(&here);
        }
        next.into_iter().chain(others).for_each(show);
    }

    /// The copy to choose of each page with a version above 0, that is, of pages that a host has written.
    pub fn written(&self) -> impl Iterator<Item = &Place> {
        let of_pages = self.others.chunk_by(|one, next| one.page == next.page);
        let newest = of_pages.filter_map(<[Place]>::last);
        newest.filter(|place| place.rank.version > 0)
    }

    /// The highest version that can be read.
    #[must_use]
    pub fn version(&self) -> u64 {
        let blocks = self.dies.iter().flatten();
        let spares = blocks.flat_map(FoundBlock::spares);
        spares.map(|(_, spare)| spare.version).max().unwrap_or(0)
    }

    /// Number of spare areas read on the die that has most to read: all of a block, one of an erased block.
    #[must_use]
    pub fn reads(&self) -> u64 {
        let of_block = |block: &FoundBlock| u64::from(block.pages.len().max(1));
        let dies = self.dies.iter();
        let of_die = dies.map(|blocks| blocks.iter().map(of_block).sum::<u64>());
        of_die.max().unwrap_or(0)
    }
}

/// Nothing was filled there.
const NOWHERE: (u32, Ppn) = (u32::MAX, Ppn(0));

/// By page, die and physical page of the contents of a fill.
#[derive(Clone, Default, Debug)]
pub(crate) struct FilledPlaces(Vec<(u32, Ppn)>);

impl FilledPlaces {
    fn add(&mut self, page: Lpn, place: (u32, Ppn)) {
        let index = page.0 as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, NOWHERE);
        }
        self.0[index] = place;
    }

    pub fn of(&self, page: Lpn) -> Option<(u32, Ppn)> {
        let place = self.0.get(page.0 as usize).copied();
        place.filter(|place| *place != NOWHERE)
    }

    fn pages(&self) -> impl Iterator<Item = (Lpn, (u32, Ppn))> {
        let all = (0..).map(Lpn).zip(self.0.iter().copied());
        all.filter(|(_, place)| *place != NOWHERE)
    }
}
