//! A scaled-down drive. It can be simulated in seconds, and its steady state is that of the full drive.
//!
//! Dies, planes, channels, program units and times, except that of an erase, are those of the full drive. Each block
//! has only [`Scale::units`] program units. Each plane has fewer blocks than in the full drive, but at least
//! [`Scale::superblocks`]. The ratio of the flash to the used capacity equals that of the full drive; blocks that are
//! open or kept free by garbage collection do not count as flash here. Blocks with fewer pages are erased more often,
//! so an erase is shortened by the same factor. The write buffer is that of the full drive, but not larger than 0.5 % of
//! the superblocks that the host uses, or than two program units of each die if these are more. For fills the buffer is
//! reduced as the capacity is; see [`Buffer`].

use destage_base::parameter::Value;
use destage_nand::Geometry;
use destage_sim::error::SimError;
use destage_sim::settings::{Config, Origin, Settings};

use crate::error::Error;
use crate::progress::Silent;
use crate::state::Prepared;

/// The largest size of the write buffer, as a fraction of the superblocks that hold the used capacity.
const BUFFER_SHARE: f64 = 0.005;

/// The size of a scaled-down drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scale {
    /// The smallest number of blocks in a plane. If the full drive has fewer blocks in a plane, their number is not
    /// changed.
    pub superblocks: u32,
    /// The number of program units in a block. If the blocks of the full drive are smaller, their size is not
    /// changed.
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

/// How the write buffer of a scaled-down drive follows from that of the full drive. In both cases the buffer has at
/// most [`BUFFER_SHARE`] of the used superblocks, and at least two program units of each die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// The buffer has as many bytes as that of the full drive, so that it absorbs bursts of the same length.
    SameBytes,
    /// The buffer has the same share of the used capacity, so that as many writes find their page in it as in the full
    /// drive. A larger share would absorb rewrites of popular pages that the flash of the full drive has to program.
    SameShare,
}

/// A scaled-down drive.
pub struct Scaled {
    /// The settings of the scaled-down drive.
    pub settings: Settings,
    /// The number of pages that the host uses, from the first page on. A page is a unit of the mapping here.
    pub used_pages: u64,
    /// Bytes of a page of the mapping.
    pub page_bytes: u64,
    /// The size of a superblock, as a fraction of that of the full drive.
    pub superblock_share: f64,
}

/// The geometry of a device.
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

    /// Pages in one block of each plane of each die.
    fn row(&self) -> f64 {
        (self.dies * self.planes * self.data_pages) as f64
    }

    /// The number of pages in all blocks that are neither free nor open.
    fn filled(&self, kept: &Kept) -> f64 {
        self.row() * (self.blocks as f64 - kept.blocks(self))
    }
}

/// The flash that holds no data of the host: blocks that garbage collection keeps free, open blocks, and flash of the
/// layer.
struct Kept {
    low: u64,
    min_free_percent: f64,
    pools: u64,
    separate: bool,
    /// For a layer that collects superblocks over all dies: the number of superblocks that are free or open.
    superblocks: Option<u64>,
    /// The fraction of the flash that the layer uses for its own data.
    own: f64,
}

impl Kept {
    /// Computed from the parameters of the layer of `config`. A layer without parameters of garbage collection is
    /// assumed to keep one block of each die free.
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

    /// The average number of blocks of a plane that are free or open.
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
        // On average, half of an open block is written.
        (low * self.pools as f64 + open / 2.0) / shape.planes as f64
    }
}

/// A drive of full size.
pub struct FullSize<'s> {
    settings: &'s Settings,
    config: Config,
    /// The number of pages that the drive offers.
    offered: u64,
}

impl<'s> FullSize<'s> {
    /// The drive of `settings`.
    ///
    /// # Errors
    /// If the settings contradict each other, or give no size or no clock.
    pub fn new(settings: &'s Settings) -> Result<Self, Error> {
        let config = settings.resolve()?;
        if !config.is_timed() {
            return Err(Error::Input(
                "sim.costing, ftl.kind: runs of the profile only count operations, or have no flash, so they give neither throughput nor response times; expected sim.costing = event, and a layer with flash".to_owned(),
            ));
        }
        let config = match config.capacity_bytes {
            Some(bytes) => config.with_blocks(config.blocks_for_capacity(bytes)?),
            None if config.is_open() => {
                return Err(Error::Input(
                    "flash.blocks_per_plane: auto would choose the size by the input, but a comparison with measurements needs a fixed size; expected a number, or device.capacity_bytes".to_owned(),
                ));
            }
            None => config,
        };
        let offered = Prepared::new(&without_fill(&config), &Silent)?.pages();
        Ok(Self {
            settings,
            config,
            offered,
        })
    }

    /// Bytes that the drive offers.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.offered * self.config.geometry().page_bytes
    }

    /// The drive scaled down by `scale`, with a buffer by the rule `buffer`. The host uses `used_bytes` of the full
    /// drive; `None` means all bytes that the drive offers.
    ///
    /// # Errors
    /// If the drive offers fewer than `used_bytes`, or if these are so few that nothing is left of them.
    pub fn made_small(
        &self,
        scale: Scale,
        used_bytes: Option<f64>,
        buffer: Buffer,
    ) -> Result<Scaled, Error> {
        let used_bytes = used_bytes.unwrap_or(self.bytes() as f64);
        if used_bytes > self.bytes() as f64 * 1.000_001 {
            return Err(impossible(format!(
                "the measurement used {:.1} GiB, but the profile offers {:.1} GiB; expected a profile of a drive of that size",
                used_bytes / GIB,
                self.bytes() as f64 / GIB
            )));
        }
        let used = used_bytes / self.config.geometry().page_bytes as f64;
        made_small(self.settings, &self.config, scale, used, buffer)
    }
}

