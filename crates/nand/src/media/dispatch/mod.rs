//! The end of queued flash commands of dies that share channels: each begins when its channel and its die are free.
//!
//! Operations on pages wait at their die. Whenever a channel is free it takes a die in turn, and that die's
//! queue says which of them make the next command. Nothing is booked in advance: a later command can still go first, so an end is known only when it
//! comes. The caller keeps the time: it is told of each phase that begins, and calls [`Dispatcher::end`] when the phase has ended; phases that end at
//! one instant end in the order of their beginning.
//!
//! | phase | held by it | then |
//! | --- | --- | --- |
//! | command; with it the data of a program | channel, die | cells |
//! | cells | die | of a read, its data wait for the channel; of a program or an erase, the die is free; where there is a status, that of an erase waits for the channel |
//! | data of a read, page by page; with the last the status | channel, die | with the last page the die is free |
//!
//! Where planes have cache registers, a die may begin its next command before (`registers`).
//!
//! A channel that is free gives way to waiting data first, then to commands. The rules are those of MQSim's flash back
//! end (docs/SPEC.md, "Commands dispatched").

mod line;
mod queue;
mod registers;
mod suspension;

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use destage_base::Ticks;

use self::queue::Queue;
pub use self::queue::{Operation, Order, Rules, Together};
use self::registers::Beside;
use self::suspension::Interrupted;
use super::{Cells, PlaneGaps, Registers};
use crate::operation::Kind;

/// Times of command and address on the channel, for one plane, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CommandTimes {
    /// Of a read.
    pub read: Ticks,
    /// Of a program.
    pub program: Ticks,
    /// Of an erase.
    pub erase: Ticks,
}

/// How reads interrupt programs and erases, where reads go first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspension {
    /// Ticks it takes.
    pub cost: Ticks,
    /// Most interruptions of one program or erase; further reads wait for its end.
    pub limit: u32,
    /// Pages that are programmed together.
    pub unit_pages: u32,
}

/// The structure of the media, and the rules of their queues.
#[derive(Clone, Debug)]
pub struct DispatchConfig {
    /// Channels.
    pub channels: u32,
    /// Dies of a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes: u32,
    /// Times of the cells. A command on several planes has the values of its first page.
    pub cells: Cells,
    /// Command and address of each plane.
    pub command: CommandTimes,
    /// Between the planes of a command on several.
    pub gaps: PlaneGaps,
    /// From the cells of a read to its data.
    pub ready: Ticks,
    /// Status on the channel: behind the last data of a read, and behind the cells of an erase.
    pub status: Ticks,
    /// Which command is next.
    pub rules: Rules,
    /// Planes have cache registers.
    pub registers: Option<Registers>,
    /// Reads interrupt programs and erases. Not where planes have cache registers.
    pub suspension: Option<Suspension>,
}

/// The end of a phase, by the die that has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Command, address, and the data of a program are on the die.
    Command(u32),
    /// The cells are done.
    Cells(u32),
    /// A page that was read has left.
    Data(u32),
    /// The pages of a command have gone from page register to cache register, or the other way.
    Register(u32),
    /// The cells have done a read that was next while others programmed or erased.
    Between(u32),
}

/// The value of a place of a list that is not in use.
impl Default for End {
    fn default() -> Self {
        Self::Command(0)
    }
}

/// Keeps the time of a [`Dispatcher`]. It calls the dispatcher again only after the call that informs it has returned.
pub trait Clock {
    /// The time.
    fn now(&self) -> Ticks;

    /// A phase begins now. [`Dispatcher::end`] is to be called with `end` when `length` has passed.
    fn begins(&mut self, end: End, length: Ticks);

    /// A command of these operations begins now; its die is busy from here on.
    fn issued(&mut self, command: &[Operation]) {
        let _ = command;
    }

    /// `operation` is done.
    fn done(&mut self, operation: &Operation);

    /// The command that `die` began last continues in parallel to the next, which may begin.
    fn leaves(&mut self, die: u32) {
        let _ = die;
    }

    /// A command of `die`, of this kind, has ended: of reads the first that began, and the same of the rest. Without cache registers
    /// there is no other.
    fn idle(&mut self, die: u32, kind: Kind) {
        let _ = (die, kind);
    }
}

#[derive(Clone, Default)]
struct Die {
    queue: Queue,
    /// The command under way; none if the die may begin the next.
    command: Vec<Operation>,
    /// Its pages that have left.
    left: usize,
    /// It begins a command as soon as its channel is free.
    is_ready: bool,
}

#[derive(Clone, Default)]
struct Channel {
    busy: bool,
    /// Dies that begin a command as soon as it is free.
    ready: u32,
    /// Dies with a page that waits to leave, once for each page.
    data: VecDeque<u32>,
    /// The die that is asked first.
    turn: u32,
}

/// Dies and channels. See the [module](self).
#[derive(Clone)]
pub struct Dispatcher {
    config: DispatchConfig,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// The channel of each die.
    channel_of: Vec<u32>,
    /// A bit for each channel that was idle when something came that it can begin.
    asked: Vec<u64>,
    /// Where planes have cache registers: by die.
    beside: Vec<Beside>,
    /// Where reads interrupt programs and erases: by die.
    interrupted: Vec<Interrupted>,
}

