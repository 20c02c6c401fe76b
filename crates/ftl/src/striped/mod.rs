//! Superblocks over all dies and planes: the mapping that present-day drives use.
//!
//! A superblock consists of one block of each plane of each die. Written pages fill an open superblock unit by
//! unit, each unit on the die with the fewest waiting operations. Pages that garbage collection moves fill another
//! superblock. By default (`gc_pace = even`), garbage collection keeps pace with writes: it moves as many pages as
//! are needed to keep the room in free and open superblocks constant.
//!
//! Simulation cost: a few look-ups for each page, O(dies) for each unit, O(superblocks / 64) for each collection,
//! and one look-up for each flash page of a collected superblock.

mod collect;
mod mount;
mod rows;
mod shape;
mod stream;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::lazy::{CHUNK, LazyTable, Same, parts};
use destage_base::parameter::Kind;
use destage_base::{Lpn, Ticks, archived, choices, parameters};

use self::collect::Victim;
use self::rows::Rows;
use self::shape::{InitialMap, InitialOwner, NONE, Shape};
use self::stream::Stream;
use super::page::parameters::MOST_HANDLES;
use super::{BuildError, Ftl, FtlConfig, FtlRow, NoSpace, PageWrite, Properties, Shortage};
use destage_nand::array::{Nand, Ppn, Wear};
use destage_nand::found::{Place, Scan};
use destage_nand::operation::{Cause, Operations, Purpose, Role};

const OURS: &str = "ours";

choices! {
    /// Values of `die_choice`.
    enum DieChoice {
        Shortest = "shortest",
        Round = "round",
    }
}

choices! {
    /// Values of `gc_pace`.
    enum Pace {
        Even = "even",
        Whole = "whole",
        Burst = "burst",
    }
}

