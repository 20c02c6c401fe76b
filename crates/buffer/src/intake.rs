//! How a page enters: a callback takes the records that make room for it, and a result says what a read found.

use core::convert::Infallible;

use destage_base::{Lpn, Ticks};

use crate::buffer::Buffer;
use crate::destage::Destage;
use crate::view::View;

/// Takes the records that a buffer emits while a page enters.
pub trait Destager {
    /// Why a record could not be emitted.
    type Error;

    /// The buffer, and the questions that its scheme may ask about the device.
    fn buffer(&mut self) -> (&mut Buffer, &dyn View);

    /// Takes the record in [`Buffer::record`] and issues its programs. The scheme's next answer may depend on them.
    ///
    /// # Errors
    /// If the record cannot be issued.
    fn destage(&mut self) -> Result<(), Self::Error>;
}

/// The outcome of a page read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Whether the page is served from RAM. This includes a page that has left and is still being programmed.
    /// Otherwise it is read from flash.
    pub in_ram: bool,
    /// Whether the page enters the buffer; the caller must then call [`Buffer::take_in_read`] at once.
    pub enters: bool,
}

/// A buffer that gives its records to a function, for callers without a device.
pub struct Outlet<'a, F> {
    buffer: &'a mut Buffer,
    view: &'a dyn View,
    take: F,
}

impl<'a, F: FnMut(&Destage)> Outlet<'a, F> {
    /// `take` gets the records of `buffer`; the scheme of `buffer` sees the device through `view`.
    pub fn new(buffer: &'a mut Buffer, view: &'a dyn View, take: F) -> Self {
        Self { buffer, view, take }
    }

    /// Writes `page`, as [`Buffer::write`] does. Returns whether the page was resident.
    ///
    /// # Panics
    /// In the cases in which [`Buffer::write`] panics.
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
