//! A drive made small enough to be simulated in seconds, with the same steady state.
//!
//! Dies, planes, channels, program units and times stay. Blocks have fewer pages, and a plane has fewer blocks: at least
//! [`Scale::superblocks`] rows of blocks over all planes, of [`Scale::units`] program units each. The ratio of flash to used capacity, without the
//! blocks that garbage collection keeps free and those that are open, stays the same, and so does the share of time that erases take: a block with
//! fewer pages is erased more often and for a shorter time. The write buffer is at most 0.5 % of the capacity that the host uses.

use destage_base::parameter::Value;
use destage_nand::Geometry;
use destage_sim::settings::{Config, Origin, Settings};

use crate::error::Error;
use crate::progress::Silent;
use crate::state::Prepared;

/// The largest size of the write buffer, as a share of the capacity that the host uses.
const BUFFER_SHARE: f64 = 0.005;

/// How small a drive is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// Blocks of a plane, at least; each is one of a superblock over all planes. A drive with fewer blocks keeps them.
    pub superblocks: u32,
    /// Program units of a block. A drive whose blocks have fewer pages keeps them.
    pub units: u32,
}

impl Default for Scale {
    fn default() -> Self {
        Self {
            superblocks: 256,
            units: 8,
        }
    }
}

/// A drive made small.
pub struct Scaled {
    /// All parameters that are set.
    pub settings: Settings,
    /// Pages that the host uses, from the first on; a page is a unit of the mapping.
    pub used_pages: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
}

/// A device of some size: its blocks, those kept free, those in use.
struct Shape {
    dies: u64,
    planes: u64,
    blocks: u64,
    data_pages: u64,
}

impl Shape {
    fn of(geometry: &Geometry) -> Self {
        Self {
            dies: geometry.dies.into(),
            planes: geometry.planes.into(),
            blocks: geometry.blocks_per_plane.into(),
            data_pages: geometry.data_pages().into(),
        }
    }

    /// Pages of a row of blocks over all planes.
    fn row(&self) -> f64 {
        (self.dies * self.planes * self.data_pages) as f64
    }

    /// Pages that hold data when nothing is being written: all pages except those of blocks that are kept free or are open.
    fn filled(&self, kept: &Kept) -> f64 {
        self.row() * (self.blocks as f64 - kept.blocks(self))
    }
}

/// Blocks that garbage collection keeps free, and open blocks.
struct Kept {
    low: u64,
    min_free_percent: f64,
    pools: u64,
    separate: bool,
    /// For a layer that collects superblocks over all dies: the number of superblocks, open ones included.
    superblocks: Option<u64>,
    /// Share of the flash that the layer keeps for itself.
    own: f64,
}

impl Kept {
    /// By the parameters of the layer that `config` has; a layer without them keeps a block of each die.
    fn of(config: &Config) -> Self {
        let parameters = config.parameters();
        let whole = |name: &str| match parameters.get(name) {
            Some(Value::Integer(number)) => *number,
            _ => 0,
        };
        let number = |name: &str| match parameters.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0.0,
        };
        let copy_back = matches!(parameters.get("flash.copy_back"), Some(Value::Flag(true)));
        let separate = parameters.get("ftl.separate_gc_block");
        Self {
            low: whole("ftl.gc_low"),
            min_free_percent: number("ftl.min_free_percent"),
            pools: if copy_back {
                config.geometry().planes.into()
            } else {
                1
            },
            separate: !matches!(separate, Some(Value::Text(text)) if text == "false"),
            superblocks: parameters.contains_key("ftl.stripe_units").then(|| {
                match whole("ftl.gc_low") {
                    0 => 3 + whole("ftl.handles"),
                    low => low,
                }
            }),
            own: number("ftl.own_percent") / 100.0,
        }
    }

    /// Blocks of a plane, on average over planes.
    fn blocks(&self, shape: &Shape) -> f64 {
        if let Some(superblocks) = self.superblocks {
            return superblocks as f64;
        }
        let of_pool = (shape.planes * shape.blocks / self.pools) as f64;
        let low = match self.low {
            0 => (self.min_free_percent / 100.0 * of_pool).floor() + 1.0,
            low => low as f64,
        };
        let open = if self.separate { 2.0 } else { 1.0 };
        // An open block is half written on average.
        (low * self.pools as f64 + open / 2.0) / shape.planes as f64
    }
}

impl Scaled {
    /// The drive of `settings` with `scale`, of which the host uses `used_bytes`; all that the host sees if that is not given.
    ///
    /// # Errors
    /// If the settings contradict each other or name no size, or the host sees fewer bytes than are to be used.
    pub fn new(settings: &Settings, scale: Scale, used_bytes: Option<f64>) -> Result<Self, Error> {
        let (config, offered) = Self::own(settings)?;
        let page_bytes = config.geometry().page_bytes;
        let capacity_bytes = offered * page_bytes;
        let used = match used_bytes {
            None => offered as f64,
            Some(bytes) if bytes <= capacity_bytes as f64 * 1.000_001 => bytes / page_bytes as f64,
            Some(bytes) => {
                return Err(Error::Input(format!(
                    "the measurement used {:.1} GiB, but the profile offers {:.1} GiB; expected a profile of a drive of that size",
                    bytes / GIB,
                    capacity_bytes as f64 / GIB
                )));
            }
        };
        made_small(settings, &config, scale, used)
    }

