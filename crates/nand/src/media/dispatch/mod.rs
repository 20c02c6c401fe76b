//! The timing of flash commands that wait in queues, for dies that share channels. A command begins when its channel
//! and its die are free.
//!
//! Operations on pages wait in the queue of their die. Whenever a channel is free, the dispatcher chooses one of its
//! ready dies, in turn. The queue of this die chooses the operations that form the next command. Nothing is booked in
//! advance, because an operation that arrives later can still overtake waiting operations. The end of a command is
//! therefore not known before it occurs.
//!
//! The caller keeps the time. The dispatcher reports each phase that begins ([`Clock::begins`]), and the caller calls
//! [`Dispatcher::end`] when the phase has ended. If several phases end at the same time, the caller has to end them
//! in the order in which they began.
//!
//! | phase | occupies | afterwards |
//! | --- | --- | --- |
//! | command and address, and the data of a program | channel, die | the cells work |
//! | cells | die | after a read, its data wait for the channel; after a program, the die is free; after an erase, the status waits for the channel, or without a status the die is free |
//! | data of a read, page by page, with the status after the last page; status of an erase | channel, die | after the last page, or after the status of an erase, the die is free |
//!
//! If planes have cache registers, a die may begin its next command before the latest command is over (module
//! `registers`).
//!
//! A free channel serves waiting data before commands. The rules are those of the flash back end of MQSim
//! (docs/SPEC.md, "Commands dispatched").

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
use self::registers::Pipeline;
use self::suspension::Interrupted;
use super::{Cells, PlaneGaps, Registers};
use crate::operation::Kind;

/// Times of command and address on the channel, for each plane of a command, in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CommandTimes {
    /// Ticks of a read.
    pub read: Ticks,
    /// Ticks of a program.
    pub program: Ticks,
    /// Ticks of an erase.
    pub erase: Ticks,
}

/// How reads interrupt programs and erases, in queues where reads go first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Suspension {
    /// Ticks from the stop of the cells to the start of the read.
    pub cost: Ticks,
    /// The largest number of interruptions of one program or erase; further reads wait for its end.
    pub limit: u32,
    /// Number of pages of a block that are programmed together. A read of one of these pages does not interrupt their
    /// program.
    pub unit_pages: u32,
}

/// The structure of the media, and the rules of the queues.
#[derive(Clone, Debug)]
pub struct DispatchConfig {
    /// Number of channels.
    pub channels: u32,
    /// Number of dies on a channel.
    pub dies_per_channel: u32,
    /// Number of planes of a die.
    pub planes: u32,
    /// Times of the cells. For a command on several planes, the type of its first page determines the time.
    pub cells: Cells,
    /// Times of command and address, for each plane of a command.
    pub command: CommandTimes,
    /// Pauses on the channel between the planes of a command on several planes.
    pub gaps: PlaneGaps,
    /// Ticks from the end of the cells' work on a read until its data are ready for the channel.
    pub ready: Ticks,
    /// Ticks of the status on the channel. The status follows the last data of a read, and the cells' work on an
    /// erase.
    pub status: Ticks,
    /// How the next command of a die is chosen.
    pub rules: Rules,
    /// The cache registers of the planes; `None` if planes have none.
    pub registers: Option<Registers>,
    /// How reads interrupt programs and erases; `None` if reads do not interrupt. It has to be `None` if planes have
    /// cache registers.
    pub suspension: Option<Suspension>,
}

/// A phase of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// Command and address, and the data of a program, pass over the channel to the die.
    #[default]
    Command,
    /// The cells work.
    Cells,
    /// The data of a page that was read, or the status of an erase, pass over the channel.
    Data,
    /// The pages of a command move from page register to cache register, or from cache register to page register.
    Register,
    /// The cells do a read that interrupted a program or an erase.
    Between,
}

/// The caller of a [`Dispatcher`], which keeps the time and receives events. A method of this trait may not call the
/// dispatcher; the caller calls it again after the method has returned.
pub trait Clock {
    /// The current time.
    fn now(&self) -> Ticks;

