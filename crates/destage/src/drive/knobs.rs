//! The parameters of a profile that a fit may change, and how their values enter the settings.

use destage_sim::settings::{Origin, Settings};

use super::measured::Shape;
use super::scaled::GIB;
use super::traits::Traits;
use crate::error::Error;

/// A parameter whose value is fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knob {
    /// The name of the parameter.
    pub key: &'static str,
    /// The index, from 0, of the fitted number in a parameter that has several numbers.
    pub place: Option<usize>,
    /// The value at which the search begins if the profile has the value 0 or too few numbers.
    start: f64,
    /// The smallest and the largest value that a fit tries.
    pub bounds: (f64, f64),
    /// Whether a fit tries only whole numbers.
    pub is_whole: bool,
    /// The kinds of measurements that determine the value.
    shapes: &'static [Shape],
}

impl Knob {
    /// The value that says that what the parameter describes does not exist; `None` for a parameter of something that
    /// every drive has.
    fn absent(&self) -> Option<f64> {
        match self.key {
            JOB | JOB_READ | SLEEP | UNIT => Some(LEAST_TIME),
            RETRIES => Some(LEAST_RETRIES),
            _ => None,
        }
    }
}

const fn knob(key: &'static str, start: f64, bounds: (f64, f64), shapes: &'static [Shape]) -> Knob {
    Knob {
        key,
        place: None,
        start,
        bounds,
        is_whole: false,
        shapes,
    }
}

const fn read_time(place: usize) -> Knob {
    Knob {
        place: Some(place),
        ..knob(
            READ_TIMES,
            50.0,
            (2.0, 1000.0),
            &[Shape::Latency, Shape::Depth],
        )
    }
}

const fn whole(knob: Knob) -> Knob {
    Knob {
        is_whole: true,
        ..knob
    }
}

const READ_TIMES: &str = "flash.read_times_us";
pub(super) const BLOCKS: &str = "flash.blocks_per_plane";
pub(super) const DIES: &str = "flash.dies";
pub(super) const FIRMWARE: &str = "device.firmware_ns";
/// The time of a firmware core for a read, if it differs from that for a write.
pub(super) const FIRMWARE_READ: &str = "device.firmware_read_ns";
pub(super) const CORES: &str = "device.firmware_cores";
/// The share of pages that are read again, in percent, and the time by which this lengthens a read.
pub(super) const RETRIES: &str = "flash.read_retry_percent";
pub(super) const RETRY: &str = "flash.read_retry_us";
/// The time that the host's thread spends on each request of a closed loop, and that time for a read.
pub(super) const JOB: &str = "host.job_ns";
pub(super) const JOB_READ: &str = "host.job_read_ns";
/// The additional time of that thread for a request whose answer it waited for.
pub(super) const SLEEP: &str = "host.job_sleep_ns";
pub(super) const READ: &str = "flash.read_us";
pub(super) const BUS: &str = "host.bus_ns_per_sector";
pub(super) const SUSPEND: &str = "flash.suspend_us";
pub(super) const PULSE: &str = "flash.suspend_pulse_us";
pub(super) const TAIL: &str = "flash.suspend_tail_us";
/// The prefix of the names of all parameters of suspension.
pub(super) const SUSPENSION: &str = "flash.suspend_";
/// The amount of room that a burst of garbage collection gains.
pub(super) const BURST: &str = "ftl.gc_burst_units";
pub(super) const BUFFER: &str = "buffer.capacity_bytes";
/// How much longer reads take under load, and the load.
pub(super) const LOADED: &str = "flash.read_loaded_percent";
pub(super) const LOADED_PAGES: &str = "device.loaded_pages";
/// The time for which a program occupies the DRAM.
pub(super) const DRAM: &str = "device.dram_program_ns";
/// The time of a firmware core for the write that completes a program unit, in addition.
pub(super) const UNIT: &str = "device.firmware_program_ns";
pub(super) const PROGRAM: &str = "flash.program_us";

/// The share of each superblock that the drive programs for itself, in percent.
pub(super) const OWN: &str = "ftl.own_percent";

