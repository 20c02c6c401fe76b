//! A step of a die, command by command: each is placed on die and channel when it begins.
//!
//! Only where dies share channels or pages have types: else the time of a step is a sum that is known when it begins.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::slab::Slab;
use destage_device::{Token, Transaction, Units};
use destage_flash::divide::Divider;
use destage_flash::media::{self, Command, Media, MediaConfig};
use destage_flash::medium::{FlashCommand, Pass};
use destage_flash::nand::Ppn;
use destage_flash::{Geometry, Kind, Operation, Operations, Timing, Transfer};

use crate::explain::moves;

/// What a die is doing.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it.
    commands: VecDeque<Phase>,
    /// When the die began with its first command.
    began: Ticks,
    /// It does not end before: the map is busy until then.
    not_before: Ticks,
    collects: bool,
    /// The transaction that it is; none before the first.
    token: Option<Token>,
    /// Its number, if it leaves the die to the next before its end.
    number: u32,
    /// The number of the step that has the latest program of the die, if that leaves it so.
    programs: Option<u32>,
    /// What was issued last of it, and when it is done as far as is known.
    latest: Option<Phase>,
    done: Ticks,
}

#[derive(Clone, Copy)]
struct Phase {
    kind: Kind,
    /// Time of its data on the channel; none if it is half of a copy inside its die.
    data: Option<Ticks>,
    plane: u32,
    page_type: u32,
    /// The data of a program that is for another command to do.
    loads: bool,
    /// It moves or erases what was there.
    moves: bool,
    /// As what it is told; nothing if it brings data for another command.
    told: Option<FlashCommand>,
}

impl Phase {
    /// Whether it is a program or an erase of the cells.
    fn changes(&self) -> bool {
        self.kind != Kind::Read && !self.loads
    }

    /// The command, at the die that the media call `die`.
    fn command(&self, die: u32) -> Command {
        Command {
            kind: self.kind,
            die,
            plane: self.plane,
            page_type: self.page_type,
            data: self.data,
        }
    }
}

/// Media whose commands are timed one by one.
pub struct OneByOne {
    /// Channels, dies and times. Behind the times of the types of page stand that of a first pass and that of cells of one bit.
    pub media: MediaConfig,
    /// Types of page.
    pub page_types: u32,
    /// Pages that are programmed together, if any are.
    pub units: Option<Units>,
    /// Pages that share a page of flash.
    pub units_per_page: u32,
}

/// A command that was issued.
pub(super) struct Issued {
    /// How long it takes.
    pub time: Ticks,
    /// For so much of that the die is still with what it began before the step, where cache registers let a step begin so early.
    pub waits: Ticks,
    /// It moves or erases what was there, and serves no request.
    pub moves: bool,
    /// As what it is told.
    pub told: Option<FlashCommand>,
}

/// A step that uses a cache register, and leaves its die to the next before its end.
#[derive(Clone, Copy)]
pub(super) struct Cached {
    pub die: u32,
    /// Its commands: one, or the passes of up to three units.
    pub told: [Option<FlashCommand>; 3],
    /// The transaction that it is.
    pub token: Token,
    /// When it ends, as far as is known.
    done: Ticks,
}

/// A command of such a step that was issued.
pub(super) struct IssuedCached {
    pub cached: media::Cached,
    /// As what it is told.
    pub told: Option<FlashCommand>,
    /// The step ends with it.
    pub is_last: bool,
}

/// The media, and what is to come on each die.
pub(super) struct Commands {
    media: Media,
    channels: u32,
    dies_per_channel: u32,
    timing: Timing,
    page_types: u32,
    units: Option<Units>,
    page_bits: u32,
    blocks_per_plane: Divider,
    planes: u32,
    units_per_page: u32,
    /// By die and plane, the page of flash in the register: of none that is known it is behind the last. Only where several pages
    /// share one.
    held: Vec<u32>,
    steps: Vec<Step>,
    /// What is left of reads in the midst of steps, and their dies.
    reads: BTreeMap<Token, (u32, VecDeque<Phase>)>,
    /// The latest command of each of them, and its die.
    told_of_reads: BTreeMap<Token, (u32, FlashCommand)>,
    /// Planes have cache registers, and a die may do several things at once.
    registers: Option<media::Registers>,
    /// Steps that used them and have left their dies to the next.
    cached: Slab<Cached>,
}