impl Scaled {
    /// The used capacity, in units of `bytes` bytes.
    #[must_use]
    pub fn used(&self, bytes: u64) -> u64 {
        self.used_pages * self.page_bytes / bytes
    }
}

/// Bytes in a GiB.
pub(super) const GIB: f64 = (1_u64 << 30) as f64;

/// The configuration of this drive without a fill before the first request.
fn without_fill(config: &Config) -> Config {
    let mut config = config.clone();
    config.set("sim.precondition", Value::Text("none".to_owned()));
    config
}

/// The error that a drive with these settings cannot be made. A fit tries other settings after this error.
fn impossible(text: String) -> Error {
    Error::Config(SimError::Config(text))
}

/// The scaled-down drive for `settings`. `used` is the number of pages of the full drive that the host uses.
fn made_small(
    settings: &Settings,
    config: &Config,
    scale: Scale,
    used: f64,
    buffer: Buffer,
) -> Result<Scaled, Error> {
    let geometry = config.geometry();
    let own = Shape::of(&geometry);
    let kept = Kept::of(config);
    // The number of pages that may hold data, divided by the number of pages that the host uses.
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
    // Only whole blocks can be reserved, so the ratio of flash to used capacity is not always exactly that of the
    // full drive. Of the allowed numbers of blocks, the one with the nearest ratio is chosen.
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
    if reserved >= blocks as f64 {
        return Err(impossible(format!(
            "the measurement used {:.6} GiB, which is less than a superblock of the scaled-down drive; expected more",
            used * geometry.page_bytes as f64 / GIB
        )));
    }
    let mut made = settings.clone();
    let mut set = |key: &str, value: String| {
        let origin = Origin::Given("a drive made small".to_owned());
        made.set(key, &value, origin);
    };
    set("flash.blocks_per_plane", blocks.to_string());
    let pages_per_block = (data_pages + summary).div_ceil(per_page);
    set("flash.pages_per_block", pages_per_block.to_string());
    let superblock_share = data_pages as f64 / own.data_pages as f64;
    let erase_us = flash.erase_us * superblock_share;
    set("flash.erase_us", erase_us.to_string());
    if config.parameters().contains_key("ftl.reserve_percent") {
        let percent = 100.0 * (reserved + 0.5) / blocks as f64;
        set("ftl.reserve_percent", percent.to_string());
    }
    let used_pages = ((blocks as f64 - reserved) * shape.row()) as u64;
    let bytes = used_pages * geometry.page_bytes;
    let open = 2 * shape.dies * unit * geometry.page_bytes;
    let largest = ((bytes as f64 * BUFFER_SHARE) as u64).max(open);
    if let Some(Value::Integer(own)) = config.parameters().get("buffer.capacity_bytes") {
        let reduced = match buffer {
            Buffer::SameBytes => *own,
            Buffer::SameShare => {
                let share = used_pages as f64 * (1.0 - kept.own) / used;
                ((*own as f64 * share) as u64).max(open)
            }
        };
        let size = reduced.min(*own).min(largest) / geometry.page_bytes * geometry.page_bytes;
        set("buffer.capacity_bytes", size.to_string());
    }
    made.remove("device.capacity_bytes");
    made.remove("device.op_percent");
    let offered = Prepared::new(&without_fill(&made.resolve()?), &Silent)?.pages();
    Ok(Scaled {
        settings: made,
        used_pages: used_pages.min(offered),
        page_bytes: geometry.page_bytes,
        superblock_share,
    })
}

/// A program unit with fewer pages counts as this many pages when the pages of a block are scaled down.
const MIN_UNIT: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of 4 GiB is less than 0.5 % of the drive. For a fill it keeps its share of the used capacity; one that
    /// would become smaller than two program units of each die has their size.
    #[test]
    fn the_buffer_of_a_fill_keeps_its_share() {
        let made = |bytes: u64, rule: Buffer| {
            let mut settings = Settings::new();
            settings.load_profile("datacenter-tlc").unwrap();
            let pair = format!("buffer.capacity_bytes={bytes}");
            settings.set_pair(&pair).unwrap();
            let full = FullSize::new(&settings).unwrap();
            let small = full.made_small(Scale::default(), None, rule).unwrap();
            let buffer = small.settings.text("buffer.capacity_bytes").unwrap();
            let used = small.used(1) as f64;
            (buffer.parse::<f64>().unwrap(), used, full.bytes() as f64)
        };
        let units = f64::from(2 * 32 * 3 * 32_768);
        let whole = 4 << 30;
        let (buffer, used, of_full) = made(whole, Buffer::SameShare);
        // What the drive keeps for itself, 3 %, is rounded to program units: 8 of the 256 of a superblock.
        assert!((buffer / used / (whole as f64 / of_full) - 1.0).abs() < 2e-3);
        assert!(buffer > units);
        let (buffer, used, _) = made(whole, Buffer::SameBytes);
        // The largest size is a share of the used superblocks, with what the drive keeps in them for itself.
        let own = 8.0 / 256.0;
        assert!((buffer / used * (1.0 - own) - BUFFER_SHARE).abs() < 1e-5);
        let (buffer, ..) = made(64 << 20, Buffer::SameShare);
        assert_eq!(buffer, units);
    }
}
