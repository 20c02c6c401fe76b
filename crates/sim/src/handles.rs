//! Placement handles of the host: how many there are, and how they share the buffer.

use destage_base::parameter::Value;
use destage_buffer::SchemeConfig;

use crate::config::Config;
use crate::error::SimError;
use crate::parameters::ByHandle;

impl Config {
    /// The layer's parameter `name`, a number; `otherwise` of a layer without it.
    fn of_layer(&self, name: &str, otherwise: u64) -> u64 {
        match self.ftl_parameter(name) {
            Some(Value::Integer(number)) => *number,
            _ => otherwise,
        }
    }

    /// Placement handles that the layer tells apart.
    pub(crate) fn handles(&self) -> u32 {
        self.of_layer("handles", 1) as u32
    }

    /// Streams of the host that have open blocks of their own.
    pub(crate) fn host_streams(&self) -> u32 {
        match self.of_layer("hot_window", 0) {
            0 => self.handles(),
            _ => 2,
        }
    }

    /// Blocks over which a stream of the host goes round, unit by unit.
    pub(crate) fn blocks_in_turn(&self) -> u32 {
        self.of_layer("zone_blocks", 1) as u32
    }

    /// Slots of each handle in a buffer of `capacity` pages.
    pub(crate) fn share_of_handle(&self, capacity: u32) -> Result<u32, SimError> {
        let share = capacity / self.handles();
        if share > 0 {
            return Ok(share);
        }
        Err(SimError::Config(format!(
            "buffer.by_handle = equal: a buffer of {capacity} pages has none for each of ftl.handles = {}; expected shared, or a larger buffer",
            self.handles()
        )))
    }

    /// What does not fit together.
    pub(crate) fn check_handles(&self) -> Result<(), SimError> {
        if self.typed.buffer.by_handle == ByHandle::Shared {
            return Ok(());
        }
        let refuse = |why: String| {
            Err(SimError::Config(format!(
                "buffer.by_handle = equal: {why}; expected shared"
            )))
        };
        if self.handles() == 1 {
            return refuse("ftl.handles is 1, or the layer has none".to_owned());
        }
        let name = self.scheme.name;
        if self.scheme.needs_future {
            return refuse(format!(
                "buffer.kind = {name} knows the writes of all handles together"
            ));
        }
        let properties = (self.scheme.build)(&SchemeConfig {
            capacity_pages: 1,
            cluster_pages: 1,
            dies: 1,
            future: None,
            seed: 0,
            values: self.buffer_values(),
        })
        .properties();
        if properties.is_unbounded || properties.waits_for_its_place || !properties.keeps_pages {
            return refuse(format!(
                "buffer.kind = {name} has no slots that can be divided"
            ));
        }
        Ok(())
    }
}
