//! Media whose commands wait in queues: what a configuration says of them.

use destage_base::time::{TICKS_PER_NS, from_units};
use destage_flash::media::dispatch::{CommandTimes, DispatchConfig, Order, Rules, Together};
use destage_flash::media::{Cells, PlaneGaps};

use crate::config::Config;
use crate::media::by_type;
use crate::parameters::{Dispatch, MultiPlane};

impl Config {
    /// The media, if commands wait in queues.
    pub(crate) fn dispatch(&self) -> Option<DispatchConfig> {
        let (flash, timing) = (&self.typed.flash, self.timing());
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let order = match flash.scheduling.dispatch() {
            Dispatch::Off => return None,
            Dispatch::Arrival => Order::Arrival,
            Dispatch::ReadsFirst => Order::ReadsFirst(flash.read_starvation_limit),
        };
        let channels = self.channels();
        let command = phase(flash.command_ns);
        Some(DispatchConfig {
            channels,
            dies_per_channel: flash.dies / channels,
            planes: flash.planes_per_die,
            cells: Cells {
                read: by_type(timing.read, &flash.read_times_us),
                program: by_type(timing.program, &flash.program_times_us),
                erase: timing.erase,
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
            registers: self.registers(),
        })
    }
}

#[cfg(test)]
mod tests {
    use destage_flash::media::dispatch::{Order, Together};

    use crate::settings::Settings;

    #[test]
    fn the_times_of_mqsims_profile_are_mqsims() {
        let mut settings = Settings::new();
        settings.load_profile("mqsim-match").unwrap();
        let media = settings.resolve().unwrap().dispatch().unwrap();
        let ns = |ticks: u64| ticks / 10;
        assert_eq!(ns(media.command.read), 290);
        assert_eq!(ns(media.command.program), 361);
        assert_eq!(ns(2 * media.command.read + media.gaps.read), 940);
        assert_eq!(ns(2 * media.command.program + media.gaps.program), 1177);
        assert_eq!(ns(media.cells.read(0) + media.ready), 75_020);
        assert_eq!(media.rules.together, Together::AnyOrder);
        assert_eq!(media.rules.order, Order::ReadsFirst(u32::MAX));
        assert_eq!((media.channels, media.dies_per_channel), (8, 2));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (pairs, says) in [
            (
                &["flash.scheduling=commands_arrival", "flash.program_unit=2"][..],
                "pages are programmed together only where",
            ),
            (
                &["flash.scheduling=commands_arrival", "flash.status_ns=5"],
                "no status phase",
            ),
            (
                &[
                    "flash.scheduling=commands_arrival",
                    "flash.parallel_units=2",
                ],
                "expected flash.scheduling = arrival, or to be without flash.parallel_units > 1",
            ),
            (
                &["flash.scheduling=commands_arrival", "flash.channels=3"],
                "divides flash.dies",
            ),
        ] {
            let mut settings = Settings::new();
            for pair in pairs {
                settings.set_pair(pair).unwrap();
            }
            let error = settings.resolve().err().expect(says).to_string();
            assert!(error.contains(says), "{pairs:?}: {error}");
        }
    }
}
