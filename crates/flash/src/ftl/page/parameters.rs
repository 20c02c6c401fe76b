//! What shapes a page-mapped device: the registry row, and the numbers that follow from it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use destage_base::parameter::{Kind as ParameterKind, Parameter, Values};

use super::PageFtl;
use super::die::{Layout, Watermarks};
use super::gc::Policy;
use super::shape::Shape;
use super::victims::Order;
use crate::ftl::blocks::WearLevelling;
use crate::ftl::blocks::parameters as shared;
use crate::ftl::{FtlConfig, FtlRow};
use crate::geometry::Geometry;
use crate::timing::Timing;

const SOURCE: &str = "Agrawal et al., USENIX ATC 2008, as released for DiskSim 4.0.";

const OURS: &str = "ours";

pub(in crate::ftl) const RESERVE_PERCENT: Parameter = Parameter {
    name: "reserve_percent",
    kind: ParameterKind::Number {
        min: 0.0,
        max: 99.0,
    },
    default: "15",
    unit: "%",
    about: "Share of each plane's blocks that is not offered to the host.",
    source: SOURCE,
};
pub(in crate::ftl) const MIN_FREE_PERCENT: Parameter = Parameter {
    name: "min_free_percent",
    kind: ParameterKind::Number {
        min: 0.0,
        max: 99.0,
    },
    default: "5",
    unit: "%",
    about: "Share of free blocks at or under which garbage collection starts.",
    source: SOURCE,
};
pub(in crate::ftl) const ALLOCATION_POOL: Parameter = Parameter {
    name: "allocation_pool",
    kind: ParameterKind::Choice(&["die", "plane"]),
    default: "die",
    unit: "",
    about: "Planes a write may choose from: all of its die, or only that of the page's present copy.",
    source: SOURCE,
};
pub(in crate::ftl) const GC: Parameter = Parameter {
    name: "gc_policy",
    kind: ParameterKind::Choice(&[
        "greedy",
        "wear_aware",
        "cost_benefit",
        "fifo",
        "d_choices",
        "greedy_wear",
    ]),
    default: "greedy",
    unit: "",
    about: "Which block is cleaned: fewest valid pages; the same with worn blocks given cold data; best age, gain and cost; closed first; fewest valid pages of some drawn; fewest valid pages with worn blocks passed over.",
    source: "greedy, wear_aware, greedy_wear: Agrawal et al., USENIX ATC 2008; cost_benefit: Kawaguchi et al., USENIX 1995; d_choices: Van Houdt, SIGMETRICS 2013",
};
pub(in crate::ftl) const D: Parameter = Parameter {
    name: "d",
    kind: ParameterKind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "10",
    unit: "blocks",
    about: "How many blocks gc_policy=d_choices draws, each from all.",
    source: "Van Houdt, SIGMETRICS 2013",
};
pub(in crate::ftl) const VICTIM_TIES: Parameter = Parameter {
    name: "victim_ties",
    kind: ParameterKind::Choice(&["oldest", "reference"]),
    default: "oldest",
    unit: "",
    about: "Of blocks with equally few valid pages gc_policy=greedy takes the one closed first, or as the reference simulator does the one with the highest number (without copy-back the lowest, in the order of counts when garbage collection began).",
    source: "oldest: ours; reference: as released for DiskSim 4.0",
};
pub(in crate::ftl) const STRIDE: Parameter = Parameter {
    name: "stride",
    kind: ParameterKind::Integer {
        min: 1,
        max: u32::MAX as u64,
    },
    default: "1",
    unit: "pages",
    about: "Consecutive pages that live on one die before the next has its turn.",
    source: "Agrawal et al., USENIX ATC 2008",
};
const PLACEMENT: Parameter = Parameter {
    name: "placement",
    kind: ParameterKind::Choice(&["stripe", "dynamic"]),
    default: "stripe",
    unit: "",
    about: "A page's die follows from its number, or each write goes to the die with the fewest operations waiting.",
    source: "stripe: Agrawal et al., USENIX ATC 2008; dynamic: ours",
};
pub(in crate::ftl) const SEPARATE_GC_BLOCK: Parameter = Parameter {
    name: "separate_gc_block",
    kind: ParameterKind::Choice(&["auto", "true", "false"]),
    default: "auto",
    unit: "",
    about: "Pages that garbage collection moves fill blocks of their own, not those of new data; auto: if the reserve has room for that.",
    source: "ours; false: as released for DiskSim 4.0",
};
pub(in crate::ftl) const GC_LOW: Parameter = Parameter {
    name: "gc_low",
    kind: ParameterKind::Integer {
        min: 0,
        max: u32::MAX as u64,
    },
    default: "0",
    unit: "blocks",
    about: "Garbage collection starts when fewer blocks of a pool are free; 0: one more than min_free_percent of the pool, rounded down.",
    source: OURS,
};
pub(in crate::ftl) const GC_HIGH: Parameter = Parameter {
    name: "gc_high",
    kind: ParameterKind::Integer {
        min: 0,
        max: u32::MAX as u64,
    },
    default: "0",
    unit: "blocks",
    about: "Garbage collection ends when so many blocks of a pool are free; 0: gc_low with copy-back, one more without.",
    source: OURS,
};
pub(in crate::ftl) const WL_MIGRATE: Parameter = Parameter {
    name: "wl_migrate",
    kind: ParameterKind::Flag,
    default: "false",
    unit: "",
    about: "With gc_policy=greedy_wear: a worn block that is cleaned receives the coldest block's contents.",
    source: SOURCE,
};
pub(in crate::ftl) const BACKGROUND_GC: Parameter = Parameter {
    name: "background_gc",
    kind: ParameterKind::Flag,
    default: "false",
    unit: "",
    about: "Collect garbage also when no request waits at the die.",
    source: SOURCE,
};

