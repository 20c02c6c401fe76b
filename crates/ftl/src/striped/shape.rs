//! Which blocks form a superblock, in which order its pages are programmed, and which pages it contains at the
//! start.
//!
//! Superblock `row` consists of block `row` of each plane of each die. The blocks of a superblock on one die are a
//! *part*. The pages of a part are its *places*. Places are numbered unit by unit, with one unit on each plane in
//! turn. Some units of a superblock are the drive's own, that is, they hold parity or metadata. The own units are
//! spread over all dies.

use destage_base::lazy::Initial;

use crate::FtlConfig;
use destage_nand::array::Ppn;
use destage_nand::divide::Divider;

/// The value for "no page" and "no superblock" in tables.
pub(super) const NONE: u32 = u32::MAX;

/// The sizes of the device.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub dies: u32,
    pub planes: u32,
    pub rows: u32,
    pub data_pages: u32,
    pub page_bits: u32,
    /// The last page of a block is a summary.
    pub summary_page: bool,
    /// Pages per program unit.
    pub unit: u32,
    /// Number of units per superblock that are the drive's own.
    pub own: u32,
    /// Number of superblocks that are full at the start.
    pub full_rows: u32,
    by_unit: Divider,
    by_planes: Divider,
    by_rows: Divider,
    by_die: Divider,
}

impl Shape {
    /// The shape of a device whose drive keeps `own_percent` percent of each superblock for itself.
    pub fn new(config: &FtlConfig<'_>, own_percent: f64) -> Self {
        let geometry = config.geometry;
        let (planes, rows) = (geometry.planes, geometry.blocks_per_plane);
        let unit = config.program_unit.max(1);
        let mut shape = Self {
            dies: geometry.dies,
            planes,
            rows,
            data_pages: geometry.data_pages(),
            page_bits: geometry.page_bits(),
            summary_page: geometry.summary_page,
            unit,
            own: 0,
            full_rows: 0,
            by_unit: Divider::new(unit),
            by_planes: Divider::new(planes),
            by_rows: Divider::new(rows),
            by_die: Divider::new((planes * rows) << geometry.page_bits()),
        };
        shape.own = (f64::from(shape.row_units()) * own_percent / 100.0 + 0.5) as u32;
        shape
    }

    /// Places per part.
    pub fn part(&self) -> u32 {
        self.planes * self.data_pages
    }

    /// Units per part.
    pub fn part_units(&self) -> u32 {
        self.part() / self.unit
    }

    /// Units per superblock.
    pub fn row_units(&self) -> u32 {
        self.dies * self.part_units()
    }

    /// Pages per superblock that can hold data.
    pub fn row_pages(&self) -> u32 {
        (self.row_units() - self.own) * self.unit
    }

    /// Number of the drive's own units among the first `units` units of a superblock, in the order of
    /// [`Shape::number`].
    fn own_before(&self, units: u32) -> u32 {
        (u64::from(units) * u64::from(self.own) / u64::from(self.row_units())) as u32
    }

    /// The number of a unit within its superblock. The unit is given by its number `unit` in the part of `die`.
    /// Units are numbered with one unit on each die in turn.
    fn number(&self, die: u32, unit: u32) -> u32 {
        unit * self.dies + (die + unit) % self.dies
    }

    /// Whether unit `unit` of the part of `die` is the drive's own.
    pub fn is_own(&self, die: u32, unit: u32) -> bool {
        let number = self.number(die, unit);
        self.own > 0 && self.own_before(number + 1) > self.own_before(number)
    }

    /// The first die whose part of each superblock would be the drive's own and hold no data.
    pub fn die_without_data(&self) -> Option<u32> {
        let is_all_own =
            |die: &u32| self.own > 0 && (0..self.part_units()).all(|unit| self.is_own(*die, unit));
        (0..self.dies).find(is_all_own)
    }

