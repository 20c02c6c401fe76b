//! A step of a die, command by command: each is placed on die and channel when it begins.
//!
//! Only where dies share channels or pages have types: else the time of a step is a sum that is known when it begins.

use std::collections::{BTreeMap, VecDeque};

use destage_base::Ticks;
use destage_device::slab::Slab;
use destage_device::{PageOperation, Units};
use destage_flash::divide::Divider;
use destage_flash::media::{Cached, Command, Media, MediaConfig, Target};
use destage_flash::{Geometry, Kind, Operation, Operations, Timing, Transfer};

use crate::explain::moves;

/// What a die is doing.
#[derive(Clone, Default)]
struct Step {
    /// What is left of it.
    commands: VecDeque<Phase>,
    began: Ticks,
    /// It does not end before: the map is busy until then.
    not_before: Ticks,
    collects: bool,
    /// What was issued last, and when it is done as far as is known.
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
}

impl Phase {
    /// The command, at the die that the media call `die`.
    fn command<'t>(&self, die: u32, targets: &'t [Target]) -> Command<'t> {
        Command {
            kind: self.kind,
            die,
            targets,
            page_type: self.page_type,
            age_s: 0,
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
    /// It moves or erases what was there, and serves no request.
    pub moves: bool,
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
    /// What is left of reads in the midst of steps, by their number, and their dies.
    reads: BTreeMap<u32, (u32, VecDeque<Phase>)>,
    /// Planes have cache registers, and a die may do several things at once.
    pub has_registers: bool,
    /// Page operations that use them, and their dies.
    cached: Slab<(u32, PageOperation)>,
}

impl Commands {
    /// Idle media under a device of `geometry`.
    pub fn new(flash: OneByOne, geometry: &Geometry, timing: Timing) -> Self {
        Self {
            channels: flash.media.channels,
            dies_per_channel: flash.media.dies_per_channel,
            page_types: flash.page_types,
            units: flash.units,
            has_registers: flash.media.registers.is_some(),
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
            };
            match self.units {
                Some(units) if operation.kind == Kind::Program && !operation.one_bit => {
                    self.plan_in_unit(units, page, phase, phases);
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

    /// Adds what the program of `page` does where it is programmed with the others of its unit.
    fn plan_in_unit(&self, units: Units, page: u32, phase: Phase, phases: &mut VecDeque<Phase>) {
        let behind = page + 1;
        if !behind.is_multiple_of(units.pages) {
            phases.push_back(Phase {
                loads: true,
                ..phase
            });
            return;
        }
        if units.passes == 1 {
            phases.push_back(phase);
            return;
        }
        phases.push_back(Phase {
            page_type: self.page_types,
            ..phase
        });
        // The unit before, and the last of a block at once, have their second pass, for which the data come again.
        let before = behind.checked_sub(units.pages).filter(|end| *end > 0);
        let last = (behind == units.block_pages).then_some(behind);
        for end in before.into_iter().chain(last) {
            phases.push_back(Phase {
                page_type: self.page_type(end - 1),
                data: Some(u64::from(units.pages) * self.timing.page_transfer),
                ..phase
            });
        }
    }

    /// `die` begins `operations`, one after the other; meanwhile the map is busy for `map_time`. `collects`: they are a
    /// garbage collection.
    pub fn begin(
        &mut self,
        die: u32,
        operations: &Operations,
        now: Ticks,
        map_time: Ticks,
        collects: bool,
    ) {
        let mut commands = std::mem::take(&mut self.steps[die as usize].commands);
        self.plan(die, operations, collects, &mut commands);
        let step = &mut self.steps[die as usize];
        step.commands = commands;
        step.began = now;
        step.not_before = now.saturating_add(map_time);
        step.collects = collects;
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
                moves: step.latest.is_some_and(|latest| latest.moves),
            });
        }
        let Some(phase) = step.commands.pop_front() else {
            let left = step.not_before.saturating_sub(now);
            return (left > 0).then_some(Issued {
                time: left,
                moves: false,
            });
        };
        let done = self.operate(die, phase, now);
        let step = &mut self.steps[die as usize];
        (step.latest, step.done) = (Some(phase), done);
        Some(Issued {
            time: done - now,
            moves: phase.moves,
        })
    }

