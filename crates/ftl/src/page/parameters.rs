//! The parameters of a page-mapped device, its registry row, and the numbers that are derived from the parameters.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::{choices, parameters};

use super::PageFtl;
use super::die::{DieRules, Layout, Separation, Units, Watermarks};
use super::gc::Policy;
use super::shape::Shape;
use super::victims::Order;
use crate::blocks::WearLevelling;
use crate::blocks::parameters as shared;
use crate::{BuildError, FtlConfig, FtlRow, ReserveTooSmall};
use destage_nand::geometry::Geometry;
use destage_nand::timing::Timing;

const SOURCE: &str = "Agrawal et al., USENIX ATC 2008, as released for DiskSim 4.0.";

const OURS: &str = "ours";

choices! {
    /// The planes from which a write may choose.
    pub enum AllocationPool {
        /// All planes of the die.
        Die = "die",
        /// The plane that holds the present copy of the page.
        Plane = "plane",
    }
}

choices! {
    /// Values of `placement`.
    enum Place {
        Stripe = "stripe",
        Dynamic = "dynamic",
    }
}

choices! {
    /// Values of `handle_isolation`.
    enum Isolation {
        Initial = "initial",
        Persistent = "persistent",
    }
}

choices! {
    /// Values of `victim_ties`.
    enum Ties {
        Oldest = "oldest",
        Reference = "reference",
    }
}

choices! {
    /// Whether the pages that garbage collection moves fill blocks of their own.
    pub(crate) enum Separate {
        /// Moved pages fill blocks of their own if the reserve has room for that.
        Auto = "auto",
        Yes = "true",
        No = "false",
    }
}

const STRIDE: Parameter = Parameter {
    name: "stride",
    kind: Kind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "1",
    unit: "pages",
    about: "Number of consecutive pages on one die before the next die is used.",
    source: "Agrawal et al., USENIX ATC 2008",
    ..Parameter::BLANK
};

/// The stride of a layer with the parameter `placement`. If the die of each write is chosen, there is no stride.
const STRIDE_OF_STRIPE: Parameter = Parameter {
    needs: &["ftl.placement = stripe"],
    ..STRIDE
};

const BACKGROUND_GC: Parameter = Parameter {
    name: "background_gc",
    kind: Kind::Flag,
    default: "false",
    unit: "",
    about: "Whether garbage is also collected when no request waits for the die.",
    source: SOURCE,
    needs: &["clock"],
    ..Parameter::BLANK
};

parameters! {
    /// How much flash is kept free, and to which planes a write may go.
    pub(crate) struct Reserve {
        /// Share of each plane's blocks that is not offered to the host.
        reserve_percent: f64 = "15" in Kind::Number { min: 0.0, max: 99.0 }, "%", SOURCE;
        /// Garbage collection starts at or below this share of free blocks.
        min_free_percent: f64 = "5" in Kind::Number { min: 0.0, max: 99.0 }, "%", SOURCE;
        /// The planes from which a write may choose: all planes of its die, or only the plane that holds the
        /// present copy of the page.
        allocation_pool: AllocationPool = "die", "", SOURCE;
    }
}

parameters! {
    /// When garbage collection starts and ends, and to which blocks it moves pages.
    pub(crate) struct Marks {
        /// Whether the pages that garbage collection moves fill blocks of their own, apart from new data; auto: if the reserve has room for that.
        separate_gc_block: Separate = "auto", "", "ours; false: as released for DiskSim 4.0";
        /// Garbage collection starts when fewer than this many blocks of a pool are free. 0: one more than min_free_percent of the pool, rounded
        /// down, or as many as garbage collection needs if that is more.
        gc_low: u32 = "0", "blocks", OURS;
        /// Garbage collection ends when this many blocks of a pool are free. 0: gc_low with copy-back, and gc_low + 1
        /// without copy-back.
        gc_high: u32 = "0", "blocks", OURS;
    }
}

parameters! {
    /// The parameters of every layer that maps by page and collects greedily.
    pub(crate) struct Greedy {
        reserve: Reserve;
        stride: u32 as STRIDE;
        marks: Marks;
        levelling: shared::Levelling;
        background_gc: bool as BACKGROUND_GC;
    }
}