/// The registry row.
pub(in crate::ftl) const ROW: FtlRow = FtlRow {
    name: "page",
    about: "Page mapping: pages striped over dies, writes to the plane with most room, garbage collection.",
    source: SOURCE,
    has_flash: true,
    parameters: &[
        RESERVE_PERCENT,
        MIN_FREE_PERCENT,
        ALLOCATION_POOL,
        PLACEMENT,
        STRIDE,
        GC,
        D,
        VICTIM_TIES,
        SEPARATE_GC_BLOCK,
        GC_LOW,
        GC_HIGH,
        WL_MIGRATE,
        shared::WEAR_LEVELLING,
        shared::LEVELLING_PERIOD,
        shared::LEVELLING_GAP,
        BACKGROUND_GC,
    ],
    build: |config| {
        let values = config.values;
        let policy = match config.values.text("gc_policy") {
            "wear_aware" => Policy::WearAware,
            "cost_benefit" => Policy::CostBenefit,
            "fifo" => Policy::Fifo,
            "d_choices" => Policy::DChoices,
            "greedy_wear" => Policy::GreedyWear,
            _ => Policy::Greedy,
        };
        let settings = PageConfig {
            parallel_units: config.parallel_units,
            dynamic: values.text("placement") == "dynamic",
            gc: policy,
            draws: values.integer("d") as u32,
            reference_ties: values.text("victim_ties") == "reference",
            migrates: values.flag("wl_migrate"),
            ..PageConfig::greedy(config)
        };
        let ftl = PageFtl::new(&settings.with_migrations(values))?;
        Ok(Box::new(ftl))
    },
};

/// Among which planes a write may choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AllocationPool {
    /// All planes of the die.
    Die,
    /// The plane of the page's present copy.
    Plane,
}