    /// `phase` of a command of `die` begins now. The caller has to call [`Dispatcher::end`] when `length` ticks have
    /// passed.
    fn begins(&mut self, phase: Phase, die: u32, length: Ticks);

    /// A command of these operations begins now. The die of the command is busy from now on.
    fn issued(&mut self, command: &[Operation]) {
        let _ = command;
    }

    /// `operation` is done.
    fn done(&mut self, operation: &Operation);

    /// The latest command of `die` continues in parallel with the next one, which may begin from now on.
    fn leaves(&mut self, die: u32) {
        let _ = die;
    }

    /// A command of this kind has ended on `die`. With cache registers, several commands of one kind may be in
    /// progress; then the command that began first has ended.
    fn idle(&mut self, die: u32, kind: Kind) {
        let _ = (die, kind);
    }
}

#[derive(Clone, Default)]
struct Die {
    queue: Queue,
    /// The command that occupies the die; empty if the die may begin the next command.
    command: Vec<Operation>,
    /// Number of pages of the command whose data have passed over the channel.
    left: usize,
    /// Whether the die begins a command as soon as its channel is free.
    is_ready: bool,
}

#[derive(Clone, Default)]
struct Channel {
    busy: bool,
    /// Number of dies that begin a command as soon as the channel is free.
    ready: u32,
    /// The dies with pages whose data wait for the channel. There is one entry for each page, and the page that has
    /// waited longest is first.
    data: VecDeque<u32>,
    /// The position, on this channel, of the die that is considered first for the next command.
    turn: u32,
}

/// The dies and channels, and the commands in progress. See the [module](self).
#[derive(Clone)]
pub struct Dispatcher {
    config: DispatchConfig,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// The channel of each die.
    channel_of: Vec<u32>,
    /// A bit for each channel. The bit is set if a die of the channel has become ready while the channel was idle.
    asked: Vec<u64>,
    /// If planes have cache registers: by die, the commands that continue in parallel with the latest command.
    pipelines: Vec<Pipeline>,
    /// If reads interrupt programs and erases: by die, the interrupted operation.
    interrupted: Vec<Interrupted>,
}

impl Dispatcher {
    /// Media on which nothing is in progress.
    #[must_use]
    pub fn new(config: DispatchConfig) -> Self {
        let dies = config.channels * config.dies_per_channel;
        Self {
            dies: vec![Die::default(); dies as usize],
            channels: vec![Channel::default(); config.channels as usize],
            channel_of: (0..dies).map(|die| die / config.dies_per_channel).collect(),
            asked: vec![0; config.channels.div_ceil(u64::BITS) as usize],
            pipelines: match config.registers {
                Some(_) => vec![Pipeline::default(); dies as usize],
                None => Vec::new(),
            },
            interrupted: match config.suspension {
                Some(_) => vec![Interrupted::default(); dies as usize],
                None => Vec::new(),
            },
            config,
        }
    }

