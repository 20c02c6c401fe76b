//! A page enters: a callback takes the records that make room for it, and a result says what a read found.

use core::convert::Infallible;

use destage_base::{Lpn, Ticks};

use crate::buffer::Buffer;
use crate::destage::Destage;
use crate::view::View;

/// Takes the records of a buffer on their way, while a page is accepted.
pub trait Destager {
    /// Why a record could not be emitted.
    type Error;

    /// The buffer, and the questions that its scheme may ask about the device.
    fn buffer(&mut self) -> (&mut Buffer, &dyn View);

    /// [`Buffer::record`] holds victims: takes them on their way. The scheme's next answer may depend on it.
    ///
    /// # Errors
    /// If they cannot go.
    fn destage(&mut self) -> Result<(), Self::Error>;
}

/// The outcome of a page read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The page is served from RAM, even if it had already left and its program has not completed; otherwise from flash.
    pub in_ram: bool,
    /// The page enters: [`Buffer::take_in_read`] is to be called at once.
    pub enters: bool,
}

/// A buffer whose records are given to a function, for callers without a device.
pub struct Outlet<'a, F> {
    buffer: &'a mut Buffer,
    view: &'a dyn View,
    take: F,
}

impl<'a, F: FnMut(&Destage)> Outlet<'a, F> {
    /// `take` gets the pages that leave `buffer`, whose scheme sees `view`.
    pub fn new(buffer: &'a mut Buffer, view: &'a dyn View, take: F) -> Self {
        Self { buffer, view, take }
    }

    /// [`Buffer::write`].
    ///
    /// # Panics
    /// As that.
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
