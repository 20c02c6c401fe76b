//! Flash translation layers: which operations does flash do for a page request? One file or folder each, one trait, one registry.
//!
//! | module | answers |
//! | --- | --- |
//! | [`Ftl`] | *which operations* does flash do for this page request? One file or folder per layer, registered in [`FTLS`] |
//! | [`mount`] | the state *after* a loss of power |
//!
//! A layer emits operations and never asks how long they take; the caller decides about costs, and whether they run in virtual or in real time.
#![no_std]
extern crate alloc;

use alloc::boxed::Box;
use core::ops::Range;

use destage_base::archive::Archived;
use destage_base::parameter::{Parameter, Values};
use destage_base::{Lpn, Ticks};

use crate::mount::MountError;
use destage_nand::array::{Ppn, Wear};
use destage_nand::batch::Batch;
use destage_nand::found::{Place, Scan};
use destage_nand::geometry::Geometry;
use destage_nand::operation::{Cause, Operations};
use destage_nand::timing::Timing;

mod bast;
mod block;
mod blocks;
mod build_error;
mod dftl;
mod fast;
mod filling;
mod hat;
mod hybrid;
mod last;
mod list;
pub mod mount;
mod no_space;
mod none;
mod page;
mod pslc;
mod replacement;
mod sast;
mod striped;
mod superblock;
mod upon_pages;
mod zns;

pub use build_error::{BuildError, ReserveTooSmall};
pub use filling::Filling;
pub use no_space::{NoSpace, Shortage};

/// The fixed properties of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Properties {
    /// Garbage collection is also looked for when no operation waits. Default: false.
    pub collects_in_background: bool,
    /// Units of a die that work side by side; if more than one, [`Ftl::batched`] serves. Default: 1.
    pub parallel_units: u32,
    /// The layer merges blocks, so that a run without a merge reports 0 merges. Default: false.
    pub has_merges: bool,
    /// [`Ftl::place`] does more than to give [`Ftl::die_of`]. Default: false.
    pub places_writes: bool,
    /// Page `p` is always on die `p` modulo their number, and there are less than 2^32 pages: the layer need not be asked. Default: false.
    pub goes_round: bool,
    /// A page keeps its address when it is written again. Default: false, since flash is erased before it is programmed.
    pub updates_in_place: bool,
    /// There is no flash: whatever is asked succeeds, and neither changes anything nor takes time. Default: false.
    pub is_hollow: bool,
    /// Number of consecutive pages from which on a write is long, for layers that treat long writes in a way of their own. Default: none.
    pub long_write_pages: Option<u32>,
    /// Most blocks of a die with pages of the host that wait for others of their program units; 0 if the layer leaves units incomplete, and
    /// [`Ftl::fill_unit`] does nothing. Default: 0.
    pub open_blocks: u32,
    /// [`Ftl::work_idle`] does something. Default: false.
    pub works_when_idle: bool,
    /// Steps that the collection of a block may take; if more than one, operations that wait have their turn between two of them.
    /// Default: 1.
    pub gc_steps: u32,
    /// Number of placement handles that are distinguished, by [`Ftl::hint`]. Default: 1.
    pub handles: u32,
    /// Consecutive pages that are on one die before the next has its turn. Default: 1.
    pub stride: u32,
    /// Ticks the map takes for a read, and for a write or trim, beside the flash: the operation takes at least
    /// as long. Default: 0.
    pub map_time: [Ticks; 2],
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            collects_in_background: false,
            parallel_units: 1,
            has_merges: false,
            places_writes: false,
            goes_round: false,
            updates_in_place: false,
            is_hollow: false,
            long_write_pages: None,
            open_blocks: 0,
            works_when_idle: false,
            gc_steps: 1,
            handles: 1,
            stride: 1,
            map_time: [0; 2],
        }
    }
}

/// The write of one page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageWrite {
    /// The page.
    pub page: Lpn,
    /// On whose behalf.
    pub cause: Cause,
    /// It is part of a long write: one host request, or destaged pages that follow one another.
    pub is_long: bool,
    /// Writes may be divided into groups; not before the first request, when pages have no history.
    pub is_told: bool,
}

impl PageWrite {
    /// A write of `page` for the host that is not long.
    #[must_use]
    pub fn host(page: Lpn) -> Self {
        Self {
            page,
            cause: Cause::Host,
            is_long: false,
            is_told: false,
        }
    }
}

/// A copy of a layer of unknown type. Every [`Ftl`] that is `Clone` has it.
pub trait Copied {
    /// A layer in the same state, which goes its own way from here on.
    fn copied(&self) -> Box<dyn Ftl>;
}

