//! Flash commands that begin and end one by one.
//!
//! When a die begins a step, the step is [started](Medium::start): from then on its pages have their places and
//! their bytes. Its programs and erases wait in RAM until the caller says that their command
//! [begins](Medium::command_begins). They are in flight until the command has [ended](Medium::command_ended). A die
//! may have several steps in service. A command programs one page, or all pages of a unit, which may take two
//! passes. A page whose last pass has not ended is unreadable after a loss of power.

use alloc::vec::Vec;

use destage_base::Ticks;

use super::cut::Done;
use super::{Hold, Medium, Refusal};
use crate::array::Ppn;
use crate::operation::{Cause, Kind, Operation};

/// A command: the read of a page, the program of pages that are programmed together, or the erase of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashCommand {
    /// The kind of operation.
    pub kind: Kind,
    /// The page that is read, the last page that is programmed, or the first page of the block that is erased.
    pub at: Ppn,
    /// Number of consecutive pages that are programmed; 1 for reads and erases.
    pub pages: u32,
    /// Which pass over the pages it is.
    pub pass: Pass,
}

/// Which pass a command does over the pages that it programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    /// The only pass.
    Only,
    /// The first of two passes.
    First,
    /// The second of two passes.
    Second,
}

impl FlashCommand {
    /// The command that carries out `operation` alone.
    #[must_use]
    pub fn of(operation: &Operation) -> Self {
        Self {
            kind: operation.kind,
            at: operation.at,
            pages: 1,
            pass: Pass::Only,
        }
    }

    /// Whether the page at `at` is one of the command's pages.
    #[must_use]
    pub fn reaches(&self, Ppn(at): Ppn) -> bool {
        let Ppn(last) = self.at;
        at <= last && at + self.pages > last
    }

    /// Whether the command carries out `operation`.
    fn covers(&self, operation: &Operation) -> bool {
        operation.kind == self.kind && self.reaches(operation.at)
    }
}

/// How far the command of an operation is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// The command has not begun.
    Waits,
    /// The first of two passes begins at this time.
    Halfway(Ticks),
    /// The last pass runs between these times, if it is not interrupted.
    Last {
        begins: Ticks,
        ends: Ticks,
        /// Whether there was a first pass.
        is_second: bool,
    },
}

impl Medium {
    /// This medium, for a device whose commands begin and end one by one.
    #[must_use]
    pub fn by_commands(self) -> Self {
        Self {
            is_by_commands: true,
            ..self
        }
    }

    /// Whether commands of this device begin and end one by one.
    #[must_use]
    pub fn is_by_commands(&self) -> bool {
        self.is_by_commands
    }

    /// Notes that `command` of `die` begins at time `begins`, and takes `time` ticks if nothing interrupts it.
    ///
    /// # Errors
    /// If an erase begins before the copies out of its block, or the programs that replaced its pages, have ended;
    /// or if a program begins before the erase of its block has ended.
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
                // Programs that follow this erase do not matter: they replace pages that were programmed in the
                // block after it.
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

    /// The positions, among the unfinished operations of `die`, of the operations that `command` carries out.
    /// Operations after an erase of the block are not among them.
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

    /// Whether the program for which `hold` is held has not ended at `time`. The cells of a die do one operation
    /// after the other, so on the die of the block a program counts as ended at its planned end. On another die it
    /// counts as ended only when its command has ended.
    fn outlasts(&self, hold: &Hold, time: Ticks) -> bool {
        let mut open = self.dies[hold.by.die as usize].done.iter();
        let is_it =
            |done: &&Done| done.operation.kind == Kind::Program && done.number == hold.by.number;
        open.find(is_it).is_some_and(|done| match done.progress {
            Progress::Last { ends, .. } => ends > time || hold.by.die != hold.place.0,
            Progress::Waits | Progress::Halfway(_) => true,
        })
    }

    /// Notes that `command` of `die` has ended.
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

    /// Called when the block that begins at `first` of `die` is erased. Removes the programs without content in
    /// this block from the first `before` unfinished operations: they do not wait for a second pass any more.
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
