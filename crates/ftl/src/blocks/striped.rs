//! A device of dies that each map their own blocks: logical block `b` lives on die `b mod dies`, with its log blocks and its merge targets.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archive::Archived;
use destage_base::archived;
use destage_base::{Lpn, Ticks};

use super::mount::{Copy, Recovery};
use super::units::most_open;
use super::{Blocks, LogicalPage};
use crate::mount::MountError;
use crate::{BuildError, Ftl, FtlConfig, NoSpace, PageWrite, Properties};
use destage_nand::array::{BlockSlot, Ppn, Wear};
use destage_nand::divide::Divider;
use destage_nand::found::{FoundBlock, Place, Scan};
use destage_nand::operation::Operations;

/// One die of such a device. Everything it is asked is about its own blocks.
pub(crate) trait Die: Archived + Clone + Send {
    /// Reads `page`; no operation if it has no contents.
    fn read(&self, page: LogicalPage, operations: &mut Operations);

    /// Writes `page`, which `write` names as the device counts.
    ///
    /// # Errors
    /// [`NoSpace`] if a free block is needed and none is left.
    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace>;

    /// The number of consecutive pages from which on a write counts as long; `None` if the layer treats long writes like others.
    fn long_write_pages(&self) -> Option<u32> {
        None
    }

    /// The contents of `page` are not needed any more.
    fn trim(&mut self, page: LogicalPage, operations: &mut Operations);

    /// Whether `page` has contents.
    fn is_written(&self, page: LogicalPage) -> bool;

    /// Whether a page of logical block `block` may have contents.
    fn may_hold(&self, block: u32) -> bool;

    /// Whether its pages can be programmed in units. Default: no.
    const TAKES_UNITS: bool = false;

    /// Log blocks whose units were [completed](Blocks::take_completed) continue after the pages without content. Only of layers that
    /// [take units](Die::TAKES_UNITS); default: nothing.
    fn follow_units(&mut self) {}

    /// Whether each page of a data block is at its own offset. Default: it is.
    const KEEPS_OFFSETS: bool = true;

    /// Logical block `logical` lies in `block`, which has the newest copies of `pages`: offset and slot of each. Other pages of
    /// it may follow.
    fn adopt(&mut self, logical: u32, block: BlockSlot, pages: &[(u32, u32)]);

    /// Adopts the pages in `found`, as a die that was just built without contents: `copies` are in the order of pages and ranks.
    fn mount(&mut self, found: &[FoundBlock], copies: &[Copy]) -> Recovery {
        self.blocks_mut().mount(found);
        let (plan, adopted) = Recovery::plan(self.blocks(), found, copies, Self::KEEPS_OFFSETS);
        for (logical, block, pages) in &adopted {
            self.adopt(*logical, *block, pages);
        }
        plan
    }

    /// Does one step of `recovery`, if there is one left.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    fn mount_step(
        &mut self,
        recovery: &mut Recovery,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let blocks = self.blocks_mut();
        let Some(done) = recovery.step(blocks, Self::KEEPS_OFFSETS, operations)? else {
            blocks.reset_figures();
            return Ok(false);
        };
        if let Some((logical, block, pages)) = done {
            self.adopt(logical, block, &pages);
        }
        Ok(true)
    }

    /// Its physical blocks.
    fn blocks(&self) -> &Blocks;

    /// Its physical blocks, to be changed.
    fn blocks_mut(&mut self) -> &mut Blocks;

    /// RAM its maps would take in a device, in bytes.
    fn map_bytes(&self) -> u64;

    /// Figures of the device that are the ratio of two sums: the name, and those of the sums.
    const RATIOS: &'static [[&'static str; 3]] = &[];

    /// Figures only this layer has, by name; the device's are their sums.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// Begins these figures again.
    fn reset_figures(&mut self) {}
}

/// All dies. See the [module](self).
#[derive(Clone)]
pub(crate) struct Striped<E> {
    dies: Vec<E>,
    /// For dies near their end, a copy of the die on which every write is tried first: so a write that fails changes nothing.
    twins: Vec<Option<Box<E>>>,
    /// Operations that these copies emit, which are dropped.
    unwanted: Operations,
    pages_per_block: Divider,
    over_dies: Divider,
    pages: u64,
    has_merges: bool,
    /// Blocks of a die with open units, at most.
    open_blocks: u32,
    /// The repairs of each die after a mount; empty at all other times.
    recoveries: Vec<Recovery>,
}

