//! What can go wrong in a run that is not our mistake.

use destage_flash::ftl::NoSpace;
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
    #[error("{origin}:{line}: the device is full: {explanation}")]
    DeviceFull {
        /// The trace.
        origin: String,
        /// Line of the latest request, from 1.
        line: u32,
        /// What ran out, and which parameter helps.
        explanation: String,
    },
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl SimError {
    /// The device has no room left for what line `line` of `source` brings.
    #[cold]
    pub(crate) fn full(source: &Source<'_>, line: u32, full: NoSpace) -> Self {
        Self::DeviceFull {
            origin: source.origin().to_owned(),
            line,
            explanation: full.explanation.into(),
        }
    }
}
