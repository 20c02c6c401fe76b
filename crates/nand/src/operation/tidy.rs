//! With a step, a layer can state that the die has no garbage to collect. The device then need not call the layer's
//! `collect_garbage` before the next step.

use super::Operations;

impl Operations {
    /// States whether `collect_garbage` of the layer, called before the next step of this die, would find nothing to
    /// do. If a layer does not call this method, the device calls `collect_garbage`.
    #[inline]
    pub fn set_tidy(&mut self, is_tidy: bool) {
        self.is_tidy = is_tidy;
    }

    /// Returns the value of the last [`Operations::set_tidy`] and resets it to `false`.
    #[inline]
    pub fn take_tidy(&mut self) -> bool {
        core::mem::take(&mut self.is_tidy)
    }
}
