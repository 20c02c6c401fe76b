//! Errors of a run that are not bugs of the program.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_ftl::{BuildError, NoSpace};
use destage_nand::GeometryError;
use destage_nand::medium::image::Damage;
use destage_trace::TraceError;

use crate::words;

/// An argument that cannot be used. Callers call it by its own name; a command line by its option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}{what}")]
pub struct Argument {
    /// Its name: of a function's argument, of a field, or `setting` for `KEY=VALUE`.
    pub name: String,
    /// The text after the name: the value after a space, if there is one, and after a colon the error in it.
    pub what: String,
}

/// Parameters that exclude another, or the purpose of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The refused settings: name, value, and default.
    pub refused: Vec<(String, String, &'static str)>,
    /// The other setting, in words.
    pub with: String,
    /// Why, in one sentence without its full stop.
    pub because: &'static str,
}

impl std::error::Error for Refusal {}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let set = self
            .refused
            .iter()
            .map(|(key, value, _)| format!("{key} = {value}"));
        let set: Vec<String> = set.collect();
        let defaults = self.refused.iter().map(|(key, _, default)| match *default {
            "" => format!("no {key}"),
            default => format!("{key} = {default}"),
        });
        let defaults: Vec<String> = defaults.collect();
        write!(
            formatter,
            "{}: {}; expected {}, or to be without {}",
            set.join(", "),
            self.because,
            defaults.join(", "),
            self.with
        )
    }
}

/// The user's input cannot be simulated. Every message names the place, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A parameter is unknown, out of range, or contradicts another.
    #[error("{0}")]
    Config(String),
    /// Parameters of which one excludes the other.
    #[error(transparent)]
    Excluded(Refusal),
    /// An argument that the caller knows by a name of its own cannot be used.
    #[error(transparent)]
    Argument(Argument),
    /// The counts of the device make none.
    #[error("{}", words::geometry(*.0))]
    Geometry(GeometryError),
    /// The translation layer cannot be made.
    #[error("{}", words::layer(.0))]
    Layer(BuildError),
    /// No number of blocks makes the device large enough for the addresses of the input.
    #[error(
        "flash.blocks_per_plane = auto: the input's addresses end at page {pages}, and a device of this shape offers at most {offered} pages of {page_bytes} bytes; expected more flash.dies, larger pages (flash.page_bytes), or a number with trace.addr_map=modulo or shrink"
    )]
    AddressesTooLarge {
        /// Where the addresses end, in pages.
        pages: u64,
        /// Pages that a device can have.
        offered: u64,
        /// Bytes of a page.
        page_bytes: u64,
    },
    /// No number of blocks makes the device as large as it has to be.
    #[error(
        "device.capacity_bytes = {bytes}: a device of this shape offers less than {most} bytes; expected a smaller one, more flash.dies, or larger pages (flash.page_bytes)"
    )]
    CapacityTooLarge {
        /// The size that was asked for.
        bytes: u64,
        /// The most that flash of this shape can hold.
        most: u64,
    },
    /// The number of blocks was not found before the run.
    #[error(
        "flash.blocks_per_plane = auto: there is no input whose addresses could give the size of the device; expected a number, or device.capacity_bytes"
    )]
    OpenSize,
    /// The image of a flash has changed since it was written.
    #[error("the image is damaged: {0}; expected it unchanged")]
    Image(Damage),
    /// A request lies outside the device.
    #[error(
        "{origin}:{line}: request of {sectors} sectors at {sector} ends beyond the device, which has {device_sectors} sectors ({device_pages} pages); expected addresses within it, a larger device (flash.blocks_per_plane), or trace.addr_map=modulo or shrink"
    )]
    BeyondDevice {
        /// The trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// First sector.
        sector: u64,
        /// Sectors.
        sectors: u32,
        /// Sectors of the device.
        device_sectors: u64,
        /// Pages of the device.
        device_pages: u64,
    },
    /// A request is longer than the device, so that no map of addresses keeps its pages apart.
    #[error(
        "{origin}:{line}: a request of {sectors} sectors is longer than the device, which has {device_sectors} sectors; expected requests that fit the device, or a larger device (flash.blocks_per_plane)"
    )]
    LongerThanDevice {
        /// The trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// Sectors of the request.
        sectors: u32,
        /// Sectors of the device.
        device_sectors: u64,
    },
    /// The device is too small for the writes of the trace.
    #[error("{origin}:{line}: the device is full: {}", words::shortage(.shortage))]
    DeviceFull {
        /// The trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// What ran out.
        shortage: NoSpace,
    },
    /// The device is too small for its contents before the first request.
    #[error(
        "sim.precondition = random_fill:{passes}: the device is full after {done} of {total} page writes: {}", words::shortage(.shortage)
    )]
    FullBefore {
        /// The number of overwrites as a multiple of the number of pages.
        passes: u64,
        /// Page writes done.
        done: u64,
        /// Page writes wanted.
        total: u64,
        /// What ran out.
        shortage: NoSpace,
    },
    /// A request arrives when no time is left.
    #[error(
        "{origin}:{line}: the time is too large: \"{}\" with host.time_scale={time_scale}; expected a product below 2^64 ticks of 0.1 ns, 58 years", exact_ms(*.arrival)
    )]
    LateArrival {
        /// The trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// When it arrives by the trace, in ticks of 0.1 ns.
        arrival: Ticks,
        /// The factor that multiplies it.
        time_scale: f64,
    },
    /// The simulated clock reached its largest time before the last request.
    #[error(
        "{origin}:{line}: operations that are under way when the request arrives end too late: \"{}\"; expected all of them to end below 2^64 ticks of 0.1 ns, 58 years", exact_ms(*.arrival)
    )]
    OutOfTime {
        /// The trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// When it arrives by the trace, in ticks of 0.1 ns.
        arrival: Ticks,
    },
    /// The run ended before statistics opened.
    #[error(
        "{origin}: sim.warmup_requests = {warmup}: the run ended after {requests} requests, and measured none of them; expected fewer than {requests}"
    )]
    NothingMeasured {
        /// The trace.
        origin: String,
        /// Requests before statistics open.
        warmup: u64,
        /// Requests that arrived.
        requests: u64,
    },
    /// The run ended before its power failed.
    #[error(
        "{origin}: the power was to fail at {at}, but the run ended after {seen}; expected an earlier moment"
    )]
    NoCut {
        /// The trace.
        origin: String,
        /// When the power was to fail.
        at: String,
        /// How many of the counted events there were.
        seen: u64,
    },
    /// After a loss of power no block was free to put others in order.
    #[error("ftl.kind = {layer}: the mount after the loss of power found no room: {}", words::shortage(.shortage))]
    Mount {
        /// The layer.
        layer: &'static str,
        /// What ran out.
        shortage: NoSpace,
    },
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// The device has no room left for the request in line `line` of `origin`.
    #[cold]
    pub(crate) fn full(origin: &str, line: u32, shortage: NoSpace) -> Self {
        Self::DeviceFull {
            origin: origin.to_owned(),
            line,
            shortage,
        }
    }
}

/// `time` in milliseconds, to the tick.
fn exact_ms(time: Ticks) -> String {
    format!("{}.{:07} ms", time / TICKS_PER_MS, time % TICKS_PER_MS)
}
