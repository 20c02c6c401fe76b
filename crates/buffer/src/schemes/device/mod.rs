//! Schemes that order single pages, and consider the state of the dies when they choose a victim.

use destage_base::Lpn;
use destage_base::parameter::{Kind, Parameter};

use crate::registry::SchemeConfig;

pub mod co_active;
pub mod ecr;
pub mod gcar;

/// The distribution of pages over dies.
const STRIDE: Parameter = Parameter {
    name: "stride",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "1",
    unit: "pages",
    about: "Number of consecutive logical pages on one die before the next die is used.",
    source: "Ours: a page enters the buffer before its place in flash is known.",
    ..Parameter::BLANK
};

/// The assumed distribution of pages over dies.
struct Striping {
    dies: u64,
    stride: u64,
}

impl Striping {
    fn new(config: &SchemeConfig, stride: u64) -> Self {
        Self {
            dies: u64::from(config.dies.max(1)),
            stride,
        }
    }

    fn dies(&self) -> u32 {
        self.dies as u32
    }

    #[inline]
    fn die_of(&self, page: Lpn) -> u32 {
        (page.0 / self.stride % self.dies) as u32
    }
}
