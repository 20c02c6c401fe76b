//! Page mapping whose map lies in a small fast memory beside the flash, with a path of its own.
//!
//! Hu et al., "Achieving page-mapping FTL performance at block-mapping FTL cost by hiding address translation",
//! MSST 2010. Looking up and changing mappings overlaps with the flash and is seen only where it takes longer:
//! where there is nothing to read, or a mapping is only cleared.

use alloc::boxed::Box;
use alloc::vec::Vec;

use destage_base::archived;
use destage_base::parameter::Kind;
use destage_base::time::{TICKS_PER_US, from_units};
use destage_base::{Lpn, Ticks, parameters};

use super::page::PageFtl;
use super::page::parameters::{Greedy, PageConfig};
use super::{Ftl, FtlRow, NoSpace, PageWrite, Properties};
use crate::mount::{MountError, Place, Scan};
use crate::nand::{Ppn, Wear};
use crate::operation::Operations;

const SOURCE: &str = "Hu et al., MSST 2010; times of phase-change memory";

const LATENCY: Kind = Kind::Number { min: 0.0, max: 1e6 };

parameters! {
    /// What can be set of `hat`.
    struct Parameters {
        /// Looking up a mapping, before a read; the flash works meanwhile.
        hat_lookup_us: f64 = "0.1" in LATENCY, "us", SOURCE;
        /// Changing a mapping, at a write or trim; the flash works meanwhile.
        hat_update_us: f64 = "0.2" in LATENCY, "us", SOURCE;
        greedy: Greedy;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "hat",
    about: "Page mapping with the map in a fast memory of its own, used while the flash works; greedy garbage collection.",
    source: "Hu et al., MSST 2010.",
    has_flash: true,
    has_cell_modes: false,
    parameters: Parameters::ROWS,
    build: |config| {
        let own = Parameters::from_values(config.values);
        let settings = PageConfig::greedy(config, &own.greedy);
        Ok(Box::new(Hat {
            data: PageFtl::new(&settings.with_migrations(&own.greedy.marks))?,
            lookup: from_units(own.hat_lookup_us, TICKS_PER_US),
            update: from_units(own.hat_update_us, TICKS_PER_US),
        }))
    },
};

/// The device. See the [module](self).
#[derive(Clone)]
struct Hat {
    data: PageFtl,
    lookup: Ticks,
    update: Ticks,
}

archived!(Hat { data } fixed { lookup, update });

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

    fn peek(&self, page: Lpn, operations: &mut Operations) {
        self.data.peek(page, operations);
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

    fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        self.data.fill_unit(die, at, unit_pages, operations);
    }

    fn mount(&mut self, scan: &Scan, places: &mut Vec<Place>) -> Result<(), MountError> {
        self.data.mount(scan, places)
    }

    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        self.data.mount_step(die, operations)
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

    fn reset_wear(&mut self) {
        self.data.reset_wear();
    }

    fn map_bytes(&self) -> u64 {
        self.data.map_bytes()
    }
}
