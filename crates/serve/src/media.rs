//! The media that store the bytes of a device: RAM, a disk, or an image.

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

/// Where the bytes of a device are stored.
#[derive(Clone, Copy, Debug)]
pub enum Place<'p> {
    /// In RAM. The bytes are lost when the process ends.
    Ram,
    /// On a file or a block device, with the buffer in front of it.
    Backing(&'p Path),
    /// In an image: a file that holds the simulated flash.
    Image(&'p Path),
}

/// A configuration and its media.
pub struct Opened {
    /// The configuration.
    pub config: Config,
    /// One sentence for each setting that a server changes or ignores.
    pub notes: Vec<String>,
    /// The media with the bytes.
    pub media: Media,
    /// The function that makes the bytes durable; `None` in RAM.
    pub sync: Option<Sync>,
}

/// The error for media that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The settings do not describe a possible device.
    #[error(transparent)]
    Settings(#[from] SimError),
    /// The system refuses to open or use the file.
    #[error("{}: {cause}; expected {expected}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
        /// What was expected instead.
        expected: &'static str,
    },
    /// The file does not fit the device.
    #[error("{}: {why}", .path.display())]
    Unfit {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with the file, and what was expected.
        why: String,
    },
}

/// Makes the configuration from `settings`, and opens the media at `place`. With `read_only`, a disk behind the
/// buffer is opened only for reading, and no image file is made. A mount may still repair an image.
///
/// # Errors
/// An error in the settings, an error of the file, or a setting that does not fit the file.
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
        Place::Image(path) if read_only && !path.exists() => Err(MediaError::Unfit {
            path: path.to_owned(),
            why: "is missing; expected an image, because clients may only read".to_owned(),
        }),
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
            if asked.is_some() {
                // Settings that cannot be used are refused before a file is made or extended.
                configuration(settings)?;
            }
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

/// The kind of error that a client gets for this error of the system.
#[must_use]
pub fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Fault::Full
        }
        _ => Fault::Io,
    }
}
