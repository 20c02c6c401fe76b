//! The probes of a run that loses its power, is watched, is explained, or has its course recorded. Any of them may be
//! there at once.

use destage_base::Ticks;
use destage_device::{BatchStep, Device, Note, PageOperation, Request, Transaction};
use destage_nand::media::dispatch::Phase;
use destage_nand::medium::FlashCommand;
use destage_nand::{Kind, Operations};

use crate::config::Config;
use crate::course::Course;
use crate::engine::{Command, Completion, Flash, FlashMedia, Probe};
use crate::explain::Explaining;
use crate::observer::Observer;
use crate::power::moving::Moving;
use crate::watch::{Recording, Watcher};

/// See the [module](self).
#[derive(Default)]
pub(crate) struct Probes<'a> {
    pub moving: Option<Box<Moving>>,
    pub watcher: Option<Box<Watcher<'a>>>,
    pub explaining: Option<Box<Explaining>>,
    pub course: Option<Box<Course>>,
}

impl Config {
    /// The probe that records a watched run into `recording`.
    pub(crate) fn watcher<'r>(&self, recording: &'r mut Recording) -> Box<Watcher<'r>> {
        let by_commands = self.times_commands();
        Box::new(Watcher::new(recording, self.timing(), by_commands))
    }

    /// The probe of a run on `flash` that is explained; `None` if the run is not explained.
    pub(crate) fn explaining(&self, flash: &Flash) -> Option<Box<Explaining>> {
        let in_queues = matches!(flash.media, FlashMedia::Queued(_));
        let dies = flash.geometry.dies;
        self.explain
            .then(|| Box::new(Explaining::new(dies, in_queues)))
    }
}

impl Probes<'_> {
    /// Whether there is no probe.
    pub fn is_empty(&self) -> bool {
        self.moving.is_none()
            && self.watcher.is_none()
            && self.explaining.is_none()
            && self.course.is_none()
    }
}

/// No probes.
impl From<()> for Probes<'_> {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// Passes each of these calls on to every probe that is there.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name(&mut self, $($argument: $type),*) {
            if let Some(moving) = &mut self.moving {
                moving.$name($($argument),*);
            }
            if let Some(watcher) = &mut self.watcher {
                watcher.$name($($argument),*);
            }
            if let Some(explaining) = &mut self.explaining {
                explaining.$name($($argument),*);
            }
            if let Some(course) = &mut self.course {
                course.$name($($argument),*);
            }
        })*
    };
}

impl Probe for Probes<'_> {
    const FOLLOWS_PAGES: bool = true;

    pass_on! {
        moment(now: Ticks, device: &Device);
        opened();
        closed(device: &Device);
        tells(observer: &mut dyn Observer);
        arrived(id: u32, asked: &mut Request);
        transfers(id: u32);
        moved(id: u32);
        accepted(id: u32, asked: &Request, device: &Device);
        taken_in(id: u32);
        answered(id: u32);
        completed(completion: &Completion<'_>, now: Ticks);
        transaction(die: u32, transaction: Transaction, operations: &Operations);
        batch(die: u32, step: BatchStep<'_>);
        begins(command: &Command<'_>);
        goes_on(die: u32, waits: Ticks, time: Ticks, moves: bool);
        overlapping_begins(number: u32, die: u32, operations: &Operations, waited: [(Ticks, Ticks); 2]);
        die_works(die: u32, time: Ticks);
        overlapping_ending(number: u32);
        collects(die: u32, begins: bool);
        issued(die: u32, kind: Kind, moves: bool);
        serves(die: u32, operation: PageOperation);
        phase_begins(die: u32, phase: Phase, time: Ticks);
        served(operation: PageOperation);
        left(die: u32);
        done(die: u32, kind: Kind);
        command_begins(die: u32, command: &FlashCommand, begins: Ticks, time: Ticks);
        command_ended(die: u32, command: &FlashCommand);
        step_ended(die: u32);
        ending(die: u32);
        note(note: &Note<'_>);
    }
}
