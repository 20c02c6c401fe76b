//! The dies of the device: a queue and a server each, and the FTL they share.
//!
//! A die serves one operation (or, with parallel units, one batch) at a time. Maps change when
//! service starts; garbage collection is looked for before anything is served.

use std::collections::VecDeque;

use destage_base::{Lpn, Ticks};
use destage_buffer::view::View;
use destage_flash::batch::Batch;
use destage_flash::ftl::{NoSpace, PageWrite};
use destage_flash::operation::Tally;
use destage_flash::{Cause, Ftl, Operations, Timing};

use crate::engine::Event;
use crate::events::EventList;
use crate::operation::{PageOperation, Work};

/// Most reads, and most writes, a die takes into one batch.
const BATCH_LIMIT: usize = 100;

#[derive(Default)]
struct Die {
    queue: VecDeque<PageOperation>,
    /// Operations in service that have not finished.
    in_service: u32,
    serving: Option<PageOperation>,
    /// The batch in service, with parallel units.
    batch: Vec<PageOperation>,
    collecting: bool,
    busy_until: Ticks,
    busy: Ticks,
    /// Garbage collections since an operation was last served: a device that only collects is stuck.
    gc_in_a_row: u32,
}

/// All dies. See the [module](self).
pub struct Dies {
    ftl: Box<dyn Ftl>,
    timing: Timing,
    dies: Vec<Die>,
    operations: Operations,
    batch: Batch,
    batch_lists: BatchLists,
    parallel_units: u32,
    /// Of a read, and of a write or trim.
    map_time: [Ticks; 2],
    background: bool,
    places_writes: bool,
    gc_limit: u32,
    busy_dies: u32,
    any_busy_since: Ticks,
    any_busy: Ticks,
    tally: Tally,
    serial_time: Ticks,
    gc_time: Ticks,
    gc_runs: u64,
}

#[derive(Default)]
struct BatchLists {
    reads: Vec<PageOperation>,
    writes: Vec<PageOperation>,
    read_pages: Vec<Lpn>,
    write_pages: Vec<(Lpn, Cause)>,
    /// Finished at once, with the start of the batch.
    immediate: Vec<PageOperation>,
    /// Reads and writes taken, repeated ones included.
    reads_taken: usize,
    writes_taken: usize,
}

/// Garbage collections in a row after which a die of `blocks` blocks will never serve anything again.
pub(crate) fn gc_limit(blocks: u32) -> u32 {
    4 * blocks + 16
}

/// The error of a die beyond its [`gc_limit`].
pub(crate) fn only_collects(die: u32, times: u32) -> NoSpace {
    let explanation = format!(
        "die {die} cleaned {times} times in a row without serving a request: it holds almost only valid data; raise ftl.reserve_percent, lower ftl.min_free_percent or use a larger device"
    );
    NoSpace {
        explanation: explanation.into(),
    }
}

/// Totals of what the dies did.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Operations by kind and cause.
    pub tally: Tally,
    /// Busy time of each die.
    pub busy: Vec<Ticks>,
    /// Time during which at least one die was busy.
    pub any_busy: Ticks,
    /// Times of all operations, one after the other.
    pub serial_time: Ticks,
    /// Time spent garbage collection, summed over dies.
    pub gc_time: Ticks,
    /// Garbage collections begun.
    pub gc_runs: u64,
}

impl Dies {
    /// Idle dies over `ftl`.
    pub fn new(ftl: Box<dyn Ftl>, timing: Timing, dies: u32, blocks_per_die: u32) -> Self {
        let properties = ftl.properties();
        Self {
            ftl,
            timing,
            dies: (0..dies).map(|_| Die::default()).collect(),
            operations: Operations::default(),
            batch: Batch::default(),
            batch_lists: BatchLists::default(),
            parallel_units: properties.parallel_units,
            map_time: properties.map_time,
            background: properties.collects_in_background,
            places_writes: properties.places_writes,
            gc_limit: gc_limit(blocks_per_die),
            busy_dies: 0,
            any_busy_since: 0,
            any_busy: 0,
            tally: Tally::default(),
            serial_time: 0,
            gc_time: 0,
            gc_runs: 0,
        }
    }

    /// The translation layer.
    pub fn ftl(&self) -> &dyn Ftl {
        &*self.ftl
    }

