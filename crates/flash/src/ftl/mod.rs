//! Flash translation layers: one file or folder each, one trait, one registry.

use alloc::boxed::Box;
use alloc::string::String;

use destage_base::parameter::{Parameter, Values};
use destage_base::{Lpn, Ticks};

use crate::batch::Batch;
use crate::geometry::Geometry;
use crate::nand::Wear;
use crate::operation::{Cause, Operations};
use crate::timing::Timing;

mod bast;
mod block;
mod blocks;
mod dftl;
mod fast;
mod hat;
mod hybrid;
mod last;
mod none;
mod page;
mod replacement;
mod sast;
mod superblock;

/// The device has no free block where one is needed, and garbage collection cannot make one.
/// Two words wide, because every page operation may return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSpace {
    /// Where, and what the user can change.
    pub explanation: Box<str>,
}

/// A flash translation layer: decides *what* flash does for a page request.
///
/// It emits [`Operations`] and changes its maps at once; when the operations run, and how long they
/// take, is decided outside. Page numbers are below [`Ftl::pages`]; the caller has checked.
pub trait Ftl {
    /// Logical pages the device offers.
    fn pages(&self) -> u64;

    /// The die whose queue an operation on `page` joins.
    fn die_of(&self, page: Lpn) -> u32;

    /// Whether [`Ftl::place`] does more than to say [`Ftl::die_of`].
    fn places_writes(&self) -> bool {
        false
    }

    /// The die whose queue a write of `page` joins, chosen now; `load` tells how many operations wait or
    /// are served at a die. Each call is followed by one [`Ftl::write`].
    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        let _ = load;
        self.die_of(page)
    }

    /// Reads `page`; no operation if it was never written.
    fn read(&mut self, page: Lpn, operations: &mut Operations);

    /// Writes `page` on behalf of `cause`.
    ///
    /// # Errors
    /// [`NoSpace`] if no free block is left.
    fn write(
        &mut self,
        page: Lpn,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace>;

    /// Pages one after the other from which on a write is long, for layers that treat long writes in a way of
    /// their own.
    fn long_write_pages(&self) -> Option<u32> {
        None
    }

    /// Writes `page` as [`Ftl::write`] does, as part of a long write: one host request, or destaged pages that
    /// follow one another.
    ///
    /// # Errors
    /// [`NoSpace`] if no free block is left.
    fn write_long(
        &mut self,
        page: Lpn,
        cause: Cause,
        operations: &mut Operations,
    ) -> Result<(), NoSpace> {
        self.write(page, cause, operations)
    }

    /// The contents of `page` are no longer needed.
    fn trim(&mut self, page: Lpn, operations: &mut Operations);

    /// Whether `page` has contents.
    fn is_written(&self, page: Lpn) -> bool;

    /// Does one step of garbage collection on `die` if one is due, and says whether it did.
    ///
    /// Called before an operation is served there; the caller repeats until nothing is due.
    ///
    /// # Errors
    /// [`NoSpace`] if there is no room to move valid pages to.
    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace>;

    /// Whether garbage collection is also due when no operation waits.
    fn collects_in_background(&self) -> bool {
        false
    }

    /// Units of a die that work side by side; if more than one, [`Ftl::serve`] is used.
    fn parallel_units(&self) -> u32 {
        1
    }

    /// Serves reads and writes (each with its cause) of one die together, and says how many of the
    /// writes it took: the rest has to wait until there was a chance to clean. Pages within each list
    /// differ.
    ///
    /// # Errors
    /// [`NoSpace`] if not even the first write finds room.
    fn serve(
        &mut self,
        die: u32,
        reads: &[Lpn],
        writes: &[(Lpn, Cause)],
        batch: &mut Batch,
        operations: &mut Operations,
    ) -> Result<usize, NoSpace> {
        let _ = (die, reads, writes, batch, operations);
        unreachable!("called only for FTLs with parallel units")
    }

    /// Ticks the map takes for a read, or for a write or trim, beside the flash: the operation takes at least
    /// as long.
    fn map_time(&self, write: bool) -> Ticks {
        let _ = write;
        0
    }

    /// Whether blocks are merged here: then a run without merges has none, and is not without the word.
    fn has_merges(&self) -> bool {
        false
    }

    /// Erase counts over all blocks.
    fn wear(&self) -> Wear;

    /// Tells die, block and erases of every block.
    fn erases(&self, tell: &mut dyn FnMut(u32, u32, u32));

    /// Forgets erases and counts so far, for a measurement that begins now.
    fn reset_counters(&mut self);

    /// Tells figures only this layer has, by name.
    fn report(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let _ = tell;
    }

    /// RAM the mapping tables would take in a device, in bytes.
    fn map_bytes(&self) -> u64;
}

/// What an FTL is built from.
#[derive(Clone, Copy, Debug)]
pub struct FtlConfig<'a> {
    /// Counts of the device.
    pub geometry: Geometry,
    /// Times of its operations, for FTLs that date what they do.
    pub timing: Timing,
    /// Pages move inside a plane without crossing the bus.
    pub copy_back: bool,
    /// Groups of planes of a die that work side by side.
    pub parallel_units: u32,
    /// Erases a block survives.
    pub endurance: u32,
    /// A block erased that often is not used any more; otherwise it is, and nothing happens.
    pub retire: bool,
    /// All logical pages have contents before the first request.
    pub filled: bool,
    /// Fixes every random choice, should the FTL make one.
    pub seed: u64,
    /// A value for each of the row's parameters.
    pub values: &'a Values,
}

/// A translation layer, or `None` for no flash at all; errors name the keys that contradict each other.
pub type Built = Result<Option<Box<dyn Ftl>>, String>;

/// One translation layer.
pub struct FtlRow {
    /// The value of `ftl.kind`.
    pub name: &'static str,
    /// One sentence: what it does.
    pub about: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// Its own parameters, without the `ftl.` in front.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&FtlConfig<'_>) -> Built,
}

/// All translation layers.
pub const FTLS: &[FtlRow] = &[
    none::ROW,
    page::ROW,
    block::ROW,
    hybrid::ROW,
    replacement::ROW,
    bast::ROW,
    fast::ROW,
    sast::ROW,
    last::ROW,
    superblock::ROW,
    dftl::ROW,
    hat::ROW,
];

/// The translation layer called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static FtlRow> {
    FTLS.iter().find(|row| row.name == name)
}
