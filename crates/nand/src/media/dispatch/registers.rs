//! Dies whose planes have cache registers. The data of a program arrive at the die, or the data of a read are sent to
//! the controller, while the cells work on another page.
//!
//! The latest command of a die occupies the die until the next command may begin. After a program, the next command
//! may begin when the pages have moved to the page registers; after a read, when the cells have read the pages. From
//! then on the earlier command continues in parallel with the next command.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::queue::{Queue, plane_bit};
use super::{Clock, Dispatcher, Operation, Phase, Registers, Rules, Together};
use crate::operation::Kind;

/// The commands of a die that continue in parallel with the latest command.
#[derive(Clone, Default)]
pub(super) struct Pipeline {
    /// The command that no longer occupies the die, but still uses the cells or the page registers. It is a program
    /// on which the cells work, or a read whose pages are still in the page registers.
    cells: Vec<Operation>,
    /// Whether the pages of the read in `cells` are moving to the cache registers.
    is_moving: bool,
    /// The progress of the latest command of the die.
    latest: Latest,
    /// Pages that were read and are in cache registers, in the order in which their data use the channel. The flag of
    /// a page says whether it is the last page of its command.
    leaving: VecDeque<(Operation, bool)>,
    /// Planes of the pages in `leaving`, one bit for each plane.
    leaving_planes: u64,
    /// Planes of the read in `cells`, one bit for each plane. Its pages move to the cache registers next.
    following_planes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Latest {
    /// The command is on the channel, or no command occupies the die.
    #[default]
    Comes,
    /// The command has arrived and waits for the cells.
    IsThere,
    /// The cells work on the command, or its pages move from the cache registers to the page registers.
    InCells,
    /// The cells have read the pages, and the pages wait for the cache registers. The command occupies the die until
    /// the data of its pages have passed over the channel. Or the cells have erased a block, and the status follows.
    WasRead,
    /// The data or the status of the command wait for the channel.
    Leaves,
}

impl Pipeline {
    /// Whether the next command of `queue` has to wait for a cache register. A program has to wait if the cache
    /// register of its plane holds a page that was read, or is about to receive such a page. If other programs may be
    /// joined to the program, it also has to wait if this is true of any other plane.
    pub fn holds_up(&self, queue: &Queue, rules: &Rules) -> bool {
        let taken = self.leaving_planes | self.following_planes;
        taken != 0
            && queue.next(rules).is_some_and(|next| {
                let joined = rules.together != Together::Never;
                next.kind == Kind::Program && (joined || taken & plane_bit(next) != 0)
            })
    }
}

/// A bit for each plane of `command`.
fn planes(command: &[Operation]) -> u64 {
    let bits = command.iter().map(plane_bit);
    bits.fold(0, |planes, bit| planes | bit)
}

impl Registers {
    /// Ticks that the pages of `command` need to move between the registers. `None` if the command does not use cache
    /// registers, and therefore occupies its die until it is done.
    fn moves(&self, command: &[Operation]) -> Option<u64> {
        let time = match command.first()?.kind {
            Kind::Read => self.read,
            Kind::Program => self.program,
            Kind::Erase => None,
        };
        time.filter(|_| command.iter().all(|page| page.caches))
    }
}

impl Dispatcher {
    /// Ends a phase on a die whose planes have cache registers.
    #[inline(never)]
    pub(super) fn end_with_registers<C: Clock>(
        &mut self,
        phase: Phase,
        die: u32,
        registers: &Registers,
        clock: &mut C,
    ) {
        match phase {
            Phase::Command => self.pipelines[die as usize].latest = Latest::IsThere,
            Phase::Cells | Phase::Between => self.leave_cells(die, registers, clock),
            Phase::Data => self.leave_register(die, clock),
            Phase::Register => self.change_register(die, clock),
        }
        self.go_on(die, registers, clock);
        let state = &mut self.dies[die as usize];
        let may_begin = state.command.is_empty() && !state.queue.is_empty();
        let is_held_up = self.pipelines[die as usize].holds_up(&state.queue, &self.config.rules);
        let channel = self.channel_of[die as usize];
        let on_channel = &mut self.channels[channel as usize];
        on_channel.ready -= u32::from(state.is_ready);
        state.is_ready = may_begin && !is_held_up;
        on_channel.ready += u32::from(state.is_ready);
        if matches!(phase, Phase::Command | Phase::Data) {
            on_channel.busy = false;
        }
        self.use_channel(channel, clock);
    }

