//! The parameters that every buffer has, whatever its scheme.

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_US;
use destage_base::{choices, parameters};

use crate::background::Background;
use crate::destage::PadContent;

choices! {
    /// When the slot of an evicted page becomes free.
    pub enum Release {
        /// When the program of the page has completed. A page that finds no free slot waits.
        Complete = "complete",
        /// As soon as the program is issued, so that no write ever waits for a free slot.
        Issue = "issue",
    }
}

choices! {
    /// Whether a flush, or a write with force unit access (FUA), destages anything.
    pub enum FlushMode {
        /// Flushes and FUA writes destage dirty pages.
        Honor = "honor",
        /// Flushes and FUA writes destage nothing, because the buffer survives a loss of power.
        Ignore = "ignore",
    }
}

choices! {
    /// How padding treats pages that were never written.
    pub enum PadUnwritten {
        /// Padding programs a filler for each such page.
        Fill = "fill",
        /// Padding programs fillers, but none after the last page that has data.
        StopAtLast = "stop_at_last",
        /// Padding leaves a gap for each such page. Only some flash allows gaps.
        Skip = "skip",
    }
}

choices! {
    /// When an idle device is asked to destage again.
    pub enum Again {
        /// When all pages of the last record are programmed.
        Record = "record",
        /// When any page of the last record is programmed.
        Page = "page",
    }
}

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

parameters! {
    /// The parameters that every buffer has; their names omit the prefix `buffer.`.
    pub struct Common {
        /// When an evicted page's slot becomes free: when its program completes, or as soon as the program is issued.
        release: Release = "complete", "", "Ours; with `issue`, slots are free at once, as in traces reshaped off-line (EPO 2011).", needs &["clock", "pages"];
        /// How many consecutive logical pages a block-level scheme treats as one cluster; 0 means the pages of a
        /// flash block.
        cluster_pages: u32 = "0" in Kind::Integer { min: 0, max: u32::MAX as u64 - 1 }, "pages", "BPLRU (FAST 2008), section 3.1.", needs &["clusters"];
        /// Whether flush and FUA destage dirty pages; `ignore` models a buffer that survives power loss.
        flush_mode: FlushMode = "honor", "", "Ours.", needs &["pages", "durable-answers"];
        /// Write requests of at least this many pages bypass the buffer; 0 buffers all of them.
        bypass_pages: u32 = "0", "pages", "Ours.", needs &["pages"];
        /// Whether padding reads from flash the pages that it programs again; false charges no read for them.
        pad_charge_reads: bool = "true", "", "BPLRU (FAST 2008); false: BPAC (MSST 2010), figure 9, counts no reads of merges.", needs &["pads"];
        /// How padding treats pages that were never written: a filler, a filler only before the last page with data,
        /// or a gap.
        pad_unwritten: PadUnwritten = "fill", "", "Ours; the papers assume a device that has been written in full.", needs &["pads"];
        /// A cluster is padded only if at least this share of its pages is dirty.
        pad_min_fill: f64 = "0" in SHARE, "", "Ours.", needs &["pads"];
        /// Whether flush and drain pad clusters as evictions do.
        flush_pads: bool = "true", "", "Ours.", needs &["pads"];
        /// Whether the buffer destages in idle time, in the scheme's own order, once too many pages are dirty.
        bg_destage: bool = "false", "", "Ours; the watermarks of write-back caches.", needs &["clock", "pages"];
        /// With bg_destage: destaging in idle time begins when more than this share of the buffer is dirty.
        bg_high: f64 = "0.9" in SHARE, "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: destaging in idle time ends when at most this share is dirty; never above bg_high.
        bg_low: f64 = "0.7" in SHARE, "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: the time without a queued or served host request after which destaging begins.
        bg_idle_us: u64 = "0" in Kind::Integer { min: 0, max: u64::MAX / TICKS_PER_US }, "us", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: whether more pages are destaged after the whole last record is programmed, or after any
        /// page of it.
        bg_again: Again = "record", "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
    }
}

/// The rows of all parameters in [`Common`].
pub const COMMON: &[Parameter] = Common::ROWS;

/// Two parameters whose values contradict each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Contradiction {
    /// [`Common::bg_low`] is above [`Common::bg_high`].
    LowAboveHigh {
        /// The share at which destaging in idle time ends.
        low: f64,
        /// The share above which destaging in idle time begins.
        high: f64,
    },
}

impl Common {
    /// Checks the conditions that involve several parameters.
    ///
    /// # Errors
    /// The first contradiction between two parameters.
    pub fn check(&self) -> Result<(), Contradiction> {
        let (low, high) = (self.bg_low, self.bg_high);
        if low > high {
            return Err(Contradiction::LowAboveHigh { low, high });
        }
        Ok(())
    }
}

