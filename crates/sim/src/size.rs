//! The number of blocks that a device needs: for the addresses of an input (`flash.blocks_per_plane = auto`), or
//! for a capacity.
//!
//! Only the layer knows how many pages it offers. So the search builds a trial layer for each number of blocks that
//! it tries. A trial layer is cheap, because its tables are lazy. The search also builds few of them, because it
//! begins at the number of blocks that would hold the pages without over-provisioning.

use destage_base::parameter::{CountOrAuto, Value};
use destage_ftl::BuildError;
use destage_nand::Geometry;
use destage_trace::{ReadOptions, Volumes};

use crate::error::SimError;
use crate::precondition::Precondition;
use crate::settings::Config;

const KEY: &str = "flash.blocks_per_plane";

/// Maximum number of blocks of a device whose input is not known beforehand. With this number, page mapping needs
/// nine bytes for each block, and a fifth of a second to start. With the default geometry, the device then has 2 TiB.
/// Time and memory are proportional to the number of blocks.
pub const LAZY_BLOCKS: u64 = 1 << 23;

/// The largest number of pages of any device.
const MOST_PAGES: u64 = u32::MAX as u64 - 1;

impl Config {
    /// Whether the number of blocks has yet to be found.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.typed.flash.blocks_per_plane == CountOrAuto::Auto
    }

    /// Whether the number of blocks has to be found from the addresses of the input.
    #[must_use]
    pub fn fits_input(&self) -> bool {
        self.is_open() && self.capacity_bytes.is_none()
    }

    /// This configuration with `blocks` blocks in a plane.
    #[must_use]
    pub fn with_blocks(&self, blocks: u32) -> Self {
        let mut config = self.clone();
        config.set(KEY, Value::Integer(blocks.into()));
        config
    }

    /// The bytes of data that the flash holds, without over-provisioning.
    #[must_use]
    pub fn flash_bytes(&self) -> u64 {
        let geometry = self.geometry();
        let blocks = u64::from(geometry.dies) * u64::from(geometry.blocks_per_die());
        blocks * u64::from(geometry.data_pages()) * geometry.page_bytes
    }

    /// The smallest power of two that is a sufficient number of blocks in a plane: the device then offers at least
    /// `pages` pages.
    ///
    /// # Errors
    /// [`SimError::AddressesTooLarge`] if no number of blocks is enough. If the layer refuses every number of blocks,
    /// the error of the layer.
    pub fn blocks_for_addresses(&self, pages: u64) -> Result<u32, SimError> {
        let most = self.most_blocks()?;
        let device = match pages > MOST_PAGES {
            true => "larger pages (flash.page_bytes)",
            false => "more flash.dies, larger pages (flash.page_bytes)",
        };
        let too_large = |offered: u64| SimError::AddressesTooLarge {
            pages,
            // Pages have numbers of 32 bits, whatever the shape of the device is.
            offered: offered.min(MOST_PAGES),
            page_bytes: self.geometry().page_bytes,
            remedy: match self.read_options() {
                Ok(ReadOptions {
                    volumes: Volumes::Separate,
                    volume_stride,
                    ..
                }) => format!(
                    "trace.volumes = concatenate, a trace.volume_stride of less than {volume_stride} sectors, {device}"
                ),
                _ => device.to_owned(),
            },
        };
        let mut blocks = self.least_blocks(pages).next_power_of_two();
        if !self.has_flash() {
            blocks = blocks.min(u64::from(most));
        }
        let mut failure = None;
        let mut largest = 0;
        while blocks <= u64::from(most) {
            match self.offered(blocks as u32) {
                Ok(offered) if offered >= pages => return Ok(blocks as u32),
                Ok(offered) => largest = offered,
                Err(error) if is_too_large(&error) => break,
                Err(error) => failure = Some(error),
            }
            blocks *= 2;
        }
        Err(match failure {
            Some(error) if largest == 0 => error,
            _ => too_large(largest.max(u64::from(most) * self.row_pages())),
        })
    }

    /// The smallest number of blocks in a plane with which the device offers at least `bytes` bytes.
    ///
    /// # Errors
    /// [`SimError::CapacityTooLarge`] if no number of blocks is enough. If the layer refuses every number of blocks,
    /// the error of the layer.
    pub fn blocks_for_capacity(&self, bytes: u64) -> Result<u32, SimError> {
        let most = u64::from(self.most_blocks()?);
        let page_bytes = self.geometry().page_bytes;
        let pages = bytes.div_ceil(page_bytes);
        let too_large = || SimError::CapacityTooLarge {
            bytes,
            most: (most * self.row_pages()).min(MOST_PAGES) * page_bytes,
        };
        // The search counts in steps: the layer may accept only multiples of some number of blocks.
        let step_blocks = self.step_blocks();
        let offered = |steps: u64| {
            let blocks = u32::try_from(steps.saturating_mul(step_blocks));
            self.offered(blocks.unwrap_or(u32::MAX))
        };
        let most = most / step_blocks;
        // `low` steps are too few, and `high` steps are enough.
        let mut low = self.least_blocks(pages).div_ceil(step_blocks) - 1;
        let mut guess = low + 1;
        let mut failure = None;
        let mut high = loop {
            if guess > 2 * most {
                return Err(failure.unwrap_or_else(too_large));
            }
            match offered(guess) {
                Ok(offered) if offered >= pages => break guess,
                Ok(offered) => {
                    failure = None;
                    low = guess;
                    // The layer may set aside a fraction of the blocks, or a constant number of blocks. The next
                    // guess assumes a fraction.
                    let next = u128::from(guess) * u128::from(pages);
                    guess = (next.div_ceil(u128::from(offered.max(1))) as u64).max(guess + 1);
                }
                Err(error) if is_too_large(&error) => {
                    return Err(failure.unwrap_or_else(too_large));
                }
                Err(error) => {
                    low = guess;
                    guess *= 2;
                    failure = Some(error);
                }
            }
        };
        // In nearly all cases `high` is the result, or one more than the result. So the search begins with small
        // steps.
        let mut step = 1;
        while high - low > 1 {
            let middle = high.saturating_sub(step).max(low + 1);
            let holds = offered(middle);
            if holds.is_ok_and(|offered| offered >= pages) {
                high = middle;
                step *= 2;
            } else {
                low = middle;
                step = ((high - low) / 2).max(1);
            }
        }
        Ok((high * step_blocks) as u32)
    }

    /// The largest power of two, as a number of blocks in a plane, with which the device starts at once. The device
    /// then has at most [`LAZY_BLOCKS`] blocks in total.
    ///
    /// # Errors
    /// The error of the layer or of the geometry, if no number of blocks is possible.
    pub fn lazy_blocks(&self) -> Result<u32, SimError> {
        let geometry = self.geometry();
        let planes = u64::from(geometry.dies) * u64::from(geometry.planes);
        let within = (LAZY_BLOCKS / planes).max(1).ilog2();
        let mut blocks = self.most_blocks()?.min(1 << within);
        let mut failure = None;
        loop {
            match self.offered(blocks) {
                Ok(_) => return Ok(blocks),
                Err(error) if blocks == 1 => return Err(failure.unwrap_or(error)),
                Err(error) if is_too_large(&error) => {}
                Err(error) => {
                    failure.get_or_insert(error);
                }
            }
            blocks /= 2;
        }
    }

    /// The pages that the device offers. Its number of blocks must be known.
    ///
    /// # Errors
    /// An error that names the values that do not fit together.
    pub fn offered_pages(&self) -> Result<u64, SimError> {
        Ok(self.ftl()?.pages())
    }

    /// The pages of flash that are free before the first request. The number of blocks must be known. The result
    /// is 0 if the layer merges blocks, because the first rewrite may then need a merge.
    ///
    /// # Errors
    /// An error that names the values that do not fit together.
    pub fn free_pages(&self) -> Result<u64, SimError> {
        let ftl = self.ftl()?;
        if ftl.properties().has_merges {
            return Ok(0);
        }
        let filled = match self.precondition() {
            Precondition::None => 0,
            Precondition::SequentialFill | Precondition::RandomFill(_) => ftl.pages(),
        };
        let all = self.flash_bytes() / self.geometry().page_bytes;
        Ok(all.saturating_sub(filled))
    }

    /// The pages that a device with `blocks` blocks in a plane offers. The number does not depend on the contents of
    /// the device. So the layer is built without contents, which is faster because no block is visited.
    fn offered(&self, blocks: u32) -> Result<u64, SimError> {
        Ok(self.with_blocks(blocks).ftl_with(false)?.pages())
    }

    /// The number of blocks in a plane of which the layer accepts only multiples.
    pub(crate) fn step_blocks(&self) -> u64 {
        let planes = self.typed.flash.planes_per_die;
        match self.offered(1) {
            Err(SimError::Layer(BuildError::Zone { zone_blocks, .. })) => {
                let mut step = 1;
                while !(step * planes).is_multiple_of(zone_blocks) {
                    step += 1;
                }
                u64::from(step)
            }
            _ => 1,
        }
    }

    /// The number of data pages in one block of every plane together.
    pub(crate) fn row_pages(&self) -> u64 {
        let geometry = self.geometry();
        let planes = u64::from(geometry.dies) * u64::from(geometry.planes);
        planes * u64::from(geometry.data_pages())
    }

    /// The number of blocks in a plane that hold `pages` pages without over-provisioning; at least one.
    fn least_blocks(&self, pages: u64) -> u64 {
        pages.div_ceil(self.row_pages()).max(1)
    }

    /// The largest power of two that the numbering of pages allows as the number of blocks in a plane.
    fn most_blocks(&self) -> Result<u32, SimError> {
        let geometry = self.geometry();
        let of = |blocks_per_plane| {
            let tried = Geometry {
                blocks_per_plane,
                ..geometry
            };
            tried.check()
        };
        of(1).map_err(SimError::Geometry)?;
        let powers = (0..u32::BITS).map(|power| 1 << power);
        let most = powers.take_while(|blocks| of(*blocks).is_ok()).last();
        Ok(most.unwrap_or(1))
    }
}

fn is_too_large(error: &SimError) -> bool {
    matches!(
        error,
        SimError::Layer(BuildError::TooManyPages { .. }) | SimError::Geometry(_)
    )
}