    /// Puts `operation` at the tail of its die's queue and starts the die if it is idle.
    #[inline]
    pub fn submit(
        &mut self,
        operation: PageOperation,
        events: &mut EventList<Event>,
    ) -> Result<(), NoSpace> {
        let die = if self.places_writes && operation.write_cause().is_some() {
            let dies = &self.dies;
            self.ftl
                .place(operation.page(), &|die| load(&dies[die as usize]))
        } else {
            self.ftl.die_of(operation.page())
        };
        self.dies[die as usize].queue.push_back(operation);
        self.activate(die, events)
    }

    /// The operation in service at `die` is done: takes it. Call [`Dies::activate`] afterwards.
    #[inline]
    pub fn finish(&mut self, die: u32, now: Ticks) -> Option<PageOperation> {
        let operation = self.dies[die as usize].serving.take();
        self.finish_one(die, now);
        operation
    }

    /// The operation at `position` of the batch in service at `die` is done: returns it.
    /// Call [`Dies::activate`] afterwards.
    pub fn finish_batched(&mut self, die: u32, position: u16, now: Ticks) -> PageOperation {
        self.finish_one(die, now);
        self.dies[die as usize].batch[usize::from(position)]
    }

    #[inline]
    fn finish_one(&mut self, die: u32, now: Ticks) {
        let state = &mut self.dies[die as usize];
        state.in_service -= 1;
        if state.in_service == 0 {
            self.leave_busy(now);
        }
    }

    /// The garbage collection at `die` is done. Call [`Dies::activate`] afterwards.
    pub fn finish_gc(&mut self, die: u32, now: Ticks) {
        self.dies[die as usize].collecting = false;
        self.leave_busy(now);
    }

    /// Starts `die` if it is idle and has something to do.
    #[inline]
    pub fn activate(&mut self, die: u32, events: &mut EventList<Event>) -> Result<(), NoSpace> {
        let state = &mut self.dies[die as usize];
        if state.in_service > 0 || state.collecting {
            return Ok(());
        }
        let now = events.now();
        if !state.queue.is_empty() || self.background {
            self.operations.clear();
            if self.ftl.collect_garbage(die, now, &mut self.operations)? {
                return self.start_gc(die, events);
            }
        }
        let state = &mut self.dies[die as usize];
        if self.parallel_units > 1 {
            return self.start_batch(die, events);
        }
        let Some(operation) = state.queue.pop_front() else {
            return Ok(());
        };
        self.operations.clear();
        match (operation.write_cause(), operation.work()) {
            (Some(cause), _) => {
                let write = PageWrite {
                    page: operation.page(),
                    cause,
                    is_long: operation.is_long(),
                };
                self.ftl.write(write, &mut self.operations)?;
            }
            (None, Work::Trim(_)) => self.ftl.trim(operation.page(), &mut self.operations)?,
            (None, _) => self.ftl.read(operation.page(), &mut self.operations)?,
        }
        // A page operation is one lane; the map is used while the flash works.
        let writes = operation.write_cause().is_some() || matches!(operation.work(), Work::Trim(_));
        let cost = self
            .timing
            .serial(self.operations.all())
            .max(self.map_time[usize::from(writes)]);
        self.tally.add(&self.operations);
        self.serial_time += cost;
        state.gc_in_a_row = 0;
        state.in_service = 1;
        state.serving = Some(operation);
        self.enter_busy(die, now, cost);
        events.after_usual(cost, Event::DieDone(die));
        Ok(())
    }

    #[cold]
    fn start_gc(&mut self, die: u32, events: &mut EventList<Event>) -> Result<(), NoSpace> {
        let now = events.now();
        let cost = self.timing.parallel(&self.operations);
        self.tally.add(&self.operations);
        self.serial_time += self.timing.serial(self.operations.all());
        self.gc_time += cost;
        self.gc_runs += 1;
        let state = &mut self.dies[die as usize];
        state.collecting = true;
        state.gc_in_a_row += 1;
        if state.gc_in_a_row > self.gc_limit {
            return Err(only_collects(die, state.gc_in_a_row));
        }
        self.enter_busy(die, now, cost);
        events.after(cost, Event::GcDone(die));
        Ok(())
    }

