//! `page`: page mapping with logical pages striped over dies, and garbage collection.
//!
//! The layer follows the timing and placement model of Agrawal et al. (USENIX ATC 2008), as their released
//! simulator implements it. Logical pages are striped over dies. Within a die, a write goes to the plane with the
//! most free pages. Garbage collection visits the planes in rotation, and collects the block with the fewest valid
//! pages.
//!
//! Simulation cost: O(planes) and two table look-ups per page write; O(blocks per plane / 64 + pages moved) per
//! garbage collection.

pub(super) mod die;
mod figures;
mod free;
mod gc;
mod greedy_wear;
mod levelling;
mod mount;
pub(super) mod parameters;
mod placement;
mod shape;
mod stripe;
#[cfg(test)]
mod tests;
mod victims;
mod wear_aware;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;
use core::ops::Range;

use destage_base::archived;
use destage_base::{Lpn, Ticks};

use self::die::{Die, Stream};
use self::gc::{Rules, collect_die, collect_pools, collect_step};
pub(super) use self::parameters::ROW;
pub use self::parameters::{AllocationPool, PageConfig};
use self::placement::Placement;
use self::shape::NONE;
use self::stripe::Stripe;
use super::{BuildError, Ftl, NoSpace, PageWrite, Properties};
use destage_nand::array::{Ppn, Wear};
use destage_nand::batch::{Batch, Entry};
use destage_nand::found::{Place, Scan};
use destage_nand::medium::Pools;
use destage_nand::operation::{Cause, Operations};

/// The page-mapped device. See the [module](self).
#[derive(Clone)]
pub struct PageFtl {
    dies: Vec<Die>,
    /// Per die and parallel unit: the plane (within the unit) at which garbage collection begins its search.
    gc_pointers: Vec<Vec<u32>>,
    stripe: Stripe,
    /// The die of each page, if it does not follow from the number of the page.
    placement: Option<Placement>,
    pages: u64,
    units: u32,
    /// No write chooses its die, belongs to a stream or is noted in a journal.
    is_plain: bool,
    /// [`Die::overwrite`] is tried first for each write.
    overwrites: bool,
    config: PageConfig,
    scratch: Scratch,
}

archived!(PageFtl { dies, gc_pointers, placement } fixed { stripe, pages, units, is_plain, overwrites, config, scratch });

/// Lists of [`PageFtl::serve`], kept so that a batch does not allocate.
#[derive(Clone, Default)]
struct Scratch {
    given: Vec<u32>,
    chosen: Vec<usize>,
    queues: Vec<Vec<(usize, usize)>>,
}

impl PageFtl {
    /// A device in the state that its configuration describes.
    ///
    /// # Errors
    /// [`BuildError`] if the parameters do not fit together.
    pub fn new(config: &PageConfig) -> Result<Self, BuildError> {
        let geometry = config.below.geometry;
        config.check_floor()?;
        let shape = config.layout(0)?.shape;
        let units = if config.below.copy_back {
            config.below.parallel_units
        } else {
            1
        };
        if units == 0 || !geometry.planes.is_multiple_of(units) {
            let planes = geometry.planes;
            return Err(BuildError::ParallelUnits { units, planes });
        }
        // A stripe consists of runs of `stride` pages. The pages of a die after its last whole run are not
        // offered.
        let pages_of_die = shape.pages() - shape.pages() % config.stride;
        if pages_of_die == 0 {
            return Err(BuildError::Stride {
                stride: config.stride,
                pages: shape.pages(),
            });
        }
        let pages = u64::from(pages_of_die) * u64::from(geometry.dies);
        if pages >= u64::from(u32::MAX) {
            return Err(BuildError::TooManyPages { pages });
        }
        let dies: Vec<Die> = (0..geometry.dies)
            .map(|number| Ok(Die::new(&geometry, &config.layout(number)?)))
            .collect::<Result<_, BuildError>>()?;
        let is_plain = !config.dynamic && !config.sorts_writes();
        Ok(Self {
            overwrites: is_plain
                && config.room.allocation_pool != AllocationPool::Plane
                && !dies.iter().any(Die::limits_pools),
            is_plain,
            dies,
            gc_pointers: vec![vec![0; units as usize]; geometry.dies as usize],
            stripe: Stripe::new(geometry.dies, config.stride),
            placement: match config.dynamic {
                true => Some(Placement::new(
                    geometry.dies,
                    shape.pages(),
                    config.most_pages()?,
                    config.below.filled,
                )),
                false => None,
            },
            pages,
            units,
            config: *config,
            scratch: Scratch::default(),
        })
    }

