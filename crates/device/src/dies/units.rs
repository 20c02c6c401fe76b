//! Program units: pages of a block that are programmed together. The first page of a unit is programmed only when the
//! last page has arrived.
//!
//! A page joins a unit when its die serves the page operation. The operation ends with the last pass of the unit.
//! With one pass, this pass is done when the unit is full. With two passes, the second pass of a unit is done when
//! the next unit of the block is full; in the last unit of a block, when this unit is full. Until then, requests that
//! wait for the program continue to wait, and the slot of the buffer remains occupied.
//!
//! If a request waits until the page is durable (a flush, force unit access, a write that bypasses the buffer), an
//! idle die completes the unit with fillers.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use destage_base::{Lpn, Ticks};
use destage_ftl::NoSpace;
use destage_nand::array::Ppn;
use destage_nand::medium::{FlashCommand, Pass};
use destage_nand::{Cause, Kind, Operation, Operations};

use super::{Die, Dies, Handover};
use crate::driver::{Driver, Progress, Transaction};
use crate::operation::{PageOperation, Work};

/// The number of the alarm for the program units of die 0; that of another die is greater by the number of the die.
pub(crate) const UNIT_ALARM: u32 = 1 << 31;

/// How pages are programmed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Units {
    /// Number of pages of a unit. The number of pages of a block is a multiple of this number.
    pub pages: u32,
    /// Number of passes: 1 or 2.
    pub passes: u32,
    /// Number of pages of a block, including its summary page.
    pub block_pages: u32,
    /// Number of bits of a page number within its block.
    pub page_bits: u32,
    /// Ticks for which an idle die waits before it completes, with fillers, a unit for which a request waits.
    pub wait: Ticks,
}

impl Units {
    fn page(&self, Ppn(at): Ppn) -> u32 {
        at & ((1 << self.page_bits) - 1)
    }

    /// The passes that the cells do, one after the other, when the page at `at` is programmed. If the page is not the
    /// last of its unit, there are none. With two passes, the first pass of the unit is followed by the second pass
    /// of the previous unit of the block. In the last unit of a block, the second pass of this unit follows, too.
    pub fn commands(&self, at: Ppn) -> impl Iterator<Item = FlashCommand> + use<> {
        let (page, pages) = (self.page(at), self.pages);
        let Ppn(block) = Ppn(at.0 - page);
        let command = move |end: u32, pass| FlashCommand {
            kind: Kind::Program,
            at: Ppn(block + end - 1),
            pages,
            pass,
        };
        let end = page + 1;
        let all = match self.passes {
            _ if !self.is_last(at) => [None; 3],
            1 => [Some(command(end, Pass::Only)), None, None],
            _ => {
                let before = (end > pages).then(|| command(end - pages, Pass::Second));
                let last = (end == self.block_pages).then(|| command(end, Pass::Second));
                [Some(command(end, Pass::First)), before, last]
            }
        };
        all.into_iter().flatten()
    }

    /// Whether the page at `at` is the last of its unit.
    #[inline]
    #[must_use]
    pub fn is_last(&self, at: Ppn) -> bool {
        (self.page(at) + 1).is_multiple_of(self.pages)
    }

    /// Number of pages from the page at `at` to the end of its unit, including this page.
    pub(crate) fn left_from(&self, at: Ppn) -> u32 {
        self.pages - self.page(at) % self.pages
    }

    /// Whether two pages are in the same unit.
    pub(crate) fn are_together(&self, one: Ppn, other: Ppn) -> bool {
        let unit = |at: Ppn| (at.0 >> self.page_bits, self.page(at) / self.pages);
        unit(one) == unit(other)
    }
}

/// A program that waits for the other programs of its unit.
struct Waiting {
    at: Ppn,
    /// The number of the program in the order of the programs of its die.
    number: u64,
    operation: PageOperation,
}

