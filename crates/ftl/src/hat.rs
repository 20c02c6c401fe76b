//! Page mapping with the map in a small fast memory, which has its own connection, separate from that of the
//! flash.
//!
//! Hu et al., "Achieving page-mapping FTL performance at block-mapping FTL cost by hiding address translation",
//! MSST 2010. The layer looks up and changes mappings while the flash works. So a look-up or a change delays a
//! request only if it takes longer than the flash operation, for example if the host reads an unwritten page or
//! trims a page.

use alloc::boxed::Box;
use core::ops::Range;

use destage_base::archived;
use destage_base::parameter::Kind;
use destage_base::time::{TICKS_PER_US, from_units};
use destage_base::{Lpn, Ticks, parameters};

use super::page::PageFtl;
use super::page::parameters::{Greedy, PageConfig};
use super::upon_pages::left_to_pages;
use super::{Ftl, FtlRow, NoSpace, PageWrite, Properties};
use destage_nand::array::{Ppn, Wear};
use destage_nand::found::{Place, Scan};
use destage_nand::medium::Pools;
use destage_nand::operation::Operations;

const SOURCE: &str = "Hu et al., MSST 2010; times of phase-change memory";

const LATENCY: Kind = Kind::Number { min: 0.0, max: 1e6 };

parameters! {
    /// The parameters of `hat`.
    struct Parameters {
        /// Time to look up a mapping before a read; the flash works at the same time.
        hat_lookup_us: f64 = "0.1" in LATENCY, "us", SOURCE;
        /// Time to change a mapping at a write or trim; the flash works at the same time.
        hat_update_us: f64 = "0.2" in LATENCY, "us", SOURCE;
        greedy: Greedy;
    }
}

/// The registry row.
pub(super) const ROW: FtlRow = FtlRow {
    name: "hat",
    about: "Page mapping with the map in a fast memory of its own, which is used while the flash works; greedy garbage collection.",
    source: "Hu et al., MSST 2010.",
    fills_blocks_in_turn: true,
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
    ..FtlRow::BLANK
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
    left_to_pages!(
        pages,
        die_of,
        read,
        peek,
        write,
        trim,
        trim_all,
        is_written,
        pools,
        mapped,
        collect_garbage,
        fill_unit,
        mount,
        mount_step,
        wear,
        retired,
        erases,
        reset_wear,
        derived,
        map_bytes
    );

    fn properties(&self) -> Properties {
        Properties {
            map_time: [self.lookup, self.update],
            ..self.data.properties()
        }
    }
}