impl Dispatcher {
    /// Idle media.
    #[must_use]
    pub fn new(config: DispatchConfig) -> Self {
        let dies = config.channels * config.dies_per_channel;
        Self {
            dies: vec![Die::default(); dies as usize],
            channels: vec![Channel::default(); config.channels as usize],
            channel_of: (0..dies).map(|die| die / config.dies_per_channel).collect(),
            asked: vec![0; config.channels.div_ceil(u64::BITS) as usize],
            beside: match config.registers {
                Some(_) => vec![Beside::default(); dies as usize],
                None => Vec::new(),
            },
            interrupted: match config.suspension {
                Some(_) => vec![Interrupted::default(); dies as usize],
                None => Vec::new(),
            },
            config,
        }
    }

    /// `operation` waits at its die. Nothing begins before [`Dispatcher::dispatch`].
    #[inline(always)]
    pub fn push(&mut self, operation: Operation) {
        let die = &mut self.dies[operation.die as usize];
        die.queue.push(operation, &self.config.rules);
        let beside = &self.beside;
        let is_held_up = |queue| {
            let beside = beside.get(operation.die as usize);
            beside.is_some_and(|beside| beside.holds_up(queue, &self.config.rules))
        };
        if die.is_ready {
            return;
        }
        let is_free = die.command.is_empty() && !is_held_up(&die.queue);
        if is_free || !self.interrupted.is_empty() && self.interrupts(operation.die) {
            self.dies[operation.die as usize].is_ready = true;
            let number = self.channel_of[operation.die as usize];
            let channel = &mut self.channels[number as usize];
            channel.ready += 1;
            if !channel.busy {
                self.asked[(number / u64::BITS) as usize] |= 1 << (number % u64::BITS);
            }
        }
    }

    /// Whether `die` has a command that has not left it to the next, or commands wait there.
    #[must_use]
    pub fn is_busy(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        !state.command.is_empty() || !state.queue.is_empty()
    }

    /// Every idle channel, in the order of their numbers, begins a command if it can.
    pub fn dispatch<C: Clock>(&mut self, clock: &mut C) {
        for word in 0..self.asked.len() {
            let mut asked = core::mem::take(&mut self.asked[word]);
            while asked != 0 {
                // One that became busy and idle again has been asked since.
                self.issue(word as u32 * u64::BITS + asked.trailing_zeros(), clock);
                asked &= asked - 1;
            }
        }
    }

    /// A phase has ended now.
    pub fn end<C: Clock>(&mut self, end: End, clock: &mut C) {
        if let Some(registers) = self.config.registers {
            return self.end_beside(end, &registers, clock);
        }
        match end {
            End::Command(die) => self.command_ended(die, clock),
            End::Cells(die) if !self.interrupted.is_empty() && self.end_interrupted(die, clock) => {
            }
            End::Cells(die) | End::Between(die) => self.cells_ended(die, clock),
            End::Data(die) => self.data_left(die, clock),
            End::Register(_) => {}
        }
    }

    /// A die of `channel` begins a command, if an idle one has a waiting operation.
    #[inline]
    fn issue<C: Clock>(&mut self, channel: u32, clock: &mut C) {
        let state = &self.channels[channel as usize];
        if state.ready > 0 && !state.busy {
            self.begin_command(channel, clock);
        }
    }

    /// Begins a command on `channel`, which is idle, at one of its dies that are ready.
    fn begin_command<C: Clock>(&mut self, channel: u32, clock: &mut C) {
        let dies = self.config.dies_per_channel;
        let state = &mut self.channels[channel as usize];
        loop {
            let number = channel * dies + state.turn;
            state.turn += 1;
            if state.turn == dies {
                state.turn = 0;
            }
            if self.dies[number as usize].is_ready {
                return self.begin(channel, number, clock);
            }
        }
    }

    /// `die`, which is ready, begins a command over the idle `channel`.
    #[inline(always)]
    fn begin<C: Clock>(&mut self, channel: u32, die: u32, clock: &mut C) {
        let DispatchConfig { rules, planes, .. } = self.config;
        let state = &mut self.channels[channel as usize];
        state.ready -= 1;
        state.busy = true;
        let planes = match !self.interrupted.is_empty() && self.give_way(die) {
            // Only the first one is known to be of a page that no waiting operation programs.
            true => 1,
            false => planes,
        };
        let state = &mut self.dies[die as usize];
        state.is_ready = false;
        state.queue.take(&rules, planes, &mut state.command);
        clock.issued(&state.command);
        clock.begins(End::Command(die), self.config.command(&state.command));
    }