/// The programs of one logical page that have begun but not ended.
pub(super) struct Unfinished {
    /// The die of these programs.
    die: u32,
    programs: u32,
    /// The block of another die in which the first of these programs replaces the page, given by the die and the
    /// first page of the block.
    replaces: Option<(u32, Ppn)>,
}

/// The incomplete units of a die, and the operations that wait for these units.
#[derive(Default)]
pub(super) struct Open {
    waiting: Vec<Waiting>,
    /// Number of programs that have begun.
    begun: u64,
    /// A request waits for programs with numbers below this one, so the units of these programs have to be completed.
    wanted: u64,
    /// The page operations that end with the step in service.
    ending: Vec<PageOperation>,
    /// For each transaction that no longer occupies the die: the place in the table of transactions, and the page
    /// operations that end with the transaction.
    handed_over: VecDeque<(u32, Vec<PageOperation>)>,
    has_alarm: bool,
    is_due: bool,
}

impl Open {
    /// Called when the transaction in service, at `place` of the table, no longer occupies the die.
    pub fn hand_over(&mut self, place: u32) {
        let ending = core::mem::take(&mut self.ending);
        self.handed_over.push_back((place, ending));
    }

    fn is_wanted(&self) -> bool {
        let first = self.waiting.first();
        first.is_some_and(|waiting| waiting.number < self.wanted)
    }

    /// Called when a step with `operations` begins. `own` is the page operation that the step serves, if it is a
    /// write; `home` is the argument of [`own_place`].
    fn begin(
        &mut self,
        units: &Units,
        operations: &Operations,
        (own, home): (Option<PageOperation>, Option<Ppn>),
    ) {
        let mut own = own;
        let mask = (1 << units.page_bits) - 1;
        let own_place = own.and_then(|own| own_place(own, home, operations));
        let programs = operations.all().iter();
        let programs = programs.enumerate();
        for (place, program) in programs.filter(|(_, of)| of.kind == Kind::Program) {
            let Ppn(at) = program.at;
            if program.one_bit {
                // A page in cells of one bit is programmed alone.
                self.ending.extend(own.take());
                continue;
            }
            if own_place == Some(place)
                && let Some(operation) = own.take()
            {
                self.waiting.push(Waiting {
                    at: program.at,
                    number: self.begun,
                    operation,
                });
                self.begun += 1;
                if matches!(operation.work(), Work::HostWrite(_) | Work::OwedWrite(_)) {
                    // `wanted` may be larger already, because it also counts programs that wait in the queue.
                    self.wanted = self.wanted.max(self.begun);
                }
            }
            let behind = (at & mask) + 1;
            if !behind.is_multiple_of(units.pages) {
                continue;
            }
            // When this step ends, every page of the block before page `through` has had its last pass.
            let through = match units.passes {
                2 if behind < units.block_pages => behind - units.pages,
                _ => behind,
            };
            let ending = &mut self.ending;
            self.waiting.retain(|waiting| {
                let Ppn(place) = waiting.at;
                let stays =
                    place >> units.page_bits != at >> units.page_bits || place & mask >= through;
                if !stays {
                    ending.push(waiting.operation);
                }
                stays
            });
        }
    }
}

/// The position in `operations` of the program of `own`. `home` is the physical page to which the page is mapped now,
/// if it is known. Fillers that complete units may come before the program of `own`. Fillers have the cause
/// [`Cause::Pad`].
fn own_place(own: PageOperation, home: Option<Ppn>, operations: &Operations) -> Option<usize> {
    let is_its = |operation: &Operation| {
        operation.kind == Kind::Program && Some(operation.cause) == own.write_cause()
    };
    let all = operations.all();
    let at = |home: Ppn| all.iter().position(|of| is_its(of) && of.at == home);
    home.and_then(at).or_else(|| all.iter().position(is_its))
}