impl Commands {
    /// Idle media under a device of `geometry`.
    pub fn new(flash: OneByOne, geometry: &Geometry, timing: Timing) -> Self {
        Self {
            channels: flash.media.channels,
            dies_per_channel: flash.media.dies_per_channel,
            page_types: flash.page_types,
            units: flash.units,
            registers: flash.media.registers,
            cached: Slab::default(),
            media: Media::new(flash.media),
            timing,
            page_bits: geometry.page_bits(),
            blocks_per_plane: Divider::new(geometry.blocks_per_plane),
            planes: geometry.planes,
            units_per_page: flash.units_per_page,
            held: match flash.units_per_page {
                1 => Vec::new(),
                _ => vec![u32::MAX; (geometry.dies * geometry.planes) as usize],
            },
            steps: vec![Step::default(); geometry.dies as usize],
            reads: BTreeMap::new(),
            told_of_reads: BTreeMap::new(),
        }
    }

    /// Adds the commands of `operations` of `die` to `phases`.
    fn plan(
        &mut self,
        die: u32,
        operations: &Operations,
        collects: bool,
        phases: &mut VecDeque<Phase>,
    ) {
        for operation in operations.all() {
            let page = operation.at.0 & ((1 << self.page_bits) - 1);
            let phase = Phase {
                kind: operation.kind,
                data: match operation.transfer {
                    Transfer::None => (operation.kind == Kind::Erase).then_some(0),
                    Transfer::Page => Some(self.timing.page_transfer),
                    Transfer::Sector => Some(self.timing.sector_transfer),
                    Transfer::TwoPages => Some(2 * self.timing.page_transfer),
                },
                plane: self.plane_of(operation.at.0 >> self.page_bits),
                page_type: match operation.one_bit {
                    true => self.page_types + 1,
                    false => self.page_type(page),
                },
                loads: !self.held.is_empty() && self.is_held(die, operation),
                moves: collects || moves(operation),
                told: Some(FlashCommand::of(operation)),
            };
            match self.units {
                Some(units) if operation.kind == Kind::Program && !operation.one_bit => {
                    self.plan_in_unit(units, operation.at, phase, phases);
                }
                _ => phases.push_back(phase),
            }
        }
    }

    #[inline]
    fn plane_of(&self, block: u32) -> u32 {
        self.blocks_per_plane.split(block).0
    }

    /// The type of the page of flash with page `page` of a block.
    fn page_type(&self, page: u32) -> u32 {
        match self.units_per_page {
            1 => page_type(page, self.page_types),
            units => page_type(page / units, self.page_types),
        }
    }

    /// Whether `operation` of `die` reads from the page register; what is there afterwards.
    #[cold]
    fn is_held(&mut self, die: u32, operation: &Operation) -> bool {
        let block = operation.at.0 >> self.page_bits;
        let page = operation.at.0 & ((1 << self.page_bits) - 1);
        let plane = self.plane_of(block);
        let held = &mut self.held[(die * self.planes + plane) as usize];
        // Of the block with the number of its first page.
        let wanted = (block << self.page_bits) + page / self.units_per_page;
        match operation.kind {
            Kind::Read if operation.transfer == Transfer::Page => {
                std::mem::replace(held, wanted) == wanted
            }
            _ => {
                *held = u32::MAX;
                false
            }
        }
    }

    /// Adds what the program of the page at `at` does where it is programmed with the others of its unit.
    fn plan_in_unit(&self, units: Units, at: Ppn, phase: Phase, phases: &mut VecDeque<Phase>) {
        if !units.is_last(at) {
            phases.push_back(Phase {
                loads: true,
                told: None,
                ..phase
            });
            return;
        }
        phases.extend(units.commands(at).map(|command| {
            let phase = Phase {
                told: Some(command),
                ..phase
            };
            match command.pass {
                Pass::Only => phase,
                Pass::First => Phase {
                    page_type: self.page_types,
                    ..phase
                },
                // For the second pass the data come again.
                Pass::Second => Phase {
                    page_type: self.page_type(command.at.0 & ((1 << self.page_bits) - 1)),
                    data: Some(u64::from(units.pages) * self.timing.page_transfer),
                    ..phase
                },
            }
        }));
    }

    /// `die` begins `operations`, one after the other, which are `transaction`, called `token`; meanwhile the map is busy for
    /// `map_time`.
    pub fn begin(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
    ) {
        let collects = transaction == Transaction::Collection;
        let mut commands = std::mem::take(&mut self.steps[die as usize].commands);
        self.plan(die, operations, collects, &mut commands);
        let step = &mut self.steps[die as usize];
        step.commands = commands;
        step.began = now;
        step.latest = None;
        step.not_before = now.saturating_add(map_time);
        step.collects = collects;
        step.token = Some(token);
    }

    /// The transaction that the step of `die` is.
    pub fn token(&self, die: u32) -> Option<Token> {
        self.steps[die as usize].token
    }

    /// Whether a die may do several things at once.
    pub fn has_registers(&self) -> bool {
        self.registers.is_some()
    }