/// The parameters of a buffer, except those of its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// The number of slots, each for one page. With 0, the buffer keeps no pages. The number of resident pages never
    /// exceeds this number.
    pub capacity_pages: u32,
    /// Additional slots for pages that have left the buffer but are not programmed yet, because other pages of their
    /// program units are still missing.
    pub held_pages: u32,
    /// The number of pages of a cluster; at least 1.
    pub cluster_pages: u32,
    /// When the slot of an evicted page becomes free.
    pub release: Release,
    /// Whether flush and FUA destage pages. A buffer that survives power loss may ignore them.
    pub honor_flush: bool,
    /// Write requests of at least this many pages bypass the buffer. With 0, no request bypasses it.
    pub bypass_pages: u32,
    /// The source of the contents of padding pages that are present on flash.
    pub pad_written: PadContent,
    /// How padding treats pages that were never written.
    pub pad_unwritten: PadUnwritten,
    /// A cluster is padded only if it has at least this many dirty pages.
    pub pad_min_pages: u32,
    /// Whether flush and drain pad clusters as evictions do.
    pub flush_pads: bool,
    /// Destaging in idle time; `None` if it is off.
    pub background: Option<Background>,
    /// Whether the buffer notes how long each page was dirty, for [`crate::Buffer::take_dirty_ages`]. The caller then
    /// has to call that method regularly, because the noted times accumulate between two calls.
    pub notes_dirty_ages: bool,
}

impl BufferConfig {
    /// The defaults of [`Common`], for a buffer of `capacity_pages` pages with clusters of `cluster_pages` pages.
    #[must_use]
    pub fn new(capacity_pages: u32, cluster_pages: u32) -> Self {
        let common = Common::from_values(&Values::default());
        Self::from_parameters(capacity_pages, cluster_pages, &common)
    }

    /// The configuration of a buffer of `capacity_pages` pages over flash blocks of `block_pages` pages. All other
    /// values are those of `common`.
    #[must_use]
    pub fn from_parameters(capacity_pages: u32, block_pages: u32, common: &Common) -> Self {
        let cluster_pages = match common.cluster_pages {
            0 => block_pages,
            pages => pages,
        };
        Self {
            capacity_pages,
            held_pages: 0,
            cluster_pages,
            release: common.release,
            honor_flush: common.flush_mode == FlushMode::Honor,
            bypass_pages: common.bypass_pages,
            pad_written: match common.pad_charge_reads {
                true => PadContent::Read,
                false => PadContent::AtHand,
            },
            pad_unwritten: common.pad_unwritten,
            pad_min_pages: part_of_rounded_up(common.pad_min_fill, cluster_pages),
            flush_pads: common.flush_pads,
            background: Background::from_parameters(capacity_pages, common),
            notes_dirty_ages: false,
        }
    }
}

/// `share` in whole millionths. They can be compared and multiplied without rounding.
pub(crate) fn millionths(share: f64) -> u64 {
    (share * 1e6 + 0.5) as u64
}

/// The largest whole number that is at most `share` of `all`.
pub(crate) fn part_of(share: f64, all: u32) -> u32 {
    let part = u64::from(all) * millionths(share) / 1_000_000;
    u32::try_from(part).unwrap_or(u32::MAX)
}

/// The smallest whole number that is at least `share` of `all`.
pub(crate) fn part_of_rounded_up(share: f64, all: u32) -> u32 {
    (u64::from(all) * millionths(share)).div_ceil(1_000_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_to_whole_pages() {
        for (share, pages) in [(0.0, 0), (0.25, 1), (0.3, 2), (1.0, 4)] {
            assert_eq!(part_of_rounded_up(share, 4), pages, "{share}");
        }
        // As numbers of the processor, 0.28 of 25 is more than 7, and 0.29 of 100 is less than 29.
        assert_eq!(part_of_rounded_up(0.28, 25), 7);
        assert_eq!(part_of(0.29, 100), 29);
    }

    #[test]
    fn the_defaults_are_the_documented_ones() {
        let config = BufferConfig::new(8, 4);
        assert_eq!(config.release, Release::Complete);
        assert_eq!(config.pad_unwritten, PadUnwritten::Fill);
        assert_eq!(config.pad_written, PadContent::Read);
        assert!(config.honor_flush && config.flush_pads);
        assert_eq!(config.background, None);
        assert_eq!(
            (
                config.cluster_pages,
                config.bypass_pages,
                config.pad_min_pages
            ),
            (4, 0, 0)
        );
    }
}