/// All parameters that a fit may change. A fit uses only those that its measurements determine.
const KNOBS: [Knob; 26] = [
    whole(knob(BLOCKS, 512.0, (64.0, 1e6), &[Shape::Fill])),
    knob(OWN, 3.0, (0.1, 25.0), &[Shape::Fill]),
    knob(
        FIRMWARE,
        5000.0,
        (100.0, 1e6),
        &[Shape::Latency, Shape::Depth, Shape::Rates],
    ),
    knob(
        FIRMWARE_READ,
        5000.0,
        (100.0, 1e6),
        &[Shape::Depth, Shape::Rates],
    ),
    whole(knob(CORES, 1.0, (1.0, 256.0), &[Shape::Depth])),
    knob(JOB, LEAST_TIME, (LEAST_TIME, 1e6), &[Shape::Depth]),
    knob(JOB_READ, LEAST_TIME, (LEAST_TIME, 1e6), &[Shape::Depth]),
    knob(SLEEP, LEAST_TIME, (LEAST_TIME, 1e6), &[Shape::Depth]),
    read_time(0),
    read_time(1),
    read_time(2),
    knob(READ, 50.0, (2.0, 1000.0), &[Shape::Rates]),
    knob(
        RETRIES,
        LEAST_RETRIES,
        (LEAST_RETRIES, 30.0),
        &[Shape::Depth],
    ),
    knob(RETRY, 50.0, (1.0, 1000.0), &[Shape::Depth]),
    knob(BUS, 100.0, (5.0, 10_000.0), &[Shape::Rates, Shape::Depth]),
    knob(
        PROGRAM,
        500.0,
        (5.0, 50_000.0),
        &[Shape::Latency, Shape::Fill, Shape::Depth, Shape::Rates],
    ),
    whole(knob(DIES, 32.0, (4.0, 256.0), &[Shape::Latency])),
    knob(SUSPEND, 20.0, (0.5, 400.0), &[Shape::Latency]),
    knob(PULSE, 30.0, (1.0, 1000.0), &[Shape::Latency]),
    knob(TAIL, 300.0, (1.0, 2000.0), &[Shape::Latency]),
    whole(knob(BURST, 256.0, (8.0, 8192.0), &[Shape::Latency])),
    whole(knob(
        BUFFER,
        START_BUFFER as f64,
        (1e5, 4e8),
        &[Shape::Latency],
    )),
    knob(LOADED, 50.0, (1.0, 1000.0), &[Shape::Latency]),
    whole(knob(LOADED_PAGES, 15.0, (1.0, 1e6), &[Shape::Latency])),
    knob(DRAM, LEAST_TIME, (LEAST_TIME, 1e6), &[Shape::Latency]),
    knob(UNIT, LEAST_TIME, (LEAST_TIME, 1e6), &[Shape::Depth]),
];

/// The shortest time that a fit tries for the host's thread, for a program in the DRAM, and for a firmware core that completes
/// a program unit, in nanoseconds. It stands for no time at all.
const LEAST_TIME: f64 = 1.0;
/// The smallest share of pages that a fit tries, in percent. It stands for a drive that reads no page again.
const LEAST_RETRIES: f64 = 0.001;
/// The buffer size, in bytes, at which the search begins if the measurements depend on the size.
const START_BUFFER: u32 = 8_000_000;
/// The search begins with at least this many times the used blocks, even if the profile has fewer.
const SPARE: f64 = 1.1;
/// The length of the windows in which pages are counted for the load of the drive, in seconds.
const WINDOW_S: f64 = 0.001;

/// Parameters that no measurement determines, and values with which the model reproduces response times under writes.
/// With these values no request waits for a firmware core and no page for a channel, and the buffer passes each page to
/// the layer at once. The values replace those of the profile from which a fit begins, but not settings of the user.
const UNTOLD: [(&str, &str); 6] = [
    (CORES, "256"),
    ("flash.channels", "auto"),
    ("flash.transfer_ns_per_byte", "0"),
    ("buffer.kind", "mqsim"),
    ("buffer.mqsim_filter_us", "0"),
    ("buffer.bg_destage", "false"),
];

/// When reads interrupt programs. These values replace those of the profile like [`UNTOLD`].
const SUSPENDED: [(&str, &str); 2] = [(SUSPEND_KIND, "moves_end"), ("flash.suspend_limit", "1000")];
const SUSPEND_KIND: &str = "flash.suspend";
/// The fraction of the flash that is not offered to the host, in percent.
const RESERVE: &str = "ftl.reserve_percent";
/// The pace of garbage collection, and its value for a drive that stalls.
const PACE: &str = "ftl.gc_pace";
const BURSTS: &str = "burst";