    /// Whether the step of `die` stands between two commands.
    pub fn is_between(&self, die: u32, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        step.done <= now && !step.commands.is_empty()
    }

    /// Issues the next command of the step of `die`, or waits for the latest or for the map. None if the step has ended.
    pub fn issue(&mut self, die: u32, now: Ticks) -> Option<Issued> {
        let step = &mut self.steps[die as usize];
        if step.done > now {
            // Reads have interrupted it.
            return Some(Issued {
                time: step.done - now,
                waits: 0,
                moves: step.latest.is_some_and(|latest| latest.moves),
                told: None,
            });
        }
        let Some(phase) = step.commands.pop_front() else {
            let left = step.not_before.saturating_sub(now);
            return (left > 0).then_some(Issued {
                time: left,
                waits: 0,
                moves: false,
                told: None,
            });
        };
        let is_first = step.latest.is_none();
        let free = match is_first && self.registers.is_some() {
            true => self.media.free_from(self.place(die)),
            false => now,
        };
        let done = self.operate(die, phase, now, self.registers.is_none());
        let waits = free.clamp(now, done) - now;
        let step = &mut self.steps[die as usize];
        if is_first {
            step.began = now + waits;
        }
        (step.latest, step.done) = (Some(phase), done);
        if phase.changes() {
            step.programs = None;
        }
        Some(Issued {
            time: done - now,
            waits,
            moves: phase.moves,
            told: phase.told,
        })
    }

    /// The latest command of the step of `die`, if it has ended `now`; asked once.
    pub fn take_latest(&mut self, die: u32, now: Ticks) -> Option<FlashCommand> {
        let step = &mut self.steps[die as usize];
        let latest = step.latest.as_mut().filter(|_| step.done <= now)?;
        latest.told.take()
    }

    /// Whether the step of `die`, which has just begun and is `transaction`, leaves it to the next before its end: it is one read or
    /// program, or, of units, for a write or fillers, and programs and data of pages alone.
    fn uses_registers(&self, die: u32, transaction: Transaction, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        let commands = &step.commands;
        let Some(media::Registers { read, program }) = self.registers else {
            return false;
        };
        let uses = |phase: &Phase, kind| phase.kind == kind && !phase.moves && phase.data.is_some();
        let programs = |phase: &Phase| uses(phase, Kind::Program) && program.is_some();
        let reads = |phase: &Phase| uses(phase, Kind::Read) && read.is_some();
        step.not_before <= now
            && commands.back().is_some_and(|last| !last.loads)
            && match transaction {
                Transaction::Collection | Transaction::ReadBetween(_) => false,
                Transaction::Page(_) if self.units.is_none() => {
                    let is_plain = |phase: &Phase| reads(phase) || programs(phase);
                    commands.len() == 1 && commands.iter().all(is_plain)
                }
                Transaction::Page(page) if page.is_read() => {
                    commands.len() == 1 && commands.iter().all(reads)
                }
                Transaction::Page(page) if page.is_trim() => false,
                Transaction::Page(_) | Transaction::Fillers => commands.iter().all(programs),
            }
    }

    /// Issues the first command of the step of `die`, which has just begun and is `transaction`, called `token`, if it leaves its
    /// die to the next before its end; its number, too.
    pub fn begin_cached(
        &mut self,
        die: u32,
        (transaction, token): (Transaction, Token),
        now: Ticks,
    ) -> Option<(u32, IssuedCached)> {
        if !self.uses_registers(die, transaction, now) {
            return None;
        }
        let done = now;
        let number = self.cached.insert(Cached {
            die,
            told: [None; 3],
            token,
            done,
        });
        self.steps[die as usize].number = number;
        let issued = self.issue_cached(die, now);
        if issued.is_none() {
            self.cached.remove(number);
        }
        issued.map(|issued| (number, issued))
    }

    /// Issues the next command of the step of `die`, which leaves it to the next before its end; none if it has no more, or its
    /// command uses no register.
    pub fn issue_cached(&mut self, die: u32, now: Ticks) -> Option<IssuedCached> {
        let phase = *self.steps[die as usize].commands.front()?;
        let place = self.place(die);
        let cached = match phase.loads {
            true => {
                let there = self.operate(die, phase, now, true);
                media::Cached {
                    done: there,
                    next: there,
                    waited: [(now, now); 2],
                }
            }
            false => self.media.operate_cached(now, &phase.command(place))?,
        };
        let step = &mut self.steps[die as usize];
        step.commands.pop_front();
        let of_step = &mut self.cached[step.number];
        of_step.done = cached.done;
        if let Some(place) = of_step.told.iter_mut().find(|place| place.is_none()) {
            *place = phase.told;
        }
        if phase.changes() {
            step.programs = Some(step.number);
        }
        let is_last = step.commands.is_empty();
        Some(IssuedCached {
            cached,
            told: phase.told,
            is_last,
        })
    }

