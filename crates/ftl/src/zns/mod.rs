//! Zones that a log of the host fills. The host appends data to open zones. Before it resets a zone, the host
//! appends the data of the zone that are still needed to another zone.
//!
//! A zone consists of several blocks of one die; it is filled unit by unit, with one unit in each of its blocks in
//! turn. The host maps its pages to zones in the same way as the layer `page` maps pages to blocks. So page
//! mapping is used with zones in place of blocks: it does the mapping, the compaction and the wear levelling. Its
//! operations on zones are then translated to operations on blocks. This module only adds the limit of open zones.

mod zones;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use destage_base::archived;
use destage_base::parameter::Kind;
use destage_base::{Lpn, Ticks, parameters};

use self::zones::Zones;
use super::page::PageFtl;
use super::page::parameters::PageConfig;
use super::upon_pages::left_to_pages;
use super::{BuildError, Ftl, FtlConfig, FtlRow, NoSpace, PageWrite, Properties};
use destage_nand::array::{Ppn, Wear};
use destage_nand::found::{Place, Scan};
use destage_nand::geometry::Geometry;
use destage_nand::medium::Pools;
use destage_nand::operation::Operations;

const ZNS: &str = "NVMe Zoned Namespace Command Set 1.1";
const OURS: &str = "ours";

