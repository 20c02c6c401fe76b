//! Media whose commands are timed one by one: dies that share channels, pages of several types.

use destage_base::Ticks;
use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_device::{ServiceOrder, Units};
use destage_flash::ftl::Properties;
use destage_flash::media::{self, BusTimes, Cells, Gate, MediaConfig, PlaneGaps, Registers, Tiers};

use crate::config::Config;
use crate::engine::{Flash, OneByOne};
use crate::error::SimError;
use crate::parameters::{Dispatch, Suspend};

/// What makes commands be timed one by one.
const ONE_BY_ONE: [&str; 14] = [
    "flash.channels",
    "flash.command_ns",
    "flash.status_ns",
    "flash.read_factors",
    "flash.program_factors",
    "flash.read_times_us",
    "flash.program_times_us",
    "flash.program_unit",
    "flash.program_passes",
    "ftl.map_unit_bytes",
    "flash.suspend",
    "flash.cache_read",
    "flash.cache_program",
    "flash.dispatch",
];

/// The most types of page: cells of four bits.
const MOST_TYPES: usize = 4;

/// Factors by type of page, with `/` between them: one to four numbers above 0.
fn factors(text: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = text.split('/').map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| {
        numbers.len() <= MOST_TYPES && numbers.iter().all(|number| (1e-3..=1e3).contains(number))
    })
}

/// Times by type of page: those of `text` in microseconds, or `time` by `factors`.
pub(crate) fn by_type(time: Ticks, factors_text: &str, text: &str) -> Vec<Ticks> {
    if let Some(times) = times(text) {
        return times;
    }
    let factors = factors(factors_text).unwrap_or_else(|| vec![1.0]);
    let times = factors.iter();
    times
        .map(|factor| (time as f64 * factor + 0.5) as Ticks)
        .collect()
}