    /// Adds `operation` to the queue of its die. No command begins before [`Dispatcher::dispatch`].
    #[inline(always)]
    pub fn push(&mut self, operation: Operation) {
        let die = &mut self.dies[operation.die as usize];
        die.queue.push(operation, &self.config.rules);
        let pipelines = &self.pipelines;
        let is_held_up = |queue| {
            let pipeline = pipelines.get(operation.die as usize);
            pipeline.is_some_and(|pipeline| pipeline.holds_up(queue, &self.config.rules))
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

    /// Whether a command occupies `die`, or operations wait in its queue. A command that continues in parallel with
    /// the next command ([`Clock::leaves`]) does not occupy the die.
    #[must_use]
    pub fn is_busy(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        !state.command.is_empty() || !state.queue.is_empty()
    }

    /// Begins a command on every idle channel that has a ready die, in the order of the channels' numbers.
    pub fn dispatch<C: Clock>(&mut self, clock: &mut C) {
        for word in 0..self.asked.len() {
            let mut asked = core::mem::take(&mut self.asked[word]);
            while asked != 0 {
                // `issue` does nothing if the channel has begun a command since: its ready dies are considered when
                // the channel becomes idle again.
                self.issue(word as u32 * u64::BITS + asked.trailing_zeros(), clock);
                asked &= asked - 1;
            }
        }
    }

    /// The caller reports that `phase` of a command of `die` ends now.
    pub fn end<C: Clock>(&mut self, phase: Phase, die: u32, clock: &mut C) {
        if let Some(registers) = self.config.registers {
            return self.end_with_registers(phase, die, &registers, clock);
        }
        match phase {
            Phase::Command => self.command_ended(die, clock),
            Phase::Cells if !self.interrupted.is_empty() && self.end_interrupted(die, clock) => {}
            Phase::Cells | Phase::Between => self.cells_ended(die, clock),
            Phase::Data => self.data_left(die, clock),
            Phase::Register => {}
        }
    }

    /// Begins a command on `channel` if the channel is idle and one of its dies is ready.
    #[inline]
    fn issue<C: Clock>(&mut self, channel: u32, clock: &mut C) {
        let state = &self.channels[channel as usize];
        if state.ready > 0 && !state.busy {
            self.begin_command(channel, clock);
        }
    }

    /// Begins a command on the idle `channel`, for the next of its ready dies.
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

    /// Begins a command of `die`, which is ready, over the idle `channel`.
    #[inline(always)]
    fn begin<C: Clock>(&mut self, channel: u32, die: u32, clock: &mut C) {
        let DispatchConfig { rules, planes, .. } = self.config;
        let state = &mut self.channels[channel as usize];
        state.ready -= 1;
        state.busy = true;
        let planes = match !self.interrupted.is_empty() && self.give_way(die) {
            // The command has one plane, because only the first read was checked: other reads could be of pages that
            // the interrupted operation changes.
            true => 1,
            false => planes,
        };
        let state = &mut self.dies[die as usize];
        state.is_ready = false;
        state.queue.take(&rules, planes, &mut state.command);
        clock.issued(&state.command);
        clock.begins(Phase::Command, die, self.config.command(&state.command));
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
            Some(waits) => clock.begins(Phase::Between, die, waits + length),
            None => {
                if kind != Some(Kind::Read) {
                    self.note_change(die, length, clock);
                }
                clock.begins(Phase::Cells, die, length);
                self.make_ready(die);
            }
        }
        self.free_channel(self.channel_of[die as usize], clock);
    }

    /// Makes `die` ready if no command occupies the die and operations wait in its queue, or if the next operation of
    /// the die is a read that interrupts the cells.
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
                // The read that was to interrupt the erase waits until the status has been sent.
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

    /// Begins to transfer the data of the page that has waited longest, over the idle `channel`. Returns whether a page
    /// waited.
    fn begin_data<C: Clock>(&mut self, channel: u32, clock: &mut C) -> bool {
        let state = &mut self.channels[channel as usize];
        let Some(number) = state.data.pop_front() else {
            return false;
        };
        state.busy = true;
        let die = &self.dies[number as usize];
        let is_last = die.left + 1 == die.command.len();
        let length = self.config.leaving(die.command.get(die.left), is_last);
        clock.begins(Phase::Data, number, length);
        true
    }
}

impl DispatchConfig {
    /// Ticks for which `command` occupies the channel before its cells begin.
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

    /// Whether a command of this kind uses the channel again after the cells' work. A read uses the channel for its
    /// data, an erase for its status.
    #[inline(always)]
    fn has_more(&self, kind: Option<Kind>) -> bool {
        match kind {
            Some(Kind::Read) => true,
            Some(Kind::Erase) => self.status > 0,
            Some(Kind::Program) | None => false,
        }
    }

    /// Ticks for which `page` occupies the channel after the cells' work: for its data and, if it is the last page of
    /// a command, for the status. A page that is moved inside its die has neither data nor status on the channel.
    #[inline(always)]
    fn leaving(&self, page: Option<&Operation>, is_last: bool) -> Ticks {
        let data = page.map_or(0, |page| page.data);
        let has_status = is_last && page.is_some_and(|of| of.data > 0 || of.kind == Kind::Erase);
        data + if has_status { self.status } else { 0 }
    }

    /// Ticks that the cells work on `command`.
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
