//! Flash commands that begin and end one by one.
//!
//! When a die begins a step, the caller [starts](Medium::start) the step. From then on reads find the pages of the
//! step at their new places. The programs and erases of the step wait in a queue until the caller reports that their
//! command [begins](Medium::command_begins). They are in flight until the command has [ended](Medium::command_ended).
//! A die may have several steps in service.
//!
//! A command programs one page, or all pages that are programmed together. Programming may need two passes over these
//! pages. If the power fails before the last pass over a page has ended, the page is unreadable.

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
    /// Which pass over the pages the command does.
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
    /// Whether the page `at` is one of the pages of the command.
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

/// The progress of the command that carries out an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Progress {
    /// The command has not begun.
    Waits,
    /// The first of two passes has been issued and begins at this time.
    Halfway(Ticks),
    /// The last pass has been issued. It begins and ends at these times, if it is not interrupted.
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

    /// The caller reports that `command` of `die` begins at `begins`, and lasts `time` ticks if no read interrupts
    /// it.
    ///
    /// # Errors
    /// If an erase begins before the end of a program that copied or replaced a page of its block, or if a program
    /// begins before the end of the erase of its block.
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
                // Programs after this erase are not checked. The pages that they replace were programmed in the block
                // after this erase.
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

    /// The positions, in the list of the unfinished operations of `die`, of the operations that `command` carries
    /// out. Operations after an unfinished erase of the block are excluded.
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

    /// Whether the program for which a copy is held has not ended at `time`. If the program is on the die of the held
    /// copy, it counts as ended from its planned end on, because the cells of a die do one operation after the other.
    /// On another die, it counts as ended only when its command has ended.
    fn outlasts(&self, hold: &Hold, time: Ticks) -> bool {
        let mut open = self.dies[hold.by.die as usize].done.iter();
        let is_it =
            |done: &&Done| done.operation.kind == Kind::Program && done.number == hold.by.number;
        open.find(is_it).is_some_and(|done| match done.progress {
            Progress::Last { ends, .. } => ends > time || hold.by.die != hold.place.0,
            Progress::Waits | Progress::Halfway(_) => true,
        })
    }

    /// The caller reports that `command` of `die` has ended.
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

    /// Called when the block of `die` that begins at `first` has been erased. Removes the programs of fillers in this
    /// block from the first `before` unfinished operations, because a second pass over them will not come.
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