/// Everything that shapes a page-mapped device.
#[derive(Clone, Copy, Debug)]
pub struct PageConfig {
    /// Counts.
    pub geometry: Geometry,
    /// Times, to date erases for wear-aware garbage collection.
    pub erase_dates: Timing,
    /// Share of each plane's blocks not offered to the host, in percent.
    pub reserve_percent: f64,
    /// Share of free blocks at or under which garbage collection starts, in percent.
    pub min_free_percent: f64,
    /// Pages move inside their plane, without crossing the bus.
    pub copy_back: bool,
    /// Groups of planes of a die that work side by side.
    pub parallel_units: u32,
    /// Consecutive pages on one die.
    pub stride: u32,
    /// Each write goes to the die with least to do.
    pub dynamic: bool,
    /// Among which planes a write may choose.
    pub allocation_pool: AllocationPool,
    /// Victim choice.
    pub gc: Policy,
    /// Blocks that [`Policy::DChoices`] draws.
    pub draws: u32,
    /// Equally good victims are told apart as the reference simulator does, not by age.
    pub reference_ties: bool,
    /// What garbage collection moves has blocks of its own.
    pub separate_migrations: bool,
    /// Free blocks of a pool below which garbage collection starts; 0: derived from `min_free_percent`.
    pub gc_low: u32,
    /// Free blocks of a pool at which it ends; 0: derived from `gc_low`.
    pub gc_high: u32,
    /// Under [`Policy::GreedyWear`] worn blocks receive cold data.
    pub migrates: bool,
    /// Who levels wear besides.
    pub levelling: WearLevelling,
    /// The map lies in flash, so many mappings in each page; otherwise in RAM.
    pub mappings_per_page: Option<u32>,
    /// Clean also when nothing waits.
    pub background_gc: bool,
    /// Erases a block survives.
    pub endurance: u32,
    /// A block erased that often is not used any more.
    pub retire: bool,
    /// All logical pages have contents before the first request.
    pub filled: bool,
    /// Fixes the random choices of policies that make any.
    pub seed: u64,
}

impl PageConfig {
    /// What the parameters that all page-mapped layers share say; greedy garbage collection.
    pub(in crate::ftl) fn greedy(config: &FtlConfig<'_>) -> Self {
        let values = config.values;
        Self {
            geometry: config.geometry,
            erase_dates: config.erase_dates,
            reserve_percent: values.number("reserve_percent"),
            min_free_percent: values.number("min_free_percent"),
            copy_back: config.copy_back,
            parallel_units: 1,
            stride: values.integer("stride") as u32,
            dynamic: false,
            allocation_pool: match values.text("allocation_pool") {
                "plane" => AllocationPool::Plane,
                _ => AllocationPool::Die,
            },
            gc: Policy::Greedy,
            draws: 1,
            reference_ties: false,
            separate_migrations: values.text("separate_gc_block") == "true",
            gc_low: values.integer("gc_low") as u32,
            gc_high: values.integer("gc_high") as u32,
            migrates: false,
            levelling: shared::levelling(values),
            mappings_per_page: None,
            background_gc: values.flag("background_gc"),
            endurance: config.endurance,
            retire: config.retire,
            filled: config.filled,
            seed: config.seed,
        }
    }

    /// The same, with blocks of their own for what garbage collection moves where that is left open and there is room.
    pub(in crate::ftl) fn with_migrations(self, values: &Values) -> Self {
        let separate = Self {
            separate_migrations: true,
            ..self
        };
        let has_room = || {
            let reserved = share(self.reserve_percent, self.geometry.blocks_per_plane);
            reserved < self.geometry.blocks_per_plane && separate.watermarks(reserved).is_ok()
        };
        if values.text("separate_gc_block") == "auto" && has_room() {
            separate
        } else {
            self
        }
    }

    /// Pages of a die that hold its map, if the map lies in flash.
    fn map_pages(&self, logical_pages: u32) -> u32 {
        self.mappings_per_page
            .map_or(0, |mappings| logical_pages.div_ceil(mappings))
    }