impl<L: Ftl + Clone + 'static> Copied for L {
    fn copied(&self) -> Box<dyn Ftl> {
        Box::new(self.clone())
    }
}

/// A flash translation layer: decides *which operations* flash does for a page request.
///
/// It emits [`Operations`] and changes its maps at once; when the operations run, and how long they
/// take, is decided outside. Its state can be written and laid over a layer built from the same configuration. Page numbers are below [`Ftl::pages`];
/// the caller has checked. A call that fails has emitted nothing and changed nothing.
pub trait Ftl: Send + Copied + Archived {
    /// The fixed properties.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Logical pages the device offers.
    fn pages(&self) -> u64;

    /// The die whose queue an operation on `page` joins.
    fn die_of(&self, page: Lpn) -> u32;

    /// The die that can read `page` now: its contents are there, even while a write of the page waits at another die.
    fn home_of(&self, page: Lpn) -> u32 {
        self.die_of(page)
    }

    /// The die whose queue a write of `page` joins, chosen now; `load` gives how many operations wait or
    /// are served at a die. Each call is followed by one [`Ftl::write`].
    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        let _ = load;
        self.die_of(page)
    }

    /// A write of `page` joins the queue of `die`, where a program of the page waits for the rest of its unit; otherwise as [`Ftl::place`].
    /// Default: nothing, since [`Ftl::die_of`] gives that die.
    fn place_behind(&mut self, page: Lpn, die: u32) {
        let _ = (page, die);
    }

    /// Reads `page`; no operation if it was never written.
    ///
    /// # Errors
    /// [`NoSpace`] if the layer has to write for that, and no free block is left.
    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace>;

    /// The read of `page` alone, without the cost of a look-up of the map; nothing changes. No operation if it was never
    /// written.
    fn peek(&self, page: Lpn, operations: &mut Operations);

    /// Writes a page.
    ///
    /// # Errors
    /// [`NoSpace`] if no free block is left.
    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace>;

    /// The contents of `page` are no longer needed. Of a page without contents nothing changes, and nothing is emitted.
    ///
    /// # Errors
    /// [`NoSpace`] if the layer has to write for that, and no free block is left.
    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace>;

    /// Whether a read of `page` neither programs nor erases anything. Default: yes.
    fn only_reads(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }

    /// The host writes `page` by placement handle `handle` from now on. Only with several
    /// [handles](Properties::handles); default: nothing.
    fn hint(&mut self, page: Lpn, handle: u32) {
        let _ = (page, handle);
    }

    /// `pages` will be needed soon, as far as they exist: their map entries are looked up, so that they are in the cache by then. Nothing
    /// changes; default: nothing at all.
    fn bring_near(&self, pages: &[Lpn]) {
        let _ = pages;
    }

    /// Whether `page` has contents.
    fn is_written(&self, page: Lpn) -> bool;

    /// Emits the pages of `pages` that a trim would change, in no order that means anything. Entries that were never written cost next to nothing.
    /// Default: each page is asked whether it [has contents](Ftl::is_written).
    fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        let pages = pages.map(Lpn);
        pages.filter(|page| self.is_written(*page)).for_each(emit);
    }

    /// Does one step of garbage collection on `die` if it needs one, and says whether it did.
    ///
    /// Called before an operation is served there; the caller repeats until nothing was done.
    ///
    /// # Errors
    /// [`NoSpace`] if there is no room to copy valid pages to.
    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace>;

    /// The die at which garbage has to be collected before a write at `die` can be served: it may be another one if collections extend over several
    /// dies. It may skip places of an open block, if the write has no other place. Default: `die`.
    fn collects_at(&mut self, die: u32) -> u32 {
        die
    }

    /// Whether garbage that is due at `die` has to be collected before anything more is written there. Default: always.
    fn collects_before_writes(&self, die: u32) -> bool {
        let _ = die;
        true
    }

    /// Does a step of deferred work on `die`, at which nothing waits; returns whether there was one. Default: none.
    ///
    /// # Errors
    /// [`NoSpace`] if there is no room for it.
    fn work_idle(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let _ = (die, operations);
        Ok(false)
    }

    /// Programs fillers after `at` of `die`, a page of an open block, up to the end of the unit of `unit_pages` pages that is open there, or up to
    /// its last pass; a whole unit if none is. Default: nothing.
    fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        let _ = (die, at, unit_pages, operations);
    }

    /// Adopts the findings of `scan`, as a layer that was just built without contents, and gives `take` the copy it takes of each page. Default:
    /// cannot.
    ///
    /// # Errors
    /// [`MountError::Unsupported`] if the layer cannot be mounted.
    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place)) -> Result<(), MountError> {
        let _ = (scan, take);
        Err(MountError::Unsupported)
    }

    /// Does one step of putting the blocks of `die` in order after [`Ftl::mount`], and says whether there was one. The layer
    /// serves nothing before the last of them. Default: there are none.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let _ = (die, operations);
        Ok(false)
    }

    /// This layer as one for dies with [parallel units](Properties::parallel_units), if it has any.
    fn batched(&mut self) -> Option<&mut dyn Batched> {
        None
    }

    /// Erase counts over all blocks.
    fn wear(&self) -> Wear;

    /// Blocks that are not used any more, because they were erased as often as they survive. Default: none.
    fn retired(&self) -> u64 {
        0
    }

    /// Emits die, block and erases of every block.
    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32));

    /// Forgets erases so far: the blocks are as good as new.
    fn reset_wear(&mut self);

    /// Begins the figures of [`Ftl::report`] again, for a measurement that begins now. It decides as before. Default:
    /// there are none.
    fn reset_figures(&mut self) {}

    /// Emits figures only this layer has, by name.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// RAM the mapping tables would take in a device, in bytes.
    fn map_bytes(&self) -> u64;
}