parameters! {
    /// The parameters of `page`.
    struct Parameters {
        reserve: Reserve;
        /// How the die of a page is chosen: by the number of the page, or for each write the die with the fewest
        /// waiting operations.
        placement: Place = "stripe", "", "stripe: Agrawal et al., USENIX ATC 2008; dynamic: ours";
        stride: u32 as STRIDE_OF_STRIPE;
        /// Which block is collected. greedy: the one with the fewest valid pages. wear_aware: the same, but worn
        /// blocks receive cold data. cost_benefit: the block with the best ratio of age and gain to cost. fifo:
        /// the block that was closed first. d_choices: the one with the fewest valid pages among a few blocks
        /// drawn at random. greedy_wear: the one with the fewest valid pages, but worn blocks are often passed
        /// over.
        gc_policy: Policy = "greedy", "", "greedy, wear_aware, greedy_wear: Agrawal et al., USENIX ATC 2008; cost_benefit: Kawaguchi et al., USENIX 1995; d_choices: Van Houdt, SIGMETRICS 2013";
        /// Number of blocks that gc_policy=d_choices draws, each from all blocks.
        gc_choices: u32 = "10" in Kind::Integer { min: 1, max: u32::MAX as u64 }, "blocks", "Van Houdt, SIGMETRICS 2013", needs &["ftl.gc_policy = d_choices"];
        /// Which of several blocks with the fewest valid pages gc_policy=greedy collects: the one that was closed
        /// first; or, like the reference simulator, the one with the highest number (without copy-back the one
        /// with the lowest number, in the order of valid pages when garbage collection began).
        victim_ties: Ties = "oldest", "", "oldest: ours; reference: as released for DiskSim 4.0", needs &["ftl.gc_policy = greedy|wear_aware"];
        marks: Marks;
        /// Whether, with gc_policy=greedy_wear, a worn block that is collected receives the contents of the
        /// coldest block.
        wl_migrate: bool = "false", "", SOURCE, needs &["ftl.gc_policy = greedy_wear"];
        levelling: shared::Levelling;
        background_gc: bool as BACKGROUND_GC;
        /// Maximum number of pages that garbage collection moves before a waiting operation is served; 0: all
        /// pages of a block.
        gc_step_pages: u32 = "0", "pages", OURS;
        /// Number of free blocks of a pool below which garbage collection yields to no operation, with gc_step_pages or
        /// flash.scheduling=garbage_last. 0: 4 blocks, or one less than the number at which garbage collection starts if that is fewer, or as many as
        /// it needs if that is more.
        gc_hard_threshold: u32 = "0", "blocks", OURS, needs &["ftl.gc_step_pages > 0 or flash.scheduling = garbage_last"];
        /// Number of placement handles of the host, each with open blocks of its own; a request uses the handle with the number of its stream
        /// (trace.streams) modulo the number of handles.
        handles: u32 = "1" in Kind::Integer { min: 1, max: MOST_HANDLES }, "", "1; reclaim unit handles of NVMe, Flexible Data Placement (TP4146)";
        /// Whether pages of different handles that garbage collection moves may share blocks. With one handle, persistent
        /// has an effect only with victim_ties=reference: the layer then keeps the reference simulator's rule for ties,
        /// and no other rule of it.
        handle_isolation: Isolation = "initial", "", "types of reclaim unit handles, initially and persistently isolated: NVMe, TP4146", needs &["ftl.handles > 1 or ftl.victim_ties = reference and ftl.gc_step_pages = 0 and ftl.hot_window = 0 and ftl.journal_changes = 0"];
        /// Number of changes of a die's map (pages written, moved and trimmed) after which the die programs a page of the map's journal; 0: there is
        /// no journal.
        journal_changes: u32 = "0", "", OURS;
        /// Number of journal pages in each die; a further page makes the oldest void.
        journal_pages: u32 = "64" in Kind::Integer { min: 1, max: 1 << 20 }, "pages", OURS, needs &["ftl.journal_changes > 0"];
        /// A page is hot if it was written before within this many page writes of its die; hot pages have blocks of their own. 0: no page is hot.
        hot_window: u32 = "0" in Kind::Integer { min: 0, max: 1 << 31 }, "pages", "ours; LAST (SPEED 2008) uses the same rule for hot pages of its log";
    }
}