    /// Die `die`, for a layer that is built on this one.
    pub(super) fn die(&self, die: usize) -> &Die {
        &self.dies[die]
    }

    /// Die `die`, to be changed by a layer that is built on this one.
    pub(super) fn die_mut(&mut self, die: usize) -> &mut Die {
        &mut self.dies[die]
    }

    /// The planes at which garbage collection of a die begins its search.
    pub(super) fn gc_pointers(&self, die: usize) -> Vec<u32> {
        self.gc_pointers[die].clone()
    }

    /// Restores the state that [`PageFtl::gc_pointers`] returned.
    pub(super) fn set_gc_pointers(&mut self, die: usize, pointers: Vec<u32>) {
        self.gc_pointers[die] = pointers;
    }

    /// The die with the newest copy of `page`, and the number of `page` in that die.
    #[inline]
    pub(super) fn locate(&self, page: Lpn) -> (usize, u32) {
        let page = page.0 as u32;
        if let Some(placement) = &self.placement {
            let die = placement.home(page);
            return (die.unwrap_or_else(|| placement.die_of(page)) as usize, page);
        }
        let (within, die) = self.stripe.split(page);
        (die as usize, within)
    }

    /// The die at which a write of `page` waits, if placement has chosen that die.
    pub(super) fn is_coming(&self, page: Lpn) -> Option<u32> {
        self.placement.as_ref()?.is_coming(page.0 as u32)
    }

    /// Whether a write of `page` may be placed at `die`.
    pub(super) fn may_receive(&self, page: Lpn, die: u32) -> bool {
        let placement = self.placement.as_ref();
        placement.is_none_or(|placement| placement.may_receive(page.0 as u32, die))
    }

    /// The number of `page` in the die that holds it.
    fn number_in_die(&self, page: Lpn) -> u32 {
        match self.placement {
            Some(_) => page.0 as u32,
            None => self.stripe.split(page.0 as u32).0,
        }
    }

    /// Writes page `within` of `die` to the stream of the host.
    #[inline(never)]
    fn write_to(
        &mut self,
        die: usize,
        within: u32,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let die = &mut self.dies[die];
        let same_plane = self.config.room.allocation_pool == AllocationPool::Plane;
        let old = die.old_copy(within);
        if old.is_none() && !same_plane && die.write_first(within, cause, operations) {
            operations.set_tidy(die.rest.needy == 0);
            return Ok(());
        }
        let pool = die.next_pool(within, old, same_plane);
        match die.write(pool, within, old, cause, operations) {
            Ok(_) => {
                operations.set_tidy(die.rest.needy == 0);
                Ok(())
            }
            Err(full) => {
                die.search.pointer = die.search.before;
                Err(full)
            }
        }
    }

    /// Writes a page on a device that does not try [`Die::overwrite`] first.
    #[inline(never)]
    fn write_by_rules(
        &mut self,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        if self.placement.is_some() {
            return self.write_placed(write, operations);
        }
        let (die, within) = self.locate(write.page);
        if self.is_plain || !write.has_stream {
            return self.write_to(die, within, write.cause, operations);
        }
        let stream = self.dies[die].stream_of_write(within);
        self.write_to_stream_at(die, (within, stream), write.cause, operations)
    }

    /// Writes page `page.0` of `die` to the blocks of stream `page.1`, and notes the change in the journal if
    /// there is one.
    fn write_to_stream_at(
        &mut self,
        die: usize,
        page: (u32, Stream),
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let same_plane = self.config.room.allocation_pool == AllocationPool::Plane;
        let die = &mut self.dies[die];
        die.write_to_stream(page, same_plane, cause, operations)?;
        if let Some(journal) = &mut die.extras.journal {
            journal.begin();
            die.note_change();
            die.write_journal(same_plane, operations);
        }
        operations.set_tidy(die.rest.needy == 0);
        Ok(())
    }

    /// If pages move between dies: the die that stores the placement handle of `page`.
    fn keeper_of(&self, page: u32) -> usize {
        page as usize % self.dies.len()
    }

