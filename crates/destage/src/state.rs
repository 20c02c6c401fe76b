//! The state of a device before the first request, saved in a file for later runs.
//!
//! A run loads the file with `sim.precondition = file:PATH`. Its metrics are the same as if the run had prepared the
//! device. [`sim::state`](destage_sim::state) describes the content of the file.
//!
//! ```
//! use destage::state::Prepared;
//! use destage::{Settings, Silent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut settings = Settings::new();
//! settings.set_pair("flash.blocks_per_plane=16")?;
//! settings.set_pair("sim.precondition=random_fill:1")?;
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("used.state");
//! Prepared::of(&settings, &Silent)?.save(std::fs::File::create(&path)?)?;
//!
//! settings.set_pair(&format!("sim.precondition=file:{}", path.display()))?;
//! let config = settings.resolve()?;
//! assert!(config.parameters().contains_key("state.digest"));
//! # Ok(())
//! # }
//! ```

use std::io::{self, Write};

use destage_buffer::COMMON;
use destage_ftl::Ftl;
use destage_sim::observer::Silent;
use destage_sim::settings::{Config, Settings};
use destage_sim::state;

use crate::error::Error;
use crate::progress::{Counter, Progress, Watch};

/// A device in its state before the first request.
pub struct Prepared {
    config: Config,
    ftl: Box<dyn Ftl>,
}

impl Prepared {
    /// Prepares the device of `settings` as [`Prepared::new`] does. A state has no buffer, so a buffer that does not
    /// fit the device is no error here.
    ///
    /// # Errors
    /// As [`Prepared::new`], or if a setting is unknown or has an illegal value, even a setting of the buffer.
    pub fn of(settings: &Settings, progress: &dyn Progress) -> Result<Self, Error> {
        settings.read()?;
        let mut settings = settings.clone();
        for row in COMMON {
            settings.remove(&format!("buffer.{}", row.name));
        }
        settings.set_kind("buffer", "nocache")?;
        Self::new(&settings.resolve()?, progress)
    }

    /// Prepares the device of `config` as `sim.precondition` specifies.
    ///
    /// # Errors
    /// If the configuration or the size of the device is wrong, if there is no flash, or if `progress` asked to stop.
    pub fn new(config: &Config, progress: &dyn Progress) -> Result<Self, Error> {
        if !config.has_flash() {
            return Err(Error::Input(format!(
                "ftl.kind = {}: there is no flash whose state could be prepared; expected a layer with flash",
                config.ftl_row.name
            )));
        }
        let counter = Counter::new(progress, None);
        let config = match config.capacity_bytes {
            Some(bytes) if config.is_open() => {
                config.with_blocks(config.blocks_for_capacity(bytes)?)
            }
            _ => config.clone(),
        };
        Ok(Self {
            ftl: config.prepared_ftl(&mut Watch::new(&counter, Silent))?,
            config,
        })
    }

    /// The number of pages that the device offers to the host. A page is a unit of the mapping here.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.ftl.pages()
    }

    /// Writes the state to `writer`.
    ///
    /// # Errors
    /// If `writer` fails.
    pub fn save(&mut self, writer: impl Write) -> io::Result<()> {
        state::save(&self.config, &mut *self.ftl, writer)
    }
}