/// Maximum number of placement handles.
pub(crate) const MOST_HANDLES: u64 = 16;

/// The registry row.
pub(crate) const ROW: FtlRow = FtlRow {
    name: "page",
    about: "Page mapping: pages striped over dies, writes to the plane with the most free blocks, garbage collection.",
    source: SOURCE,
    fills_blocks_in_turn: true,
    groups_planes: true,
    parameters: Parameters::ROWS,
    build: |config| {
        let own = Parameters::from_values(config.values);
        let greedy = Greedy {
            reserve: own.reserve,
            // There is no stride if the die of each write is chosen.
            stride: match own.placement {
                Place::Stripe => own.stride,
                Place::Dynamic => 1,
            },
            marks: own.marks,
            levelling: own.levelling,
            background_gc: own.background_gc,
        };
        let mut settings = PageConfig {
            gc: Collection {
                policy: own.gc_policy,
                draws: own.gc_choices,
                reference_ties: own.victim_ties == Ties::Reference,
                migrates: own.wl_migrate,
                step_pages: own.gc_step_pages,
                in_background: own.background_gc,
            },
            dynamic: own.placement == Place::Dynamic,
            journal: (own.journal_changes > 0).then_some((own.journal_changes, own.journal_pages)),
            separation: Separation {
                handles: own.handles,
                isolates: own.handle_isolation == Isolation::Persistent,
                window: own.hot_window,
            },
            ..PageConfig::greedy(config, &greedy)
        };
        settings.below.parallel_units = config.parallel_units;
        settings.room.floor = own.gc_hard_threshold;
        let ftl = PageFtl::new(&settings.with_migrations(&greedy.marks))?;
        Ok(Box::new(ftl))
    },
    ..FtlRow::BLANK
};

/// The parameters of a page-mapped device that describe the flash.
#[derive(Clone, Copy, Debug)]
pub struct Below {
    /// Dies, planes, blocks and pages of the device.
    pub geometry: Geometry,
    /// Operation times, from which wear-aware garbage collection computes when an erase ends.
    pub erase_dates: Timing,
    /// Pages that are copied within their plane do not cross the bus.
    pub copy_back: bool,
    /// Groups of planes of a die that work in parallel.
    pub parallel_units: u32,
    /// Units of the mapping that share a page of flash.
    pub units_per_page: u32,
    /// Maximum number of erases of a block.
    pub endurance: u32,
    /// A block with `endurance` erases is retired.
    pub retire: bool,
    /// The power may fail, any number of times.
    pub power_may_fail: bool,
    /// The program units, if pages are programmed together and the power may fail.
    pub units: Option<Units>,
    /// All logical pages have contents before the first request.
    pub filled: bool,
    /// Seed of the random choices of policies.
    pub seed: u64,
}

/// How many blocks are kept free, and how many are open.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Share of each plane's blocks that is not offered to the host, in percent.
    pub reserve_percent: f64,
    /// Garbage collection starts at or below this share of free blocks, in percent.
    pub min_free_percent: f64,
    /// The planes from which a write may choose.
    pub allocation_pool: AllocationPool,
    /// Whether the pages that garbage collection moves fill blocks of their own.
    pub separate_migrations: bool,
    /// Free blocks of a pool below which garbage collection starts; 0: derived from `min_free_percent`.
    pub gc_low: u32,
    /// Free blocks of a pool at which garbage collection ends; 0: derived from `gc_low`.
    pub gc_high: u32,
    /// Free blocks of a pool below which garbage collection yields to no operation; 0: derived from the low
    /// watermark.
    pub floor: u32,
    /// Number of blocks of each die that a layer built on this one may use, in addition to the blocks that stay
    /// free.
    pub aside: u32,
}

/// How garbage is collected.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// Which block is collected.
    pub policy: Policy,
    /// Number of blocks that [`Policy::DChoices`] draws.
    pub draws: u32,
    /// Ties between victims are broken as in the reference simulator, not by the age of the blocks.
    pub reference_ties: bool,
    /// Under [`Policy::GreedyWear`], worn blocks receive cold data.
    pub migrates: bool,
    /// Maximum number of pages that one step moves; 0: all pages of a block.
    pub step_pages: u32,
    /// Garbage is also collected when no operation waits.
    pub in_background: bool,
}

