//! Planes with cache registers. A die may run several steps in parallel, and each step ends on its own.

use destage_base::Ticks;
use destage_nand::media;

use super::commands::{Cached, IssuedCached};
use super::event::Event;
use super::link::Link;
use super::{Engine, Outcome, Probe};

impl<P: Probe> Link<'_, P> {
    /// Schedules the events of `issued`, a command of the step of `die` that uses a cache register.
    pub fn wait_for_cached(&mut self, die: u32, issued: &IssuedCached) {
        let now = self.events.now();
        let media::Cached { done, next, .. } = issued.cached;
        self.probe.die_works(die, done - now);
        if P::HEARS_COMMANDS
            && let Some(told) = &issued.told
        {
            self.probe.command_begins(die, told, now, done - now);
        }
        self.events.after(next - now, Event::DieFree(die));
        if issued.is_last
            && let Some(commands) = self.time.booked()
        {
            let number = commands.number(die);
            self.events.after(done - now, Event::CachedDone(number));
        }
    }

    /// Issues the next command of the step of `die`, whose commands use a cache register.
    fn go_on_cached(&mut self, die: u32) {
        let now = self.events.now();
        let commands = self.time.booked_mut();
        if let Some(issued) = commands.and_then(|commands| commands.issue_cached(die, now)) {
            self.wait_for_cached(die, &issued);
        }
    }

    /// Removes and returns the step `number`, which used a cache register and was due to end now. If reads have
    /// interrupted the step, schedules its new end and returns `None`.
    fn take_cached(&mut self, number: u32) -> Option<Cached> {
        let now = self.events.now();
        let taken = match self.time.booked_mut()?.take_cached(number, now) {
            Ok(taken) => taken,
            Err((die, left)) => {
                self.probe.die_works(die, left);
                self.events.after(left, Event::CachedDone(number));
                return None;
            }
        };
        self.meter.release(taken.die, now);
        for told in taken.told.iter().flatten() {
            self.probe.command_ended(taken.die, told);
        }
        self.probe.overlapping_ending(number);
        Some(taken)
    }
}

impl<P: Probe> Engine<'_, P> {
    /// The next command or step may begin at `die`. If the present step has more commands, its next command is
    /// issued. Otherwise the step continues with its cache register, and the device may begin the next step.
    #[inline(never)]
    pub(super) fn free_die(&mut self, die: u32, now: Ticks) -> Outcome {
        let device = &mut self.device;
        if self.link.is_between(die) {
            let read = device.let_reads_pass(die, now, &mut self.link);
            read.map_err(|full| self.device_full(full))?;
            self.link.go_on_cached(die);
            return Ok(());
        }
        let Some(token) = self.link.token(die) else {
            return Ok(());
        };
        let done = device.free(token, now, &mut self.link);
        done.map_err(|full| self.device_full(full))
    }

    /// The step `number`, which used a cache register, has ended, unless reads have interrupted it.
    #[inline(never)]
    pub(super) fn end_cached(&mut self, number: u32, now: Ticks) -> Outcome {
        match self.link.take_cached(number) {
            Some(Cached { token, .. }) => self.end(token, now),
            None => Ok(()),
        }
    }
}
