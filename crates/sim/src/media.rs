//! Media whose commands are timed one by one: dies that share channels, pages of several types.

use destage_base::Ticks;
use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_device::{ServiceOrder, Units};
use destage_flash::media::{self, BusTimes, Cells, MediaConfig, Registers};

use crate::config::Config;
use crate::engine::{Flash, OneByOne};
use crate::parameters::{Dispatch, Suspend};

/// The most types of page: cells of four bits.
pub(crate) const MOST_TYPES: usize = 4;

/// Times by type of page: those of `text` in microseconds, or `time` for all.
pub(crate) fn by_type(time: Ticks, text: &str) -> Vec<Ticks> {
    times(text).unwrap_or_else(|| vec![time])
}

/// Microseconds by type of page, with `/` between them: one to four.
pub(crate) fn times(text: &str) -> Option<Vec<Ticks>> {
    let numbers: Option<Vec<f64>> = text.split('/').map(|part| part.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| {
        numbers.len() <= MOST_TYPES && numbers.iter().all(|number| (0.0..=1e9).contains(number))
    })?;
    let ticks = numbers.iter();
    Some(
        ticks
            .map(|number| from_units(*number, TICKS_PER_US))
            .collect(),
    )
}

impl Config {
    /// What a device consists of.
    pub(crate) fn flash(&self) -> Flash {
        Flash {
            geometry: self.geometry(),
            timing: self.timing(),
            sums: self.timing_of_sums(),
            media: self.media(),
            dispatch: self.dispatch(),
        }
    }

    /// The media, where no command waits in a queue, unless all there is to know of a step of a die is the sum of its operations.
    pub(crate) fn media(&self) -> Option<OneByOne> {
        let (flash, timing) = (&self.typed.flash, self.timing());
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let bus = BusTimes {
            command: phase(flash.command_ns),
            status: phase(flash.status_ns),
        };
        if flash.scheduling.dispatch() != Dispatch::Off {
            return None;
        }
        let mut read = by_type(timing.read, &flash.read_times_us);
        let mut program = by_type(timing.program, &flash.program_times_us);
        let units = self.units();
        let is_plain = bus == BusTimes::default()
            && read == [timing.read]
            && program == [timing.program]
            && !self.interrupts()
            && units.is_none()
            && self.registers().is_none()
            // A sum knows the times of both kinds of cells, but of no place between two commands.
            && !(self.ftl_row.has_cell_modes && flash.scheduling.service() != ServiceOrder::Arrival);
        if is_plain && flash.channels == CountOrAuto::Auto {
            return None;
        }
        let channels = self.channels();
        let page_types = read.len().max(program.len());
        for times in [&mut read, &mut program] {
            times.resize(page_types, times[0]);
        }
        let us = |microseconds| from_units(microseconds, TICKS_PER_US);
        // Of a first pass, and of cells with one bit.
        read.extend([read[0], us(flash.pslc_read_us)]);
        program.extend([us(flash.first_pass_us), us(flash.pslc_program_us)]);
        let media = MediaConfig {
            channels,
            dies_per_channel: flash.dies / channels,
            planes: flash.planes_per_die,
            cells: Cells {
                read,
                program,
                erase: timing.erase,
            },
            bus: Some(bus),
            suspend: self.interrupts().then(|| media::Suspend {
                cost: from_units(flash.suspend_us, TICKS_PER_US),
                limit: flash.suspend_limit,
                moves_end: flash.suspend == Suspend::MovesEnd,
            }),
            registers: self.registers(),
        };
        Some(OneByOne {
            media,
            page_types: page_types as u32,
            units,
            units_per_page: self.units_per_page,
        })
    }

    /// The cache registers, if they are used.
    pub(crate) fn registers(&self) -> Option<Registers> {
        let flash = &self.typed.flash;
        let busy = |is_on: bool, us| is_on.then(|| from_units(us, TICKS_PER_US));
        let registers = Registers {
            read: busy(flash.cache_read, flash.cache_read_busy_us),
            program: busy(flash.cache_program, flash.cache_program_busy_us),
        };
        (flash.cache_read || flash.cache_program).then_some(registers)
    }

    /// Whether a command may leave its die to the next before it ends: it waits in a queue, or a cache register holds its page.
    pub(crate) fn frees_dies(&self) -> bool {
        self.typed.flash.scheduling.dispatch() != Dispatch::Off || self.registers().is_some()
    }

    /// Pages that are programmed together, if any are.
    pub(crate) fn units(&self) -> Option<Units> {
        let (flash, geometry) = (&self.typed.flash, self.geometry());
        (flash.program_unit > 1 || flash.program_passes > 1).then(|| Units {
            pages: flash.program_unit,
            passes: flash.program_passes,
            block_pages: geometry.data_pages(),
            page_bits: geometry.page_bits(),
            wait: from_units(flash.unit_wait_us, TICKS_PER_US),
        })
    }

    /// Slots of the buffer that a run with a clock keeps for pages whose program units wait for their other pages: the most that can
    /// wait. A buffer that keeps pages has more slots than these.
    #[must_use]
    pub fn pages_in_units(&self) -> u32 {
        let flash = &self.typed.flash;
        // Blocks of a die that the host's pages go to at a time.
        let open = match flash.copy_back {
            true => flash.planes_per_die,
            false => 1,
        };
        // A unit that is being filled, and of each block that is filled in turn one between its passes.
        let of_block = |units: Units| {
            let between = (units.passes - 1).saturating_mul(self.blocks_in_turn());
            units.pages.saturating_mul(1 + between)
        };
        let pages = self.units().map_or(0, of_block);
        let of_die = pages
            .saturating_mul(open)
            .saturating_mul(self.host_streams());
        of_die.saturating_mul(flash.dies)
    }

    /// Whether reads interrupt programs and erases: only those do that go ahead.
    fn interrupts(&self) -> bool {
        let flash = &self.typed.flash;
        flash.suspend != Suspend::Never && flash.scheduling.service() != ServiceOrder::Arrival
    }

    /// Whether commands are timed one by one.
    pub(crate) fn times_commands(&self) -> bool {
        self.typed.flash.scheduling.dispatch() != Dispatch::Off || self.media().is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn the_times_of_femus_profile_are_femus() {
        let mut settings = Settings::new();
        settings.load_profile("femu-tlc").unwrap();
        let media = settings.resolve().unwrap().media().unwrap().media;
        let ns = |times: &[u64]| {
            times[..3]
                .iter()
                .map(|ticks| ticks / 10)
                .collect::<Vec<_>>()
        };
        assert_eq!(ns(&media.cells.read), [56_500, 77_500, 106_000]);
        assert_eq!(ns(&media.cells.program), [820_500, 2_225_000, 5_734_000]);
        assert_eq!((media.channels, media.dies_per_channel), (8, 8));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (pair, says) in [
            ("flash.channels=3", "divides flash.dies = 8"),
            ("flash.read_times_us=1/x", "numbers of microseconds"),
            ("flash.read_times_us=1//2", "one to 4 numbers"),
            ("flash.program_times_us=-1", "one to 4 numbers"),
            ("flash.program_times_us=1/2/3/4/5", "one to 4 numbers"),
            ("flash.program_times_us=nan", "one to 4 numbers"),
            ("flash.program_unit=3", "divides flash.pages_per_block = 64"),
        ] {
            let mut settings = Settings::new();
            settings.set_pair(pair).unwrap();
            let error = settings.resolve().err().expect(pair).to_string();
            assert!(error.contains(says), "{pair}: {error}");
        }
    }
}
