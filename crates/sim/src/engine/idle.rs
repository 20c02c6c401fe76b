//! Idle time: when a scheme may write back pages because nobody waits.
//!
//! A scheme says by its [`IdleRule`] how long a group of pages has to be without host requests, and how
//! often it wants to be asked then. A request that arrives ends the idle time of its pages' groups; what
//! was issued before goes on, and the request queues behind it.

use destage_buffer::Buffer;
use destage_buffer::scheme::{IdleAgain, IdleRule};

use super::event::Event;
use super::{Engine, Outcome};
use crate::paging::Span;

/// What is watched for one group of pages.
#[derive(Clone, Copy, Default)]
struct Group {
    /// Pages of host requests that have arrived and are not complete.
    outstanding: u64,
    /// Requests that have arrived: an idle time begun under another number is over.
    arrivals: u32,
    /// In the idle time that lasts, the scheme's latest answer was no.
    declined: bool,
}

/// The idle time of a run whose scheme uses it.
pub(super) struct Idle {
    rule: IdleRule,
    groups: Vec<Group>,
}

/// Which group a record was written back for, and in which of its idle times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IdleTime {
    /// Which group of pages.
    pub group: u16,
    /// Requests for it that had arrived when it began.
    pub arrivals: u32,
}

impl Idle {
    /// Watches what `buffer`'s scheme asks for, if it does.
    pub(super) fn of(buffer: &Buffer) -> Option<Self> {
        let rule = buffer.idle_rule()?;
        // A group's number travels in an event; nobody has more packages than that.
        let groups = rule.groups.clamp(1, u32::from(u16::MAX));
        let groups = vec![Group::default(); groups as usize];
        Some(Self { rule, groups })
    }

    /// Whether no request for its group has come since `time` began.
    fn lasts(&self, time: IdleTime) -> bool {
        let group = self.groups[usize::from(time.group)];
        group.outstanding == 0 && group.arrivals == time.arrivals
    }
}

impl Engine<'_> {
    /// The group of each page of `span`, for a scheme that uses idle time.
    fn groups_of(&self, span: &Span) -> Vec<u16> {
        let (Some(idle), Some(buffer)) = (&self.idle, &self.buffer) else {
            return Vec::new();
        };
        if idle.groups.len() == 1 {
            return vec![0];
        }
        let group = |offset| buffer.idle_group_of(self.page(span, offset)) as u16;
        (0..span.pages).map(group).collect()
    }

    /// A request has arrived.
    pub(super) fn end_idle_time(&mut self, span: &Span) {
        let groups = self.groups_of(span);
        let Some(idle) = &mut self.idle else { return };
        for group in groups {
            let group = &mut idle.groups[usize::from(group)];
            group.outstanding += 1;
            group.arrivals = group.arrivals.wrapping_add(1);
            group.declined = false;
        }
    }

    /// A request is complete.
    pub(super) fn begin_idle_time(&mut self, span: &Span) {
        let groups = self.groups_of(span);
        let Some(idle) = &mut self.idle else { return };
        for number in groups {
            let group = &mut idle.groups[usize::from(number)];
            group.outstanding -= 1;
            if group.outstanding == 0 {
                let idle_time = Event::Idle {
                    group: number,
                    arrivals: group.arrivals,
                };
                self.events.after(idle.rule.after, idle_time);
            }
        }
    }

    /// Asks the scheme for something to write back, if `time` still lasts.
    pub(super) fn use_idle_time(&mut self, time: IdleTime) -> Outcome {
        let now = self.events.now();
        let (Some(idle), Some(buffer)) = (&mut self.idle, &mut self.buffer) else {
            return Ok(());
        };
        if !idle.lasts(time) {
            return Ok(());
        }
        let answered = if idle.groups.len() == 1 {
            buffer.idle(now, &self.dies)
        } else {
            buffer.idle_in(u32::from(time.group), now, &self.dies)
        };
        idle.groups[usize::from(time.group)].declined = !answered;
        if answered {
            self.issue(None, Some(time))
        } else {
            Ok(())
        }
    }

    /// A page is programmed, written back in `time` if it was for that; `last` of its record.
    pub(super) fn go_on_idling(&mut self, time: Option<IdleTime>, last: bool) -> Outcome {
        let Some(idle) = &self.idle else {
            return Ok(());
        };
        let after_page = idle.rule.again == IdleAgain::AfterPage;
        match time.filter(|time| idle.lasts(*time)) {
            Some(time) if last || after_page => self.use_idle_time(time),
            None if after_page => self.ask_who_declined(),
            _ => Ok(()),
        }
    }

    /// Who had nothing to write back may have had no die to do it: one is free now.
    fn ask_who_declined(&mut self) -> Outcome {
        let groups = self.idle.as_ref().map_or(0, |idle| idle.groups.len());
        for number in 0..groups {
            let group = self.idle.as_ref().map(|idle| idle.groups[number]);
            if let Some(group) = group.filter(|group| group.declined) {
                self.use_idle_time(IdleTime {
                    group: number as u16,
                    arrivals: group.arrivals,
                })?;
            }
        }
        Ok(())
    }
}
