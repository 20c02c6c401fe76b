//! The findings of a mount: what each physical page holds, and where the copies of each logical page are.
//!
//! A mount reads the spare area of every programmed page and ignores unreadable pages. Among the copies of a logical
//! page, a mount chooses the copy with the highest [`Rank`].

use alloc::sync::Arc;
use alloc::vec::Vec;

use destage_base::Lpn;

use crate::array::Ppn;
use crate::filled::Filled;
use crate::medium::{Spare, SpareKind};
use crate::operation::{Purpose, Role};

/// The finding about one physical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing was programmed in the page.
    Erased,
    /// The contents of the page cannot be read or recognised.
    Unreadable,
    /// A readable page: its spare area, and whether the page is torn. The program of a torn page was cut off in a
    /// drive that does not notice this.
    Page(Spare, bool),
}

/// The rank by which a mount chooses among the copies of a logical page. The copy with the higher version has the
/// higher rank. With equal versions, a whole copy has a higher rank than a torn one. If the versions are equal and
/// both copies are whole or both are torn, the copy programmed later has the higher rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Rank {
    /// The version of the contents.
    pub version: u64,
    /// Whether the copy is whole: its program was not cut off.
    pub is_whole: bool,
    /// The number of the program that wrote the copy, counted over all dies.
    pub program: u64,
}

impl Found {
    /// The logical page whose contents this page holds, and the rank of the copy; `None` for maps, summaries
    /// and fillers, and for pages that cannot be read.
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

/// The findings about the pages of a block, in the order of the pages.
#[derive(Clone, Debug, Default)]
pub struct FoundPages(Pages);

#[derive(Clone, Debug)]
enum Pages {
    Each(Vec<Found>),
    /// The contents that a fill has programmed before the first request, and the number of pages of the block. No
    /// operation has changed the block since the fill.
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
    /// The findings about a block of `pages` pages that holds `filled`, the contents programmed by a fill.
    pub(crate) fn filled(filled: Filled, pages: u32) -> Self {
        Self(Pages::Filled(filled, pages))
    }

    /// Number of pages.
    #[must_use]
    pub fn len(&self) -> u32 {
        match &self.0 {
            Pages::Each(pages) => pages.len() as u32,
            Pages::Filled(_, pages) => *pages,
        }
    }

    /// Whether there are no pages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The finding about the page at `offset`, if there is such a page.
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

    /// The findings about all pages, in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Found> {
        (0..self.len()).filter_map(|offset| self.get(offset))
    }
}

/// The findings about one block.
#[derive(Clone, Debug, Default)]
pub struct FoundBlock {
    /// The findings about its pages; empty if nothing was programmed since the last erase.
    pub pages: FoundPages,
    /// How often the block was erased.
    pub erases: u32,
}

impl FoundBlock {
    /// The offset after the last page that is not erased.
    #[must_use]
    pub fn end(&self) -> u32 {
        let erased = self.pages.iter().rev();
        let erased = erased.take_while(|page| *page == Found::Erased);
        self.pages.len() - erased.count() as u32
    }

    /// The readable pages: their offsets and spare areas.
    pub fn spares(&self) -> impl Iterator<Item = (u32, Spare)> {
        let pages = (0..).zip(self.pages.iter());
        pages.filter_map(|(offset, page)| match page {
            Found::Page(spare, _) => Some((offset, spare)),
            Found::Erased | Found::Unreadable => None,
        })
    }

    /// The use and the owner of the block, according to the spare area of the first readable page.
    #[must_use]
    pub fn purpose(&self) -> Option<Purpose> {
        let (_, spare) = self.spares().next()?;
        Some(spare.purpose)
    }

    /// The use of the block, according to the spare area of the first readable page.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Some(self.purpose()?.role)
    }

    /// The lowest and the highest program number among the readable pages of the block.
    #[must_use]
    pub fn programs(&self) -> Option<(u64, u64)> {
        let all = || self.spares().map(|(_, spare)| spare.program);
        Some((all().min()?, all().max()?))
    }
}

/// The place of one copy of a logical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The logical page.
    pub page: Lpn,
    /// The die.
    pub die: u32,
    /// The physical page.
    pub at: Ppn,
    /// The rank by which this copy is compared with other copies of the page.
    pub rank: Rank,
}

/// Everything that a mount finds. See the [module](self).
#[derive(Clone, Debug)]
pub struct Scan {
    /// The findings about each block, by die and block number.
    pub dies: Vec<Vec<FoundBlock>>,
    /// Number of bits by which the block number is shifted left in a physical page number.
    pub page_bits: u32,
    /// The places of the pages that a fill has programmed, in blocks that no operation has changed since the fill.
    pub(crate) filled: Arc<FilledPlaces>,
    /// All other copies of logical pages, sorted by page and rank.
    others: Vec<Place>,
}

impl Scan {
    /// A scan with the findings `dies`, by die and block. In a physical page number, the block number is shifted left
    /// by `page_bits` bits.
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

    /// Calls `show` once for each logical page, with the list of all copies of this page. A mount chooses the last
    /// copy of the list.
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

    /// The copy that a mount chooses of each logical page that the host has written. Such a copy has a version above
    /// 0.
    pub fn written(&self) -> impl Iterator<Item = &Place> {
        let of_pages = self.others.chunk_by(|one, next| one.page == next.page);
        let newest = of_pages.filter_map(<[Place]>::last);
        newest.filter(|place| place.rank.version > 0)
    }

    /// The highest version among all readable pages.
    #[must_use]
    pub fn version(&self) -> u64 {
        let blocks = self.dies.iter().flatten();
        let spares = blocks.flat_map(FoundBlock::spares);
        spares.map(|(_, spare)| spare.version).max().unwrap_or(0)
    }

    /// The largest number of spare areas that a mount reads on one die. A mount reads the spare areas of all pages of
    /// a programmed block, and of one page of an erased block.
    #[must_use]
    pub fn reads(&self) -> u64 {
        let of_block = |block: &FoundBlock| u64::from(block.pages.len().max(1));
        let dies = self.dies.iter();
        let of_die = dies.map(|blocks| blocks.iter().map(of_block).sum::<u64>());
        of_die.max().unwrap_or(0)
    }
}

/// Marks a logical page that no fill has written.
const NOWHERE: (u32, Ppn) = (u32::MAX, Ppn(0));

/// For each logical page, the die and the physical page to which a fill has programmed this page.
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
