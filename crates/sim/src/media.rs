//! The configuration of media whose commands are timed one by one: dies that share channels, and pages of several
//! types.

use destage_base::Ticks;
use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, TICKS_PER_US, from_units};
use destage_device::{Handover, ServiceOrder, Units};
use destage_nand::media;
use destage_nand::media::dispatch::Together;
use destage_nand::media::{BusTimes, Cells, MediaConfig, Registers};

use crate::config::Config;
use crate::engine::{Flash, FlashMedia, Layout};
use crate::parameters::{CellMode, Dispatch, MultiPlane, Scheduling, Suspend};

/// Settings under which groups of planes cannot work in batches.
const BEYOND_BATCHES: &str =
    "ftl.handles > 1 or ftl.hot_window > 0 or ftl.journal_changes > 0 or ftl.gc_step_pages > 0";

/// The largest number of page types: cells of four bits have this many.
pub(crate) const MOST_TYPES: usize = 4;

/// Times by type of page: the times in `text`, in microseconds, or `time` for every page if `text` has none.
pub(crate) fn by_type(time: Ticks, text: &str) -> Vec<Ticks> {
    times(text).unwrap_or_else(|| vec![time])
}

/// The times in `text`, in ticks: one to four numbers of microseconds, separated by `/`, one for each type of page.
/// `None` if `text` is anything else.
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
    /// The configuration of the flash and its media.
    pub(crate) fn flash(&self) -> Flash {
        Flash {
            geometry: self.geometry(),
            timing: self.timing(),
            sums: self.timing_of_sums(),
            layout: self.layout(),
            media: match (self.dispatch(), self.booked()) {
                (Some(dispatch), _) => FlashMedia::Queued(dispatch),
                (None, Some(media)) => FlashMedia::Booked(media),
                (None, None) => FlashMedia::Sum,
            },
        }
    }

    /// Times of reads and of programs, each by type of page.
    pub(crate) fn times_by_type(&self) -> [Vec<Ticks>; 2] {
        let (flash, timing) = (&self.typed.flash, self.timing());
        if self.cell_mode() == CellMode::Pslc {
            // With one bit in each cell, all pages are of one type.
            return [vec![timing.read], vec![timing.program]];
        }
        [
            by_type(timing.read, &flash.read_times_us),
            by_type(timing.program, &flash.program_times_us),
        ]
    }

    /// The arrangement of pages in blocks and cells.
    fn layout(&self) -> Layout {
        let [read, program] = self.times_by_type();
        let page_types = read.len().max(program.len()) as u32;
        let (units, units_per_page) = (self.units(), self.units_per_page);
        // If the number of pages that are programmed together is a multiple of the number of types, these pages fill
        // whole word lines. Each word line then has a page of every type.
        let of_word_lines =
            |units: &Units| (units.pages / units_per_page).is_multiple_of(page_types);
        Layout {
            page_types,
            types_in_turn: units.as_ref().is_some_and(of_word_lines),
            units,
            units_per_page,
            retried_share: (self.typed.flash.read_retry_percent / 100.0 * 2.0_f64.powi(32)) as u32,
        }
    }

    /// Whether some pages have to be read again.
    fn retries(&self) -> bool {
        self.typed.flash.read_retry_percent > 0.0
    }

    /// Whether reads take longer while the drive is loaded.
    pub(crate) fn slows_reads(&self) -> bool {
        self.typed.flash.read_loaded_percent > 0.0
    }

    /// Times of the cells. Each list has a time for each type of page, the time of a first pass, and the time of cells
    /// with one bit, in this order. If reads take longer under load or are repeated, the list for reads continues with
    /// a time for each type of page while the drive is loaded. If reads are repeated, it continues with the times of
    /// pages that are read again: for each type without load, and then for each type while the drive is loaded.
    pub(crate) fn cells(&self) -> Cells {
        let flash = &self.typed.flash;
        let [mut read, mut program] = self.times_by_type();
        let page_types = read.len().max(program.len());
        for times in [&mut read, &mut program] {
            times.resize(page_types, times[0]);
        }
        let us = |microseconds| from_units(microseconds, TICKS_PER_US);
        let mut longer: Vec<Ticks> = Vec::new();
        if self.slows_reads() || self.retries() {
            let factor = 1.0 + flash.read_loaded_percent / 100.0;
            longer.extend(read.iter().map(|time| (*time as f64 * factor) as Ticks));
        }
        if self.retries() {
            let again: Vec<_> = read.iter().chain(&longer).copied().collect();
            longer.extend(again.into_iter().map(|time| time + us(flash.read_retry_us)));
        }
        read.extend([read[0], us(flash.pslc_read_us)]);
        read.extend(longer);
        program.extend([us(flash.first_pass_us), us(flash.pslc_program_us)]);
        Cells {
            read,
            program,
            erase: self.timing().erase,
        }
    }

    /// Whether the time of every step of a die is just the sum of the times of its operations.
    fn are_sums(&self) -> bool {
        let (flash, timing) = (&self.typed.flash, self.timing());
        flash.channels == CountOrAuto::Auto
            && flash.command_ns == 0.0
            && flash.status_ns == 0.0
            && self.times_by_type() == [[timing.read], [timing.program]]
            && !self.interrupts()
            && !self.slows_reads()
            && !self.retries()
            && self.typed.device.dram_program_ns == 0.0
            && self.units().is_none()
            && self.registers().is_none()
            // A step whose time is a sum can use both kinds of cells, but no other command can go between its
            // commands.
            && !(self.ftl_row.has_cell_modes && flash.scheduling.service() != ServiceOrder::Arrival)
    }

    /// The rule that selects the next command among the commands that wait at a die; `Dispatch::Off` if commands do
    /// not wait. Commands wait if `flash.scheduling` says so, and if groups of planes work in rounds.
    pub(crate) fn queues(&self) -> Dispatch {
        let scheduling = self.typed.flash.scheduling;
        match scheduling.dispatch() {
            Dispatch::Off if self.works_in_rounds() => match scheduling.lets_reads_pass() {
                true => Dispatch::ReadsFirst,
                false => Dispatch::Arrival,
            },
            dispatch => dispatch,
        }
    }

    /// The number of planes in a group, if groups of planes work in parallel. In a group, one plane works at a time.
    /// `None` if planes do not work in parallel groups.
    fn planes_in_group(&self) -> Option<u32> {
        let flash = &self.typed.flash;
        let groups = self
            .holds("flash.parallel_units > 1")
            .then_some(flash.parallel_units);
        groups.map(|groups| flash.planes_per_die / groups)
    }

    /// Whether groups of planes work in parallel in rounds of commands. Groups can also work in parallel in batches
    /// of page operations, in which each group needs the sum of the times of its operations. Batches are not enough
    /// if commands are timed one by one, if `flash.scheduling` is not `arrival`, or if the layer has several streams,
    /// keeps a journal or collects garbage in steps.
    pub(crate) fn works_in_rounds(&self) -> bool {
        self.planes_in_group().is_some()
            && (self.typed.flash.scheduling != Scheduling::Arrival
                || !self.are_sums()
                || self.holds(BEYOND_BATCHES))
    }

    /// Whether groups of planes work in parallel in batches of page operations.
    pub(crate) fn works_in_batches(&self) -> bool {
        self.planes_in_group().is_some() && !self.works_in_rounds()
    }

    /// The rule for pages that wait at a die and may be served together.
    pub(crate) fn together(&self) -> Together {
        match (self.planes_in_group(), self.typed.flash.multi_plane) {
            (Some(planes), _) => Together::Groups(planes),
            (None, MultiPlane::Off) => Together::Never,
            (None, MultiPlane::InOrder) => Together::InOrder,
            (None, MultiPlane::AnyOrder) => Together::AnyOrder,
        }
    }

    /// The media whose commands get their times when they are issued. `None` if commands wait in queues, or if the
    /// time of every step is just the sum of the times of its operations.
    fn booked(&self) -> Option<MediaConfig> {
        let flash = &self.typed.flash;
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let bus = BusTimes {
            command: phase(flash.command_ns),
            status: phase(flash.status_ns),
        };
        if self.queues() != Dispatch::Off || self.are_sums() {
            return None;
        }
        let channels = self.channels();
        Some(MediaConfig {
            channels,
            dies_per_channel: flash.dies / channels,
            planes: flash.planes_per_die,
            cells: self.cells(),
            bus: Some(bus),
            suspend: self.interrupts().then(|| media::Suspend {
                cost: from_units(flash.suspend_us, TICKS_PER_US),
                limit: flash.suspend_limit,
                pulse: from_units(flash.suspend_pulse_us, TICKS_PER_US),
                tail: from_units(flash.suspend_tail_us, TICKS_PER_US),
                moves_end: flash.suspend == Suspend::MovesEnd,
            }),
            registers: self.registers(),
        })
    }

    /// The cache registers; `None` if none is used.
    pub(crate) fn registers(&self) -> Option<Registers> {
        let flash = &self.typed.flash;
        let busy = |is_on: bool, us| is_on.then(|| from_units(us, TICKS_PER_US));
        let registers = Registers {
            read: busy(flash.cache_read, flash.cache_read_busy_us),
            program: busy(flash.cache_program, flash.cache_program_busy_us),
        };
        (flash.cache_read || flash.cache_program).then_some(registers)
    }

    /// The commands that may release their die for the next command before their own end. With cache registers, these
    /// are all commands. Without cache registers, if commands wait in queues, these are the commands whose die the
    /// layer has fixed. Otherwise there are none.
    pub(crate) fn handover(&self) -> Handover {
        match (self.registers(), self.queues()) {
            (Some(_), _) => Handover::OfAll,
            (None, Dispatch::Off) => Handover::Never,
            (None, _) => Handover::OfFixedDies,
        }
    }

    /// The pages that are programmed together; `None` if each page is programmed alone and in one pass.
    pub(crate) fn units(&self) -> Option<Units> {
        let (flash, geometry) = (&self.typed.flash, self.geometry());
        (flash.program_unit > 1 || flash.program_passes > 1).then(|| Units {
            pages: flash.program_unit,
            passes: flash.program_passes,
            block_pages: geometry.pages_per_block,
            page_bits: geometry.page_bits(),
            wait: from_units(flash.unit_wait_us, TICKS_PER_US),
        })
    }

    /// The program units, if they have an effect. Without a clock no program waits for the rest of its unit. But a
    /// layer that works in whole units still does so, and a layer that does not merge adds the fillers that a loss
    /// of power requires.
    pub(crate) fn units_in_effect(&self) -> Option<Units> {
        let is_whole = |units: &Units| self.ftl_row.works_in_units && units.pages > 1;
        let counts = |units: &Units| self.is_timed() || self.has_fillers() || is_whole(units);
        self.units().filter(counts)
    }

    /// Whether the layer completes program units with fillers also without a clock.
    pub(crate) fn has_fillers(&self) -> bool {
        let row = self.ftl_row;
        row.has_flash && !row.has_merges && self.typed.device.power_may_fail
    }

    /// The number of buffer slots that a run with a clock reserves for pages of incomplete program units. It is the
    /// largest number of pages that can wait for the rest of their units. A buffer that keeps pages must have more
    /// slots than this number.
    #[must_use]
    pub fn pages_in_units(&self) -> u32 {
        let flash = &self.typed.flash;
        // The number of blocks of a die to which a host stream writes at the same time.
        let open = match flash.copy_back {
            true => flash.planes_per_die,
            false => 1,
        };
        // A stream has one unit that is being filled, and, for each block that it fills in turn, one unit between
        // each two passes.
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

    /// Whether reads interrupt programs and erases. Only reads that may overtake can do so.
    pub(crate) fn interrupts(&self) -> bool {
        let flash = &self.typed.flash;
        flash.suspend != Suspend::Never && flash.scheduling.lets_reads_pass()
    }

    /// The order in which a die serves page operations. If commands wait in queues, the queues decide the order of
    /// commands, so the die accepts page operations in the order of their arrival. But reads that interrupt must be
    /// able to pass an operation of several commands.
    pub(crate) fn service(&self) -> ServiceOrder {
        let scheduling = self.typed.flash.scheduling;
        match self.queues() {
            Dispatch::Off => scheduling.service(),
            // If planes work in rounds, operations of the lowest rank join the queues only when no other operation
            // waits.
            _ if scheduling == Scheduling::GarbageLast => ServiceOrder::GarbageLast,
            Dispatch::ReadsFirst if self.interrupts() => ServiceOrder::ReadsFirst,
            Dispatch::Arrival | Dispatch::ReadsFirst => ServiceOrder::Arrival,
        }
    }

    /// Whether commands are timed one by one.
    pub(crate) fn times_commands(&self) -> bool {
        self.queues() != Dispatch::Off || self.booked().is_some()
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn the_times_of_femus_profile_are_femus() {
        let mut settings = Settings::new();
        settings.load_profile("femu-tlc").unwrap();
        let media = settings.resolve().unwrap().booked().unwrap();
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

    /// A program of whole word lines holds a page of each type in turn. Otherwise pages of one type are arranged
    /// as in FEMU.
    #[test]
    fn pages_of_whole_word_lines_go_through_their_types_in_turn() {
        for (pairs, expected) in [
            (&["flash.program_unit=1"][..], [0, 0, 0, 0, 0, 0, 1, 1]),
            (&["flash.program_unit=3"], [0, 1, 2, 0, 1, 2, 0, 1]),
            (&["flash.program_unit=4"], [0, 0, 0, 0, 0, 0, 1, 1]),
            (
                &[
                    "flash.program_unit=3",
                    "flash.page_bytes=8192",
                    "ftl.map_unit_bytes=4096",
                ],
                [0, 0, 1, 1, 2, 2, 0, 0],
            ),
        ] {
            let mut settings = Settings::new();
            for pair in [
                "flash.pages_per_block=24",
                "flash.read_times_us=50/60/70",
                "flash.copy_back=false",
                "ftl.kind=striped",
            ] {
                settings.set_pair(pair).unwrap();
            }
            for pair in pairs {
                settings.set_pair(pair).unwrap();
            }
            let layout = settings.resolve().unwrap().layout();
            let types: Vec<_> = (0..8).map(|page| layout.page_type(page)).collect();
            assert_eq!(types, expected, "{pairs:?}");
        }
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
