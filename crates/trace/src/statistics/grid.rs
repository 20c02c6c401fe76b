//! Counts over time and address.

/// Counts over two axes whose lengths are not known in advance. When a value does not fit on its axis, the
/// cells become twice as long along this axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The binary logarithm of the width and of the height of a cell.
    shifts: [u32; 2],
    cells: Vec<u64>,
}

impl Grid {
    /// The number of cells along the first and the second axis.
    pub const SIZE: [usize; 2] = [128, 64];

    pub(super) fn new() -> Self {
        Self {
            shifts: [0; 2],
            cells: vec![0; Self::SIZE[0] * Self::SIZE[1]],
        }
    }

    pub(super) fn add(&mut self, place: [u64; 2]) {
        for (axis, (value, size)) in place.into_iter().zip(Self::SIZE).enumerate() {
            while value >> self.shifts[axis] >= size as u64 {
                self.double(axis);
            }
        }
        let [x, y] = [0, 1].map(|axis| (place[axis] >> self.shifts[axis]) as usize);
        self.cells[y * Self::SIZE[0] + x] += 1;
    }

    fn double(&mut self, axis: usize) {
        let old = std::mem::replace(&mut self.cells, vec![0; Self::SIZE[0] * Self::SIZE[1]]);
        for (index, count) in old.into_iter().enumerate() {
            let mut place = [index % Self::SIZE[0], index / Self::SIZE[0]];
            place[axis] /= 2;
            self.cells[place[1] * Self::SIZE[0] + place[0]] += count;
        }
        self.shifts[axis] += 1;
    }

    /// The count in the cell at `x`, `y`.
    #[must_use]
    pub fn count(&self, x: usize, y: usize) -> u64 {
        self.cells[y * Self::SIZE[0] + x]
    }

    /// The width and the height of a cell, in units of the axes.
    #[must_use]
    pub fn cell(&self) -> [u64; 2] {
        self.shifts.map(|shift| 1 << shift)
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;

    #[test]
    fn a_grid_keeps_every_count_when_it_grows() {
        let mut grid = Grid::new();
        let places = [
            [0, 0],
            [127, 63],
            [128, 3],
            [1 << 40, 1 << 30],
            [5, 1 << 30],
        ];
        places.into_iter().for_each(|place| grid.add(place));
        assert_eq!(grid.cell(), [1 << 34, 1 << 25]);
        assert_eq!(
            (grid.count(0, 0), grid.count(64, 32), grid.count(0, 32)),
            (3, 1, 1)
        );
    }
}
