//! Facts about garbage collection that a layer gives with a step, so that it need not be asked before every next one.

use super::Operations;

impl Operations {
    /// Says whether `collect_garbage` of the layer would find nothing to do on the die of this step
    /// before the next one there. A layer may leave it unsaid, and is then asked.
    #[inline]
    pub fn set_tidy(&mut self, is_tidy: bool) {
        self.is_tidy = is_tidy;
    }

    /// Takes the value of [`Operations::set_tidy`]; `false` if it was not set.
    #[inline]
    pub fn take_tidy(&mut self) -> bool {
        core::mem::take(&mut self.is_tidy)
    }
}