impl Die {
    /// Whether a request waits for pages of an incomplete unit. The result is `false` while a step that no longer
    /// occupies the die is in progress.
    fn wants_fillers(&self) -> bool {
        self.queued == 0 && self.open.is_wanted()
    }

    /// Whether units may be completed now: no operation is in service.
    pub(super) fn may_fill(&self) -> bool {
        self.in_service == 0 && self.wants_fillers()
    }
}

impl Dies {
    /// Whether pages are programmed in units.
    #[inline]
    pub fn has_units(&self) -> bool {
        self.rules.units.is_some()
    }

    /// Called when the step in `operations` begins at `die`. `own` is the page operation that the step serves, if it
    /// is a write.
    pub(super) fn begin_units(&mut self, die: u32, own: Option<PageOperation>) {
        let Self {
            ftl,
            rules,
            dies,
            operations,
            ..
        } = self;
        if let Some(units) = &rules.units {
            // Only a program of padding has the same cause as fillers, so only its physical page is looked up.
            let pads = own.filter(|own| own.write_cause() == Some(Cause::Pad));
            let home = pads.and_then(|own| {
                let mut looked = Operations::default();
                ftl.peek(own.page(), &mut looked);
                looked.all().last().map(|read| read.at)
            });
            dies[die as usize]
                .open
                .begin(units, operations, (own, home));
            if rules.places_writes
                && let Some(own) = own
            {
                self.follow(die, own);
            }
        }
    }

    /// Whether, on a device without units, the next program of a page follows an unfinished program of the page to
    /// its die.
    pub(super) fn follows_without_units(&self) -> bool {
        self.rules.handover == Handover::OfAll && self.rules.units.is_none()
    }

    /// Called when the program `own` begins at `die`, and may end later than the step in service. Used only for
    /// layers that choose the die of each write. Until the program ends, the next program of the page goes to the
    /// same die, and the copy that the program replaces on another die is not erased.
    pub(super) fn follow(&mut self, die: u32, own: PageOperation) {
        let left = match self.rules.power_may_fail || self.follows_without_units() {
            true => self.operations.take_left(),
            false => None,
        };
        let mut waits = false;
        if let Some((home, block)) = left {
            let chosen = &mut self.dies[home as usize].chosen;
            chosen.note(block);
            waits = chosen.will_erase(block);
        }
        let unfinished = self.unfinished.entry(own.page());
        let unfinished = unfinished.or_insert(Unfinished {
            die,
            programs: 0,
            replaces: left,
        });
        unfinished.programs += 1;
        if waits {
            // Erases of this block already wait at the other die, so the unit of this program has to be completed.
            self.want(die);
        }
    }

    /// The die with an unfinished program of `page`, if the layer chooses the die of each write. The next program of
    /// the page goes to this die, so that the programs keep their order.
    pub(super) fn waits_in_unit(&self, page: Lpn) -> Option<u32> {
        self.unfinished.get(&page).map(|unfinished| unfinished.die)
    }

    /// Called when `operation` has ended. If it is a program, later programs of the page need not
    /// [follow](Dies::follow) it any more.
    pub(super) fn forget_unfinished(&mut self, operation: PageOperation) {
        if operation.write_cause().is_none() {
            return;
        }
        let Some(unfinished) = self.unfinished.get_mut(&operation.page()) else {
            return;
        };
        unfinished.programs -= 1;
        // Only the first of the programs can replace a copy on another die. Later programs have followed the first
        // program to its die.
        let replaced = unfinished.replaces.take();
        if unfinished.programs == 0 {
            self.unfinished.remove(&operation.page());
        }
        if let Some(replaced) = replaced {
            self.release_replaced(replaced);
        }
    }

    /// Lets other dies complete those units with programs for which the erases of `die` wait.
    pub(super) fn want_replaced(&mut self, die: u32) {
        let chosen = &self.dies[die as usize].chosen;
        let unfinished = self.unfinished.values();
        let others: Vec<u32> = unfinished
            .filter(|unfinished| {
                let replaced = unfinished.replaces.filter(|(home, _)| *home == die);
                replaced.is_some_and(|(_, block)| chosen.will_erase(block))
            })
            .map(|unfinished| unfinished.die)
            .collect();
        for other in others {
            self.want(other);
            self.stirred.push_back(other);
        }
    }

