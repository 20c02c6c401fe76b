//! Parameters that several layers over blocks share.

use destage_base::parameter::{Exclusion, Field, Kind, Parameter};
use destage_base::{choices, parameters};

use super::WearLevelling;
use super::data::Copies;
use crate::ftl::BuildError;

choices! {
    /// Where a page goes that the data block could take.
    pub enum FirstWrite {
        /// To the log all the same.
        Log = "log",
        /// To its place.
        Data = "data",
    }
}

choices! {
    /// Who levels wear.
    pub enum Leveller {
        None = "none",
        Dynamic = "dynamic",
        Static = "static",
    }
}

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
    ..Parameter::BLANK
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
    source: "7: BPLRU (FAST 2008); 50 in BPAC (MSST 2010)",
    ..Parameter::BLANK
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
    ..Parameter::BLANK
};

/// Which pages merges copy.
pub const MERGE_COPIES: Parameter = Parameter {
    name: "merge_copies",
    kind: Copies::KIND,
    default: "valid",
    unit: "",
    about: "A merge copies the pages that have contents, or all that were ever programmed, trimmed ones too.",
    source: "all: BPLRU (FAST 2008)",
    ..Parameter::BLANK
};

/// Where a page goes that the data block could take; the log by default.
pub const FIRST_WRITE_LOG: Parameter = Parameter {
    name: "first_write",
    kind: FirstWrite::KIND,
    default: "log",
    unit: "",
    about: "A page whose place in the data block is still free goes to the log all the same, or to its place.",
    source: "log: BPLRU (FAST 2008)",
    ..Parameter::BLANK
};

/// Whether pages of a block are programmed in ascending order only.
pub const IN_ORDER: Parameter = Parameter {
    name: "in_order",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Pages of a block are programmed in ascending order only, as all flash but early SLC demands.",
    source: "data sheets of MLC flash",
    excludes: &[Exclusion {
        value: "= false",
        with: "units",
        because: "pages that are programmed together are programmed in their order",
    }],
    ..Parameter::BLANK
};

/// Whether pages of one block written one after the other share a rewrite of it.
pub const BATCH: Parameter = Parameter {
    name: "batch",
    kind: Kind::Flag,
    default: "true",
    unit: "",
    about: "Pages of one block written one after the other in ascending order share one rewrite of it; if not, each has its own.",
    source: "ours: the pages of one request or destage",
    ..Parameter::BLANK
};

parameters! {
    /// How wear is levelled.
    pub struct Levelling {
        /// Wear levelling: none; the least worn free block first; and also cold data moved into worn blocks.
        wl: Leveller = "none", "", "ours";
        /// Erases of a die between two looks of static wear levelling.
        wl_period: u32 = "1000" in Kind::Integer { min: 1, max: u32::MAX as u64 - 1 }, "erases", "ours", needs &["ftl.wl = static"];
        /// Static wear levelling moves data only if erases of two blocks differ by more.
        wl_gap: u32 = "32" in Kind::Integer { min: 1, max: u32::MAX as u64 - 1 }, "erases", "ours", needs &["ftl.wl = static"];
    }
}

parameters! {
    /// What layers with log blocks have in common.
    pub struct Logs {
        partial: bool as PARTIAL_MERGES;
        merge_copies: Copies as MERGE_COPIES;
        first_write: FirstWrite as FIRST_WRITE_LOG;
        in_order: bool as IN_ORDER;
        levelling: Levelling;
    }
}

impl Levelling {
    /// The rule.
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

/// Logical blocks of each die of `blocks` blocks: all that are neither log, if there is one, nor spare.
///
/// # Errors
/// [`BuildError::NoDataBlock`] if none is left.
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