    /// The stream of a write of `page` at `die`, the die that placement has chosen. Also notes the handle of the
    /// page at `die`. The page is hot if the die that holds its copy has served few writes since the last write of
    /// the page.
    fn stream_of_placed(&mut self, die: usize, page: u32) -> Stream {
        let keeper = self.keeper_of(page);
        let home = self
            .placement
            .as_ref()
            .and_then(|placement| placement.home(page));
        let streams = |die: usize| self.dies[die].extras.streams.as_ref();
        let is_hot = home
            .and_then(|home| streams(home as usize))
            .is_some_and(|streams| streams.is_hot(page));
        let handle = streams(keeper).map_or(0, |streams| streams.handle(page));
        match &mut self.dies[die].extras.streams {
            Some(streams) => {
                streams.hint(page, handle);
                streams.of_write(handle, is_hot)
            }
            None => Stream::Host,
        }
    }

    /// Writes a page to the die that placement chose; the old copy on another die becomes invalid.
    #[inline(never)]
    fn write_placed(
        &mut self,
        write: PageWrite,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        let number = write.page.0 as u32;
        let Some(placement) = &mut self.placement else {
            return Ok(());
        };
        let (die, undo) = placement.destination(number);
        let die = die as usize;
        let has_stream = self.config.sorts_writes() && write.has_stream;
        let written = match has_stream {
            true => {
                let stream = self.stream_of_placed(die, number);
                self.write_to_stream_at(die, (number, stream), write.cause, operations)
            }
            false => self.write_to(die, number, write.cause, operations),
        };
        let Some(placement) = &mut self.placement else {
            return written;
        };
        match written {
            Ok(()) => {
                if let Some(left) = placement.arrive(number) {
                    let old = &mut self.dies[left as usize];
                    if let Some(block) = old.block_of(number) {
                        operations.leave(left, block);
                    }
                    // The journal of the die with the old copy is written with the next step of that die.
                    old.forget(number);
                    old.note_change();
                }
            }
            Err(_) => placement.withdraw(number, undo),
        }
        written
    }
}

impl Ftl for PageFtl {
    fn properties(&self) -> Properties {
        Properties {
            collects_in_background: self.config.gc.in_background,
            parallel_units: self.units,
            places_writes: self.placement.is_some(),
            goes_round: self.placement.is_none() && self.config.stride == 1,
            open_blocks: match self.units {
                1 => self.dies[0].pools.len() as u32 * (1 + self.config.separation.further_host()),
                _ => 0,
            },
            gc_steps: match self.config.gc.step_pages {
                0 => 1,
                pages => self.config.below.geometry.data_pages().div_ceil(pages) + 1,
            },
            stride: match self.placement {
                None => self.config.stride,
                Some(_) => 1,
            },
            handles: self.config.separation.handles,
            ..Properties::default()
        }
    }

    fn pages(&self) -> u64 {
        self.pages
    }

    #[inline]
    fn die_of(&self, page: Lpn) -> u32 {
        match &self.placement {
            None => self.stripe.split(page.0 as u32).1,
            Some(placement) => placement.die_of(page.0 as u32),
        }
    }

