//! Planes with cache registers: a die may do several things at once, and each ends by itself.

use destage_base::Ticks;
use destage_device::PageOperation;

use super::link::Link;
use super::{Engine, Mover, Outcome, Witness};

impl<B, W> Link<'_, B, W> {
    /// A command of `die` that takes `time` begins.
    pub fn command_begins(&mut self, die: u32, time: Ticks) {
        let now = self.events.now();
        match self.has_registers() {
            true => self.meter.occupy(die, now),
            false => self.meter.begin(die, now, time),
        }
    }

    /// A command of `die` has ended.
    pub fn command_ended(&mut self, die: u32) {
        let now = self.events.now();
        match self.has_registers() {
            true => self.meter.release(die, now),
            false => self.meter.end(now),
        }
    }

    fn has_registers(&self) -> bool {
        let commands = self.commands.as_ref();
        commands.is_some_and(|commands| commands.has_registers)
    }

    /// The page operation of this number, which used a cache register, has ended: it and its die.
    pub fn take_cached(&mut self, number: u32) -> Option<(u32, PageOperation)> {
        let taken = self.commands.as_mut()?.take_cached(number)?;
        self.meter.release(taken.0, self.events.now());
        Some(taken)
    }
}

impl<B: Mover, W: Witness> Engine<'_, B, W> {
    /// The step of `die` goes on by itself, and the next may begin.
    #[inline(never)]
    pub(super) fn free_die(&mut self, die: u32, now: Ticks) -> Outcome {
        let done = self.device.free_die(die, now, &mut self.link);
        done.map_err(|full| self.device_full(full))
    }

    /// The page operation of this number, which used a cache register, has ended.
    #[inline(never)]
    pub(super) fn end_cached(&mut self, number: u32, now: Ticks) -> Outcome {
        let Some((die, page)) = self.link.take_cached(number) else {
            return Ok(());
        };
        let done = self.device.complete_queued(die, page, now, &mut self.link);
        done.map_err(|full| self.device_full(full))
    }
}
