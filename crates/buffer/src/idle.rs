//! The buffer in idle time: when the buffer is offered idle time, and which pages it then writes back.

use destage_base::{Lpn, Ticks};

use crate::buffer::Buffer;
use crate::destage::DestageCause;
use crate::scheme::{AccessKind, IdleRule, Need};
use crate::view::View;

impl Buffer {
    /// The device is idle. Returns `true` if the scheme or [`background`](crate::background) uses the idle time. In
    /// this case [`record`](Self::record) contains the pages to write back.
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn idle(&mut self, now: Ticks, view: &dyn View) -> bool {
        let groups = self.properties.idle_rule.map_or(1, |rule| rule.groups);
        self.scheme.idle(0..groups, now, view, &mut self.victim);
        self.carry_out(DestageCause::Idle, now, view) || self.destage_in_background(now, view)
    }

    fn destage_in_background(&mut self, now: Ticks, view: &dyn View) -> bool {
        while let Some(background_flush) = &mut self.background_flush
            && background_flush.begins_or_goes_on(self.resident.dirty())
        {
            let access = self.access(AccessKind::Write, now);
            self.ask(Need::Flush, &access, view);
            if self.carry_out(DestageCause::Idle, now, view) {
                return true;
            }
        }
        false
    }

    /// The group `group` of [`IdleRule::groups`] is idle. If there is only one group, it is the whole device, and
    /// this call is the same as [`idle`](Self::idle). With several groups, only the scheme is asked. In this case,
    /// the call returns `true` if the scheme names pages, and [`record`](Self::record) then contains them.
    ///
    /// # Panics
    /// If the scheme breaks its contract.
    pub fn idle_in(&mut self, group: u32, now: Ticks, view: &dyn View) -> bool {
        if self.idle_rule().is_none_or(|rule| rule.groups == 1) {
            return self.idle(now, view);
        }
        self.scheme
            .idle(group..group + 1, now, view, &mut self.victim);
        self.carry_out(DestageCause::Idle, now, view)
    }

    /// The rule that says when to call [`idle`](Self::idle) or [`idle_in`](Self::idle_in); `None` if never.
    #[must_use]
    pub fn idle_rule(&self) -> Option<IdleRule> {
        let background = || Some(self.background_flush.as_ref()?.rule());
        self.properties.idle_rule.or_else(background)
    }

    /// The group of `page`. A host request for `page` ends the idle period of this group.
    #[must_use]
    pub fn idle_group_of(&self, page: Lpn) -> u32 {
        self.scheme.idle_group_of(page)
    }
}