    fn home_of(&self, page: Lpn) -> u32 {
        self.locate(page).0 as u32
    }

    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        match &mut self.placement {
            None => self.die_of(page),
            Some(placement) => placement.place(page.0 as u32, load),
        }
    }

    fn place_behind(&mut self, page: Lpn, die: u32) {
        if let Some(placement) = &mut self.placement {
            placement.place_behind(page.0 as u32, die);
        }
    }

    #[inline]
    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_page(page);
        let (die, within) = self.locate(page);
        let die = &self.dies[die];
        die.read(within, operations);
        operations.set_tidy(die.rest.needy == 0);
        Ok(())
    }

    #[inline]
    fn peek(&self, page: Lpn, operations: &mut Operations) {
        operations.set_page(page);
        let (die, within) = self.locate(page);
        self.dies[die].read(within, operations);
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_page(write.page);
        if !self.overwrites {
            return self.write_by_rules(write, operations);
        }
        let (within, number) = self.stripe.split(write.page.0 as u32);
        let die = &mut self.dies[number as usize];
        if die.overwrite(within, write.cause, operations) {
            operations.set_tidy(die.rest.needy == 0);
            return Ok(());
        }
        self.write_to(number as usize, within, write.cause, operations)
    }

    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        let (die, within) = self.locate(page);
        let die = &mut self.dies[die];
        let is_change = die.forget(within);
        if is_change && die.extras.journal.is_some() {
            let same_plane = self.config.room.allocation_pool == AllocationPool::Plane;
            operations.set_page(page);
            die.note_change();
            die.write_journal(same_plane, operations);
        }
        operations.set_tidy(die.rest.needy == 0);
        if let Some(placement) = &mut self.placement {
            placement.forget(within);
        }
        Ok(())
    }

    /// A layer with a journal trims no page here, because each of its trims may program a page of the journal.
    fn trim_all(&mut self, pages: Range<u64>, emit: &mut dyn FnMut(Range<u64>)) {
        if self.dies.iter().any(|die| die.extras.journal.is_some()) {
            return;
        }
        for (number, die) in (0..).zip(&mut self.dies) {
            die.forget_all(match self.placement {
                // In this case, each die numbers the pages as the device does.
                Some(_) => pages.start as u32..pages.end as u32,
                None => self.stripe.range_of(&pages, number),
            });
        }
        if let Some(placement) = &mut self.placement {
            placement.forget_all(pages.start as usize..pages.end as usize);
        }
        emit(pages);
    }

    fn bring_near(&self, pages: &[Lpn]) {
        if self.placement.is_some() {
            return;
        }
        // No look-up depends on another, so the memory fetches many entries in parallel.
        let looks = pages.iter().map(|page| {
            let (within, die) = self.stripe.split(page.0 as u32);
            self.dies[die as usize].map.touched_at(within as usize)
        });
        black_box(looks.fold(0, |sum, found| sum ^ found.unwrap_or_default()));
    }

    fn is_written(&self, page: Lpn) -> bool {
        let (die, within) = self.locate(page);
        self.dies[die].map.get(within as usize) != NONE
    }

    fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        if let Some(placement) = &self.placement {
            return placement.placed(pages.start as u32..pages.end as u32, emit);
        }
        let rows = self.stripe.rows(&pages);
        for (number, die) in (0..).zip(&self.dies) {
            die.mapped(rows.clone(), &mut |within| {
                let page = self.stripe.join(within, number);
                if pages.contains(&page) {
                    emit(Lpn(page));
                }
            });
        }
    }

    #[inline]
    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        // This method is called before every operation, and almost always there is nothing to do.
        if self.dies[die as usize].rest.needy == 0 {
            return Ok(false);
        }
        let rules = Rules {
            policy: self.config.gc.policy,
            migrates: self.config.gc.migrates_worn(),
            erase_dates: &self.config.below.erase_dates,
            now,
        };
        let state = &mut self.dies[die as usize];
        let pointers = &mut self.gc_pointers[die as usize];
        let collected = if self.config.gc.step_pages > 0 {
            let (pointer, most) = (&mut pointers[0], self.config.gc.step_pages);
            collect_step(state, pointer, most, &rules, operations)
        } else if !self.config.collects_by_snapshot() {
            collect_pools(state, pointers, &rules, operations)
        } else {
            collect_die(state, &rules, operations)
        };
        if state.extras.journal.is_some() && collected.is_ok() {
            let same_plane = self.config.room.allocation_pool == AllocationPool::Plane;
            state.write_journal(same_plane, operations);
        }
        collected
    }

    fn hint(&mut self, page: Lpn, handle: u32) {
        let (die, within) = match self.placement {
            Some(_) => (self.keeper_of(page.0 as u32), page.0 as u32),
            None => self.locate(page),
        };
        if let Some(streams) = &mut self.dies[die].extras.streams {
            streams.hint(within, handle);
        }
    }

    fn collects_before_writes(&self, die: u32) -> bool {
        self.dies[die as usize].is_short()
    }

    fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        self.dies[die as usize].fill_unit(at, unit_pages, operations);
    }

    fn pools(&self) -> Pools {
        Pools {
            per_die: self.dies.first().map_or(1, |die| die.pools.len() as u32),
            ..Pools::DIES
        }
    }

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        self.take_over(scan, take, &mut |_, _, _| false);
    }

    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        Ok(self.dies[die as usize].mount_step(operations))
    }

    fn wear(&self) -> Wear {
        self.dies
            .iter()
            .map(|die| die.nand.wear())
            .fold(Wear::default(), Wear::and)
    }

    fn retired(&self) -> u64 {
        self.dies.iter().map(|die| u64::from(die.retired())).sum()
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        for (die, state) in self.dies.iter().enumerate() {
            for (block, erases) in state.nand.erases().enumerate() {
                emit(die as u32, block as u32, erases);
            }
        }
    }

    fn reset_wear(&mut self) {
        for die in &mut self.dies {
            die.reset_wear();
        }
    }

    fn map_pages(&self) -> u64 {
        let shape = self.dies.iter().map(|die| die.shape);
        let full = shape.filter(|shape| shape.filled);
        full.map(|shape| u64::from(shape.map_pages)).sum()
    }

    fn derived(&self) -> String {
        self.config.derived()
    }

    fn reset_figures(&mut self) {
        for streams in self
            .dies
            .iter_mut()
            .filter_map(|die| die.extras.streams.as_mut())
        {
            streams.reset_counts();
        }
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        figures::report(&self.dies, self.config.separation, emit);
    }

    fn map_bytes(&self) -> u64 {
        4 * self.pages
    }

    fn serve(
        &mut self,
        die: u32,
        reads: &[Lpn],
        writes: &[(Lpn, Cause)],
        batch: &mut Batch,
        operations: &mut Operations,
    ) -> Result<usize, NoSpace> {
        let planes_per_unit = (self.config.below.geometry.planes / self.units) as usize;
        let same_plane = self.config.room.allocation_pool == AllocationPool::Plane;
        let stripe = self.stripe;
        let state = &mut self.dies[die as usize];
        let Scratch {
            given,
            chosen,
            queues,
        } = &mut self.scratch;
        queues.resize_with(self.units as usize, Vec::new);
        batch.entries.clear();

        // First, a plane is chosen for every write from the state before the batch. Then all pages are written.
        given.clear();
        given.resize(state.pools.len(), 0);
        chosen.clear();
        let pointer = state.search.pointer;
        for (index, (page, _)) in writes.iter().enumerate() {
            let within = stripe.split(page.0 as u32).0;
            let old = state.old_copy(within);
            let plane = state.choose_pool(within, old, same_plane, |pool| given[pool]);
            if index == 0 && !state.has_room(plane, Stream::Host) {
                state.search.pointer = pointer;
                return Err(state.exhausted(plane));
            }
            if index > 0 && given[plane] >= state.pages_left(plane) {
                break;
            }
            given[plane] += 1;
            chosen.push(plane);
        }

        for (index, page) in reads.iter().enumerate() {
            let within = stripe.split(page.0 as u32).0;
            // A page without contents has no plane, so the first unit transfers zeros for this page.
            let plane = state
                .old_copy(within)
                .map_or(0, |old| state.plane_of(old.block));
            queues[plane as usize / planes_per_unit].push((index, plane as usize));
            operations.set_page(*page);
            if !state.read(within, operations) {
                operations.push_read_of_zeros();
            }
        }
        in_rounds(queues, |index, _, starts_round| {
            batch.entries.push(Entry {
                index,
                write: false,
                starts_round,
                seals: false,
            });
            Ok(())
        })?;

        for (index, plane) in chosen.iter().enumerate() {
            queues[plane / planes_per_unit].push((index, *plane));
        }
        in_rounds(queues, |index, plane, starts_round| {
            let (page, cause) = writes[index];
            let within = stripe.split(page.0 as u32).0;
            operations.set_page(page);
            let old = state.old_copy(within);
            let seals = state.write(plane, within, old, cause, operations)?;
            batch.entries.push(Entry {
                index,
                write: true,
                starts_round,
                seals,
            });
            Ok(())
        })?;
        Ok(chosen.len())
    }
}

/// Empties `queues` (one per parallel unit) in rounds: in each round, `give` receives the next entry of every
/// queue that has entries left.
fn in_rounds(
    queues: &mut [Vec<(usize, usize)>],
    mut give: impl FnMut(usize, usize, bool) -> Result<(), NoSpace>,
) -> Result<(), NoSpace> {
    let rounds = queues.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..rounds {
        let mut starts_round = true;
        for queue in queues.iter() {
            if let Some((index, plane)) = queue.get(round) {
                give(*index, *plane, starts_round)?;
                starts_round = false;
            }
        }
    }
    queues.iter_mut().for_each(Vec::clear);
    Ok(())
}
