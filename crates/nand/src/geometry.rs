//! How many dies, planes, blocks and pages a device has.

/// The numbers of dies, planes, blocks and pages of a device. All dies are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Number of dies, which work independently.
    pub dies: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block, the summary page included if there is one.
    pub pages_per_block: u32,
    /// Whether the last page of each block holds metadata instead of data.
    pub summary_page: bool,
    /// Bytes of data in a page.
    pub page_bytes: u64,
}

/// The largest number of pages that a block may have.
const MOST_PAGES_PER_BLOCK: u32 = 1 << 15;

/// The reason why a device with the given geometry cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// There is no die, no plane or no block.
    Empty,
    /// A block has no page for data, or too many pages.
    PagesPerBlock {
        /// Pages of a block.
        pages_per_block: u32,
        /// Whether the last page of a block holds no data.
        summary_page: bool,
        /// The largest number of pages that a block may have.
        most: u32,
    },
    /// The pages of a die cannot be numbered with 32 bits.
    DieTooLarge {
        /// Planes of the die.
        planes: u32,
        /// Blocks of a plane.
        blocks_per_plane: u32,
        /// Pages of a block.
        pages_per_block: u32,
    },
}

impl Geometry {
    /// Pages of a block that hold data.
    #[must_use]
    pub fn data_pages(&self) -> u32 {
        self.pages_per_block - u32::from(self.summary_page)
    }

    /// Blocks in a die.
    #[must_use]
    pub fn blocks_per_die(&self) -> u32 {
        self.planes * self.blocks_per_plane
    }

    /// Number of bits by which the slot of a block is shifted left in a [`crate::array::Ppn`].
    #[must_use]
    pub fn page_bits(&self) -> u32 {
        self.pages_per_block.next_power_of_two().trailing_zeros()
    }

    /// Checks that a device with this geometry can be built.
    ///
    /// # Errors
    /// The first violated condition.
    pub fn check(&self) -> Result<(), GeometryError> {
        if self.dies == 0 || self.planes == 0 || self.blocks_per_plane == 0 {
            return Err(GeometryError::Empty);
        }
        if self.pages_per_block <= u32::from(self.summary_page)
            || self.pages_per_block > MOST_PAGES_PER_BLOCK
        {
            return Err(GeometryError::PagesPerBlock {
                pages_per_block: self.pages_per_block,
                summary_page: self.summary_page,
                most: MOST_PAGES_PER_BLOCK,
            });
        }
        let pages = (u64::from(self.planes) * u64::from(self.blocks_per_plane)) << self.page_bits();
        if pages >= u64::from(u32::MAX) {
            return Err(GeometryError::DieTooLarge {
                planes: self.planes,
                blocks_per_plane: self.blocks_per_plane,
                pages_per_block: self.pages_per_block,
            });
        }
        Ok(())
    }
}
