//! What can go wrong in a run that is not our mistake.

use destage_base::Ticks;
use destage_base::time::TICKS_PER_MS;
use destage_flash::ftl::{NoSpace, Shortage};
use destage_trace::TraceError;

use crate::source::Source;

/// The user's input cannot be simulated. Every message names where, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A parameter is unknown, out of range, or contradicts another.
    #[error("{0}")]
    Config(String),
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
    /// The device is too small for what the trace writes.
    #[error("{origin}:{line}: the device is full: {}", in_words(.shortage))]
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
        "sim.precondition = random_fill:{passes}: the device is full after {done} of {total} page writes: {}", in_words(.shortage)
    )]
    FullBefore {
        /// How many times as many overwrites as there are pages.
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
        /// By what that is multiplied.
        time_scale: f64,
    },
    /// The simulated clock came to its end before the requests did.
    #[error(
        "{origin}:{line}: what is under way when the request arrives goes on for too long: \"{}\"; expected everything to end below 2^64 ticks of 0.1 ns, 58 years", exact_ms(*.arrival)
    )]
    OutOfTime {
        /// The trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// When it arrives by the trace, in ticks of 0.1 ns.
        arrival: Ticks,
    },
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// The device has no room left for what line `line` of `source` brings.
    #[cold]
    pub(crate) fn full(source: &Source<'_>, line: u32, shortage: NoSpace) -> Self {
        Self::DeviceFull {
            origin: source.origin().to_owned(),
            line,
            shortage,
        }
    }
}

/// `time` in milliseconds, to the tick.
fn exact_ms(time: Ticks) -> String {
    format!("{}.{:07} ms", time / TICKS_PER_MS, time % TICKS_PER_MS)
}

/// What ran out, and which parameter helps.
fn in_words(shortage: &Shortage) -> String {
    match *shortage {
        Shortage::Pool {
            blocks, retired: 0, ..
        } => format!(
            "no free block is left among {blocks} blocks; the data does not fit with garbage collection at this reserve: raise ftl.reserve_percent or use a larger device"
        ),
        Shortage::Pool {
            blocks,
            retired,
            endurance,
        } => format!(
            "no free block is left: {retired} of {blocks} blocks were erased flash.endurance = {endurance} times and retired; use flash.wearout=ignore, a higher endurance, or a larger ftl.reserve_percent"
        ),
        Shortage::Spare {
            blocks, retired: 0, ..
        } => format!(
            "no free block is left among {blocks} blocks of a die; raise ftl.spare_blocks or use a larger device"
        ),
        Shortage::Spare {
            blocks,
            retired,
            endurance,
        } => format!(
            "no free block is left: {retired} of {blocks} blocks of a die were erased flash.endurance = {endurance} times and retired; use flash.wearout=ignore, a higher endurance, or more ftl.spare_blocks"
        ),
        Shortage::Log { logs } => {
            format!("none of {logs} log blocks of a die is unused; raise ftl.log_blocks")
        }
        Shortage::OnlyCollects { die, times } => format!(
            "die {die} collected garbage {times} times in a row without serving a request: it holds almost only valid data; raise ftl.reserve_percent, lower ftl.min_free_percent or use a larger device"
        ),
        Shortage::Requests { most } => format!("more than {most} requests are in flight at once"),
    }
}