archived!([E: Archived] Striped<E> { dies } fixed { twins, unwanted, pages_per_block, over_dies, pages, has_merges, open_blocks, recoveries });

impl<E: Die> Striped<E> {
    /// A device of dies with `logical_blocks` each, made by `make` from their number.
    ///
    /// # Errors
    /// The error of `make`, or that of a device with too many pages.
    pub fn new(
        config: &FtlConfig<'_>,
        logical_blocks: u32,
        has_merges: bool,
        make: impl FnMut(u32) -> Result<E, BuildError>,
    ) -> Result<Self, BuildError> {
        let geometry = &config.geometry;
        let data_pages = geometry.data_pages();
        let pages = u64::from(logical_blocks) * u64::from(data_pages) * u64::from(geometry.dies);
        if pages >= u64::from(u32::MAX) {
            return Err(BuildError::TooManyPages { pages });
        }
        Ok(Self {
            dies: (0..geometry.dies).map(make).collect::<Result<_, _>>()?,
            twins: (0..geometry.dies).map(|_| None).collect(),
            unwanted: Operations::default(),
            pages_per_block: Divider::new(data_pages),
            over_dies: Divider::new(geometry.dies),
            pages,
            has_merges,
            open_blocks: match E::TAKES_UNITS {
                true => most_open(config),
                false => 0,
            },
            recoveries: Vec::new(),
        })
    }

    /// Writes `page` on the twin of `die`, and on `die` itself only if there was room.
    #[cold]
    fn write_near_end(
        &mut self,
        die: usize,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let twin = self.twins[die].get_or_insert_with(|| Box::new(self.dies[die].clone()));
        let tried = twin.write(page, write, &mut self.unwanted);
        twin.follow_units();
        self.unwanted.clear();
        if tried.is_err() {
            self.twins[die] = None;
            return tried;
        }
        let written = self.dies[die].write(page, write, operations);
        self.dies[die].follow_units();
        written
    }

    #[inline]
    fn locate(&self, page: Lpn) -> (usize, LogicalPage) {
        let (block, offset) = self.pages_per_block.split(page.0 as u32);
        let (block, die) = self.over_dies.split(block);
        (die as usize, LogicalPage { block, offset })
    }
}

