//! A step of a die, command by command: each is placed on die and channel when it begins.
//!
//! Only where dies share channels or pages have types: else the time of a step is a sum that is known when it begins.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::slab::Slab;
use destage_device::{Token, Transaction};
use destage_nand::media;
use destage_nand::media::{Command, Media, MediaConfig};
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations};

use super::plan::{Planned, Planner};

/// What a die is doing.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it.
    commands: VecDeque<Planned>,
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
    latest: Option<Planned>,
    done: Ticks,
    /// It was told of its end.
    is_told: bool,
}

/// A command that was issued.
pub(super) struct Issued {
    /// How long it takes.
    pub time: Ticks,
    /// For so much of that the die is still with what it began before the step, where cache registers let a step begin so early.
    pub waits: Ticks,
    /// It moves or erases what was there, and serves no request.
    pub moves: bool,
    /// It has just begun; else the one before goes on, or the map is busy.
    pub begins: bool,
}

/// A step of more commands does not leave its die before its end.
const MOST_TOLD: usize = 3;

/// A step that uses a cache register, and leaves its die to the next before its end.
#[derive(Clone, Copy)]
pub(super) struct Cached {
    pub die: u32,
    /// Its commands: one, or the passes of up to three units.
    pub told: [Option<FlashCommand>; MOST_TOLD],
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
    planner: Planner,
    steps: Vec<Step>,
    /// What is left of reads in the midst of steps, and their dies.
    reads: BTreeMap<Token, (u32, VecDeque<Planned>)>,
    /// The latest command of each of them, and its die.
    told_of_reads: BTreeMap<Token, (u32, FlashCommand)>,
    /// Planes have cache registers, and a die may do several things at once.
    registers: Option<media::Registers>,
    /// Steps that used them and have left their dies to the next.
    cached: Slab<Cached>,
}

impl Commands {
    /// Idle media under a device of `dies`.
    pub fn new(media: MediaConfig, planner: Planner, dies: u32) -> Self {
        Self {
            channels: media.channels,
            dies_per_channel: media.dies_per_channel,
            registers: media.registers,
            cached: Slab::default(),
            media: Media::new(media),
            planner,
            steps: vec![Step::default(); dies as usize],
            reads: BTreeMap::new(),
            told_of_reads: BTreeMap::new(),
        }
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
        self.planner.plan(die, operations, collects, &mut commands);
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
                begins: false,
            });
        }
        let Some(phase) = step.commands.pop_front() else {
            let left = step.not_before.saturating_sub(now);
            return (left > 0).then_some(Issued {
                time: left,
                waits: 0,
                moves: false,
                begins: false,
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
        (step.latest, step.done, step.is_told) = (Some(phase), done, false);
        if phase.changes() {
            step.programs = None;
        }
        Some(Issued {
            time: done - now,
            waits,
            moves: phase.moves,
            begins: true,
        })
    }

    /// The latest command of the step of `die`.
    pub fn latest(&self, die: u32) -> Option<FlashCommand> {
        let latest = self.steps[die as usize].latest.as_ref()?;
        self.planner.told_of(latest)
    }

    /// The latest command of the step of `die`, if it has ended `now`; asked once.
    pub fn take_latest(&mut self, die: u32, now: Ticks) -> Option<FlashCommand> {
        let step = &mut self.steps[die as usize];
        let ended = step.latest.filter(|_| step.done <= now && !step.is_told)?;
        step.is_told = true;
        self.planner.told_of(&ended)
    }

    /// Whether the step of `die`, which has just begun and is `transaction`, leaves it to the next before its end: it is one read or
    /// program, or, of units, for a write or fillers, and programs and data of pages alone.
    fn uses_registers(&self, die: u32, transaction: Transaction, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        let commands = &step.commands;
        let Some(media::Registers { read, program }) = self.registers else {
            return false;
        };
        let uses =
            |phase: &Planned, kind| phase.kind == kind && !phase.moves && phase.data.is_some();
        let programs = |phase: &Planned| uses(phase, Kind::Program) && program.is_some();
        let reads = |phase: &Planned| uses(phase, Kind::Read) && read.is_some();
        step.not_before <= now
            && commands.back().is_some_and(|last| !last.loads)
            && commands.iter().filter(|command| !command.loads).count() <= MOST_TOLD
            && match transaction {
                Transaction::Collection | Transaction::ReadBetween(_) => false,
                Transaction::Page(_) if !self.planner.has_units() => {
                    let is_plain = |phase: &Planned| reads(phase) || programs(phase);
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
            told: [None; MOST_TOLD],
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
            false => self.media.operate_cached(now, &command(&phase, place))?,
        };
        let step = &mut self.steps[die as usize];
        step.commands.pop_front();
        let told = self.planner.told_of(&phase);
        let of_step = &mut self.cached[step.number];
        of_step.done = cached.done;
        if let Some(place) = of_step.told.iter_mut().find(|place| place.is_none()) {
            *place = told;
        }
        if phase.changes() {
            step.programs = Some(step.number);
        }
        let is_last = step.commands.is_empty();
        Some(IssuedCached {
            cached,
            told,
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
        let latest = step.latest.filter(Planned::changes);
        let in_step = latest.is_some_and(|_| step.done > now);
        let beside = step
            .programs
            .is_some_and(|number| self.cached[number].done > now);
        (in_step || beside) && self.media.takes_read(now, self.place(die))
    }

    /// The read `token` begins at `die`, which is in the midst of a step; returns how long the first command of the read takes.
    pub fn begin_read(
        &mut self,
        die: u32,
        token: Token,
        operations: &Operations,
        now: Ticks,
    ) -> Ticks {
        let mut phases = VecDeque::new();
        self.planner.plan(die, operations, false, &mut phases);
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
        if let Some(told) = self.planner.told_of(&phase) {
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

    /// Takes the latest command of the read `token`, and its die: both are forgotten here.
    pub fn take_latest_of_read(&mut self, token: Token) -> Option<(u32, FlashCommand)> {
        self.told_of_reads.remove(&token)
    }

    /// The die among those of the media: neighbours in the stripe of dies are on different channels.
    fn place(&self, die: u32) -> u32 {
        let (way, channel) = (die / self.channels, die % self.channels);
        channel * self.dies_per_channel + way
    }

    /// Issues `phase`, which interrupts if it is a read and may; when it is done.
    fn operate(&mut self, die: u32, phase: Planned, now: Ticks, may_interrupt: bool) -> Ticks {
        let place = self.place(die);
        if phase.loads {
            let data = phase.data;
            let load = |data| self.media.load(now, place, phase.plane, data);
            return data.map_or(now, load);
        }
        let command = command(&phase, place);
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

/// `planned` at the die that the media call `die`.
fn command(planned: &Planned, die: u32) -> Command {
    Command {
        kind: planned.kind,
        die,
        plane: planned.plane,
        page_type: planned.page_type,
        data: planned.data,
    }
}
