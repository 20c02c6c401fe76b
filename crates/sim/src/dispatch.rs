//! The configuration of media whose commands wait in queues.

use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_nand::media::PlaneGaps;
use destage_nand::media::dispatch::{
    CommandTimes, DispatchConfig, Order, Rules, Suspension, Together,
};

use crate::config::Config;
use crate::parameters::Dispatch;

impl Config {
    /// The configuration of the media; `None` if commands do not wait in queues.
    pub(crate) fn dispatch(&self) -> Option<DispatchConfig> {
        let flash = &self.typed.flash;
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let order = match self.queues() {
            Dispatch::Off => return None,
            Dispatch::Arrival => Order::Arrival,
            Dispatch::ReadsFirst => Order::ReadsFirst(flash.read_starvation_limit),
        };
        let channels = self.channels();
        let command = phase(flash.command_ns);
        let waits = flash.scheduling.dispatch() != Dispatch::Off;
        Some(DispatchConfig {
            channels,
            dies_per_channel: flash.dies / channels,
            planes: flash.planes_per_die,
            cells: self.cells(),
            command: CommandTimes {
                read: command,
                program: match waits {
                    true => phase(flash.program_command_ns),
                    false => command,
                },
                erase: command,
            },
            gaps: match self.together() {
                Together::InOrder | Together::AnyOrder => PlaneGaps {
                    read: phase(flash.plane_gap_read_ns),
                    program: phase(flash.plane_gap_program_ns),
                    erase: 0,
                },
                Together::Never | Together::Groups(_) => PlaneGaps::default(),
            },
            ready: match waits {
                true => phase(flash.ready_ns),
                false => 0,
            },
            status: phase(flash.status_ns),
            rules: Rules {
                order,
                together: self.together(),
                reads_wait: true,
            },
            registers: self.registers(),
            suspension: self.interrupts().then(|| Suspension {
                cost: from_units(flash.suspend_us, TICKS_PER_US),
                limit: flash.suspend_limit,
                unit_pages: self.units().map_or(1, |units| units.pages),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use destage_nand::media::dispatch::{Order, Together};

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
                &[
                    "flash.scheduling=commands_arrival",
                    "flash.program_unit=2",
                    "flash.multi_plane=any_order",
                ][..],
                "before all of its pages have arrived",
            ),
            (
                &[
                    "flash.scheduling=commands_arrival",
                    "flash.program_unit=2",
                    "flash.cache_program=true",
                ],
                "and not a unit of several",
            ),
            (
                &["flash.scheduling=reads_first", "flash.parallel_units=3"],
                "divides flash.planes_per_die = 8",
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