parameters! {
    /// The parameters of `zns`.
    struct Parameters {
        /// Number of blocks of a zone, all of one die; it must divide the number of blocks of a die.
        zone_blocks: u32 = "4" in Kind::Integer { min: 1, max: 1 << 15 }, "blocks", OURS;
        /// Maximum number of zones that are open for new data at a time, over all dies; each die also has one for
        /// compaction.
        open_zones: u32 = "14" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "zones", "limits of open and active zones: NVMe Zoned Namespace Command Set 1.1; 14: Western Digital Ultrastar DC ZN540";
        /// An open zone with less than this share of its pages left is finished if another zone is needed and no
        /// more may be opened; 0: never.
        finish_percent: f64 = "0" in Kind::Number { min: 0.0, max: 100.0 }, "%", "finish_threshold of ZenFS";
        /// Share of each die's zones that is not offered to the host.
        reserve_percent: f64 = "15" in Kind::Number { min: 0.0, max: 99.0 }, "%", OURS;
        /// Number of empty zones of a die below which its compaction starts, and at which it ends.
        gc_low: u32 = "2" in Kind::Integer { min: 2, max: u32::MAX as u64 }, "zones", OURS;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "zns",
    about: "Zones of blocks: a simple log of the host appends to them, compacts them and resets them; the number of open zones is limited.",
    source: ZNS,
    fills_blocks_in_turn: true,
    places_writes: true,
    works_in_units: true,
    parameters: Parameters::ROWS,
    build: |config| Ok(Box::new(Zns::new(config)?)),
    ..FtlRow::BLANK
};

/// The device. See the [module](self).
#[derive(Clone)]
struct Zns {
    data: PageFtl,
    zones: Zones,
    open_zones: u32,
    /// A zone may be finished if it has fewer free pages than this number.
    finish_under: u32,
    /// For each die, the number of writes that wait at the die, and whether the open zone of the die has to be
    /// finished.
    coming: Vec<u32>,
    finishing: Vec<bool>,
    /// For each die, whether it may receive the write that is placed now. It is a field only to reuse its memory.
    takes: Vec<bool>,
    resets: u64,
    finished: u64,
    most_open: u32,
}

archived!(Zns { data, finishing } fixed {
    zones, open_zones, finish_under, coming, takes, resets, finished, most_open,
});

impl Zns {
    fn new(config: &FtlConfig<'_>) -> Result<Self, BuildError> {
        let own = Parameters::from_values(config.values);
        let geometry = config.geometry;
        geometry.check()?;
        let (blocks, zone_blocks) = (geometry.blocks_per_die(), own.zone_blocks);
        let zone_pages = zone_blocks.saturating_mul(geometry.data_pages());
        if !blocks.is_multiple_of(zone_blocks) || zone_pages > 1 << 15 {
            return Err(BuildError::Zone {
                zone_blocks,
                blocks,
                data_pages: geometry.data_pages(),
            });
        }
        let of_zones = Geometry {
            planes: 1,
            blocks_per_plane: blocks / zone_blocks,
            pages_per_block: zone_pages,
            summary_page: false,
            ..geometry
        };
        let settings = PageConfig {
            dynamic: true,
            ..PageConfig::of_zones(config, of_zones, own.reserve_percent, own.gc_low)
        };
        Ok(Self {
            data: PageFtl::new(&settings)?,
            zones: Zones {
                blocks: zone_blocks,
                planes: geometry.planes,
                blocks_per_plane: geometry.blocks_per_plane,
                zone_bits: of_zones.page_bits(),
                page_bits: geometry.page_bits(),
                zone_pages,
                unit: config.program_unit,
            },
            open_zones: own.open_zones,
            finish_under: (f64::from(zone_pages) * own.finish_percent / 100.0) as u32,
            coming: vec![0; geometry.dies as usize],
            finishing: vec![false; geometry.dies as usize],
            takes: Vec::new(),
            resets: 0,
            finished: 0,
            most_open: 0,
        })
    }

    /// Number of free pages in the open zone of `die` after all waiting writes; `None` if no zone is open then.
    fn left(&self, die: usize) -> Option<u32> {
        let written = match self.finishing[die] {
            true => 0,
            false => self.data.die(die).pools[0].active_page,
        };
        let of_zone = (written + self.coming[die]) % self.zones.zone_pages;
        (of_zone > 0).then(|| self.zones.zone_pages - of_zone)
    }

    /// Number of zones that are open for new data after all waiting writes.
    fn open(&self) -> u32 {
        let dies = 0..self.coming.len();
        dies.filter(|die| self.left(*die).is_some()).count() as u32
    }

    /// Marks the open zone with the fewest free pages as to be finished, if it has fewer free pages than the
    /// limit.
    fn finish_one(&mut self) {
        if let Some((_, die)) = self.fullest().filter(|(left, _)| *left < self.finish_under) {
            self.finishing[die] = true;
        }
    }

    /// Finds, among the open zones without waiting writes, the zone with the fewest free pages. Returns the number
    /// of its free pages, and its die.
    fn fullest(&self) -> Option<(u32, usize)> {
        let dies = (0..self.coming.len()).filter(|die| self.coming[*die] == 0);
        dies.filter_map(|die| Some((self.left(die)?, die))).min()
    }
}

impl Ftl for Zns {
    left_to_pages!(
        pages, die_of, trim, trim_all, is_written, mapped, reset_wear, map_bytes
    );

    fn properties(&self) -> Properties {
        self.data.properties()
    }

    fn retired(&self) -> u64 {
        self.data.retired() * u64::from(self.zones.blocks)
    }

    fn home_of(&self, page: Lpn) -> u32 {
        self.data.home_of(page)
    }

    /// Chooses the die with the fewest waiting operations: among all dies if one more zone may be opened,
    /// otherwise among the dies with an open zone.
    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        let mut open = self.open();
        if open >= self.open_zones && self.finish_under > 0 {
            let least = (0..self.coming.len() as u32).min_by_key(|die| load(*die));
            if least.is_some_and(|die| self.left(die as usize).is_none()) {
                self.finish_one();
                open = self.open();
            }
        }
        let may_open = open < self.open_zones;
        let mut takes = core::mem::take(&mut self.takes);
        takes.clear();
        takes.extend((0..self.coming.len()).map(|die| may_open || self.left(die).is_some()));
        let receives = |die: &u32| self.data.may_receive(page, *die);
        let mut dies = 0..self.coming.len() as u32;
        let is_new = self.data.is_coming(page).is_none();
        if is_new && !dies.any(|die| takes[die as usize] && receives(&die)) {
            // All dies with an open zone hold as many pages as they may, so an open zone is finished for another one.
            if let Some((_, die)) = self.fullest() {
                self.finishing[die] = true;
                takes.fill(true);
            }
        }
        let of_open = |die: u32| match takes[die as usize] {
            true => load(die),
            false => u32::MAX,
        };
        let die = self.data.place(page, &of_open);
        self.takes = takes;
        self.coming[die as usize] += 1;
        self.most_open = self.most_open.max(self.open());
        die
    }

    fn place_behind(&mut self, page: Lpn, die: u32) {
        self.data.place_behind(page, die);
        self.coming[die as usize] += 1;
        self.most_open = self.most_open.max(self.open());
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.peek(page, operations);
        Ok(())
    }

    fn peek(&self, page: Lpn, operations: &mut Operations) {
        let mark = operations.mark();
        self.data.peek(page, operations);
        self.zones.tell(mark, operations);
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        let mark = operations.mark();
        let waited = self.data.is_coming(write.page);
        self.data.write(write, operations)?;
        if let Some(die) = waited {
            self.coming[die as usize] -= 1;
        }
        self.zones.tell(mark, operations);
        Ok(())
    }

    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        let mark = operations.mark();
        if core::mem::take(&mut self.finishing[die as usize]) {
            let zone_pages = self.zones.zone_pages;
            let state = self.data.die_mut(die as usize);
            let at = Ppn(state.pools[0].active_block << self.zones.zone_bits);
            state.fill_unit(at, zone_pages, operations);
            self.zones.tell(mark, operations);
            self.finished += 1;
            return Ok(true);
        }
        let compacted = self.data.collect_garbage(die, now, operations)?;
        self.resets += u64::from(compacted);
        self.zones.tell(mark, operations);
        Ok(compacted)
    }

    /// Fills the unit that is begun in the zone of page `at`. All pages of a unit are in one block.
    fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        let mark = operations.mark();
        let at = self.zones.zone_of(at);
        self.data.fill_unit(die, at, unit_pages, operations);
        self.zones.tell(mark, operations);
    }

    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) {
        let zones = self.zones;
        self.data.mount(&zones.scan(scan), &mut |place| {
            take(Place {
                at: zones.place(place.at),
                ..place
            });
        });
        // When the power failed, a zone may have been open in place of another zone that was still to be finished.
        // So more zones may be open than allowed.
        while self.open() > self.open_zones
            && let Some((_, die)) = self.fullest()
        {
            self.data.die_mut(die).close_open();
        }
        self.most_open = self.open();
    }

    fn pools(&self) -> Pools {
        Pools {
            zone_blocks: self.zones.blocks,
            ..self.data.pools()
        }
    }

    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let mark = operations.mark();
        let has_done = self.data.mount_step(die, operations)?;
        self.zones.tell(mark, operations);
        Ok(has_done)
    }

    /// A zone that has to be finished receives no write before it is finished.
    fn collects_before_writes(&self, die: u32) -> bool {
        self.finishing[die as usize] || self.data.collects_before_writes(die)
    }

    fn wear(&self) -> Wear {
        let zones = self.data.wear();
        let blocks = u64::from(self.zones.blocks);
        Wear {
            blocks: zones.blocks * blocks,
            sum: zones.sum * blocks,
            sum_of_squares: zones.sum_of_squares * u128::from(blocks),
            ..zones
        }
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        self.data.erases(&mut |die, zone, erases| {
            for number in 0..self.zones.blocks {
                emit(die, self.zones.block(zone, number), erases);
            }
        });
    }

    /// The limit of open zones has no effect if each die may have one.
    fn derived(&self) -> String {
        let is_limited = (self.open_zones as usize) < self.coming.len();
        let limit = is_limited.then_some((self.open_zones, self.finish_under));
        format!("{} {limit:?}", self.data.derived())
    }

    fn reset_figures(&mut self) {
        (self.resets, self.finished) = (0, 0);
        self.most_open = self.open();
    }

    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        emit("zones_reset", self.resets as f64);
        emit("zones_finished", self.finished as f64);
        emit("zones_open_max", f64::from(self.most_open));
    }
}
