//! The steps of dies, if commands wait in queues. Page operations that consist of one command run in parallel. All
//! other steps run one command at a time.
//!
//! A page operation of one command joins the queue of its die, and the device may begin the next operation of the die
//! at once. A step of several commands (a garbage collection, a merge, a read through a mapping table in flash) runs
//! in parallel only with operations that began before the step. Each command of the step joins the queue when the
//! previous command is done.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::{PageOperation, Progress, Token, Transaction};
use destage_nand::media::Cells;
use destage_nand::media::dispatch::{Clock, DispatchConfig, Dispatcher, Operation, Order, Phase};
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations};

use super::event::{Event, Packed};
use super::plan::{Planned, Planner};
use super::{Engine, Outcome, Probe};
use crate::events::EventList;
use crate::meter::FlashMeter;

/// Work that has ended at a die.
pub(super) enum Ended {
    /// A page operation that waited in the queue together with other operations.
    Page(Token),
    /// A command of the step of this die.
    Command(u32),
}

impl Ended {
    /// The end of the command that has the number `number` in the media. A page operation has the number of its
    /// token. A command of a step has the number of its die.
    #[inline(always)]
    fn of(number: u32) -> Self {
        match is_of_step(number) {
            true => Self::Command(number),
            false => Self::Page(Token::from_number(number)),
        }
    }
}

/// Whether `number`, as used by the media, belongs to a command of a step.
#[inline(always)]
fn is_of_step(number: u32) -> bool {
    number < Token::IN_TABLE
}

/// A page operation with several commands: the number that the media get for each of these commands except the last
/// one.
const PART: u32 = u32::MAX;

/// The command of `operation`, as reported to the probe.
fn told(planner: &Planner, operation: &Operation) -> Option<FlashCommand> {
    let place = (operation.plane, operation.block, operation.page);
    planner.told(operation.kind, place, operation.page_type, operation.loads)
}

/// A step of a die, whose commands run one at a time.
#[derive(Clone, Default)]
struct Step {
    /// The commands that have not joined the queue yet.
    commands: VecDeque<Planned>,
    /// Whether the command that joined the queue last moves or erases existing contents, and serves no request.
    moves: bool,
    /// The time at which the first command began; `None` if it has not begun.
    began: Option<Ticks>,
    /// The mapping table is busy until this time, and the step does not end before it.
    not_before: Ticks,
    /// Whether the step collects garbage and still has commands.
    collects: bool,
    /// The transaction that the step carries out; `None` before the first step.
    token: Option<Token>,
}

/// The numbers of dies, for the device and for the media. Consecutive dies of the device are on different channels.
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

/// The media (dies and channels with their queues), and for each die the commands that have not joined a queue yet.
pub(super) struct Queued {
    media: Dispatcher,
    /// Whether planes have cache registers.
    has_registers: bool,
    /// Whether a die begins operations in the order in which they joined the queue.
    pub keeps_order: bool,
    /// Whether reads can begin during steps, and can interrupt commands.
    pub takes_reads: bool,
    shape: Shape,
    planner: Planner,
    cells: Cells,
    /// For each die: the erase that was issued and whose cells have not begun. Only used for a probe that needs
    /// single commands.
    erases: Vec<Option<FlashCommand>>,
    steps: Vec<Step>,
    /// For each read that runs during a step, by its number in the media: its die, and its commands that have not
    /// joined a queue yet.
    between: BTreeMap<u32, (u32, VecDeque<Planned>)>,
    /// The page operations whose commands are under way, by their numbers in the media. Only used for a
    /// probe that needs them.
    pages: BTreeMap<u32, PageOperation>,
    /// The numbers of commands that have ended, until they are reported to the device.
    ended: VecDeque<u32>,
    /// The number of programs that have begun and were not [taken](Queued::take_begun).
    begun: u32,
}

