//! A device in which each die maps its own blocks: logical block `b`, its log blocks and its merge targets are on
//! die `b mod dies`.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archive::Archived;
use destage_base::archived;
use destage_base::{Lpn, Ticks};

use super::mount::{Copy, Recovery};
use super::parameters::logical_blocks;
use super::units::most_open;
use super::{Blocks, LogicalPage};
use crate::{BuildError, Built, Ftl, FtlConfig, NoSpace, PageWrite, Properties};
use destage_nand::array::{BlockSlot, Ppn, Wear};
use destage_nand::divide::Divider;
use destage_nand::found::{FoundBlock, Place, Scan};
use destage_nand::operation::Operations;

/// One die of a [`Striped`] device. The numbers of logical blocks are numbers within the die.
pub(crate) trait Die: Archived + Clone + Send {
    /// Reads `page`; emits no operation if `page` has no contents.
    fn read(&self, page: LogicalPage, operations: &mut Operations);

    /// Writes `page`. `write` contains the cause, and the number of the page in the device.
    ///
    /// # Errors
    /// [`NoSpace`] if the write needs a free block and none is left.
    fn write(
        &mut self,
        page: LogicalPage,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace>;

    /// Minimum number of consecutive pages of a long write; `None` if the layer treats long writes like others.
    fn long_write_pages(&self) -> Option<u32> {
        None
    }

    /// Trims `page`: its contents are not needed any more.
    fn trim(&mut self, page: LogicalPage, operations: &mut Operations);

    /// Whether no trim of a page of logical block `block` emits an operation. Default: false.
    fn trims_freely(&self, block: u32) -> bool {
        let _ = block;
        false
    }

    /// Whether `page` has contents.
    fn is_written(&self, page: LogicalPage) -> bool;

    /// Whether a page of logical block `block` may have contents.
    fn may_hold(&self, block: u32) -> bool;

    /// Whether the layer supports program units of several pages. Default: false.
    const TAKES_UNITS: bool = false;

    /// If fillers have [completed](Blocks::take_completed) units of log blocks, moves the next slot of these log
    /// blocks behind the fillers. Only called for layers that [support program units](Die::TAKES_UNITS). Default:
    /// does nothing.
    fn follow_units(&mut self) {}

    /// Whether each page of a data block is at its own offset. Default: true.
    const KEEPS_OFFSETS: bool = true;

    /// Makes `block` the data block of logical block `logical`. `block` holds the newest copies of `pages`; each
    /// page is given by its offset and its slot. A later call may add further pages of the same logical block.
    fn adopt(&mut self, logical: u32, block: BlockSlot, pages: &[(u32, u32)]);

    /// Takes over the pages in `found`; the die was just built without contents. `copies` are sorted by page and
    /// rank.
    fn mount(&mut self, found: &[FoundBlock], copies: &[Copy]) -> Recovery {
        self.blocks_mut().mount(found);
        let (plan, adopted) = Recovery::plan(self.blocks(), found, copies, Self::KEEPS_OFFSETS);
        for (logical, block, pages) in &adopted {
            self.adopt(*logical, *block, pages);
        }
        plan
    }

    /// Does the next step of `recovery`; returns false if no step is left.
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

    /// The physical blocks of the die.
    fn blocks(&self) -> &Blocks;

    /// The physical blocks of the die, to be changed.
    fn blocks_mut(&mut self) -> &mut Blocks;

    /// RAM that the maps of the die would occupy in a device, in bytes.
    fn map_bytes(&self) -> u64;

    /// Figures of the device that are ratios of two sums over all dies. Each entry gives the names of the ratio,
    /// of the dividend and of the divisor.
    const RATIOS: &'static [[&'static str; 3]] = &[];

    /// Emits the figures that only this layer has, with their names. A figure of the device is the sum over its
    /// dies.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// Restarts the figures of [`Die::report`].
    fn reset_figures(&mut self) {}
}

