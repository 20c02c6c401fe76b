//! Idle time: the time in which no request waits, so that a scheme may write back pages.
//!
//! The [`IdleRule`] of a scheme says how long a group of pages has to be without host requests before its idle time
//! begins, and how often the device offers the idle time to the scheme. When a request arrives, the idle time of the
//! groups of its pages ends. Write-backs that were issued before continue, and the request waits behind them in the
//! queues.

use alloc::vec;
use alloc::vec::Vec;

use destage_buffer::Buffer;
use destage_buffer::scheme::{IdleAgain, IdleRule};

use crate::request::Span;
use crate::slab::Slab;

/// The idle state of one group of pages.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Number of pages of host requests that have arrived but are not complete.
    outstanding: u64,
    /// Number of pages of requests that have arrived so far. An idle time that began at another value is over.
    arrivals: u32,
    /// Whether the device has asked the scheme in the present idle time, and the scheme had nothing to write back at
    /// the last question.
    declined: bool,
}

/// The idle times of a device whose scheme uses idle time.
pub(crate) struct Idle {
    pub rule: IdleRule,
    groups: Vec<Group>,
    alarms: Slab<IdleTime>,
}

/// One idle time of one group. A record that is written back in an idle time stores this value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct IdleTime {
    /// The number of the group of pages.
    pub group: u32,
    /// The value of [`Group::arrivals`] when the idle time began.
    arrivals: u32,
}

impl Idle {
    /// The idle times for the scheme of `buffer`; `None` if the scheme uses no idle time.
    pub fn of(buffer: &Buffer) -> Option<Self> {
        let rule = buffer.idle_rule()?;
        let groups = vec![Group::default(); rule.groups.max(1) as usize];
        Some(Self {
            rule,
            groups,
            alarms: Slab::default(),
        })
    }

    /// Number of groups of pages. Each group has idle times of its own.
    pub fn groups(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Whether no request for the group has arrived since `time` began.
    pub fn lasts(&self, time: IdleTime) -> bool {
        let group = self.groups[time.group as usize];
        group.outstanding == 0 && group.arrivals == time.arrivals
    }

    /// Records whether the scheme named pages to write back in `time`.
    pub fn note(&mut self, time: IdleTime, answered: bool) {
        self.groups[time.group as usize].declined = !answered;
    }

    /// The present idle time of `group`, if the device has asked the scheme in this idle time, and the scheme had
    /// nothing to write back at the last question.
    pub fn declined(&self, group: u32) -> Option<IdleTime> {
        let Group {
            arrivals, declined, ..
        } = self.groups[group as usize];
        declined.then_some(IdleTime { group, arrivals })
    }

    /// Removes and returns the idle time for which `alarm` was set.
    pub fn take_alarm(&mut self, alarm: u32) -> Option<IdleTime> {
        self.alarms.remove(alarm).copied()
    }

    /// Called when a request for `span` has arrived.
    pub fn end(&mut self, span: &Span, device_pages: u64, buffer: &Buffer) {
        for offset in 0..self.pages_watched(span) {
            let group = self.group_of(span, offset, device_pages, buffer);
            let group = &mut self.groups[group as usize];
            group.outstanding += 1;
            group.arrivals = group.arrivals.wrapping_add(1);
            group.declined = false;
        }
    }

    /// Called when a request for `span` is complete. Calls `wake` with an alarm for each group that has become idle.
    pub fn begin(
        &mut self,
        span: &Span,
        device_pages: u64,
        buffer: &Buffer,
        mut wake: impl FnMut(u32),
    ) {
        for offset in 0..self.pages_watched(span) {
            let number = self.group_of(span, offset, device_pages, buffer);
            let group = &mut self.groups[number as usize];
            group.outstanding -= 1;
            if group.outstanding == 0 {
                wake(self.alarms.insert(|| IdleTime {
                    group: number,
                    arrivals: group.arrivals,
                }));
            }
        }
    }

    /// The number of pages of `span` that are counted. With a single group, the whole request counts as one page.
    fn pages_watched(&self, span: &Span) -> u32 {
        if self.groups.len() == 1 {
            1
        } else {
            span.pages
        }
    }

    fn group_of(&self, span: &Span, offset: u32, device_pages: u64, buffer: &Buffer) -> u32 {
        if self.groups.len() == 1 {
            return 0;
        }
        buffer.idle_group_of(span.page(offset, device_pages))
    }

    /// Whether the scheme is asked again after each page.
    pub fn asks_after_page(&self) -> bool {
        self.rule.again == IdleAgain::AfterPage
    }
}
