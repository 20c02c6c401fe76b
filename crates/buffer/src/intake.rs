//! The types for a page that enters the buffer: a callback that receives the records that make room, and the result
//! of a read.

use core::convert::Infallible;

use destage_base::{Lpn, Ticks};

use crate::buffer::Buffer;
use crate::destage::Destage;
use crate::view::View;

/// Receives the records that a buffer emits while a page enters.
pub trait Destager {
    /// The reason why a record could not be issued.
    type Error;

    /// The buffer, and the view through which its scheme queries the device.
    fn buffer(&mut self) -> (&mut Buffer, &dyn View);

    /// Receives the record in [`Buffer::record`] and issues its programs. The scheme's next answer may depend on
    /// these programs.
    ///
    /// # Errors
    /// If the record cannot be issued.
    fn destage(&mut self) -> Result<(), Self::Error>;
}

/// The outcome of a page read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Whether the page is served from RAM. This includes a page that has left the buffer and is still being
    /// programmed. Any other page is read from flash.
    pub in_ram: bool,
    /// Whether the page enters the buffer. If so, the caller must call [`Buffer::take_in_read`] at once.
    pub enters: bool,
}

/// A buffer that passes its records to a function, for callers without a device.
pub struct Outlet<'a, F> {
    buffer: &'a mut Buffer,
    view: &'a dyn View,
    take: F,
}

impl<'a, F: FnMut(&Destage)> Outlet<'a, F> {
    /// Creates an outlet. `take` receives the records of `buffer`. The scheme of `buffer` queries the device through
    /// `view`.
    pub fn new(buffer: &'a mut Buffer, view: &'a dyn View, take: F) -> Self {
        Self { buffer, view, take }
    }

    /// Writes `page`, as [`Buffer::write`] does. Returns whether the page was resident.
    pub fn write(&mut self, page: Lpn, now: Ticks) -> bool {
        let Ok(was_resident) = Buffer::write(self, page, now);
        was_resident
    }
}

impl<F: FnMut(&Destage)> Destager for Outlet<'_, F> {
    type Error = Infallible;

    fn buffer(&mut self) -> (&mut Buffer, &dyn View) {
        (self.buffer, self.view)
    }

    fn destage(&mut self) -> Result<(), Infallible> {
        (self.take)(self.buffer.record());
        Ok(())
    }
}