/// The clock of the media. It passes the events of the media on to the probe and the meter.
struct Teller<'t, P> {
    probe: &'t mut P,
    planner: &'t Planner,
    cells: &'t Cells,
    erases: &'t mut [Option<FlashCommand>],
    shape: &'t Shape,
    events: &'t mut EventList<Packed>,
    meter: &'t mut FlashMeter,
    steps: &'t mut [Step],
    pages: &'t mut BTreeMap<u32, PageOperation>,
    ended: &'t mut VecDeque<u32>,
    begun: &'t mut u32,
}

impl<P: Probe> Teller<'_, P> {
    /// Reports the start of `command` of `die`. An erase is reported when its cells begin, because the cells may be
    /// busy when the erase is issued.
    fn tell_begun(&mut self, die: u32, command: &[Operation]) {
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
            self.probe.command_begins(die, &told, now, data + cells);
        }
    }

    /// The cells of `die` begin: reports the erase that was issued, if there is one.
    fn begin_erase(&mut self, die: u32) {
        if let Some(told) = self.erases[die as usize].take() {
            let (now, time) = (self.events.now(), self.cells.erase);
            self.probe.command_begins(die, &told, now, time);
        }
    }

    /// A command of the step of `die` begins. It may be the first command of the step.
    #[cold]
    fn begin_step(&mut self, die: u32) {
        let step = &mut self.steps[die as usize];
        if step.began.is_some() {
            return;
        }
        step.began = Some(self.events.now());
        if step.collects {
            self.probe.collects(die, true);
        }
    }

    /// Reports the start of `command` of `die`, of this kind.
    fn tell_issued(&mut self, die: u32, kind: Kind, command: &[Operation]) {
        let of_step = command.iter().any(|of| is_of_step(of.token));
        let moves = of_step && self.steps[die as usize].moves;
        self.probe.issued(die, kind, moves);
        for operation in command {
            if let Some(page) = self.pages.get(&operation.token) {
                self.probe.serves(die, *page);
            }
        }
    }
}

impl<P: Probe> Clock for Teller<'_, P> {
    fn now(&self) -> Ticks {
        self.events.now()
    }

    fn begins(&mut self, phase: Phase, die: u32, length: Ticks) {
        self.events.after(length, Event::Phase { phase, die });
        if P::FOLLOWS_PAGES {
            let die = self.shape.to_device(die);
            self.probe.phase_begins(die, phase, length);
        }
        if P::HEARS_COMMANDS && phase == Phase::Cells {
            self.begin_erase(self.shape.to_device(die));
        }
    }

    fn issued(&mut self, command: &[Operation]) {
        if let Some(first) = command.first() {
            let die = self.shape.to_device(first.die);
            self.meter.occupy(die, self.events.now());
            *self.begun += u32::from(first.kind == Kind::Program && !first.loads);
            for operation in command {
                if is_of_step(operation.token) {
                    self.begin_step(die);
                }
            }
            if P::FOLLOWS_PAGES {
                self.tell_issued(die, first.kind, command);
            }
            if P::HEARS_COMMANDS {
                self.tell_begun(die, command);
            }
        }
    }

    fn done(&mut self, operation: &Operation) {
        if P::HEARS_COMMANDS
            && let Some(told) = told(self.planner, operation)
        {
            let die = self.shape.to_device(operation.die);
            self.probe.command_ended(die, &told);
        }
        if P::FOLLOWS_PAGES
            && let Some(page) = self.pages.remove(&operation.token)
        {
            self.probe.served(page);
        }
        if operation.token != PART {
            self.ended.push_back(operation.token);
        }
    }

    fn leaves(&mut self, die: u32) {
        self.probe.left(self.shape.to_device(die));
    }

    fn idle(&mut self, die: u32, kind: Kind) {
        let die = self.shape.to_device(die);
        self.meter.release(die, self.events.now());
        self.probe.done(die, kind);
    }
}