    /// The cells of `die` have done their work.
    fn leave_cells<C: Clock>(&mut self, die: u32, registers: &Registers, clock: &mut C) {
        let (state, pipeline) = (
            &mut self.dies[die as usize],
            &mut self.pipelines[die as usize],
        );
        let ended = match (pipeline.cells.is_empty(), state.command.first()) {
            (true, Some(latest)) if latest.kind == Kind::Read => {
                if registers.moves(&state.command).is_none() {
                    pipeline.latest = Latest::WasRead;
                    return;
                }
                pipeline.following_planes = planes(&state.command);
                pipeline.latest = Latest::Comes;
                core::mem::swap(&mut state.command, &mut pipeline.cells);
                return clock.leaves(die);
            }
            (true, Some(latest)) if self.config.has_more(Some(latest.kind)) => {
                pipeline.latest = Latest::WasRead;
                return;
            }
            (true, _) => {
                pipeline.latest = Latest::Comes;
                &mut state.command
            }
            (false, _) => &mut pipeline.cells,
        };
        let kind = ended.first().map_or(Kind::Program, |first| first.kind);
        ended.drain(..).for_each(|change| clock.done(&change));
        clock.idle(die, kind);
    }

    /// The pages of a command of `die` have moved between the registers.
    fn change_register<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let (state, pipeline) = (
            &mut self.dies[die as usize],
            &mut self.pipelines[die as usize],
        );
        if pipeline.cells.is_empty() {
            // The pages of a program are now in the page registers. The cells are free and begin to program these
            // pages.
            pipeline.latest = Latest::Comes;
            core::mem::swap(&mut state.command, &mut pipeline.cells);
            clock.leaves(die);
            return clock.begins(Phase::Cells, die, self.config.cells(&pipeline.cells));
        }
        pipeline.is_moving = false;
        pipeline.leaving_planes |= core::mem::take(&mut pipeline.following_planes);
        let data = &mut self.channels[self.channel_of[die as usize] as usize].data;
        let last = pipeline.cells.len() - 1;
        for (index, page) in pipeline.cells.drain(..).enumerate() {
            pipeline.leaving.push_back((page, index == last));
            data.push_back(die);
        }
    }

    /// The data of a page that `die` has read, or the status of an erase, have passed over the channel.
    fn leave_register<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let (state, pipeline) = (
            &mut self.dies[die as usize],
            &mut self.pipelines[die as usize],
        );
        let mut kind = Kind::Read;
        let is_last = match pipeline.leaving.pop_front() {
            Some((page, is_last)) => {
                pipeline.leaving_planes &= !plane_bit(&page);
                clock.done(&page);
                is_last
            }
            None => {
                if let Some(page) = state.command.get(state.left) {
                    kind = page.kind;
                    clock.done(page);
                }
                state.left += 1;
                let is_last = state.left >= state.command.len();
                if is_last {
                    state.command.clear();
                    (state.left, pipeline.latest) = (0, Latest::Comes);
                }
                is_last
            }
        };
        if is_last {
            clock.idle(die, kind);
        }
    }

    /// Begins every phase of `die` that can begin now, except phases on the channel.
    fn go_on<C: Clock>(&mut self, die: u32, registers: &Registers, clock: &mut C) {
        let (state, pipeline) = (&self.dies[die as usize], &mut self.pipelines[die as usize]);
        if pipeline.latest == Latest::IsThere && pipeline.cells.is_empty() {
            pipeline.latest = Latest::InCells;
            let is_program = state.command.first().map(|first| first.kind) == Some(Kind::Program);
            match registers.moves(&state.command).filter(|_| is_program) {
                Some(time) => clock.begins(Phase::Register, die, time),
                None => clock.begins(Phase::Cells, die, self.config.cells(&state.command)),
            }
        }
        let are_free = pipeline.leaving_planes & pipeline.following_planes == 0;
        if pipeline.following_planes != 0 && are_free && !pipeline.is_moving {
            pipeline.is_moving = true;
            clock.begins(Phase::Register, die, registers.read.unwrap_or(0));
        }
        let reads = state.command.first().map(|first| first.kind) == Some(Kind::Read);
        let are_free = !reads || pipeline.leaving_planes & planes(&state.command) == 0;
        if pipeline.latest == Latest::WasRead && are_free {
            pipeline.latest = Latest::Leaves;
            let data = &mut self.channels[self.channel_of[die as usize] as usize].data;
            data.extend(state.command.iter().map(|_| die));
        }
    }

    /// Begins a phase on `channel`, if the channel is idle. If pages wait for the channel, the data of the page that
    /// has waited longest are sent. However, if the next command of this page's die is a read that may begin, the
    /// read command is sent first. If no page waits, a command begins.
    fn use_channel<C: Clock>(&mut self, channel: u32, clock: &mut C) {
        let state = &mut self.channels[channel as usize];
        if state.busy {
            return;
        }
        let Some(&number) = state.data.front() else {
            return self.issue(channel, clock);
        };
        let die = &self.dies[number as usize];
        let next = die.queue.next(&self.config.rules);
        if die.is_ready && next.is_some_and(|next| next.kind == Kind::Read) {
            return self.begin(channel, number, clock);
        }
        state.data.pop_front();
        state.busy = true;
        let length = match self.pipelines[number as usize].leaving.front() {
            Some((page, is_last)) => self.config.leaving(Some(page), *is_last),
            None => {
                let is_last = die.left + 1 == die.command.len();
                self.config.leaving(die.command.get(die.left), is_last)
            }
        };
        clock.begins(Phase::Data, number, length);
    }
}
