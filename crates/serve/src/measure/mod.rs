//! Real drives that are measured: an NBD server, a block device, or a file.
//!
//! Each drive is a [`Target`] of the experiments of [`destage::drive`]. A command on a block device or file is timed
//! by the thread that carries it out. A command on an NBD server is timed when it is submitted and when its answer is
//! received. A separate thread receives the answers and does nothing else.

mod blank;
mod disk;
mod ends;
mod nbd;

use std::path::Path;

use destage::Error;
use destage::drive::Target;

pub use self::disk::Disk;
pub use self::nbd::Nbd;
use crate::address::Address;

/// A drive that may be measured.
pub struct Opened {
    /// The drive.
    pub target: Box<dyn Target>,
    /// A sentence that says that the drive holds data, which a measurement would overwrite; `None` if the drive holds
    /// none.
    pub holds: Option<String>,
}

/// Opens the drive that `text` names: the URI of an NBD server, or the path of a block device or file. `control` is
/// the control socket of a `destage serve`, which reports the number of bytes that the flash has programmed.
///
/// # Errors
/// If there is no such drive, another program uses it, or it cannot be written.
pub fn open(text: &str, control: Option<&Path>) -> Result<Opened, Error> {
    if text.starts_with("nbd:") || text.starts_with("nbd+unix:") {
        let address = Address::parse(text).map_err(|error| Error::Input(error.to_string()))?;
        let (target, holds) = Nbd::connect(text, &address, control)?;
        return Ok(Opened {
            target: Box::new(target),
            holds,
        });
    }
    if let Some(control) = control {
        return Err(Error::Input(format!(
            "{}: is the control socket of a server, but {text} is not a server; expected the URI of an NBD server",
            control.display()
        )));
    }
    let (target, holds) = Disk::open(Path::new(text))?;
    Ok(Opened {
        target: Box::new(target),
        holds,
    })
}