    /// How the dies are to be made.
    ///
    /// # Errors
    /// A sentence naming the keys that contradict each other.
    pub(super) fn layout(&self, number: u32) -> Result<Layout, String> {
        let geometry = self.geometry;
        geometry.check()?;
        let reserved = share(self.reserve_percent, geometry.blocks_per_plane);
        if reserved >= geometry.blocks_per_plane {
            return Err(format!(
                "ftl.reserve_percent = {} leaves none of {} blocks per plane for data",
                self.reserve_percent, geometry.blocks_per_plane
            ));
        }
        if reserved == 0 {
            return Err(format!(
                "ftl.reserve_percent = {} of {} blocks per plane is less than one block; a page-mapped device needs one to write to",
                self.reserve_percent, geometry.blocks_per_plane
            ));
        }
        let reserved = match self.watermarks(reserved) {
            Ok(_) => reserved,
            Err(_) => reserved.max(self.least_reserved()),
        };
        if self.gc == Policy::WearAware && !self.copy_back {
            return Err("ftl.gc_policy = wear_aware needs flash.copy_back = true".into());
        }
        let data_blocks = (geometry.blocks_per_plane - reserved) * geometry.planes;
        let by_reference = self.is_reference();
        let shared = self.dynamic.then_some((geometry.dies, number));
        let has_map = self.mappings_per_page.is_some();
        Ok(Layout {
            shape: Shape {
                shared,
                ..Shape::new(
                    &geometry,
                    data_blocks,
                    self.map_pages(data_blocks * geometry.data_pages()),
                    self.filled,
                )
            },
            copy_back: self.copy_back,
            watermarks: self.watermarks(reserved)?,
            order: match self.gc {
                Policy::Greedy if self.reference_ties => Order::FewestNumbered,
                Policy::WearAware => Order::FewestNumbered,
                Policy::Greedy | Policy::GreedyWear => Order::FewestClosed,
                Policy::CostBenefit => Order::Aged,
                Policy::Fifo => Order::Closed,
                Policy::DChoices => Order::Drawn {
                    draws: self.draws,
                    seed: self.seed.wrapping_add(u64::from(number)),
                },
            },
            separate_migrations: self.separate_migrations,
            counts_first_open: by_reference && !self.copy_back,
            free_inside_planes: by_reference || self.copy_back,
            limits_pools: !by_reference
                && self.copy_back
                && self.geometry.planes > 1
                && self.allocation_pool == AllocationPool::Die,
            endurance: self.endurance,
            retire: self.retire,
            seed: self.seed.wrapping_add(u64::from(number)),
            logs_migrations: has_map,
            keeps_erase_times: self.gc == Policy::WearAware || self.migrates,
            levelling: self.levelling,
        })
    }

    /// Whether a garbage collection goes on, as one busy time, until the high mark is reached, in the order of the
    /// counts at its start.
    pub(super) fn collects_by_snapshot(&self) -> bool {
        self.reference_ties && self.gc == Policy::Greedy && !self.copy_back
    }

    /// Pages a die may hold so that garbage collection can always reach its high mark.
    pub(super) fn most_pages(&self) -> Result<u32, String> {
        let geometry = self.geometry;
        let layout = self.layout(0)?;
        let pools = if self.copy_back { geometry.planes } else { 1 };
        let blocks = geometry.blocks_per_die() / pools;
        let aside = self.open_blocks() + layout.watermarks.high;
        Ok(pools * blocks.saturating_sub(aside) * geometry.data_pages())
    }

    /// Refuses what page by page placement cannot be joined with.
    ///
    /// # Errors
    /// A sentence naming the keys that contradict each other.
    pub(super) fn check_placement(&self) -> Result<(), String> {
        if !self.dynamic {
            return Ok(());
        }
        let contradiction = if self.stride > 1 {
            format!("ftl.stride = {}", self.stride)
        } else if self.copy_back && self.parallel_units > 1 {
            format!("flash.parallel_units = {}", self.parallel_units)
        } else if self.allocation_pool == AllocationPool::Plane {
            String::from("ftl.allocation_pool = plane")
        } else {
            return Ok(());
        };
        Err(format!(
            "ftl.placement = dynamic chooses a die for each write and cannot be joined with {contradiction}"
        ))
    }

    /// Whether everything is as in the reference simulator, as far as that knows the policy.
    fn is_reference(&self) -> bool {
        self.reference_ties && matches!(self.gc, Policy::Greedy | Policy::WearAware)
    }

