//! Schemes that order clusters. The buffered pages of a logical block leave the buffer together.

use destage_base::parameter::{Kind, Parameter};

pub mod block_lru;
pub mod bp_ref;
pub mod bplru;
pub mod clc;
pub mod fab;
pub mod lar;
pub mod lb_clock;
pub mod pud_lru;
pub mod vbbms;

/// Whether victims are padded to whole blocks.
const PAD: Parameter = Parameter {
    name: "pad",
    kind: Kind::Flag,
    default: "false",
    unit: "",
    about: "Whether a victim is completed to a whole block with pages read from flash.",
    source: "BPLRU (FAST 2008), section 3.2, pads; the other schemes do not.",
    ..Parameter::BLANK
};