    /// Takes reads and writes up to the limit, once each, and serves them on the parallel units.
    fn start_batch(&mut self, die: u32, events: &mut EventList<Event>) -> Result<(), NoSpace> {
        let now = events.now();
        let state = &mut self.dies[die as usize];
        let lists = &mut self.batch_lists;
        lists.clear();
        while lists.reads_taken < BATCH_LIMIT && lists.writes_taken < BATCH_LIMIT {
            let Some(operation) = state.queue.pop_front() else {
                break;
            };
            lists.take(operation);
        }
        if lists.reads.is_empty() && lists.writes.is_empty() && lists.immediate.is_empty() {
            return Ok(());
        }
        self.operations.clear();
        for operation in &lists.immediate {
            if let Work::Trim(_) = operation.work() {
                self.ftl.trim(operation.page(), &mut self.operations)?;
            }
        }
        let batched = self.ftl.batched().expect("a layer with parallel units");
        let taken = batched.serve(
            die,
            &lists.read_pages,
            &lists.write_pages,
            &mut self.batch,
            &mut self.operations,
        )?;
        for left in lists.writes.drain(taken..).rev() {
            state.queue.push_front(left);
        }
        self.tally.add(&self.operations);
        self.serial_time += self.timing.serial(self.operations.all());
        state.gc_in_a_row = 0;
        state.in_service = (lists.reads.len() + lists.writes.len() + lists.immediate.len()) as u32;
        let mut latest = 0;
        state.batch.clear();
        let mut start = |operation: PageOperation, finish| {
            let position = state.batch.len() as u16;
            state.batch.push(operation);
            events.after(finish, Event::BatchedDone { position, die });
            latest = latest.max(finish);
        };
        for operation in &lists.immediate {
            start(*operation, 0);
        }
        for (entry, finish) in self.batch.finish_times(&self.timing) {
            let list = if entry.write {
                &lists.writes
            } else {
                &lists.reads
            };
            start(list[entry.index], finish);
        }
        self.enter_busy(die, now, latest);
        Ok(())
    }

    #[inline]
    fn enter_busy(&mut self, die: u32, now: Ticks, cost: Ticks) {
        let state = &mut self.dies[die as usize];
        state.busy += cost;
        state.busy_until = now + cost;
        if self.busy_dies == 0 {
            self.any_busy_since = now;
        }
        self.busy_dies += 1;
    }

    #[inline]
    fn leave_busy(&mut self, now: Ticks) {
        self.busy_dies -= 1;
        if self.busy_dies == 0 {
            self.any_busy += now - self.any_busy_since;
        }
    }

    /// Totals up to `now`; service that has begun counts for the part that has passed.
    pub fn totals(&self, now: Ticks) -> Totals {
        let running = if self.busy_dies > 0 {
            now - self.any_busy_since
        } else {
            0
        };
        Totals {
            tally: self.tally,
            busy: self
                .dies
                .iter()
                .map(|state| state.busy - state.busy_until.saturating_sub(now))
                .collect(),
            any_busy: self.any_busy + running,
            serial_time: self.serial_time,
            gc_time: self.gc_time,
            gc_runs: self.gc_runs,
        }
    }
}

impl BatchLists {
    fn clear(&mut self) {
        self.reads.clear();
        self.writes.clear();
        self.read_pages.clear();
        self.write_pages.clear();
        self.immediate.clear();
        self.reads_taken = 0;
        self.writes_taken = 0;
    }

    /// An operation whose page and direction are in the batch already costs nothing.
    fn take(&mut self, operation: PageOperation) {
        if matches!(operation.work(), Work::Trim(_)) {
            self.writes_taken += 1;
            return self.immediate.push(operation);
        }
        let page = operation.page();
        match operation.write_cause() {
            None => {
                self.reads_taken += 1;
                if self.read_pages.contains(&page) {
                    return self.immediate.push(operation);
                }
                self.reads.push(operation);
                self.read_pages.push(page);
            }
            Some(cause) => {
                self.writes_taken += 1;
                if self.write_pages.iter().any(|(other, _)| *other == page) {
                    return self.immediate.push(operation);
                }
                self.writes.push(operation);
                self.write_pages.push((page, cause));
            }
        }
    }
}

/// Operations that wait or are served at a die.
fn load(die: &Die) -> u32 {
    die.queue.len() as u32 + die.in_service
}

impl View for Dies {
    fn dies(&self) -> u32 {
        self.dies.len() as u32
    }
    fn die_of(&self, page: Lpn) -> u32 {
        self.ftl.die_of(page)
    }
    fn is_written(&self, page: Lpn) -> bool {
        self.ftl.is_written(page)
    }
    fn is_collecting(&self, die: u32) -> bool {
        self.dies[die as usize].collecting
    }
    fn queue_length(&self, die: u32) -> u32 {
        load(&self.dies[die as usize])
    }
}