    fn command_ended<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let command = &self.dies[die as usize].command;
        if command.first().is_some_and(|first| first.loads) {
            command.iter().for_each(|operation| clock.done(operation));
            self.free_die(die, clock);
            return self.free_channel(self.channel_of[die as usize], clock);
        }
        let (length, kind) = (
            self.config.cells(command),
            command.first().map(|first| first.kind),
        );
        match self.stop_cells(die, clock) {
            Some(waits) => clock.begins(End::Between(die), waits + length),
            None => {
                if kind != Some(Kind::Read) {
                    self.note_change(die, length, clock);
                }
                clock.begins(End::Cells(die), length);
                self.make_ready(die);
            }
        }
        self.free_channel(self.channel_of[die as usize], clock);
    }

    /// `die` is ready if it has begun nothing and an operation waits there, or if a read that is next there interrupts the cells.
    #[inline(always)]
    fn make_ready(&mut self, die: u32) {
        let state = &self.dies[die as usize];
        let waits = state.command.is_empty() && !state.queue.is_empty();
        if !state.is_ready && (waits || !self.interrupted.is_empty() && self.interrupts(die)) {
            self.dies[die as usize].is_ready = true;
            self.channels[self.channel_of[die as usize] as usize].ready += 1;
        }
    }

    fn cells_ended<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let channel = self.channel_of[die as usize];
        let state = &self.dies[die as usize];
        let kind = state.command.first().map(|first| first.kind);
        if self.config.has_more(kind) {
            if state.is_ready {
                // A read that would have interrupted it comes after the status.
                self.dies[die as usize].is_ready = false;
                self.channels[channel as usize].ready -= 1;
            }
            for _ in 0..self.dies[die as usize].command.len() {
                self.channels[channel as usize].data.push_back(die);
            }
            if !self.channels[channel as usize].busy {
                self.begin_data(channel, clock);
            }
            return;
        }
        for operation in &state.command {
            clock.done(operation);
        }
        self.free_die(die, clock);
        if !self.channels[channel as usize].busy {
            self.issue(channel, clock);
        }
    }

    fn data_left<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let state = &mut self.dies[die as usize];
        if let Some(operation) = state.command.get(state.left) {
            clock.done(operation);
        }
        state.left += 1;
        if state.left >= state.command.len() {
            self.free_die(die, clock);
        }
        self.free_channel(self.channel_of[die as usize], clock);
    }

    fn free_die<C: Clock>(&mut self, die: u32, clock: &mut C) {
        let state = &mut self.dies[die as usize];
        let kind = state.command.first().map_or(Kind::Read, |first| first.kind);
        state.command.clear();
        state.left = 0;
        if !self.interrupted.is_empty() {
            self.resume(die, clock);
        }
        self.make_ready(die);
        clock.idle(die, kind);
    }

    fn free_channel<C: Clock>(&mut self, channel: u32, clock: &mut C) {
        self.channels[channel as usize].busy = false;
        if !self.begin_data(channel, clock) {
            self.issue(channel, clock);
        }
    }

    /// The page that has waited longest begins to leave over the idle `channel`; whether there was one.
    fn begin_data<C: Clock>(&mut self, channel: u32, clock: &mut C) -> bool {
        let state = &mut self.channels[channel as usize];
        let Some(number) = state.data.pop_front() else {
            return false;
        };
        state.busy = true;
        let die = &self.dies[number as usize];
        let is_last = die.left + 1 == die.command.len();
        let length = self.config.leaving(die.command.get(die.left), is_last);
        clock.begins(End::Data(number), length);
        true
    }
}

impl DispatchConfig {
    /// How long `command` is on the channel before its cells begin.
    fn command(&self, command: &[Operation]) -> Ticks {
        let Some(first) = command.first() else {
            return 0;
        };
        let (each, gap) = match first.kind {
            Kind::Read => (self.command.read, self.gaps.read),
            Kind::Program => (self.command.program, self.gaps.program),
            Kind::Erase => (self.command.erase, self.gaps.erase),
        };
        let pages = command.len() as u64;
        let data = match first.kind == Kind::Program || first.loads {
            true => command.iter().map(|page| page.data).sum(),
            false => 0,
        };
        pages * each + (pages - 1) * gap + data
    }

    /// Whether a command of this kind is on the channel once more after its cells.
    #[inline(always)]
    fn has_more(&self, kind: Option<Kind>) -> bool {
        match kind {
            Some(Kind::Read) => true,
            Some(Kind::Erase) => self.status > 0,
            Some(Kind::Program) | None => false,
        }
    }

    /// How long `page` is on the channel when it leaves, the last of its command or not. One that is moved inside its die has no status.
    #[inline(always)]
    fn leaving(&self, page: Option<&Operation>, is_last: bool) -> Ticks {
        let data = page.map_or(0, |page| page.data);
        let has_status = is_last && page.is_some_and(|of| of.data > 0 || of.kind == Kind::Erase);
        data + if has_status { self.status } else { 0 }
    }

    /// How long the cells of `command` take.
    fn cells(&self, command: &[Operation]) -> Ticks {
        let Some(first) = command.first() else {
            return 0;
        };
        match first.kind {
            Kind::Read => self.cells.read(first.page_type) + self.ready,
            Kind::Program => self.cells.program(first.page_type),
            Kind::Erase => self.cells.erase,
        }
    }
}
