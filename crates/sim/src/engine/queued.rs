//! Steps of dies whose commands wait in queues: page operations of one command side by side, everything else one by one.
//!
//! A page operation that is one command waits with others of its die, and its die begins the next. A step of several
//! commands (a garbage collection, a merge, a read through a map in flash) is alone with what began before it: each of
//! its commands joins the queue when the one before is done.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::{PageOperation, Progress, Token, Transaction};
use destage_nand::media::Cells;
use destage_nand::media::dispatch::{Clock, DispatchConfig, Dispatcher, End, Operation, Order};
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations};

use super::event::{Event, Packed, Phase};
use super::plan::{Planned, Planner};
use super::{Engine, Mover, Outcome, Witness};
use crate::events::EventList;
use crate::meter::FlashMeter;

/// What has ended at a die.
pub(super) enum Ended {
    /// A page operation that waited with others.
    Page(Token),
    /// A command of the step of this die.
    Command(u32),
}

impl Ended {
    /// The end of the command that the media call `number`: with them a page operation has the number of its token, and a command
    /// of a step that of its die.
    #[inline(always)]
    fn of(number: u32) -> Self {
        match is_of_step(number) {
            true => Self::Command(number),
            false => Self::Page(Token::from_number(number)),
        }
    }
}

/// Whether `number` is, with the media, that of a command of a step.
#[inline(always)]
fn is_of_step(number: u32) -> bool {
    number < Token::IN_TABLE
}

/// With the media, the number of a command that is part of what waits with others, but for the last of its commands.
const PART: u32 = u32::MAX;

/// As what `operation` is told.
fn told(planner: &Planner, operation: &Operation) -> Option<FlashCommand> {
    let place = (operation.plane, operation.block, operation.page);
    planner.told(operation.kind, place, operation.page_type, operation.loads)
}

/// What a die does one by one.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it.
    commands: VecDeque<Planned>,
    /// The command of it that joined the queue last moves or erases what was there, and serves no request.
    moves: bool,
    /// When its first command began, if that has.
    began: Option<Ticks>,
    /// It does not end before: the map is busy until then.
    not_before: Ticks,
    collects: bool,
    /// The transaction that it is; none before the first.
    token: Option<Token>,
}

/// Which die of the device is which of the media: neighbours in the stripe of dies are on different channels.
struct Shape {
    to_media: Vec<u32>,
    to_device: Vec<u32>,
}

impl Shape {
    fn new(channels: u32, dies_per_channel: u32) -> Self {
        let dies = 0..channels * dies_per_channel;
        let place = |die| die % channels * dies_per_channel + die / channels;
        let die = |place| place % dies_per_channel * channels + place / dies_per_channel;
        Self {
            to_media: dies.clone().map(place).collect(),
            to_device: dies.map(die).collect(),
        }
    }

    #[inline]
    fn to_media(&self, die: u32) -> u32 {
        self.to_media[die as usize]
    }

    #[inline]
    fn to_device(&self, place: u32) -> u32 {
        self.to_device[place as usize]
    }
}

/// The media, and what is to come on each die.
pub(super) struct Queued {
    media: Dispatcher,
    /// Planes have cache registers.
    has_registers: bool,
    /// What came first is next.
    pub keeps_order: bool,
    /// Reads begin in the midst of steps, and interrupt commands.
    pub takes_reads: bool,
    shape: Shape,
    planner: Planner,
    cells: Cells,
    /// By die, the erase that has begun and waits for its cells; only for who hears of commands.
    erases: Vec<Option<FlashCommand>>,
    steps: Vec<Step>,
    /// What is left of reads in the midst of steps, by the numbers that they have with the media, and their dies.
    between: BTreeMap<u32, (u32, VecDeque<Planned>)>,
    /// The page operations whose commands are under way, by the numbers that these have with the media. Only for a witness that
    /// listens.
    pages: BTreeMap<u32, PageOperation>,
    /// Commands that have ended, by these numbers, until the device is told.
    ended: VecDeque<u32>,
}

/// Whom the media tell.
struct Teller<'t, B, W> {
    mover: &'t mut B,
    planner: &'t Planner,
    cells: &'t Cells,
    erases: &'t mut [Option<FlashCommand>],
    shape: &'t Shape,
    witness: &'t mut W,
    events: &'t mut EventList<Packed>,
    meter: &'t mut FlashMeter,
    steps: &'t mut [Step],
    pages: &'t mut BTreeMap<u32, PageOperation>,
    ended: &'t mut VecDeque<u32>,
}

