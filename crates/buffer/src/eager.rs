//! After a page write: the pages that a scheme programs at once, although there is room.

use destage_base::Ticks;

use crate::buffer::Buffer;
use crate::destage::DestageCause;
use crate::scheme::AccessKind;
use crate::view::View;

impl Buffer {
    /// Whether [`eager_next`](Self::eager_next) is to be called after each page write.
    #[must_use]
    pub fn is_eager(&self) -> bool {
        self.properties.is_eager
    }

    /// A page write has been taken in: `true` if the scheme has pages programmed at once, and [`record`](Self::record) holds them; `false` if there
    /// are none left.
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn eager_next(&mut self, now: Ticks, view: &dyn View) -> bool {
        let access = self.access(AccessKind::Write, now);
        loop {
            self.scheme.eager(&access, view, &mut self.victim);
            if self.victim.entries.is_empty() {
                return false;
            }
            if self.carry_out(DestageCause::Eager, now, view) {
                return true;
            }
        }
    }
}
