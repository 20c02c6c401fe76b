//! `none`: a device without flash, for studies of the buffer alone.
//!
//! Every page has contents, and every operation does nothing. Page `p` counts as a page of die `p` modulo the
//! number of dies, since some buffer schemes use the die of a page.

use alloc::string::String;
use core::ops::Range;

use destage_base::archived;
use destage_base::{Lpn, Ticks};

use super::{Ftl, FtlRow, NoSpace, PageWrite, Properties};
use destage_nand::array::Wear;
use destage_nand::found::{Place, Scan};
use destage_nand::operation::Operations;

/// The registry row.
pub const ROW: FtlRow = FtlRow {
    name: "none",
    about: "No flash: destages are counted and complete at once, as in a cache simulator.",
    source: "Ours, for buffer-only studies.",
    has_flash: false,
    build: |config| {
        Ok(alloc::boxed::Box::new(NoFlash {
            dies: config.geometry.dies,
        }))
    },
    ..FtlRow::BLANK
};

#[derive(Clone)]
struct NoFlash {
    dies: u32,
}

archived!(NoFlash {} fixed { dies });

impl Ftl for NoFlash {
    fn properties(&self) -> Properties {
        Properties {
            updates_in_place: true,
            is_hollow: true,
            ..Properties::default()
        }
    }
    fn pages(&self) -> u64 {
        u64::MAX
    }
    fn die_of(&self, page: Lpn) -> u32 {
        (page.0 % u64::from(self.dies)) as u32
    }
    fn read(&mut self, _: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_tidy(true);
        Ok(())
    }
    fn peek(&self, _: Lpn, _: &mut Operations) {}
    fn write(&mut self, _: PageWrite, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_tidy(true);
        Ok(())
    }
    fn trim(&mut self, _: Lpn, operations: &mut Operations) -> Result<(), NoSpace> {
        operations.set_tidy(true);
        Ok(())
    }
    fn is_written(&self, _: Lpn) -> bool {
        true
    }
    fn mapped(&self, _: Range<u64>, _: &mut dyn FnMut(Lpn)) {}
    fn mount(&mut self, _: &Scan, _: &mut dyn FnMut(Place)) {}
    fn collect_garbage(&mut self, _: u32, _: Ticks, _: &mut Operations) -> Result<bool, NoSpace> {
        Ok(false)
    }
    fn wear(&self) -> Wear {
        Wear::default()
    }
    fn erases(&self, _: &mut dyn FnMut(u32, u32, u32)) {}
    fn reset_wear(&mut self) {}

    fn derived(&self) -> String {
        String::new()
    }
    fn map_bytes(&self) -> u64 {
        0
    }
}
