//! Page mapping with a cache of blocks whose cells hold one bit. Written pages go to the cache first. In idle
//! time, or when the cache is full, the pages are folded, that is, copied into blocks whose cells hold all their
//! bits.
//!
//! Folded data are placed as in `page`. One map covers the cache and the other blocks. Each die has a cache of its
//! own. The rules are ours (docs/SPEC.md, "pSLC cache"), since no manufacturer publishes the rules of its cache.

mod cache;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::parameter::Kind;
use destage_base::{Lpn, Ticks, choices, parameters};

use self::cache::Cache;
use super::page::PageFtl;
use super::page::parameters::{Greedy, PageConfig};
use super::upon_pages::left_to_pages;
use super::{BuildError, Ftl, FtlConfig, FtlRow, NoSpace, PageWrite, Properties};
use destage_nand::array::{Ppn, Wear};
use destage_nand::found::{Place, Scan};
use destage_nand::medium::Pools;
use destage_nand::operation::{Cause, Operations};

const OURS: &str = "ours";

choices! {
    /// Which blocks the cache uses.
    enum Size {
        /// Always the same blocks, in addition to the reserve.
        Static = "static",
        /// Free blocks that garbage collection does not need.
        Dynamic = "dynamic",
    }
}

choices! {
    /// What happens to a write if the cache is full.
    enum Full {
        /// The page bypasses the cache.
        Direct = "direct",
        /// The write waits until the oldest block of the cache is folded.
        Fold = "fold",
    }
}