parameters! {
    /// The parameters of `striped`.
    struct Parameters {
        /// Share of the superblocks that is not offered to the host.
        reserve_percent: f64 = "15" in Kind::Number { min: 0.0, max: 99.0 }, "%", OURS;
        /// Share of each superblock that the drive keeps for itself: parity of a stripe, and metadata.
        own_percent: f64 = "0" in Kind::Number { min: 0.0, max: 50.0 }, "%", OURS;
        /// Which die is written next: the one with the fewest waiting operations, or the next in rotation.
        die_choice: DieChoice = "shortest", "", OURS;
        /// Program units that a die gets in each of its planes before another die is chosen.
        stripe_units: u32 = "1" in Kind::Integer { min: 1, max: 1 << 15 }, "units", OURS;
        /// Placement handles of the host, each with an open superblock of its own; a request uses the handle with the number of its stream
        /// (trace.streams) modulo the number of handles.
        handles: u32 = "1" in Kind::Integer { min: 1, max: MOST_HANDLES }, "", "1; reclaim unit handles of NVMe, Flexible Data Placement (TP4146)";
        /// Garbage is collected when the room in free and open superblocks is less than this many superblocks. 0:
        /// three, one more for each handle, and one more if the power may fail.
        gc_low: u32 = "0", "superblocks", OURS;
        /// When garbage collection moves pages: as many as the writes require; or, once it has begun, a whole
        /// superblock before anything is written; or in bursts that each gain the room of gc_burst_units before
        /// anything is written.
        gc_pace: Pace = "even", "", OURS;
        /// Room that a burst of garbage collection gains, over all dies; at most a superblock.
        gc_burst_units: u32 = "64" in Kind::Integer { min: 1, max: 1 << 20 }, "units", OURS, needs &["ftl.gc_pace = burst"];
        /// Program units that garbage collection moves before a waiting operation may be served.
        gc_step_units: u32 = "1" in Kind::Integer { min: 1, max: 1 << 15 }, "units", OURS;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "striped",
    about: "Superblocks over all dies and planes: a unit goes to the die with the fewest waiting operations, and garbage collection keeps pace with writes.",
    source: "ours, as drives of today are known to work: pblk (Bjorling et al., FAST 2017), SPDK's FTL, NVMeVirt (FAST 2023)",
    fills_blocks_in_turn: true,
    places_writes: true,
    works_in_units: true,
    parameters: Parameters::ROWS,
    build: |config| Ok(Box::new(Striped::new(config)?)),
    ..FtlRow::BLANK
};

/// The die and the stream at which writes of a page wait, and the number of these writes.
#[derive(Clone, Copy)]
struct Waiting {
    die: u32,
    stream: usize,
    writes: u32,
}

/// The parameters of the layer, and values that are derived from the parameters.
#[derive(Clone, Copy)]
struct Rules {
    die_choice: DieChoice,
    /// Number of consecutive places that a die receives before another die is chosen.
    grain: u32,
    pace: Pace,
    /// Number of units that are moved in one step.
    step_units: u32,
    /// Number of free superblocks that only garbage collection may open.
    bottom: u32,
    /// Room in pages from which on no garbage is collected.
    target: u64,
    /// Room in pages that a burst gains.
    burst: u64,
    /// Number of superblocks that are offered to the host.
    offered: u32,
    passes: u32,
    units_per_page: u32,
    power_may_fail: bool,
    retire_at: u32,
}

/// The device. See the [module](self).
#[derive(Clone)]
struct Striped {
    shape: Shape,
    rules: Rules,
    dies: Vec<Nand>,
    map: LazyTable<InitialMap>,
    /// For each page of flash, the logical page that was programmed there last. The copy is the newest one only if the
    /// map has the address of this page of flash, see [`Striped::page_at`].
    owner: LazyTable<InitialOwner>,
    /// For each logical page its placement handle, if there is more than one handle.
    handles: Option<LazyTable<Same<u32>>>,
    rows: Rows,
    /// The streams of the handles, followed by the stream of moved pages.
    streams: Vec<Stream>,
    waiting: BTreeMap<u32, Waiting>,
    victims: Vec<Victim>,
    /// Number of free places for data in open superblocks.
    room: u64,
    /// Whether a burst of garbage collection is under way.
    is_bursting: bool,
    collected: u64,
    least_free: u32,
}

archived!(Striped { dies, map, owner, handles, rows, streams, victims, room, is_bursting } fixed {
    shape, rules, waiting, collected, least_free,
});

impl Striped {
    fn new(config: &FtlConfig<'_>) -> Result<Self, BuildError> {
        let own = Parameters::from_values(config.values);
        let geometry = config.geometry;
        geometry.check()?;
        let pages = (u64::from(geometry.dies) * u64::from(geometry.blocks_per_die()))
            << geometry.page_bits();
        if pages >= u64::from(NONE) {
            return Err(BuildError::TooManyPages { pages });
        }
        let mut shape = Shape::new(config, own.own_percent);
        if let Some(die) = shape.die_without_data() {
            return Err(BuildError::NoDataUnit {
                percent: own.own_percent,
                die,
                units: shape.part_units(),
                pages: shape.unit,
            });
        }
        let rows = shape.rows;
        let bottom = 1 + u32::from(config.power_may_fail);
        let low = match own.gc_low {
            0 => bottom + own.handles + 2,
            low => low,
        };
        let least = low
            .max(bottom + own.handles + 2)
            .saturating_add(own.handles + 1);
        let reserved = ((f64::from(rows) * own.reserve_percent / 100.0) as u32).max(least);
        if reserved >= rows {
            return Err(BuildError::ReserveIsAll {
                percent: own
                    .reserve_percent
                    .max(f64::from(least) * 100.0 / f64::from(rows)),
                blocks: rows,
            });
        }
        let offered = rows - reserved;
        shape.full_rows = if config.filled { offered } else { 0 };
        let pages = offered * shape.row_pages();
        let made = Rows::new(rows, shape.full_rows, shape.row_pages());
        Ok(Self {
            rules: Rules {
                die_choice: own.die_choice,
                grain: own.stripe_units.saturating_mul(shape.unit * shape.planes),
                pace: own.gc_pace,
                step_units: own.gc_step_units,
                bottom,
                target: u64::from(low) * u64::from(shape.row_pages()),
                burst: u64::from(
                    own.gc_burst_units
                        .saturating_mul(shape.unit)
                        .min(shape.row_pages()),
                ),
                offered,
                passes: config.program_passes,
                units_per_page: config.units_per_page,
                power_may_fail: config.power_may_fail,
                retire_at: if config.retire {
                    config.endurance
                } else {
                    u32::MAX
                },
            },
            dies: (0..shape.dies)
                .map(|_| Nand::new(&geometry, shape.full_rows * shape.planes))
                .collect(),
            map: LazyTable::new(pages as usize, InitialMap(shape)),
            owner: LazyTable::new(shape.addresses() as usize, InitialOwner(shape)),
            handles: (own.handles > 1).then(|| LazyTable::new(pages as usize, Same(0))),
            least_free: made.free(),
            rows: made,
            streams: (0..=own.handles).map(|_| Stream::new(shape.dies)).collect(),
            waiting: BTreeMap::new(),
            victims: Vec::new(),
            room: 0,
            is_bursting: false,
            collected: 0,
            shape,
        })
    }

    /// The number of the stream of pages that garbage collection moves.
    fn moves(&self) -> usize {
        self.streams.len() - 1
    }

    /// The stream to which the host's writes of `page` go.
    fn stream_of(&self, page: u32) -> usize {
        let handles = self.handles.as_ref();
        handles.map_or(0, |handles| handles.get(page as usize) as usize)
    }

    /// The use of the blocks of `stream`.
    fn purpose(&self, stream: usize) -> Purpose {
        match stream {
            _ if stream == self.moves() => Purpose::shared(Role::Migrations),
            0 => Purpose::shared(Role::Host),
            handle => Purpose::owned(Role::Host, handle as u32),
        }
    }

    /// Room in free and open superblocks, plus the room that running collections have gained so far, in pages.
    fn space(&self) -> u64 {
        let row_pages = u64::from(self.shape.row_pages());
        let gained = |victim: &Victim| {
            let (all, left) = (victim.valid, self.rows.valid(victim.row));
            row_pages * u64::from(all - left) / u64::from(all)
        };
        let victims: u64 = self.victims.iter().map(gained).sum();
        row_pages * u64::from(self.rows.free()) + self.room + victims
    }

    /// Whether `stream` has an open superblock for its next page at `die`. Opens one if needed and if more than
    /// `spare` superblocks are free.
    fn open(&mut self, stream: usize, die: u32, spare: u32) -> bool {
        let part = self.shape.part();
        let index = self.streams[stream].index(die, part);
        let Some(row) = self.streams[stream].rows.get(index).copied() else {
            return false;
        };
        if row != NONE {
            return true;
        }
        if self.rows.free() <= spare {
            return false;
        }
        let Some(row) = self.rows.take(self.rules.power_may_fail) else {
            return false;
        };
        self.least_free = self.least_free.min(self.rows.free());
        self.streams[stream].rows[index] = row;
        self.room += u64::from(self.shape.row_pages());
        true
    }

    /// Erases the blocks that `stream` is about to fill at `die`, if they are not erased yet. Returns whether a
    /// block was erased.
    fn erase_before(&mut self, stream: usize, die: u32, operations: &mut Operations) -> bool {
        let Some((row, 0)) = self.streams[stream].place(die, self.shape.part()) else {
            return false;
        };
        self.erase(row, die, operations)
    }

    /// Whether all blocks of superblock `row` at `die` are erased.
    fn is_erased(&self, row: u32, die: u32) -> bool {
        let nand = &self.dies[die as usize];
        let mut blocks = self.shape.blocks(row);
        blocks.all(|block| nand.block(block).programmed == 0)
    }

    /// Erases the part of superblock `row` at `die`. Returns whether a block was erased.
    fn erase(&mut self, row: u32, die: u32, operations: &mut Operations) -> bool {
        if self.is_erased(row, die) {
            return false;
        }
        self.finish_units(die, operations);
        for block in self.shape.blocks(row) {
            if self.dies[die as usize].block(block).programmed > 0 {
                self.dies[die as usize].erase(block, 0);
                operations.push_erase(Cause::Copy, Ppn(block << self.shape.page_bits));
            }
        }
        true
    }

    /// The next page of flash of `stream` at `die`; the stream must have an open superblock at `die`. Before that,
    /// programs the drive's own units that precede this page.
    fn next_page(&mut self, stream: usize, die: u32, operations: &mut Operations) -> Ppn {
        self.program_own(stream, die, true, operations);
        let place = self.streams[stream].place(die, self.shape.part());
        let Some((row, place)) = place else {
            unreachable!("stream {stream} is open at die {die}");
        };
        self.shape.at(row, place)
    }

    /// Programs the drive's own units that are next in the part that `stream` fills at `die`. An own unit at the
    /// start of a part is only programmed if `at_start` is true, that is, if data follow at once.
    fn program_own(
        &mut self,
        stream: usize,
        die: u32,
        at_start: bool,
        operations: &mut Operations,
    ) {
        if self.shape.own == 0 {
            return;
        }
        let (part, unit) = (self.shape.part(), self.shape.unit);
        while let Some((row, place)) = self.streams[stream].place(die, part) {
            let is_due = place.is_multiple_of(unit)
                && (place > 0 || at_start)
                && self.shape.is_own(row, die, place / unit);
            if !is_due {
                return;
            }
            for within in 0..unit {
                let at = self.shape.at(row, place + within);
                let purpose = self.purpose(stream);
                operations.push_own(at, || purpose);
                self.program(stream, die, at, operations);
            }
        }
    }

    /// Programs the page of flash `at`, which is the next page of `stream` at `die`.
    fn program(&mut self, stream: usize, die: u32, Ppn(at): Ppn, operations: &mut Operations) {
        let (block, page) = (
            at >> self.shape.page_bits,
            at & ((1 << self.shape.page_bits) - 1),
        );
        let nand = &mut self.dies[die as usize];
        nand.program(block, page);
        if self.shape.summary_page && page + 1 == self.shape.data_pages {
            nand.program(block, page + 1);
            let purpose = self.purpose(stream);
            operations.push_summary(Ppn(at + 1), || purpose);
        }
        let part = self.shape.part();
        let state = &mut self.streams[stream];
        let next = &mut state.next[die as usize];
        *next += 1;
        if *next == part {
            state.in_first -= 1;
            self.go_on(stream);
        }
    }

    /// Makes the page of flash `at` of `die` the newest copy of logical `page`.
    fn take_place(&mut self, page: u32, die: u32, at: Ppn) {
        let address = self.shape.address(die, at);
        *self.map.get_mut(page as usize) = address;
        *self.owner.get_mut(address as usize) = page;
        self.rows.gain(self.shape.row_of(at));
        self.room -= 1;
    }

    /// Notes that the contents at `address` are not needed any more.
    fn forget(&mut self, address: u32) {
        let row = self.shape.row_of(self.shape.split(address).1);
        if self.rows.lose(row) == 0 && !self.is_open(row) {
            self.release(row);
        }
    }

    /// The logical page whose newest copy is at `address`.
    fn page_at(&self, address: u32) -> Option<u32> {
        let page = self.owner.get(address as usize);
        (page != NONE && self.map.get(page as usize) == address).then_some(page)
    }

    fn is_open(&self, row: u32) -> bool {
        self.streams.iter().any(|stream| stream.rows.contains(&row))
    }

    /// Makes superblock `row`, which is closed and holds no valid page, free, or retires it.
    fn release(&mut self, row: u32) {
        let count = self.victims.len();
        self.victims.retain(|victim| victim.row != row);
        self.collected += (count - self.victims.len()) as u64;
        let is_worn = self.rules.retire_at < u32::MAX
            && self.dies.iter().any(|nand| {
                let mut blocks = self.shape.blocks(row);
                blocks.any(|block| nand.block(block).erases >= self.rules.retire_at)
            });
        self.rows.release(row, is_worn);
    }

    /// Closes the superblocks of `stream` that all dies have filled.
    fn go_on(&mut self, stream: usize) {
        while self.streams[stream].in_first == 0 {
            let row = self.streams[stream].go_on(self.shape.part());
            match self.rows.valid(row) {
                0 => self.release(row),
                _ => self.rows.offer(row),
            }
        }
    }

    /// Programs fillers from the next page of `stream` at `die` on. The fillers complete the current unit and the
    /// `units` - 1 units after it.
    fn fill(&mut self, stream: usize, die: u32, units: u32, operations: &mut Operations) {
        let (part, unit) = (self.shape.part(), self.shape.unit);
        let Some((row, place)) = self.streams[stream].place(die, part) else {
            return;
        };
        let end = part.min((place / unit + units) * unit);
        for place in place..end {
            let at = self.shape.at(row, place);
            let purpose = self.purpose(stream);
            operations.push_filler(at, || purpose);
            if !self.shape.is_own(row, die, place / unit) {
                self.room -= 1;
            }
            self.program(stream, die, at, operations);
        }
        self.program_own(stream, die, false, operations);
    }

    /// Number of units that have to be filled, from the next page of `stream` at `die` on, so that all pages
    /// before the next page have their last program pass. 0 if these pages have had it already.
    fn units_behind(&self, stream: usize, die: u32) -> u32 {
        let next = self.streams[stream].next[die as usize] % self.shape.part();
        let begun = u32::from(!next.is_multiple_of(self.shape.unit));
        match self.rules.passes {
            2 if next > 0 => begun + self.shape.planes,
            _ => begun,
        }
    }

    /// If the power may fail: completes the units of `die` whose pages are still in RAM. An erase may only follow
    /// after this.
    fn finish_units(&mut self, die: u32, operations: &mut Operations) {
        if !self.rules.power_may_fail {
            return;
        }
        for stream in 0..self.streams.len() {
            let units = self.units_behind(stream, die);
            self.fill(stream, die, units, operations);
        }
    }

    #[cold]
    fn exhausted(&self) -> NoSpace {
        Shortage::Pool {
            blocks: self.shape.rows,
            retired: self.rows.retired(),
            endurance: self.rules.retire_at,
        }
        .into()
    }

    /// Chooses the die for the next write to `stream`.
    fn choose(&self, stream: usize, load: &dyn Fn(u32) -> u32) -> u32 {
        let (part, grain) = (self.shape.part(), self.rules.grain);
        match self.rules.die_choice {
            DieChoice::Shortest => self.streams[stream].choose(part, grain, load),
            DieChoice::Round => self.streams[stream].choose(part, grain, &|_| 0),
        }
    }

    /// Registers a write of `page` that waits at `die`.
    fn wait(&mut self, page: u32, stream: usize, die: u32) {
        let waiting = self.waiting.entry(page).or_insert(Waiting {
            die,
            stream,
            writes: 0,
        });
        waiting.writes += 1;
        self.streams[waiting.stream].coming[waiting.die as usize] += 1;
    }

    /// Notes that a write of `page` was served and does not wait at `die` any more.
    fn arrive(&mut self, page: u32, stream: usize, die: u32) {
        if let Some(waiting) = self.waiting.get_mut(&page) {
            waiting.writes -= 1;
            if waiting.writes == 0 {
                self.waiting.remove(&page);
            }
            self.streams[stream].coming[die as usize] -= 1;
        }
    }
}

impl Ftl for Striped {
    fn properties(&self) -> Properties {
        let units = self.shape.part_units();
        Properties {
            collects_in_background: true,
            places_writes: true,
            open_blocks: (self.moves() as u32)
                * if self.rules.passes == 2 {
                    self.shape.planes
                } else {
                    1
                },
            gc_steps: units + 1,
            handles: self.moves() as u32,
            ..Properties::default()
        }
    }

    fn pages(&self) -> u64 {
        u64::from(self.rules.offered) * u64::from(self.shape.row_pages())
    }

    fn die_of(&self, page: Lpn) -> u32 {
        match self.waiting.get(&(page.0 as u32)) {
            Some(waiting) => waiting.die,
            None => self.home_of(page),
        }
    }

    fn home_of(&self, page: Lpn) -> u32 {
        match self.map.get(page.0 as usize) {
            NONE => page.0 as u32 % self.shape.dies,
            address => self.shape.split(address).0,
        }
    }

    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        let page = page.0 as u32;
        let stream = self.stream_of(page);
        let die = match self.waiting.get(&page) {
            Some(waiting) => waiting.die,
            None => {
                let die = self.choose(stream, load);
                self.streams[stream].die = die;
                die
            }
        };
        self.wait(page, stream, die);
        die
    }

    fn place_behind(&mut self, page: Lpn, die: u32) {
        let page = page.0 as u32;
        self.wait(page, self.stream_of(page), die);
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.peek(page, operations);
        Ok(())
    }

    fn peek(&self, page: Lpn, operations: &mut Operations) {
        operations.set_page(page);
        match self.map.get(page.0 as usize) {
            NONE => {}
            address => operations.push_host_read(self.shape.split(address).1),
        }
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_page(write.page);
        let page = write.page.0 as u32;
        let (stream, die) = match self.waiting.get(&page) {
            Some(waiting) => (waiting.stream, waiting.die),
            None => {
                let stream = self.stream_of(page);
                (stream, self.choose(stream, &|_| 0))
            }
        };
        if !self.open(stream, die, self.rules.bottom) {
            return Err(self.exhausted());
        }
        self.erase_before(stream, die, operations);
        self.streams[stream].die = die;
        self.arrive(page, stream, die);
        let at = self.next_page(stream, die, operations);
        let purpose = self.purpose(stream);
        operations.push_host_program(write.cause, at, || purpose);
        let old = self.map.get(page as usize);
        self.take_place(page, die, at);
        self.program(stream, die, at, operations);
        self.program_own(stream, die, false, operations);
        if old != NONE {
            self.forget(old);
            let (left, at) = self.shape.split(old);
            if left != die {
                operations.leave(left, self.shape.block_of(at));
            }
        }
        Ok(())
    }

    fn trim(&mut self, page: Lpn, _: &mut Operations) -> Result<(), NoSpace> {
        let address = self.map.get(page.0 as usize);
        if address != NONE {
            *self.map.get_mut(page.0 as usize) = NONE;
            self.forget(address);
        }
        Ok(())
    }

    fn trim_all(&mut self, pages: Range<u64>, emit: &mut dyn FnMut(Range<u64>)) {
        let mut addresses = Vec::with_capacity(CHUNK);
        for part in parts(&(pages.start as usize..pages.end as usize)) {
            self.map
                .replace_all(&part, NONE, |address| addresses.push(address));
            for address in addresses.drain(..) {
                self.forget(address);
            }
        }
        emit(pages);
    }

    fn hint(&mut self, page: Lpn, handle: u32) {
        let count = self.moves() as u32;
        if let Some(handles) = &mut self.handles {
            *handles.get_mut(page.0 as usize) = handle % count;
        }
    }

    fn is_written(&self, page: Lpn) -> bool {
        self.map.get(page.0 as usize) != NONE
    }

    fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        let pages = pages.start as usize..pages.end as usize;
        let mut look = |page: usize, address: u32| {
            if address != NONE {
                emit(Lpn(page as u64));
            }
        };
        if self.shape.full_rows > 0 {
            // On a filled device, pages that were never touched have contents too.
            return pages.for_each(|page| look(page, self.map.get(page)));
        }
        let touched = self.map.touched_in(pages);
        touched.for_each(|(page, address)| look(page, address));
    }

    fn collect_garbage(
        &mut self,
        die: u32,
        _: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        self.begin_or_end_burst();
        // `close_early` is called first, because it decides which superblocks a write at the die needs. The blocks
        // of these superblocks are then erased in this call, where an erase may be interrupted, and not together
        // with the write.
        self.close_early(die);
        Ok(self.leave_early(die, operations)
            || self.erase_reserve(die, operations)
            || self.prepare(die, operations)
            || self.move_some(die, operations))
    }

    fn collects_at(&mut self, die: u32) -> u32 {
        // `close_early` is called first: if it closes a superblock, another die may have to complete a unit of
        // that superblock. After a power loss, a device that runs on its capacitor calls `collects_at` without a
        // call of `collect_garbage` for the die before.
        self.close_early(die);
        self.first_to_collect(die)
    }

    fn collects_before_writes(&self, die: u32) -> bool {
        self.is_due_before_writes(die)
    }

    fn fill_unit(&mut self, die: u32, at: Ppn, _: u32, operations: &mut Operations) {
        let row = self.shape.row_of(at);
        let part = self.shape.part();
        let fills = |stream: &Stream| stream.place(die, part).is_some_and(|(of, _)| of == row);
        if let Some(stream) = self.streams.iter().position(fills) {
            self.fill(stream, die, 1, operations);
        }
    }

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        self.take_over(scan, take);
    }

    fn wear(&self) -> Wear {
        let dies = self.dies.iter().map(Nand::wear);
        dies.fold(Wear::default(), Wear::and)
    }

    fn retired(&self) -> u64 {
        u64::from(self.rows.retired()) * u64::from(self.shape.dies * self.shape.planes)
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        for (die, nand) in (0..).zip(&self.dies) {
            for (block, erases) in (0..).zip(nand.erases()) {
                emit(die, block, erases);
            }
        }
    }

    fn reset_wear(&mut self) {
        self.dies.iter_mut().for_each(Nand::reset_wear);
    }

    fn derived(&self) -> String {
        let rules = &self.rules;
        let burst = (rules.pace == Pace::Burst).then_some(rules.burst);
        let numbers = (rules.bottom, rules.target, rules.offered, self.shape.own);
        let streams = self.streams.len();
        format!("{numbers:?} {burst:?} {streams} {}", rules.power_may_fail)
    }

    fn reset_figures(&mut self) {
        self.collected = 0;
        self.least_free = self.rows.free();
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("superblocks_collected", self.collected as f64);
        emit("superblocks_free_min", f64::from(self.least_free));
    }

    fn map_bytes(&self) -> u64 {
        4 * self.pages()
    }
}
