//! Page mapping whose map lies in a small fast memory beside the flash, with a path of its own.
//!
//! Hu et al., "Achieving page-mapping FTL performance at block-mapping FTL cost by hiding address translation",
//! MSST 2010. Looking up and changing mappings overlaps with the flash and is seen only where it takes longer:
//! where there is nothing to read, or a mapping is only cleared.

use alloc::boxed::Box;

use destage_base::parameter::{Kind as ParameterKind, Parameter};
use destage_base::time::{TICKS_PER_US, from_units};
use destage_base::{Lpn, Ticks};

use super::blocks::parameters as shared;
use super::page::PageFtl;
use super::page::parameters::{self as page, PageConfig};
use super::{Ftl, FtlRow, NoSpace, PageWrite, Properties};
use crate::nand::Wear;
use crate::operation::Operations;

const SOURCE: &str = "Hu et al., MSST 2010; times of phase-change memory";

const fn latency(name: &'static str, default: &'static str, about: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Number { min: 0.0, max: 1e6 },
        default,
        unit: "us",
        about,
        source: SOURCE,
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "hat",
    about: "Page mapping with the map in a fast memory of its own, used while the flash works; greedy garbage collection.",
    source: "Hu et al., MSST 2010.",
    has_flash: true,
    parameters: &[
        latency(
            "hat_lookup_us",
            "0.1",
            "Looking up a mapping, before a read; the flash works meanwhile.",
        ),
        latency(
            "hat_update_us",
            "0.2",
            "Changing a mapping, at a write or trim; the flash works meanwhile.",
        ),
        page::RESERVE_PERCENT,
        page::MIN_FREE_PERCENT,
        page::ALLOCATION_POOL,
        page::STRIDE,
        page::SEPARATE_GC_BLOCK,
        page::GC_LOW,
        page::GC_HIGH,
        shared::WEAR_LEVELLING,
        shared::LEVELLING_PERIOD,
        shared::LEVELLING_GAP,
        page::BACKGROUND_GC,
    ],
    build: |config| {
        let ticks = |name| from_units(config.values.number(name), TICKS_PER_US);
        Ok(Box::new(Hat {
            data: PageFtl::new(&PageConfig::greedy(config).with_migrations(config.values))?,
            lookup: ticks("hat_lookup_us"),
            update: ticks("hat_update_us"),
        }))
    },
};

/// The device. See the [module](self).
struct Hat {
    data: PageFtl,
    lookup: Ticks,
    update: Ticks,
}

impl Ftl for Hat {
    fn properties(&self) -> Properties {
        Properties {
            map_time: [self.lookup, self.update],
            ..self.data.properties()
        }
    }

    fn pages(&self) -> u64 {
        self.data.pages()
    }

    fn die_of(&self, page: Lpn) -> u32 {
        self.data.die_of(page)
    }

    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.data.read(page, operations)
    }

    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        self.data.write(write, operations)
    }

    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        self.data.trim(page, operations)
    }

    fn is_written(&self, page: Lpn) -> bool {
        self.data.is_written(page)
    }

    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace> {
        self.data.collect_garbage(die, now, operations)
    }

    fn wear(&self) -> Wear {
        self.data.wear()
    }

    fn retired(&self) -> u64 {
        self.data.retired()
    }

    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32)) {
        self.data.erases(emit);
    }

    fn reset_counters(&mut self) {
        self.data.reset_counters();
    }

    fn map_bytes(&self) -> u64 {
        self.data.map_bytes()
    }
}
