//! Destaging in idle time, for every scheme: from a high watermark of dirty pages down to a low one.
//!
//! ```text
//!   dirty pages
//!      |      /\
//!      |     /  \                idle time begins
//!      |    /    +---------------+
//! high |---/---------------------|\---------------------- below: no destaging begins
//!      |  /                        \    one record after another, in the scheme's own order
//!  low |-/--------------------------\___----------------- destaging ends; dirty pages absorb writes again
//!      +----------------------------------------------->
//! ```
//!
//! The pages are those that a flush would destage first, so a scheme needs no code for this. A scheme without clean
//! pages evicts these pages, and so gains free slots before they are needed. In a scheme with clean pages, these
//! pages become clean and can later be dropped without a program.
//!
//! Some schemes use idle time themselves. Such a scheme keeps its own rule for idle time, and the buffer asks it
//! first. If the scheme names no pages, this module destages. Other schemes watch several groups of pages separately.
//! In that case only the scheme uses idle time, because an idle group says nothing about the pages of the other
//! groups.

use destage_base::time::TICKS_PER_US;

use crate::config::{Again, Common, part_of};
use crate::scheme::{IdleAgain, IdleRule};

/// The watermarks, and the rule that says when the buffer is offered idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Background {
    /// Destaging begins when more pages than this are dirty.
    pub high_pages: u32,
    /// Destaging ends when at most this many pages are dirty. Not above `high_pages`.
    pub low_pages: u32,
    /// When the buffer is offered idle time, if the scheme has no rule for idle time.
    pub rule: IdleRule,
}

impl Background {
    /// The settings in `common` for a buffer of `capacity_pages` pages; `None` if background destaging is off.
    #[must_use]
    pub fn from_parameters(capacity_pages: u32, common: &Common) -> Option<Self> {
        if !common.bg_destage {
            return None;
        }
        // Rounding down has no effect, because a watermark is compared with whole numbers of pages.
        let pages = |share| part_of(share, capacity_pages);
        Some(Self {
            high_pages: pages(common.bg_high),
            low_pages: pages(common.bg_low),
            rule: IdleRule {
                after: common.bg_idle_us * TICKS_PER_US,
                again: match common.bg_again {
                    Again::Page => IdleAgain::AfterPage,
                    Again::Record => IdleAgain::AfterRecord,
                },
                groups: 1,
            },
        })
    }
}

/// The state of destaging in idle time: whether a buffer is destaging towards its low watermark.
pub(crate) struct BackgroundFlush {
    watermarks: Background,
    /// Whether the number of dirty pages has exceeded the high watermark and has not reached the low watermark since.
    under_way: bool,
}

impl BackgroundFlush {
    pub(crate) fn new(watermarks: Background) -> Self {
        let under_way = false;
        Self {
            watermarks,
            under_way,
        }
    }

    pub(crate) fn rule(&self) -> IdleRule {
        self.watermarks.rule
    }

    /// The buffer is offered idle time while it has `dirty` dirty pages. Returns whether to destage.
    pub(crate) fn begins_or_goes_on(&mut self, dirty: u32) -> bool {
        self.under_way |= dirty > self.watermarks.high_pages;
        self.ends_at(dirty);
        self.under_way
    }

    /// The number of dirty pages has decreased to `dirty`, for any reason.
    pub(crate) fn ends_at(&mut self, dirty: u32) {
        self.under_way &= dirty > self.watermarks.low_pages;
    }
}
