//! Media whose commands wait in queues: what a configuration says of them.

use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, from_units};
use destage_flash::media::dispatch::{CommandTimes, DispatchConfig, Order, Rules, Together};
use destage_flash::media::{Cells, PlaneGaps, Tiers};

use crate::config::Config;
use crate::error::SimError;
use crate::media::by_type;
use crate::parameters::{Dispatch, MultiPlane};

impl Config {
    /// The media, if commands wait in queues.
    pub(crate) fn dispatch(&self) -> Option<DispatchConfig> {
        let (flash, timing) = (&self.typed.flash, self.timing());
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let order = match flash.dispatch {
            Dispatch::Off => return None,
            Dispatch::Arrival => Order::Arrival,
            Dispatch::ReadsFirst => Order::ReadsFirst(flash.reads_ahead),
        };
        let channels = match flash.channels {
            CountOrAuto::Count(channels) => channels,
            CountOrAuto::Auto => flash.dies,
        };
        let command = phase(flash.command_ns);
        Some(DispatchConfig {
            channels,
            dies_per_channel: flash.dies / channels,
            planes: flash.planes_per_die,
            cells: Cells {
                read: by_type(timing.read, &flash.read_factors),
                program: by_type(timing.program, &flash.program_factors),
                erase: timing.erase,
                tiers: Tiers::default(),
            },
            command: CommandTimes {
                read: command,
                program: phase(flash.program_command_ns),
                erase: command,
            },
            gaps: PlaneGaps {
                read: phase(flash.plane_gap_read_ns),
                program: phase(flash.plane_gap_program_ns),
                erase: 0,
            },
            ready: phase(flash.ready_ns),
            rules: Rules {
                order,
                together: match flash.multi_plane {
                    MultiPlane::Off => Together::Never,
                    MultiPlane::InOrder => Together::InOrder,
                    MultiPlane::AnyOrder => Together::AnyOrder,
                },
                reads_wait: true,
            },
        })
    }

    /// What does not fit together.
    pub(crate) fn check_dispatch(&self) -> Result<(), SimError> {
        let flash = &self.typed.flash;
        let is_off = flash.dispatch == Dispatch::Off;
        let refuse = |text: String| Err(SimError::Config(text));
        if is_off && flash.multi_plane != MultiPlane::Off {
            return refuse(format!(
                "flash.multi_plane = {}: pages go together only where they wait; expected off, or flash.dispatch = arrival or reads_first",
                flash.multi_plane
            ));
        }
        if is_off {
            return Ok(());
        }
        if flash.status_ns > 0.0 {
            return refuse(format!(
                "flash.status_ns = {}: commands that wait in queues have no status phase; expected 0, or flash.dispatch = off",
                flash.status_ns
            ));
        }
        if self.explain {
            return refuse(format!(
                "flash.dispatch = {}: a run is explained only where a die does one operation at a time; expected off",
                flash.dispatch
            ));
        }
        Ok(())
    }
}
