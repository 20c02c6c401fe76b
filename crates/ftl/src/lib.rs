//! Flash translation layers. A layer decides which flash operations a page request needs. Each layer is one file
//! or folder, implements the trait [`Ftl`], and has a row in the registry [`FTLS`].
//!
//! | module | answers |
//! | --- | --- |
//! | [`Ftl`] | *which operations* flash does for a page request; each layer is a file or folder, registered in [`FTLS`] |
//! | [`mount`] | how the state of a layer is rebuilt *after* a loss of power |
//!
//! A layer emits operations and does not know how long they take. The caller decides how long they take, and
//! whether they run in virtual or in real time.
#![no_std]
extern crate alloc;

use alloc::boxed::Box;
use alloc::string::String;
use core::ops::Range;

use destage_base::archive::Archived;
use destage_base::parameter::{Parameter, Values};
use destage_base::{Lpn, Ticks};

use destage_nand::array::{Ppn, Wear};
use destage_nand::batch::Batch;
use destage_nand::found::{Place, Scan};
use destage_nand::geometry::Geometry;
use destage_nand::medium::Pools;
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
    /// Garbage is also collected on a die at which no operation waits. Default: false.
    pub collects_in_background: bool,
    /// Groups of planes of a die that work in parallel. If there is more than one group, [`Ftl::serve`] serves
    /// several page operations together. Default: 1.
    pub parallel_units: u32,
    /// The layer merges blocks, so that a run in which no merge happens reports 0 merges. Default: false.
    pub has_merges: bool,
    /// [`Ftl::place`] chooses the die of a write, and does not merely return [`Ftl::die_of`]. Default: false.
    pub places_writes: bool,
    /// Page `p` is always on die `p` modulo the number of dies, and there are fewer than 2^32 pages: the caller
    /// can compute the die without asking the layer. Default: false.
    pub goes_round: bool,
    /// A page is rewritten at the same address. Default: false, since flash has to be erased before it is
    /// programmed again.
    pub updates_in_place: bool,
    /// There is no flash: every call succeeds, changes nothing and takes no time. Default: false.
    pub is_hollow: bool,
    /// A write of at least this many consecutive pages is a long write. Default: none; the layer treats long
    /// writes like all others.
    pub long_write_pages: Option<u32>,
    /// Maximum number of blocks per die that are open for host pages and whose current program unit is incomplete.
    /// 0 if the layer does not complete units: [`Ftl::fill_unit`] then does nothing. Default: 0.
    pub open_blocks: u32,
    /// [`Ftl::work_idle`] may do deferred work. Default: false.
    pub works_when_idle: bool,
    /// Maximum number of steps in which one block is collected. If it is greater than 1, a waiting operation may
    /// be served between two steps. Default: 1.
    pub gc_steps: u32,
    /// Number of placement handles that [`Ftl::hint`] distinguishes. Default: 1.
    pub handles: u32,
    /// Number of consecutive pages on one die before the next die is used. Default: 1.
    pub stride: u32,
    /// Ticks that the map needs for a read (first number), and for a write or a trim (second number). The map
    /// works in parallel with the flash, so an operation takes at least this long. Default: 0.
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
    /// The logical page that is written.
    pub page: Lpn,
    /// The cause under which the program is counted.
    pub cause: Cause,
    /// The page is part of a long write: one long host request, or a long run of destaged pages with consecutive
    /// numbers.
    pub is_long: bool,
    /// The layer may sort this write into a stream, by placement handle or by how hot the page is. False for
    /// writes before the first request, which do not come from the host.
    pub has_stream: bool,
}

impl PageWrite {
    /// A write of `page` for the host: neither long nor sorted into streams.
    #[must_use]
    pub fn host(page: Lpn) -> Self {
        Self {
            page,
            cause: Cause::Host,
            is_long: false,
            has_stream: false,
        }
    }
}

/// Parameters of layers that affect the contents before the first request only through numbers that are derived from
/// them; see [`Ftl::derived`].
pub const DERIVED: &[&str] = &[
    "reserve_percent",
    "min_free_percent",
    "separate_gc_block",
    "gc_low",
    "gc_high",
    "gc_hard_threshold",
    "handles",
    "handle_isolation",
    "hot_window",
    "journal_changes",
    "journal_pages",
    "cmt_entries",
    "mappings_per_page",
    "cache_percent",
    "open_zones",
    "finish_percent",
    "own_percent",
    "gc_burst_units",
];

