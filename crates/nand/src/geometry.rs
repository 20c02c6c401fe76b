//! How many dies, planes, blocks and pages a device has.

/// The counts of a device. All dies are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Independently working packages.
    pub dies: u32,
    /// Planes in a die.
    pub planes: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block, the summary page included if there is one.
    pub pages_per_block: u32,
    /// The last page of each block holds metadata and no data.
    pub summary_page: bool,
    /// Bytes of data in a page.
    pub page_bytes: u64,
}

/// The most pages a block may have.
const MOST_PAGES_PER_BLOCK: u32 = 1 << 15;

/// Counts that make no device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeometryError {
    /// No die, no plane or no block.
    Empty,
    /// A block has no page for data, or too many.
    PagesPerBlock {
        /// Pages of a block.
        pages_per_block: u32,
        /// The last one holds no data.
        summary_page: bool,
        /// Most pages of a block.
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

    /// Bits by which a block's slot is shifted in a [`crate::array::Ppn`].
    #[must_use]
    pub fn page_bits(&self) -> u32 {
        self.pages_per_block.next_power_of_two().trailing_zeros()
    }

    /// Refuses shapes that cannot be built.
    ///
    /// # Errors
    /// The first count that does not fit.
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