parameters! {
    /// The parameters of `pslc`.
    struct Parameters {
        /// Share of the blocks of each die that are its cache, in addition to the reserve and as far as there is
        /// room. With cache_size=dynamic, it is the largest share. The figure ftl.cache_blocks is the number of
        /// blocks.
        cache_percent: f64 = "5" in Kind::Number { min: 0.0, max: 90.0 }, "%", OURS;
        /// Whether the cache has blocks of its own, or uses free blocks that garbage collection does not need.
        cache_size: Size = "static", "", OURS;
        /// Whether a write that finds the cache full bypasses it, or waits until the oldest block of the cache is
        /// folded.
        cache_full: Full = "direct", "", OURS;
        /// Whether full blocks of the cache are folded while no operation waits at their die, once
        /// cache_fold_percent of the cache is full.
        cache_fold_idle: bool = "true", "", OURS;
        /// Share of the cache in full blocks above which it is folded in idle time; 0: as soon as one block is
        /// full.
        cache_fold_percent: f64 = "75" in Kind::Number { min: 0.0, max: 100.0 }, "%", OURS, needs &["ftl.cache_fold_idle = true"];
        /// Number of pages that are folded at a time in idle time, before the die serves operations that arrived
        /// meanwhile.
        cache_fold_pages: u32 = "1" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "pages", OURS, needs &["ftl.cache_fold_idle = true"];
        greedy: Greedy;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "pslc",
    about: "Page mapping behind a cache of blocks with one bit a cell, folded into full cells when idle or full.",
    source: OURS,
    has_cell_modes: true,
    fills_blocks_in_turn: true,
    parameters: Parameters::ROWS,
    build: |config| Ok(Box::new(Pslc::new(config)?)),
    ..FtlRow::BLANK
};

/// The device. See the [module](self).
#[derive(Clone)]
struct Pslc {
    data: PageFtl,
    /// The cache of each die.
    caches: Vec<Cache>,
    full: Full,
    folds_idle: bool,
    fold_percent: f64,
    fold_pages: u32,
    page_bits: u32,
    /// If the power may fail, only garbage collection may use the last erased block of a die.
    power_may_fail: bool,
    /// Number of pages that were written to caches, that bypassed the caches, and that were folded.
    cached: u64,
    direct: u64,
    folded: u64,
}

archived!(Pslc { data, caches, cached, direct, folded } fixed { full, folds_idle, fold_percent, fold_pages, page_bits, power_may_fail });

impl Pslc {
    fn new(config: &FtlConfig<'_>) -> Result<Self, BuildError> {
        let parameters = Parameters::from_values(config.values);
        let greedy = &parameters.greedy;
        let geometry = config.geometry;
        let mut settings = PageConfig::greedy(config, greedy);
        // The whole die is one pool, so that the cache may use any of its blocks.
        settings.below.copy_back = false;
        let of_plane = f64::from(geometry.blocks_per_plane) * parameters.cache_percent / 100.0;
        // Even a small device has a cache of at least one block.
        let blocks = of_plane as u32 * geometry.planes;
        let blocks = blocks.max(u32::from(parameters.cache_percent > 0.0));
        let is_static = parameters.cache_size == Size::Static;
        if is_static {
            let of_die = f64::from(geometry.blocks_per_die());
            settings.room.reserve_percent += 100.0 * f64::from(blocks) / of_die;
        }
        if config.power_may_fail {
            // All blocks of a dynamic cache except the open one can be folded, so only one block is set aside.
            settings.room.aside = if is_static { blocks } else { 1 };
        }
        let mut data = PageFtl::new(&settings.with_migrations(&greedy.marks))?;
        let block_pages = (geometry.data_pages() / config.bits_per_cell).max(1);
        let caches = (0..geometry.dies as usize).map(|die| {
            let mut cache = Cache::new(geometry.blocks_per_die(), block_pages, blocks);
            if is_static {
                cache.take_all(data.die_mut(die));
            }
            cache
        });
        Ok(Self {
            caches: caches.collect(),
            data,
            full: parameters.cache_full,
            folds_idle: parameters.cache_fold_idle,
            fold_percent: parameters.cache_fold_percent,
            fold_pages: parameters.cache_fold_pages,
            page_bits: geometry.page_bits(),
            power_may_fail: config.power_may_fail,
            cached: 0,
            direct: 0,
            folded: 0,
        })
    }

    /// Among the operations from position `first` on, marks those on blocks of `die` with one bit per cell.
    fn tell_cells(&self, die: usize, first: usize, operations: &mut Operations) {
        let cache = &self.caches[die];
        operations.hold_one_bit(first, |Ppn(at)| cache.has(at >> self.page_bits));
    }

    /// Whether `die` needs garbage collection.
    fn is_short(&self, die: usize) -> bool {
        self.data.die(die).rest.needy > 0
    }

    /// Folds up to `most` pages of the oldest full block of the cache of `die`, counted under `cause`, and erases
    /// the block after its last page. Returns whether there was something to do.
    fn fold(
        &mut self,
        die: usize,
        most: u32,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let Self { data, caches, .. } = self;
        let state = data.die_mut(die);
        let cache = &mut caches[die];
        let Some(block) = cache.to_fold(state) else {
            return Ok(false);
        };
        let first = operations.all().len();
        let mut moved = 0;
        while moved < most && state.valid_of(block) > 0 {
            let from = (block, cache.folded_to);
            let Some(behind) = state.move_next(from, cause, operations)? else {
                break;
            };
            cache.folded_to = behind;
            moved += 1;
        }
        self.folded += u64::from(moved);
        let is_empty = state.valid_of(block) == 0;
        if is_empty && !state.is_worn(block) {
            state.finish_units(operations);
            operations.push_erase(cause, Ppn(block << self.page_bits));
        }
        self.tell_cells(die, first, operations);
        if is_empty {
            self.caches[die].give_back(self.data.die_mut(die));
        }
        Ok(true)
    }
}

impl Ftl for Pslc {
    left_to_pages!(
        pages,
        die_of,
        trim,
        trim_all,
        is_written,
        mapped,
        collects_before_writes,
        fill_unit,
        wear,
        retired,
        erases,
        reset_wear,
        map_bytes
    );

    fn properties(&self) -> Properties {
        Properties {
            works_when_idle: self.folds_idle,
            ..self.data.properties()
        }
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.peek(page, operations);
        Ok(())
    }

    fn peek(&self, page: Lpn, operations: &mut Operations) {
        let first = operations.all().len();
        self.data.peek(page, operations);
        let (die, _) = self.data.locate(page);
        self.tell_cells(die, first, operations);
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        let (die, within) = self.data.locate(write.page);
        let state = self.data.die_mut(die);
        let Some((block, place)) = self.caches[die].next(state) else {
            self.data.write(write, operations)?;
            self.direct += 1;
            return Ok(());
        };
        let first = operations.all().len();
        operations.set_page(write.page);
        state.write_in(block, place, within, write.cause, operations);
        self.cached += 1;
        self.tell_cells(die, first, operations);
        Ok(())
    }

    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let at = die as usize;
        let is_short = self.is_short(at);
        let makes_way = self.full == Full::Fold && self.caches[at].is_full(self.data.die(at));
        let may_fold = !(self.power_may_fail && is_short);
        // Folding is done before other garbage collection, for two reasons. A block of the cache has fewer pages to move
        // than any other block. And the blocks of a dynamic cache are missing among the free blocks.
        if (makes_way && may_fold || is_short && self.caches[at].is_dynamic())
            && self.fold(at, u32::MAX, Cause::Copy, operations)?
        {
            return Ok(true);
        }
        self.data.collect_garbage(die, now, operations)
    }

    fn work_idle(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        if self.power_may_fail && self.is_short(die as usize) {
            return Ok(false);
        }
        let at = die as usize;
        // A page that is rewritten while it is in the cache need not be folded, and a write that arrives during
        // folding has to wait. So folding begins only when enough of the cache is full.
        if self.caches[at].full_percent(self.data.die(at)) <= self.fold_percent {
            return Ok(false);
        }
        self.fold(at, self.fold_pages, Cause::Copy, operations)
    }

    /// A mount gives erased blocks to a static cache first.
    fn pools(&self) -> Pools {
        let pools = self.data.pools();
        let is_static = |cache: &&Cache| !cache.is_dynamic();
        let cache = self.caches.first().filter(is_static);
        Pools {
            least_erased: pools.least_erased + cache.map_or(0, Cache::most_blocks),
            ..pools
        }
    }

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        let caches = &mut self.caches;
        self.data.take_over(scan, take, &mut |die, state, found| {
            let cache = &mut caches[die];
            cache.take_over(state, found);
            cache.is_dynamic() && cache.to_fold(state).is_some()
        });
    }

    /// Gives a static cache the blocks that it lacks. Folds a block of a dynamic cache if free blocks are short,
    /// since garbage collection would also fold first.
    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let at = die as usize;
        let dead = self.data.die(at).dead(0);
        let cache = &mut self.caches[at];
        if let Some(dead) = dead.filter(|_| cache.lacks_blocks()) {
            operations.push_erase(Cause::Mount, Ppn(dead << self.page_bits));
            self.data.die_mut(at).erase_keeping(dead, 0);
            cache.own_erased(dead);
            return Ok(true);
        }
        if dead.is_none()
            && cache.is_dynamic()
            && self.is_short(at)
            && self.fold(at, u32::MAX, Cause::Mount, operations)?
        {
            self.folded = 0;
            return Ok(true);
        }
        self.data.mount_step(die, operations)
    }

    /// Before the first request, the power matters only where a write waits until a block is folded.
    fn derived(&self) -> String {
        let power = self.power_may_fail && self.full == Full::Fold;
        let blocks: Vec<u32> = self.caches.iter().map(Cache::most_blocks).collect();
        format!("{} {power} {blocks:?}", self.data.derived())
    }

    fn reset_figures(&mut self) {
        (self.cached, self.direct, self.folded) = (0, 0, 0);
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let blocks = self.caches.iter().map(Cache::blocks).sum::<u32>();
        emit("cache_blocks", f64::from(blocks));
        emit("cache_programs", self.cached as f64);
        emit("cache_bypassed", self.direct as f64);
        emit("cache_folded", self.folded as f64);
    }
}
