//! Media whose commands are timed one by one: dies that share channels, pages of several types.

use destage_base::parameter::CountOrAuto;
use destage_base::time::{TICKS_PER_NS, from_units};
use destage_flash::media::{BusTimes, Cells, Gate, MediaConfig, PlaneGaps, Tiers};

use crate::config::Config;
use crate::engine::Flash;
use crate::error::SimError;
use crate::parameters::Dispatch;

/// The most types of page: cells of four bits.
const MOST_TYPES: usize = 4;

/// Factors by type of page, with `/` between them: one to four numbers above 0.
fn factors(text: &str) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = text.split('/').map(|part| part.parse().ok()).collect();
    numbers.filter(|numbers| {
        numbers.len() <= MOST_TYPES && numbers.iter().all(|number| (1e-3..=1e3).contains(number))
    })
}

/// The times by type of page that factors on `time` are.
pub(crate) fn by_type(time: u64, text: &str) -> Vec<u64> {
    let factors = factors(text).unwrap_or_else(|| vec![1.0]);
    let times = factors.iter();
    times
        .map(|factor| (time as f64 * factor + 0.5) as u64)
        .collect()
}

impl Config {
    /// What a device consists of.
    pub(crate) fn flash(&self) -> Flash {
        Flash {
            geometry: self.geometry(),
            timing: self.timing(),
            media: self.media(),
            dispatch: self.dispatch(),
        }
    }

    /// The media, where no command waits in a queue, unless all there is to know of a step of a die is the sum of its operations.
    pub(crate) fn media(&self) -> Option<MediaConfig> {
        let (flash, timing) = (&self.typed.flash, self.timing());
        let phase = |nanoseconds| from_units(nanoseconds, TICKS_PER_NS);
        let bus = BusTimes {
            command: phase(flash.command_ns),
            status: phase(flash.status_ns),
        };
        let read = by_type(timing.read, &flash.read_factors);
        let program = by_type(timing.program, &flash.program_factors);
        let is_plain =
            bus == BusTimes::default() && read == [timing.read] && program == [timing.program];
        if flash.dispatch != Dispatch::Off {
            return None;
        }
        let channels = match flash.channels {
            CountOrAuto::Count(channels) => channels,
            CountOrAuto::Auto if is_plain => return None,
            CountOrAuto::Auto => flash.dies,
        };
        Some(MediaConfig {
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
            suspend: None,
            gaps: PlaneGaps::default(),
            cache_read: None,
        })
    }

    /// Why something is not possible that is only `done` where a step of a die is known as a whole, if it is not.
    pub(crate) fn check_whole_steps(&self, done: &str) -> Result<(), SimError> {
        match self.times_commands() {
            false => Ok(()),
            true => Err(SimError::Config(format!(
                "flash.channels, flash.command_ns, flash.status_ns, flash.read_factors, flash.program_factors, flash.dispatch: {done} only where commands are not timed one by one; expected their defaults"
            ))),
        }
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
        let types = |text| factors(text).map_or(1, |factors| factors.len());
        let (reads, programs) = (types(&flash.read_factors), types(&flash.program_factors));
        if reads > 1 && programs > 1 && reads != programs {
            return refuse(format!(
                "flash.program_factors = {}: {programs} types of page, and flash.read_factors = {} has {reads}; expected as many, or one",
                flash.program_factors, flash.read_factors
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
                "flash.parallel_units = {}: its commands are not timed one by one; expected 1, or the defaults of flash.channels, flash.command_ns, flash.status_ns, flash.read_factors, flash.program_factors and flash.dispatch",
                flash.parallel_units
            ));
        }
        self.check_dispatch()
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
        let media = settings.resolve().unwrap().media().unwrap();
        let ns = |times: &[u64]| times.iter().map(|ticks| ticks / 10).collect::<Vec<_>>();
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
        ] {
            let mut settings = Settings::new();
            settings.set_pair(pair).unwrap();
            let error = settings.resolve().err().expect(pair).to_string();
            assert!(error.contains(says), "{pair}: {error}");
        }
    }
}
