//! The parameters every buffer has, whatever its scheme.

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_US;
use destage_base::{choices, parameters};

use crate::background::Background;
use crate::destage::PadContent;

choices! {
    /// When the slot of an evicted page is free again.
    pub enum Release {
        /// When its program has completed; a page that finds no free slot waits.
        Complete = "complete",
        /// At once: the buffer is a pure reordering stage.
        Issue = "issue",
    }
}

choices! {
    /// Whether a flush, or a write with force unit access, destages anything.
    pub enum FlushMode {
        /// It does.
        Honor = "honor",
        /// It does not: the buffer survives a loss of power.
        Ignore = "ignore",
    }
}

choices! {
    /// How padding treats pages that were never written.
    pub enum PadUnwritten {
        /// Programs a filler page.
        Fill = "fill",
        /// Programs fillers, but none after the last page that has data.
        StopAtLast = "stop_at_last",
        /// Leaves gaps; only for flash that allows them.
        Skip = "skip",
    }
}

choices! {
    /// What has to be programmed before idle time is used again.
    pub enum Again {
        /// All pages of the record.
        Record = "record",
        /// Any page.
        Page = "page",
    }
}

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

parameters! {
    /// The parameters every buffer has, without the `buffer.` in front.
    pub struct Common {
        /// When an evicted page's slot is free: when its program completes, or as soon as it is issued.
        release: Release = "complete", "", "Ours; with `issue`, slots are free at once, as in traces reshaped off-line (EPO 2011).", needs &["clock", "pages"];
        /// Consecutive logical pages a block-level scheme treats as one; 0 means the pages of a flash block.
        cluster_pages: u32 = "0", "pages", "BPLRU (FAST 2008), section 3.1.", needs &["clusters"];
        /// Whether flush and FUA destage; `ignore` models a buffer that survives power loss.
        flush_mode: FlushMode = "honor", "", "Ours.", needs &["pages", "durable-answers"];
        /// Write requests of at least this many pages bypass the buffer; 0 buffers all of them.
        bypass_pages: u32 = "0", "pages", "Ours.", needs &["pages"];
        /// Whether pages that padding programs again are read from flash first; false: they are at hand, and no read is charged.
        pad_charge_reads: bool = "true", "", "BPLRU (FAST 2008); false: BPAC (MSST 2010), figure 9, counts no reads of merges.", needs &["pads"];
        /// How padding treats pages that were never written: a filler, a filler only before the last data, or a gap.
        pad_unwritten: PadUnwritten = "fill", "", "Ours; the papers assume a device that has been written in full.", needs &["pads"];
        /// A cluster is padded only if at least this share of its pages is dirty.
        pad_min_fill: f64 = "0" in SHARE, "", "Ours.", needs &["pads"];
        /// Whether flush and drain pad clusters as evictions do.
        flush_pads: bool = "true", "", "Ours.", needs &["pads"];
        /// Whether idle time is used to destage, in the scheme's own order, once too many pages are dirty.
        bg_destage: bool = "false", "", "Ours; the watermarks of write-back caches.", needs &["clock", "pages"];
        /// With bg_destage: idle time is used once more than this share of the buffer is dirty.
        bg_high: f64 = "0.9" in SHARE, "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: once begun, destaging goes on until at most this share is dirty; never above bg_high.
        bg_low: f64 = "0.7" in SHARE, "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: how long no host request may have been queued or in service before.
        bg_idle_us: u64 = "0" in Kind::Integer { min: 0, max: u64::MAX / TICKS_PER_US }, "us", "Ours.", needs &["clock", "buffer.bg_destage = true"];
        /// With bg_destage: whether a whole record has to be programmed before more pages are destaged, or any page.
        bg_again: Again = "record", "", "Ours.", needs &["clock", "buffer.bg_destage = true"];
    }
}

/// The rows of [`Common`].
pub const COMMON: &[Parameter] = Common::ROWS;

/// Two parameters that contradict each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Contradiction {
    /// [`Common::bg_low`] is above [`Common::bg_high`].
    LowAboveHigh {
        /// The share at which destaging in idle time ends.
        low: f64,
        /// The share above which it begins.
        high: f64,
    },
}

impl Common {
    /// Checks conditions between several parameters, which no single row can check.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), Contradiction> {
        let (low, high) = (self.bg_low, self.bg_high);
        if low > high {
            return Err(Contradiction::LowAboveHigh { low, high });
        }
        Ok(())
    }
}

/// The parameters of a buffer besides its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// Slots, one page each; 0 for a buffer that keeps no pages. Resident pages never exceed it.
    pub capacity_pages: u32,
    /// Slots beyond these, for pages that have left and wait for the other pages of their program units.
    pub held_pages: u32,
    /// Pages of a cluster; at least 1.
    pub cluster_pages: u32,
    /// When a slot is free again.
    pub release: Release,
    /// Whether flush and FUA destage anything; a power-protected buffer may ignore them.
    pub honor_flush: bool,
    /// Write requests of at least this many pages go straight to the flash; 0: none do.
    pub bypass_pages: u32,
    /// Where padding gets pages that the flash holds.
    pub pad_written: PadContent,
    /// How padding treats pages that were never written.
    pub pad_unwritten: PadUnwritten,
    /// A cluster with fewer dirty pages is not padded.
    pub pad_min_pages: u32,
    /// Whether flush and drain pad as evictions do.
    pub flush_pads: bool,
    /// Destaging in idle time, if any.
    pub background: Option<Background>,
    /// Whether [`crate::Buffer::take_dirty_ages`] has how long each page was dirty. The caller has to take them from time to time if this is set.
    pub notes_dirty_ages: bool,
}

impl BufferConfig {
    /// The defaults of [`Common`] for a buffer of this size.
    #[must_use]
    pub fn new(capacity_pages: u32, cluster_pages: u32) -> Self {
        let common = Common::from_values(&Values::default());
        Self::from_parameters(capacity_pages, cluster_pages, &common)
    }

    /// A buffer of `capacity_pages` pages over flash blocks of `block_pages` pages, the rest from `common`.
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
            pad_min_pages: pages_of_share(common.pad_min_fill, cluster_pages),
            flush_pads: common.flush_pads,
            background: Background::from_parameters(capacity_pages, common),
            notes_dirty_ages: false,
        }
    }
}

/// `share` in whole millionths, to be compared and multiplied without rounding.
pub(crate) fn millionths(share: f64) -> u64 {
    (share * 1e6 + 0.5) as u64
}

/// The smallest number of pages that is at least `share` of a cluster.
fn pages_of_share(share: f64, cluster_pages: u32) -> u32 {
    let exact = share * f64::from(cluster_pages);
    let whole = exact as u32;
    if f64::from(whole) < exact {
        whole + 1
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_up_to_whole_pages() {
        for (share, pages) in [(0.0, 0), (0.25, 1), (0.3, 2), (1.0, 4)] {
            assert_eq!(pages_of_share(share, 4), pages, "{share}");
        }
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