impl Queued {
    /// Idle media under a device of `dies` dies.
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
            begun: 0,
        }
    }

    /// Whether the drive is loaded, so that reads that begin now take longer.
    pub fn set_loaded(&mut self, is_loaded: bool) {
        self.planner.is_loaded = is_loaded;
    }

    /// The number of programs that have begun since the last call.
    pub fn take_begun(&mut self) -> u32 {
        std::mem::take(&mut self.begun)
    }

    /// `die` begins `operations` for `transaction`, whose token is `token`. At the same time the mapping table is busy
    /// for `map_time` ticks. Returns `None` if the step has no command to wait for. `P` is the type of the probe.
    #[inline(always)]
    pub fn begin<P: Probe>(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
    ) -> Option<Progress> {
        // With units, only reads and programs may end after the die has gone on, so a trim that reads the map is a step.
        if let (Transaction::Page(page), [operation], 0) = (transaction, operations.all(), map_time)
            && self.planner.is_one(operation)
            && !(page.is_trim() && self.planner.has_units())
        {
            let planned = self.planner.one(operation);
            if P::FOLLOWS_PAGES {
                self.pages.insert(token.number(), page);
            }
            self.push_overlapping(die, &planned, token.number());
            return Some(Progress::Overlaps);
        }
        self.begin_several::<P>(die, (transaction, token), operations, now, map_time)
    }

    /// Begins `operations`, which may need several commands, for `transaction`. Programs of units (for a write or for
    /// fillers) and reads of one command wait in the queue together with operations of other transactions. All other
    /// operations form a step.
    #[inline(never)]
    fn begin_several<P: Probe>(
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
                self.push_overlapping(die, &command, PART);
            }
            // A page that only loads its data ends together with a later page of its unit.
            if P::FOLLOWS_PAGES
                && !last.loads
                && let Transaction::Page(page) = transaction
            {
                self.pages.insert(token.number(), page);
            }
            self.push_overlapping(die, &last, token.number());
            self.steps[die as usize].commands = commands;
            return Some(Progress::Overlaps);
        }
        let step = &mut self.steps[die as usize];
        step.commands = commands;
        step.began = None;
        step.not_before = now.saturating_add(map_time);
        step.collects = collects;
        step.token = Some(token);
        self.go_on(die).then_some(Progress::Running)
    }

    /// `die` begins the read `page`, whose token is `token`, while a step is in service. The read carries out
    /// `operations`. Returns whether the read has a command to wait for.
    pub fn begin_between<P: Probe>(
        &mut self,
        die: u32,
        (page, token): (PageOperation, Token),
        operations: &Operations,
    ) -> bool {
        let mut commands = VecDeque::new();
        self.planner.plan(die, operations, false, &mut commands);
        if P::FOLLOWS_PAGES && commands.len() == 1 {
            self.pages.insert(token.number(), page);
        }
        self.between.insert(token.number(), (die, commands));
        self.go_on_between(token)
    }

    /// The next command of the read `token`, which runs during a step, joins the queue. Returns whether the read has
    /// a next command.
    pub fn go_on_between(&mut self, token: Token) -> bool {
        let Some((die, commands)) = self.between.get_mut(&token.number()) else {
            return false;
        };
        let (die, next) = (*die, commands.pop_front());
        match next {
            Some(planned) => self.push_overlapping(die, &planned, token.number()),
            None => drop(self.between.remove(&token.number())),
        }
        next.is_some()
    }

    /// The operation for the media that carries out `planned` at `die`, under `number`.
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

    /// `planned` joins the queue of `die` under `number`. The die may begin the next command before `planned` ends.
    #[inline(always)]
    fn push_overlapping(&mut self, die: u32, planned: &Planned, number: u32) {
        debug_assert!(!is_of_step(number), "{number} may leave its die");
        let mut command = self.command(die, planned, number);
        command.caches = self.has_registers && planned.data.is_some() && !planned.moves;
        self.media.push(command);
    }

    /// The next command of the step of `die` joins the queue. Returns whether the step has a next command.
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

    /// Whether a command has ended and was not reported yet.
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Whether a command waits or runs at `die`.
    pub fn is_busy(&self, die: u32) -> bool {
        self.media.is_busy(self.shape.to_media(die))
    }

    /// The transaction that the step of `die` carries out.
    pub fn token(&self, die: u32) -> Option<Token> {
        self.steps[die as usize].token
    }

    /// The step of `die` has no more commands. Returns two times in ticks: how long the step still waits for the
    /// mapping table, and how long it has collected garbage.
    pub fn rest(&mut self, die: u32, now: Ticks) -> (Ticks, Ticks) {
        let step = &mut self.steps[die as usize];
        let collects = std::mem::take(&mut step.collects);
        let began = step.began.filter(|_| collects);
        let collected = began.map_or(0, |began| now - began);
        (step.not_before.saturating_sub(now), collected)
    }

    /// How long the steps under way have collected garbage by `now`, summed over the dies.
    pub fn collected_so_far(&self, now: Ticks) -> Ticks {
        let steps = self.steps.iter().filter(|step| step.collects);
        let times = steps.filter_map(|step| step.began.map(|began| now - began));
        times.fold(0, Ticks::saturating_add)
    }

    /// Removes and returns the next ended work, in the order in which the work ended.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<Ended> {
        self.ended.pop_front().map(Ended::of)
    }

    /// Idle channels begin commands that have joined queues.
    #[inline]
    pub fn dispatch<P: Probe>(
        &mut self,
        events: &mut EventList<Packed>,
        meter: &mut FlashMeter,
        probe: &mut P,
    ) {
        let (media, mut teller) = self.parts(events, meter, probe);
        media.dispatch(&mut teller);
    }

    /// A phase of a command at `die` has ended; `die` is the number that the media use.
    #[inline]
    pub fn end<P: Probe>(
        &mut self,
        phase: Phase,
        die: u32,
        events: &mut EventList<Packed>,
        meter: &mut FlashMeter,
        probe: &mut P,
    ) {
        let (media, mut teller) = self.parts(events, meter, probe);
        media.end(phase, die, &mut teller);
    }

    fn parts<'t, P>(
        &'t mut self,
        events: &'t mut EventList<Packed>,
        meter: &'t mut FlashMeter,
        probe: &'t mut P,
    ) -> (&'t mut Dispatcher, Teller<'t, P>) {
        let teller = Teller {
            probe,
            planner: &self.planner,
            cells: &self.cells,
            erases: &mut self.erases,
            shape: &self.shape,
            events,
            meter,
            steps: &mut self.steps,
            pages: &mut self.pages,
            ended: &mut self.ended,
            begun: &mut self.begun,
        };
        (&mut self.media, teller)
    }
}

