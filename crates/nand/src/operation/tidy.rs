//! A statement about garbage collection that a layer makes with a step, so that it need not be asked before every
//! next step.

use super::Operations;

impl Operations {
    /// States whether `collect_garbage` of the layer would find nothing to do on the die of this step before the
    /// next step there. A layer that does not state it is asked.
    #[inline]
    pub fn set_tidy(&mut self, is_tidy: bool) {
        self.is_tidy = is_tidy;
    }

    /// Returns the value of [`Operations::set_tidy`] and resets it; `false` if it was not set.
    #[inline]
    pub fn take_tidy(&mut self) -> bool {
        core::mem::take(&mut self.is_tidy)
    }
}