    /// The number of the step of `die`, which leaves it to the next before its end.
    pub fn number(&self, die: u32) -> u32 {
        self.steps[die as usize].number
    }

    /// The step of this number has ended: takes it; or else reads have interrupted it, and it goes on at its die for so long.
    pub fn take_cached(&mut self, number: u32, now: Ticks) -> Result<Cached, (u32, Ticks)> {
        let cached = self.cached[number];
        if cached.done > now {
            return Err((cached.die, cached.done - now));
        }
        self.cached.free(number);
        let programs = &mut self.steps[cached.die as usize].programs;
        *programs = programs.filter(|latest| *latest != number);
        Ok(cached)
    }

    /// Whether a read may interrupt what `die` does.
    pub fn takes_read(&self, die: u32, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        let latest = step.latest.filter(Phase::changes);
        let in_step = latest.is_some_and(|_| step.done > now);
        let beside = step
            .programs
            .is_some_and(|number| self.cached[number].done > now);
        (in_step || beside) && self.media.takes_read(now, self.place(die))
    }

    /// The read `token` begins at `die`, in the midst of its step; how long its first command takes.
    pub fn begin_read(
        &mut self,
        die: u32,
        token: Token,
        operations: &Operations,
        now: Ticks,
    ) -> Ticks {
        let mut phases = VecDeque::new();
        self.plan(die, operations, false, &mut phases);
        // A page without contents takes no command, and its read ends all the same.
        let takes_time = !phases.is_empty();
        self.reads.insert(token, (die, phases));
        let time = takes_time.then(|| self.go_on_reading(token, now));
        time.flatten().unwrap_or(0)
    }

    /// How long the next command of the read `token` takes. None if it has ended.
    pub fn go_on_reading(&mut self, token: Token, now: Ticks) -> Option<Ticks> {
        let (die, phases) = self.reads.get_mut(&token)?;
        let die = *die;
        let Some(phase) = phases.pop_front() else {
            self.reads.remove(&token);
            return None;
        };
        let time = self.operate(die, phase, now, true) - now;
        if let Some(told) = phase.told {
            self.told_of_reads.insert(token, (die, told));
        }
        let place = self.place(die);
        let step = &mut self.steps[die as usize];
        if step.latest.is_some_and(|latest| latest.changes()) && step.done > now {
            step.done = self.media.change_done(place);
        }
        if let Some(number) = step.programs
            && self.cached[number].done > now
        {
            self.cached[number].done = self.media.change_done(place);
        }
        Some(time)
    }

    /// The latest command of the read `token`, and its die: it has begun, or if the next is asked for ended.
    pub fn latest_of_read(&self, token: Token) -> Option<(u32, FlashCommand)> {
        self.told_of_reads.get(&token).copied()
    }

    /// The same, which is forgotten.
    pub fn take_latest_of_read(&mut self, token: Token) -> Option<(u32, FlashCommand)> {
        self.told_of_reads.remove(&token)
    }

    /// The die among those of the media: neighbours in the stripe of dies are on different channels.
    fn place(&self, die: u32) -> u32 {
        let (way, channel) = (die / self.channels, die % self.channels);
        channel * self.dies_per_channel + way
    }

    /// Issues `phase`, which interrupts if it is a read and may; when it is done.
    fn operate(&mut self, die: u32, phase: Phase, now: Ticks, may_interrupt: bool) -> Ticks {
        let place = self.place(die);
        if phase.loads {
            let data = phase.data;
            let load = |data| self.media.load(now, place, phase.plane, data);
            return data.map_or(now, load);
        }
        let command = phase.command(place);
        match phase.kind == Kind::Read && !may_interrupt {
            true => self.media.read_behind(now, &command),
            false => self.media.operate(now, &command),
        }
    }

    /// How long the step of `die`, which ends `now`, collected garbage.
    pub fn collected(&self, die: u32, now: Ticks) -> Ticks {
        let step = &self.steps[die as usize];
        if step.collects { now - step.began } else { 0 }
    }
}

/// The type of page `page` of a block whose cells hold pages of `types` types: that of three, which begin with pages of
/// the first and the second type, is the one which MQSim and FEMU have.
pub(super) fn page_type(page: u32, types: u32) -> u32 {
    match (types, page) {
        (3, 0..=5) => 0,
        (3, 6..=7) => 1,
        (3, _) => (page - 8) / 2 % 3,
        _ => page % types,
    }
}
