//! Where the bytes of a device are kept, and how that place is opened.

mod disk;
mod image;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use destage_device::backed::Fault;
use destage_sim::error::SimError;
use destage_sim::run::live::Media;
use destage_sim::settings::{Config, Origin, Settings};

pub use self::disk::Disk;
pub use self::image::Image;
use crate::configuration;
use crate::device::Sync;

/// Where the bytes of a device are to be.
#[derive(Clone, Copy, Debug)]
pub enum Place<'p> {
    /// In RAM, and nowhere when the process ends.
    Ram,
    /// On a file or a block device, with the buffer in front of it.
    Backing(&'p Path),
    /// In a file that is the flash.
    Image(&'p Path),
}

/// A configuration and its media.
pub struct Opened {
    /// The configuration.
    pub config: Config,
    /// The settings in which it differs from a run, one sentence each.
    pub notes: Vec<String>,
    /// Where the bytes are.
    pub media: Media,
    /// The function that makes the bytes durable.
    pub sync: Option<Sync>,
}

/// Media that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// Settings that make no device.
    #[error(transparent)]
    Settings(#[from] SimError),
    /// The system refuses the file.
    #[error("{}: {cause}; expected {expected}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
        /// What would do.
        expected: &'static str,
    },
    /// The file is of another kind than expected.
    #[error("{}: {why}", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// The present kind, and the expected one.
        why: String,
    },
}

/// The configuration of `settings` with its bytes at `place`.
///
/// # Errors
/// An error in the settings or in the file, or between the two.
pub fn open(settings: &Settings, place: Place<'_>, read_only: bool) -> Result<Opened, MediaError> {
    match place {
        Place::Ram => {
            let (config, notes) = configuration(settings)?;
            Ok(Opened {
                config,
                notes,
                media: Media::Ram,
                sync: None,
            })
        }
        Place::Image(path) => {
            let (config, notes, image) = image::open(settings, path)?;
            let sync = image.sync().map_err(|cause| MediaError::File {
                path: path.to_owned(),
                cause,
                expected: "a file",
            })?;
            Ok(Opened {
                config,
                notes,
                media: Media::Image(Arc::new(image), image::BASE),
                sync: Some(sync),
            })
        }
        Place::Backing(path) => {
            let asked = settings.resolve()?.capacity_bytes;
            let disk = Disk::open(path, asked, read_only)?;
            let mut settings = settings.clone();
            if settings.resolve()?.is_open() {
                let origin = Origin::Given(format!("the size of {}", path.display()));
                settings.set("device.capacity_bytes", &disk.bytes().to_string(), origin);
            }
            let (config, notes) = configuration(&settings)?;
            let sync = disk.sync().map_err(|cause| MediaError::File {
                path: path.to_owned(),
                cause,
                expected: "a file or disk",
            })?;
            let bytes = disk.bytes();
            Ok(Opened {
                config,
                notes,
                media: Media::Disk(Box::new(disk), bytes),
                sync: Some(sync),
            })
        }
    }
}

/// The meaning of `error` for a client.
#[must_use]
pub fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Fault::Full
        }
        _ => Fault::Io,
    }
}
