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
pub(super) const PROGRAM: &str = "flash.program_us";

/// All parameters that a fit may change. A fit uses only those that its measurements determine.
const KNOBS: [Knob; 19] = [
    whole(knob(BLOCKS, 512.0, (64.0, 1e6), &[Shape::Fill])),
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
    read_time(0),
    read_time(1),
    read_time(2),
    knob(READ, 50.0, (2.0, 1000.0), &[Shape::Rates]),
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
    knob(DRAM, 30_000.0, (100.0, 1e6), &[Shape::Latency]),
];

/// The buffer size, in bytes, at which the search begins if the measurements depend on the size.
const START_BUFFER: u32 = 8_000_000;
/// The number of firmware cores at which the firmware time is a constant delay without queueing.
const DELAY_CORES: &str = "256";
/// The search begins with at least this many times the used blocks, even if the profile has fewer.
const SPARE: f64 = 1.1;
/// The length of the windows in which pages are counted for the load of the drive, in seconds.
const WINDOW_S: f64 = 0.001;

/// Parameters that no measurement determines, and values with which the model reproduces response times under writes.
/// With these values no page waits for a channel, and the buffer passes each page to the layer at once. The values
/// replace those of the profile from which a fit begins, but not settings of the user.
const UNTOLD: [(&str, &str); 5] = [
    ("flash.channels", "auto"),
    ("flash.transfer_ns_per_byte", "0"),
    ("buffer.kind", "mqsim"),
    ("buffer.mqsim_filter_us", "0"),
    ("buffer.bg_destage", "false"),
];

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
    /// collection runs in bursts.
    pub fn new(start: &Settings, shapes: &[Shape], used_gib: Option<f64>, traits: &Traits) -> Self {
        let all = KNOBS.into_iter();
        let told = |knob: &Knob| knob.shapes.iter().any(|shape| shapes.contains(shape));
        let mut start = start.clone();
        if shapes.contains(&Shape::Latency) {
            for (key, text) in UNTOLD {
                start.offer(key, text, origin());
            }
            set(&mut start, CORES, DELAY_CORES);
        }
        if shapes.contains(&Shape::Latency) || shapes.contains(&Shape::Depth) {
            set(&mut start, "flash.suspend", "moves_end");
            set(&mut start, "flash.suspend_limit", "1000");
        }
        if traits.stalls {
            set(&mut start, "ftl.gc_pace", "burst");
            // The search for the buffer size begins at this value. With a larger buffer, the simulated stalls would
            // not depend on the buffer size.
            set(&mut start, BUFFER, &START_BUFFER.to_string());
        }
        if let Some((percent, writes_per_s)) = traits.slower {
            set(&mut start, LOADED, &percent.round().to_string());
            let pages = (writes_per_s * WINDOW_S).ceil().max(1.0);
            set(&mut start, LOADED_PAGES, &pages.to_string());
            set(
                &mut start,
                "device.load_window_us",
                &(WINDOW_S * 1e6).to_string(),
            );
        }
        if let Some(wait) = traits.wait {
            set(&mut start, DRAM, &(1000.0 * wait).round().to_string());
        }
        let is_of_drive = |knob: &Knob| match knob.key {
            BURST | BUFFER => traits.stalls,
            LOADED | LOADED_PAGES => traits.slower.is_some(),
            DRAM => traits.wait.is_some(),
            _ => true,
        };
        let is_delay = shapes.contains(&Shape::Latency);
        let has_types = is_delay || shapes.contains(&Shape::Depth);
        Self {
            // Only one parameter is fitted for each property of the drive, even if several parameters could describe
            // the property.
            all: all
                .filter(told)
                .filter(|knob| !(is_delay && knob.key == CORES))
                .filter(|knob| !(has_types && knob.key == READ))
                .filter(|knob| !(is_delay && knob.key == FIRMWARE_READ))
                .filter(is_of_drive)
                .collect(),
            start,
            used_bytes: used_gib.map(|gib| gib * GIB),
        }
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
            // The measurements may use more than the profile offers.
            let (_, most) = self.all[blocks].bounds;
            numbers[blocks] = numbers[blocks].max((SPARE * used).ceil()).min(most);
        }
        Ok(numbers)
    }

    /// The number of blocks in each plane that hold the largest capacity that a measurement uses, and the data of the
    /// layer. `None` if no measurement says what it uses.
    fn used_blocks(&self, settings: &Settings) -> Option<f64> {
        let geometry = settings.resolve().ok()?.geometry();
        let planes = u64::from(geometry.dies) * u64::from(geometry.planes);
        let row = planes * u64::from(geometry.data_pages()) * geometry.page_bytes;
        let own = settings.text("ftl.own_percent");
        let own = own.and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
        // A thousandth is added to allow for rounding.
        Some(self.used_bytes? * 1.001 / (row as f64 * (1.0 - own / 100.0)))
    }

    /// The settings of the profile with the values `numbers`.
    pub fn settings(&self, numbers: &[f64]) -> Settings {
        let mut settings = self.start.clone();
        let mut times = Vec::new();
        for (knob, number) in self.all.iter().zip(numbers) {
            match knob.place {
                Some(_) => times.push(number.to_string()),
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
                set(
                    &mut settings,
                    "flash.channels",
                    &fits.unwrap_or(1).to_string(),
                );
            }
        }
        if let (Some(offered), Ok(config)) = (self.used_blocks(&settings), settings.resolve()) {
            let blocks = f64::from(config.geometry().blocks_per_plane);
            let reserved = (blocks - offered.ceil()).max(0.0);
            let percent = 100.0 * (reserved + 0.5) / blocks;
            set(&mut settings, "ftl.reserve_percent", &percent.to_string());
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
