//! How many dies, planes, blocks and pages a device has.

use alloc::format;
use alloc::string::String;

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

    /// Bits by which a block's slot is shifted in a [`crate::nand::Ppn`].
    #[must_use]
    pub fn page_bits(&self) -> u32 {
        self.pages_per_block.next_power_of_two().trailing_zeros()
    }

    /// Refuses what cannot be built.
    ///
    /// # Errors
    /// A sentence naming the counts that do not fit.
    pub fn check(&self) -> Result<(), String> {
        if self.dies == 0 || self.planes == 0 || self.blocks_per_plane == 0 {
            return Err("a device has at least one die, one plane and one block".into());
        }
        if self.pages_per_block <= u32::from(self.summary_page) || self.pages_per_block > 1 << 15 {
            return Err(format!(
                "pages_per_block = {}{} leaves no data page, or is more than {}",
                self.pages_per_block,
                if self.summary_page {
                    " with a summary page"
                } else {
                    ""
                },
                1 << 15,
            ));
        }
        let pages = (u64::from(self.planes) * u64::from(self.blocks_per_plane)) << self.page_bits();
        if pages >= u64::from(u32::MAX) {
            return Err(format!(
                "a die of {} planes x {} blocks x {} pages has 2^32 pages or more; use more dies",
                self.planes, self.blocks_per_plane, self.pages_per_block
            ));
        }
        Ok(())
    }
}
