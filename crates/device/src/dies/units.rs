//! Program units: pages of a block that are programmed together, so that the first page of a unit waits for the
//! last.
//!
//! A page joins a unit when its die serves it. The operation of a page ends with the last pass of its unit. With
//! one pass, this is when the unit is full; with two, when the next unit of the block is full, or when the unit
//! itself is full if it is the last of its block. Until then, requests that wait for the program keep waiting, and
//! the slot of the buffer stays occupied. If a request waits for the page to be durable (a flush, force unit
//! access, a write past the buffer), a die with nothing else to do completes the unit with fillers.

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

/// The first number of the alarms of units. The number of the die is added to it.
pub(crate) const UNIT_ALARM: u32 = 1 << 31;

/// How pages are programmed together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Units {
    /// Pages of a unit. The number of pages of a block is a multiple of it.
    pub pages: u32,
    /// Number of passes: 1 or 2.
    pub passes: u32,
    /// Pages of a block, its summary page included.
    pub block_pages: u32,
    /// Number of bits of a page number within its block.
    pub page_bits: u32,
    /// Ticks for which a unit with pages for which a request waits stays open while its die has nothing to do.
    pub wait: Ticks,
}

impl Units {
    fn page(&self, Ppn(at): Ppn) -> u32 {
        at & ((1 << self.page_bits) - 1)
    }

    /// The passes that the cells do, one after the other, when the page at `at` is programmed: none, unless it is
    /// the last page of its unit. With two passes, the second pass of the previous unit follows the first pass; and
    /// in the last unit of a block, its own second pass follows at once.
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

    /// Number of pages of the unit from the page at `at` on, this page included.
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
    /// Its number among the programs of its die.
    number: u64,
    operation: PageOperation,
}

/// The programs of a page that have begun and not ended.
pub(super) struct Unfinished {
    /// The die of these programs.
    die: u32,
    programs: u32,
    /// The block of another die in which the first of the programs replaces a page: the die, and the first page of
    /// the block.
    replaces: Option<(u32, Ppn)>,
}

/// The units of a die that are not complete, and the operations that wait for them.
#[derive(Default)]
pub(super) struct Open {
    waiting: Vec<Waiting>,
    /// Number of programs that have begun.
    begun: u64,
    /// Programs with numbers below this one have to reach the flash.
    wanted: u64,
    /// The page operations that end with the step in service.
    ending: Vec<PageOperation>,
    /// For each transaction that no longer occupies the die: its place in the table of transactions, and the page
    /// operations that end with it.
    handed_over: VecDeque<(u32, Vec<PageOperation>)>,
    has_alarm: bool,
    is_due: bool,
}

impl Open {
    /// Notes that the transaction in service, which is at `place` of the table, no longer occupies the die.
    pub fn hand_over(&mut self, place: u32) {
        let ending = core::mem::take(&mut self.ending);
        self.handed_over.push_back((place, ending));
    }

    fn is_wanted(&self) -> bool {
        let first = self.waiting.first();
        first.is_some_and(|waiting| waiting.number < self.wanted)
    }

    /// Notes that a step of `operations` begins. It serves the page operation `own`, if there is one that programs.
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
                    // Programs that wait in the queue may have been wanted before this one.
                    self.wanted = self.wanted.max(self.begun);
                }
            }
            let behind = (at & mask) + 1;
            if !behind.is_multiple_of(units.pages) {
                continue;
            }
            // Pages of the block before page `through` have had their last pass.
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

/// The position in `operations` of the program of `own`. `home` is the present physical page of the page, if it is
/// known. Programs that complete units may come before the program of `own`; they have the cause of padding.
fn own_place(own: PageOperation, home: Option<Ppn>, operations: &Operations) -> Option<usize> {
    let is_its = |operation: &Operation| {
        operation.kind == Kind::Program && Some(operation.cause) == own.write_cause()
    };
    let all = operations.all();
    let at = |home: Ppn| all.iter().position(|of| is_its(of) && of.at == home);
    home.and_then(at).or_else(|| all.iter().position(is_its))
}

impl Die {
    /// Whether a request waits for pages of an incomplete unit. It is `false` while a step is in progress that no
    /// longer occupies the die.
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

    /// Notes that the step in `operations` begins at `die`. It serves the page operation `own`, if there is one
    /// that programs.
    pub(super) fn begin_units(&mut self, die: u32, own: Option<PageOperation>) {
        let Self {
            ftl,
            rules,
            dies,
            operations,
            ..
        } = self;
        if let Some(units) = &rules.units {
            // Only a program of padding can be confused with programs that complete units.
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

    /// Whether the next program of a page follows an unfinished program of the page to its die although there are
    /// no units.
    pub(super) fn follows_without_units(&self) -> bool {
        self.rules.handover == Handover::OfAll && self.rules.units.is_none()
    }

    /// Notes that the program `own` begins at `die`, and may end later than the step in service there; only for
    /// layers that choose the die of each write. Until it ends, the next program of the page goes to the same die,
    /// and the copy that it replaces on another die is not erased.
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
            // Erases at the other die wait already, so they wait for this unit, too.
            self.want(die);
        }
    }

    /// The die with a program of `page` that has begun and not ended, if a layer chooses the die of each write. The
    /// next program of the page goes to the same die, so that they keep their order.
    pub(super) fn waits_in_unit(&self, page: Lpn) -> Option<u32> {
        self.unfinished.get(&page).map(|unfinished| unfinished.die)
    }

    /// Called when `operation` has ended: it is no longer an unfinished program that others [follow](Dies::follow).
    pub(super) fn forget_unfinished(&mut self, operation: PageOperation) {
        if operation.write_cause().is_none() {
            return;
        }
        let Some(unfinished) = self.unfinished.get_mut(&operation.page()) else {
            return;
        };
        unfinished.programs -= 1;
        // The first of the programs has replaced a copy on another die. The later ones have followed it to its die,
        // so they replace no copy on another die.
        let replaced = unfinished.replaces.take();
        if unfinished.programs == 0 {
            self.unfinished.remove(&operation.page());
        }
        if let Some(replaced) = replaced {
            self.release_replaced(replaced);
        }
    }

    /// Lets other dies complete units that hold programs for which the erases of `die` wait.
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

    /// Ends the step of `die`, and adds the page operations that ended with it to `ended`.
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

    /// Ends the transaction that was at `place` of the table and no longer occupied `die`. Returns the page
    /// operations that ended with it.
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

    /// Notes that all programs that are queued or have begun at `die` have to reach the flash.
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

    /// Called when the alarm of the units of `die` has come.
    pub fn alarm_units(&mut self, die: u32) {
        let open = &mut self.dies[die as usize].open;
        open.has_alarm = false;
        open.is_due = open.is_wanted();
    }

    /// Called when `die` has nothing to do: completes a unit with pages for which a request waits, or does deferred
    /// work of the layer.
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
