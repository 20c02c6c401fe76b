//! What every run with bytes needs of its configuration.

use destage_base::parameter::Value;
use destage_device::Ordering;
use destage_flash::Ftl;
use destage_flash::medium::Medium;
use destage_flash::medium::image::Layout;

use crate::config::Config;
use crate::error::SimError;
use crate::events::Clock;
use crate::paging::Align;
use crate::parameters::{Costing, MultiPlane};

impl Config {
    /// Why a run of this configuration cannot have bytes, if it cannot.
    ///
    /// # Errors
    /// The key that is in the way, and what was expected.
    pub(crate) fn check_bytes(&self) -> Result<(), SimError> {
        let refuse = |text: String| Err(SimError::Config(text));
        if !self.has_flash() {
            return refuse(format!(
                "ftl.kind = {}: has no flash that could hold bytes; expected another layer",
                self.ftl_row.name
            ));
        }
        if self.typed.trace.align == Align::Nearest {
            return refuse(format!(
                "trace.align = {}: would write other bytes than those of the request; expected cover or rmw",
                self.typed.trace.align
            ));
        }
        Ok(())
    }

    /// The same of a device that has bytes, and a sentence for each parameter that has another value for that: what reference
    /// simulators do in their own way cannot be done with bytes.
    #[must_use]
    pub fn with_bytes(mut self) -> (Self, Vec<String>) {
        let (sim, multi_plane) = (&self.typed.sim, self.typed.flash.multi_plane);
        let rows = [
            (
                sim.costing == Costing::OpCount,
                "sim.costing",
                "event",
                "bytes move at a time, and op_count has none",
            ),
            (
                sim.write_order != Ordering::Strict,
                "sim.write_order",
                "strict",
                "where a page of a batch is repeated, the reference simulator loses bytes",
            ),
            (
                sim.clock == Clock::DoubleMs,
                "sim.clock",
                "exact",
                "bytes move at exact times",
            ),
            (
                multi_plane == MultiPlane::AnyOrder,
                "flash.multi_plane",
                "in_order",
                "pages of a block are programmed in their order",
            ),
        ];
        let mut notes = Vec::new();
        for (_, name, value, why) in rows.into_iter().filter(|(differs, ..)| *differs) {
            self.set(name, Value::Text(value.to_owned()));
            notes.push(format!("{name} = {value}: {why}"));
        }
        (self, notes)
    }

    /// Where what is in an image of this device's flash, whose owner keeps the first `base` bytes.
    ///
    /// # Errors
    /// If it has more bytes than can be counted.
    pub fn image_layout(&self, base: u64) -> Result<Layout, SimError> {
        Layout::new(&self.geometry(), base).ok_or_else(|| {
            SimError::Config(format!(
                "flash.blocks_per_plane = {}: an image has no room for that many; expected fewer",
                self.geometry().blocks_per_plane
            ))
        })
    }

    /// An empty medium.
    pub(crate) fn empty_medium(&self) -> Medium {
        let medium = Medium::new(&self.geometry(), self.programs_in_order());
        let medium = medium.with_units_per_page(self.units_per_page);
        match self.times_commands() {
            true => medium.by_commands(),
            false => medium,
        }
    }

    /// An empty medium, or one with the contents of `ftl`.
    pub(crate) fn medium(&self, ftl: &dyn Ftl) -> Medium {
        let mut medium = self.empty_medium();
        if self.precondition().fills() {
            medium.fill_from(ftl);
        }
        medium
    }
}
