//! Errors of a run that are not bugs of the program.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_ftl::{BuildError, NoSpace};
use destage_nand::GeometryError;
use destage_nand::medium::image::Damage;
use destage_trace::TraceError;

use crate::words;

/// An argument that cannot be used. A caller of the library knows the argument by its name, and a user of the command
/// line by its option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}{what}")]
pub struct Argument {
    /// The name of the function argument or field, or `setting` for `KEY=VALUE`.
    pub name: String,
    /// The text after the name: the value after a space, if there is one, and the error after a colon.
    pub what: String,
}

/// Parameters that cannot be combined with another setting, or with the purpose of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Each refused setting with its name, its value and the default of the parameter.
    pub refused: Vec<(String, String, &'static str)>,
    /// The setting or purpose that excludes them, in words.
    pub with: String,
    /// The reason, in one sentence without a full stop.
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

/// Values of parameters that do not fit each other or the size of the device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// A value that cannot be used with the other values.
    #[error(
        "{key} = {value}: {}expected {expected}",
        if why.is_empty() { String::new() } else { format!("{why}; ") }
    )]
    Value {
        /// The dotted name of the parameter.
        key: &'static str,
        /// The value as messages write it: texts of the user in quotation marks.
        value: String,
        /// The reason why the value does not fit; empty if the expectation says it.
        why: String,
        /// What was expected.
        expected: String,
    },
    /// Reads and programs have times for different numbers of types of page.
    #[error(
        "flash.program_times_us: {programs} types of page, but flash.read_times_us has {reads}; expected equal numbers, or a single time"
    )]
    TypesOfPage {
        /// The number of types of page that have a time of a program.
        programs: usize,
        /// The number of types of page that have a time of a read.
        reads: usize,
    },
    /// The buffer would end destaging in idle time before it begins it.
    #[error("buffer.bg_low = {low} is above buffer.bg_high = {high}; expected at most {high}")]
    LowAboveHigh {
        /// The share at which destaging in idle time ends.
        low: f64,
        /// The share above which destaging in idle time begins.
        high: f64,
    },
}

impl Misfit {
    /// The misfit of `key` with the value `value`, where `expected` was expected.
    pub(crate) fn new(
        key: &'static str,
        value: impl std::fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::because(key, value, "", expected)
    }

    /// The misfit of `key` with the value `value`, which is wrong for the reason `why`.
    pub(crate) fn because(
        key: &'static str,
        value: impl std::fmt::Display,
        why: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self::Value {
            key,
            value: value.to_string(),
            why: why.into(),
            expected: expected.into(),
        }
    }
}

