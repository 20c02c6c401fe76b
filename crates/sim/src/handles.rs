//! Placement handles of the host: how many there are, and how they share the buffer.

use destage_base::parameter::Value;

use crate::config::Config;
use crate::parameters::ByHandle;

impl Config {
    /// The layer's parameter `name`, a number; `otherwise` of a layer without it.
    fn of_layer(&self, name: &str, otherwise: u64) -> u64 {
        match self.ftl_parameter(name) {
            Some(Value::Integer(number)) => *number,
            _ => otherwise,
        }
    }

    /// Number of placement handles that the layer distinguishes.
    pub(crate) fn handles(&self) -> u32 {
        self.of_layer("handles", 1) as u32
    }

    /// Streams of the host that have open blocks of their own.
    pub(crate) fn host_streams(&self) -> u32 {
        match self.of_layer("hot_window", 0) {
            0 => self.handles(),
            _ => 2 * self.handles(),
        }
    }

    /// Blocks over which a stream of the host goes round, unit by unit.
    pub(crate) fn blocks_in_turn(&self) -> u32 {
        self.of_layer("zone_blocks", 1) as u32
    }

    /// How placement handles share the buffer: with one handle, or a scheme whose slots cannot be divided, there is nothing to share.
    pub(crate) fn by_handle(&self) -> ByHandle {
        match self.handles() > 1 && self.has_divisible_slots() {
            true => self.typed.buffer.by_handle,
            false => ByHandle::Shared,
        }
    }
}