    /// The drive of `settings` in its own size, and the pages that it offers.
    fn own(settings: &Settings) -> Result<(Config, u64), Error> {
        let config = settings.resolve()?;
        let config = match config.capacity_bytes {
            Some(bytes) => config.with_blocks(config.blocks_for_capacity(bytes)?),
            None if config.is_open() => {
                return Err(Error::Input(
                    "flash.blocks_per_plane: auto: a drive that is compared with measurements has a size; expected a number, or device.capacity_bytes".to_owned(),
                ));
            }
            None => config,
        };
        let offered = Prepared::new(&without_fill(&config), &Silent)?.pages();
        Ok((config, offered))
    }

    /// Bytes that the drive of `settings` offers in its own size.
    ///
    /// # Errors
    /// If the settings contradict each other or name no size.
    pub fn offered_bytes(settings: &Settings) -> Result<u64, Error> {
        let (config, pages) = Self::own(settings)?;
        Ok(pages * config.geometry().page_bytes)
    }

    /// The used capacity, in units of `bytes`.
    #[must_use]
    pub fn used(&self, bytes: u64) -> u64 {
        self.used_pages * self.page_bytes / bytes
    }
}

/// Bytes of a GiB.
pub(super) const GIB: f64 = (1_u64 << 30) as f64;

/// This drive before its first write.
fn without_fill(config: &Config) -> Config {
    let mut config = config.clone();
    config.set("sim.precondition", Value::Text("none".to_owned()));
    config
}

/// The settings of the small device, and the pages of it that the host uses.
fn made_small(
    settings: &Settings,
    config: &Config,
    scale: Scale,
    used: f64,
) -> Result<Scaled, Error> {
    let geometry = config.geometry();
    let own = Shape::of(&geometry);
    let kept = Kept::of(config);
    // Flash that may hold data, over the capacity that the host uses.
    let over = own.filled(&kept) * (1.0 - kept.own) / used;
    let flash = &config.typed.flash;
    let per_page = match config.parameters().get("flash.page_bytes") {
        Some(Value::Integer(bytes)) => (bytes / geometry.page_bytes).max(1),
        _ => 1,
    };
    let unit = u64::from(flash.program_unit).max(1);
    let summary = u64::from(geometry.summary_page);
    let data_pages = (u64::from(scale.units) * unit.max(MIN_UNIT))
        .next_multiple_of(unit)
        .min(own.data_pages);
    let least = u64::from(scale.superblocks).min(own.blocks);
    let most = (least + least / 2).min(own.blocks);
    let small = |blocks| Shape {
        blocks,
        data_pages,
        ..Shape::of(&geometry)
    };
    // Whole blocks are reserved: among the possible sizes, the one whose ratio of flash to used capacity comes nearest.
    let fitting = (least..=most).map(|blocks| {
        let shape = small(blocks);
        let rows = shape.filled(&kept) / over / shape.row();
        let reserved = (blocks as f64 - rows).round().max(1.0);
        let off = ((blocks as f64 - reserved) / rows - 1.0).abs();
        (blocks, reserved, off)
    });
    let nearest = fitting.min_by(|one, other| one.2.total_cmp(&other.2));
    let (blocks, reserved, _) = nearest.unwrap_or((least, 1.0, 0.0));
    let shape = small(blocks);
    let mut made = settings.clone();
    let mut set = |key: &str, value: String| {
        let origin = Origin::Given("a drive made small".to_owned());
        made.set(key, &value, origin);
    };
    set("flash.blocks_per_plane", blocks.to_string());
    let pages_per_block = (data_pages + summary).div_ceil(per_page);
    set("flash.pages_per_block", pages_per_block.to_string());
    let erases = data_pages as f64 / own.data_pages as f64;
    set("flash.erase_us", (flash.erase_us * erases).to_string());
    if config.parameters().contains_key("ftl.reserve_percent") {
        let percent = 100.0 * (reserved + 0.5) / blocks as f64;
        set("ftl.reserve_percent", percent.to_string());
    }
    let used_pages = ((blocks as f64 - reserved) * shape.row()) as u64;
    let bytes = used_pages * geometry.page_bytes;
    let open = 2 * shape.dies * unit * geometry.page_bytes;
    let largest = ((bytes as f64 * BUFFER_SHARE) as u64).max(open);
    if let Some(Value::Integer(own)) = config.parameters().get("buffer.capacity_bytes") {
        let size = (*own).min(largest) / geometry.page_bytes * geometry.page_bytes;
        set("buffer.capacity_bytes", size.to_string());
    }
    made.remove("device.capacity_bytes");
    made.remove("device.op_percent");
    let offered = Prepared::new(&without_fill(&made.resolve()?), &Silent)?.pages();
    Ok(Scaled {
        settings: made,
        used_pages: used_pages.min(offered),
        page_bytes: geometry.page_bytes,
    })
}

/// Pages that are programmed one by one count as units of this many.
const MIN_UNIT: u64 = 8;