impl<P: Probe> Engine<'_, P> {
    /// The step of `die` has ended. Its commands waited in queues.
    #[inline(never)]
    pub(super) fn end_step(&mut self, die: u32, now: Ticks) -> Outcome {
        self.link.meter.release(die, now);
        self.link.probe.ending(die);
        self.link.probe.collects(die, false);
        let done = match self.link.token(die) {
            Some(token) => self.end(token, now),
            None => Ok(()),
        };
        self.link.dispatch();
        done
    }

    /// A phase of a command at `die` has ended; `die` is the number that the media use. `ON` is as for
    /// [`Engine::go_on`].
    #[inline(never)]
    pub(super) fn end_phase<const ON: bool>(
        &mut self,
        phase: Phase,
        die: u32,
        now: Ticks,
    ) -> Outcome {
        self.link.end_phase(phase, die);
        if phase == Phase::Command && !self.link.has_ended() {
            // The command has left the channel, and its cells begin to work, so there is no end to report yet. A
            // command without work for the cells has ended already, and is reported below.
            return Ok(());
        }
        self.tell_ended(now)?;
        self.go_on::<ON>()
    }

    /// Reports to the device which operations that waited in queues have ended.
    #[inline(always)]
    fn tell_ended(&mut self, now: Ticks) -> Outcome {
        while let Some(ended) = self.link.take_ended() {
            match ended {
                Ended::Command(die) => self.link.go_on_queued(die),
                Ended::Page(token) if self.link.go_on_between(token) => {}
                Ended::Page(token) => {
                    if P::FOLLOWS_PAGES {
                        self.link.probe.ending(self.device.die_of(token));
                    }
                    self.end(token, now)?;
                }
            }
        }
        self.link.dispatch();
        Ok(())
    }
}