    /// Ends the step of `die`, and adds the page operations that end with the step to `ended`.
    pub fn finish_units(&mut self, die: u32, ended: &mut Vec<PageOperation>) {
        if let Some(operation) = self.finish(die)
            && operation.write_cause().is_none()
        {
            ended.push(operation);
        }
        let mut ending = core::mem::take(&mut self.dies[die as usize].open.ending);
        for operation in ending.drain(..) {
            self.forget_unfinished(operation);
            ended.push(operation);
        }
        self.dies[die as usize].open.ending = ending;
    }

    /// Ends the transaction at `place` of the table, which no longer occupied `die`. Returns the page operations that
    /// end with the transaction.
    pub fn finish_unit(&mut self, die: u32, place: u32) -> Vec<PageOperation> {
        let handed_over = &mut self.dies[die as usize].open.handed_over;
        let index = handed_over.iter().position(|(other, _)| *other == place);
        let ended = index.and_then(|index| handed_over.remove(index));
        let ended = ended.map(|(_, ending)| ending).unwrap_or_default();
        if self.rules.places_writes {
            for operation in &ended {
                self.forget_unfinished(*operation);
            }
        }
        ended
    }

    /// Called when a request waits for the programs of `die`. The units of all programs that are queued or have begun
    /// there have to be completed.
    pub fn want(&mut self, die: u32) {
        let state = &mut self.dies[die as usize];
        let queued = state.queue.iter();
        let queued = queued.filter(|operation| operation.write_cause().is_some());
        state.open.wanted = state.open.begun + queued.count() as u64;
    }

    /// Whether `die` is idle and may have to complete a unit.
    pub fn may_fill(&self, die: u32) -> bool {
        let state = &self.dies[die as usize];
        !state.collecting && state.may_fill()
    }

    /// Called at the time of the alarm that was set for the units of `die`.
    pub fn alarm_units(&mut self, die: u32) {
        let open = &mut self.dies[die as usize].open;
        open.has_alarm = false;
        open.is_due = open.is_wanted();
    }

    /// Called when `die` is idle. Completes a unit for which a request waits, or does deferred work of the layer.
    #[cold]
    pub(super) fn use_idle_time<D: Driver>(
        &mut self,
        die: u32,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        if self.rules.units.is_some() && self.dies[die as usize].wants_fillers() {
            return Ok(self.fill(die, driver));
        }
        if driver.is_busy(die) {
            return Ok(Progress::Running);
        }
        if self.ftl.work_idle(die, &mut self.operations)? {
            self.dies[die as usize].collecting = true;
            self.begin_units(die, None);
            return Ok(self.collect(die, driver));
        }
        Ok(Progress::Running)
    }

    pub(super) fn fill<D: Driver>(&mut self, die: u32, driver: &mut D) -> Progress {
        let Some(units) = self.rules.units else {
            return Progress::Running;
        };
        let open = &mut self.dies[die as usize].open;
        let Some(first) = open.waiting.first() else {
            return Progress::Running;
        };
        if units.wait > 0 && !open.is_due {
            if !open.has_alarm {
                open.has_alarm = true;
                driver.wake_after(units.wait, UNIT_ALARM | die);
            }
            return Progress::Running;
        }
        let at = first.at;
        open.is_due = false;
        self.ftl
            .fill_unit(die, at, units.pages, &mut self.operations);
        self.begin_units(die, None);
        self.dies[die as usize].in_service = 1;
        let token = self.serves(die);
        let progress = driver.begin(die, Transaction::Fillers, &self.operations, 0, token);
        self.operations.clear();
        progress
    }
}