impl<B: Mover, W: Witness> Teller<'_, B, W> {
    /// `command` of `die` begins. An erase does so with its cells: it may wait for others.
    fn tell_mover(&mut self, die: u32, command: &[Operation]) {
        let now = self.events.now();
        let data: Ticks = command.iter().map(|page| page.data).sum();
        for operation in command {
            let Some(told) = told(self.planner, operation) else {
                continue;
            };
            let cells = match told.kind {
                _ if operation.loads => 0,
                Kind::Read => self.cells.read(operation.page_type),
                Kind::Program => self.cells.program(operation.page_type),
                Kind::Erase => {
                    self.erases[die as usize] = Some(told);
                    continue;
                }
            };
            self.mover.command_begins(die, &told, now, data + cells);
        }
    }

    /// The cells of `die` begin: with an erase, if one waits.
    fn begin_erase(&mut self, die: u32) {
        if let Some(told) = self.erases[die as usize].take() {
            let (now, time) = (self.events.now(), self.cells.erase);
            self.mover.command_begins(die, &told, now, time);
        }
    }

    /// A command of the step of `die` begins, which may be its first.
    #[cold]
    fn begin_step(&mut self, die: u32) {
        let step = &mut self.steps[die as usize];
        if step.began.is_some() {
            return;
        }
        step.began = Some(self.events.now());
        if step.collects {
            self.witness.collects(die, true);
        }
    }

    /// `command` of `die`, of this kind, begins.
    fn tell_issued(&mut self, die: u32, kind: Kind, command: &[Operation]) {
        let of_step = command.iter().any(|of| is_of_step(of.token));
        let moves = of_step && self.steps[die as usize].moves;
        self.witness.command_begins(die, kind, moves);
        for operation in command {
            if let Some(page) = self.pages.get(&operation.token) {
                self.witness.serves(die, *page);
            }
        }
    }
}

impl<B: Mover, W: Witness> Clock for Teller<'_, B, W> {
    fn now(&self) -> Ticks {
        self.events.now()
    }

    fn begins(&mut self, end: End, length: Ticks) {
        let (phase, die) = match end {
            End::Command(die) => (Phase::Command, die),
            End::Cells(die) => (Phase::Cells, die),
            End::Data(die) => (Phase::Data, die),
            End::Register(die) => (Phase::Register, die),
            End::Between(die) => (Phase::Between, die),
        };
        self.events.after(length, Event::Phase { phase, die });
        if W::LISTENS {
            let die = self.shape.to_device(die);
            self.witness.phase_begins(die, end, length);
        }
        if B::HEARS_COMMANDS && phase == Phase::Cells {
            self.begin_erase(self.shape.to_device(die));
        }
    }

    fn issued(&mut self, command: &[Operation]) {
        if let Some(first) = command.first() {
            let die = self.shape.to_device(first.die);
            self.meter.occupy(die, self.events.now());
            for operation in command {
                if is_of_step(operation.token) {
                    self.begin_step(die);
                }
            }
            if W::LISTENS {
                self.tell_issued(die, first.kind, command);
            }
            if B::HEARS_COMMANDS {
                self.tell_mover(die, command);
            }
        }
    }

    fn done(&mut self, operation: &Operation) {
        if B::HEARS_COMMANDS
            && let Some(told) = told(self.planner, operation)
        {
            let die = self.shape.to_device(operation.die);
            self.mover.command_ended(die, &told);
        }
        if W::LISTENS
            && let Some(page) = self.pages.remove(&operation.token)
        {
            self.witness.served(page);
        }
        if operation.token != PART {
            self.ended.push_back(operation.token);
        }
    }

    fn leaves(&mut self, die: u32) {
        self.witness.command_leaves(self.shape.to_device(die));
    }

    fn idle(&mut self, die: u32, kind: Kind) {
        let die = self.shape.to_device(die);
        self.meter.release(die, self.events.now());
        self.witness.command_ended(die, kind);
    }
}

impl Queued {
    /// Idle media under a device of `dies`.
    pub fn new(media: DispatchConfig, planner: Planner, dies: u32) -> Self {
        Self {
            shape: Shape::new(media.channels, media.dies_per_channel),
            has_registers: media.registers.is_some(),
            keeps_order: media.rules.order == Order::Arrival,
            takes_reads: media.suspension.is_some(),
            cells: media.cells.clone(),
            media: Dispatcher::new(media),
            planner,
            erases: vec![None; dies as usize],
            pages: BTreeMap::new(),
            steps: vec![Step::default(); dies as usize],
            between: BTreeMap::new(),
            ended: VecDeque::new(),
        }
    }