impl<E: Die + 'static> Ftl for Striped<E> {
    fn properties(&self) -> Properties {
        Properties {
            has_merges: self.has_merges,
            stride: self.pages_per_block.divisor(),
            open_blocks: self.open_blocks,
            long_write_pages: self.dies.first().and_then(Die::long_write_pages),
            ..Properties::default()
        }
    }

    fn pages(&self) -> u64 {
        self.pages
    }

    #[inline]
    fn die_of(&self, page: Lpn) -> u32 {
        self.locate(page).0 as u32
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.peek(page, operations);
        Ok(())
    }

    fn peek(&self, page: Lpn, operations: &mut Operations) {
        operations.set_page(page);
        let (die, page) = self.locate(page);
        self.dies[die].read(page, operations);
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_page(write.page);
        let (die, page) = self.locate(write.page);
        let state = &mut self.dies[die];
        if state.blocks().is_near_end() {
            return self.write_near_end(die, page, write, operations);
        }
        let written = state.write(page, write, operations);
        state.follow_units();
        written
    }

    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        let (die, page) = self.locate(page);
        if let Some(twin) = &mut self.twins[die] {
            twin.trim(page, &mut self.unwanted);
            twin.follow_units();
            self.unwanted.clear();
        }
        self.dies[die].trim(page, operations);
        self.dies[die].follow_units();
        Ok(())
    }

    fn is_written(&self, page: Lpn) -> bool {
        let (die, page) = self.locate(page);
        self.dies[die].is_written(page)
    }

    fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        let per_block = u64::from(self.pages_per_block.divisor());
        for number in pages.start / per_block..pages.end.div_ceil(per_block) {
            let (block, die) = self.over_dies.split(number as u32);
            let state = &self.dies[die as usize];
            if !state.may_hold(block) {
                continue;
            }
            let first = number * per_block;
            for page in first.max(pages.start)..(first + per_block).min(pages.end) {
                let offset = (page - first) as u32;
                if state.is_written(LogicalPage { block, offset }) {
                    emit(Lpn(page));
                }
            }
        }
    }

    /// Merging is part of the write that needs it.
    fn collect_garbage(&mut self, _: u32, _: Ticks, _: &mut Operations) -> Result<bool, NoSpace> {
        Ok(false)
    }

    fn fill_unit(&mut self, die: u32, at: Ppn, _: u32, operations: &mut Operations) {
        let state = &mut self.dies[die as usize];
        let (block, _) = state.blocks().split(at.0);
        state.blocks_mut().complete_unit(block, operations);
        state.follow_units();
        if let Some(twin) = &mut self.twins[die as usize] {
            twin.blocks_mut().complete_unit(block, &mut self.unwanted);
            twin.follow_units();
            self.unwanted.clear();
        }
    }

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) -> Result<(), MountError> {
        let mut copies: Vec<Vec<Copy>> = scan.dies.iter().map(|_| Vec::new()).collect();
        scan.copies(|of_page| {
            let (die, page) = self.locate(of_page[0].page);
            let here = of_page.iter().filter(|place| place.die == die as u32);
            copies[die].extend(here.map(|&Place { at, rank, .. }| Copy { page, at, rank }));
        });
        self.recoveries.clear();
        for (number, (found, copies)) in scan.dies.iter().zip(copies).enumerate() {
            let mut recovery = self.dies[number].mount(found, &copies);
            for Copy { page, at, rank } in core::mem::take(&mut recovery.places) {
                let block = u64::from(page.block) * self.dies.len() as u64 + number as u64;
                let pages = u64::from(self.dies[number].blocks().pages());
                take(Place {
                    page: Lpn(block * pages + u64::from(page.offset)),
                    die: number as u32,
                    at,
                    rank,
                });
            }
            self.recoveries.push(recovery);
        }
        Ok(())
    }

    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let Some(recovery) = self.recoveries.get_mut(die as usize) else {
            return Ok(false);
        };
        self.dies[die as usize].mount_step(recovery, operations)
    }

    fn wear(&self) -> Wear {
        self.dies
            .iter()
            .map(|die| die.blocks().wear())
            .fold(Wear::default(), Wear::and)
    }

    fn retired(&self) -> u64 {
        let of_dies = self.dies.iter().map(|die| die.blocks().retired());
        of_dies.map(u64::from).sum()
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        for (die, state) in self.dies.iter().enumerate() {
            for (block, erases) in state.blocks().nand.erases().enumerate() {
                emit(die as u32, block as u32, erases);
            }
        }
    }

    fn reset_wear(&mut self) {
        for die in &mut self.dies {
            let blocks = die.blocks_mut();
            blocks.nand.reset_wear();
            blocks.forget_units();
        }
        self.twins.fill_with(|| None);
    }

    fn reset_figures(&mut self) {
        for die in &mut self.dies {
            die.blocks_mut().reset_figures();
            die.reset_figures();
        }
    }

    fn map_bytes(&self) -> u64 {
        self.dies.iter().map(Die::map_bytes).sum()
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let free_min = self.dies.iter().map(|die| die.blocks().free_min());
        if let Some(fewest) = free_min.min() {
            emit("free_blocks_min", f64::from(fewest));
        }
        let mut sums: Vec<(&'static str, f64)> = Vec::new();
        for die in &self.dies {
            die.report(
                &mut |name, value| match sums.iter_mut().find(|(other, _)| *other == name) {
                    Some((_, sum)) => *sum += value,
                    None => sums.push((name, value)),
                },
            );
        }
        let sum = |wanted: &str| sums.iter().find(|(name, _)| *name == wanted);
        for [name, above, below] in E::RATIOS {
            if let (Some((_, above)), Some((_, below))) = (sum(above), sum(below))
                && *below > 0.0
            {
                emit(name, above / below);
            }
        }
        sums.iter().for_each(|(name, value)| emit(name, *value));
    }
}