    /// Issues the step of `die`, which has just begun for `page`, with a cache register if it is one command that uses one; the
    /// number to ask for it by, and when it is over.
    pub fn issue_cached(
        &mut self,
        die: u32,
        page: PageOperation,
        now: Ticks,
    ) -> Option<(u32, Cached)> {
        let step = &self.steps[die as usize];
        let phase = *step.commands.front()?;
        if !self.has_registers || step.commands.len() > 1 || step.not_before > now || phase.moves {
            return None;
        }
        let place = self.place(die);
        let target = Target {
            plane: phase.plane,
            erases: 0,
        };
        let cached = self
            .media
            .operate_cached(now, &phase.command(place, &[target]))?;
        self.steps[die as usize].commands.clear();
        Some((self.cached.insert((die, page)), cached))
    }

    /// The page operation of this number has ended: takes it and its die.
    pub fn take_cached(&mut self, number: u32) -> Option<(u32, PageOperation)> {
        self.cached.remove(number)
    }

    /// Whether a read may interrupt what `die` does.
    pub fn takes_read(&self, die: u32, now: Ticks) -> bool {
        let step = &self.steps[die as usize];
        let changes = |phase: &Phase| phase.kind != Kind::Read && !phase.loads;
        step.latest.filter(changes).is_some_and(|phase| {
            step.done > now && self.media.takes_read(now, self.place(die), phase.plane)
        })
    }

    /// Read `number` begins at `die`, in the midst of its step; how long its first command takes.
    pub fn begin_read(
        &mut self,
        die: u32,
        number: u32,
        operations: &Operations,
        now: Ticks,
    ) -> Ticks {
        let mut phases = VecDeque::new();
        self.plan(die, operations, false, &mut phases);
        // A page without contents takes no command, and its read ends all the same.
        let takes_time = !phases.is_empty();
        self.reads.insert(number, (die, phases));
        let time = takes_time.then(|| self.go_on_reading(number, now));
        time.flatten().unwrap_or(0)
    }

    /// The die of read `number`, which is under way.
    pub fn die_of_read(&self, number: u32) -> Option<u32> {
        self.reads.get(&number).map(|(die, _)| *die)
    }

    /// How long the next command of read `number` takes. None if it has ended.
    pub fn go_on_reading(&mut self, number: u32, now: Ticks) -> Option<Ticks> {
        let (die, phases) = self.reads.get_mut(&number)?;
        let die = *die;
        let Some(phase) = phases.pop_front() else {
            self.reads.remove(&number);
            return None;
        };
        let time = self.operate(die, phase, now) - now;
        let place = self.place(die);
        let step = &mut self.steps[die as usize];
        if let Some(latest) = step
            .latest
            .filter(|latest| latest.kind != Kind::Read && !latest.loads)
            && step.done > now
        {
            step.done = self.media.change_done(place, latest.plane);
        }
        Some(time)
    }

    /// The die among those of the media: neighbours in the stripe of dies are on different channels.
    fn place(&self, die: u32) -> u32 {
        let (way, channel) = (die / self.channels, die % self.channels);
        channel * self.dies_per_channel + way
    }

    /// Issues `phase`; when it is done.
    fn operate(&mut self, die: u32, phase: Phase, now: Ticks) -> Ticks {
        let place = self.place(die);
        if phase.loads {
            let data = phase.data;
            return data.map_or(now, |data| self.media.load(now, place, data));
        }
        let target = Target {
            plane: phase.plane,
            erases: 0,
        };
        self.media
            .operate(now, &phase.command(place, &[target]))
            .done
    }

    /// How long the step of `die`, which ends `now`, collected garbage.
    pub fn collected(&self, die: u32, now: Ticks) -> Ticks {
        let step = &self.steps[die as usize];
        if step.collects { now - step.began } else { 0 }
    }
}

/// The type of page `page` of a block whose cells hold pages of `types` types: that of three, which begin with pages of
/// the first and the second type, is the one which MQSim and FEMU have.
pub(crate) fn page_type(page: u32, types: u32) -> u32 {
    match (types, page) {
        (3, 0..=5) => 0,
        (3, 6..=7) => 1,
        (3, _) => (page - 8) / 2 % 3,
        _ => page % types,
    }
}
