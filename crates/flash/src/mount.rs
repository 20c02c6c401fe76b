//! What a mount finds on flash, and what becomes of it.
//!
//! A mount reads the spare area of every page that was programmed, ignores what cannot be read, and takes for each
//! logical page the copy with the highest version. [`Ftl::mount`] makes the state of a layer of that; what it
//! has to put in order afterwards it says step by step ([`Ftl::mount_step`]), so that the power may fail
//! there as well.

use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};

use crate::ftl::{Ftl, NoSpace};
use crate::medium::{Medium, Refusal, Spare, SpareKind};
use crate::nand::Ppn;
use crate::operation::{Operations, Purpose, Role, Tally};
use crate::timing::Timing;

/// What is found in a physical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Nothing was programmed.
    Erased,
    /// Something that cannot be read, or that nobody can tell what it is.
    Unreadable,
    /// A page, and whether its program was cut off in a drive that does not notice.
    Page(Spare, bool),
}

/// Which of several copies of a page is taken: the highest, by version, being whole, and being programmed last.
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
    /// The logical page whose contents are here, and their rank; none of maps, summaries and fillers.
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

/// What is found in a block.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoundBlock {
    /// Its pages; none if nothing was programmed since the last erase.
    pub pages: Vec<Found>,
    /// How often it was erased.
    pub erases: u32,
}

impl FoundBlock {
    /// The page after the last one that is not erased.
    #[must_use]
    pub fn end(&self) -> u32 {
        let last = self.pages.iter().rposition(|page| *page != Found::Erased);
        last.map_or(0, |last| last as u32 + 1)
    }

    /// The pages that can be read, with their offsets.
    pub fn spares(&self) -> impl Iterator<Item = (u32, &Spare)> {
        let pages = (0..).zip(&self.pages);
        pages.filter_map(|(offset, page)| match page {
            Found::Page(spare, _) => Some((offset, spare)),
            Found::Erased | Found::Unreadable => None,
        })
    }

    /// What the block was used for, and by whom, as its first page says that can be read.
    #[must_use]
    pub fn purpose(&self) -> Option<Purpose> {
        let (_, spare) = self.spares().next()?;
        Some(spare.purpose)
    }

    /// What the block was used for, likewise.
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
    /// What made it be taken.
    pub rank: Rank,
}

/// Everything that a mount finds. See the [module](self).
#[derive(Clone, Debug)]
pub struct Scan {
    /// By die and block.
    pub dies: Vec<Vec<FoundBlock>>,
    /// By how many bits the number of a block is shifted in a physical page.
    pub page_bits: u32,
}

impl Scan {
    /// All copies of all pages, those of a page together and the one to be taken last.
    #[must_use]
    pub fn copies(&self) -> Vec<Place> {
        let mut copies = Vec::new();
        for (die, blocks) in (0..).zip(&self.dies) {
            for (number, block) in (0..).zip(blocks) {
                for (offset, found) in (0..).zip(&block.pages) {
                    if let Some((page, rank)) = found.contents() {
                        let at = Ppn(number << self.page_bits | offset);
                        copies.push(Place {
                            page,
                            die,
                            at,
                            rank,
                        });
                    }
                }
            }
        }
        copies.sort_unstable_by_key(|copy| (copy.page, copy.rank));
        copies
    }

    /// The copy of each page that is to be taken; of equal versions the one programmed last.
    #[must_use]
    pub fn newest(&self) -> Vec<Place> {
        let mut copies = self.copies();
        copies.reverse();
        copies.dedup_by_key(|copy| copy.page);
        copies
    }

    /// The highest version that can be read.
    #[must_use]
    pub fn version(&self) -> u64 {
        let blocks = self.dies.iter().flatten();
        let spares = blocks.flat_map(FoundBlock::spares);
        spares.map(|(_, spare)| spare.version).max().unwrap_or(0)
    }

    /// Spare areas that are read on the die that has most to read: all of a block, one of a block that is erased.
    #[must_use]
    pub fn reads(&self) -> u64 {
        let of_block = |block: &FoundBlock| block.pages.len().max(1) as u64;
        let dies = self.dies.iter();
        let of_die = dies.map(|blocks| blocks.iter().map(of_block).sum::<u64>());
        of_die.max().unwrap_or(0)
    }
}

/// Why a mount has failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MountError {
    /// The layer cannot be mounted.
    Unsupported,
    /// What was found leaves no room to put it in order.
    Full(NoSpace),
    /// The layer does what flash cannot do: a bug in it.
    Refused(Refusal),
}

/// What a mount took.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MountReport {
    /// How long it took, dies side by side.
    pub time: Ticks,
    /// Spare areas read on the die that had most to read.
    pub spare_reads: u64,
    /// What was done to put blocks in order.
    pub tally: Tally,
    /// The highest version that could be read: the next one is above it.
    pub version: u64,
}

/// Makes `ftl`, which was just built without contents, the layer of what is on `medium`, on which nothing is in service. Steps that put
/// blocks in order may have to follow, as in [`mount`].
///
/// # Errors
/// If the layer cannot be mounted.
pub fn take_over(ftl: &mut dyn Ftl, medium: &mut Medium) -> Result<Scan, MountError> {
    let scan = medium.scan();
    let mut places = Vec::new();
    ftl.mount(&scan, &mut places)?;
    medium.settle(&places);
    Ok(scan)
}

/// Mounts `ftl`, which was just built without contents, on `medium`, on which nothing is in service. `watch` sees each step
/// that puts something in order, while it is in service on the die it gets.
///
/// # Errors
/// If the layer cannot be mounted, or found no room.
pub fn mount(
    ftl: &mut dyn Ftl,
    medium: &mut Medium,
    timing: &Timing,
    watch: &mut dyn FnMut(&Medium, u32),
) -> Result<MountReport, MountError> {
    let scan = take_over(ftl, medium)?;
    let reads = scan.reads();
    let mut report = MountReport {
        time: reads * (timing.read + timing.sector_transfer),
        spare_reads: reads,
        tally: Tally::default(),
        version: scan.version(),
    };
    let mut operations = Operations::detailed();
    let mut longest = 0;
    for die in 0..scan.dies.len() as u32 {
        let mut time = 0;
        operations.set_die(die);
        while ftl
            .mount_step(die, &mut operations)
            .map_err(MountError::Full)?
        {
            medium
                .start_whole(die, &operations, &[])
                .map_err(MountError::Refused)?;
            watch(medium, die);
            medium.end(die);
            report.tally.add(&operations);
            time += timing.parallel(&operations);
            operations.clear();
        }
        longest = longest.max(time);
    }
    report.time += longest;
    Ok(report)
}
