//! Commands that begin and end one by one.
//!
//! A step is [started](Medium::start) when its die takes it up, and from then on its pages have their places and their bytes. Its programs and erases
//! wait in RAM until a command says that it [begins](Medium::command_begins), and are in flight until the command has [ended](Medium::command_ended).
//! Several steps of a die may be under way. One command programs one page, or all pages of a unit, which may take two passes; a page before its last
//! pass is unreadable after a loss of power.

use alloc::vec::Vec;

use destage_base::Ticks;

use super::cut::Done;
use super::{Hold, Medium, Refusal};
use crate::array::Ppn;
use crate::operation::{Cause, Kind, Operation};

/// A command: a page that is read, pages that are programmed together, or a block that is erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashCommand {
    /// What it does.
    pub kind: Kind,
    /// The page that is read, the last page that is programmed, or the first of the block that is erased.
    pub at: Ppn,
    /// How many pages are programmed, one after the other; 1 of others.
    pub pages: u32,
    /// The number of the pass.
    pub pass: Pass,
}

/// Which pass of the pages that a command programs it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// There is no other.
    Only,
    /// The first of two.
    First,
    /// The second of two.
    Second,
}

impl FlashCommand {
    /// The command that `operation` is by itself.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        Self {
            kind: operation.kind,
            at: operation.at,
            pages: 1,
            pass: Pass::Only,
        }
    }

    /// Whether the page at `at` is part of it.
    #[must_use]
    pub fn reaches(&self, Ppn(at): Ppn) -> bool {
        let Ppn(last) = self.at;
        at <= last && at + self.pages > last
    }

    /// Whether `operation` is part of it.
    fn covers(&self, operation: &Operation) -> bool {
        operation.kind == self.kind && self.reaches(operation.at)
    }
}

/// How far the command is that carries out an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// It has not begun.
    Waits,
    /// Its first of several passes begins at this time.
    Halfway(Ticks),
    /// Its last pass runs from one time to another, if it is not interrupted.
    Last {
        begins: Ticks,
        ends: Ticks,
        /// There was one before.
        is_second: bool,
    },
}

impl Medium {
    /// As above, for a device whose commands begin and end one by one.
    #[must_use]
    pub fn by_commands(self) -> Self {
        Self {
            is_by_commands: true,
            ..self
        }
    }

    /// Whether its commands begin and end one by one.
    #[must_use]
    pub fn is_by_commands(&self) -> bool {
        self.is_by_commands
    }

    /// `command` of `die` begins at time `begins`, and takes `time` if nothing interrupts it.
    ///
    /// # Errors
    /// If an erase begins before the copies out of its block, or the programs that replaced its pages, have ended; or a program in a block before its
    /// erase has ended.
    pub fn command_begins(
        &mut self,
        die: u32,
        command: &FlashCommand,
        begins: Ticks,
        time: Ticks,
    ) -> Result<(), Refusal> {
        let covered = self.covered(die, command);
        let block = command.at.0 >> self.page_bits;
        let is_of_block = |at: u32| at >> self.page_bits == block;
        match command.kind {
            Kind::Read => return Ok(()),
            Kind::Erase => {
                // Pages programmed in the block after this erase do not matter.
                let before = covered.first().map_or(u64::MAX, |place| {
                    self.dies[die as usize].done[*place].number
                });
                let held = self.holds.iter().find(|hold| {
                    hold.place.0 == die
                        && is_of_block(hold.place.1)
                        && hold.by.number <= before
                        && self.outlasts(hold, begins)
                });
                if let Some(Hold { page, by, .. }) = held.cloned() {
                    let spot = self.spot(die, command.at.0);
                    return Err(Refusal::EraseOfHeld {
                        spot,
                        page,
                        by: by.die,
                    });
                }
            }
            Kind::Program => {
                let mut open = self.dies[die as usize].done.iter();
                if covered.is_empty() && open.any(|done| command.covers(&done.operation)) {
                    return Err(Refusal::ProgramBeforeErase(self.spot(die, command.at.0)));
                }
            }
        }
        for place in covered {
            self.dies[die as usize].done[place].progress = match command.pass {
                Pass::First => Progress::Halfway(begins),
                Pass::Only | Pass::Second => Progress::Last {
                    begins,
                    ends: begins.saturating_add(time),
                    is_second: command.pass == Pass::Second,
                },
            };
        }
        Ok(())
    }

    /// The places, among the unfinished operations of `die`, of those that `command` carries out: none that come after an erase of its block.
    fn covered(&self, die: u32, command: &FlashCommand) -> Vec<usize> {
        let block_of = |Ppn(at): Ppn| at >> self.page_bits;
        let mut places = Vec::new();
        for (place, done) in self.dies[die as usize].done.iter().enumerate() {
            let operation = &done.operation;
            if command.covers(operation) {
                places.push(place);
            }
            if operation.kind == Kind::Erase && block_of(operation.at) == block_of(command.at) {
                break;
            }
        }
        places
    }

    /// Whether the program for which `hold` is held has not ended at `time`. The cells of a die do one thing after the other, so on the die of the
    /// block an operation has ended if it is to end by then.
    fn outlasts(&self, hold: &Hold, time: Ticks) -> bool {
        let mut open = self.dies[hold.by.die as usize].done.iter();
        let is_it =
            |done: &&Done| done.operation.kind == Kind::Program && done.number == hold.by.number;
        open.find(is_it).is_some_and(|done| match done.progress {
            Progress::Last { ends, .. } => ends > time || hold.by.die != hold.place.0,
            Progress::Waits | Progress::Halfway(_) => true,
        })
    }

    /// `command` of `die` has ended.
    pub fn command_ended(&mut self, die: u32, command: &FlashCommand) {
        if command.pass == Pass::First || command.kind == Kind::Read {
            return;
        }
        for place in self.covered(die, command).into_iter().rev() {
            let ended = self.dies[die as usize].done.remove(place);
            match ended.operation.kind {
                Kind::Program => self.holds.retain(|hold| hold.by.number != ended.number),
                Kind::Erase => self.drop_fillers(die, ended.operation.at, place),
                Kind::Read => {}
            }
        }
    }

    /// The block that begins at `first` of `die` is erased: pages without content that were programmed before, at the first `before` places of the
    /// unfinished operations, wait for no second pass any more.
    fn drop_fillers(&mut self, die: u32, Ppn(first): Ppn, before: usize) {
        let (done, bits) = (&mut self.dies[die as usize].done, self.page_bits);
        let is_its = |done: &Done| {
            let operation = &done.operation;
            operation.kind == Kind::Program
                && operation.cause == Cause::Pad
                && done.page.is_none()
                && operation.at.0 >> bits == first >> bits
        };
        for place in (0..before).rev() {
            if is_its(&done[place]) {
                done.remove(place);
            }
        }
    }
}