    /// `die` begins `operations`, which are `transaction`, called `token`; meanwhile the map is busy for `map_time`. Nothing if there
    /// is nothing to wait for. A `W` watches.
    #[inline(always)]
    pub fn begin<W: Witness>(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
    ) -> Option<Progress> {
        if let (Transaction::Page(page), [operation], 0) = (transaction, operations.all(), map_time)
            && self.planner.is_one(operation)
        {
            let planned = self.planner.one(operation);
            if W::LISTENS {
                self.pages.insert(token.number(), page);
            }
            self.push_beside(die, &planned, token.number());
            return Some(Progress::Beside);
        }
        self.begin_several::<W>(die, (transaction, token), operations, now, map_time)
    }

    /// Begins `operations`, which may take more than one command, for `transaction`. Programs of units, of a write or of fillers, wait with others, one behind the
    /// other, and so does a read of one command; everything else is a step.
    #[inline(never)]
    fn begin_several<W: Witness>(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
    ) -> Option<Progress> {
        let collects = transaction == Transaction::Collection;
        let mut commands = std::mem::take(&mut self.steps[die as usize].commands);
        self.planner.plan(die, operations, collects, &mut commands);
        let programs = |command: &Planned| command.kind == Kind::Program && !command.moves;
        let waits = map_time == 0
            && match transaction {
                Transaction::Page(page) if page.is_read() => commands.len() == 1,
                Transaction::Page(page) => {
                    self.planner.has_units() && !page.is_trim() && commands.iter().all(programs)
                }
                Transaction::Fillers => true,
                Transaction::Collection | Transaction::ReadBetween(_) => false,
            };
        if waits && let Some(last) = commands.pop_back() {
            for command in commands.drain(..) {
                self.push_beside(die, &command, PART);
            }
            // A page that waits for others of its unit ends with one of them.
            if W::LISTENS
                && !last.loads
                && let Transaction::Page(page) = transaction
            {
                self.pages.insert(token.number(), page);
            }
            self.push_beside(die, &last, token.number());
            self.steps[die as usize].commands = commands;
            return Some(Progress::Beside);
        }
        let step = &mut self.steps[die as usize];
        step.commands = commands;
        step.began = None;
        step.not_before = now.saturating_add(map_time);
        step.collects = collects;
        step.token = Some(token);
        self.go_on(die).then_some(Progress::Running)
    }

    /// `page` is read at `die` by `operations`, in the midst of its step, and is called `token`; whether there is anything to wait for.
    pub fn begin_between<W: Witness>(
        &mut self,
        die: u32,
        (page, token): (PageOperation, Token),
        operations: &Operations,
    ) -> bool {
        let mut commands = VecDeque::new();
        self.planner.plan(die, operations, false, &mut commands);
        if W::LISTENS && commands.len() == 1 {
            self.pages.insert(token.number(), page);
        }
        self.between.insert(token.number(), (die, commands));
        self.go_on_between(token)
    }

    /// The next command of the read `token`, in the midst of a step, joins the queue; whether there is one.
    pub fn go_on_between(&mut self, token: Token) -> bool {
        let Some((die, commands)) = self.between.get_mut(&token.number()) else {
            return false;
        };
        let (die, next) = (*die, commands.pop_front());
        match next {
            Some(planned) => self.push_beside(die, &planned, token.number()),
            None => drop(self.between.remove(&token.number())),
        }
        next.is_some()
    }

    /// `planned`, which the media call `number`, is a command of `die`.
    #[inline(always)]
    fn command(&self, die: u32, planned: &Planned, number: u32) -> Operation {
        Operation {
            kind: planned.kind,
            die: self.shape.to_media(die),
            plane: planned.plane,
            block: planned.block,
            page: planned.page,
            page_type: planned.page_type,
            data: planned.data.unwrap_or(0),
            loads: planned.loads,
            caches: false,
            token: number,
        }
    }

    /// `planned`, which the media call `number`, joins the queue of `die`, which may begin the next before its end.
    #[inline(always)]
    fn push_beside(&mut self, die: u32, planned: &Planned, number: u32) {
        debug_assert!(!is_of_step(number), "{number} may leave its die");
        let mut command = self.command(die, planned, number);
        command.caches = self.has_registers && planned.data.is_some() && !planned.moves;
        self.media.push(command);
    }