/// The fitted parameters of a profile.
#[derive(Clone)]
pub(super) struct Knobs {
    start: Settings,
    all: Vec<Knob>,
    /// Bytes that the drive has to offer to the host, because a measurement uses that many.
    used_bytes: Option<f64>,
}

impl Knobs {
    /// The parameters of the profile `start` that measurements of `shapes` determine. `used_gib` is the largest
    /// capacity that a fill uses, in GiB. `traits` decide which mechanisms are modelled; if the drive stalls, garbage
    /// collection runs in bursts. Parameters that the user has set keep their values and are not fitted.
    pub fn new(start: &Settings, shapes: &[Shape], used_gib: Option<f64>, traits: &Traits) -> Self {
        let told = |knob: &Knob| knob.shapes.iter().any(|shape| shapes.contains(shape));
        // This reads the profile as it was given, because the values that are offered below count as set by the user.
        let is_free = |knob: &Knob| !start.is_set_by_user(knob.key);
        let mut start = start.clone();
        let offer = |start: &mut Settings, key: &str, text: &str| start.offer(key, text, origin());
        // The value of a fitted parameter at which the search begins.
        let begin = |start: &mut Settings, key: &str, number: f64| {
            let knob = KNOBS.iter().find(|knob| knob.key == key);
            let (low, high) = knob.map_or((number, number), |knob| knob.bounds);
            offer(start, key, &number.clamp(low, high).to_string());
        };
        if shapes.contains(&Shape::Latency) {
            for (key, text) in UNTOLD {
                offer(&mut start, key, text);
            }
        }
        if shapes.contains(&Shape::Latency) || shapes.contains(&Shape::Depth) {
            for (key, text) in SUSPENDED {
                offer(&mut start, key, text);
            }
        }
        if traits.stalls {
            offer(&mut start, PACE, BURSTS);
            // The search for the buffer size begins at this value. With a larger buffer, the simulated stalls would
            // not depend on the buffer size.
            begin(&mut start, BUFFER, START_BUFFER.into());
        }
        if let Some((percent, writes_per_s)) = traits.slower {
            begin(&mut start, LOADED, percent.round());
            begin(&mut start, LOADED_PAGES, (writes_per_s * WINDOW_S).ceil());
            let window_us = (WINDOW_S * 1e6).to_string();
            offer(&mut start, "device.load_window_us", &window_us);
        }
        if let Some(wait) = traits.wait {
            begin(&mut start, DRAM, (1000.0 * wait).round());
        }
        let has =
            |start: &Settings, key: &str, text: &str| start.text(key).as_deref() == Some(text);
        // Only this layer has the parameter.
        let own = traits.own.filter(|_| has(&start, "ftl.kind", "striped"));
        if let Some(percent) = own {
            begin(&mut start, OWN, (100.0 * percent).round() / 100.0);
        }
        let is_delay = shapes.contains(&Shape::Latency);
        let is_of_drive = |knob: &Knob| match knob.key {
            OWN => own.is_some(),
            BURST => traits.stalls && has(&start, PACE, BURSTS),
            BUFFER => traits.stalls,
            LOADED | LOADED_PAGES => traits.slower.is_some(),
            DRAM => traits.wait.is_some(),
            key if key.starts_with(SUSPENSION) => !has(&start, SUSPEND_KIND, "never"),
            _ => true,
        };
        let has_types = is_delay || shapes.contains(&Shape::Depth);
        Self {
            // Only one parameter is fitted for each property of the drive, even if several parameters could describe
            // the property.
            all: KNOBS
                .into_iter()
                .filter(told)
                .filter(is_free)
                .filter(|knob| !(is_delay && knob.key == CORES))
                .filter(|knob| !(has_types && knob.key == READ))
                .filter(|knob| !(is_delay && knob.key == FIRMWARE_READ))
                .filter(is_of_drive)
                .collect(),
            start,
            used_bytes: used_gib.map(|gib| gib * GIB),
        }
    }

