//! Which blocks form a superblock, in which order its pages are programmed, and which pages it contains at the
//! start.
//!
//! Superblock `row` consists of block `row` of each plane of each die. The blocks of a superblock on one die are a
//! *part*. The pages of a part are its *places*. Places are numbered unit by unit, with one unit on each plane in
//! turn. Some units of a superblock are the drive's own, that is, they hold parity or metadata. They are spaced evenly
//! over the units, and the dies have them in turn: each die after the one that had the own unit before, from superblock
//! to superblock. So all dies have room for equally many data, and none runs ahead of the others.

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

    /// Number of the drive's own units among the first `units` units of all parts of a superblock.
    fn own_before(&self, units: u32) -> u32 {
        (u64::from(units) * u64::from(self.own) / u64::from(self.part_units())) as u32
    }

    /// The die that has own unit `number` of superblock `row`.
    fn own_die(&self, row: u32, number: u32) -> u32 {
        ((u64::from(row) * u64::from(self.own) + u64::from(number)) % u64::from(self.dies)) as u32
    }

    /// Number of the drive's own units among the first `units` units of the part of `die` in superblock `row`.
    fn own_of(&self, row: u32, die: u32, units: u32) -> u32 {
        // The number in the superblock of the first own unit of the die.
        let first = (die + self.dies - self.own_die(row, 0)) % self.dies;
        (self.own_before(units) + self.dies - 1 - first) / self.dies
    }

    /// Whether unit `unit` of the part of `die` in superblock `row` is the drive's own.
    pub fn is_own(&self, row: u32, die: u32, unit: u32) -> bool {
        self.own > 0 && self.own_of(row, die, unit + 1) > self.own_of(row, die, unit)
    }

    /// The first die whose part of superblock 0 would be the drive's own and hold no data.
    pub fn die_without_data(&self) -> Option<u32> {
        let units = self.part_units();
        (0..self.dies).find(|die| self.own > 0 && self.own_of(0, *die, units) == units)
    }

    /// Number of places for data in the part of `die` in superblock `row`, from place `from` on.
    pub fn data_places(&self, row: u32, die: u32, from: u32) -> u32 {
        let own = match self.own {
            0 => 0,
            _ => {
                let units = [self.part_units(), from / self.unit];
                let [all, before] = units.map(|units| self.own_of(row, die, units));
                (all - before) * self.unit
            }
        };
        self.part().saturating_sub(from + own)
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

/// The order in which the dies hold data at the start. The dies whose unit `unit` is not the drive's own have turns,
/// beginning with another die for each unit.
impl Shape {
    /// Number of dies whose unit `unit` holds data, and the first die after those whose unit is the drive's own.
    fn data_dies(&self, row: u32, unit: u32) -> (u32, u32) {
        let [before, after] = [unit, unit + 1].map(|units| self.own_before(units));
        (self.dies - (after - before), self.own_die(row, after))
    }

    /// The die whose unit `unit` has turn number `turn`.
    fn data_die(&self, row: u32, unit: u32, turn: u32) -> u32 {
        let (dies, first) = self.data_dies(row, unit);
        (first + (turn + dies - unit % dies) % dies) % self.dies
    }

    /// The turn of `die`, whose unit `unit` holds data.
    fn turn(&self, row: u32, unit: u32, die: u32) -> u32 {
        let (dies, first) = self.data_dies(row, unit);
        ((die + self.dies - first) % self.dies + unit) % dies
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
        let data_before = |unit: u32| unit * shape.dies - shape.own_before(unit);
        // The search begins at most one unit away.
        let data = u64::from(shape.row_units() - shape.own);
        let mut unit = (u64::from(data_unit) * u64::from(shape.part_units()) / data) as u32;
        while data_before(unit) > data_unit {
            unit -= 1;
        }
        while data_before(unit + 1) <= data_unit {
            unit += 1;
        }
        let die = shape.data_die(row, unit, data_unit - data_before(unit));
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
        if row >= shape.full_rows || page >= shape.data_pages || shape.is_own(row, die, unit) {
            return NONE;
        }
        let data_unit = unit * shape.dies - shape.own_before(unit) + shape.turn(row, unit, die);
        row * shape.row_pages() + data_unit * shape.unit + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device with 40 superblocks, of which the first 30 are full.
    fn shape(dies: u32, planes: u32, pages: u32, unit: u32, own: u32) -> Shape {
        let page_bits = pages.next_power_of_two().trailing_zeros();
        let rows = 40;
        Shape {
            dies,
            planes,
            rows,
            data_pages: pages,
            page_bits,
            summary_page: false,
            unit,
            own,
            full_rows: 30,
            by_unit: Divider::new(unit),
            by_planes: Divider::new(planes),
            by_rows: Divider::new(rows),
            by_die: Divider::new((planes * rows) << page_bits),
        }
    }

    /// Shapes of many kinds, with no, few and half of the units for the drive. Among them are 32 dies with 32 units
    /// each and 3 %: a rule that moves by one die with each unit would give them all to one die.
    fn shapes() -> impl Iterator<Item = Shape> {
        let devices = [
            (1, 1, 6, 2),
            (3, 2, 5, 1),
            (4, 1, 12, 3),
            (32, 1, 96, 3),
            (16, 2, 24, 3),
            (7, 3, 8, 4),
        ];
        devices.into_iter().flat_map(|(dies, planes, pages, unit)| {
            let units = dies * planes * pages / unit;
            [0, 1, units / 33, units / 8, units / 2]
                .map(|own| shape(dies, planes, pages, unit, own))
        })
    }

    #[test]
    fn the_drives_own_units_are_shared_by_the_dies() {
        for shape in shapes() {
            let what = (shape.dies, shape.planes, shape.data_pages, shape.own);
            let units = shape.part_units();
            let mut of_dies = alloc::vec![0; shape.dies as usize];
            for row in 0..shape.dies.min(shape.rows) {
                let mut in_row = 0;
                for die in 0..shape.dies {
                    let own = (0..units).filter(|unit| shape.is_own(row, die, *unit));
                    let own = own.count() as u32;
                    assert!(own.abs_diff(shape.own / shape.dies) <= 1, "{what:?}");
                    let data = shape.data_places(row, die, 0);
                    assert_eq!(data, (units - own) * shape.unit, "{what:?}");
                    in_row += own;
                    of_dies[die as usize] += own;
                }
                assert_eq!(in_row, shape.own, "{what:?}");
            }
            // After as many superblocks as there are dies, all dies have had equally many.
            if shape.dies <= shape.rows {
                assert!(of_dies.iter().all(|own| *own == shape.own), "{what:?}");
            }
            // Along the parts, the own units are evenly spaced.
            for unit in 0..units {
                let own = (0..shape.dies).filter(|die| shape.is_own(0, *die, unit));
                let even = shape.own / units;
                assert!(own.count() as u32 - even <= 1, "{what:?}");
            }
        }
    }

    #[test]
    fn places_for_data_are_counted_from_any_place() {
        for shape in shapes() {
            for (row, die) in [(0, 0), (3, shape.dies - 1)] {
                let mut left = 0;
                for place in (0..shape.part()).rev() {
                    let is_own = shape.is_own(row, die, place / shape.unit);
                    left += u32::from(!is_own);
                    if !is_own || place.is_multiple_of(shape.unit) {
                        assert_eq!(shape.data_places(row, die, place), left);
                    }
                }
            }
        }
    }

    #[test]
    fn at_the_start_each_page_has_a_place_of_its_own() {
        for shape in shapes() {
            let (map, owner) = (InitialMap(shape), InitialOwner(shape));
            let pages = (shape.full_rows + 1) * shape.row_pages();
            let mut before = None;
            for page in 0..pages {
                let address = map.at(page as usize);
                if page / shape.row_pages() == shape.full_rows {
                    assert_eq!(address, NONE);
                    continue;
                }
                assert_eq!(owner.at(address as usize), page);
                // Pages of a unit are on one die.
                let die = shape.split(address).0;
                let before = before.replace(die);
                assert!(page.is_multiple_of(shape.unit) || before == Some(die));
            }
            let owned = (0..shape.addresses()).filter(|at| owner.at(*at as usize) != NONE);
            assert_eq!(owned.count() as u32, shape.full_rows * shape.row_pages());
        }
    }
}
