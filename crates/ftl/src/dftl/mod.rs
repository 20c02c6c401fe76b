//! Page mapping with the map in flash; only the mappings in use are in RAM.
//!
//! Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of
//! page-level address mappings", ASPLOS 2009. Data pages are placed as in `page`. Pages of the map are written to
//! blocks of their own and are found through a directory in RAM. Garbage collection moves them like data pages.

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
use super::page::parameters::{AllocationPool, Greedy, PageConfig};
use super::upon_pages::left_to_pages;
use super::{BuildError, Ftl, FtlConfig, FtlRow, NoSpace, PageWrite, Properties};
use destage_nand::array::{Ppn, Wear};
use destage_nand::found::{Place, Scan};
use destage_nand::medium::Pools;
use destage_nand::operation::Operations;

const SOURCE: &str = "Gupta et al., ASPLOS 2009.";
const OURS: &str = "ours";

choices! {
    /// Values of `cmt_policy`.
    enum CachePolicy {
        Slru = "slru",
        Lru = "lru",
    }
}

parameters! {
    /// The parameters of `dftl`.
    struct Parameters {
        /// Number of mappings in RAM, divided evenly among the dies; each die has at least one.
        cmt_entries: u32 = "8192" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "mappings", OURS;
        /// Which mapping is evicted from RAM. slru: the least recently used of those that were used once; half of
        /// RAM is kept for mappings that were used again. lru: the least recently used of all.
        cmt_policy: CachePolicy = "slru", "", SOURCE;
        /// Whether the eviction of a changed mapping writes all changed mappings of the same map page.
        batch_update: bool = "true", "", SOURCE;
        /// Number of mappings in a page of the map; 0: as many mappings of 4 bytes as fit.
        mappings_per_page: u32 = "0" in Kind::Integer { min: 0, max: 1 << 20 }, "mappings", SOURCE;
        greedy: Greedy;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "dftl",
    about: "Page mapping with the map in flash and the mappings in use in RAM; greedy garbage collection.",
    source: SOURCE,
    fills_blocks_in_turn: true,
    parameters: Parameters::ROWS,
    build: |config| Ok(Box::new(Dftl::new(config)?)),
    ..FtlRow::BLANK
};

/// The device. See the [module](self).
#[derive(Clone)]
struct Dftl {
    data: PageFtl,
    /// The cached mappings of each die.
    caches: Vec<Cache>,
    batch_update: bool,
    same_plane: bool,
    map_pages: u64,
    cmt_entries: u64,
    hits: u64,
    misses: u64,
    scratch: Vec<u32>,
}

archived!(Dftl { data, caches, hits, misses } fixed { batch_update, same_plane, map_pages, cmt_entries, scratch });

impl Dftl {
    fn new(config: &FtlConfig<'_>) -> Result<Self, BuildError> {
        let parameters = Parameters::from_values(config.values);
        let greedy = &parameters.greedy;
        let geometry = config.geometry;
        let mappings = match parameters.mappings_per_page {
            0 => (geometry.page_bytes / 4) as u32,
            given => given,
        };
        let settings = PageConfig {
            mappings_per_page: Some(mappings),
            ..PageConfig::greedy(config, greedy)
        };
        let data = PageFtl::new(&settings.with_migrations(&greedy.marks))?;
        let pages = (data.pages() / u64::from(geometry.dies)) as u32;
        let entries = parameters.cmt_entries;
        let segments = parameters.cmt_policy == CachePolicy::Slru;
        let share = |die: u32| {
            let more = u32::from(die < entries % geometry.dies);
            (entries / geometry.dies + more).max(1)
        };
        Ok(Self {
            data,
            caches: (0..geometry.dies)
                .map(|die| Cache::new(share(die), pages, mappings, segments))
                .collect(),
            batch_update: parameters.batch_update,
            same_plane: settings.room.allocation_pool == AllocationPool::Plane,
            map_pages: u64::from(pages.div_ceil(mappings)) * u64::from(geometry.dies),
            cmt_entries: u64::from(entries.max(geometry.dies)),
            hits: 0,
            misses: 0,
            scratch: Vec::new(),
        })
    }

    /// Brings the mapping of `page` of `die` into RAM. A call that fails has changed nothing.
    fn look_up(
        &mut self,
        die: usize,
        page: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let cache = &mut self.caches[die];
        if cache.touch(page) {
            self.hits += 1;
            return Ok(());
        }
        if let Some((leaving, dirty)) = cache.leaving() {
            if dirty {
                self.write_back(die, leaving, operations)?;
            }
            self.caches[die].remove(leaving);
        }
        self.misses += 1;
        let cache = &mut self.caches[die];
        let map_page = cache.map_page(page);
        self.data.die_mut(die).read_map(map_page, operations);
        cache.insert(page);
        Ok(())
    }

    /// Writes the changed mapping of `page`; with `batch_update`, also the other changed mappings of its map
    /// page.
    fn write_back(
        &mut self,
        die: usize,
        page: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let map_page = self.caches[die].map_page(page);
        self.rewrite(die, map_page, operations)?;
        if self.batch_update {
            self.caches[die].collect_all(map_page);
        } else {
            self.caches[die].clean(page);
        }
        Ok(())
    }

    /// Reads a page of the map, if it was ever written, and writes it again. A call that fails has changed
    /// nothing.
    fn rewrite(
        &mut self,
        die: usize,
        map_page: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let same_plane = self.same_plane;
        let state = self.data.die_mut(die);
        let mark = operations.mark();
        state.read_map(map_page, operations);
        let written = state.write_map(map_page, same_plane, operations);
        if written.is_err() {
            operations.go_back(mark);
        }
        written
    }

    /// Whether one more step on `die` may find no free block.
    fn is_short(&self, die: usize) -> bool {
        self.data.die(die).fewest_free() < BLOCKS_OF_A_STEP
    }

    /// Does `step`, which works on `die`, and undoes it if it fails.
    #[cold]
    fn attempt<T>(
        &mut self,
        die: usize,
        operations: &mut Operations,
        step: impl FnOnce(&mut Self, &mut Operations) -> Result<T, NoSpace>,
    ) -> Result<T, NoSpace> {
        let before = (self.data.die(die).clone(), self.caches[die].clone());
        let (pointers, hits, misses) = (self.data.gc_pointers(die), self.hits, self.misses);
        let mark = operations.mark();
        let done = step(self, operations);
        if done.is_err() {
            (*self.data.die_mut(die), self.caches[die]) = before;
            self.data.set_gc_pointers(die, pointers);
            (self.hits, self.misses) = (hits, misses);
            operations.go_back(mark);
        }
        done
    }

    /// Collects the garbage that is due on `die`, and brings the mapping of `page` into RAM. A read or a trim
    /// needs this, because it may write a page of the map. A call that fails has changed nothing.
    fn prepare(
        &mut self,
        die: usize,
        page: u32,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let mut is_first = true;
        while !self.is_short(die) {
            // With this many free blocks the collection cannot fail, and it leaves at least one free block.
            if !self.collect_within(die, operations)? {
                return self.look_up(die, page, operations);
            }
            is_first = false;
        }
        let done = self.attempt(die, operations, |layer, operations| {
            while layer.collect_within(die, operations)? {}
            layer.look_up(die, page, operations)
        });
        if done.is_err() && !is_first {
            // A block was collected and is free, so a page of the map can be written.
            return self.look_up(die, page, operations);
        }
        done
    }

    /// [`Dftl::collect_step`] as a part of a read or a trim, and noted as such.
    fn collect_within(&mut self, die: usize, operations: &mut Operations) -> Result<bool, NoSpace> {
        let first = operations.all().len();
        let has_collected = self.collect_step(die, 0, operations)?;
        if has_collected {
            operations.push_collection(first);
        }
        Ok(has_collected)
    }

    /// Does one step of garbage collection, and updates the map for the pages that it moved.
    fn collect_step(
        &mut self,
        die: usize,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        if !self.data.collect_garbage(die as u32, now, operations)? {
            return Ok(false);
        }
        let Some(migrated) = self.data.die_mut(die).extras.migrated.as_mut() else {
            return Ok(true);
        };
        let mut map_pages = core::mem::take(&mut self.scratch);
        core::mem::swap(migrated, &mut map_pages);
        // A mapping that is in RAM is changed in RAM. The other mappings are grouped by map page, and each map
        // page is written once.
        let cache = &mut self.caches[die];
        map_pages.retain(|page| !cache.change(*page));
        map_pages
            .iter_mut()
            .for_each(|page| *page = cache.map_page(*page));
        map_pages.sort_unstable();
        map_pages.dedup();
        let written = map_pages
            .iter()
            .try_for_each(|map_page| self.rewrite(die, *map_page, operations));
        map_pages.clear();
        self.scratch = map_pages;
        written.map(|()| true)
    }

    /// Writes `write.page`, which is page `within` of `die`.
    fn write_to(
        &mut self,
        (die, within): (usize, u32),
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        self.look_up(die, within, operations)?;
        self.data.write(write, operations)?;
        self.caches[die].change(within);
        Ok(())
    }
}

/// Maximum number of blocks that a step opens before it frees one: one block for the copies of the step, and two
/// for the map.
const BLOCKS_OF_A_STEP: u32 = 3;

impl Ftl for Dftl {
    left_to_pages!(
        pages, die_of, peek, is_written, mapped, fill_unit, pools, mount_step, wear, retired,
        erases, reset_wear
    );

    fn properties(&self) -> Properties {
        self.data.properties()
    }

    fn only_reads(&self, page: Lpn) -> bool {
        let (die, within) = self.data.locate(page);
        let cache = &self.caches[die];
        let writes_back = cache.leaving().is_some_and(|(_, is_dirty)| is_dirty);
        self.data.die(die).rest.needy == 0 && (cache.has(within) || !writes_back)
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        let (die, within) = self.data.locate(page);
        self.prepare(die, within, operations)?;
        self.data.read(page, operations)
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        let place = self.data.locate(write.page);
        if self.is_short(place.0) {
            return self.attempt(place.0, operations, |layer, operations| {
                layer.write_to(place, write, operations)
            });
        }
        self.write_to(place, write, operations)
    }

    /// Changes the mapping, if the page has contents.
    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        if !self.data.is_written(page) {
            return self.data.trim(page, operations);
        }
        let (die, within) = self.data.locate(page);
        self.prepare(die, within, operations)?;
        self.data.trim(page, operations)?;
        self.caches[die].change(within);
        Ok(())
    }

    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let die = die as usize;
        if self.data.die(die).rest.needy > 0 && self.is_short(die) {
            return self.attempt(die, operations, |layer, operations| {
                layer.collect_step(die, now, operations)
            });
        }
        self.collect_step(die, now, operations)
    }

    /// A mount does not use the pages of the map that are on flash. A page of the map is written again when its
    /// mappings change.
    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        self.data.mount(scan, take);
    }

    fn map_pages(&self) -> u64 {
        self.data.map_pages()
    }

    fn derived(&self) -> String {
        let mappings: Vec<(usize, usize)> = self.caches.iter().map(Cache::most_mappings).collect();
        format!("{} {mappings:?}", self.data.derived())
    }

    fn reset_figures(&mut self) {
        self.hits = 0;
        self.misses = 0;
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let all = self.hits + self.misses;
        if all > 0 {
            emit("cmt_hit_ratio", self.hits as f64 / all as f64);
        }
    }

    /// 4 bytes for each map page in the directory, and 8 bytes for each mapping in RAM: the logical and the
    /// physical page number.
    fn map_bytes(&self) -> u64 {
        4 * self.map_pages + 8 * self.cmt_entries
    }
}