/// Copies a layer whose concrete type is unknown. Every [`Ftl`] that is `Clone` implements this trait.
pub trait Copied {
    /// A layer in the same state. The copy and the original are independent from here on.
    fn copied(&self) -> Box<dyn Ftl>;
}

impl<L: Ftl + Clone + 'static> Copied for L {
    fn copied(&self) -> Box<dyn Ftl> {
        Box::new(self.clone())
    }
}

/// A flash translation layer: decides *which operations* flash does for a page request.
///
/// A layer emits [`Operations`] and changes its maps at once. The caller decides when the operations run and how
/// long they take. The state of a layer can be saved and later restored into a layer that is built from the same
/// configuration. Page numbers must be below [`Ftl::pages`]; the caller checks this. A call that fails has emitted
/// nothing and changed nothing.
pub trait Ftl: Send + Copied + Archived {
    /// The fixed properties.
    fn properties(&self) -> Properties {
        Properties::default()
    }

    /// Number of logical pages that the device offers.
    fn pages(&self) -> u64;

    /// The die whose queue an operation on `page` joins.
    fn die_of(&self, page: Lpn) -> u32;

    /// The die that holds the programmed copy of `page`. It can read `page` now, even while a write of `page`
    /// waits at another die.
    fn home_of(&self, page: Lpn) -> u32 {
        self.die_of(page)
    }

    /// Chooses the die whose queue a write of `page` joins. `load` returns the number of operations that wait or
    /// are in service at a die. After each call, the caller calls [`Ftl::write`] once.
    fn place(&mut self, page: Lpn, load: &dyn Fn(u32) -> u32) -> u32 {
        let _ = load;
        self.die_of(page)
    }

    /// Like [`Ftl::place`], but the caller has already chosen `die`, since an earlier program of `page` on that
    /// die waits for the rest of its program unit. Default: does nothing, since the write joins the queue of
    /// [`Ftl::die_of`].
    fn place_behind(&mut self, page: Lpn, die: u32) {
        let _ = (page, die);
    }