    /// Whether what the parameter at `place` describes does not exist if the parameters have the values `numbers`.
    pub fn is_absent(&self, numbers: &[f64], place: usize) -> bool {
        let knob = &self.all[place];
        match knob.key {
            // The time of a repeated read has no effect if no page is read again.
            RETRY => self
                .find(RETRIES)
                .is_some_and(|share| self.is_absent(numbers, share)),
            _ => knob.absent() == Some(numbers[place]),
        }
    }

    /// Removes the parameters that describe what does not exist according to `numbers`, and their values.
    pub fn drop_absent(&mut self, numbers: &mut Vec<f64>) {
        let stay = (0..self.all.len()).filter(|place| !self.is_absent(numbers, *place));
        let stay = stay.map(|place| (self.all[place], numbers[place]));
        (self.all, *numbers) = stay.collect();
    }

    pub fn all(&self) -> &[Knob] {
        &self.all
    }

    /// The index of the parameter `key` among the fitted ones; `None` if it is not fitted.
    pub fn find(&self, key: &str) -> Option<usize> {
        self.all.iter().position(|knob| knob.key == key)
    }

    /// The index of the read time of a type of page among the fitted parameters; `None` if it is not fitted.
    pub fn read_time(&self, type_of_page: usize) -> Option<usize> {
        self.all
            .iter()
            .position(|knob| knob.key == READ_TIMES && knob.place == Some(type_of_page))
    }

    /// The values that the fitted parameters have in the profile before the fit.
    ///
    /// # Errors
    /// If the settings of the profile contradict each other.
    pub fn begin(&self) -> Result<Vec<f64>, Error> {
        let parameters = self.start.resolve()?.parameters();
        let text = |key: &str| parameters.get(key).map(ToString::to_string);
        let begin = |knob: &Knob| {
            let own = text(knob.key).unwrap_or_default();
            let mut parts = own.split('/').filter_map(|part| part.parse::<f64>().ok());
            let number = match knob.place {
                // If a profile has no time for each type of page, `flash.read_us` is the time of all types.
                Some(place) => parts.nth(place).or_else(|| text(READ)?.parse().ok()),
                None => parts.next(),
            };
            let number = number.filter(|number| *number > 0.0).unwrap_or(knob.start);
            number.clamp(knob.bounds.0, knob.bounds.1)
        };
        let mut numbers: Vec<f64> = self.all.iter().map(begin).collect();
        if let (Some(used), Some(blocks)) = (self.used_blocks(&self.start), self.find(BLOCKS)) {
            // The measurements may use more than the profile offers. A reserve that the user has set is kept, so the
            // used blocks are in addition to it.
            let reserve = self.start.text(RESERVE);
            let reserve = reserve.filter(|_| self.start.is_set_by_user(RESERVE));
            let percent = reserve.and_then(|text| text.parse::<f64>().ok());
            let least = SPARE * used / (1.0 - percent.unwrap_or(0.0) / 100.0);
            let (_, most) = self.all[blocks].bounds;
            numbers[blocks] = numbers[blocks].max(least.ceil()).min(most);
        }
        Ok(numbers)
    }

    /// The number of blocks in each plane that hold the largest capacity that a measurement uses, and the data of the
    /// layer. `None` if no measurement says what it uses.
    fn used_blocks(&self, settings: &Settings) -> Option<f64> {
        let geometry = settings.resolve().ok()?.geometry();
        let planes = u64::from(geometry.dies) * u64::from(geometry.planes);
        let row = planes * u64::from(geometry.data_pages()) * geometry.page_bytes;
        let own = settings.text(OWN);
        let own = own.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        // A thousandth is added to allow for rounding.
        Some(self.used_bytes? * 1.001 / (row as f64 * (1.0 - own / 100.0)))
    }