impl Collection {
    /// Whether a worn block that is collected receives cold data under [`Policy::GreedyWear`].
    pub(super) fn migrates_worn(&self) -> bool {
        self.migrates && self.policy == Policy::GreedyWear
    }
}

/// All parameters of a page-mapped device.
#[derive(Clone, Copy, Debug)]
pub struct PageConfig {
    /// The parameters of the flash.
    pub below: Below,
    /// How many blocks are kept free, and how many are open.
    pub room: Room,
    /// How garbage is collected.
    pub gc: Collection,
    /// Number of consecutive pages on one die.
    pub stride: u32,
    /// Each write goes to the die with the fewest waiting operations.
    pub dynamic: bool,
    /// Wear levelling in addition to the garbage collection policy.
    pub levelling: WearLevelling,
    /// Mappings per page of the map, if the map is in flash; `None` if the map is in RAM.
    pub mappings_per_page: Option<u32>,
    /// Number of changes in a page of the map's journal, and number of journal pages.
    pub journal: Option<(u32, u32)>,
    /// How writes are divided into streams.
    pub separation: Separation,
}

/// The hard threshold in free blocks if none is set.
const FLOOR: u32 = 4;

impl PageConfig {
    /// The settings from the parameters that all page-mapped layers share, with greedy garbage collection.
    pub(crate) fn greedy(config: &FtlConfig<'_>, greedy: &Greedy) -> Self {
        let (reserve, marks) = (&greedy.reserve, &greedy.marks);
        Self {
            below: Below {
                geometry: config.geometry,
                erase_dates: config.erase_dates,
                copy_back: config.copy_back,
                parallel_units: 1,
                units_per_page: config.units_per_page,
                endurance: config.endurance,
                retire: config.retire,
                power_may_fail: config.power_may_fail,
                units: Units::of(config),
                filled: config.filled,
                seed: config.seed,
            },
            room: Room {
                reserve_percent: reserve.reserve_percent,
                min_free_percent: reserve.min_free_percent,
                allocation_pool: reserve.allocation_pool,
                separate_migrations: marks.separate_gc_block == Separate::Yes,
                gc_low: marks.gc_low,
                gc_high: marks.gc_high,
                floor: 0,
                aside: 0,
            },
            gc: Collection {
                policy: Policy::Greedy,
                draws: 1,
                reference_ties: false,
                migrates: false,
                step_pages: 0,
                in_background: greedy.background_gc,
            },
            stride: greedy.stride,
            dynamic: false,
            levelling: greedy.levelling.rule(),
            mappings_per_page: None,
            journal: None,
            separation: Separation::NONE,
        }
    }

    /// The settings of a page mapping over zones, where the zones are the blocks of `geometry`. Data that
    /// compaction moves have zones of their own.
    pub(crate) fn of_zones(
        config: &FtlConfig<'_>,
        geometry: Geometry,
        reserve_percent: f64,
        gc_low: u32,
    ) -> Self {
        let defaults = Greedy::from_values(&Values::defaults(Greedy::ROWS));
        let of_blocks = FtlConfig {
            geometry,
            copy_back: false,
            ..*config
        };
        let mut zones = Self::greedy(&of_blocks, &defaults);
        zones.room = Room {
            reserve_percent,
            min_free_percent: 0.0,
            separate_migrations: true,
            gc_low,
            gc_high: gc_low,
            ..zones.room
        };
        zones.below.units = Units::of(config).map(|units| Units {
            blocks: geometry.pages_per_block / config.geometry.pages_per_block,
            ..units
        });
        zones
    }

    /// Returns these settings. If `separate_gc_block` is auto and the reserve has enough blocks, the pages that
    /// garbage collection moves fill blocks of their own.
    pub(crate) fn with_migrations(self, marks: &Marks) -> Self {
        let mut separate = self;
        separate.room.separate_migrations = true;
        let has_room = || {
            let reserved = share(
                self.room.reserve_percent,
                self.below.geometry.blocks_per_plane,
            );
            reserved < self.below.geometry.blocks_per_plane && separate.watermarks(reserved).is_ok()
        };
        if marks.separate_gc_block == Separate::Auto && has_room() {
            separate
        } else {
            self
        }
    }

