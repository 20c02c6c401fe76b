//! Parameters that several layers with data blocks share.

use destage_base::parameter::{Exclusion, Field, Kind, Parameter};
use destage_base::{choices, parameters};

use super::WearLevelling;
use super::data::Copies;
use crate::BuildError;

choices! {
    /// Where a page is written if its place in the data block is still free.
    pub enum FirstWrite {
        /// The page is written to the log.
        Log = "log",
        /// The page is written to its place in the data block.
        Data = "data",
    }
}

choices! {
    /// The method of wear levelling.
    pub enum Leveller {
        None = "none",
        Dynamic = "dynamic",
        Static = "static",
    }
}

/// Number of spare blocks of each die.
pub const SPARE_BLOCKS: Parameter = Parameter {
    name: "spare_blocks",
    kind: Kind::Integer {
        min: 2,
        max: u32::MAX as u64,
    },
    default: "2",
    unit: "blocks",
    about: "Number of blocks of each die that hold no data: a merge or a rewrite copies pages into one of them.",
    source: "ours",
    ..Parameter::BLANK
};

/// Number of log blocks of each die.
pub const LOG_BLOCKS: Parameter = Parameter {
    name: "log_blocks",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "7",
    unit: "blocks",
    about: "Log blocks of each die: a merge keeps the die of its blocks busy, so a die does not use log blocks of another.",
    source: "7: BPLRU (FAST 2008); 50 in BPAC (MSST 2010)",
    ..Parameter::BLANK
};

/// Number of log blocks of each die; at least one of them is for sequential writes and at least one for other
/// writes.
pub const TWO_LOG_BLOCKS: Parameter = Parameter {
    kind: Kind::Integer {
        min: 2,
        max: u32::MAX as u64,
    },
    about: "Number of log blocks of each die; at least one of them is for sequential writes, and at least one for other writes.",
    ..LOG_BLOCKS
};

/// Whether partial merges are done.
pub const PARTIAL_MERGES: Parameter = Parameter {
    name: "partial",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Whether a sequential log block that is not full is completed with the remaining pages of its block; if not, all pages move to a new block.",
    source: "BPLRU (FAST 2008) knows switch and full merges only",
    ..Parameter::BLANK
};

/// Which pages a merge copies.
pub const MERGE_COPIES: Parameter = Parameter {
    name: "merge_copies",
    kind: Copies::KIND,
    default: "valid",
    unit: "",
    about: "Whether a merge copies only the pages that have contents, or all pages that were ever programmed, trimmed ones included.",
    source: "all: BPLRU (FAST 2008)",
    ..Parameter::BLANK
};

/// Where a page is written if its place in the data block is still free; the default is the log.
pub const FIRST_WRITE_LOG: Parameter = Parameter {
    name: "first_write",
    kind: FirstWrite::KIND,
    default: "log",
    unit: "",
    about: "Whether a page whose place in the data block is still erased is written to the log, or to that place.",
    source: "log: BPLRU (FAST 2008)",
    ..Parameter::BLANK
};

/// Whether the pages of a block are programmed in ascending order only.
pub const IN_ORDER: Parameter = Parameter {
    name: "in_order",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Whether the pages of a block are programmed in ascending order only, which all flash but early SLC requires.",
    source: "data sheets of MLC flash",
    excludes: &[Exclusion {
        value: "= false",
        with: "units",
        because: "pages that are programmed together are in their order",
    }],
    ..Parameter::BLANK
};

/// Whether pages of one block that are written in ascending order, one after the other, share one rewrite of the
/// block.
pub const BATCH: Parameter = Parameter {
    name: "batch",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Whether pages of one block that are written one after the other in ascending order share one rewrite of the block; if not, each page causes a rewrite.",
    source: "ours: the pages of one request or destage",
    ..Parameter::BLANK
};

parameters! {
    /// Parameters of wear levelling.
    pub struct Levelling {
        /// Wear levelling: none; dynamic, which takes the least worn free block first; or static, which also moves cold data into worn blocks.
        wl: Leveller = "none", "", "ours";
        /// Number of erases of a die between two checks of static wear levelling.
        wl_period: u32 = "1000" in Kind::Integer { min: 1, max: u32::MAX as u64 - 1 }, "erases", "ours", needs &["ftl.wl = static"];
        /// Static wear levelling moves data if the erase counts of two blocks differ by more than this number.
        wl_gap: u32 = "32" in Kind::Integer { min: 1, max: u32::MAX as u64 - 1 }, "erases", "ours", needs &["ftl.wl = static"];
    }
}

parameters! {
    /// The parameters that layers with log blocks share.
    pub struct Logs {
        partial: bool as PARTIAL_MERGES;
        merge_copies: Copies as MERGE_COPIES;
        first_write: FirstWrite as FIRST_WRITE_LOG;
        in_order: bool as IN_ORDER;
        levelling: Levelling;
    }
}

impl Levelling {
    /// The rule of wear levelling that these parameters give.
    pub fn rule(&self) -> WearLevelling {
        match self.wl {
            Leveller::None => WearLevelling::None,
            Leveller::Dynamic => WearLevelling::Dynamic,
            Leveller::Static => WearLevelling::Static {
                period: self.wl_period,
                gap: self.wl_gap,
            },
        }
    }
}

/// Number of logical blocks of a die of `blocks` blocks: all blocks except log blocks and spare blocks.
///
/// # Errors
/// [`BuildError::NoDataBlock`] if no block is left.
pub fn logical_blocks(blocks: u32, logs: Option<u32>, spare: u32) -> Result<u32, BuildError> {
    match blocks.checked_sub(logs.unwrap_or(0).saturating_add(spare)) {
        None | Some(0) => Err(BuildError::NoDataBlock {
            blocks,
            logs,
            spare,
        }),
        Some(logical) => Ok(logical),
    }
}