    /// The settings of the profile with the values `numbers`.
    pub fn settings(&self, numbers: &[f64]) -> Settings {
        let mut settings = self.start.clone();
        let mut times = Vec::new();
        for (place, (knob, number)) in self.all.iter().zip(numbers).enumerate() {
            match knob.place {
                Some(_) => times.push(number.to_string()),
                None if self.is_absent(numbers, place) => {}
                None => set(&mut settings, knob.key, &number.to_string()),
            }
        }
        if !times.is_empty() {
            set(&mut settings, READ_TIMES, &times.join("/"));
        }
        if let Some(dies) = self.find(DIES) {
            // The number of channels has to divide the number of dies. The largest such number that does not exceed
            // the profile's number of channels is used.
            let own = settings.text("flash.channels");
            let own = own.and_then(|text| text.parse::<u32>().ok());
            let dies = numbers[dies] as u32;
            if let Some(channels) = own.filter(|own| !dies.is_multiple_of(*own)) {
                let fits = (1..=channels).rev().find(|few| dies.is_multiple_of(*few));
                let text = fits.unwrap_or(1).to_string();
                settings.offer("flash.channels", &text, origin());
            }
        }
        if let (Some(offered), Ok(config)) = (self.used_blocks(&settings), settings.resolve()) {
            let blocks = f64::from(config.geometry().blocks_per_plane);
            let reserved = (blocks - offered.ceil()).max(0.0);
            let percent = 100.0 * (reserved + 0.5) / blocks;
            settings.offer(RESERVE, &percent.to_string(), origin());
        }
        settings
    }
}

fn origin() -> Origin {
    Origin::Given("a fit to measurements".to_owned())
}

fn set(settings: &mut Settings, key: &str, text: &str) {
    settings.set(key, text, origin());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_the_user_are_kept_and_starts_are_within_bounds() {
        let mut start = Settings::new();
        start.load_profile("datacenter-tlc").unwrap();
        for pair in [
            "flash.suspend=never",
            "device.firmware_cores=4",
            "ftl.gc_pace=even",
        ] {
            start.set_pair(pair).unwrap();
        }
        let traits = Traits {
            stalls: true,
            slower: Some((200_000.0, 1e12)),
            ..Traits::default()
        };
        let knobs = Knobs::new(&start, &[Shape::Latency], None, &traits);
        for (key, text) in [
            (SUSPEND_KIND, "never"),
            (CORES, "4"),
            (PACE, "even"),
            (LOADED, "1000"),
            (LOADED_PAGES, "1000000"),
            ("flash.suspend_limit", "1000"),
        ] {
            assert_eq!(knobs.start.text(key).as_deref(), Some(text), "{key}");
        }
        // Parameters without an effect are not fitted.
        for key in [SUSPEND, PULSE, TAIL, BURST] {
            assert!(knobs.find(key).is_none(), "{key}");
        }
    }

    #[test]
    fn a_parameter_that_the_user_set_is_not_fitted() {
        let traits = Traits {
            stalls: true,
            own: Some(4.0),
            ..Traits::default()
        };
        for (shape, pair) in [
            (Shape::Depth, "device.firmware_cores=4"),
            (Shape::Depth, "flash.read_times_us=40/50/60"),
            (Shape::Rates, "flash.read_us=45"),
            (Shape::Latency, "buffer.capacity_bytes=4194304"),
            (Shape::Fill, "ftl.reserve_percent=9"),
            (Shape::Fill, "ftl.own_percent=2"),
        ] {
            let mut start = Settings::new();
            start.load_profile("datacenter-tlc").unwrap();
            start.set_pair(pair).unwrap();
            let used_gib = (shape == Shape::Fill).then_some(1.0);
            let knobs = Knobs::new(&start, &[shape], used_gib, &traits);
            let (key, text) = pair.split_once('=').unwrap();
            assert!(knobs.find(key).is_none(), "{pair}");
            assert!(!knobs.all().is_empty(), "{pair}");
            let numbers = knobs.begin().unwrap();
            let settings = knobs.settings(&numbers);
            assert_eq!(settings.text(key).as_deref(), Some(text), "{pair}");
        }
    }

    /// The share that the drive programs for itself begins at the value that the fill in order shows, if the layer has
    /// such a share.
    #[test]
    fn the_share_of_the_drive_itself_is_that_of_the_fill() {
        let begun = |profile: &str, own: Option<f64>| {
            let mut start = Settings::new();
            start.load_profile(profile).unwrap();
            let traits = Traits {
                own,
                ..Traits::default()
            };
            let knobs = Knobs::new(&start, &[Shape::Fill], Some(1.0), &traits);
            let place = knobs.find(OWN)?;
            Some(knobs.begin().unwrap()[place])
        };
        assert_eq!(begun("datacenter-tlc", Some(3.6149)), Some(3.61));
        assert_eq!(begun("datacenter-tlc", None), None);
        assert_eq!(begun("enterprise-tlc", Some(3.6149)), None);
    }
}