    /// Number of pages of a die that hold its map or its journal; 0 if neither is in flash.
    fn map_pages(&self, logical_pages: u32) -> u32 {
        match (self.mappings_per_page, self.journal) {
            (Some(mappings), _) => logical_pages.div_ceil(mappings),
            (None, Some((_, pages))) => pages,
            (None, None) => 0,
        }
    }

    /// Whether pages of the map or of its journal are in flash.
    fn has_map_pages(&self) -> bool {
        self.mappings_per_page.is_some() || self.journal.is_some()
    }

    /// The layout by which die `number` is built.
    ///
    /// # Errors
    /// The error if the parameters do not fit together.
    pub(super) fn layout(&self, number: u32) -> Result<Layout, BuildError> {
        let geometry = self.below.geometry;
        geometry.check()?;
        let reserved = share(self.room.reserve_percent, geometry.blocks_per_plane);
        if reserved >= geometry.blocks_per_plane {
            return Err(BuildError::ReserveIsAll {
                percent: self.room.reserve_percent,
                blocks: geometry.blocks_per_plane,
            });
        }
        if reserved == 0 {
            return Err(BuildError::ReserveIsNone {
                percent: self.room.reserve_percent,
                blocks: geometry.blocks_per_plane,
            });
        }
        let reserved = match self.watermarks(reserved) {
            Ok(_) => reserved,
            Err(_) => reserved.max(self.least_reserved()),
        };
        let data_blocks = (geometry.blocks_per_plane - reserved) * geometry.planes;
        let by_reference = self.is_reference();
        let shared = self.dynamic.then_some((geometry.dies, number));
        let has_map = self.mappings_per_page.is_some();
        let watermarks = self.watermarks(reserved)?;
        let notes_moves = has_map || self.sorts_writes();
        Ok(Layout {
            shape: Shape {
                shared,
                ..Shape::new(
                    &geometry,
                    data_blocks,
                    self.map_pages(data_blocks * geometry.data_pages()),
                    self.below.filled,
                )
            },
            rules: DieRules {
                endurance: self.below.endurance,
                retire_at: match self.below.retire {
                    true => self.below.endurance,
                    false => u32::MAX,
                },
                separate_migrations: self.room.separate_migrations,
                // If several units of the mapping share a page of flash, copy-back cannot be used, because units
                // that move are packed into new pages.
                free_inside_planes: self.below.units_per_page == 1
                    && (by_reference || self.below.copy_back),
                units_per_page: self.below.units_per_page,
                units: self.below.units,
                counts_first_open: self.counts_first_open(),
                floor: match self.room.floor {
                    0 => FLOOR.min(watermarks.low - 1).max(self.least_floor()),
                    floor => floor,
                },
                most_valid: match self.limits_pools() {
                    true => self.most_valid(geometry.blocks_per_plane, watermarks),
                    false => u32::MAX,
                },
                ..DieRules::of(&geometry, watermarks, self.separation, notes_moves)
            },
            copy_back: self.below.copy_back,
            order: match self.gc.policy {
                Policy::Greedy if self.gc.reference_ties => Order::FewestNumbered,
                Policy::WearAware => Order::FewestNumbered,
                Policy::Greedy | Policy::GreedyWear => Order::FewestClosed,
                Policy::CostBenefit => Order::Aged,
                Policy::Fifo => Order::Closed,
                Policy::DChoices => Order::Drawn {
                    draws: self.gc.draws,
                    seed: self.below.seed.wrapping_add(u64::from(number)),
                },
            },
            seed: self.below.seed.wrapping_add(u64::from(number)),
            keeps_erase_times: self.gc.policy == Policy::WearAware || self.gc.migrates_worn(),
            levelling: self.levelling,
            logs_migrations: has_map,
            separation: self.separation,
            journal: self.journal,
        })
    }

    /// Whether a garbage collection runs without interruption until the high watermark is reached, and takes its
    /// victims in the order of valid pages at its start.
    pub(super) fn collects_by_snapshot(&self) -> bool {
        self.is_reference() && !self.below.copy_back
    }

