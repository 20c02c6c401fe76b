//! The reasons why a layer cannot be built, as numbers. The caller that reports the error writes the message and
//! names the parameters.

use destage_nand::geometry::GeometryError;

/// The reason why a layer cannot be built from the given parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BuildError {
    /// The geometry of the device is invalid.
    Geometry(GeometryError),
    /// The device would have more pages than there are page numbers.
    TooManyPages {
        /// Pages that the device would have.
        pages: u64,
    },
    /// No block of a die is left for data.
    NoDataBlock {
        /// All blocks of the die.
        blocks: u32,
        /// Log blocks of the die, if the layer has any.
        logs: Option<u32>,
        /// Spare blocks of the die.
        spare: u32,
    },
    /// The planes of a die cannot be divided evenly into groups.
    ParallelUnits {
        /// Groups of planes.
        units: u32,
        /// Planes of the die.
        planes: u32,
    },
    /// The stride, that is, the number of consecutive pages on one die, is larger than the number of logical pages
    /// of the die.
    Stride {
        /// Pages of the stride.
        stride: u32,
        /// Logical pages of the die.
        pages: u32,
    },
    /// The reserve leaves no block of a plane for data.
    ReserveIsAll {
        /// The reserve, in percent.
        percent: f64,
        /// All blocks of a plane.
        blocks: u32,
    },
    /// The reserve is less than one block of a plane.
    ReserveIsNone {
        /// The reserve, in percent.
        percent: f64,
        /// All blocks of a plane.
        blocks: u32,
    },
    /// The low watermark leaves no free block for the pages that garbage collection moves.
    LowMark {
        /// Free blocks below which garbage collection starts.
        low: u32,
        /// Minimum number of free blocks that garbage collection needs.
        least: u32,
    },
    /// The high watermark is below the low watermark, so the condition for the end of garbage collection would
    /// hold before it starts.
    HighMark {
        /// Free blocks at which garbage collection ends.
        high: u32,
        /// Free blocks below which garbage collection starts.
        low: u32,
    },
    /// The reserve is smaller than the blocks that garbage collection keeps free and open.
    Reserve(ReserveTooSmall),
    /// The number of blocks of a die is not a multiple of the blocks of a zone, or a zone has too many pages.
    Zone {
        /// Blocks per zone.
        zone_blocks: u32,
        /// Blocks per die.
        blocks: u32,
        /// Pages per block that hold data.
        data_pages: u32,
    },
    /// The units that the drive keeps for itself fill the whole part of each superblock on a die.
    NoDataUnit {
        /// The share of a superblock that the drive keeps for itself, in percent.
        percent: f64,
        /// The die.
        die: u32,
        /// Program units in the part of the die.
        units: u32,
        /// Pages of a program unit.
        pages: u32,
    },
    /// Garbage collection works in steps, and at its hard threshold there are too few free blocks for the pages
    /// that a step moves.
    Floor {
        /// Free blocks below which garbage collection yields to no operation.
        floor: u32,
        /// Minimum number of free blocks that garbage collection needs at that threshold.
        least: u32,
    },
}

/// The reserve of a pool, and the blocks that garbage collection has to keep free or open in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReserveTooSmall {
    /// Blocks that have to be free.
    pub goal: u32,
    /// The share of free blocks at which garbage collection starts, in percent.
    pub min_free_percent: f64,
    /// Free blocks below which garbage collection starts, if given; otherwise 0.
    pub low: u32,
    /// Free blocks at which garbage collection ends, if given; otherwise 0.
    pub high: u32,
    /// Blocks that are not free: open blocks, blocks that fillers occupy, and blocks set aside for another layer.
    pub open: u32,
    /// One of the open blocks is for the pages that garbage collection moves.
    pub separate: bool,
    /// Blocks that the pages of the map occupy.
    pub map_blocks: u32,
    /// The reserve, in percent.
    pub reserve_percent: f64,
    /// Blocks of the reserve.
    pub reserved: u32,
    /// All blocks of the pool.
    pub blocks: u32,
}

impl From<GeometryError> for BuildError {
    fn from(error: GeometryError) -> Self {
        Self::Geometry(error)
    }
}