    /// Reads `page`; emits no operation if the page was never written.
    ///
    /// # Errors
    /// [`NoSpace`] if the layer has to program a page for the read, and no free block is left.
    fn read(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace>;

    /// Emits the read of `page` without the cost of a map look-up, and changes no state. Emits no operation if the
    /// page was never written.
    fn peek(&self, page: Lpn, operations: &mut Operations);

    /// Writes a page.
    ///
    /// # Errors
    /// [`NoSpace`] if no free block is left.
    fn write(&mut self, write: PageWrite, operations: &mut Operations) -> Result<(), NoSpace>;

    /// Trims `page`: its contents are no longer needed. If the page has no contents, the call changes nothing and
    /// emits no operation.
    ///
    /// # Errors
    /// [`NoSpace`] if the layer has to program a page for the trim, and no free block is left.
    fn trim(&mut self, page: Lpn, operations: &mut Operations) -> Result<(), NoSpace>;

    /// Trims those of `pages` that have contents and whose trim emits no operation. For each range of `pages` that has
    /// no contents afterwards, the call emits this range; the ranges are in ascending order. The caller trims the other
    /// pages one by one. The cost of the call grows with the number of pages that have contents, but the memory only
    /// with the number of pages that were written since the device was filled. Default: does nothing.
    fn trim_all(&mut self, pages: Range<u64>, emit: &mut dyn FnMut(Range<u64>)) {
        let _ = (pages, emit);
    }

    /// Whether a read of `page` programs and erases nothing. Default: true.
    fn only_reads(&self, page: Lpn) -> bool {
        let _ = page;
        true
    }

    /// The host writes `page` with placement handle `handle` from now on. Only called if there are several
    /// [handles](Properties::handles). Default: does nothing.
    fn hint(&mut self, page: Lpn, handle: u32) {
        let _ = (page, handle);
    }

    /// Looks up the map entries of `pages`, which are needed soon, so that they are then in the processor's cache.
    /// Page numbers that do not exist are ignored. No state changes. Default: does nothing.
    fn bring_near(&self, pages: &[Lpn]) {
        let _ = pages;
    }

    /// Whether `page` has contents.
    fn is_written(&self, page: Lpn) -> bool;

    /// Emits those of `pages` that have contents, in any order. The simulator spends almost no time on map entries
    /// that were never written. Default: calls [`Ftl::is_written`] for each page.
    fn mapped(&self, pages: Range<u64>, emit: &mut dyn FnMut(Lpn)) {
        let pages = pages.map(Lpn);
        pages.filter(|page| self.is_written(*page)).for_each(emit);
    }

    /// Does one step of garbage collection on `die` if it needs one, and returns whether it did. `now` is the
    /// time at which the step begins.
    ///
    /// The caller calls this method before an operation is served at `die`, and repeats the call until it returns
    /// false.
    ///
    /// # Errors
    /// [`NoSpace`] if there is no room to copy valid pages to.
    fn collect_garbage(
        &mut self,
        die: u32,
        now: Ticks,
        operations: &mut Operations,
    ) -> Result<bool, NoSpace>;

    /// The die at which garbage has to be collected before a write at `die` can be served. It may be another die
    /// if blocks of several dies are collected together. If no other page is free for the write, the call may
    /// close an open superblock early and leave its remaining pages unused. Default: `die`.
    fn collects_at(&mut self, die: u32) -> u32 {
        die
    }

    /// Whether garbage collection that is due at `die` has to run before the next write at `die`. Default: true.
    fn collects_before_writes(&self, die: u32) -> bool {
        let _ = die;
        true
    }

    /// Does one step of deferred work on `die`, at which no operation waits; returns whether there was such work.
    /// Default: none.
    ///
    /// # Errors
    /// [`NoSpace`] if the step needs a free block and none is left.
    fn work_idle(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let _ = (die, operations);
        Ok(false)
    }

    /// Programs fillers into the open block of `die` that contains page `at`, up to the end of the current program
    /// unit of `unit_pages` pages. If no unit is begun, it fills a whole unit. A layer that maps by block programs
    /// as many fillers as the last program pass of the unit needs. Default: does nothing.
    fn fill_unit(&mut self, die: u32, at: Ppn, unit_pages: u32, operations: &mut Operations) {
        let _ = (die, at, unit_pages, operations);
    }

    /// The blocks among which the layer looks for its next free block. Default: the blocks of a die.
    fn pools(&self) -> Pools {
        Pools::DIES
    }

    /// Takes over the contents that `scan` has found; the layer was just built without contents. `take` receives,
    /// for each logical page, the copy that the layer uses.
    fn mount(&mut self, scan: &Scan, take: &mut dyn FnMut(Place));

    /// Does one step of the repairs on `die` that follow [`Ftl::mount`], and returns whether there was one. The
    /// layer serves no request before the last repair is done. Default: there are no repairs.
    ///
    /// # Errors
    /// [`NoSpace`] if no block is free.
    fn mount_step(&mut self, die: u32, operations: &mut Operations) -> Result<bool, NoSpace> {
        let _ = (die, operations);
        Ok(false)
    }

    /// Serves reads and writes of one die together; each write has its cause. Returns how many of the writes were
    /// accepted. The others have to wait until garbage has been collected. A page occurs at most once in each
    /// list. Only called if the dies have several [parallel units](Properties::parallel_units).
    ///
    /// # Errors
    /// [`NoSpace`] if there is no room even for the first write.
    fn serve(
        &mut self,
        die: u32,
        reads: &[Lpn],
        writes: &[(Lpn, Cause)],
        batch: &mut Batch,
        operations: &mut Operations,
    ) -> Result<usize, NoSpace> {
        let _ = (die, reads, writes, batch, operations);
        unreachable!("a layer with parallel units serves batches")
    }

    /// Erase counts over all blocks.
    fn wear(&self) -> Wear;

    /// Number of blocks that are retired because they reached the maximum number of erases. Default: 0.
    fn retired(&self) -> u64 {
        0
    }

    /// Number of pages of the map or of its journal that are in flash before the first request. Default: 0.
    fn map_pages(&self) -> u64 {
        0
    }

    /// The numbers that the layer has derived from the parameters [`DERIVED`] and from
    /// [`FtlConfig::power_may_fail`], as text. Two layers with equal numbers of this kind, and with
    /// equal other parameters, have the same state before the first request.
    fn derived(&self) -> String;

    /// Emits the die, the block and the erase count of every block.
    fn erases(&self, emit: &mut dyn FnMut(u32, u32, u32));

    /// Sets all erase counts to 0, as if the blocks were new.
    fn reset_wear(&mut self);

    /// Restarts the figures of [`Ftl::report`] for a measurement that begins now; decisions of the layer are
    /// unaffected. Default: there are no figures.
    fn reset_figures(&mut self) {}

    /// Emits the figures that only this layer has, each with its name.
    fn report(&self, emit: &mut dyn FnMut(&'static str, f64)) {
        let _ = emit;
    }

    /// RAM that the mapping tables would occupy in a device, in bytes.
    fn map_bytes(&self) -> u64;
}

/// The arguments for building an FTL.
#[derive(Clone, Copy, Debug)]
pub struct FtlConfig<'a> {
    /// Dies, planes, blocks and pages of the device.
    pub geometry: Geometry,
    /// Operation times, from which wear-aware garbage collection computes when an erase within a step ends. A
    /// layer uses operation times for nothing else.
    pub erase_dates: Timing,
    /// Pages that are copied within a plane do not cross the bus.
    pub copy_back: bool,
    /// Groups of planes of a die that work in parallel.
    pub parallel_units: u32,
    /// Units of the mapping that share a page of flash; a page of flash is read and programmed as a whole.
    pub units_per_page: u32,
    /// Consecutive pages of a block that are programmed together (a program unit); 1 if each page is programmed
    /// alone.
    pub program_unit: u32,
    /// Number of passes in which a program unit is programmed: 1 or 2.
    pub program_passes: u32,
    /// Bits that a cell holds.
    pub bits_per_cell: u32,
    /// Maximum number of erases of a block.
    pub endurance: u32,
    /// A block that reached `endurance` erases is retired; otherwise it stays in use.
    pub retire: bool,
    /// The power may fail any number of times, so the reserve must also cover the pages that interrupted programs
    /// waste.
    pub power_may_fail: bool,
    /// All logical pages have contents before the first request.
    pub filled: bool,
    /// Seed of all random choices of the layer.
    pub seed: u64,
    /// The value of each parameter in the layer's registry row.
    pub values: &'a Values,
}

/// A translation layer, or the error if the parameters do not fit together.
pub type Built = Result<Box<dyn Ftl>, BuildError>;

/// The registry row of a translation layer.
pub struct FtlRow {
    /// The value of `ftl.kind`.
    pub name: &'static str,
    /// One sentence that describes the layer.
    pub about: &'static str,
    /// Where the layer was published.
    pub source: &'static str,
    /// The layer has flash.
    pub has_flash: bool,
    /// The layer decides for each block whether its cells hold all their bits or only one; the time of an
    /// operation depends on this choice.
    pub has_cell_modes: bool,
    /// The layer works with program units of several pages: it fills the pages of a block in order, or programs
    /// skipped pages without content; see [`Properties::open_blocks`].
    pub fills_blocks_in_turn: bool,
    /// The layer can serve batches of operations on groups of planes; see [`Properties::parallel_units`].
    pub groups_planes: bool,
    /// The layer chooses the die of each write, whatever its parameters are; see [`Properties::places_writes`].
    pub places_writes: bool,
    /// The layer merges blocks; see [`Properties::has_merges`].
    pub has_merges: bool,
    /// The layer works in whole program units even if no program waits for the rest of its unit. So the size of a
    /// unit changes the results of runs without a clock, too.
    pub works_in_units: bool,
    /// The parameters of the layer, without the prefix `ftl.`.
    pub parameters: &'static [Parameter],
    /// Builds the layer.
    pub build: fn(&FtlConfig<'_>) -> Built,
}

impl FtlRow {
    /// The entries that most layers share. Each row has its own texts and its own `build`.
    const BLANK: Self = Self {
        name: "",
        about: "",
        source: "",
        has_flash: true,
        has_cell_modes: false,
        fills_blocks_in_turn: false,
        groups_planes: false,
        places_writes: false,
        has_merges: false,
        works_in_units: false,
        parameters: &[],
        build: |_| unreachable!("each row builds its own layer"),
    };
}

/// All translation layers. `FTLS` is a static, because a constant would be compiled again in every crate that
/// looks up a layer.
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
