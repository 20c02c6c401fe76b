//! Steps of dies whose commands wait in queues: page operations of one command side by side, everything else one by one.
//!
//! A page operation that is one command waits with others of its die, and its die begins the next. A step of several
//! commands (a garbage collection, a merge, a read through a map in flash) is alone with what began before it: each of
//! its commands joins the queue when the one before is done.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::{PageOperation, Progress, Token, Transaction};
use destage_flash::divide::Divider;
use destage_flash::media::Cells;
use destage_flash::media::dispatch::{Clock, DispatchConfig, Dispatcher, End, Operation, Order};
use destage_flash::medium::{FlashCommand, Pass};
use destage_flash::nand::Ppn;
use destage_flash::{Geometry, Kind, Operations, Timing, Transfer};

use super::commands::page_type;
use super::event::{Event, Packed, Phase};
use super::{Engine, Mover, Outcome, Witness};
use crate::events::EventList;
use crate::explain::moves;
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

/// What a die does one by one.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it, and whether that moves or erases what was there.
    commands: VecDeque<(Operation, bool)>,
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
    shape: Shape,
    timing: Timing,
    page_types: u32,
    places: Places,
    blocks_per_plane: Divider,
    cells: Cells,
    /// By die, the erase that has begun and waits for its cells; only for who hears of commands.
    erases: Vec<Option<FlashCommand>>,
    steps: Vec<Step>,
    /// The page operations whose commands are under way, by the numbers that these have with the media. Only for a witness that
    /// listens.
    pages: BTreeMap<u32, PageOperation>,
    /// Commands that have ended, by these numbers, until the device is told.
    ended: VecDeque<u32>,
}

/// Whom the media tell.
struct Teller<'t, B, W> {
    mover: &'t mut B,
    places: &'t Places,
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

/// Where blocks and pages are in the number of a physical page.
#[derive(Clone, Copy)]
struct Places {
    page_bits: u32,
    blocks_per_plane: u32,
}

impl Places {
    /// As what `operation` is told.
    fn command(self, operation: &Operation) -> FlashCommand {
        let block = operation.plane * self.blocks_per_plane + operation.block;
        FlashCommand {
            kind: operation.kind,
            at: Ppn(block << self.page_bits | operation.page),
            pages: 1,
            pass: Pass::Only,
        }
    }
}

impl<B: Mover, W: Witness> Teller<'_, B, W> {
    /// `command` of `die` begins. An erase does so with its cells: it may wait for others.
    fn tell_mover(&mut self, die: u32, command: &[Operation]) {
        let now = self.events.now();
        let data: Ticks = command.iter().map(|page| page.data).sum();
        for operation in command {
            let told = self.places.command(operation);
            let cells = match told.kind {
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
    fn begins(&mut self, end: End, length: Ticks) {
        let (phase, die) = match end {
            End::Command(die) => (Phase::Command, die),
            End::Cells(die) => (Phase::Cells, die),
            End::Data(die) => (Phase::Data, die),
            End::Register(die) => (Phase::Register, die),
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
        if B::HEARS_COMMANDS {
            let die = self.shape.to_device(operation.die);
            self.mover
                .command_ended(die, &self.places.command(operation));
        }
        if W::LISTENS
            && let Some(page) = self.pages.remove(&operation.token)
        {
            self.witness.served(page);
        }
        self.ended.push_back(operation.token);
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
    /// Idle media under a device of `geometry`.
    pub fn new(media: DispatchConfig, geometry: &Geometry, timing: Timing) -> Self {
        Self {
            shape: Shape::new(media.channels, media.dies_per_channel),
            page_types: media.cells.read.len().max(media.cells.program.len()) as u32,
            has_registers: media.registers.is_some(),
            keeps_order: media.rules.order == Order::Arrival,
            cells: media.cells.clone(),
            media: Dispatcher::new(media),
            timing,
            places: Places {
                page_bits: geometry.page_bits(),
                blocks_per_plane: geometry.blocks_per_plane,
            },
            erases: vec![None; geometry.dies as usize],
            blocks_per_plane: Divider::new(geometry.blocks_per_plane),
            pages: BTreeMap::new(),
            steps: vec![Step::default(); geometry.dies as usize],
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
        {
            let mut command = self.command(die, operation);
            command.caches =
                self.has_registers && operation.transfer != Transfer::None && !moves(operation);
            command.token = token.number();
            debug_assert!(!is_of_step(command.token), "{token:?} may leave its die");
            if W::LISTENS {
                self.pages.insert(command.token, page);
            }
            self.media.push(command);
            return Some(Progress::Beside);
        }
        self.begin_step(die, (transaction, token), operations, now, map_time)
    }

    /// The same for what is not one command.
    #[inline(never)]
    fn begin_step(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
    ) -> Option<Progress> {
        let mut commands = std::mem::take(&mut self.steps[die as usize].commands);
        let all = operations.all().iter();
        commands.extend(all.map(|one| (self.command(die, one), moves(one))));
        let step = &mut self.steps[die as usize];
        step.commands = commands;
        step.began = None;
        step.not_before = now.saturating_add(map_time);
        step.collects = transaction == Transaction::Collection;
        step.token = Some(token);
        self.go_on(die).then_some(Progress::Running)
    }

    /// The command that `operation` of `die` is.
    #[inline(always)]
    fn command(&self, die: u32, operation: &destage_flash::Operation) -> Operation {
        let data = match operation.transfer {
            Transfer::None => 0,
            Transfer::Page => self.timing.page_transfer,
            Transfer::Sector => self.timing.sector_transfer,
            Transfer::TwoPages => 2 * self.timing.page_transfer,
        };
        let (plane, block) = self
            .blocks_per_plane
            .split(operation.at.0 >> self.places.page_bits);
        let page = operation.at.0 & ((1 << self.places.page_bits) - 1);
        Operation {
            kind: operation.kind,
            die: self.shape.to_media(die),
            plane,
            block,
            page,
            page_type: page_type(page, self.page_types),
            data,
            caches: false,
            token: 0,
        }
    }

    /// The next command of the step of `die` joins the queue; whether there is one.
    #[inline(never)]
    pub fn go_on(&mut self, die: u32) -> bool {
        let step = &mut self.steps[die as usize];
        let Some((command, moves)) = step.commands.pop_front() else {
            return false;
        };
        step.moves = moves;
        self.media.push(Operation {
            token: die,
            ..command
        });
        true
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
            places: &self.places,
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
        if phase == Phase::Command {
            // Nobody waits for that but its die.
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
                Ended::Page(token) => self.end(token, now)?,
            }
        }
        self.link.dispatch();
        Ok(())
    }
}
