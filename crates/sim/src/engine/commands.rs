//! The steps of dies, if commands are timed one by one without queues. Die and channel are reserved for a command
//! when the command is issued.
//!
//! The engine uses this module if the time of a step is not just a sum that is known when the step begins: if dies
//! share channels, pages have types, commands have command or status phases, reads interrupt programs or depend on the
//! load, there are program units or cache registers, or cells of two kinds are combined with an order of service.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::slab::Slab;
use destage_device::{Token, Transaction};
use destage_nand::media;
use destage_nand::media::{Command, Media, MediaConfig};
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations};

use super::plan::{Planned, Planner};
use crate::events::LAST;

/// The present step of a die.
#[derive(Clone, Default)]
struct Step {
    /// The commands that were not issued yet.
    commands: VecDeque<Planned>,
    /// When the die began the first command of the step.
    began: Ticks,
    /// The mapping table is busy until this time, and the step does not end before it.
    not_before: Ticks,
    /// Whether the step collects garbage and has not ended.
    collects: bool,
    /// The transaction that the step carries out; `None` before the first step.
    token: Option<Token>,
    /// Number of the step in `Commands::cached`, if the step releases its die before its own end.
    number: u32,
    /// Number of the step with the latest program of the die, if that step has released the die and has not ended.
    programs: Option<u32>,
    /// The latest command that was issued.
    latest: Option<Planned>,
    /// The end of the latest command, unless a read still interrupts the command.
    done: Ticks,
    /// Whether the end of the latest command was reported.
    is_told: bool,
}

/// A command that was issued, or a wait before the next command.
pub(super) struct Issued {
    /// Length of the command or wait, in ticks.
    pub time: Ticks,
    /// The first ticks of `time`, in which the die still works on earlier steps. Above 0 only with cache registers,
    /// because then a step may begin before the die is free.
    pub waits: Ticks,
    /// Whether the command moves or erases existing contents, and serves no request.
    pub moves: bool,
    /// Whether a command begins now. Otherwise the previous command continues, or the mapping table is busy.
    pub begins: bool,
}

/// Maximum number of commands of a step that releases its die before its own end. Commands that only load data do not
/// count.
const MOST_TOLD: usize = 3;

/// A step that uses a cache register, and releases its die for the next step before its own end.
#[derive(Clone, Copy)]
pub(super) struct Cached {
    pub die: u32,
    /// The commands of the step as reported to the probe: one command, or up to three passes over two neighbouring
    /// units.
    pub told: [Option<FlashCommand>; MOST_TOLD],
    /// The transaction that the step carries out.
    pub token: Token,
    /// The end of the step, unless a read still interrupts the step.
    done: Ticks,
}

/// A command of a [`Cached`] step that was issued.
pub(super) struct IssuedCached {
    pub cached: media::Cached,
    /// The command as reported to the probe.
    pub told: Option<FlashCommand>,
    /// Whether the command is the last one of the step.
    pub is_last: bool,
}

/// The media (dies and channels), and for each die the commands that were not issued yet.
pub(super) struct Commands {
    media: Media,
    channels: u32,
    dies_per_channel: u32,
    planner: Planner,
    steps: Vec<Step>,
    /// For each read that runs during a step: its commands that were not issued yet.
    reads: BTreeMap<Token, VecDeque<Planned>>,
    /// For each read that runs during a step: its latest command.
    told_of_reads: BTreeMap<Token, FlashCommand>,
    /// The cache registers of the planes, if planes have any. A die then runs several commands at a time.
    registers: Option<media::Registers>,
    /// Steps that use cache registers and release their dies before their own end.
    cached: Slab<Cached>,
    /// The number of programs that have begun and were not [taken](Commands::take_begun).
    begun: u32,
}

impl Commands {
    /// Idle media under a device of `dies` dies.
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