    /// Number of places for data in the part of `die`, from place `from` on.
    pub fn data_places(&self, die: u32, from: u32) -> u32 {
        if self.own == 0 {
            return self.part().saturating_sub(from);
        }
        let (first, within) = (from / self.unit, from % self.unit);
        let units = (first..self.part_units()).filter(|unit| !self.is_own(die, *unit));
        (units.count() as u32 * self.unit).saturating_sub(within)
    }

    /// The page of flash at `place` of the part of superblock `row`.
    #[inline]
    pub fn at(&self, row: u32, place: u32) -> Ppn {
        let (unit, within) = self.by_unit.split(place);
        let (round, plane) = self.by_planes.split(unit);
        let page = round * self.unit + within;
        Ppn((plane * self.rows + row) << self.page_bits | page)
    }

    /// The address of page of flash `at` of `die`, that is, its number among the pages of all dies.
    #[inline]
    pub fn address(&self, die: u32, Ppn(at): Ppn) -> u32 {
        die * self.by_die.divisor() + at
    }

    /// Number of addresses of flash pages on all dies.
    pub fn addresses(&self) -> u64 {
        u64::from(self.dies) * u64::from(self.by_die.divisor())
    }

    /// The die and the page of flash of `address`.
    #[inline]
    pub fn split(&self, address: u32) -> (u32, Ppn) {
        let (die, at) = self.by_die.split(address);
        (die, Ppn(at))
    }

    /// The first page of the block that contains a page of flash.
    #[inline]
    pub fn block_of(&self, Ppn(at): Ppn) -> Ppn {
        Ppn(at >> self.page_bits << self.page_bits)
    }

    /// The superblock that contains a page of flash.
    #[inline]
    pub fn row_of(&self, Ppn(at): Ppn) -> u32 {
        self.by_rows.split(at >> self.page_bits).1
    }

    /// The blocks of superblock `row` on one die.
    pub fn blocks(&self, row: u32) -> impl Iterator<Item = u32> + use<> {
        let rows = self.rows;
        (0..self.planes).map(move |plane| plane * rows + row)
    }
}

/// The initial map from logical pages to pages of flash: in ascending order, with one unit on each die in turn.
#[derive(Clone)]
pub(super) struct InitialMap(pub Shape);
impl Initial for InitialMap {
    type Entry = u32;
    fn at(&self, page: usize) -> u32 {
        let shape = &self.0;
        let page = page as u32;
        let (row, within) = (page / shape.row_pages(), page % shape.row_pages());
        if row >= shape.full_rows {
            return NONE;
        }
        let data_unit = within / shape.unit;
        // The number of the unit with `data_unit` data units before it; the loop approaches it from below.
        let mut number = data_unit;
        while number < data_unit + shape.own_before(number + 1) {
            number = data_unit + shape.own_before(number + 1);
        }
        let (unit, turn) = (number / shape.dies, number % shape.dies);
        let die = (turn + shape.dies - unit % shape.dies) % shape.dies;
        shape.address(die, shape.at(row, unit * shape.unit + within % shape.unit))
    }

    fn of_all(&self) -> Option<u32> {
        (self.0.full_rows == 0).then_some(NONE)
    }
}

/// The initial map from pages of flash to logical pages: the inverse of [`InitialMap`].
#[derive(Clone)]
pub(super) struct InitialOwner(pub Shape);
impl Initial for InitialOwner {
    type Entry = u32;
    fn at(&self, address: usize) -> u32 {
        let shape = &self.0;
        if shape.full_rows == 0 {
            return NONE;
        }
        let (die, Ppn(at)) = shape.split(address as u32);
        let (block, page) = (at >> shape.page_bits, at & ((1 << shape.page_bits) - 1));
        let (plane, row) = shape.by_rows.split(block);
        let (round, within) = shape.by_unit.split(page);
        let unit = round * shape.planes + plane;
        if row >= shape.full_rows || page >= shape.data_pages || shape.is_own(die, unit) {
            return NONE;
        }
        let number = shape.number(die, unit);
        let data_unit = number - shape.own_before(number);
        row * shape.row_pages() + data_unit * shape.unit + within
    }
}
