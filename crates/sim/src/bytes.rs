//! The media that hold the bytes of a run, and their layout in an image file.

use destage_ftl::{Filling, Ftl};
use destage_nand::medium::Medium;
use destage_nand::medium::image::Layout;

use crate::config::Config;
use crate::error::SimError;

impl Config {
    /// The layout of an image file of this device's flash. The first `base` bytes of the file stay free for the owner
    /// of the file.
    ///
    /// # Errors
    /// If the image would have more bytes than 64 bits can count.
    pub fn image_layout(&self, base: u64) -> Result<Layout, SimError> {
        Layout::new(&self.geometry(), base).ok_or_else(|| {
            SimError::Config(format!(
                "flash.blocks_per_plane = {}: an image file cannot hold that many blocks; expected fewer",
                self.geometry().blocks_per_plane
            ))
        })
    }

    /// An empty medium.
    pub(crate) fn empty_medium(&self) -> Medium {
        let medium = Medium::new(&self.geometry(), self.programs_in_order());
        let medium = medium.with_units_per_page(self.units_per_page);
        match self.times_commands() {
            true => medium.by_commands(),
            false => medium,
        }
    }

    /// An empty medium, or one with the initial contents of `ftl` if the precondition fills the device.
    pub(crate) fn medium(&self, ftl: &dyn Ftl) -> Medium {
        let mut medium = self.empty_medium();
        if self.precondition().fills() {
            medium.fill_from(Filling::of(ftl));
        }
        medium
    }
}