    /// The next command of the step of `die` joins the queue; whether there is one.
    #[inline(never)]
    pub fn go_on(&mut self, die: u32) -> bool {
        let step = &mut self.steps[die as usize];
        let Some(planned) = step.commands.pop_front() else {
            return false;
        };
        step.moves = planned.moves;
        self.media.push(self.command(die, &planned, die));
        true
    }

    /// Whether something has ended that was not told.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether a command waits or goes on at `die`.
    pub fn is_busy(&self, die: u32) -> bool {
        self.media.is_busy(self.shape.to_media(die))
    }

    /// The transaction that the step of `die` is.
    pub fn token(&self, die: u32) -> Option<Token> {
        self.steps[die as usize].token
    }

    /// How long the step of `die`, which has no more commands, waits for the map, and how long it has collected garbage.
    pub fn rest(&self, die: u32, now: Ticks) -> (Ticks, Ticks) {
        let step = &self.steps[die as usize];
        let began = step.began.filter(|_| step.collects);
        let collected = began.map_or(0, |began| now - began);
        (step.not_before.saturating_sub(now), collected)
    }

    /// What has ended and was not told, in its order.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.ended.pop_front().map(Ended::of)
    }

    /// Idle channels begin what has come, if something has.
    #[inline]
    pub fn dispatch<B: Mover, W: Witness>(
        &mut self,
        events: &mut EventList<Packed>,
        meter: &mut FlashMeter,
        (mover, witness): (&mut B, &mut W),
    ) {
        let (media, mut teller) = self.parts(events, meter, (mover, witness));
        media.dispatch(&mut teller);
    }

    /// A phase of `die`, by the media's number, has ended.
    #[inline]
    pub fn end<B: Mover, W: Witness>(
        &mut self,
        phase: Phase,
        die: u32,
        events: &mut EventList<Packed>,
        meter: &mut FlashMeter,
        (mover, witness): (&mut B, &mut W),
    ) {
        let end = match phase {
            Phase::Command => End::Command(die),
            Phase::Cells => End::Cells(die),
            Phase::Data => End::Data(die),
            Phase::Register => End::Register(die),
            Phase::Between => End::Between(die),
        };
        let (media, mut teller) = self.parts(events, meter, (mover, witness));
        media.end(end, &mut teller);
    }

    fn parts<'t, B, W>(
        &'t mut self,
        events: &'t mut EventList<Packed>,
        meter: &'t mut FlashMeter,
        (mover, witness): (&'t mut B, &'t mut W),
    ) -> (&'t mut Dispatcher, Teller<'t, B, W>) {
        let teller = Teller {
            mover,
            planner: &self.planner,
            cells: &self.cells,
            erases: &mut self.erases,
            shape: &self.shape,
            witness,
            events,
            meter,
            steps: &mut self.steps,
            pages: &mut self.pages,
            ended: &mut self.ended,
        };
        (&mut self.media, teller)
    }
}

impl<B: Mover, W: Witness> Engine<'_, B, W> {
    /// The step of `die`, whose commands waited in queues, has ended.
    #[inline(never)]
    pub(super) fn end_step(&mut self, die: u32, now: Ticks) -> Outcome {
        self.link.witness.ending(die);
        self.link.witness.collects(die, false);
        let done = match self.link.token(die) {
            Some(token) => self.end(token, now),
            None => Ok(()),
        };
        self.link.dispatch();
        done
    }

    /// A phase of `die`, by the media's number, has ended. With `ON` as [`Engine::go_on`] says.
    #[inline(never)]
    pub(super) fn end_phase<const ON: bool>(
        &mut self,
        phase: Phase,
        die: u32,
        now: Ticks,
    ) -> Outcome {
        self.link.end_phase(phase, die);
        if phase == Phase::Command && !self.link.has_ended() {
            // Nobody waits for that but its die, unless the cells have no part in the command.
            return Ok(());
        }
        self.tell_ended(now)?;
        self.go_on::<ON>()
    }

    /// The device hears which of its commands that waited in queues have ended.
    #[inline(always)]
    fn tell_ended(&mut self, now: Ticks) -> Outcome {
        while let Some(ended) = self.link.take_ended() {
            match ended {
                Ended::Command(die) => self.link.go_on_queued(die),
                Ended::Page(token) if self.link.go_on_between(token) => {}
                Ended::Page(token) => {
                    if W::LISTENS {
                        self.link.witness.ending(self.device.die_of(token));
                    }
                    self.end(token, now)?;
                }
            }
        }
        self.link.dispatch();
        Ok(())
    }
}
