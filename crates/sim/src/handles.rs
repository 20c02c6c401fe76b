//! Placement handles of the host: their number, and how they share the buffer.

use destage_base::parameter::Value;

use crate::config::Config;
use crate::parameters::ByHandle;

impl Config {
    /// The numeric parameter `name` of the layer, or `otherwise` if the layer does not have it.
    fn of_layer(&self, name: &str, otherwise: u64) -> u64 {
        match self.ftl_parameter(name) {
            Some(Value::Integer(number)) => *number,
            _ => otherwise,
        }
    }

    /// The number of placement handles that the layer distinguishes.
    pub(crate) fn handles(&self) -> u32 {
        self.of_layer("handles", 1) as u32
    }

    /// The number of host streams that have open blocks of their own.
    pub(crate) fn host_streams(&self) -> u32 {
        match self.of_layer("hot_window", 0) {
            0 => self.handles(),
            _ => 2 * self.handles(),
        }
    }

    /// The number of blocks that a host stream fills in turn: it writes one program unit to each block, and then
    /// continues with the first block.
    pub(crate) fn blocks_in_turn(&self) -> u32 {
        self.of_layer("zone_blocks", 1) as u32
    }

    /// How placement handles share the buffer. All handles share the whole buffer if there is only one handle, or if
    /// the scheme's slots cannot be divided.
    pub(crate) fn by_handle(&self) -> ByHandle {
        match self.handles() > 1 && self.has_divisible_slots() {
            true => self.typed.buffer.by_handle,
            false => ByHandle::Shared,
        }
    }
}
