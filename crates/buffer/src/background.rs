//! Destaging in idle time, whatever the scheme: from a high watermark of dirty pages down to a low one.
//!
//! ```text
//!   dirty pages
//!      |      /\
//!      |     /  \                idle time begins
//!      |    /    +---------------+
//! high |---/---------------------|\---------------------- below: idle time is left alone
//!      |  /                        \    one record after another, in the scheme's own order
//!  low |-/--------------------------\___----------------- enough; the rest goes on collecting writes
//!      +----------------------------------------------->
//! ```
//!
//! It writes the pages that a flush would destage first. So a scheme needs no code for this: a scheme without clean pages gives the pages up, and has
//! room before it needs it; a scheme that keeps clean pages has pages to drop.
//!
//! A scheme that uses idle time by itself keeps its own rule and is asked first, at each moment; this module takes over when the scheme has nothing
//! to do. Where such a scheme watches several groups of pages
//! apart, idle time is the scheme's alone: a group that is idle says nothing about the pages of the others.

use destage_base::time::TICKS_PER_US;

use crate::config::{Again, Common, millionths};
use crate::scheme::{IdleAgain, IdleRule};

/// The watermarks, and when idle time is offered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Background {
    /// Idle time is used once more pages than this are dirty,
    pub high_pages: u32,
    /// and then until no more than this are. Not above `high_pages`.
    pub low_pages: u32,
    /// For a scheme without a rule of its own.
    pub rule: IdleRule,
}

impl Background {
    /// The settings in `common` for a buffer of `capacity_pages`; `None` if background destaging is off.
    #[must_use]
    pub fn from_parameters(capacity_pages: u32, common: &Common) -> Option<Self> {
        if !common.bg_destage {
            return None;
        }
        // Whole pages are compared, so rounding down does not move a watermark.
        let pages = |share| (u64::from(capacity_pages) * millionths(share) / 1_000_000) as u32;
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

/// How far the destaging of one buffer has come.
pub(crate) struct BackgroundFlush {
    watermarks: Background,
    /// The high watermark was passed, and the low one not reached since.
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

    /// Idle time is offered while `dirty` pages are dirty; whether to use it.
    pub(crate) fn begins_or_goes_on(&mut self, dirty: u32) -> bool {
        self.under_way |= dirty > self.watermarks.high_pages;
        self.ends_at(dirty);
        self.under_way
    }

    /// Only `dirty` pages are dirty now, for whatever reason.
    pub(crate) fn ends_at(&mut self, dirty: u32) {
        self.under_way &= dirty > self.watermarks.low_pages;
    }
}