/// A layer whose dies serve several page operations together.
pub trait Batched {
    /// Serves reads and writes (each with its cause) of one die together, and returns how many of the writes it accepted: the others have to wait
    /// until there was a chance to collect garbage. Pages within each
    /// list differ.
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
    ) -> Result<usize, NoSpace>;
}

/// The arguments for building an FTL.
#[derive(Clone, Copy, Debug)]
pub struct FtlConfig<'a> {
    /// Counts of the device.
    pub geometry: Geometry,
    /// Times by which wear-aware garbage collection dates the erases of a step. Nothing else asks how long
    /// an operation takes.
    pub erase_dates: Timing,
    /// Pages move inside a plane without crossing the bus.
    pub copy_back: bool,
    /// Groups of planes of a die that work side by side.
    pub parallel_units: u32,
    /// Pages that share a page of flash, which is read and programmed as a whole.
    pub units_per_page: u32,
    /// Consecutive pages of a block that are programmed together; 1 if each is by itself.
    pub program_unit: u32,
    /// How often their cells are programmed: once or twice.
    pub program_passes: u32,
    /// Bits that a cell holds.
    pub bits_per_cell: u32,
    /// Erases a block survives.
    pub endurance: u32,
    /// A block erased that often is not used any more; otherwise it is, and nothing happens.
    pub retire: bool,
    /// The power may fail, any number of times: the reserve has to suffice for interrupted programs, too.
    pub power_may_fail: bool,
    /// All logical pages have contents before the first request.
    pub filled: bool,
    /// Fixes every random choice, should the FTL make one.
    pub seed: u64,
    /// A value for each of the row's parameters.
    pub values: &'a Values,
}

/// A translation layer, or the error if parameters do not fit together.
pub type Built = Result<Box<dyn Ftl>, BuildError>;

/// One translation layer.
pub struct FtlRow {
    /// The value of `ftl.kind`.
    pub name: &'static str,
    /// One sentence on the layer.
    pub about: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// The layer has flash.
    pub has_flash: bool,
    /// Whether the cells of a block hold all their bits or one, as the layer says; an operation takes the time of its cells.
    pub has_cell_modes: bool,
    /// It finds its data again after a loss of power.
    pub can_be_mounted: bool,
    /// Its pages can be programmed in units: it fills the pages of a block in order for the host, or programs the pages it leaves out without
    /// content; see [`Properties::open_blocks`].
    pub fills_blocks_in_turn: bool,
    /// It serves batches by groups of planes; see [`Properties::parallel_units`].
    pub groups_planes: bool,
    /// It chooses the die of a write whatever its parameters say; see [`Properties::places_writes`].
    pub places_writes: bool,
    /// It merges blocks; see [`Properties::has_merges`].
    pub has_merges: bool,
    /// Its own parameters, without the `ftl.` in front.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&FtlConfig<'_>) -> Built,
}

/// All translation layers. A static: of a constant, every crate that looks a layer up would compile all of them again.
pub static FTLS: &[FtlRow] = &[
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
    pslc::ROW,
    zns::ROW,
    striped::ROW,
];

/// The translation layer called `name`.
#[must_use]
pub fn find(name: &str) -> Option<&'static FtlRow> {
    FTLS.iter().find(|row| row.name == name)
}