    /// `die` begins a step for `transaction`, whose token is `token`. The step carries out `operations` one after the
    /// other. At the same time the mapping table is busy for `map_time` ticks.
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
        step.not_before = now.saturating_add(map_time).min(LAST);
        step.collects = collects;
        step.token = Some(token);
    }

    /// The transaction that the step of `die` carries out.
    pub fn token(&self, die: u32) -> Option<Token> {
        self.steps[die as usize].token
    }

    /// Whether the step of `die` is between two commands.
    pub fn is_between(&self, die: u32, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        step.done <= now && !step.commands.is_empty()
    }

    /// Issues the next command of the step of `die`, or waits for the latest command or the mapping table. `None`
    /// if the step has ended.
    pub fn issue(&mut self, die: u32, now: Ticks) -> Option<Issued> {
        let step = &mut self.steps[die as usize];
        if step.done > now {
            // Reads have interrupted the command, so it ends later than planned.
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

    /// The latest command of the step of `die`, if it has ended by `now` and this function has not returned it
    /// before.
    pub fn take_latest(&mut self, die: u32, now: Ticks) -> Option<FlashCommand> {
        let step = &mut self.steps[die as usize];
        let ended = step.latest.filter(|_| step.done <= now && !step.is_told)?;
        step.is_told = true;
        self.planner.told_of(&ended)
    }

    /// Whether the step of `die`, which has just begun for `transaction`, releases its die before its own end.
    /// Without units, the step must be one read or one program. With units, it must be one read, or the programs and
    /// data transfers of a write or of fillers.
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

    /// The step of `die` has just begun for `transaction`, whose token is `token`. If the step releases its die before
    /// its own end, issues the first command of the step. Returns the number of the step, and the command.
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
        let number = self.cached.insert(|| Cached {
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

    /// The step of `die` releases its die before its own end. Issues the next command of this step. `None` if the
    /// step has no more commands, or if the command uses no cache register.
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
            false => {
                let cached = self.media.operate_cached(now, &command(&phase, place))?;
                self.begun += u32::from(phase.kind == Kind::Program);
                media::Cached {
                    done: by_the_last(cached.done, now),
                    next: by_the_last(cached.next, now),
                    ..cached
                }
            }
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

    /// The number of the step of `die`, if the step releases its die before its own end.
    pub fn number(&self, die: u32) -> u32 {
        self.steps[die as usize].number
    }

    /// Removes and returns the step `number`, which was due to end now. If reads have interrupted the step, the error
    /// holds the die of the step, and the ticks until the step ends.
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

    /// Whether a read may interrupt the present work of `die`.
    pub fn takes_read(&self, die: u32, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        let latest = step.latest.filter(Planned::changes);
        let in_step = latest.is_some_and(|_| step.done > now);
        let overlapping = step
            .programs
            .is_some_and(|number| self.cached[number].done > now);
        (in_step || overlapping) && self.media.takes_read(now, self.place(die))
    }

    /// Begins the read `token` at `die` during a step of the die. Returns the length of the first command of the
    /// read, in ticks.
    pub fn begin_read(
        &mut self,
        die: u32,
        token: Token,
        operations: &Operations,
        now: Ticks,
    ) -> Ticks {
        let mut phases = VecDeque::new();
        self.planner.plan(die, operations, false, &mut phases);
        // The read of a page without contents has no command, but its end is handled like the end of any other read.
        let takes_time = !phases.is_empty();
        self.reads.insert(token, phases);
        let time = takes_time.then(|| self.go_on_reading(die, token, now));
        time.flatten().unwrap_or(0)
    }

    /// Issues the next command of the read `token` of `die`, and returns the length of the command. `None` if the read
    /// has ended.
    pub fn go_on_reading(&mut self, die: u32, token: Token, now: Ticks) -> Option<Ticks> {
        let Some(phase) = self.reads.get_mut(&token)?.pop_front() else {
            self.reads.remove(&token);
            return None;
        };
        let time = self.operate(die, phase, now, true) - now;
        if let Some(told) = self.planner.told_of(&phase) {
            self.told_of_reads.insert(token, told);
        }
        let place = self.place(die);
        let step = &mut self.steps[die as usize];
        let change_done = self.media.change_done(place).min(LAST);
        if step.latest.is_some_and(|latest| latest.changes()) && step.done > now {
            step.done = change_done;
        }
        if let Some(number) = step.programs
            && self.cached[number].done > now
        {
            self.cached[number].done = change_done;
        }
        Some(time)
    }

    /// The latest command of the read `token`.
    pub fn latest_of_read(&self, token: Token) -> Option<FlashCommand> {
        self.told_of_reads.get(&token).copied()
    }

    /// Removes and returns the latest command of the read `token`.
    pub fn take_latest_of_read(&mut self, token: Token) -> Option<FlashCommand> {
        self.told_of_reads.remove(&token)
    }

    /// The number that the media use for `die`. The numbers differ, because consecutive dies of the device are on
    /// different channels.
    fn place(&self, die: u32) -> u32 {
        let (way, channel) = (die / self.channels, die % self.channels);
        channel * self.dies_per_channel + way
    }

    /// Issues the command `phase`, and returns the time at which the command ends, at most the last moment of the clock.
    /// If the command is a read and `may_interrupt` is true, the read can interrupt a program or an erase.
    fn operate(&mut self, die: u32, phase: Planned, now: Ticks, may_interrupt: bool) -> Ticks {
        let place = self.place(die);
        if phase.loads {
            let data = phase.data;
            let load = |data| self.media.load(now, place, phase.plane, data);
            return by_the_last(data.map_or(now, load), now);
        }
        let command = command(&phase, place);
        self.begun += u32::from(phase.kind == Kind::Program);
        let done = match phase.kind == Kind::Read && !may_interrupt {
            true => self.media.read_behind(now, &command),
            false => self.media.operate(now, &command),
        };
        by_the_last(done, now)
    }

    /// Ends the garbage collection of the step of `die`, which ends `now`, if the step is one. Returns how long it has
    /// collected; 0 for other steps, and for a second call.
    pub fn take_collected(&mut self, die: u32, now: Ticks) -> Ticks {
        let step = &mut self.steps[die as usize];
        match std::mem::take(&mut step.collects) {
            true => now - step.began,
            false => 0,
        }
    }

    /// How long the steps under way have collected garbage by `now`, summed over the dies.
    pub fn collected_so_far(&self, now: Ticks) -> Ticks {
        let steps = self.steps.iter().filter(|step| step.collects);
        let times = steps.map(|step| now.saturating_sub(step.began));
        times.fold(0, Ticks::saturating_add)
    }
}

/// The time `end`, which is not before `now`, or the last moment of the clock if that is earlier.
fn by_the_last(end: Ticks, now: Ticks) -> Ticks {
    end.min(LAST.max(now))
}

/// The command for `planned` at the die that has the number `die` in the media.
fn command(planned: &Planned, die: u32) -> Command {
    Command {
        kind: planned.kind,
        die,
        plane: planned.plane,
        page_type: planned.page_type,
        data: planned.data,
    }
}
