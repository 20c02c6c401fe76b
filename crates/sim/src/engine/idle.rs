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
        let (Some(idle), Some(buffer)) = (&self.idle, &mut self.buffer) else {
            return Ok(());
        };
        let group = idle.groups[usize::from(time.group)];
        if group.outstanding > 0 || group.arrivals != time.arrivals {
            return Ok(());
        }
        let answered = if idle.groups.len() == 1 {
            buffer.idle(now, &self.elements)
        } else {
            buffer.idle_in(u32::from(time.group), now, &self.elements)
        };
        if answered {
            self.issue(None, Some(time))
        } else {
            Ok(())
        }
    }

    /// A page that was written back in `time` is programmed; `last` of its record.
    pub(super) fn go_on_idling(&mut self, time: IdleTime, last: bool) -> Outcome {
        let again = self.idle.as_ref().map(|idle| idle.rule.again);
        if last || again == Some(IdleAgain::AfterPage) {
            return self.use_idle_time(time);
        }
        Ok(())
    }
}
