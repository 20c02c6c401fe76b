//! Pages that a scheme programs right after a page write, although the buffer has room.

use destage_base::Ticks;

use crate::buffer::Buffer;
use crate::destage::DestageCause;
use crate::scheme::AccessKind;
use crate::view::View;

impl Buffer {
    /// Whether the caller has to call [`eager_next`](Self::eager_next) after each page write.
    #[must_use]
    pub fn is_eager(&self) -> bool {
        self.properties.is_eager
    }

    /// The caller calls this after a page write, until it returns `false`. Returns `true` if the scheme names pages
    /// to program at once. [`record`](Self::record) then contains them. Returns `false` if there are no more such
    /// pages.
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
