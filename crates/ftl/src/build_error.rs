//! Why a layer cannot be made, in numbers. The caller that informs the user supplies the words and the names of parameters.

use destage_nand::geometry::GeometryError;

/// The parameters that do not fit together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BuildError {
    /// The counts of the device.
    Geometry(GeometryError),
    /// More pages than can be numbered.
    TooManyPages {
        /// Pages the device would have.
        pages: u64,
    },
    /// No block of a die is left for data.
    NoDataBlock {
        /// Blocks of the die.
        blocks: u32,
        /// Log blocks among them, if the layer has any.
        logs: Option<u32>,
        /// Spare blocks among them.
        spare: u32,
    },
    /// The planes of a die cannot be shared out evenly.
    ParallelUnits {
        /// Groups of planes.
        units: u32,
        /// Planes of the die.
        planes: u32,
    },
    /// Not one whole run of pages fits on a die.
    Stride {
        /// Pages of a run.
        stride: u32,
        /// Logical pages of the die.
        pages: u32,
    },
    /// The reserve leaves no block of a plane for data.
    ReserveIsAll {
        /// The reserve.
        percent: f64,
        /// Blocks of a plane.
        blocks: u32,
    },
    /// The reserve is less than one block of a plane.
    ReserveIsNone {
        /// The reserve.
        percent: f64,
        /// Blocks of a plane.
        blocks: u32,
    },
    /// The low mark leaves no free block for the pages that garbage collection moves.
    LowMark {
        /// Free blocks at which it starts.
        low: u32,
        /// Fewest it needs.
        least: u32,
    },
    /// Garbage collection would end before it starts.
    HighMark {
        /// Free blocks at which it ends.
        high: u32,
        /// Free blocks at which it starts.
        low: u32,
    },
    /// The reserve is smaller than the blocks that garbage collection keeps free and open.
    Reserve(ReserveTooSmall),
    /// The blocks of a die are no whole number of zones, or a zone has too many pages.
    Zone {
        /// Blocks of a zone.
        zone_blocks: u32,
        /// Blocks of a die.
        blocks: u32,
        /// Pages of a block.
        data_pages: u32,
    },
    /// Garbage collection in steps would have no room left at the point from which it does not give way any more.
    Floor {
        /// Free blocks under which it does.
        floor: u32,
        /// Fewest it needs.
        least: u32,
    },
}

/// The blocks that garbage collection keeps of a pool, and those it has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReserveTooSmall {
    /// Blocks kept free.
    pub goal: u32,
    /// The share of free blocks at which garbage collection starts, in percent.
    pub min_free_percent: f64,
    /// Free blocks at which it starts, if given; otherwise 0.
    pub low: u32,
    /// Free blocks at which it ends, if given; otherwise 0.
    pub high: u32,
    /// Blocks open for writing.
    pub open: u32,
    /// One of them is for the pages that garbage collection moves.
    pub separate: bool,
    /// Blocks of the map.
    pub map_blocks: u32,
    /// The reserve, in percent.
    pub reserve_percent: f64,
    /// Blocks in the reserve.
    pub reserved: u32,
    /// Blocks of the pool.
    pub blocks: u32,
}

impl From<GeometryError> for BuildError {
    fn from(error: GeometryError) -> Self {
        Self::Geometry(error)
    }
}