    /// Free blocks without which garbage collection cannot go on.
    fn least_free(&self) -> u32 {
        // A victim all of whose pages are valid needs a whole block to go to; so does what garbage collection moves,
        // if it has blocks of its own.
        let may_be_full = !matches!(self.gc, Policy::Greedy | Policy::WearAware);
        if self.mappings_per_page.is_some() {
            // Garbage collection may write a page of the map for each page it moves.
            return LEAST_WITH_MAP;
        }
        1 + u32::from(may_be_full || self.separate_migrations)
    }

    /// Blocks of a pool that are open for writing.
    fn open_blocks(&self) -> u32 {
        1 + u32::from(self.separate_migrations) + u32::from(self.mappings_per_page.is_some())
    }

    /// Blocks of each plane without which nothing can be cleaned: a small device sets aside so many, whatever
    /// share of it they are. The reference simulator knows no such rule.
    fn least_reserved(&self) -> u32 {
        if self.is_reference() {
            return 0;
        }
        let geometry = self.geometry;
        let (planes, more) = match self.copy_back {
            true => (1, 0),
            false => (geometry.planes, 1),
        };
        let data_pages = geometry.data_pages();
        let map_pages = self.map_pages(geometry.blocks_per_plane * planes * data_pages);
        let needed = self.open_blocks() + map_pages.div_ceil(data_pages) + self.least_free() + more;
        needed.div_ceil(planes).min(geometry.blocks_per_plane - 1)
    }

    /// When a pool of which `reserved` blocks in each plane are not offered is cleaned, and how far.
    fn watermarks(&self, reserved: u32) -> Result<Watermarks, String> {
        let planes = match self.copy_back {
            true => 1,
            false => self.geometry.planes,
        };
        let blocks = planes * self.geometry.blocks_per_plane;
        let least = self.least_free();
        let low = match self.gc_low {
            0 => (share(self.min_free_percent, blocks) + 1).max(least),
            low if low < least => {
                return Err(format!(
                    "ftl.gc_low = {low} leaves no free block for what garbage collection moves; with ftl.separate_gc_block, ftl.gc_policy other than greedy and wear_aware, or a map in flash, it is at least {least}"
                ));
            }
            low => low,
        };
        let high = match self.gc_high {
            0 => low + u32::from(!self.copy_back),
            high if high < low => {
                return Err(format!(
                    "ftl.gc_high = {high} is less than ftl.gc_low = {low}: garbage collection would end before it starts"
                ));
            }
            high => high,
        };
        let open = self.open_blocks();
        let data_blocks = (self.geometry.blocks_per_plane - reserved) * planes;
        let data_pages = self.geometry.data_pages();
        let map_blocks = self
            .map_pages(data_blocks * data_pages)
            .div_ceil(data_pages);
        // The reference ends when nothing is left to clean, so its high mark need not be reached.
        let goal = match self.collects_by_snapshot() {
            true => low - 1,
            false => high,
        };
        let spare = (reserved * planes).saturating_sub(open + map_blocks);
        if spare < goal || reserved * planes <= open {
            return Err(format!(
                "garbage collection keeps {goal} blocks free (ftl.min_free_percent = {}, ftl.gc_low = {}, ftl.gc_high = {}), {open} open (ftl.separate_gc_block = {}) and {map_blocks} for its map, but ftl.reserve_percent = {} sets aside only {} of {blocks}: garbage collection would never end",
                self.min_free_percent,
                self.gc_low,
                self.gc_high,
                self.separate_migrations,
                self.reserve_percent,
                reserved * planes,
            ));
        }
        Ok(Watermarks { low, high })
    }
}

/// Free blocks at which garbage collection starts at the latest where the map lies in flash.
const LEAST_WITH_MAP: u32 = 4;

/// So many percent of `of`, rounded down.
fn share(percent: f64, of: u32) -> u32 {
    (f64::from(of) * percent / 100.0) as u32
}