    /// Maximum number of valid pages of a die with which garbage collection can always reach its high watermark.
    pub(super) fn most_pages(&self) -> Result<u32, BuildError> {
        let geometry = self.below.geometry;
        let layout = self.layout(0)?;
        let pools = if self.below.copy_back {
            geometry.planes
        } else {
            1
        };
        let blocks = geometry.blocks_per_die() / pools;
        let all = pools * self.most_valid(blocks, layout.rules.watermarks);
        Ok(all.saturating_sub(layout.shape.map_pages))
    }

    /// Maximum number of valid pages of a pool of `blocks` blocks with which garbage collection can always reach
    /// its high watermark.
    fn most_valid(&self, blocks: u32, watermarks: Watermarks) -> u32 {
        let aside = self.open_blocks() + self.filler_blocks(blocks) + watermarks.high;
        blocks.saturating_sub(aside) * self.below.geometry.data_pages()
    }

    /// Whether a write may choose among several pools, so that one pool could get more valid pages than garbage
    /// collection allows.
    fn limits_pools(&self) -> bool {
        !self.is_reference()
            && self.below.copy_back
            && self.below.geometry.planes > 1
            && (self.room.allocation_pool == AllocationPool::Die || self.dynamic)
    }

    /// Whether writes are divided into streams or noted in a journal.
    pub(super) fn sorts_writes(&self) -> bool {
        self.separation != Separation::NONE || self.journal.is_some()
    }

    /// Whether the reference simulator could run with these parameters. If it could not, its only rule that is
    /// used is how ties between victims are broken.
    fn is_reference(&self) -> bool {
        self.gc.reference_ties
            && matches!(self.gc.policy, Policy::Greedy | Policy::WearAware)
            && self.gc.step_pages == 0
            && !self.sorts_writes()
            && (self.below.copy_back || self.gc.policy == Policy::Greedy)
    }

    /// Whether the open block counts as free at the start.
    fn counts_first_open(&self) -> bool {
        self.is_reference() && !self.below.copy_back
    }

    /// Minimum number of free blocks with which garbage collection can continue.
    pub(super) fn least_free(&self) -> u32 {
        // A victim with only valid pages needs a whole block to move to. Moved pages also need a block if they
        // have blocks of their own.
        let may_be_full = !matches!(self.gc.policy, Policy::Greedy | Policy::WearAware);
        if self.has_map_pages() {
            // Garbage collection may write a page of the map for each page it moves.
            return LEAST_WITH_MAP;
        }
        let least = 1
            + u32::from(may_be_full || self.room.separate_migrations)
            + self.separation.further_migrations();
        if !self.below.power_may_fail {
            return least;
        }
        // New data must not open the last free block. If they did, and interrupted copies then filled that block,
        // there would be neither an erased page nor a block that can be erased. A block that holds only copies can
        // be erased as long as the sources of these copies still exist.
        least.max(2) + u32::from(self.counts_first_open())
    }

    /// Minimum number of free blocks of a pool with which garbage collection may yield between its steps.
    pub(super) fn least_floor(&self) -> u32 {
        self.least_free() + 1
    }

    /// Refuses a hard threshold with which garbage collection in steps has too few free blocks for the pages that
    /// it moves.
    pub(super) fn check_floor(&self) -> Result<(), BuildError> {
        let (floor, least) = (self.room.floor, self.least_floor());
        match self.gc.step_pages > 0 && (1..least).contains(&floor) {
            true => Err(BuildError::Floor { floor, least }),
            false => Ok(()),
        }
    }

    /// The lowest number of free blocks at which garbage collection may start, if none is set. Garbage collection
    /// in steps starts with more free blocks, so that it can still yield to other operations.
    fn least_low(&self) -> u32 {
        match self.gc.step_pages {
            0 => self.least_free(),
            _ => self.least_floor() + 1,
        }
    }

    /// See [`Ftl::derived`](crate::Ftl::derived). Before the first request, no write belongs to a stream or is noted in
    /// a journal, and the hard threshold matters only to garbage collection in steps.
    pub(super) fn derived(&self) -> String {
        let layout = self.layout(0).ok();
        let of_die = layout.map(|Layout { shape, rules, .. }| {
            let floor = (self.gc.step_pages > 0).then_some(rules.floor);
            let marks = (rules.watermarks, floor, rules.most_for_copies);
            let pages = (shape.data_blocks, shape.map_pages, rules.most_valid);
            (marks, pages, rules.separate_migrations, rules.units)
        });
        let most_pages = self.dynamic.then(|| self.most_pages().ok());
        let mappings = self.mappings_per_page;
        let is_reference = self.is_reference();
        format!("{of_die:?} {most_pages:?} {mappings:?} {is_reference}")
    }