/// An error in the user's input, which therefore cannot be simulated. Every message names the place of the error, and
/// what was expected.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A parameter is unknown, out of range, or set in two ways.
    #[error("{0}")]
    Config(String),
    /// Values that do not fit each other.
    #[error(transparent)]
    Misfit(Misfit),
    /// Parameters that cannot be combined.
    #[error(transparent)]
    Excluded(Refusal),
    /// An argument of the caller cannot be used.
    #[error(transparent)]
    Argument(Argument),
    /// The numbers of dies, planes, blocks and pages do not make a possible device.
    #[error("{}", words::geometry(*.0))]
    Geometry(GeometryError),
    /// The translation layer cannot be built.
    #[error("{}", words::layer(.0))]
    Layer(BuildError),
    /// No number of blocks makes the device large enough for the addresses of the input.
    #[error(
        "flash.blocks_per_plane = auto: the input's addresses end at page {pages}, and a device of this shape offers at most {offered} pages of {page_bytes} bytes; expected {remedy}, or a number with trace.addr_map=modulo or shrink"
    )]
    AddressesTooLarge {
        /// The end of the addresses, in pages.
        pages: u64,
        /// The largest number of pages that a device of this shape can offer.
        offered: u64,
        /// Bytes of a page.
        page_bytes: u64,
        /// What the user can change.
        remedy: String,
    },
    /// No number of blocks makes the device as large as requested.
    #[error(
        "device.capacity_bytes = {bytes}: a device of this shape offers less than {most} bytes; expected a smaller one, more flash.dies, or larger pages (flash.page_bytes)"
    )]
    CapacityTooLarge {
        /// The requested size, in bytes.
        bytes: u64,
        /// A number of bytes that no device of this shape can reach.
        most: u64,
    },
    /// The number of blocks was not determined before the run.
    #[error(
        "flash.blocks_per_plane = auto: there is no input whose addresses could give the size of the device; expected a number, or device.capacity_bytes"
    )]
    OpenSize,
    /// The image of a flash has changed since it was written.
    #[error(
        "the image is damaged: {0}; expected an image that has not changed since destage wrote it"
    )]
    Image(Damage),
    /// A request lies outside the device.
    #[error(
        "{origin}:{line}: request of {sectors} sectors at {sector} ends beyond the device, which has {device_sectors} sectors ({device_pages} pages); expected addresses within it, a larger device (flash.blocks_per_plane), or trace.addr_map=modulo or shrink"
    )]
    BeyondDevice {
        /// The name of the trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// First sector of the request.
        sector: u64,
        /// Number of sectors of the request.
        sectors: u32,
        /// Number of sectors of the device.
        device_sectors: u64,
        /// Number of pages of the device.
        device_pages: u64,
    },
    /// A request is longer than the device, so it would overlap itself under every mapping of its addresses.
    #[error(
        "{origin}:{line}: a request of {sectors} sectors is longer than the device, which has {device_sectors} sectors; expected requests that fit the device, or a larger device (flash.blocks_per_plane)"
    )]
    LongerThanDevice {
        /// The name of the trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// Number of sectors of the request.
        sectors: u32,
        /// Number of sectors of the device.
        device_sectors: u64,
    },
    /// The device is too small for the writes of the trace.
    #[error("{origin}:{line}: the device is full: {}", words::shortage(.shortage))]
    DeviceFull {
        /// The name of the trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// The resource that ran out.
        shortage: NoSpace,
    },
    /// The device is too small for its contents before the first request.
    #[error(
        "sim.precondition = random_fill:{passes}: the device is full after {done} of {total} page writes: {}", words::shortage(.shortage)
    )]
    FullBefore {
        /// The number of random overwrites, as a multiple of the number of pages.
        passes: u64,
        /// The number of page writes that were done.
        done: u64,
        /// The number of page writes to do.
        total: u64,
        /// The resource that ran out.
        shortage: NoSpace,
    },
    /// A request arrives after the last moment of the clock.
    #[error(
        "{origin}:{line}: the time is too large: \"{}\" with host.time_scale={time_scale}; expected a product below 2^64 ticks of 0.1 ns, 58 years", exact_ms(*.arrival)
    )]
    LateArrival {
        /// The name of the trace.
        origin: String,
        /// Line of the request, from 1.
        line: u32,
        /// Arrival time of the request in the trace, in ticks of 0.1 ns.
        arrival: Ticks,
        /// The factor on arrival times.
        time_scale: f64,
    },
    /// The simulated clock reached its last moment before the end of the run.
    #[error(
        "{origin}:{line}: operations that are under way when the request arrives end too late: \"{}\"; expected all of them to end below 2^64 ticks of 0.1 ns, 58 years", exact_ms(*.arrival)
    )]
    OutOfTime {
        /// The name of the trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// The arrival time of that request in the trace, in ticks of 0.1 ns.
        arrival: Ticks,
    },
    /// The clock in double precision cannot add the times that operations wait.
    #[error(
        "{origin}:{line}: sim.clock = double_ms: the clock stands still at \"{}\", where numbers of double precision are further apart than an operation waits; expected times below 2^30 ms, 12 days, or sim.clock = exact", exact_ms(*.now)
    )]
    ClockStandsStill {
        /// The name of the trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// The time at which the clock stands still, in ticks of 0.1 ns.
        now: Ticks,
    },
    /// Requests were never answered although nothing was left to do, which is a bug of this program.
    #[error(
        "{origin}:{line}: {requests} requests were never answered, the first of them in this line; this is a bug of destage, and the results would be wrong"
    )]
    Unanswered {
        /// The name of the trace.
        origin: String,
        /// Line of the earliest such request, from 1.
        line: u32,
        /// The number of such requests.
        requests: usize,
    },
    /// The run ended before statistics opened.
    #[error(
        "{origin}: sim.warmup_requests = {warmup}: the run ended after {requests} requests, and measured none of them; expected fewer than {requests}"
    )]
    NothingMeasured {
        /// The name of the trace.
        origin: String,
        /// The number of requests before statistics open.
        warmup: u64,
        /// The number of requests that arrived.
        requests: u64,
    },
    /// The run ended before the planned loss of power.
    #[error(
        "{origin}: the power was to fail at {at}, but the run ended after {seen}; expected an earlier moment"
    )]
    NoCut {
        /// The name of the trace.
        origin: String,
        /// The planned moment of the loss.
        at: String,
        /// The number of events of the awaited kind that happened.
        seen: u64,
    },
    /// After a loss of power, the mount has to move pages, but found no free block for them.
    #[error("ftl.kind = {layer}: the mount after the loss of power found no room: {}", words::shortage(.shortage))]
    Mount {
        /// The name of the layer.
        layer: &'static str,
        /// The resource that ran out.
        shortage: NoSpace,
    },
    /// The observer stopped the run.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// The error for a device that has no space left for the request in line `line` of `origin`.
    #[cold]
    pub(crate) fn full(origin: &str, line: u32, shortage: NoSpace) -> Self {
        Self::DeviceFull {
            origin: origin.to_owned(),
            line,
            shortage,
        }
    }
}

/// `time` in milliseconds, exact to the tick.
fn exact_ms(time: Ticks) -> String {
    format!("{}.{:07} ms", time / TICKS_PER_MS, time % TICKS_PER_MS)
}
