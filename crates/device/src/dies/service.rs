//! The choice of the next operation of a die, if a die does not always serve the oldest operation.
//!
//! A host read overtakes all operations that wait at its die, unless one of these operations is on the page of the
//! read. The number of overtaking reads in a row is limited: when it is reached, another waiting operation begins. If
//! the driver allows it, reads also begin between two commands of a step, or interrupt a command.

use alloc::collections::VecDeque;

use destage_base::{Ticks, choices};
use destage_ftl::NoSpace;

use super::{Dies, UnderWay};
use crate::driver::{Driver, Progress, Token, Transaction};
use crate::operation::{PageOperation, Work};

choices! {
    /// Which operation a die serves first.
    #[derive(Default)]
    pub enum ServiceOrder {
        /// First garbage collection that is due, then the operations in order of arrival.
        #[default]
        Arrival = "arrival",
        /// First host reads, then garbage collection that is due, then the other operations in order of arrival.
        ReadsFirst = "reads_first",
        /// First host reads, then the other operations in order of arrival, as long as the die has room for writes.
        /// Garbage collection that is due runs last.
        GarbageLast = "garbage_last",
    }
}

/// The reads of a die that overtake the operations in its queue.
#[derive(Default)]
pub(super) struct Ahead {
    pub reads: VecDeque<PageOperation>,
    /// Number of overtaking reads that have begun since another operation began.
    gone: u32,
}

impl Dies {
    /// Whether `operation` overtakes the operations that wait at `die`.
    #[inline(never)]
    pub(super) fn goes_ahead(&self, operation: PageOperation, die: u32) -> bool {
        let is_host_read = matches!(operation.work(), Work::HostRead(_));
        let mut queue = self.dies[die as usize].queue.iter();
        is_host_read && !queue.any(|waiting| waiting.page() == operation.page())
    }

    /// Adds the read `operation` to the overtaking reads of `die`. Returns the die if the caller has to
    /// [start](Dies::start) it.
    #[inline(never)]
    pub(super) fn push_ahead<D: Driver>(
        &mut self,
        operation: PageOperation,
        die: u32,
        driver: &D,
    ) -> Option<u32> {
        let state = &mut self.dies[die as usize];
        state.ahead.reads.push_back(operation);
        // A die counts as idle while its erases wait for a program at another die.
        let is_idle = state.in_service == 0 && (!state.collecting || state.chosen.copied);
        (is_idle || (state.ahead.gone < self.rules.reads_ahead && driver.takes_read(die)))
            .then_some(die)
    }

    /// Starts the idle `die`.
    #[inline(never)]
    pub(super) fn start_ordered<D: Driver>(
        &mut self,
        die: u32,
        now: Ticks,
        driver: &mut D,
    ) -> Result<Progress, NoSpace> {
        if self.dies[die as usize].queued > 0 {
            self.interrupt(die, driver)?;
        }
        let state = &self.dies[die as usize];
        let (reads, others) = (!state.ahead.reads.is_empty(), !state.queue.is_empty());
        if reads
            && state.ahead.gone < self.rules.reads_ahead
            && let Some(read) = self.next_read(die)
        {
            self.count_ahead(die);
            return self.begin::<D, false>(die, read, driver);
        }
        let may_write = self.rules.service == ServiceOrder::GarbageLast
            && others
            && !self.ftl.collects_before_writes(die);
        // With `GarbageLast`, the die checks for garbage when no operation waits.
        let is_idle_work = self.rules.background || self.rules.service == ServiceOrder::GarbageLast;
        if !may_write && !self.pauses_collection(die) && (reads || others || is_idle_work) {
            let time = driver.flash_time(now);
            if self.ftl.collect_garbage(die, time, &mut self.operations)? {
                self.dies[die as usize].ahead.gone = 0;
                return self.start_gc(die, driver);
            }
        }
        let is_held = self.holds(die);
        let state = &mut self.dies[die as usize];
        state.ahead.gone = 0;
        let next = if is_held {
            // Another die may wait for data in a unit that is open here.
            None
        } else {
            state.queue.pop_front()
        };
        match next.or_else(|| self.next_read(die)) {
            Some(operation) => self.begin::<D, false>(die, operation, driver),
            None if self.rules.uses_idle_time => self.use_idle_time(die, driver),
            None => Ok(Progress::Running),
        }
    }

    /// Counts an overtaking read that begins at `die`.
    pub(super) fn count_ahead(&mut self, die: u32) {
        self.dies[die as usize].ahead.gone += 1;
    }

    /// Removes and returns the first overtaking read of `die` whose page is on this die. Reads before it whose pages
    /// have moved to other dies are moved to those dies.
    pub(super) fn next_read(&mut self, die: u32) -> Option<PageOperation> {
        loop {
            let read = self.dies[die as usize].ahead.reads.pop_front()?;
            let home = self.ftl.home_of(read.page());
            if !self.rules.places_writes || home == die {
                return Some(read);
            }
            self.dies[home as usize].ahead.reads.push_back(read);
            self.stirred.push_back(home);
        }
    }

    /// Lets waiting reads interrupt the operation of `die`, if the driver allows it.
    #[inline(never)]
    pub(super) fn interrupt<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<(), NoSpace> {
        while self.may_read_between(die) && driver.takes_read(die) {
            self.read_between(die, driver)?;
        }
        Ok(())
    }

    /// Called when the step of `die` is between two commands. Starts reads that wait, up to the largest number of
    /// overtaking reads.
    pub fn let_reads_pass<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<(), NoSpace> {
        self.dies[die as usize].ahead.gone = 0;
        while self.may_read_between(die) {
            self.read_between(die, driver)?;
        }
        Ok(())
    }

    /// Whether the first overtaking read of `die` may begin during a step of the die. Some reads also program or
    /// erase. If such a read began during a step, it would program or erase before the remaining work of the step. No
    /// layer takes this into account, so such a read has to wait if the power may fail.
    pub(super) fn may_read_between(&self, die: u32) -> bool {
        let ahead = &self.dies[die as usize].ahead;
        let next = ahead.reads.front();
        ahead.gone < self.rules.reads_ahead
            && next
                .is_some_and(|read| !self.rules.power_may_fail || self.ftl.only_reads(read.page()))
    }

    /// Begins the first overtaking read of `die` during a step of the die.
    fn read_between<D: Driver>(&mut self, die: u32, driver: &mut D) -> Result<(), NoSpace> {
        let Some(read) = self.next_read(die) else {
            return Ok(());
        };
        self.ftl.read(read.page(), &mut self.operations)?;
        // The read may write a page of the map. This may need garbage collection, which may program fillers in units.
        self.begin_units(die, None);
        self.count_ahead(die);
        let place = self.under_way.insert(|| UnderWay::Between(die, read));
        let token = Token::of_table(place);
        driver.begin(
            die,
            Transaction::ReadBetween(read),
            &self.operations,
            0,
            token,
        );
        self.operations.clear();
        Ok(())
    }
}
