//! The buffer in idle time: the offers it gets, and its write-backs.

use destage_base::{Lpn, Ticks};

use crate::buffer::Buffer;
use crate::destage::DestageCause;
use crate::scheme::{AccessKind, IdleRule, Need};
use crate::view::View;

impl Buffer {
    /// The device has nothing else to do: `true` if the scheme or [`background`](crate::background) uses the idle time, and [`record`](Self::record)
    /// holds the pages to write back.
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

    /// As [`idle`](Self::idle), when the group `group` of [`IdleRule::groups`] is idle. Where there is only one,
    /// that is the device.
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

    /// When to call [`idle`](Self::idle) or [`idle_in`](Self::idle_in), if ever.
    #[must_use]
    pub fn idle_rule(&self) -> Option<IdleRule> {
        let background = || Some(self.background_flush.as_ref()?.rule());
        self.properties.idle_rule.or_else(background)
    }

    /// Which group's idle time ends when the host asks for `page`.
    #[must_use]
    pub fn idle_group_of(&self, page: Lpn) -> u32 {
        self.scheme.idle_group_of(page)
    }
}
