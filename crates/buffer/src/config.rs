//! The parameters every buffer has, whatever its scheme.

use destage_base::parameter::{Kind, Parameter, Values};
use destage_base::time::TICKS_PER_US;

use crate::background::Background;

/// When the slot of an evicted page is free again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Release {
    /// When its program has completed; a page that finds no free slot waits.
    #[default]
    Complete,
    /// At once: the buffer is a pure reordering stage.
    Issue,
}

/// What padding does with pages that were never written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PadUnwritten {
    /// Programs a filler page.
    #[default]
    Fill,
    /// Programs fillers, but none behind the last page that has data.
    StopAtLast,
    /// Leaves gaps; only for flash that allows them.
    Skip,
}

/// What a buffer needs to know besides its scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// Slots, one page each; 0 for a buffer that keeps no pages.
    pub capacity_pages: u32,
    /// Pages of a cluster; at least 1.
    pub cluster_pages: u32,
    /// When a slot is free again.
    pub release: Release,
    /// A page enters as soon as its victim has left, although the victim's slot is still being programmed.
    /// The caller holds the page where requests are received, and lets each request wait until
    /// [`crate::Buffer::over_capacity`] is down by its pages. So all victims of a request are programmed at the
    /// same time, and no step is [`crate::Step::Wait`]. Resident pages never exceed the capacity.
    pub unbounded_admission: bool,
    /// Whether flush and FUA destage anything; a power-protected buffer may ignore them.
    pub honor_flush: bool,
    /// Write requests of at least this many pages go straight to the flash; 0: none do.
    pub bypass_pages: u32,
    /// What padding does with pages never written.
    pub pad_unwritten: PadUnwritten,
    /// A cluster with fewer dirty pages is not padded.
    pub pad_min_pages: u32,
    /// Whether flush and drain pad as evictions do.
    pub flush_pads: bool,
    /// Destaging in idle time, if any.
    pub background: Option<Background>,
}

impl BufferConfig {
    /// The defaults of [`COMMON`] for a buffer of this size.
    #[must_use]
    pub fn new(capacity_pages: u32, cluster_pages: u32) -> Self {
        Self::from_values(capacity_pages, cluster_pages, &Values::defaults(COMMON))
    }

    /// A buffer of `capacity_pages` pages over flash blocks of `block_pages` pages, the rest from `values`,
    /// which hold at least [`COMMON`].
    #[must_use]
    pub fn from_values(capacity_pages: u32, block_pages: u32, values: &Values) -> Self {
        let cluster_pages = match values.integer("cluster_pages") as u32 {
            0 => block_pages,
            pages => pages,
        };
        Self {
            capacity_pages,
            cluster_pages,
            release: match values.text("release") {
                "issue" => Release::Issue,
                _ => Release::Complete,
            },
            unbounded_admission: false,
            honor_flush: values.text("flush_mode") == "honor",
            bypass_pages: values.integer("bypass_pages") as u32,
            pad_unwritten: match values.text("pad_unwritten") {
                "skip" => PadUnwritten::Skip,
                "stop_at_last" => PadUnwritten::StopAtLast,
                _ => PadUnwritten::Fill,
            },
            pad_min_pages: pages_of_share(values.number("pad_min_fill"), cluster_pages),
            flush_pads: values.flag("flush_pads"),
            background: Background::from_values(capacity_pages, values),
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

const PAGES: Kind = Kind::Integer {
    min: 0,
    max: u32::MAX as u64,
};

const SHARE: Kind = Kind::Number { min: 0.0, max: 1.0 };

/// The parameters of [`BufferConfig`], without the `buffer.` in front.
pub const COMMON: &[Parameter] = &[
    Parameter {
        name: "release",
        kind: Kind::Choice(&["complete", "issue"]),
        default: "complete",
        unit: "",
        about: "When an evicted page's slot is free: when its program completes, or as soon as it is issued.",
        source: "Ours; `issue` is how traces reshaped off-line behave (EPO 2011).",
    },
    Parameter {
        name: "cluster_pages",
        kind: PAGES,
        default: "0",
        unit: "pages",
        about: "Consecutive logical pages a block-level scheme treats as one; 0 means the pages of a flash block.",
        source: "BPLRU (FAST 2008), section 3.1.",
    },
    Parameter {
        name: "flush_mode",
        kind: Kind::Choice(&["honor", "ignore"]),
        default: "honor",
        unit: "",
        about: "Whether flush and FUA destage; `ignore` models a buffer that survives power loss.",
        source: "Ours.",
    },
    Parameter {
        name: "bypass_pages",
        kind: PAGES,
        default: "0",
        unit: "pages",
        about: "Write requests of at least this many pages go straight to the flash; 0 buffers all of them.",
        source: "Ours.",
    },
    Parameter {
        name: "pad_unwritten",
        kind: Kind::Choice(&["fill", "stop_at_last", "skip"]),
        default: "fill",
        unit: "",
        about: "What padding does with pages never written: a filler, a filler only before the last data, or a gap.",
        source: "Ours; the papers assume a device that has been written in full.",
    },
    Parameter {
        name: "pad_min_fill",
        kind: SHARE,
        default: "0",
        unit: "",
        about: "A cluster is padded only if at least this share of it is dirty.",
        source: "Ours.",
    },
    Parameter {
        name: "flush_pads",
        kind: Kind::Flag,
        default: "true",
        unit: "",
        about: "Whether flush and drain pad clusters as evictions do.",
        source: "Ours.",
    },
    Parameter {
        name: "bg_destage",
        kind: Kind::Flag,
        default: "false",
        unit: "",
        about: "Whether idle time is used to destage, in the scheme's own order, once too many pages are dirty.",
        source: "Ours; the watermarks of write-back caches.",
    },
    Parameter {
        name: "bg_high",
        kind: SHARE,
        default: "0.9",
        unit: "",
        about: "With bg_destage: idle time is used once more than this share of the buffer is dirty.",
        source: "Ours.",
    },
    Parameter {
        name: "bg_low",
        kind: SHARE,
        default: "0.7",
        unit: "",
        about: "With bg_destage: once begun, it goes on until at most this share is dirty; never above bg_high.",
        source: "Ours.",
    },
    Parameter {
        name: "bg_idle_us",
        kind: Kind::Integer {
            min: 0,
            max: u64::MAX / TICKS_PER_US,
        },
        default: "0",
        unit: "us",
        about: "With bg_destage: how long no host request may have been queued or in service before.",
        source: "Ours.",
    },
    Parameter {
        name: "bg_again",
        kind: Kind::Choice(&["record", "page"]),
        default: "record",
        unit: "",
        about: "With bg_destage: what has to be programmed before more is destaged: a whole record, or any page.",
        source: "Ours.",
    },
];

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
