//! The programs that empty a full buffer: the time of one program, and how many run at a time.

use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, from_units, to_ms};

use crate::config::Config;
use crate::parameters::{Dispatch, MultiPlane};

/// The flash of a device, as far as it limits the speed of programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Programs {
    /// Number of dies.
    pub dies: u64,
    /// Number of channels. All channels have the same number of dies.
    pub channels: u64,
    /// Pages that a plane programs together.
    pub pages: u64,
    /// Planes of a die that program together in one operation.
    pub planes: u64,
    /// Time for which each page occupies the channel, in milliseconds. It is the time of address and data, plus the
    /// time of the command divided by the number of pages of the operation.
    pub transfer_ms: f64,
    /// Time of all passes of a program, in milliseconds, averaged over the types of page.
    pub program_ms: f64,
}

impl Programs {
    /// Milliseconds until dies that take turns have programmed `pages` pages. At the start, all these pages are in
    /// the buffer.
    ///
    /// A die receives the pages of an operation over its channel, and then programs them while the channel serves
    /// other dies. Let a channel have `n` operations and `w` dies. If `w` transfers take at least as long as one
    /// transfer and one program, the channel is always busy, and the last program follows the last transfer. The time
    /// is then `n * transfer + program`. Otherwise each die is always busy after its first transfer. The time is then
    /// `rounds * (transfer + program) + (r - 1) * transfer`, where the last round has `r` operations. The result is
    /// the larger of the two times.
    ///
    /// With several `planes` the result is a lower bound. It assumes that every program has a page for each plane,
    /// which is true only if the layer spreads pages evenly over planes.
    #[must_use]
    pub fn time_ms(&self, pages: u64) -> f64 {
        if pages == 0 {
            return 0.0;
        }
        let of_operation = self.pages * self.planes;
        let operations = pages.div_ceil(of_operation).div_ceil(self.channels);
        let transfer = self.transfer_ms * of_operation.min(pages) as f64;
        let dies = (self.dies / self.channels).max(1);
        let rounds = operations.div_ceil(dies);
        let last = operations - (rounds - 1) * dies;
        let by_channel = operations as f64 * transfer + self.program_ms;
        let by_die = rounds as f64 * (transfer + self.program_ms) + (last - 1) as f64 * transfer;
        by_channel.max(by_die)
    }

    /// The number of programs of a plane that `pages` pages need.
    #[must_use]
    pub fn count(&self, pages: u64) -> u64 {
        pages.div_ceil(self.pages)
    }
}

impl Config {
    /// The programs of this device's flash when a full buffer is emptied.
    #[must_use]
    pub fn programs(&self) -> Programs {
        let (flash, timing) = (&self.typed.flash, self.timing());
        let times = match self.ftl_row.has_cell_modes {
            // The layer writes pages to cells with one bit first.
            true => vec![timing.one_bit[1]],
            false => {
                let [_, program] = self.times_by_type();
                program
            }
        };
        let mean = times.iter().map(|time| to_ms(*time)).sum::<f64>() / times.len() as f64;
        let first = self.first_pass();
        let (command, planes) = match (flash.scheduling.dispatch(), flash.multi_plane) {
            (Dispatch::Off, _) => (flash.command_ns, flash.parallel_units),
            (_, MultiPlane::Off) => (flash.program_command_ns, flash.parallel_units),
            (_, _) => (flash.program_command_ns, flash.planes_per_die),
        };
        let (pages, planes) = (u64::from(flash.program_unit), u64::from(planes));
        let command_ms = to_ms(from_units(command, TICKS_PER_NS));
        Programs {
            dies: u64::from(flash.dies),
            channels: match flash.channels {
                CountOrAuto::Count(channels) => u64::from(channels),
                CountOrAuto::Auto => u64::from(flash.dies),
            },
            pages,
            planes,
            transfer_ms: to_ms(timing.page_transfer) + command_ms / (pages * planes) as f64,
            program_ms: mean + to_ms(first),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    use super::*;

    fn of(pairs: &[&str]) -> Programs {
        let mut settings = Settings::new();
        pairs
            .iter()
            .for_each(|pair| settings.set_pair(pair).unwrap());
        settings.resolve().unwrap().programs()
    }

    fn is_about(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-6 * wanted, "{found} {wanted}");
    }

    #[test]
    fn dies_with_channels_of_their_own_do_not_wait_for_each_other() {
        // 13 pages on four dies: the busiest die has four pages. Each page needs a transfer of 102.4 us and a program
        // of 200 us.
        let programs = of(&["flash.dies=4"]);
        is_about(programs.time_ms(13), 4.0 * 0.3024);
        assert_eq!((programs.count(13), programs.time_ms(0)), (13, 0.0));
    }

    #[test]
    fn a_shared_channel_or_its_dies_set_the_pace() {
        let shared = ["flash.dies=8", "flash.channels=2", "flash.program_us=200"];
        // Each channel has ten pages for its four dies. Four transfers of 102.4 us take longer than one transfer
        // and one program, so the channel is the bottleneck.
        is_about(of(&shared).time_ms(20), 10.0 * 0.1024 + 0.2);
        // With transfers of 4.096 us the dies are the bottleneck: there are two rounds of four dies, and then a round
        // of two dies, which begin one after the other.
        let fast = [&shared[..], &["flash.transfer_ns_per_byte=1"]].concat();
        is_about(of(&fast).time_ms(20), 3.0 * 0.204_096 + 0.004_096);
    }

    #[test]
    fn pages_of_a_unit_and_planes_side_by_side_share_a_program() {
        let units = ["flash.dies=2", "flash.program_unit=4"];
        // Nine units on two dies: the busier die has five.
        is_about(of(&units).time_ms(33), 5.0 * (0.4096 + 0.2));
        assert_eq!(of(&units).count(33), 9);
        let planes = ["flash.dies=2", "flash.parallel_units=4"];
        is_about(of(&planes).time_ms(33), 5.0 * (0.4096 + 0.2));
        assert_eq!(of(&planes).count(33), 33);
        let types = ["flash.program_times_us=100/300/800", "flash.dies=1"];
        is_about(of(&types).time_ms(3), 3.0 * (0.1024 + 0.4));
    }

    #[test]
    fn an_enterprise_drive_saves_32_mib_in_ten_milliseconds() {
        let mut settings = Settings::new();
        settings.load_profile("enterprise-tlc").unwrap();
        let programs = settings.resolve().unwrap().programs();
        // 8192 pages are 342 units of 24 pages. The busiest of eight channels has 43 units. A page of 4 KiB takes
        // 9.1021 us, at 2.2222 ns per byte.
        is_about(programs.time_ms(8192), 43.0 * 24.0 * 9.1021e-3 + 0.561);
    }
}
