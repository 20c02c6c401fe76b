//! The exclusions of parameters of device, host and run, each with its reason. The rows of the parameters name
//! these lists.
//!
//! A condition of an exclusion may name facts about the configuration, such as `live`. [`crate::check`] defines these
//! facts.

use destage_base::parameter::Exclusion;

const fn excludes(value: &'static str, with: &'static str, because: &'static str) -> Exclusion {
    Exclusion {
        value,
        with,
        because,
    }
}

/// The condition under which commands wait in queues: with scheduling by commands, or if groups of planes work in
/// parallel.
const QUEUES: &str =
    "flash.scheduling = commands_arrival|commands_reads_first or flash.parallel_units > 1";

/// Exclusions of `flash.suspend`.
pub const SUSPENSION: &[Exclusion] = &[
    excludes(
        "= keeps_end",
        QUEUES,
        "a read that keeps the end of what it interrupts needs an end that is known when the command is issued",
    ),
    excludes(
        "",
        "flash.scheduling = commands_reads_first and flash.cache_read = true or flash.scheduling = commands_reads_first and flash.cache_program = true or flash.parallel_units > 1 and flash.cache_read = true or flash.parallel_units > 1 and flash.cache_program = true",
        "where commands wait in queues, a die with cache registers is not interrupted",
    ),
];

/// Exclusions of `flash.suspend_pulse_us` and `flash.suspend_tail_us`.
pub const PULSES: &[Exclusion] = &[excludes(
    "",
    QUEUES,
    "where commands wait in queues, a read may start before the remaining time of a program is known",
)];

/// Exclusions of `flash.cache_read` and `flash.cache_program`.
pub const REGISTERS: &[Exclusion] = &[excludes(
    "",
    "units and flash.scheduling = commands_arrival|commands_reads_first or units and flash.parallel_units > 1",
    "where commands wait in queues, a cache register holds one page, and not a unit of several",
)];

const NO_UNITS: &str =
    "the layer does not fill the pages of a block in order, so pages cannot be programmed together";

/// Exclusions of `flash.program_unit` and `flash.program_passes`.
pub const UNITS: &[Exclusion] = &[excludes("", "no-units", NO_UNITS)];

/// Exclusions of `ftl.map_unit_bytes`.
pub const MAP_UNITS: &[Exclusion] = &[
    excludes("", "no-units and shared-pages", NO_UNITS),
    excludes(
        "",
        "cell-modes and shared-pages",
        "the layer programs the pages of its cache one by one",
    ),
];

/// Exclusions of `flash.summary_page`.
pub const SUMMARY: &[Exclusion] = &[excludes(
    "= true",
    "units and places-writes or units and merges",
    "the layer counts whole units, and a summary page takes one page of the block",
)];

const ORDER_OF_THE_TRACE: &str = "the scheme knows the coming writes in the order of the trace, and this setting may change that order";

/// Exclusions of settings that change the order of requests.
pub const FOREKNOWN: &[Exclusion] = &[excludes("", "foreknown", ORDER_OF_THE_TRACE)];

/// Exclusions of `device.firmware_cores`.
pub const FOREKNOWN_CORES: &[Exclusion] =
    &[excludes("", "foreknown and overtaking", ORDER_OF_THE_TRACE)];

/// Exclusions of `device.trim`.
pub const FOREKNOWN_TRIMS: &[Exclusion] = &[excludes(
    "= strict",
    "foreknown and overtaking",
    ORDER_OF_THE_TRACE,
)];

/// Exclusions of `buffer.kind`.
pub const LIVE_FUTURE: &[Exclusion] = &[excludes(
    "",
    "live and foreknown",
    "the scheme has to know the coming writes, and a served device does not know them",
)];

const OF_THE_REQUEST: &str = "the device would write other bytes than those of the request";

/// Exclusions of `trace.align`.
pub const OTHER_BYTES: &[Exclusion] = &[excludes("= nearest", "live", OF_THE_REQUEST)];

/// Exclusions of `trace.align_bytes`.
pub const OTHER_BYTES_LIVE: &[Exclusion] = &[excludes("", "live", OF_THE_REQUEST)];

/// Exclusions of `sim.costing`.
pub const NO_CLOCK: &[Exclusion] = &[
    excludes(
        "",
        "bytes",
        "bytes move as time passes, and this run has no clock",
    ),
    excludes("", "watch", "without a clock there are no moments to watch"),
];

/// Exclusions of `sim.clock`.
pub const DRIFT: &[Exclusion] = &[excludes(
    "",
    "cut",
    "bytes can be moved only at exact times",
)];

/// Exclusions of `flash.multi_plane`.
pub const OUT_OF_ORDER: &[Exclusion] = &[
    excludes(
        "= any_order",
        "bytes",
        "the pages of a block are programmed in order",
    ),
    excludes(
        "= any_order",
        "units",
        "the program of a unit would begin before all of its pages have arrived",
    ),
];

/// Exclusions of `sim.write_order`.
pub const LOSES: &[Exclusion] = &[excludes("", "bytes", "it loses bytes")];

/// Exclusions of `ftl.kind`.
pub const NO_FLASH: &[Exclusion] = &[
    excludes(
        "",
        "bytes and no-flash",
        "there is no flash that could hold bytes",
    ),
    excludes(
        "",
        "watch and no-flash",
        "without flash there are no moments to watch",
    ),
];