/// Microseconds by type of page, with `/` between them: one to four.
fn times(text: &str) -> Option<Vec<Ticks>> {
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
        if flash.dispatch != Dispatch::Off {
            return None;
        }
        let mut read = by_type(timing.read, &flash.read_factors, &flash.read_times_us);
        let mut program = by_type(
            timing.program,
            &flash.program_factors,
            &flash.program_times_us,
        );
        let units = self.units();
        let is_plain = bus == BusTimes::default()
            && read == [timing.read]
            && program == [timing.program]
            && flash.suspend == Suspend::Never
            && units.is_none()
            && self.registers().is_none()
            // A sum knows the times of both kinds of cells, but of no place between two commands.
            && !(self.ftl_row.has_cell_modes && flash.order != ServiceOrder::Arrival);
        let channels = match flash.channels {
            CountOrAuto::Count(channels) => channels,
            CountOrAuto::Auto if is_plain => return None,
            CountOrAuto::Auto => flash.dies,
        };
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
            gate: Gate::Die,
            cells: Cells {
                read,
                program,
                erase: timing.erase,
                tiers: Tiers::default(),
            },
            bus: Some(bus),
            suspend: (flash.suspend != Suspend::Never).then(|| media::Suspend {
                cost: from_units(flash.suspend_us, TICKS_PER_US),
                limit: flash.suspend_limit,
                moves_end: flash.suspend == Suspend::MovesEnd,
            }),
            gaps: PlaneGaps::default(),
            cache_read: None,
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

    /// Whether the layer, just built, goes with units and cache registers.
    pub(crate) fn check_layer(&self, properties: &Properties) -> Result<(), SimError> {
        if self.registers().is_some() && properties.places_writes {
            return Err(SimError::Config(format!(
                "flash.cache_read, flash.cache_program: ftl.kind = {} chooses the die of each write, and has to know when the write before has ended; expected false, or a layer or ftl.placement that does not",
                self.ftl_row.name
            )));
        }
        if self.units().is_some() && properties.open_blocks == 0 {
            return Err(SimError::Config(format!(
                "flash.program_unit, flash.program_passes, ftl.map_unit_bytes: ftl.kind = {} does not fill blocks page after page for whoever writes; expected ftl.kind=page, or their defaults",
                self.ftl_row.name
            )));
        }
        Ok(())
    }

    /// The parameters that make commands be timed one by one, those of them that are set.
    fn one_by_one(&self) -> Vec<String> {
        let chosen = self.chosen();
        let is_set = |key: &&&str| chosen.contains_key(**key);
        let mut keys: Vec<String> = ONE_BY_ONE
            .iter()
            .filter(is_set)
            .map(|key| (*key).to_owned())
            .collect();
        if self.ftl_row.has_cell_modes && chosen.contains_key("flash.order") {
            keys.push(format!("ftl.kind={} with flash.order", self.ftl_row.name));
        }
        keys
    }

    /// What does not fit together.
    pub(crate) fn check_media(&self) -> Result<(), SimError> {
        let flash = &self.typed.flash;
        let refuse = |text: String| Err(SimError::Config(text));
        for (key, text) in [
            ("read_factors", &flash.read_factors),
            ("program_factors", &flash.program_factors),
        ] {
            if factors(text).is_none() {
                return refuse(format!(
                    "flash.{key} = {text:?}: expected one to {MOST_TYPES} numbers from 0.001 to 1000 with / between them, as 0.6/1/1.4"
                ));
            }
        }
        for (key, text, of) in [
            ("read", &flash.read_times_us, &flash.read_factors),
            ("program", &flash.program_times_us, &flash.program_factors),
        ] {
            if !text.is_empty() && times(text).is_none() {
                return refuse(format!(
                    "flash.{key}_times_us = {text:?}: expected one to {MOST_TYPES} numbers of microseconds with / between them, as 56.5/77.5/106"
                ));
            }
            if !text.is_empty() && of != "1" {
                return refuse(format!(
                    "flash.{key}_times_us = {text}: flash.{key}_factors = {of} says it too; expected one of them"
                ));
            }
        }
        let reads = by_type(1, &flash.read_factors, &flash.read_times_us).len();
        let programs = by_type(1, &flash.program_factors, &flash.program_times_us).len();
        if reads > 1 && programs > 1 && reads != programs {
            return refuse(format!(
                "flash.program_factors, flash.program_times_us: {programs} types of page, and flash.read_factors, flash.read_times_us have {reads}; expected as many, or one"
            ));
        }
        let block = self.geometry();
        if let Some(units) = self.units()
            && (block.summary_page || !block.pages_per_block.is_multiple_of(units.pages))
        {
            let of_flash = self.units_per_page;
            return refuse(format!(
                "flash.program_unit = {}: expected a number that divides flash.pages_per_block = {}, and flash.summary_page=false",
                units.pages / of_flash,
                block.pages_per_block / of_flash
            ));
        }
        if let CountOrAuto::Count(channels) = flash.channels
            && !flash.dies.is_multiple_of(channels)
        {
            return refuse(format!(
                "flash.channels = {channels}: expected a number that divides flash.dies = {}",
                flash.dies
            ));
        }
        if flash.parallel_units > 1 && self.times_commands() {
            return refuse(format!(
                "flash.parallel_units = {}: its commands are not timed one by one; expected 1, or the defaults of {}",
                flash.parallel_units,
                self.one_by_one().join(", ")
            ));
        }
        if flash.parallel_units > 1 && flash.order != ServiceOrder::Arrival {
            return refuse(format!(
                "flash.order = {}: batches of flash.parallel_units = {} are served as they came; expected arrival, or 1",
                flash.order, flash.parallel_units
            ));
        }
        self.check_dispatch()?;
        if flash.suspend != Suspend::Never && flash.order == ServiceOrder::Arrival {
            return refuse(format!(
                "flash.suspend = {}: only reads that go ahead interrupt, and flash.order = arrival lets none; expected reads_first or garbage_last",
                flash.suspend
            ));
        }
        Ok(())
    }

    /// Whether commands are timed one by one.
    pub(crate) fn times_commands(&self) -> bool {
        self.typed.flash.dispatch != Dispatch::Off || self.media().is_some()
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
            ("flash.read_factors=1//2", "one to 4 numbers"),
            ("flash.program_factors=0", "one to 4 numbers"),
            ("flash.program_factors=1/2/3/4/5", "one to 4 numbers"),
            ("flash.program_factors=nan", "one to 4 numbers"),
            ("flash.read_times_us=1/x", "numbers of microseconds"),
            ("flash.program_unit=3", "divides flash.pages_per_block = 64"),
            ("flash.suspend=keeps_end", "flash.order = arrival lets none"),
        ] {
            let mut settings = Settings::new();
            settings.set_pair(pair).unwrap();
            let error = settings.resolve().err().expect(pair).to_string();
            assert!(error.contains(says), "{pair}: {error}");
        }
    }
}
