//! Parameters that several layers over blocks share, and the reading of them.

use alloc::format;
use alloc::string::String;

use destage_base::parameter::{Kind, Parameter, Values};

use super::WearLevelling;
use super::data::Copies;

/// Spare blocks.
pub const SPARE_BLOCKS: Parameter = Parameter {
    name: "spare_blocks",
    kind: Kind::Integer {
        min: 2,
        max: u32::MAX as u64,
    },
    default: "2",
    unit: "blocks",
    about: "Blocks of each die that hold neither data nor log: one to merge into, one being erased, more if wanted.",
    source: "ours",
};

/// Log blocks of each die.
pub const LOG_BLOCKS: Parameter = Parameter {
    name: "log_blocks",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "7",
    unit: "blocks",
    about: "Log blocks of each die: a merge occupies the die its blocks are on, so they are not lent.",
    source: "7: BPLRU (FAST 2008); 50 in BPAC (2012)",
};

/// Log blocks of each die, one of them for sequential writes and at least one for others.
pub const TWO_LOG_BLOCKS: Parameter = Parameter {
    kind: Kind::Integer {
        min: 2,
        max: u32::MAX as u64,
    },
    about: "Log blocks of each die, of which sequential writes have one or more and others one or more.",
    ..LOG_BLOCKS
};

/// Whether partial merges are done.
pub const PARTIAL_MERGES: Parameter = Parameter {
    name: "partial",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "A sequential log block that is not full gets the rest of its pages; if not, all pages move to a new block.",
    source: "BPLRU (FAST 2008) knows switch and full merges only",
};

/// Which pages merges copy.
pub const MERGE_COPIES: Parameter = Parameter {
    name: "merge_copies",
    kind: Kind::Choice(&["valid", "all"]),
    default: "valid",
    unit: "",
    about: "A merge copies the pages that have contents, or all that were ever programmed, trimmed ones too.",
    source: "all: BPLRU (FAST 2008)",
};

/// Where a page goes that the data block could take; the log by default.
pub const FIRST_WRITE_LOG: Parameter = Parameter {
    name: "first_write",
    kind: Kind::Choice(&["log", "data"]),
    default: "log",
    unit: "",
    about: "A page whose place in the data block is still free goes to the log all the same, or to its place.",
    source: "log: BPLRU (FAST 2008)",
};

/// Whether pages of a block are programmed in ascending order only.
pub const IN_ORDER: Parameter = Parameter {
    name: "in_order",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Pages of a block are programmed in ascending order only, as all flash but early SLC demands.",
    source: "data sheets of MLC flash",
};

/// Whether pages of one block written one after the other share a rewrite of it.
pub const BATCH: Parameter = Parameter {
    name: "batch",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Pages of one block written one after the other in ascending order share one rewrite of it; if not, each has its own.",
    source: "ours: the pages of one request or destage",
};

/// Who levels wear.
pub const WEAR_LEVELLING: Parameter = Parameter {
    name: "wl",
    kind: Kind::Choice(&["none", "dynamic", "static"]),
    default: "none",
    unit: "",
    about: "Wear levelling: none; the least worn free block first; and also cold data moved into worn blocks.",
    source: "ours",
};

/// How often static wear levelling looks.
pub const LEVELLING_PERIOD: Parameter = Parameter {
    name: "wl_period",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64 - 1,
    },
    default: "1000",
    unit: "erases",
    about: "Erases of a die between two looks of static wear levelling.",
    source: "ours",
};

/// How much wear may differ.
pub const LEVELLING_GAP: Parameter = Parameter {
    name: "wl_gap",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64 - 1,
    },
    default: "32",
    unit: "erases",
    about: "Static wear levelling moves data only if erases of two blocks differ by more.",
    source: "ours",
};

/// The copies of merges that `values` ask for.
pub fn copies(values: &Values) -> Copies {
    match values.text("merge_copies") {
        "all" => Copies::All,
        _ => Copies::Valid,
    }
}

/// The wear levelling that `values` ask for.
pub fn levelling(values: &Values) -> WearLevelling {
    match values.text("wl") {
        "dynamic" => WearLevelling::Dynamic,
        "static" => WearLevelling::Static {
            period: values.integer("wl_period") as u32,
            gap: values.integer("wl_gap") as u32,
        },
        _ => WearLevelling::None,
    }
}

/// Log blocks of each die.
pub fn log_blocks(values: &Values) -> u32 {
    values.integer("log_blocks") as u32
}

/// Logical blocks of each die where there are no log blocks: all that are not spare.
///
/// # Errors
/// A sentence naming the keys, if none is left.
pub fn logical_blocks_without_log(blocks_per_die: u32, spare_blocks: u32) -> Result<u32, String> {
    match blocks_per_die.checked_sub(spare_blocks) {
        None | Some(0) => Err(format!(
            "a die has {blocks_per_die} blocks; ftl.spare_blocks = {spare_blocks} leaves none of them for data"
        )),
        Some(logical) => Ok(logical),
    }
}

/// Logical blocks of each die: all that are neither log nor spare.
///
/// # Errors
/// A sentence naming the keys, if none is left.
pub fn logical_blocks(blocks_per_die: u32, values: &Values) -> Result<u32, String> {
    let (logs, spare) = (log_blocks(values), values.integer("spare_blocks") as u32);
    match blocks_per_die.checked_sub(logs.saturating_add(spare)) {
        None | Some(0) => Err(format!(
            "a die has {blocks_per_die} blocks; ftl.log_blocks = {logs} and ftl.spare_blocks = {spare} leave none of them for data"
        )),
        Some(logical) => Ok(logical),
    }
}