/// All dies. See the [module](self).
#[derive(Clone)]
pub(crate) struct Striped<E> {
    dies: Vec<E>,
    /// For a die whose blocks are about to retire: a copy of the die, on which every write is tried first. So a
    /// write that fails changes nothing on the die itself.
    twins: Vec<Option<Box<E>>>,
    /// Operations that the copies of dies emit; they are dropped.
    unwanted: Operations,
    pages_per_block: Divider,
    over_dies: Divider,
    pages: u64,
    /// Maximum number of blocks of a die with an incomplete program unit.
    open_blocks: u32,
    /// The repairs of each die after a mount; empty before the first mount.
    recoveries: Vec<Recovery>,
}

archived!([E: Archived] Striped<E> { dies } fixed { twins, unwanted, pages_per_block, over_dies, pages, open_blocks, recoveries });

/// Builds a device whose dies have `logs` log blocks, `spare` spare blocks, and logical blocks for all other blocks.
/// `make` builds a die from its number and its number of logical blocks.
///
/// # Errors
/// [`BuildError::NoDataBlock`] or [`BuildError::TooManyPages`].
pub(crate) fn build<P, E: Die + 'static>(
    config: &FtlConfig<'_>,
    parameters: &P,
    logs: Option<u32>,
    spare: u32,
    make: impl Fn(&FtlConfig<'_>, &P, u32, u32) -> E,
) -> Built {
    let geometry = &config.geometry;
    let logical = logical_blocks(geometry.blocks_per_die(), logs, spare)?;
    let data_pages = geometry.data_pages();
    let pages = u64::from(logical) * u64::from(data_pages) * u64::from(geometry.dies);
    if pages >= u64::from(u32::MAX) {
        return Err(BuildError::TooManyPages { pages });
    }
    let make = |number| make(config, parameters, number, logical);
    Ok(Box::new(Striped {
        dies: (0..geometry.dies).map(make).collect(),
        twins: (0..geometry.dies).map(|_| None).collect(),
        unwanted: Operations::default(),
        pages_per_block: Divider::new(data_pages),
        over_dies: Divider::new(geometry.dies),
        pages,
        open_blocks: match E::TAKES_UNITS {
            true => most_open(config),
            false => 0,
        },
        recoveries: Vec::new(),
    }))
}

impl<E: Die> Striped<E> {
    /// Tries the write of `page` on the twin of `die`. Only if the write succeeds on the twin, it is repeated on
    /// `die`.
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
            has_merges: true,
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

    fn trim_all(&mut self, pages: Range<u64>, emit: &mut dyn FnMut(Range<u64>)) {
        let per_block = u64::from(self.pages_per_block.divisor());
        // For each die, whether its remaining pages are left to the caller, because a trim of one of them may emit
        // operations. All later pages of the die are left as well, so that the trims of a die keep their order.
        let mut stops: Vec<bool> = self.twins.iter().map(Option::is_some).collect();
        for number in pages.start / per_block..pages.end.div_ceil(per_block) {
            let (block, die) = self.over_dies.split(number as u32);
            let state = &mut self.dies[die as usize];
            let stops = &mut stops[die as usize];
            *stops |= !state.trims_freely(block);
            if *stops {
                continue;
            }
            let first = number * per_block;
            let of_block = first.max(pages.start)..(first + per_block).min(pages.end);
            if state.may_hold(block) {
                for page in of_block.clone() {
                    let offset = (page - first) as u32;
                    state.trim(LogicalPage { block, offset }, &mut self.unwanted);
                }
                debug_assert!(self.unwanted.all().is_empty(), "trims of block {block}");
            }
            emit(of_block);
        }
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

    /// Does nothing: merges are part of the write that needs them.
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

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
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
            die.blocks_mut().reset_wear();
        }
        self.twins.fill_with(|| None);
    }

    /// Before the first request, no page is trimmed, so the power matters only to program units.
    fn derived(&self) -> String {
        let mut dies = self.dies.iter();
        dies.any(|die| die.blocks().completes_units()).to_string()
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