    /// Number of blocks of a pool that are open for writing.
    fn open_blocks(&self) -> u32 {
        let own = u32::from(self.room.separate_migrations) + u32::from(self.has_map_pages());
        1 + own + self.separation.further_host() + self.separation.further_migrations()
    }

    /// Maximum number of blocks, in a pool of `blocks`, whose pages are lost to fillers. Fillers complete the
    /// units of pages that are copied out of a block, and those of the host's pages.
    pub(super) fn filler_blocks(&self, blocks: u32) -> u32 {
        let pages = self.below.geometry.data_pages();
        let of_block = self.below.units.map_or(0, |units| {
            let streams = 1 + u32::from(self.room.separate_migrations);
            streams * units.most_fillers()
        });
        let all = u64::from(blocks) * u64::from(of_block.min(pages - 1));
        all.div_ceil(u64::from(pages)) as u32
    }

    /// Minimum number of reserved blocks of each plane with which garbage collection works: a small device also
    /// reserves this many blocks, whatever percentage of its blocks they are. The reference simulator has no such
    /// rule.
    fn least_reserved(&self) -> u32 {
        if self.is_reference() {
            return 0;
        }
        let geometry = self.below.geometry;
        let (planes, more) = match self.below.copy_back {
            true => (1, 0),
            false => (geometry.planes, 1),
        };
        let data_pages = geometry.data_pages();
        let map_pages = self.map_pages(geometry.blocks_per_plane * planes * data_pages);
        let fillers = self.filler_blocks(planes * geometry.blocks_per_plane);
        let open = self.open_blocks() + fillers + self.room.aside;
        let needed = open + map_pages.div_ceil(data_pages) + self.least_low() + more;
        needed.div_ceil(planes).min(geometry.blocks_per_plane - 1)
    }

    /// The numbers of free blocks at which garbage collection of a pool starts and ends, if `reserved` blocks of
    /// each plane are not offered.
    fn watermarks(&self, reserved: u32) -> Result<Watermarks, BuildError> {
        let planes = match self.below.copy_back {
            true => 1,
            false => self.below.geometry.planes,
        };
        let blocks = planes * self.below.geometry.blocks_per_plane;
        let least = self.least_free();
        let low = match self.room.gc_low {
            0 => (share(self.room.min_free_percent, blocks) + 1).max(self.least_low()),
            low if low < least => return Err(BuildError::LowMark { low, least }),
            low => low,
        };
        let high = match self.room.gc_high {
            0 => low.saturating_add(u32::from(!self.below.copy_back)),
            high if high < low => return Err(BuildError::HighMark { high, low }),
            high => high,
        };
        let open = self.open_blocks() + self.filler_blocks(blocks) + self.room.aside;
        let data_blocks = (self.below.geometry.blocks_per_plane - reserved) * planes;
        let data_pages = self.below.geometry.data_pages();
        let map_blocks = self
            .map_pages(data_blocks * data_pages)
            .div_ceil(data_pages);
        // The reference simulator stops when nothing is left to collect, so its high watermark need not be
        // reachable.
        let goal = match self.collects_by_snapshot() {
            true => low - 1,
            false => high,
        };
        let spare = (reserved * planes).saturating_sub(open + map_blocks);
        if spare < goal || reserved * planes <= open {
            return Err(BuildError::Reserve(ReserveTooSmall {
                goal,
                min_free_percent: self.room.min_free_percent,
                low: self.room.gc_low,
                high: self.room.gc_high,
                open,
                separate: self.room.separate_migrations,
                map_blocks,
                reserve_percent: self.room.reserve_percent,
                reserved: reserved * planes,
                blocks,
            }));
        }
        Ok(Watermarks { low, high })
    }
}

/// Minimum number of free blocks for garbage collection if pages of the map or of its journal lie in flash.
const LEAST_WITH_MAP: u32 = 4;

/// `percent` percent of `of`, rounded down.
fn share(percent: f64, of: u32) -> u32 {
    (f64::from(of) * percent / 100.0) as u32
}
