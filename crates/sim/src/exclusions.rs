//! What parameters of device, host and run cannot stand beside, each with its reason; their rows name these lists.
//!
//! Facts that conditions name are those of [`crate::check`].

use destage_base::parameter::Exclusion;

const fn excludes(value: &'static str, with: &'static str, because: &'static str) -> Exclusion {
    Exclusion {
        value,
        with,
        because,
    }
}

/// Values of `flash.scheduling` with which commands wait in queues.
const IN_QUEUES: &str = "= commands_arrival|commands_reads_first";
const QUEUES: &str = "flash.scheduling = commands_arrival|commands_reads_first";

const BATCHES: Exclusion = excludes(
    "",
    "flash.parallel_units > 1 and commands",
    "groups of planes are served in batches, whose commands are not timed one by one",
);

/// Of what makes commands be timed one by one.
pub const ONE_BY_ONE: &[Exclusion] = &[BATCHES];

/// Of `flash.status_ns`.
pub const STATUS: &[Exclusion] = &[
    BATCHES,
    excludes(
        "",
        QUEUES,
        "commands that wait in queues have no status phase",
    ),
];

/// Of `flash.suspend`.
pub const SUSPENSION: &[Exclusion] = &[
    BATCHES,
    excludes(
        "",
        QUEUES,
        "commands that wait in queues are not interrupted, and reads go first only between them",
    ),
];

/// Of `flash.cache_read` and `flash.cache_program`.
pub const REGISTERS: &[Exclusion] = &[
    BATCHES,
    excludes(
        "",
        "places-writes or ftl.placement = dynamic",
        "the layer chooses the die of each write, and has to know when the write before has ended",
    ),
];

const NO_UNITS: &str =
    "the layer does not fill blocks page after page, so that pages cannot be programmed together";

/// Of `flash.program_unit` and `flash.program_passes`.
pub const UNITS: &[Exclusion] = &[BATCHES, excludes("", "no-units", NO_UNITS)];

/// Of `ftl.map_unit_bytes`.
pub const MAP_UNITS: &[Exclusion] = &[
    BATCHES,
    excludes("", "no-units and shared-pages", NO_UNITS),
    excludes(
        "",
        "cell-modes and shared-pages",
        "the layer programs the pages of its cache one by one",
    ),
];

/// Of `flash.scheduling`.
pub const SCHEDULING: &[Exclusion] = &[
    excludes(
        "!= arrival",
        "flash.parallel_units > 1",
        "groups of planes are served in batches, in the order in which they came",
    ),
    excludes(
        IN_QUEUES,
        "units",
        "pages are programmed together only where a die does one operation at a time",
    ),
    excludes(
        IN_QUEUES,
        "cell-modes",
        "blocks with one bit a cell are only where a die does one operation at a time",
    ),
];

/// Of `flash.summary_page`.
pub const SUMMARY: &[Exclusion] = &[excludes(
    "= true",
    "units",
    "pages that are programmed together fill whole blocks, and a summary page leaves a block with one page less",
)];

const ORDER_OF_THE_TRACE: &str =
    "the scheme knows the writes to come in the order of the trace, and this may change it";

/// Of what changes the order of requests.
pub const FOREKNOWN: &[Exclusion] = &[excludes("", "foreknown", ORDER_OF_THE_TRACE)];

/// Of `device.firmware_cores`.
pub const FOREKNOWN_CORES: &[Exclusion] =
    &[excludes("", "foreknown and overtaking", ORDER_OF_THE_TRACE)];

/// Of `device.power_may_fail`.
pub const NO_MOUNT: &[Exclusion] = &[excludes(
    "",
    "no-mount",
    "the layer does not find its data again after a loss of power",
)];

/// Of `buffer.by_handle`.
pub const HANDLES_APART: &[Exclusion] = &[excludes(
    "",
    "foreknown",
    "the scheme knows the writes of all handles together",
)];

/// Of `buffer.kind`.
pub const LIVE_FUTURE: &[Exclusion] = &[excludes(
    "",
    "live and foreknown",
    "the scheme knows the writes to come, which a served device does not",
)];

const OF_THE_REQUEST: &str = "other bytes than those of the request would be written";

/// Of `trace.align`.
pub const OTHER_BYTES: &[Exclusion] = &[excludes("= nearest", "bytes", OF_THE_REQUEST)];

/// Of `trace.align_bytes`.
pub const OTHER_BYTES_LIVE: &[Exclusion] = &[excludes("", "live", OF_THE_REQUEST)];

/// Of `trace.addr_map`.
pub const ADDRESSES: &[Exclusion] = &[excludes("", "live", "two addresses would be one")];

/// Of `sim.costing`.
pub const NO_CLOCK: &[Exclusion] = &[
    excludes(
        "",
        "bytes",
        "bytes move as time passes, and there is no clock",
    ),
    excludes(
        "",
        "watch",
        "there are no moments to be watched without a clock",
    ),
];

/// Of `sim.clock`.
pub const DRIFT: &[Exclusion] = &[excludes("", "cut", "bytes are moved at exact times only")];

/// Of `flash.multi_plane`.
pub const OUT_OF_ORDER: &[Exclusion] = &[excludes(
    "= any_order",
    "bytes",
    "pages of a block are programmed in their order",
)];

/// Of `sim.write_order`.
pub const LOSES: &[Exclusion] = &[excludes("", "bytes", "it loses bytes")];

/// Of `ftl.kind`.
pub const NO_FLASH: &[Exclusion] = &[
    excludes(
        "",
        "bytes and no-flash",
        "there is no flash that could hold bytes",
    ),
    excludes(
        "",
        "watch and no-flash",
        "there are no moments to be watched without flash",
    ),
];
